"""A referee of turns: priority deal, stock turns, track and tokens, written from the books.

It follows the lines of a game and their events, and asks no rule of the engine: of the position it reads who
holds what and where pieces lie. Reach is found by following every walk (`tests.board.exhaustive`); where a
board has too many, nothing is said. Only games by the book are refereed. 1817's shares, prices and loans have
a referee of their own (`tests.t1817.test_referee`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from bot.tools.simulation.simulate import SimulatedGame
from engine import AnyEvent, copy_state, fold
from engine.board.tile_geometry import face_at
from engine.core.actions import RedeemShare, TradePrivate
from engine.core.components import components_of, tile_faces
from engine.core.events import FramePushed, PriceProtected, SharesMoved, TileLaid, TokenPlaced
from engine.core.state import POOL, OperatingTurn, State, StockRound, StockTurn, is_seat
from engine.game_text.history import HistoryLine
from tests.board.exhaustive import ExhaustiveBoard, Stop, Walk

MAX_WALKS = 3_000
"""So many walks are followed before a board counts as too large to say anything about it."""

COLORS = ("white", "yellow", "green", "brown", "gray")
OPEN_COLORS = {
    "1830": {"2": 1, "3": 2, "4": 2, "5": 3, "6": 3, "D": 3},
    "1851": {"2": 1, "3": 2, "4": 2, "5": 3, "6": 3, "8": 4},
    "1870": {"1": 1, "2": 2, "3": 2, "4": 3, "5": 4, "6": 4, "7": 4, "8": 4},
    "1817": {"2": 1, "2+": 1, "3": 2, "4": 2, "5": 3, "6": 3, "7": 4, "8": 4},
}
"""By phase the last of COLORS that may be laid (1830 §22, 1851 Phases, 1870 §4.2, 1817 §2)."""
TWO_LAYS = {"1830": (), "1851": ("3", "4", "5", "6", "8"), "1870": tuple("12345678"), "1817": ()}
"""Phases in which two yellow tiles may be laid in place of one upgrade (1851 Phases, 1870 §6)."""
LIMITED_TO_60 = {"1830": ("orange", "brown"), "1851": (), "1870": ("green", "brown")}
"""The zones in which a player may hold more than 60 % (1830 §10, 1851 Buying Stock, 1870 §5.4.1)."""
DEALS = ("buy", "sell", "par", "short", "start", "for", "reissue", "redeem")
"""The first words of lines that may move the priority deal."""


@dataclass
class Turn:
    """What has happened in a turn: lays as (hex, whether an upgrade), tokens, trades in order."""

    lays: list[tuple[str, bool]] = field(default_factory=list)
    tokens: int = 0
    trades: list[str] = field(default_factory=list)


class Referee:
    """Follows a game. `check_line` yields one sentence for each violation of the book."""

    def __init__(self, start: State) -> None:
        self.state = copy_state(start)
        self.title = start.title
        self.facts = components_of(start.title)
        self.turn = Turn()
        # Destination tokens then take no place of a city (1870 §16.4), which the boards of walks do not know.
        self.has_more_slots = "non_blocking_tokens" in start.options
        self._begin_round()

    def _begin_round(self) -> None:
        self.last_dealer: str | None = None
        self.is_dealer_known = True
        self.sold: set[tuple[str, str]] = set()

    def check_line(self, played: HistoryLine) -> Iterator[str]:
        """Follow one line."""
        base, top, priority = self.state.stack[0], self.state.top, self.state.priority
        if isinstance(base, StockRound):
            self._note_dealer(played)
        for event in played.events:
            yield from self._check_event(played, event, top)
            self.state = fold([event], self.state)
        after = self.state.stack[0]
        if isinstance(base, StockRound) and not (
            isinstance(after, StockRound) and after.number == base.number
        ):
            yield from self._check_priority(priority)
            self._begin_round()

    # -- the priority deal ---------------------------------------------------------------------

    def _note_dealer(self, played: HistoryLine) -> None:
        """Who has acted in the round (1830 §4, 1851 Stock Rounds, 1870 §5.2.2, 1817 §5.7).

        Of deals between players only 1870 says that they count, as soon as they are made.
        """
        top, words = self.state.top, played.line.split()
        if not isinstance(top, StockTurn):
            return
        with_player = any(offer.recipient == played.seat for offer in self.state.offers)
        if words[0] == "accept" and with_player:
            counts = any(isinstance(offer.deal, RedeemShare | TradePrivate) for offer in self.state.offers)
            self.is_dealer_known = self.title == "1870" and counts
            self.last_dealer = top.seat
        elif words[0] == "exchange" or (words[0] in DEALS[:2] and words[1] == "private"):
            self.is_dealer_known = self.title == "1870" and "pool" in words
            self.last_dealer = top.seat
        elif words[0] == "redeem" and words[-2] == "from":
            self.is_dealer_known = False
        elif played.seat == top.seat and words[0] in DEALS:
            self.is_dealer_known, self.last_dealer = True, top.seat

    def _check_priority(self, before: str) -> Iterator[str]:
        if not self.is_dealer_known or self.state.game_over:
            return
        expected = before
        if self.last_dealer is not None:
            seats = list(self.state.seats)
            at = seats.index(self.last_dealer) + 1
            playing = (seat for seat in seats[at:] + seats[:at] if seat not in self.state.bankrupt_seats)
            expected = next(playing)
        if self.state.priority != expected:
            yield f"{self.state.priority} has the priority deal, and {self.last_dealer} acted last"

    # -- events --------------------------------------------------------------------------------

    def _check_event(self, played: HistoryLine, event: AnyEvent, top: object) -> Iterator[str]:
        word = played.line.split()[0]
        match event:
            case FramePushed(frame=StockTurn() | OperatingTurn()):
                self.turn = Turn()
            case PriceProtected(seat) if isinstance(self.state.stack[0], StockRound):
                self.is_dealer_known, self.last_dealer = True, seat  # 1870 §5.9.8
            case SharesMoved() if isinstance(top, StockTurn) and self.title != "1817":
                if top.seat == played.seat and word in ("sell", "buy", "par"):
                    yield from self._check_trade(event, top.seat)
            case TileLaid() if isinstance(top, OperatingTurn) and word == "lay":
                yield from self._check_tile(event, powered="using" in played.line or "mine" in played.line)
            case TokenPlaced() if isinstance(top, OperatingTurn) and word == "token":
                yield from self._check_token(event, powered="using" in played.line)

    # -- stock turns ---------------------------------------------------------------------------

    def _check_trade(self, event: SharesMoved, seat: str) -> Iterator[str]:
        company, base = event.company, self.state.stack[0]
        assert isinstance(base, StockRound)
        shares = self.state.companies[company].shares
        if event.source == seat and event.target == POOL:
            if base.number == 1 and not base.follows_unsold and self.title != "1851":
                yield f"{company} is sold in the first stock round (1830 §12.1, 1870 §5.7)"
            if shares.get(POOL, 0) + event.percent > 50:
                yield f"the pool comes to hold more than half of the {company} (1830 §12.2, 1870 §5.4.2)"
            trades = self.turn.trades
            closed = trades[trades.index("sold") :] if "sold" in trades and self.title != "1851" else trades
            if "bought" in closed and ("sold" in closed or self.title == "1851"):
                yield f"{company} is sold after a purchase (1830 §4, 1851 Stock Rounds, 1870 §5.3.4)"
            self.turn.trades.append("sold")
            self.sold.add((seat, company))
        elif event.target == seat and not is_seat(event.source):
            if (seat, company) in self.sold:
                yield f"{company} is bought after it was sold in the round (1830 §4, 1870 §5.3.3)"
            zones = self._zones(company)
            if shares.get(seat, 0) + event.percent > 60 and zones.isdisjoint(LIMITED_TO_60[self.title]):
                yield f"{seat} holds more than 60 % of the {company} (1830 §10, 1870 §5.4.1)"
            if "bought" in self.turn.trades and "brown" not in zones:
                yield f"{company} is a second purchase of the turn (1830 §4, 1851 Buying Stock, 1870 §5.3.1)"
            self.turn.trades.append("bought")

    def _zones(self, company: str) -> set[str]:
        cell = self.state.companies[company].cell
        space = self.facts.market.rows[cell[0]][cell[1]] if cell else None
        return {str(zone) for zone in space.zones} if space else set()

    # -- track and tokens ----------------------------------------------------------------------

    def _check_tile(self, event: TileLaid, *, powered: bool) -> Iterator[str]:
        company, hex = event.company, event.hex
        old = face_at(self.facts, self.state.tiles, hex)
        tile = tile_faces()[event.tile]
        color, colors = COLORS.index(tile.color), OPEN_COLORS[self.title][self.state.phase]
        replaced = self._color_of(hex)
        if color > colors:
            yield f"#{event.tile} is {tile.color} in phase {self.state.phase} (1830 §22)"
        if color != COLORS.index(replaced) + 1 and (self.title, replaced) != ("1851", "white"):
            yield f"#{event.tile} replaces what is {replaced} in {hex} (1830 §18.1)"
        laid = self.state.tiles | {hex: (event.tile, event.rotation)}
        supply, lying = self.facts.tiles.get(event.tile), sum(name == event.tile for name, _ in laid.values())
        if supply is not None and lying > supply:
            yield f"more #{event.tile} lie on the map than there are (1830 Table 7)"
        new = face_at(self.facts, laid, hex)
        if not _edge_links(old.tracks) <= _edge_links(new.tracks):
            yield f"#{event.tile} does not keep the track of {hex} (1830 §18.1)"
        is_upgrade = replaced != "white"
        if not powered:
            yield from self._check_count(hex, is_upgrade=is_upgrade)
            if not self._touches(company, hex, laid):
                yield f"#{event.tile} on {hex} is connected to no token of the {company} (1830 §18)"
            self.turn.lays.append((hex, is_upgrade))

    def _check_count(self, hex: str, *, is_upgrade: bool) -> Iterator[str]:
        """How many tiles are laid in a turn (1830 §18, 1851 Lay or Upgrade Track, 1870 §6, 1817 §6.3)."""
        earlier = self.turn.lays
        upgrades = is_upgrade + sum(upgraded for _, upgraded in earlier)
        if self.title == "1817":
            if len(earlier) > 1 or upgrades > 1 or hex in [where for where, _ in earlier]:
                yield f"{hex} is one tile too many after {earlier} (1817 §6.3)"
        elif earlier and (self.state.phase not in TWO_LAYS[self.title] or upgrades or len(earlier) > 1):
            yield f"{hex} is one tile too many after {earlier} (1830 §18, 1870 §6)"

    def _check_token(self, event: TokenPlaced, *, powered: bool) -> Iterator[str]:
        company, hex, node = event.company, event.hex, event.node
        here = self.state.tokens.get(hex, [])
        city = face_at(self.facts, self.state.tiles, hex).nodes[node]
        if any(owner == company for _, owner in here):
            yield f"the {company} has two tokens in {hex} (1830 §19)"
        if not self.has_more_slots and sum(n == node for n, _ in here) >= city.slots:
            yield f"the city of {hex} is full (1830 §19)"
        if not powered:
            self.turn.tokens += 1
            if self.turn.tokens > 1:
                yield f"the {company} places {self.turn.tokens} tokens in a turn (1830 §19)"
            stops = None if self.has_more_slots else self._reached(company, self.state.tiles)
            if stops is not None and (hex, node) not in stops:
                yield f"no route of the {company} leads to the city of {hex} (1830 §19)"

    def _color_of(self, hex: str) -> str:
        laid = self.state.tiles.get(hex)
        return tile_faces()[laid[0]].color if laid else self.facts.map.hexes[hex].color

    def _touches(self, company: str, hex: str, tiles: dict[str, tuple[str, int]]) -> bool:
        """Whether some walk from a token uses track of that hex; true where there are too many walks."""
        board = ExhaustiveBoard(self.facts, tiles, self.state.tokens)
        if self.has_more_slots or any(where == hex for where, _ in board.own(company)):
            return True
        walks = list(_walks(board, company))
        return len(walks) >= MAX_WALKS or any(where == hex for walk in walks for where, _ in walk.tracks)

    def _reached(self, company: str, tiles: dict[str, tuple[str, int]]) -> set[Stop] | None:
        """The stops that some walk from a token comes to; None where there are too many walks."""
        walks = list(_walks(ExhaustiveBoard(self.facts, tiles, self.state.tokens), company))
        return None if len(walks) >= MAX_WALKS else {stop for walk in walks for stop in walk.stops}


def _edge_links(tracks: tuple[tuple[int, int], ...]) -> set[frozenset[int]]:
    """Which edges track joins to each other, directly or by way of one node."""
    ends: dict[int, set[int]] = {}
    links = {frozenset(pair) for pair in tracks if max(pair) < 6}
    for pair in tracks:
        if max(pair) >= 6:
            ends.setdefault(max(pair), set()).add(min(pair))
    for edges in ends.values():
        links |= {frozenset((a, b)) for a in edges for b in edges if a < 6 and b < 6}
    return links


def _walks(board: ExhaustiveBoard, company: str) -> Iterator[Walk]:
    """Up to `MAX_WALKS` walks from the company's tokens, each at a stop or a hexside."""
    count = 0
    for token in board.own(company):
        todo = [Walk((token,), frozenset(), frozenset(), token)]
        while todo:
            walk = todo.pop()
            for on in board._leave(walk):
                yield on
                if (count := count + 1) >= MAX_WALKS:
                    return
                if on.at[1] >= 0 and not board.ends(company, on.at):
                    todo.append(on)


def refereed(game: SimulatedGame) -> SimulatedGame:
    """A game in which neither the invariants nor the referee have found anything."""
    assert game.failure is None
    referee = Referee(game.start)
    for number, line in enumerate(game.history_lines, 1):
        assert list(referee.check_line(line)) == [], (game.seed, number, line.line)
    return game
