"""What a picture shows, as frozen plain values: the only module that reads facts and states.

A view says everything that its picture shows and nothing of how it looks; it can be compared,
hashed (a hex's picture is kept by its `HexView`) and told in words (`alt`). Values are dollars,
shares percent, edges 0-5, nodes numbered as on the face.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from engine import (
    BANK,
    CLOSED,
    IPO,
    POOL,
    Face,
    Facts,
    Game,
    HexFacts,
    State,
    certificate_limit,
    copied,
    counted_certificates,
    decision,
    game_of,
    hidden,
    read_route,
    tile_faces,
    worth,
)

ALT_LIMIT = 1024

Leg = tuple[str, int, int]
"""One stretch of a route: a hex and two ends as the tile lies, 0-5 an edge and 6 + n node n."""

Course = str | Sequence[Leg]
"""A route: as players write it (`F2-H4-H10`), or its stretches."""


@dataclass(frozen=True)
class Badge:
    """A company as its tokens show it."""

    sym: str
    color: str
    text_color: str


@dataclass(frozen=True)
class Value:
    """A figure that changes by phase: it counts from `phase` on; `current`: it counts now."""

    phase: str
    amount: int
    color: str
    current: bool


@dataclass(frozen=True)
class Stretch:
    """A part of a route on one hex, between two ends; `route` counts from 0."""

    route: int
    label: str
    a: str
    b: str


@dataclass(frozen=True)
class HexView:
    """One hex as it lies: the face printed on it or of its tile, and what is on top.

    `banks`: the edges on either bank of a river, and on which its stops lie. `notes`: words on plates,
    as for ports and for what companies are to reach.
    """

    coord: str
    color: str
    nodes: tuple[tuple[str, int], ...] = ()
    paths: tuple[tuple[str, str], ...] = ()
    turns: int = 0
    tile: str | None = None
    label: str | None = None
    name: str | None = None
    revenues: tuple[int, ...] = ()
    values: tuple[Value, ...] = ()
    terrain: tuple[tuple[str, int], ...] = ()
    borders: tuple[tuple[int, str, int], ...] = ()
    joined: tuple[int, ...] = ()
    tokens: tuple[tuple[int, Badge], ...] = ()
    reserved: tuple[tuple[int, Badge], ...] = ()
    blocked: tuple[str, ...] = ()
    banks: tuple[tuple[int, ...], tuple[int, ...], str | None] | None = None
    notes: tuple[str, ...] = ()
    marked: bool = False
    legs: tuple[Stretch, ...] = ()


@dataclass(frozen=True)
class BoardView:
    """A map, or a part of one, at a moment."""

    title: str
    layout: Literal["flat", "pointy"]
    axes: tuple[tuple[str, str], ...]
    phase: str
    hexes: tuple[HexView, ...]
    companies: tuple[Badge, ...]
    routes: tuple[str, ...] = ()

    def hex(self, coord: str) -> HexView:
        """The hex of that coordinate; KeyError where the view has none."""
        for view in self.hexes:
            if view.coord == coord:
                return view
        raise KeyError(coord)

    @property
    def alt(self) -> str:
        """The picture in words."""
        parts = [f"Map of {self.title}, phase {self.phase}"]
        for h in self.hexes:
            if h.marked:
                what = f"{h.color} tile {h.tile}" if h.tile else "no tile"
                held = ", ".join(badge.sym for _, badge in h.tokens)
                parts.append(f"Last change at {_place(h)}: {what}" + (f", tokens {held}" if held else ""))
        parts += [f"Route {i + 1}: {label}" for i, label in enumerate(self.routes)]
        held_by = {
            c.sym: [h.coord for h in self.hexes for _, b in h.tokens if b == c] for c in self.companies
        }
        tokens = "; ".join(f"{sym} {' '.join(at)}" for sym, at in held_by.items() if at)
        parts.append(f"Tokens: {tokens}" if tokens else "No tokens")
        now = {h.name or h.coord: v.amount for h in self.hexes for v in h.values if v.current}
        if now:
            parts.append("Values now: " + ", ".join(f"{name} {amount}" for name, amount in now.items()))
        parts.append(f"{sum(h.tile is not None for h in self.hexes)} tiles laid")
        return clipped(". ".join(parts) + ".")


def _place(view: HexView) -> str:
    return f"{view.coord} ({view.name})" if view.name else view.coord


def clipped(text: str, limit: int = ALT_LIMIT) -> str:
    """The text, or as many whole words of it as a limit allows, ended by an ellipsis."""
    return text if len(text) <= limit else text[: limit - 1].rsplit(" ", 1)[0] + "…"


# --- the map --------------------------------------------------------------------------------


def board_view(
    state: State,
    *,
    highlight: Iterable[str] = (),
    routes: Sequence[tuple[str, Course]] = (),
    company: str = "",
    crop: Iterable[str] | None = None,
    preview: Mapping[str, tuple[str, int]] | None = None,
) -> BoardView:
    """The map of a position.

    `highlight`: hexes of the last change. `routes`: for each train its label and its course;
    `company` runs them (of tracks that join the same stops, hers are meant).
    `crop`: only these hexes. `preview`: tiles by hex, with their turn, as if they had been laid;
    tokens go to the stops that keep their edges. Raises KeyError for a hex that the map has not,
    and ValueError for a course that no track runs along.
    """
    facts = game_of(state).facts
    if preview:
        state = _with_tiles(state, preview)
    marked = frozenset(highlight)
    kept = frozenset(facts.map.hexes if crop is None else crop)
    for coord in (*marked, *kept):
        _printed(facts, coord)
    coords = [coord for coord in facts.map.hexes if coord in kept]
    legs: dict[str, list[Stretch]] = {}
    for i, (label, course) in enumerate(routes):
        for coord, a, b in course_legs(state, company, course):
            legs.setdefault(coord, []).append(Stretch(i, label, a, b))
    badges = badges_of(facts)
    return BoardView(
        title=facts.title,
        layout=facts.map.layout,
        axes=tuple(sorted(facts.map.axes.items())),
        phase=state.phase,
        hexes=tuple(_hex_view(state, facts, badges, c, c in marked, legs.get(c, ())) for c in coords),
        companies=tuple(badges.values()),
        routes=tuple(label for label, _ in routes),
    )


def _with_tiles(state: State, preview: Mapping[str, tuple[str, int]]) -> State:
    changed = copied(state)
    facts = game_of(state).facts
    for coord, (tile, turns) in preview.items():
        before, _, turned = _lying(state, _printed(facts, coord), coord)
        after = tile_faces()[tile]
        changed.tiles[coord] = (tile, turns)
        changed.tokens[coord] = [
            (_kept_node(before, turned, after, turns, node), sym) for node, sym in state.tokens.get(coord, ())
        ]
    return changed


def _kept_node(before: Face, turned: int, after: Face, turns: int, node: int) -> int:
    """The node of a later face that keeps the edges of a node; where it had none, of the same number."""
    edges = _edges_by_node(before, turned).get(node, set())
    return next((n for n, found in _edges_by_node(after, turns).items() if found & edges), node)


def _edges_by_node(face: Face, turns: int) -> dict[int, set[int]]:
    edges: dict[int, set[int]] = {i: set() for i in range(len(face.nodes))}
    for path in face.paths:
        for node, end in (path, path[::-1]):
            if node[0] == "n" and end[0] == "e":
                edges[int(node[1:])].add((int(end[1:]) + turns) % 6)
    return edges


def badges_of(facts: Facts) -> dict[str, Badge]:
    """The badge of each company by its symbol, in the title's order."""
    return {c.sym: Badge(c.sym, c.color, c.text_color) for c in facts.companies}


def _printed(facts: Facts, coord: str) -> HexFacts:
    try:
        return facts.map.hexes[coord]
    except KeyError:
        raise KeyError(f"{coord} is no hex of the map of {facts.title}") from None


def _lying(state: State, printed: HexFacts, coord: str) -> tuple[Face, str | None, int]:
    """What lies on a hex: its face, the number of the tile and its turn."""
    if coord not in state.tiles:
        return printed, None, 0
    tile, turns = state.tiles[coord]
    return tile_faces()[tile], tile, turns


def _hex_view(
    state: State,
    facts: Facts,
    badges: Mapping[str, Badge],
    coord: str,
    marked: bool,
    legs: Iterable[Stretch],
) -> HexView:
    printed = facts.map.hexes[coord]
    face, tile, turns = _lying(state, printed, coord)
    tokens = tuple((node, badges[sym]) for node, sym in state.tokens.get(coord, ()))
    head = _speaks(facts, coord)
    return HexView(
        coord=coord,
        color=face.color,
        nodes=tuple((n.kind, n.slots) for n in face.nodes),
        paths=face.paths,
        turns=turns,
        tile=tile,
        label=face.label or printed.label,
        name=printed.name if head else None,
        revenues=tuple(n.revenue for n in face.nodes if isinstance(n.revenue, int) and n.revenue),
        values=tuple(_values(facts, face, state.phase)) if head else (),
        terrain=() if tile else tuple((t.kind, t.cost) for t in printed.terrain),
        borders=tuple((b.edge, b.kind, b.cost) for b in printed.borders),
        joined=tuple(_joined(facts, coord)),
        tokens=tokens,
        reserved=tuple(_reserved(facts, badges, coord, face, turns, {b.sym for _, b in tokens})),
        blocked=tuple(p.sym for p in facts.privates if coord in p.blocks and _blocks(state, p.sym)),
        banks=(river.west, river.east, river.stations) if (river := printed.river) else None,
        notes=tuple(_notes(state, facts, coord)),
        marked=marked,
        legs=tuple(legs),
    )


def _notes(state: State, facts: Facts, coord: str) -> Iterator[str]:
    """Tokens of privates, ports where one may still be placed, and who is to reach the hex."""
    for private in facts.privates:
        token, effect = state.improvements.get(private.sym), private.effect
        if token is not None and token.hex == coord:
            others = f", all +{effect['open_bonus']}" if token.open else ""
            yield f"{token.company} +{effect['bonus']}{others}"
        open_still = token is None and state.privates.get(private.sym, CLOSED) != CLOSED
        if open_still and effect.get("word") in facts.map.hexes[coord].icons:
            yield str(effect["word"])
    for company in facts.companies:
        co = state.companies[company.sym]
        if company.destination == coord and not (co.connected or co.closed):
            yield f"→{company.sym}"


def _group(face: HexFacts) -> str | None:
    return next((n.group for n in face.nodes if n.group), None)


def _speaks(facts: Facts, coord: str) -> bool:
    """Whether a hex carries the name and values of its area: of several, the last named does."""
    group = _group(facts.map.hexes[coord])
    return not group or coord == [c for c, h in facts.map.hexes.items() if _group(h) == group][-1]


def _joined(facts: Facts, coord: str) -> Iterator[int]:
    """The edges between hexes of one area."""
    here = facts.map.hexes[coord]
    group = _group(here)
    for edge, other in here.neighbors.items():
        if group and _group(facts.map.hexes[other]) == group:
            yield edge


def _values(facts: Facts, face: Face, phase: str) -> Iterator[Value]:
    order = [p.name for p in facts.phases]
    colors = {p.name: p.tile_colors[-1] for p in facts.phases}
    for node in face.nodes:
        if isinstance(node.revenue, dict):
            begun = [key for key in node.revenue if order.index(key) <= order.index(phase)]
            now = max(begun, key=order.index, default=None)
            for key, amount in node.revenue.items():
                yield Value(key, amount, colors.get(key, "white"), key == now)


def _reserved(
    facts: Facts, badges: Mapping[str, Badge], coord: str, face: Face, turns: int, present: set[str]
) -> Iterator[tuple[int, Badge]]:
    """Homes that are kept free: by node; at each of them where the president has the choice."""
    for company in facts.companies:
        if company.home is None or company.home.hex != coord or company.sym in present:
            continue
        cities = [i for i, n in enumerate(face.nodes) if n.kind == "city"]
        city = company.home.city
        for node in cities if city is None else [_kept_node(facts.map.hexes[coord], 0, face, turns, city)]:
            yield node, badges[company.sym]


def _blocks(state: State, private: str) -> bool:
    """A private keeps its hexes closed until a company owns it or it is closed (1830 §7.1)."""
    owner = state.privates.get(private, CLOSED)
    return owner != CLOSED and owner not in state.companies


def course_legs(state: State, company: str, course: Course) -> list[tuple[str, str, str]]:
    """The stretches of track that a course runs over, with ends as in a face's paths."""
    runs = read_route(game_of(state).network, company, course).runs if isinstance(course, str) else course
    return [(coord, _end(a), _end(b)) for coord, a, b in runs]


def _end(end: int) -> str:
    return f"e{end}" if end < 6 else f"n{end - 6}"


# --- the stock market -----------------------------------------------------------------------


@dataclass(frozen=True)
class CellView:
    """A space of the market, at its row and column; `tokens` top first."""

    row: int
    column: int
    price: int
    zones: tuple[str, ...]
    arrow: str | None
    tokens: tuple[Badge, ...]


@dataclass(frozen=True)
class MarketView:
    """The market: `order` lists the companies on it by price, top first in a cell."""

    title: str
    kind: str
    cells: tuple[CellView, ...]
    order: tuple[tuple[Badge, int], ...]
    companies: tuple[Badge, ...]
    marked: tuple[str, ...] = ()

    @property
    def alt(self) -> str:
        """The picture in words."""
        if not self.order:
            return f"Stock market of {self.title}. No company has a price."
        listed = ", ".join(f"{badge.sym} {price}" for badge, price in self.order)
        shared = [
            f"{cell.price} ({', '.join(b.sym for b in cell.tokens)})"
            for cell in self.cells
            if len(cell.tokens) > 1
        ]
        text = f"Stock market of {self.title}. Highest first: {listed}."
        if shared:
            text += f" In one space, top first: {'; '.join(shared)}."
        return clipped(text)


def market_view(state: State, *, highlight: Iterable[str] = ()) -> MarketView:
    """The stock market of a position; `highlight`: companies whose price changed last."""
    facts = game_of(state).facts
    badges = badges_of(facts)
    stacks: dict[tuple[int, int], list[Badge]] = {}
    for sym in state.market:
        cell = state.companies[sym].cell
        if cell is not None:
            stacks.setdefault((cell[0], cell[1]), []).append(badges[sym])
    cells = tuple(
        CellView(r, c, cell.price, cell.zones, cell.arrow, tuple(stacks.get((r, c), ())))
        for r, row in enumerate(facts.market.rows)
        for c, cell in enumerate(row)
        if cell is not None
    )
    g = game_of(state)
    return MarketView(
        title=facts.title,
        kind=facts.market.type,
        cells=cells,
        order=tuple((badges[sym], g.price(sym)) for sym in g.operating_order()),
        companies=tuple(badges.values()),
        marked=tuple(highlight),
    )


# --- the sheet ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Holding:
    """One holder's part of a company in percent."""

    percent: int
    president: bool = False


@dataclass(frozen=True)
class PlayerView:
    """A player: cash in dollars, certificates that count, holdings by the companies' order."""

    seat: str
    name: str
    cash: int
    certificates: int
    worth: int
    privates: tuple[str, ...]
    holdings: tuple[Holding, ...]
    priority: bool
    acting: bool


@dataclass(frozen=True)
class CompanyView:
    """A company's charter: money in dollars (None: not to be seen), what lies in the offering, pool and
    treasury in percent."""

    badge: Badge
    name: str
    par: int | None
    price: int | None
    cash: int | None
    trains: tuple[str, ...]
    tokens: tuple[int, ...]
    privates: tuple[str, ...]
    president: str | None
    ipo: int
    pool: int
    treasury: int
    floated: bool
    started: bool
    acting: bool


@dataclass(frozen=True)
class SheetView:
    """The table beside the board: players, companies, bank, phase, trains left.

    `treasuries`: companies of the title hold shares of their own.
    """

    title: str
    round: str
    phase: str
    bank: int
    limit: int | None
    train_limit: int
    depot: tuple[tuple[str, int | None, int], ...]
    pool_trains: tuple[str, ...]
    players: tuple[PlayerView, ...]
    companies: tuple[CompanyView, ...]
    unsold: tuple[tuple[str, int], ...] = ()
    treasuries: bool = False

    @property
    def alt(self) -> str:
        """The picture in words."""
        left = ", ".join(
            f"{count if count is not None else 'any'} of {name}" for name, count, _ in self.depot
        )
        parts = [
            f"{self.title}, {self.round}, phase {self.phase}",
            f"Bank ${self.bank}",
            f"Trains left: {left or 'none'}",
        ]
        for p in self.players:
            held = " ".join(
                f"{c.badge.sym} {h.percent}%{' president' if h.president else ''}"
                for c, h in zip(self.companies, p.holdings, strict=True)
                if h.percent
            )
            parts.append(f"{p.name} ${p.cash}{' priority' if p.priority else ''} {held}".rstrip())
        for c in self.companies:
            if c.started:
                trains = " ".join(c.trains) or "no train"
                cash = "" if c.cash is None else f"${c.cash}, "
                parts.append(f"{c.badge.sym} at {c.price}, {cash}{trains}")
        return clipped(". ".join(parts) + ".")


def sheet_view(state: State, viewer: str | None = None) -> SheetView:
    """The table of players and companies of a position, as that seat or the whole table may see it."""
    g = game_of(state)
    asked = decision(state)
    acting = {*asked.asked, asked.company}
    veiled = hidden(state, viewer)
    return SheetView(
        title=g.facts.title,
        round=asked.round,
        phase=state.phase,
        bank=g.cash(BANK),
        limit=certificate_limit(g),
        train_limit=g.phase.train_limit,
        depot=tuple(
            (t.name, state.depot[t.name], t.price) for t in g.facts.trains if state.depot.get(t.name, 0) != 0
        ),
        pool_trains=tuple(state.pool),
        players=tuple(_player_view(g, seat, seat in acting) for seat in state.seats),
        companies=tuple(
            _company_view(g, c, badge, c in acting, veiled) for c, badge in badges_of(g.facts).items()
        ),
        unsold=tuple((p.sym, p.price) for p in g.facts.privates if state.privates[p.sym] in (BANK, IPO)),
        treasuries=g.title.flotation.keeps_rest,
    )


def _player_view(g: Game, seat: str, acting: bool) -> PlayerView:
    state = g.state
    return PlayerView(
        seat=seat,
        name=state.name(seat),
        cash=g.cash(seat),
        certificates=counted_certificates(g, seat),
        worth=worth(g, seat),
        privates=tuple(g.privates_of(seat)),
        holdings=tuple(
            Holding(g.held(seat, c.sym), state.companies[c.sym].president == seat) for c in g.facts.companies
        ),
        priority=state.priority == seat,
        acting=acting,
    )


def _company_view(g: Game, sym: str, badge: Badge, acting: bool, veiled: frozenset[str]) -> CompanyView:
    company, printed = g.company(sym), g.company_facts(sym)
    costs = (*printed.tokens, *[g.facts.kept_token_cost] * company.kept)
    return CompanyView(
        badge=badge,
        name=printed.name,
        par=company.par,
        price=g.price(sym) or None,
        cash=None if sym in veiled else g.state.cash.get(sym, 0),
        trains=tuple(company.trains),
        tokens=costs[len(costs) - company.markers :],
        privates=tuple(g.privates_of(sym)),
        president=g.state.name(company.president) if company.president else None,
        ipo=g.held(IPO, sym),
        pool=g.held(POOL, sym),
        treasury=g.held(sym, sym),
        floated=company.floated,
        started=company.par is not None,
        acting=acting,
    )
