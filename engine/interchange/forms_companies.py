"""Actions of the site beside ours: companies that are formed, borrow, grow, are sold; privates' tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.actions import (
    Accept,
    Action,
    Bridge,
    Buyer,
    ClosePort,
    Convert,
    FloatCompany,
    KeepDestination,
    Loan,
    LoanFor,
    Merge,
    OfferSale,
    OpenPort,
    Pass,
    PlaceCattle,
    PlaceDestination,
    RemoveMarker,
    Repay,
)
from engine.interchange.desk import Desk, Form, Record
from engine.interchange.site_file import FileError, SiteAction
from engine.kernel import asked, refusal
from engine.operating.works import tokens_left
from engine.state import BANK, Auction, Formation, MergerTurn, StockTurn, Surplus

if TYPE_CHECKING:
    from engine.interchange.site import Replay


# -- choose --------------------------------------------------------------------------------------


def _read_choose(replay: Replay, action: SiteAction) -> None:
    choices: dict[object, Action] = {"Map": PlaceDestination(), "Charter": KeepDestination()}
    choices |= {size: FloatCompany(size) for size in replay.game.facts.company_sizes}
    if action.choice not in choices:
        raise FileError(f"{action.choice!r} is no choice of this title")
    replay.ordinary(action, choices[action.choice])


def _destination(desk: Desk, seat: str, action: PlaceDestination | KeepDestination) -> Record:
    choice = "Map" if isinstance(action, PlaceDestination) else "Charter"
    return {"type": "choose", **desk.by_turn(seat), "choice": choice}


# -- assign --------------------------------------------------------------------------------------


def _read_assign(replay: Replay, action: SiteAction) -> None:
    if action.target_type == "hex" and not replay.game.facts.company_sizes:
        _place_improvement(replay, action)
    elif action.target_type == "hex":
        replay.say(replay.speaker(action), Bridge(action.target or "", replay.private(action.actor)))
    elif action.target_type == "corporation":
        _offer_sale(replay, action, replay.company(action.target))
    else:
        top = replay.game.top
        size = top.size if isinstance(top, Formation) else None
        replay.ordinary(action, FloatCompany(size or 0, (replay.private(action.target),)))


def _place_improvement(replay: Replay, action: SiteAction) -> None:
    """The token of a private; a second one on the same hex closes the port."""
    private, hex = replay.private(action.actor), action.target or ""
    word = replay.game.private_facts(private).effect.get("word")
    said: Action = PlaceCattle(hex) if word == "cattle" else OpenPort(hex)
    if private in replay.state.improvements:
        said = ClosePort()
    replay.say(replay.speaker(action), said)


def _offer_sale(replay: Replay, action: SiteAction, company: str) -> None:
    """An offer for sale; what other companies are asked before it is declined."""
    for _ in range(100):
        top = replay.game.top
        if isinstance(top, MergerTurn) and (top.stage, top.company) == ("offer", company):
            break
        seat = asked(replay.game)[0] if asked(replay.game) else ""
        if not seat or refusal(replay.game, seat, Pass()):
            break
        replay.say(seat, Pass())
    replay.say(replay.speaker(action), OfferSale(company))


def _improve(desk: Desk, seat: str, action: PlaceCattle | OpenPort | ClosePort) -> Record:
    word = "cattle" if isinstance(action, PlaceCattle) else "port"
    privates = desk.g.facts.privates
    private = next(p.sym for p in privates if p.effect.get("word") == word)
    placed = desk.g.state.improvements
    hex = placed[private].hex if isinstance(action, ClosePort) else action.hex
    return {"type": "assign", **desk.by_private(private), "target": hex, "target_type": "hex"}


def _bridge(desk: Desk, seat: str, action: Bridge) -> Record:
    private = action.using or next(p for p, _ in tokens_left(desk.g, desk.acting(), "bridge"))
    return {"type": "assign", **desk.by_private(private), "target": action.hex, "target_type": "hex"}


def _write_offer(desk: Desk, seat: str, action: OfferSale) -> Record:
    target = desk.names.theirs(action.company)
    return {"type": "assign", **desk.by(seat), "target": target, "target_type": "corporation"}


def _float(desk: Desk, seat: str, action: FloatCompany) -> Record:
    """The size of a new company, or a private that is put into it."""
    if not action.privates:
        return {"type": "choose", **desk.by(seat), "choice": action.size}
    target = desk.names.their_private(action.privates[0])
    return {"type": "assign", **desk.by(seat), "target": target, "target_type": "company"}


# -- take_loan -----------------------------------------------------------------------------------


def _read_take_loan(replay: Replay, action: SiteAction) -> None:
    replay.decline_for_others(action)
    company = replay.company(action.actor)
    stock = isinstance(replay.game.top, StockTurn | Auction)
    replay.say(replay.speaker(action), LoanFor(company, 1) if stock else Loan(1))


def _loan_for(desk: Desk, seat: str, action: LoanFor) -> Record:
    return {"type": "take_loan", **desk.by(action.company), "loan": desk.ledger.loan(BANK)}


def _loan(desk: Desk, seat: str, action: Loan) -> Record:
    return {"type": "take_loan", **desk.by(desk.acting()), "loan": desk.ledger.loan(BANK)}


# -- payoff_loan ---------------------------------------------------------------------------------


def _read_payoff_loan(replay: Replay, action: SiteAction) -> None:
    replay.ordinary(action, Repay(1))


def _repay(desk: Desk, seat: str, action: Repay) -> Record:
    company = desk.acting()
    return {"type": "payoff_loan", **desk.by(company), "loan": desk.ledger.loan(company)}


# -- convert -------------------------------------------------------------------------------------


def _read_convert(replay: Replay, action: SiteAction) -> None:
    replay.ordinary(action, Convert())


def _convert(desk: Desk, seat: str, action: Convert) -> Record:
    return {"type": "convert", **desk.by(desk.acting())}


# -- merge ---------------------------------------------------------------------------------------


def _read_merge(replay: Replay, action: SiteAction) -> None:
    company = replay.company(action.corporation)
    if action.entity_type == "player":
        replay.ordinary(action, Buyer(company))
        return
    president = replay.state.companies[company].president
    replay.ordinary(action, Merge(company))
    if replay.state.offers and president:
        replay.say(president, Accept())


def _merge(desk: Desk, seat: str, action: Merge) -> Record:
    return {"type": "merge", **desk.by(desk.acting()), "corporation": desk.names.theirs(action.company)}


def _buyer(desk: Desk, seat: str, action: Buyer) -> Record:
    return {"type": "merge", **desk.by(seat), "corporation": desk.names.theirs(action.company)}


# -- remove_token --------------------------------------------------------------------------------


def _read_remove_token(replay: Replay, action: SiteAction) -> None:
    replay.say(replay.speaker(action), RemoveMarker(*replay.ledger.city_at(action.city or "")))


def _remove_marker(desk: Desk, seat: str, action: RemoveMarker) -> Record:
    top = desk.g.top
    assert isinstance(top, Surplus)
    here = (owner for node, owner in desk.g.state.tokens[action.hex] if node == action.node)
    owner = next(owner for owner in here if owner in (top.company, top.target))
    return {
        "type": "remove_token",
        **desk.by(top.company),
        "city": desk.ledger.city(action.hex, action.node),
        "slot": desk.ledger.place(action.hex, action.node, owner),
    }


FORMS = (
    Form("choose", _read_choose, {PlaceDestination: _destination, KeepDestination: _destination}),
    Form(
        "assign",
        _read_assign,
        {
            PlaceCattle: _improve,
            OpenPort: _improve,
            ClosePort: _improve,
            Bridge: _bridge,
            OfferSale: _write_offer,
            FloatCompany: _float,
        },
    ),
    Form("take_loan", _read_take_loan, {LoanFor: _loan_for, Loan: _loan}),
    Form("payoff_loan", _read_payoff_loan, {Repay: _repay}),
    Form("convert", _read_convert, {Convert: _convert}),
    Form("merge", _read_merge, {Merge: _merge, Buyer: _buyer}),
    Form("remove_token", _read_remove_token, {RemoveMarker: _remove_marker}),
)
