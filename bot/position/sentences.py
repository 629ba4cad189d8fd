"""Parts of a position in words: amounts, what is auctioned, the run to come, track (pure)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import engine
from engine.board.tile_geometry import FIRST_NODE, RotatedFace, face_at
from engine.core.components import HexDefinition, Node
from engine.core.words import dollars
from engine.operating.stations import free_slots

# -- what is auctioned -----------------------------------------------------------------------

MAX_DESCRIPTION = 160  # characters of a private's ability in a list
MAX_SENTENCES = 260  # the same in an answer about bids, in whole sentences


def for_sale(state: engine.State) -> dict[str, dict[str, int]]:
    """What is auctioned or for sale by the bank: the bids in dollars by seat, the leader last."""
    found: dict[str, dict[str, int]] = {
        private: {}
        for private, owner in state.private_owners.items()
        if owner == engine.BANK and engine.round_name(state) == "opening"
    }
    return found | engine.bids(state)


def bids_text(state: engine.State, bids: Mapping[str, int]) -> str:
    """`Ann $110, Bob $115 leads`; `no bid`."""
    offers = [f"{state.name(seat)} {dollars(amount)}" for seat, amount in bids.items()]
    return f"{', '.join(offers)} leads" if offers else "no bid"


def sale_line(state: engine.State, item: str, bids: Mapping[str, int], *, with_power: bool = False) -> str:
    """A private or a company that is auctioned, in one line: `MH Mohawk & Hudson, $110, pays $20: no bid`.

    with_power: what the private can do follows.
    """
    private = _private_of_auction(state, item)
    head = company_head(state, item) if private is None else _private_head(private)
    power = _power(private) if private is not None and with_power else ""
    return f"{head}: {bids_text(state, bids)}{f'. {power}' if power else ''}"


def auction_lines(state: engine.State) -> list[str]:
    """What is for sale, as a bidder needs it: with what it can do. Where bids are asked for one item, that is
    the first, and the others without bids are one line."""
    items, asked = for_sale(state), engine.auctioned(state)
    if asked is None:
        return [sale_line(state, item, bids, with_power=True) for item, bids in items.items()]
    others = {item: bids for item, bids in items.items() if item != asked}
    waiting = [_short_head(state, item) for item, bids in others.items() if not bids]
    return [
        sale_line(state, asked, items.get(asked, {}), with_power=True),
        *(sale_line(state, item, bids) for item, bids in others.items() if bids),
        *([f"Not bid on yet: {', '.join(waiting)}"] if waiting else []),
    ]


def _short_head(state: engine.State, item: str) -> str:
    """`PSM Pittsburgh Steel Mill $40`."""
    private = _private_of_auction(state, item)
    return item if private is None else f"{item} {private.name} {dollars(private.price)}"


def private_text(state: engine.State, sym: str) -> str:
    """A private in a list of possessions: `SV Schuylkill Valley (pays $5)`."""
    private = _private(state, sym)
    if private is None:
        return sym
    return f"{sym} {private.name}" + (f" (pays {dollars(private.revenue)})" if private.revenue else "")


def free_cash_line(state: engine.State) -> str:
    """Everybody's cash without what their bids hold back."""
    free = [f"{state.name(seat)} {dollars(amount)}" for seat, amount in engine.free_cash(state).items()]
    return f"Free cash: {', '.join(free)}"


def bids_view(state: engine.State) -> str:
    """What is auctioned with its bids, and everybody's free cash."""
    items = for_sale(state)
    if not items:
        return "Nothing is auctioned now."
    return "\n".join(
        [
            *(_described(state, item, bids) for item, bids in items.items()),
            free_cash_line(state),
        ]
    )


def _described(state: engine.State, item: str, bids: Mapping[str, int]) -> str:
    """`sale_line`, and what a private can do in whole sentences."""
    private = _private_of_auction(state, item)
    power = _power(private) if private else ""
    if len(power) > MAX_SENTENCES:
        power = power[:MAX_SENTENCES].rpartition(". ")[0] + "."
    return f"{sale_line(state, item, bids)}{f'. {power}' if power else ''}"


def private_view(state: engine.State, symbol: str = "") -> str:
    """One private by name, or all: face value, income, owner, bids, and what it can do. Raises ValueError."""
    wanted = symbol.casefold()
    known = [p for p in _privates(state) if wanted in ("", p.sym.casefold(), p.name.casefold())]
    if not known and symbol:
        names = ", ".join(private.sym for private in _privates(state))
        raise ValueError(f"There is no private {symbol}; there are {names}.")
    if not known:
        return "This game has no privates."
    return "\n".join(line for private in known for line in _private_lines(state, private, bool(symbol)))


def _privates(state: engine.State) -> list[engine.PrivateDefinition]:
    return [p for p in engine.game_of(state).components.privates if p.sym in state.private_owners]


def _private(state: engine.State, sym: str) -> engine.PrivateDefinition | None:
    return next((private for private in _privates(state) if private.sym == sym), None)


def _private_of_auction(state: engine.State, item: str) -> engine.PrivateDefinition | None:
    """The private that is auctioned; None where the item is a company."""
    return None if item == engine.auctioned_company(state) else _private(state, item)


def company_head(state: engine.State, sym: str) -> str:
    """`ME Morristown and Erie`."""
    return f"{sym} {engine.game_of(state).company_definition(sym).name}"


def _private_head(private: engine.PrivateDefinition) -> str:
    pays = f", pays {dollars(private.revenue)}" if private.revenue else ""
    return f"{private.sym} {private.name}, {dollars(private.price)}{pays}"


def _private_lines(state: engine.State, private: engine.PrivateDefinition, in_full: bool) -> Iterator[str]:
    owner = state.private_owners[private.sym]
    if owner == engine.CLOSED:
        place = "closed"
    elif owner == engine.BANK:
        place = bids_text(state, engine.bids(state).get(private.sym, {}))
    else:
        place = f"owned by {state.name(owner)}"
    yield f"{_private_head(private)}; {place}."
    if power := _power(private):
        yield f"  {power if in_full else cut_text(power, MAX_DESCRIPTION)}"


def _power(private: engine.PrivateDefinition) -> str:
    """What a private can do, in sentences."""
    blocks = f"Blocks {', '.join(private.blocks)} while a player owns it." if private.blocks else ""
    return " ".join(filter(None, (private.description, blocks)))


def cut_text(text: str, limit: int) -> str:
    """A text of at most so many characters, with an ellipsis where it is cut."""
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…"


# -- the run to come -------------------------------------------------------------------------
#
# Before a connection run its sum depends on the destination token, which is placed or kept first. Both ways
# are tried on a copy of the position.

CONNECT, DESTINATION, RUN = "connect", "destination", "run"
START_CONNECTION_RUN = "connect run"
TOKEN_WAYS = (("destination place", "its destination token placed"), ("destination keep", "that token kept"))


class RunPreview(NamedTuple):
    """The best run of a company. way: what is decided about its destination token, empty where nothing is."""

    company: str
    way: str
    trains: tuple[engine.TrainRun, ...]

    @property
    def revenue(self) -> int:
        """Dollars of all trains."""
        return sum(run.revenue for run in self.trains)


def run_previews(state: engine.State) -> list[RunPreview]:
    """The run that follows from the question that is asked, by each way to it, the best first.

    Empty for questions that no run follows.
    """
    turn = state.stack[-1]
    if not isinstance(turn, engine.OperatingTurn) or turn.step not in (CONNECT, DESTINATION, RUN):
        return []
    seat = engine.decision(state).acting[0]
    if turn.step == RUN:
        return _runs(state, turn.company, "")
    if turn.step == CONNECT:
        state = engine.play_line(state, seat, START_CONNECTION_RUN).state
    possible = {choice.line for choice in engine.choices(state, seat)}
    found = [
        preview
        for line, way in TOKEN_WAYS
        if line in possible
        for preview in _runs(engine.play_line(state, seat, line).state, turn.company, way)
    ]
    return sorted(found, key=lambda preview: -preview.revenue)


def _runs(state: engine.State, company: str, way: str) -> list[RunPreview]:
    trains = engine.best_run(state, company)
    return [RunPreview(company, way, trains)] if trains else []


def run_lines(state: engine.State) -> list[str]:
    """`Best run of the PRR: $70, 2-train $30 H12-H10, 2-train $40 H12-I15`; a line for each way to it that
    makes a difference."""
    previews = run_previews(state)
    if len({preview.trains for preview in previews}) == 1:
        previews = [previews[0]._replace(way="")]
    return [_line(preview) for preview in previews]


def connection_lines(state: engine.State) -> list[str]:
    """The same before a connection run; empty before others, whose best routes are a line to play."""
    return run_lines(state) if getattr(state.stack[-1], "step", "") in (CONNECT, DESTINATION) else []


def _line(preview: RunPreview) -> str:
    trains = ", ".join(f"{run.train}-train {dollars(run.revenue)} {run.route}" for run in preview.trains)
    with_token = f" with {preview.way}" if preview.way else ""
    return f"Best run of the {preview.company}{with_token}: {dollars(preview.revenue)}, {trains}"


# -- track -----------------------------------------------------------------------------------

DIRECTIONS = {
    "pointy": ("southwest", "west", "northwest", "northeast", "east", "southeast"),
    "flat": ("south", "southwest", "northwest", "north", "northeast", "southeast"),
}
"""By the layout of a map the direction of each edge 0-5."""


def directions(state: engine.State) -> tuple[str, ...]:
    """The direction of each edge 0-5 on the map of a game."""
    return DIRECTIONS[engine.game_of(state).components.map.layout]


def hex_of(state: engine.State, name: str) -> HexDefinition:
    """A hex of the map. Raises ValueError."""
    hexes = engine.game_of(state).components.map.hexes
    if (found := hexes.get(name.upper())) is None:
        raise ValueError(f"There is no hex {name}.")
    return found


def face_of(state: engine.State, hex: str) -> RotatedFace:
    """What lies on a hex: its tile, else what is printed there."""
    return face_at(engine.game_of(state).components, state.tiles, hex)


def joined_hexes(state: engine.State, hex: str, edges: int) -> list[str]:
    """The hexes beside a hex over some of its edges (bits 0-5); an edge without one leads off the map."""
    beside = engine.game_of(state).components.map.hexes[hex].neighbors
    return [beside.get(edge, "the border") for edge in range(6) if edges >> edge & 1]


def value_now(state: engine.State, node: Node) -> int:
    """What a stop counts in the present phase, in dollars."""
    return engine.stop_revenue(engine.game_of(state).components, state.phase, node)


def later_values(state: engine.State, node: Node) -> str:
    """What a stop counts in later phases: `, $50 from phase 5`; empty where that stays."""
    if isinstance(node.revenue, int):
        return ""
    order = [phase.name for phase in engine.game_of(state).components.phases]
    later = [phase for phase in node.revenue if order.index(phase) > order.index(state.phase)]
    return "".join(f", {dollars(node.revenue[phase])} from phase {phase}" for phase in later)


def track_phrases(state: engine.State, hex: str) -> Iterator[str]:
    """Each stop of a hex with the hexes that its track joins, then the track that passes through."""
    face = face_of(state, hex)
    for number in face.stops:
        yield _stop_phrase(state, hex, face, number)
    for edges in _passing(face):
        yield f"track {' - '.join(joined_hexes(state, hex, edges))}"


def _passing(face: RotatedFace) -> Iterator[int]:
    """The edges (bits 0-5) of each track that passes through a face without a stop."""
    for edge, ways in enumerate(face.connections[:FIRST_NODE]):
        for _, end in ways:
            if edge < end < FIRST_NODE:
                yield 1 << edge | 1 << end


def joined_by(state: engine.State, hex: str, tile: str, rotation: int) -> str:
    """What a tile would join on a hex: `H8 - H12`, with `and` between tracks that do not meet at a stop."""
    face = face_at(engine.game_of(state).components, {hex: (tile, rotation)}, hex)
    tracks = [*(face.node_exits[number] for number in face.stops), *_passing(face)]
    return " and ".join(" - ".join(joined_hexes(state, hex, edges)) for edges in tracks if edges)


def _stop_phrase(state: engine.State, hex: str, face: RotatedFace, number: int) -> str:
    node = face.nodes[number]
    value = value_now(state, node)
    words: list[str] = ["off-board" if node.kind == "offboard" else node.kind]
    if value:
        words.append(dollars(value))
    tokens = [owner for at, owner in state.tokens.get(hex, ()) if at == number]
    if node.kind == "city":
        free = free_slots(engine.game_of(state), hex, number)
        spaces = [*tokens, *([f"{free} free"] if free > 0 else [])]
        words.append(f"({', '.join(spaces) or 'no space'})")
    elif tokens:
        words.append(f"({', '.join(tokens)})")
    joined = joined_hexes(state, hex, face.node_exits[number])
    return f"{' '.join(words)} - {', '.join(joined)}" if joined else " ".join(words)
