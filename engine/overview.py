"""What a position has to show for the question that is asked: bids, free money, where a company can build,
its best run, the companies of a merger, the tiles left. Nothing here changes a position.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from engine.board.route_notation import format_route, parse_route
from engine.board.tile_geometry import same_rotations
from engine.core.actions import Action
from engine.core.components import tile_faces
from engine.core.state import (
    Auction,
    BuyerChoice,
    CompanyStart,
    ExcessTokens,
    FreeToken,
    HomeToken,
    MergerPoll,
    MergerRound,
    MergerTurn,
    OperatingTurn,
    ParPriceChoice,
    PostMergerLoans,
    PostMergerTrade,
    PriceProtection,
    RevenueClaim,
    SeedMoneySale,
    State,
    StockRound,
    Waterfall,
    WaterfallBidding,
)
from engine.finance import market
from engine.kernel import game_of
from engine.operating import run, track
from engine.operating.stations import printed_home
from engine.rounds.sequence import StockRoundRules
from engine.stock.price_protection import PriceProtectionQuestion


def bids(state: State) -> dict[str, dict[str, int]]:
    """The standing bids by private, or by the company that is auctioned: dollars by seat, the leader last."""
    found: dict[str, dict[str, int]] = {}
    for frame in state.stack:
        match frame:
            case Waterfall(bids=standing):
                found |= {item: dict(offers) for item, offers in standing.items() if offers}
            case WaterfallBidding(private=private, bids=offers):
                found[private] = dict(sorted(offers.items(), key=lambda offer: offer[1]))
            case Auction(item=item, high_bid=dollars, high_bidder=str(seat)):
                found[item] = {seat: dollars}
    return found


def auctioned(state: State) -> str | None:
    """The private or company on which bids are asked for now; None where several may be bid on."""
    match state.stack[-1]:
        case WaterfallBidding(private=item) | Auction(item=item):
            return item
    return None


def auctioned_company(state: State) -> str:
    """The company that is auctioned now, or empty. A private may have the same symbol (the ME of 1817)."""
    top = state.stack[-1]
    return top.item if isinstance(top, Auction) and top.kind != "private" else ""


def company_hexes(state: State) -> tuple[str, ...]:
    """Where the companies are that an auction, a start, a par price or a merger is about.

    These are the home that is bid on or printed, and the hexes with their tokens, in the order of the map.
    Empty for other questions, and for a poll, which is about all companies.
    """
    g, top = game_of(state), state.stack[-1]
    if isinstance(top, MergerPoll):
        return ()
    companies = {auctioned_company(state), *companies_in_question(state)}
    if isinstance(top, CompanyStart):
        companies.add(top.company)
    home = top.home_hex if isinstance(top, Auction) else ""
    if isinstance(top, ParPriceChoice):
        home = printed_home(g, top.company).hex
    return tuple(
        hex
        for hex in g.components.map.hexes
        if hex == home or any(sym in companies for _, sym in state.tokens.get(hex, ()))
    )


def free_cash(state: State) -> dict[str, int]:
    """By seat the dollars that no bid ties up.

    What is bid beyond a player's cash is paid with privates (1817 §5.5). A company is bought with the money
    of another one, so bids for it tie up none of the players' (1817 §7.2).
    """
    sales = {frame.item for frame in state.stack if isinstance(frame, Auction) and frame.kind == "sale"}
    tied = [offers for item, offers in bids(state).items() if item not in sales]
    return {
        seat: max(state.cash[seat] - sum(offers.get(seat, 0) for offers in tied), 0) for seat in state.seats
    }


def later_fall(state: State, company: str, shares: int) -> str | None:
    """Where the price of a company falls after the turn in which so many of its shares are sold, unless its
    president protects it (1870 §5.9): `$68`. None in titles where it falls at once, or not."""
    g = game_of(state)
    if PriceProtection not in g.title.questions or state.companies[company].cell is None:
        return None
    lower = market.down(g, market.token_space(g, company), shares)
    return market.space_name(g, lower) if lower != state.companies[company].cell else None


def can_be_protected(after: State, company: str) -> bool:
    """Whether anybody could protect the price of a company whose shares have just been sold (1870 §5.9)."""
    g = game_of(after)
    question = g.title.questions.get(PriceProtection)
    if not isinstance(question, PriceProtectionQuestion):
        return False
    sales = [sale for frame in after.stack for sale in getattr(frame, "pending_sales", ())]
    return not any(sale.company == company and question.has_swapped_certificate(g, sale) for sale in sales)


def price_after_stock_round(state: State, company: str) -> str | None:
    """Where the price of a company moves at the end of the stock round as the shares lie now: `$90`.

    None where it stays, or where no stock round is on.
    """
    g = game_of(state)
    rules, before = g.title.questions[StockRound], state.companies[company].cell
    in_stock_round = any(isinstance(frame, StockRound) for frame in state.stack)
    if not in_stock_round or before is None or not isinstance(rules, StockRoundRules):
        return None
    draft = g.draft()
    rules.finish(draft)
    after = market.token_space(draft, company)
    return market.space_name(draft, after) if after != before else None


def tiles_left(state: State) -> dict[str, int | None]:
    """How many of each tile are left, None for any number; tiles that have run out are left out."""
    g = game_of(state)
    supply = track.tile_supply(g)
    return {tile: supply.get(tile) for tile in g.components.tiles if supply.get(tile, 1)}


def trains_rusted_by(state: State, train: str) -> tuple[str, ...]:
    """The types of train in play that the first purchase of a type rusts, or lets run once more."""
    g = game_of(state)
    owned = {name for company in state.companies.values() for name in company.trains}
    in_play = {*owned, *state.pool_trains, *(name for name, left in state.depot.items() if left != 0)}
    return tuple(
        each.name
        for each in g.components.trains
        if train in (each.rusts_on, each.obsolete_on) and each.name in in_play
    )


def hexes_in_question(state: State) -> tuple[str, ...]:
    """The hexes that the company in its turn has to look at, in the order of the map.

    Those are the hexes with its tokens and its home, and those that its track reaches; in the track step,
    also those that it reaches the edge of. Where station tokens have to go, those that have them. Empty
    where no company has its turn.
    """
    g, top = game_of(state), state.stack[-1]
    if isinstance(top, ExcessTokens):
        owners = {top.company, top.target}
        return tuple(
            hex
            for hex in g.components.map.hexes
            if any(sym in owners for _, sym in state.tokens.get(hex, ()))
        )
    turn = next((frame for frame in reversed(state.stack) if isinstance(frame, OperatingTurn)), None)
    if turn is None:
        return ()
    hexes = {hex for hex, here in state.tokens.items() if any(sym == turn.company for _, sym in here)}
    home = g.company_definition(turn.company).home
    if home:
        hexes.add(home.hex)
    reached = g.network.reachable(turn.company)
    may_build = turn.step == "track"
    hexes |= {hex for hex in reached.edges if may_build or hex in state.tiles}
    hexes |= {hex for hex, _ in reached.stops}
    return tuple(hex for hex in g.components.map.hexes if hex in hexes)


Topic = Literal["auction", "stock", "track", "run", "trains", "merger", "other"]
"""What a question is about: `track` is track and tokens, `run` the run and what becomes of its revenue."""


def topic(state: State) -> Topic:
    """What the question that is asked is about."""
    top = state.stack[-1]
    match top:
        case _ if companies_in_question(state):
            return "merger"
        case Waterfall() | WaterfallBidding() | SeedMoneySale() | Auction():
            return "auction"
        case (
            ExcessTokens() | FreeToken() | HomeToken() | OperatingTurn(step="track" | "token" | "destination")
        ):
            return "track"
        case OperatingTurn(step="run" | "dividend" | "connect") | RevenueClaim():
            return "run"
        case OperatingTurn():
            return "trains"
        case _ if isinstance(state.stack[0], StockRound):
            return "stock"
    return "other"


def companies_in_question(state: State) -> tuple[str, ...]:
    """The companies that a question about mergers is about: whose turn it is first, then its partners.

    Empty for other questions.
    """
    g, top = game_of(state), state.stack[-1]
    if isinstance(top, Auction) and top.kind == "sale":
        return (top.item,)
    if isinstance(top, MergerPoll):
        return next((f.remaining_order for f in reversed(state.stack) if isinstance(f, MergerRound)), ())
    if not isinstance(top, MergerTurn | PostMergerTrade | PostMergerLoans | BuyerChoice):
        return ()
    partners = [
        word
        for seat in g.title.questions[type(top)].asked(g, top)
        for option in g.title.questions[type(top)].options(g, top, seat)
        for word in _companies_named(option.action, state)
    ]
    return tuple(dict.fromkeys((top.company, *partners)))


def _companies_named(action: Action, state: State) -> Iterator[str]:
    for field in action.__struct_fields__:
        value = getattr(action, field)
        if isinstance(value, str) and value in state.companies:
            yield value


class TrainRun(NamedTuple):
    """A train, its route in notation, and the dollars that the route earns."""

    train: str
    route: str
    revenue: int


def best_run(state: State, company: str) -> tuple[TrainRun, ...]:
    """The best run of a company with its trains, on the board as it is; empty if nothing can be run."""
    g = game_of(state)
    best = run.best_run(g, company)
    named = ((route.train, format_route(g.network, route)) for route in best.routes)
    return train_runs(state, company, named)


def train_runs(state: State, company: str, routes: Iterable[tuple[str, str]]) -> tuple[TrainRun, ...]:
    """Routes of a company, (train, notation) each, with what they earn. Raises ValueError for none such."""
    g = game_of(state)
    parsed = ((train, text, parse_route(g.network, company, text, train)) for train, text in routes)
    return tuple(
        TrainRun(train, text, run.company_route_revenue(g, company, route)) for train, text, route in parsed
    )


class TileUpgrades(NamedTuple):
    """What a tile may lie on, as tiles or kinds of empty hexes, and what may be laid on it."""

    before: tuple[str, ...]
    empty_hexes: tuple[str, ...]
    after: tuple[str, ...]


def tile_upgrades(state: State, tile: str) -> TileUpgrades:
    """The upgrades to and from a tile in its title (1830 Table 6). Raises KeyError for an unknown tile."""
    components = game_of(state).components
    if tile not in components.tiles:
        raise KeyError(tile)
    upgrades = components.upgrades or {}
    return TileUpgrades(
        tuple(before for before, after in upgrades.items() if tile in after and before in components.tiles),
        tuple(kind for kind, after in components.preprinted_upgrades.items() if tile in after),
        tuple(after for after in upgrades.get(tile, ()) if after in components.tiles),
    )


def places_of(state: State, tile: str) -> tuple[str, ...]:
    """The hexes on which a tile may lie now. Raises KeyError for an unknown tile."""
    return tuple(hex for hex in game_of(state).components.map.hexes if rotations_on(state, tile, hex))


def rotations_on(state: State, tile: str, hex: str) -> dict[int, int]:
    """The rotations in which a tile may lie on a hex by its upgrades and its track, for any company.

    By rotation the smallest that comes to the same. Empty where it cannot lie there, also for want of tiles
    or of the phase. Raises KeyError for an unknown tile.
    """
    g = game_of(state)
    if tile not in tile_faces():
        raise KeyError(tile)
    if track.refuse_hex(g, hex) or track.refuse_tile(g, tile, hex):
        return {}
    return same_rotations(g.components, hex, state.tiles.get(hex), tile)
