"""Actions of the site beside ours: what companies do in their turns."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
from engine.core.components import CoalMineAbility, TileLayAbility
from engine.core.state import (
    BANK,
    POOL,
    Auction,
    CashCrisis,
    CompanyStart,
    ConnectionRunTurn,
    FreeToken,
    HomeToken,
    MergerTurn,
    OperatingTurn,
    PostMergerLoans,
    PostMergerTrade,
    PriceProtection,
    SeedMoneySale,
    StockTurn,
    TakeoverLoans,
)
from engine.game import Game
from engine.game_text.history import CONNECTION_RUN_LINE, ENDED_LINE
from engine.kernel import awaited_seats, end_by_agreement, game_of, refusal
from engine.operating.connection_runs import can_do_connection_run
from engine.operating.mines_and_bridges import private_tokens_left
from engine.operating.run import best_run, company_route_revenue, run_revenue
from engine.operating.trains import face_price
from engine.site_18xx.codec import ActionCodec, ActionRecord, EncodingContext
from engine.site_18xx.game_file import SiteAction, SiteFileError
from engine.site_18xx.names import split_number
from engine.stock.price_protection import PriceProtectionQuestion
from engine.stock.turn import StockTurnQuestion

if TYPE_CHECKING:
    from engine.site_18xx.replay import SiteReplay

FIRST_CONNECTION_STEP = "destination"
"""With what a connection run begins on the site."""


# -- pass ----------------------------------------------------------------------------------------


def _decode_pass(replay: SiteReplay, action: SiteAction) -> None:
    top, speaker = replay.game.top, replay.controlling_seat(action)
    if speaker is None or speaker not in awaited_seats(replay.game) or not _site_asks(replay, action):
        return
    if isinstance(top, OperatingTurn) and replay.acting_company(action) not in (None, top.company):
        return
    if action.entity_type == "company" and not isinstance(top, FreeToken):
        return
    replay.try_pass(speaker)


def _site_asks(replay: SiteReplay, action: SiteAction) -> bool:
    """Whether the question is one that the site puts to that kind of entity."""
    top = replay.game.top
    if isinstance(top, PostMergerLoans | TakeoverLoans) or (
        isinstance(top, MergerTurn) and top.stage == "convert"
    ):
        return action.entity_type == "corporation" and replay.acting_company(action) == top.company
    if isinstance(top, OperatingTurn):
        return action.entity_type != "player"
    if isinstance(top, Auction | SeedMoneySale | StockTurn | PostMergerTrade | MergerTurn | CompanyStart):
        return action.entity_type == "player" or (
            isinstance(top, StockTurn) and top.acting_company is not None
        )
    return True


def has_no_answer(g: Game) -> bool:
    """Whether a question is open to which there is no answer: the site takes no pass there, and goes on
    with whatever comes next, be it a remark."""
    turn, asking = g.top, g.title.questions.get(type(g.top))
    if isinstance(turn, PriceProtection) and isinstance(asking, PriceProtectionQuestion):
        return asking.refuse_protection(g, turn) is not None
    return (
        isinstance(turn, StockTurn)
        and turn.guaranteed
        and isinstance(asking, StockTurnQuestion)
        and not (turn.bought or turn.sold)
        and asking.is_idle(g, turn)
    )


def _encode_pass(desk: EncodingContext, seat: str, action: Pass) -> ActionRecord:
    if has_no_answer(desk.g):
        return {"type": "message", **desk.entity(seat), "message": "Nothing can be done in this turn."}
    match desk.g.top:
        case FreeToken(private=private):
            by = desk.private_entity(private)
        case OperatingTurn(company) | PostMergerLoans(company) | TakeoverLoans(company):
            by = desk.entity(company)
        case MergerTurn(company, "convert"):
            by = desk.entity(company)
        case _:
            by = desk.entity(seat)
    return {"type": "pass", **by}


# -- lay_tile ------------------------------------------------------------------------------------


def _decode_lay_tile(replay: SiteReplay, action: SiteAction) -> None:
    tile = replay.names.our_tile(split_number(action.tile or "")[0])
    replay.numbering.prefer_tile(action.tile or "")
    using = replay.private(action.entity_key) if action.entity_type == "company" else None
    ability = replay.game.private_definition(using).ability if using else None
    if isinstance(ability, CoalMineAbility):
        said = LayMine(tile, action.hex or "", action.rotation or 0, using)
        _play_private_tile(replay, action, said)
        return
    if isinstance(ability, TileLayAbility) and replay.game.components.second_lay_cost:
        _play_private_tile(replay, action, LayMill(action.rotation or 0))
        return
    lay = LayTile(tile, action.hex or "", action.rotation or 0, using)
    if using:
        replay.play(replay.acting_seat(action), lay)
    else:
        replay.play_in_turn(action, lay)


def _play_private_tile(replay: SiteReplay, action: SiteAction, said: Action) -> None:
    """A tile laid by the power of a private in the company's own turn."""
    replay.pass_for_others(action)
    replay.play(replay.acting_seat(action), said)


def _encode_lay(desk: EncodingContext, seat: str, action: LayTile) -> ActionRecord:
    by = desk.private_entity(action.using) if action.using else desk.turn_entity(seat)
    tile = desk.numbering.next_tile(action.tile)
    return {"type": "lay_tile", **by, "hex": action.hex, "tile": tile, "rotation": action.turn}


def _encode_mine(desk: EncodingContext, seat: str, action: LayMine) -> ActionRecord:
    private = action.using or next(
        p for p, _ in private_tokens_left(desk.g, desk.current_company(), CoalMineAbility)
    )
    return _encode_lay(desk, seat, LayTile(action.tile, action.hex, action.turn, private))


def _encode_mill(desk: EncodingContext, seat: str, action: LayMill) -> ActionRecord:
    private, ability = next(private_tokens_left(desk.g, desk.current_company(), TileLayAbility))
    return _encode_lay(desk, seat, LayTile(ability.tiles[0], ability.hexes[0], action.turn, private))


# -- place_token ---------------------------------------------------------------------------------


def _decode_place_token(replay: SiteReplay, action: SiteAction) -> None:
    hex, node = replay.numbering.find_city(action.city or "")
    if hex not in replay.game.components.map.hexes:
        raise SiteFileError(f"{action.city!r} is no city on the map")
    top = replay.game.top
    if replay.starting_company is not None:
        replay.starting_company = None  # it was said with the bid
    elif isinstance(top, HomeToken):
        replay.play(top.chooser, ChooseHome(top.company, hex, node))
    elif isinstance(top, FreeToken):
        replay.play(replay.acting_seat(action), PlaceToken(hex, node, top.private))
    else:
        replay.play_in_turn(action, PlaceToken(hex, node))


def _encode_token(desk: EncodingContext, seat: str, action: PlaceToken) -> ActionRecord:
    top, company = desk.g.top, desk.operating_company()
    assert company is not None
    by = desk.private_entity(top.private) if isinstance(top, FreeToken) else desk.entity(company)
    return desk.place_token(by, action.hex, action.node) | {"tokener": desk.names.site_company(company)}


def _encode_choose_home(desk: EncodingContext, seat: str, action: ChooseHome) -> ActionRecord:
    return desk.place_token(desk.turn_entity(seat), action.hex, action.node)


# -- run_routes ----------------------------------------------------------------------------------


def _decode_run_routes(replay: SiteReplay, action: SiteAction) -> None:
    replay.pass_for_others(action)
    if not action.routes:
        brings = best_run(replay.game, replay.company(action.entity_key)).revenue
        nothing = RunTrains((), 0) if brings else RunTrains(())
        if brings or not refusal(replay.game, replay.acting_seat(action), nothing):
            replay.play(replay.acting_seat(action), nothing)
        return
    seat, company, network = (
        replay.acting_seat(action),
        replay.company(action.entity_key),
        replay.game.network,
    )
    found: list[Route] = []
    recorded, complete = 0, True
    for route in action.routes:
        train, revenue = split_number(str(route.get("train", "")))[0], route.get("revenue")
        if train not in replay.game.title.trains:
            raise SiteFileError(f"there is no {train}-train")
        try:
            found.append(route_along(network, route.get("connections") or [], train))
            recorded += (
                revenue
                if isinstance(revenue, int)
                else company_route_revenue(replay.game, company, found[-1])
            )
        except (ValueError, LookupError, TypeError, AttributeError) as wrong:
            if not isinstance(revenue, int):
                raise SiteFileError(f"the {train}-train's route: {wrong}") from None
            replay.warnings.append(f"Action {replay.action_id}: the {train}-train's route: {wrong}")
            recorded, complete = recorded + revenue, False
    said = RunTrains(tuple((route.train, format_route(network, route)) for route in found))
    why = refusal(replay.game, seat, said) if found else None
    if complete and not why and recorded == run_revenue(replay.game, company, said):
        replay.apply(seat, said)
        return
    brought = sum(company_route_revenue(replay.game, company, route) for route in found)
    replay.warnings.append(
        f"Action {replay.action_id}: ${recorded} is paid as recorded; the routes bring ${brought}"
        + (f" ({why})" if why else "")
    )
    replay.play(seat, RunTrains(said.routes, recorded))


def _encode_run(desk: EncodingContext, seat: str, action: RunTrains) -> ActionRecord:
    company = desk.operating_company()
    assert company is not None
    left: dict[str, list[str]] = {}
    routes = []
    for train, text in action.routes:
        if train not in left:
            left[train] = desk.numbering.trains(train, company)
        route = parse_route(desk.g.network, company, text, train)
        routes.append(_route_record(desk, company, left[train].pop(0), route))
    if action.claimed is not None:
        _adjust_to_claim(desk, company, routes, action.claimed)
    return {"type": "run_routes", **desk.entity(company), "routes": routes, "extra_revenue": 0, "subsidy": 0}


def _route_record(desk: EncodingContext, company: str, train: str, route: Route) -> ActionRecord:
    hexes = [hex for hex, _ in route.stops]
    return {
        "train": train,
        "connections": chain_hexes(route),
        "hexes": hexes,
        "revenue": company_route_revenue(desk.g, company, route),
        "revenue_str": "-".join(hexes),
        "nodes": [f"{hex}-{node}" for hex, node in route.stops],
    }


def _adjust_to_claim(desk: EncodingContext, company: str, routes: list[ActionRecord], claimed: int) -> None:
    """Bring the revenue of the routes to what was claimed; the site pays what is written, and nothing
    where there are no routes."""
    if claimed == 0:
        routes.clear()
        return
    if not routes:
        train = desk.g.company(company).trains[0]
        first = desk.numbering.trains(train, company)[0]
        routes.append({"train": first, "connections": [], "hexes": [], "revenue": 0, "revenue_str": ""})
    routes[-1]["revenue"] += claimed - sum(route["revenue"] for route in routes)


# -- dividend ------------------------------------------------------------------------------------


def _decode_dividend(replay: SiteReplay, action: SiteAction) -> None:
    kinds: dict[str | None, Action] = {
        "payout": PayDividend(),
        "withhold": WithholdDividend(),
        "half": PayHalfDividend(),
    }
    if action.kind not in kinds:
        raise SiteFileError(f"{action.kind!r} is no dividend of this title")
    replay.play_in_turn(action, kinds[action.kind])


def _encode_pay(desk: EncodingContext, seat: str, action: PayDividend) -> ActionRecord:
    return {"type": "dividend", **desk.turn_entity(seat), "kind": "payout"}


def _encode_withhold(desk: EncodingContext, seat: str, action: WithholdDividend) -> ActionRecord:
    return {"type": "dividend", **desk.turn_entity(seat), "kind": "withhold"}


def _encode_half(desk: EncodingContext, seat: str, action: PayHalfDividend) -> ActionRecord:
    return {"type": "dividend", **desk.turn_entity(seat), "kind": "half"}


# -- buy_train -----------------------------------------------------------------------------------


def _decode_buy_train(replay: SiteReplay, action: SiteAction) -> None:
    train = action.train or ""
    name = action.variant or split_number(train)[0]
    source = replay.numbering.train_owner(train)
    replay.numbering.prefer_train(train)
    traded = split_number(action.exchange)[0] if action.exchange else None
    if action.exchange:
        replay.numbering.prefer_train(action.exchange)
    price = action.price if source not in (BANK, POOL) else None
    replay.play_in_turn(action, BuyTrain(name, source, price, traded))
    replay.accept_offer()


def _encode_buy_train(desk: EncodingContext, seat: str, action: BuyTrain) -> ActionRecord:
    company = desk.operating_company()
    assert company is not None
    price = face_price(desk.g, action) if action.price is None else action.price
    record = {
        "type": "buy_train",
        **desk.entity(company),
        "train": desk.numbering.train(action.train, action.source),
        "price": price,
        "variant": action.train,
    }
    if action.trading:
        record["exchange"] = desk.numbering.train(action.trading, company)
    return record


# -- discard_train -------------------------------------------------------------------------------


def _decode_discard_train(replay: SiteReplay, action: SiteAction) -> None:
    company = replay.company(action.entity_key)
    replay.numbering.prefer_train(action.train or "")
    seat = replay.controlling_seat(action) or next(iter(awaited_seats(replay.game)), "")
    replay.play(seat, DiscardTrain(split_number(action.train or "")[0], company))


def _encode_discard_train(desk: EncodingContext, seat: str, action: DiscardTrain) -> ActionRecord:
    train = desk.numbering.train(action.train, action.company)
    return {"type": "discard_train", **desk.entity(action.company), "train": train}


# -- destination_connection ----------------------------------------------------------------------


def _decode_destination_connection(replay: SiteReplay, action: SiteAction) -> None:
    """What the site has found; the engine finds it by itself, but for runs that it knows better."""
    for company in map(replay.company, action.corporations):
        if not replay.game.company(company).connected and not can_do_connection_run(replay.game, company):
            replay.warnings.append(f"Action {replay.action_id}: the {company} connects as recorded")
            replay.game.events = []
            replay.game.push(ConnectionRunTurn(company, FIRST_CONNECTION_STEP))
            replay.append_line(replay.game.president(company), CONNECTION_RUN_LINE, replay.game.events)


# -- bankrupt ------------------------------------------------------------------------------------


def _decode_bankrupt(replay: SiteReplay, action: SiteAction) -> None:
    replay.play_in_turn(action, DeclareBankruptcy())


def _encode_bankrupt(desk: EncodingContext, seat: str, action: DeclareBankruptcy) -> ActionRecord:
    by = desk.entity(seat) if isinstance(desk.g.top, CashCrisis) else desk.turn_entity(seat)
    return {"type": "bankrupt", **by}


# -- end_game ------------------------------------------------------------------------------------


def _decode_end_game(replay: SiteReplay, action: SiteAction) -> None:
    played = end_by_agreement(replay.state, "It was ended by agreement.")
    replay.game = game_of(played.state)
    replay.state = played.state
    seat = replay.seat(action.entity_key) if action.entity_type == "player" else replay.state.seats[0]
    replay.append_line(seat, ENDED_LINE, played.events)


CODECS = (
    ActionCodec("pass", _decode_pass, {Pass: _encode_pass}),
    ActionCodec(
        "lay_tile", _decode_lay_tile, {LayTile: _encode_lay, LayMine: _encode_mine, LayMill: _encode_mill}
    ),
    ActionCodec(
        "place_token", _decode_place_token, {PlaceToken: _encode_token, ChooseHome: _encode_choose_home}
    ),
    ActionCodec("run_routes", _decode_run_routes, {RunTrains: _encode_run}),
    ActionCodec(
        "dividend",
        _decode_dividend,
        {PayDividend: _encode_pay, WithholdDividend: _encode_withhold, PayHalfDividend: _encode_half},
    ),
    ActionCodec("buy_train", _decode_buy_train, {BuyTrain: _encode_buy_train}),
    ActionCodec("discard_train", _decode_discard_train, {DiscardTrain: _encode_discard_train}),
    ActionCodec("destination_connection", _decode_destination_connection, {}),
    ActionCodec("bankrupt", _decode_bankrupt, {DeclareBankruptcy: _encode_bankrupt}),
    ActionCodec("end_game", _decode_end_game, {}),
)
