"""Actions of the site beside ours: what companies do in their turns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.actions import (
    Action,
    Bankrupt,
    BuyTrain,
    ChooseHome,
    DiscardTrain,
    Half,
    Lay,
    Mill,
    Mine,
    Pass,
    Pay,
    Run,
    Token,
    Withhold,
)
from engine.board.routes import Route
from engine.board.spelling import hops_of, read_route, route_along, spell_route
from engine.game import Game
from engine.interchange.desk import Desk, Form, Record
from engine.interchange.site_file import FileError, SiteAction
from engine.interchange.site_names import split
from engine.kernel import asked, game_of, refusal, stop
from engine.operating.connection import connects
from engine.operating.run import best_run, earned, route_value
from engine.operating.trains import face_price
from engine.operating.works import tokens_left
from engine.record.telling import ENDED, RECORDED
from engine.state import (
    BANK,
    POOL,
    Auction,
    Borrowing,
    ConnectionTurn,
    Crisis,
    Formation,
    FreeToken,
    HomeToken,
    MergerTurn,
    OperatingTurn,
    Protection,
    ShareTrade,
    StockTurn,
    Subsidy,
    Takeover,
)
from engine.stock.protection import Protections
from engine.stock.turn import Trading

if TYPE_CHECKING:
    from engine.interchange.site import Replay

FIRST_STEP = "destination"
"""With what a connection run begins on the site."""


# -- pass ----------------------------------------------------------------------------------------


def _read_pass(replay: Replay, action: SiteAction) -> None:
    top, speaker = replay.game.top, replay.voice(action)
    if speaker is None or speaker not in asked(replay.game) or not _is_asked(replay, action):
        return
    if isinstance(top, OperatingTurn) and replay.company_of(action) not in (None, top.company):
        return
    if action.entity_type == "company" and not isinstance(top, FreeToken):
        return
    replay.declines(speaker)


def _is_asked(replay: Replay, action: SiteAction) -> bool:
    """Whether the question is one that the site puts to that kind of entity."""
    top = replay.game.top
    if isinstance(top, Borrowing | Takeover) or (isinstance(top, MergerTurn) and top.stage == "convert"):
        return action.entity_type == "corporation" and replay.company_of(action) == top.company
    if isinstance(top, OperatingTurn):
        return action.entity_type != "player"
    if isinstance(top, Auction | Subsidy | StockTurn | ShareTrade | MergerTurn | Formation):
        return action.entity_type == "player" or (isinstance(top, StockTurn) and top.acting is not None)
    return True


def in_vain(g: Game) -> bool:
    """Whether a question is open to which there is no answer: the site takes no pass there, and goes on
    with whatever comes next, be it a remark."""
    turn, asking = g.top, g.title.questions.get(type(g.top))
    if isinstance(turn, Protection) and isinstance(asking, Protections):
        return asking.in_vain(g, turn) is not None
    return (
        isinstance(turn, StockTurn)
        and turn.tempted
        and isinstance(asking, Trading)
        and not (turn.bought or turn.sold)
        and asking.idle(g, turn)
    )


def _pass(desk: Desk, seat: str, action: Pass) -> Record:
    if in_vain(desk.g):
        return {"type": "message", **desk.by(seat), "message": "Nothing can be done in this turn."}
    match desk.g.top:
        case FreeToken(private=private):
            by = desk.by_private(private)
        case OperatingTurn(company) | Borrowing(company) | Takeover(company):
            by = desk.by(company)
        case MergerTurn(company, "convert"):
            by = desk.by(company)
        case _:
            by = desk.by(seat)
    return {"type": "pass", **by}


# -- lay_tile ------------------------------------------------------------------------------------


def _read_lay_tile(replay: Replay, action: SiteAction) -> None:
    tile = replay.names.our_tile(split(action.tile or "")[0])
    replay.ledger.prefer_tile(action.tile or "")
    using = replay.private(action.actor) if action.entity_type == "company" else None
    effect = replay.game.private_facts(using).effect.get("kind") if using else None
    if effect == "coal_mine":
        said = Mine(tile, action.hex or "", action.rotation or 0, using)
        _own_works(replay, action, said)
        return
    if effect == "tile_lay" and replay.game.facts.second_lay_cost:
        _own_works(replay, action, Mill(action.rotation or 0))
        return
    lay = Lay(tile, action.hex or "", action.rotation or 0, using)
    if using:
        replay.say(replay.speaker(action), lay)
    else:
        replay.ordinary(action, lay)


def _own_works(replay: Replay, action: SiteAction, said: Action) -> None:
    """A tile laid by the power of a private in the company's own turn."""
    replay.decline_for_others(action)
    replay.say(replay.speaker(action), said)


def _lay(desk: Desk, seat: str, action: Lay) -> Record:
    by = desk.by_private(action.using) if action.using else desk.by_turn(seat)
    tile = desk.ledger.free_tile(action.tile)
    return {"type": "lay_tile", **by, "hex": action.hex, "tile": tile, "rotation": action.turn}


def _mine(desk: Desk, seat: str, action: Mine) -> Record:
    private = action.using or next(p for p, _ in tokens_left(desk.g, desk.acting(), "coal_mine"))
    return _lay(desk, seat, Lay(action.tile, action.hex, action.turn, private))


def _mill(desk: Desk, seat: str, action: Mill) -> Record:
    private, effect = next(tokens_left(desk.g, desk.acting(), "tile_lay"))
    return _lay(desk, seat, Lay(effect["tiles"][0], effect["hexes"][0], action.turn, private))


# -- place_token ---------------------------------------------------------------------------------


def _read_place_token(replay: Replay, action: SiteAction) -> None:
    hex, node = replay.ledger.city_at(action.city or "")
    if hex not in replay.game.facts.map.hexes:
        raise FileError(f"{action.city!r} is no city on the map")
    top = replay.game.top
    if replay.starting is not None:
        replay.starting = None  # it was said with the bid
    elif isinstance(top, HomeToken):
        replay.say(top.chooser, ChooseHome(top.company, hex, node))
    elif isinstance(top, FreeToken):
        replay.say(replay.speaker(action), Token(hex, node, top.private))
    else:
        replay.ordinary(action, Token(hex, node))


def _token(desk: Desk, seat: str, action: Token) -> Record:
    top, company = desk.g.top, desk.company()
    assert company is not None
    by = desk.by_private(top.private) if isinstance(top, FreeToken) else desk.by(company)
    return desk.placed(by, action.hex, action.node) | {"tokener": desk.names.theirs(company)}


def _choose_home(desk: Desk, seat: str, action: ChooseHome) -> Record:
    return desk.placed(desk.by_turn(seat), action.hex, action.node)


# -- run_routes ----------------------------------------------------------------------------------


def _read_run_routes(replay: Replay, action: SiteAction) -> None:
    replay.decline_for_others(action)
    if not action.routes:
        brings = best_run(replay.game, replay.company(action.actor)).revenue
        nothing = Run((), 0) if brings else Run(())
        if brings or not refusal(replay.game, replay.speaker(action), nothing):
            replay.say(replay.speaker(action), nothing)
        return
    seat, company, network = replay.speaker(action), replay.company(action.actor), replay.game.network
    found: list[Route] = []
    recorded, complete = 0, True
    for route in action.routes:
        train, revenue = split(str(route.get("train", "")))[0], route.get("revenue")
        if train not in replay.game.title.trains:
            raise FileError(f"there is no {train}-train")
        try:
            found.append(route_along(network, route.get("connections") or [], train))
            recorded += revenue if isinstance(revenue, int) else route_value(replay.game, company, found[-1])
        except (ValueError, LookupError, TypeError, AttributeError) as wrong:
            if not isinstance(revenue, int):
                raise FileError(f"the {train}-train's route: {wrong}") from None
            replay.warnings.append(f"Action {replay.id}: the {train}-train's route: {wrong}")
            recorded, complete = recorded + revenue, False
    said = Run(tuple((route.train, spell_route(network, route)) for route in found))
    why = refusal(replay.game, seat, said) if found else None
    if complete and not why and recorded == earned(replay.game, company, said):
        replay._take(seat, said)
        return
    brought = sum(route_value(replay.game, company, route) for route in found)
    replay.warnings.append(
        f"Action {replay.id}: ${recorded} is paid as recorded; the routes bring ${brought}"
        + (f" ({why})" if why else "")
    )
    replay.say(seat, Run(said.routes, recorded))


def _run(desk: Desk, seat: str, action: Run) -> Record:
    company = desk.company()
    assert company is not None
    left: dict[str, list[str]] = {}
    routes = []
    for train, text in action.routes:
        if train not in left:
            left[train] = desk.ledger.trains(train, company)
        route = read_route(desk.g.network, company, text, train)
        routes.append(_route(desk, company, left[train].pop(0), route))
    if action.claimed is not None:
        _claim(desk, company, routes, action.claimed)
    return {"type": "run_routes", **desk.by(company), "routes": routes, "extra_revenue": 0, "subsidy": 0}


def _route(desk: Desk, company: str, train: str, route: Route) -> Record:
    hexes = [hex for hex, _ in route.stops]
    return {
        "train": train,
        "connections": hops_of(route),
        "hexes": hexes,
        "revenue": route_value(desk.g, company, route),
        "revenue_str": "-".join(hexes),
        "nodes": [f"{hex}-{node}" for hex, node in route.stops],
    }


def _claim(desk: Desk, company: str, routes: list[Record], claimed: int) -> None:
    """Bring the revenue of the routes to what was claimed; the site pays what is written, and nothing
    where there are no routes."""
    if claimed == 0:
        routes.clear()
        return
    if not routes:
        train = desk.g.company(company).trains[0]
        first = desk.ledger.trains(train, company)[0]
        routes.append({"train": first, "connections": [], "hexes": [], "revenue": 0, "revenue_str": ""})
    routes[-1]["revenue"] += claimed - sum(route["revenue"] for route in routes)


# -- dividend ------------------------------------------------------------------------------------


def _read_dividend(replay: Replay, action: SiteAction) -> None:
    kinds: dict[str | None, Action] = {"payout": Pay(), "withhold": Withhold(), "half": Half()}
    if action.kind not in kinds:
        raise FileError(f"{action.kind!r} is no dividend of this title")
    replay.ordinary(action, kinds[action.kind])


def _pay(desk: Desk, seat: str, action: Pay) -> Record:
    return {"type": "dividend", **desk.by_turn(seat), "kind": "payout"}


def _withhold(desk: Desk, seat: str, action: Withhold) -> Record:
    return {"type": "dividend", **desk.by_turn(seat), "kind": "withhold"}


def _half(desk: Desk, seat: str, action: Half) -> Record:
    return {"type": "dividend", **desk.by_turn(seat), "kind": "half"}


# -- buy_train -----------------------------------------------------------------------------------


def _read_buy_train(replay: Replay, action: SiteAction) -> None:
    train = action.train or ""
    name = action.variant or split(train)[0]
    source = replay.ledger.train_owner(train)
    replay.ledger.prefer_train(train)
    traded = split(action.exchange)[0] if action.exchange else None
    if action.exchange:
        replay.ledger.prefer_train(action.exchange)
    price = action.price if source not in (BANK, POOL) else None
    replay.ordinary(action, BuyTrain(name, source, price, traded))
    replay.consent()


def _buy_train(desk: Desk, seat: str, action: BuyTrain) -> Record:
    company = desk.company()
    assert company is not None
    price = face_price(desk.g, action) if action.price is None else action.price
    record = {
        "type": "buy_train",
        **desk.by(company),
        "train": desk.ledger.train(action.train, action.source),
        "price": price,
        "variant": action.train,
    }
    if action.trading:
        record["exchange"] = desk.ledger.train(action.trading, company)
    return record


# -- discard_train -------------------------------------------------------------------------------


def _read_discard_train(replay: Replay, action: SiteAction) -> None:
    company = replay.company(action.actor)
    replay.ledger.prefer_train(action.train or "")
    seat = replay.voice(action) or next(iter(asked(replay.game)), "")
    replay.say(seat, DiscardTrain(split(action.train or "")[0], company))


def _discard_train(desk: Desk, seat: str, action: DiscardTrain) -> Record:
    train = desk.ledger.train(action.train, action.company)
    return {"type": "discard_train", **desk.by(action.company), "train": train}


# -- destination_connection ----------------------------------------------------------------------


def _read_destination_connection(replay: Replay, action: SiteAction) -> None:
    """What the site has found; the engine finds it by itself, but for runs that it knows better."""
    for company in map(replay.company, action.corporations):
        if not replay.game.company(company).connected and not connects(replay.game, company):
            replay.warnings.append(f"Action {replay.id}: the {company} connects as recorded")
            replay.game.events = []
            replay.game.open(ConnectionTurn(company, FIRST_STEP))
            replay.note(replay.game.president(company), RECORDED, replay.game.events)


# -- bankrupt ------------------------------------------------------------------------------------


def _read_bankrupt(replay: Replay, action: SiteAction) -> None:
    replay.ordinary(action, Bankrupt())


def _bankrupt(desk: Desk, seat: str, action: Bankrupt) -> Record:
    by = desk.by(seat) if isinstance(desk.g.top, Crisis) else desk.by_turn(seat)
    return {"type": "bankrupt", **by}


# -- end_game ------------------------------------------------------------------------------------


def _read_end_game(replay: Replay, action: SiteAction) -> None:
    played = stop(replay.state, "It was ended by agreement.")
    replay.game = game_of(played.state)
    replay.state = played.state
    seat = replay.seat(action.actor) if action.entity_type == "player" else replay.state.seats[0]
    replay.note(seat, ENDED, played.events)


FORMS = (
    Form("pass", _read_pass, {Pass: _pass}),
    Form("lay_tile", _read_lay_tile, {Lay: _lay, Mine: _mine, Mill: _mill}),
    Form("place_token", _read_place_token, {Token: _token, ChooseHome: _choose_home}),
    Form("run_routes", _read_run_routes, {Run: _run}),
    Form("dividend", _read_dividend, {Pay: _pay, Withhold: _withhold, Half: _half}),
    Form("buy_train", _read_buy_train, {BuyTrain: _buy_train}),
    Form("discard_train", _read_discard_train, {DiscardTrain: _discard_train}),
    Form("destination_connection", _read_destination_connection, {}),
    Form("bankrupt", _read_bankrupt, {Bankrupt: _bankrupt}),
    Form("end_game", _read_end_game, {}),
)
