"""The pictures of a position: those of the question that is asked, with what has changed since.

A picture that cannot be drawn is left out; nothing that waits for it fails.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from typing import NamedTuple

import engine
from bot.hub.feature import Page, PagePicture
from bot.hub.queries import RoutesRun, TableQueries
from bot.hub.request import QueryAnswer
from bot.hub.table import TableView
from bot.pictures.workers import Pictures
from bot.position.boards import find_company, routes_order
from bot.position.controls import ReviewChart
from bot.position.sentences import run_previews
from renderers import CHART_KINDS, Picture, around, part_around

NEAR = 2  # hexes


class NamedPicture(NamedTuple):
    """A picture with the name of its kind: `map`, `market`, `sheet`, `auction`, `companies`."""

    name: str
    picture: Picture


Drawing = tuple[str, Awaitable[Picture | None]]
"""The name of a picture, and the picture when it is drawn."""


async def question_pictures(
    pictures: Pictures,
    state: engine.State,
    before: engine.State | None = None,
    *,
    revenues: Mapping[str, int] | None = None,
    ran: RoutesRun | None = None,
) -> tuple[NamedPicture, ...]:
    """The pictures that the question needs, with the differences from `before` highlighted.

    An auction: the lots with bids and free money; of a company, also the map around its home. A stock round:
    the sheet without its footer, and the market where a price has moved since `before`. A company's turn: the
    map around its reach, before its run around its best routes, after it around those that it ran; the sheet
    for trains where it has not run. A merger: the companies side by side, the market, and the map around
    their tokens. `revenues`: dollars of each company's last run. `ran`: the last run since `before`; of
    another company it is history.
    """
    hexes = changed_hexes(before, state) if before else ()
    repriced = repriced_companies(before, state) if before else ()
    topic, turn = engine.topic(state), state.stack[-1]

    def sheet() -> Drawing:
        return "sheet", pictures.sheet(state, revenues=revenues or {}, has_footer=False)

    def market() -> Drawing:
        return "market", pictures.market(state, highlight=repriced)

    wanted: list[Drawing] = []
    own_run = ran if ran and ran.company == getattr(turn, "company", "") and topic != "merger" else None
    if own_run and (run_map := map_of_run(pictures, state, own_run, hexes)):
        wanted.append(run_map)
    match topic:
        case "auction":
            wanted += [("auction", pictures.draw("auction", state)), *_company_maps(pictures, state, hexes)]
        case "merger":
            companies = engine.companies_in_question(state)
            table = pictures.companies(state, companies, revenues=revenues or {})
            wanted += [("companies", table), market(), *_company_maps(pictures, state, hexes)]
        case "track" | "run":
            wanted += _turn_maps(pictures, state, hexes, has_map=bool(wanted))
        case "trains":
            wanted += [] if wanted else [sheet()]
        case "stock" if before is not None and not repriced:
            wanted += [sheet(), *_company_maps(pictures, state, hexes)]
        case _:
            wanted += [sheet(), market(), *_company_maps(pictures, state, hexes)]
    return await draw_all(wanted)


async def draw_all(wanted: Sequence[Drawing]) -> tuple[NamedPicture, ...]:
    """The pictures when they are drawn, without those that cannot be."""
    drawn = await asyncio.gather(*(drawing for _, drawing in wanted))
    return tuple(
        NamedPicture(name, picture) for (name, _), picture in zip(wanted, drawn, strict=True) if picture
    )


def map_of_run(
    pictures: Pictures, state: engine.State, ran: RoutesRun, hexes: Iterable[str] = ()
) -> Drawing | None:
    """The map around a run with its routes; None where the board no longer has them.

    `hexes`: those to highlight. The best routes look the same before and after they run.
    """
    try:
        on_routes = run_hexes(state, ran)
    except ValueError:
        return None
    if not on_routes:
        return None
    routes = [(route_label(run), run.route) for run in ran.trains]
    crop = part_around(state, (*on_routes, *near(state, on_routes, hexes)))
    picture = pictures.map(state, highlight=tuple(hexes), routes=routes, company=ran.company, crop=crop)
    return "map", picture


def _company_maps(pictures: Pictures, state: engine.State, hexes: Iterable[str]) -> list[Drawing]:
    """The map around the companies that are auctioned, started or merged, with their homes and tokens marked;
    none for other questions."""
    where = engine.company_hexes(state)
    if not where:
        return []
    crop = part_around(state, (*where, *near(state, where, hexes)))
    return [("map", pictures.map(state, highlight=where, crop=crop))]


def _turn_maps(
    pictures: Pictures,
    state: engine.State,
    hexes: Iterable[str],
    has_map: bool,
) -> list[Drawing]:
    """The map around the reach of the company in its turn; before its run, or its connection run, around its
    best routes."""
    company = getattr(state.stack[-1], "company", "")
    previews = run_previews(state)
    best = previews[0].trains if previews else ()
    asked = run_hexes(state, RoutesRun(company, best)) if best else engine.hexes_in_question(state)
    reach = {*asked, *(near(state, asked, hexes) if asked else hexes)}
    if has_map and not best:
        return []
    routes = [(route_label(run), run.route) for run in best]
    crop = part_around(state, reach) if reach else None
    return [("map", pictures.map(
        state, highlight=hexes, routes=routes, company=company, crop=crop
    ))]  # fmt: skip


async def tried_pictures(
    pictures: Pictures, state: engine.State, before: engine.State, run: engine.TrainsRan | None
) -> tuple[NamedPicture, ...]:
    """The pictures of a position that a plan leads to from `before`, with its last `run`: as at the table,
    but a company in its turn always has its map."""
    ran = None
    if run is not None and (trains := train_runs(state, run.company, run.routes)):
        ran = RoutesRun(run.company, trains)
    own = ran is not None and ran.company == getattr(state.stack[-1], "company", "")
    if engine.topic(state) == "trains" and not own:
        return await draw_all(_turn_maps(pictures, state, changed_hexes(before, state), has_map=False))
    return await question_pictures(pictures, state, before, ran=ran)


def lay_map(
    pictures: Pictures,
    state: engine.State,
    hex: str,
    company: str,
    routes: Sequence[tuple[str, str]],
) -> Awaitable[Picture | None]:
    """The map around a company's reach and its `routes` (train, notation), with its lay on `hex` marked."""
    ran = RoutesRun(company, train_runs(state, company, routes))
    shown = [(route_label(run), run.route) for run in ran.trains]
    crop = part_around(state, {hex, *engine.hexes_in_question(state), *run_hexes(state, ran)})
    return pictures.map(state, highlight=(hex,), routes=shown, company=company, crop=crop)


def near(state: engine.State, reach: Iterable[str], hexes: Iterable[str]) -> tuple[str, ...]:
    """Those hexes that are at most `NEAR` away: a change far from what is asked would make its map small."""
    close: Iterable[str] = tuple(reach)
    for _ in range(NEAR):
        close = around(state, close)
    return tuple(hex for hex in hexes if hex in close)


def route_label(run: engine.TrainRun) -> str:
    """`3-train $90: F2-H4-H10`."""
    return f"{run.train}-train ${run.revenue:,}: {run.route}"


def train_runs(
    state: engine.State, company: str, routes: Iterable[tuple[str, str]]
) -> tuple[engine.TrainRun, ...]:
    """Routes (train, notation) with what each earns; empty where the board no longer has them."""
    try:
        return engine.train_runs(state, company, routes)
    except ValueError:
        return ()


def run_hexes(state: engine.State, ran: RoutesRun) -> tuple[str, ...]:
    """The hexes of the routes of a run. Raises ValueError where the board no longer has them."""
    network = engine.game_of(state).network
    routes = (engine.parse_route(network, ran.company, run.route) for run in ran.trains)
    legs = (leg for route in routes for leg in route.segments)
    return tuple(dict.fromkeys(hex for hex, _, _ in legs))


def changed_hexes(before: engine.State, after: engine.State) -> tuple[str, ...]:
    """The hexes whose tile, tokens, mine or bridge have changed."""
    hexes = engine.game_of(after).components.map.hexes
    return tuple(hex for hex in sorted(hexes) if _hex_contents(before, hex) != _hex_contents(after, hex))


def _hex_contents(state: engine.State, hex: str) -> tuple[object, ...]:
    city_tokens = {private: token for private, token in state.city_tokens.items() if token.hex == hex}
    tokens = state.tokens.get(hex) or None
    return state.tiles.get(hex), tokens, hex in state.mine_hexes, hex in state.bridge_hexes, city_tokens


def repriced_companies(before: engine.State, after: engine.State) -> tuple[str, ...]:
    """The companies that have moved on the market."""
    cells = {sym: company.cell for sym, company in before.companies.items()}
    return tuple(s for s, c in after.companies.items() if c.cell is not None and c.cell != cells.get(s))


PICTURES_SAY_ALL = ("status", "sheet", "map", "market", "chart", "animation")
"""Questions whose answer needs no text beside its picture."""


async def turn_pictures(
    queries: TableQueries, pictures: Pictures, view: TableView, since: int = 0
) -> tuple[NamedPicture, ...]:
    """The pictures of the question that is asked now; since: what has changed since then is marked."""
    assert view.state is not None
    try:
        before = await queries.state_at(view.table.id, since) if since else None
    except ValueError:
        before = None
    turn = view.state.stack[-1]
    if isinstance(turn, engine.OperatingTurn) and turn.step == "dividend":
        ran = await queries.run_since(view.table.id, company=turn.company)
    else:
        ran = await queries.run_since(view.table.id, since) if since else None
    revenues = await queries.last_revenues(view.table.id)
    return await question_pictures(pictures, view.state, before, revenues=revenues, ran=ran)


async def answer_pictures(
    queries: TableQueries, pictures: Pictures, view: TableView, answer: QueryAnswer
) -> tuple[NamedPicture, ...]:
    """The pictures of an answer: of a tile, where it may lie and its upgrades; of a run, its routes.

    A picture that cannot be drawn is left out.
    """
    if view.state is None:
        return ()
    state = answer.shown_state(view.state)
    match answer.query:
        case "turn" if not state.game_over:
            return await turn_pictures(queries, pictures, view)
        case "plan" if answer.encoded_state is not None:
            return await tried_pictures(pictures, state, view.state, answer.ran)
        case "tiles":
            return await draw_all(_tiles(pictures, state, answer.argument))
        case "bids" if engine.topic(state) == "auction":
            return await draw_all([("auction", pictures.draw("auction", state))])
        case "routes":
            return await draw_all(await _routes(queries, pictures, view, answer.argument))
        case "trains":
            revenues = await queries.last_revenues(view.table.id)
            return await draw_all([("sheet", pictures.sheet(state, revenues=revenues))])
    wanted = answer.review or answer.picture
    return await draw_all([await _drawing(queries, pictures, view, wanted, state)] if wanted else [])


async def page_pictures(
    queries: TableQueries, pictures: Pictures, view: TableView, page: Page
) -> tuple[NamedPicture, ...]:
    """The pictures of a page about a game that has begun, without those that cannot be drawn."""
    assert view.state is not None
    return await draw_all(
        [await _drawing(queries, pictures, view, each, view.state) for each in page.pictures]
    )


async def _drawing(
    queries: TableQueries, pictures: Pictures, view: TableView, wanted: PagePicture, state: engine.State
) -> Drawing:
    """A picture of a position of a game, or of the whole game."""
    if isinstance(wanted, ReviewChart):
        return "review", pictures.review(*await queries.stored_game(view.table.id), wanted)
    if wanted == "animation" or wanted in CHART_KINDS:
        return wanted, pictures.of_game(wanted, *await queries.stored_game(view.table.id))
    if wanted == "sheet" and state is view.state:
        return wanted, pictures.sheet(state, revenues=await queries.last_revenues(view.table.id))
    return wanted, pictures.draw(wanted, state)


async def _routes(queries: TableQueries, pictures: Pictures, view: TableView, company: str) -> list[Drawing]:
    """The last run of a company; where none is named, of the company that is first in the text."""
    state = view.state
    assert state is not None
    runs = await queries.last_runs(view.table.id)
    named = [find_company(state, company)] if company else routes_order(state, list(runs))
    for sym in filter(runs.__contains__, named):
        ran = await queries.run_since(view.table.id, company=sym)
        if ran and (shown := map_of_run(pictures, state, ran)):
            return [shown]
    return []


def _tiles(pictures: Pictures, state: engine.State, tile: str) -> list[Drawing]:
    """Where a tile may lie, and its upgrades; without a tile, all that are left."""
    name = tile.removeprefix("#")
    if not name:
        return [("tiles", pictures.draw("tiles left", state))]
    return [("tiles", pictures.draw(kind, state, name)) for kind in ("places", "upgrades")]


def picture_file_name(kind: str, number: int = 0, picture: Picture | None = None) -> str:
    """The name of the file of a picture: `map.png`, `animation.gif`; `map-2.webp` with a number."""
    suffix = f"-{number}" if number else ""
    file_type = "webp" if picture and picture.png[8:12] == b"WEBP" else "png"
    return f"{kind.replace(' ', '-')}{suffix}.{'gif' if kind == 'animation' else file_type}"
