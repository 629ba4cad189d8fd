"""One transaction as its repositories."""

from dataclasses import replace
from datetime import datetime
from functools import cached_property

from storage.move_commit import MoveCommit, write_move_commit
from storage.repositories.clocks import ClockRepository
from storage.repositories.facts import FactRepository
from storage.repositories.mail import InboundMailRepository, MailTokenRepository
from storage.repositories.move_log import MoveLogRepository
from storage.repositories.orders import OrderRepository
from storage.repositories.outbox import OutboxRepository
from storage.repositories.people import PeopleRepository
from storage.repositories.personal_data import PersonalDataRepository
from storage.repositories.polls import PollRepository
from storage.repositories.settings import SettingsRepository
from storage.repositories.tables import TableRepository
from storage.repositories.usage import UsageRepository
from storage.transaction import Transaction


class UnitOfWork:
    """One transaction. It comes from `Store.begin` or `Store.read`."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    @property
    def now(self) -> datetime:
        """The time at which the whole transaction happens."""
        return self._transaction.now

    @cached_property
    def people(self) -> PeopleRepository:
        """People, their identities and address claims."""
        return PeopleRepository(self._transaction)

    @cached_property
    def tables(self) -> TableRepository:
        """Game tables, seats, cards."""
        return TableRepository(self._transaction)

    @cached_property
    def move_log(self) -> MoveLogRepository:
        """Move logs, snapshots, results of requests."""
        return MoveLogRepository(self._transaction)

    @cached_property
    def polls(self) -> PollRepository:
        """Polls and votes."""
        return PollRepository(self._transaction)

    @cached_property
    def facts(self) -> FactRepository:
        """What features keep for people at their tables."""
        return FactRepository(self._transaction)

    @cached_property
    def personal_data(self) -> PersonalDataRepository:
        """What is stored of a person, and its end."""
        return PersonalDataRepository(self._transaction)

    @cached_property
    def usage(self) -> UsageRepository:
        """What each person did on each day."""
        return UsageRepository(self._transaction)

    @cached_property
    def clocks(self) -> ClockRepository:
        """Clocks of tables and seats, due rows, deputies."""
        return ClockRepository(self._transaction)

    @cached_property
    def orders(self) -> OrderRepository:
        """Orders that players have left."""
        return OrderRepository(self._transaction)

    @cached_property
    def outbox(self) -> OutboxRepository:
        """Messages to be delivered."""
        return OutboxRepository(self._transaction)

    @cached_property
    def inbound_mail(self) -> InboundMailRepository:
        """Mail that came in, each handled once."""
        return InboundMailRepository(self._transaction)

    @cached_property
    def mail_tokens(self) -> MailTokenRepository:
        """Tokens of reply addresses."""
        return MailTokenRepository(self._transaction)

    @cached_property
    def settings(self) -> SettingsRepository:
        """Settings, secrets, turns."""
        return SettingsRepository(self._transaction)

    async def commit_move(self, commit: MoveCommit) -> None:
        """`Store.commit_move` within this transaction; the revision is not checked."""
        unchecked = replace(commit, revision=None)
        await self._transaction.run(lambda connection: write_move_commit(unchecked, connection))
