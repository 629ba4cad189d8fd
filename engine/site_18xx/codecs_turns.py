"""Codecs: what companies do in their operating turns, passes, and the end of the game."""

from __future__ import annotations

from engine.board.route_notation import chain_hexes, format_route, parse_route, route_along
from engine.board.routes import Route
from engine.core.actions import (
    Action,
    BuyTrain,
    ChooseHome,
    DeclareBankruptcy,
    DiscardTrain,
    LayMill,
    LayMine,
    LayTile,
    Pass,
    PayDividend,
    PayHalfDividend,
    PlaceToken,
    RunTrains,
    WithholdDividend,
)
from engine.core.components import CoalMineAbility, TileLayAbility, train_label
from engine.core.state import (
    BANK,
    POOL,
    Auction,
    CashCrisis,
    CompanyStart,
    FreeToken,
    HomeToken,
    MergerTurn,
    OperatingTurn,
    PostMergerLoans,
    PostMergerTrade,
    SeedMoneySale,
    StockTurn,
    TakeoverLoans,
)
from engine.game_text.history import ENDED_LINE
from engine.kernel import awaited_seats, end_by_agreement, game_of, refusal
from engine.operating.mines_and_bridges import private_tokens_left
from engine.operating.run import best_run, company_route_revenue, run_revenue
from engine.operating.trains import face_price
from engine.site_18xx.action_codec import CORPORATION, PLAYER, PRIVATE, ActionCodec, EncodingContext, in_turn
from engine.site_18xx.file_title import has_no_answer
from engine.site_18xx.game_file import ActionRecord, SiteAction, SiteFileError
from engine.site_18xx.names import split_number
from engine.site_18xx.record_check import check_token_cost, compare_record
from engine.site_18xx.recorded_runs import check_run, note_other_stops
from engine.site_18xx.site_table import SiteTable

# -- pass ----------------------------------------------------------------------------------------


def _decode_pass(table: SiteTable, action: SiteAction) -> None:
    top, seat = table.game.top, table.controlling_seat(action)
    company = table.acting_company(action)
    if (
        seat is None
        or seat not in awaited_seats(table.game)
        or not _site_asks(table, action)
        or (isinstance(top, OperatingTurn) and company not in (None, top.company))
        or (action.entity_type == PRIVATE and not isinstance(top, FreeToken))
        or not table.try_pass(seat)
    ):
        table.warn(f"{action.entity_key} has nothing to pass now, and the pass is left out")


def _site_asks(table: SiteTable, action: SiteAction) -> bool:
    """Whether the site asks this question of that type of entity."""
    top = table.game.top
    if isinstance(top, PostMergerLoans | TakeoverLoans) or (
        isinstance(top, MergerTurn) and top.stage == "convert"
    ):
        return action.entity_type == "corporation" and table.acting_company(action) == top.company
    if isinstance(top, OperatingTurn):
        return action.entity_type != "player"
    if isinstance(top, Auction | SeedMoneySale | StockTurn | PostMergerTrade | MergerTurn | CompanyStart):
        return action.entity_type == "player" or (
            isinstance(top, StockTurn) and top.acting_company is not None
        )
    return True


def _encode_pass(context: EncodingContext, seat: str, action: Pass) -> ActionRecord:
    if has_no_answer(context.g):
        return {"type": "message", **context.entity(seat), "message": "Nothing can be done in this turn."}
    match context.g.top:
        case FreeToken(private=private):
            entity = context.private_entity(private)
        case OperatingTurn(company) | PostMergerLoans(company) | TakeoverLoans(company):
            entity = context.entity(company)
        case MergerTurn(company, "convert"):
            entity = context.entity(company)
        case _:
            entity = context.entity(seat)
    return entity


# -- lay_tile ------------------------------------------------------------------------------------


def _decode_lay_tile(table: SiteTable, action: SiteAction) -> None:
    tile = table.names.our_tile(split_number(action.tile or "")[0])
    table.numbering.prefer_tile(action.tile or "")
    using = table.private(action.entity_key) if action.entity_type == "company" else None
    ability = table.game.private_definition(using).ability if using else None
    if isinstance(ability, CoalMineAbility):
        table.play_in_turn(action, LayMine(tile, action.hex or "", action.rotation or 0, using))
        return
    if isinstance(ability, TileLayAbility) and table.game.components.second_lay_cost:
        table.play_in_turn(action, LayMill(action.rotation or 0))
        return
    lay = LayTile(tile, action.hex or "", action.rotation or 0, using)
    if using:
        table.play(table.acting_seat(action), lay)
    else:
        table.play_in_turn(action, lay)


def _encode_lay(context: EncodingContext, seat: str, action: LayTile) -> ActionRecord:
    entity = context.private_entity(action.using) if action.using else context.turn_entity(seat)
    tile = context.numbering.next_tile(action.tile)
    return {**entity, "hex": action.hex, "tile": tile, "rotation": action.rotation}


def _encode_mine(context: EncodingContext, seat: str, action: LayMine) -> ActionRecord:
    private = action.using or next(
        p for p, _ in private_tokens_left(context.g, context.current_company(), CoalMineAbility)
    )
    return _encode_lay(context, seat, LayTile(action.tile, action.hex, action.rotation, private))


def _encode_mill(context: EncodingContext, seat: str, action: LayMill) -> ActionRecord:
    private, ability = next(private_tokens_left(context.g, context.current_company(), TileLayAbility))
    return _encode_lay(context, seat, LayTile(ability.tiles[0], ability.hexes[0], action.rotation, private))


# -- place_token ---------------------------------------------------------------------------------


def _decode_place_token(table: SiteTable, action: SiteAction) -> None:
    hex, node = table.numbering.find_city(action.city or "")
    if hex not in table.game.components.map.hexes:
        raise SiteFileError(f"{action.city!r} is not a city on the map")
    top, moves_before = table.game.top, len(table.lines)
    if table.starting_company is not None and table.expected_token is not None:
        compare_record(table, action, table.expected_token)
        table.starting_company = None  # it was placed with the bid
    elif isinstance(top, HomeToken):
        table.play(top.chooser, ChooseHome(top.company, hex, node))
    elif isinstance(top, FreeToken):
        table.play(table.acting_seat(action), PlaceToken(hex, node, top.private))
    else:
        table.play_in_turn(action, PlaceToken(hex, node))
    check_token_cost(action, [event for move in table.lines[moves_before:] for event in move.events])


def _encode_token(context: EncodingContext, seat: str, action: PlaceToken) -> ActionRecord:
    top, company = context.g.top, context.operating_company()
    assert company is not None
    entity = context.private_entity(top.private) if isinstance(top, FreeToken) else context.entity(company)
    return context.place_token(entity, action.hex, action.node) | {
        "tokener": context.names.site_company(company)
    }


def _encode_choose_home(context: EncodingContext, seat: str, action: ChooseHome) -> ActionRecord:
    return context.place_token(context.turn_entity(seat), action.hex, action.node)


# -- run_routes ----------------------------------------------------------------------------------


def _decode_run_routes(table: SiteTable, action: SiteAction) -> None:
    table.pass_for_others(action)
    check_run(table, action)
    company, seat = table.company(action.entity_key), table.acting_seat(action)
    if not action.routes:
        _run_nothing(table, company, seat)
        return
    routes: list[Route] = []
    recorded, complete = 0, True
    for record in action.routes or ():
        train, revenue = split_number(record["train"])[0], record.get("revenue")
        try:
            route = route_along(table.game.network, record.get("connections") or [], train)
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            if revenue is None:
                raise SiteFileError(f"the {train}-train's route: {error}") from None
            table.warn(f"the {train}-train's route: {error}")
            recorded, complete = recorded + revenue, False
            continue
        routes.append(route)
        note_other_stops(table, record, route)
        recorded += company_route_revenue(table.game, company, route) if revenue is None else revenue
    run = RunTrains(tuple((route.train, format_route(table.game.network, route)) for route in routes))
    why = refusal(table.game, seat, run) if routes else None
    if complete and not why and recorded == run_revenue(table.game, company, run):
        table.play(seat, run)
        return
    revenue_here = sum(company_route_revenue(table.game, company, route) for route in routes)
    because = f" ({why})" if why else ""
    table.warn(f"${recorded:,} is paid as recorded; the routes earn ${revenue_here:,}{because}")
    table.play(seat, RunTrains(run.routes, recorded))


def _run_nothing(table: SiteTable, company: str, seat: str) -> None:
    """A run without a route: nothing is earned, whatever could have been."""
    run = RunTrains((), 0) if best_run(table.game, company).revenue else RunTrains(())
    if run.claimed_revenue is None and refusal(table.game, seat, run):
        table.warn(f"the {company} has nothing to run now, and the run is left out")
    else:
        table.play(seat, run)


def _encode_run(context: EncodingContext, seat: str, action: RunTrains) -> ActionRecord:
    company = context.operating_company()
    assert company is not None
    unused_trains: dict[str, list[str]] = {}
    routes = []
    for train, text in action.routes:
        if train not in unused_trains:
            unused_trains[train] = context.numbering.trains(train, company)
        route = parse_route(context.g.network, company, text, train)
        routes.append(_route_record(context, company, unused_trains[train].pop(0), route))
    if action.claimed_revenue is not None:
        _adjust_to_claim(context, company, routes, action.claimed_revenue)
    return {
        **context.entity(company),
        "routes": routes,
        "extra_revenue": 0,
        "subsidy": 0,
    }


def _route_record(context: EncodingContext, company: str, train: str, route: Route) -> ActionRecord:
    hexes = [hex for hex, _ in route.stops]
    return {
        "train": train,
        "connections": chain_hexes(route),
        "hexes": hexes,
        "revenue": company_route_revenue(context.g, company, route),
        "revenue_str": "-".join(hexes),
        "nodes": [f"{hex}-{node}" for hex, node in route.stops],
    }


def _adjust_to_claim(
    context: EncodingContext, company: str, routes: list[ActionRecord], claimed: int
) -> None:
    """Change the revenue of the routes to the dollars that were claimed.

    The site pays what the record says, and nothing where it lists no routes.
    """
    if claimed == 0:
        routes.clear()
        return
    if not routes:
        train = context.g.company(company).trains[0]
        first_train = context.numbering.trains(train, company)[0]
        routes.append({"train": first_train, "connections": [], "hexes": [], "revenue": 0, "revenue_str": ""})
    routes[-1]["revenue"] += claimed - sum(route["revenue"] for route in routes)


# -- dividend ------------------------------------------------------------------------------------

DIVIDENDS: dict[str | None, Action] = {
    "payout": PayDividend(),
    "withhold": WithholdDividend(),
    "half": PayHalfDividend(),
}


def _decode_dividend(table: SiteTable, action: SiteAction) -> None:
    if action.kind not in DIVIDENDS:
        raise SiteFileError(f"{action.kind!r} is not a dividend of this title")
    table.play_in_turn(action, DIVIDENDS[action.kind])


def _encode_dividend(context: EncodingContext, seat: str, action: Action) -> ActionRecord:
    kind = next(kind for kind, dividend in DIVIDENDS.items() if dividend == action)
    return {**context.turn_entity(seat), "kind": kind}


# -- buy_train -----------------------------------------------------------------------------------


def _decode_buy_train(table: SiteTable, action: SiteAction) -> None:
    train = action.train or ""
    name = action.variant or split_number(train)[0]
    source = table.numbering.train_owner(train)
    table.numbering.prefer_train(train)
    traded_in = split_number(action.exchange)[0] if action.exchange else None
    if action.exchange:
        table.numbering.prefer_train(action.exchange)
    buy = BuyTrain(name, source, action.price if source not in (BANK, POOL) else None, traded_in)
    if source in (BANK, POOL) and name in table.game.title.trains:
        cost = face_price(table.game, buy)
        if action.price not in (None, cost):
            raise SiteFileError(f"{train_label(name)} costs ${cost:,} there, not ${action.price:,}")
    table.play_in_turn(action, buy)
    table.accept_offer()


def _encode_buy_train(context: EncodingContext, seat: str, action: BuyTrain) -> ActionRecord:
    company = context.operating_company()
    assert company is not None
    price = face_price(context.g, action) if action.price is None else action.price
    record = {
        **context.entity(company),
        "train": context.numbering.train(action.train, action.source),
        "price": price,
        "variant": action.train,
    }
    if action.traded_in:
        record["exchange"] = context.numbering.train(action.traded_in, company)
    return record


# -- discard_train -------------------------------------------------------------------------------


def _decode_discard_train(table: SiteTable, action: SiteAction) -> None:
    company = table.company(action.entity_key)
    table.numbering.prefer_train(action.train or "")
    seat = table.controlling_seat(action) or next(iter(awaited_seats(table.game)), "")
    table.play(seat, DiscardTrain(split_number(action.train or "")[0], company))


def _encode_discard_train(context: EncodingContext, seat: str, action: DiscardTrain) -> ActionRecord:
    train = context.numbering.train(action.train, action.company)
    return {**context.entity(action.company), "train": train}


# -- bankrupt ------------------------------------------------------------------------------------


def _encode_bankrupt(context: EncodingContext, seat: str, action: DeclareBankruptcy) -> ActionRecord:
    return context.entity(seat) if isinstance(context.g.top, CashCrisis) else context.turn_entity(seat)


# -- end_game ------------------------------------------------------------------------------------


def _decode_end_game(table: SiteTable, action: SiteAction) -> None:
    played = end_by_agreement(table.state)
    table.game = game_of(played.state)
    table.state = played.state
    seat = table.seat(action.entity_key) if action.entity_type == "player" else table.state.seats[0]
    table.append_line(seat, ENDED_LINE, played.events)


CODECS = (
    ActionCodec("pass", (PLAYER, CORPORATION, PRIVATE), _decode_pass, {Pass: _encode_pass}),
    ActionCodec(
        "lay_tile",
        (CORPORATION, PRIVATE),
        _decode_lay_tile,
        {LayTile: _encode_lay, LayMine: _encode_mine, LayMill: _encode_mill},
    ),
    ActionCodec(
        "place_token",
        (CORPORATION, PRIVATE),
        _decode_place_token,
        {PlaceToken: _encode_token, ChooseHome: _encode_choose_home},
    ),
    ActionCodec("run_routes", (CORPORATION,), _decode_run_routes, {RunTrains: _encode_run}),
    ActionCodec(
        "dividend",
        (CORPORATION,),
        _decode_dividend,
        {type(dividend): _encode_dividend for dividend in DIVIDENDS.values()},
    ),
    ActionCodec("buy_train", (CORPORATION,), _decode_buy_train, {BuyTrain: _encode_buy_train}),
    ActionCodec(
        "discard_train", (CORPORATION,), _decode_discard_train, {DiscardTrain: _encode_discard_train}
    ),
    ActionCodec(
        "bankrupt",
        (PLAYER, CORPORATION),
        in_turn(lambda *_: DeclareBankruptcy()),
        {DeclareBankruptcy: _encode_bankrupt},
    ),
    ActionCodec("end_game", (PLAYER, CORPORATION, PRIVATE), _decode_end_game, {}),
)
