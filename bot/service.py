"""The service: the hub with all features of Railpost. This is where they are put together."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from bot.features.clock.feature import TimeCommands
from bot.features.clock.timers import ClockTimers, play_pass
from bot.features.clock.update import follow_table, follow_tables
from bot.features.digest.feature import DigestTimer
from bot.features.game_files import export
from bot.features.game_files.importing import read_game
from bot.features.history import feature as history
from bot.features.lobby.feature import LobbyCommands
from bot.features.lobby.imported_seats import GameImports
from bot.features.lobby.seats import SeatRequests
from bot.features.lobby.tables import Lobby
from bot.features.plans.feature import PlanHandler
from bot.features.plans.plans import PlanStore
from bot.features.review import feature as review
from bot.features.robots.player import DEFAULT_SECONDS, Robot
from bot.features.robots.players import RobotPlayers
from bot.features.settings.commands import SettingsCommands
from bot.features.settings.feature import PersonSettingsService
from bot.features.standing_orders.book import OrderBooks
from bot.features.standing_orders.feature import OrderHandler
from bot.features.standing_orders.lines import declining_seat
from bot.features.standing_orders.runner import OrderRunner
from bot.features.status.feature import StatusCommands
from bot.features.undo.feature import UndoHandler
from bot.features.views import feature as views
from bot.features.votes import feature as votes
from bot.features.votes.reminders import VOTE_KIND, remind_of_vote, set_vote_reminders
from bot.hub.cache import KEEP_MEGABYTES
from bot.hub.limits import Limits
from bot.hub.polls import PollHandler
from bot.hub.service import Hub
from bot.hub.status import RunningTables
from bot.hub.timers import Clock
from bot.pictures.workers import PictureWorkers
from engine import Action
from storage import Store


class Service(Hub):
    """All tables of one store, with every feature. Make one for each process, and let `run` go on beside it.

    pictures: draws for every transport. lobby: tables before their start. running: tables in play. seats:
    who asks for open seats. imports: seats of imported games. settings: of people. status: pause, resume and
    the end before the end. robots: the computer players. clock: what is due.
    """

    def __init__(
        self,
        store: Store,
        *,
        default_options: Sequence[str] = (),
        keep_megabytes: float = KEEP_MEGABYTES,
        ping_holdoff: float = 0,
        pictures: PictureWorkers | None = None,
        limits: Limits | None = None,
        robot_seconds: float = DEFAULT_SECONDS,
    ) -> None:
        """default_options: of new tables. keep_megabytes: about so much of tables stays in memory.
        ping_holdoff: seconds before a turn message is sent. limits: what one person may do on one day.
        robot_seconds: that a robot may think about a hard decision."""
        super().__init__(store, keep_megabytes=keep_megabytes, ping_holdoff=ping_holdoff, limits=limits)
        self.pictures = pictures
        cache, polls = (
            self.cache,
            PollHandler(self.cache, remind=set_vote_reminders, declining_seat=declining_seat),
        )
        books = OrderBooks()
        orders, undo = OrderHandler(cache, books), UndoHandler(cache, polls)
        self.lobby = Lobby(cache, default_options, self.limits)
        self.running = RunningTables(cache, self.limits)
        self.imports = GameImports(cache, self.lobby, read_game)
        self.seats = SeatRequests(cache, self.lobby, self.running, self.imports, self.limits)
        self.settings = PersonSettingsService(cache)
        self.status = StatusCommands(cache, self.running, polls)
        self.robots = RobotPlayers(cache, self.submit, robot_seconds)
        self.clock = Clock(cache, follow_tables, follow_table)
        tables = LobbyCommands(cache, self.lobby, self.seats, polls)
        plans = PlanHandler(PlanStore(store, self.limits), self.moves, orders.armed_orders)

        cache.reactions.append(OrderRunner(books, self.moved).run)
        self.on_moved.append(undo.update_after_move)
        self.clock.timers |= {
            **ClockTimers(cache, partial(play_pass, self.submit)).timers(),
            "digest": DigestTimer(cache).send,
            "lobby": tables.expire,
            VOTE_KIND: partial(remind_of_vote, cache),
        }
        self.leads |= {"clock": self.clock.run, "robots": self.robots.run}
        game_words = frozenset(form.split()[0] for kind in Action.__subclasses__() for form in kind.forms)
        for commands in (
            views.commands(self.commands),
            history.commands(),
            review.commands(Robot().ranking),
            export.commands(),
            plans.commands(),
            orders.commands(),
            undo.commands(),
            votes.commands(polls),
            TimeCommands(cache, polls).commands(),
            SettingsCommands(self.settings).commands(),
            tables.commands(),
            self.status.commands(),
            self.robots.commands(),
        ):
            self.commands.add(commands, game_words)
