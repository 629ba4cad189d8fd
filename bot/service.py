"""The service: the hub with all features of Railpost. This is where they are put together."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import partial

from bot.features.clock.feature import TimeCommands, add_deadline, clock_timers, notice_pages
from bot.features.clock.update import follow_table, follow_tables, is_at_rest
from bot.features.digest.feature import DigestTimer, WaitingPages
from bot.features.game_files import feature as game_files
from bot.features.game_files.feature import read_game
from bot.features.history import feature as history
from bot.features.lobby import pages as lobby_pages
from bot.features.lobby.feature import LobbyCommands
from bot.features.lobby.lines import LobbyLines
from bot.features.lobby.replacement import Replacements
from bot.features.lobby.requests import REQUEST_KIND
from bot.features.lobby.seats import GameImports, SeatRequests
from bot.features.lobby.tables import Lobby
from bot.features.notepad.feature import Notepad
from bot.features.pictures_in_words import feature as pictures_in_words
from bot.features.plans.feature import PlanHandler, add_try_button
from bot.features.privacy.files import Retainer
from bot.features.privacy.person import PersonalData
from bot.features.review import feature as review
from bot.features.robots.players import RobotPlayers
from bot.features.robots.robot import DEFAULT_SECONDS, Robot
from bot.features.settings.addresses import AddressCommands
from bot.features.settings.feature import PersonSettingsService
from bot.features.standing_orders.book import armed_orders, declining_seat
from bot.features.standing_orders.feature import OrderHandler
from bot.features.standing_orders.pages import add_to_turn
from bot.features.standing_orders.runner import OrderRunner
from bot.features.status.feature import StatusCommands
from bot.features.undo.feature import UndoHandler
from bot.features.views import feature as views
from bot.features.votes import feature as votes
from bot.features.votes.feature import remind_of_vote
from bot.features.watch.address import GameAddresses
from bot.features.watch.feature import Watcher, WatchingPermission
from bot.hub.cache import KEEP_MEGABYTES
from bot.hub.changes import RunningTables
from bot.hub.feature import Feature
from bot.hub.hub import Hub
from bot.hub.people import Limits, PrivacySettings
from bot.hub.polls import HOLD_KIND, VOTE_KIND, LeftOrders
from bot.hub.timers import LATE_KIND, Followers
from bot.pictures.workers import PictureWorkers
from storage import Store


class Service(Hub):
    """All tables of one store, with every feature. Make one for each process, and let `run` go on beside it.

    pictures: draws for every transport. lobby: tables before their start. running: tables in play. seats:
    who asks for open seats. imports: seats of imported games. settings: of people. waiting: what waits for a
    person. status: pause, resume and
    the end before the end. watcher: snapshots of games that are given. personal_data: what
    is stored about a person. robots: the computer players.
    features: by name those that are put in.
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
        without: Collection[str] = (),
        privacy: PrivacySettings | None = None,
        watched_sites: Collection[str] = (),
    ) -> None:
        """default_options: of new tables. keep_megabytes: about so much of tables stays in memory.
        ping_holdoff: seconds before a turn message is sent. limits: what one person may do on one day.
        robot_seconds: that a robot may think about a hard decision. without: names of features that are left
        out. privacy: what the host has set about the data of people. watched_sites: from
        which games are read by their address. Raises ValueError for one that is
        required."""
        super().__init__(
            store, keep_megabytes=keep_megabytes, ping_holdoff=ping_holdoff, limits=limits,
            follow=None if "clock" in without else Followers(follow_tables, follow_table, is_at_rest),
        )  # fmt: skip
        cache = self.cache
        self.pictures = pictures
        self.lobby = Lobby(cache, default_options, self.limits)
        self.running = RunningTables(cache)
        self.imports = GameImports(cache, self.lobby, read_game)
        self.replacements = Replacements(cache, self.polls)
        self.seats = SeatRequests(
            cache, self.lobby, self.running, self.imports, self.limits, self.replacements
        )
        self.lobby_lines = LobbyLines(cache, self.lobby, self.seats, self.running)
        self.settings = PersonSettingsService(cache)
        self.waiting = WaitingPages(cache, self.queries)
        self.watcher = Watcher(
            store, self.limits, read_game, GameAddresses(store, watched_sites), review.review_of_history
        )
        privacy = privacy or PrivacySettings()
        self.personal_data = PersonalData(cache, self.polls, self.limits, privacy, [self.watcher.forget])
        self.retainer = Retainer(store, privacy)
        self.status = StatusCommands(cache, self.running, self.polls)
        self.robots = RobotPlayers(cache, self.submit, self.running.announce, robot_seconds)
        self.features: dict[str, Feature] = {}
        for feature in self._all_features():
            if feature.name not in without:
                self.add(feature)
                self.features[feature.name] = feature
            elif feature.is_required:
                raise ValueError(f"The service cannot do without {feature.name}.")

    def _all_features(self) -> Iterator[Feature]:
        """Everything that Railpost can do, in the order in which `help` lists it."""
        cache, polls, submit = self.cache, self.polls, self.submit
        undo, clock, runner = UndoHandler(cache, polls), TimeCommands(cache, polls), OrderRunner(cache, polls)
        plans = PlanHandler(self.store, self.limits, self.moves, polls)
        replacements = self.replacements
        lobby = LobbyCommands(
            cache, self.lobby, self.seats, polls, replacements, self.lobby_lines, self.queries
        )
        seats_and_start = [*lobby.commands(), *self.lobby_lines.commands()]
        lobby_timers = {"lobby": lobby.expire, LATE_KIND: replacements.look, REQUEST_KIND: self.seats.look}
        remind = {VOTE_KIND: partial(remind_of_vote, cache)}

        yield Feature(
            "views", views.commands(self.commands), turn_pages=[views.add_to_turn],
            endings=[views.add_to_ending],
        )  # fmt: skip
        yield Feature("pictures_in_words", pictures_in_words.commands())
        yield Feature("history", history.commands(), endings=[history.add_to_ending])
        yield Feature("review", review.commands(Robot().ranking), endings=[review.add_to_ending])
        yield Feature("game_files", game_files.commands(), endings=[game_files.add_to_ending])
        yield Feature("plans", plans.commands(), turn_pages=[add_try_button])
        yield Feature(
            "standing_orders", OrderHandler(cache, self.moves).commands(), timers={HOLD_KIND: runner.release},
            reactions=[runner.run], turn_pages=[add_to_turn], orders=LeftOrders(declining_seat, armed_orders),
        )  # fmt: skip
        turn_pages = [undo.add_to_turn]
        yield Feature("undo", undo.commands(), undo.motions(), turn_pages=turn_pages, is_required=True)
        vote_pages = dict.fromkeys(("vote", "vote_reminder"), votes.vote_page(cache))
        yield Feature(
            "votes", votes.commands(polls), timers=remind, reactions=[polls.drop_moot], pages=vote_pages,
            is_required=True,
        )  # fmt: skip
        yield Feature(
            "clock", clock.commands(), clock.motions(), clock_timers(cache, submit),
            pages=notice_pages(cache), turn_pages=[partial(add_deadline, self.store)],
        )  # fmt: skip
        yield Feature("digest", timers={"digest": DigestTimer(cache).send}, is_required=True)
        addresses = AddressCommands(cache, self.limits)
        yield Feature("settings", [*self.settings.commands(), *addresses.commands()])
        yield Feature("notepad", Notepad(cache, self.moves).commands())
        yield Feature("watch", WatchingPermission(cache).commands())
        yield Feature("privacy", leads={"retention": self.retainer.run})
        yield Feature(
            "lobby", seats_and_start, replacements.motions(), lobby_timers, is_required=True,
            reactions=[self.seats.drop_moot], pages=lobby_pages.LobbyPages(self.store).pages(),
            endings=[lobby_pages.add_to_ending],
        )  # fmt: skip
        yield Feature("status", self.status.commands(), self.status.motions())
        yield Feature("robots", self.robots.commands(), leads={"robots": self.robots.run})
