"""Codecs: companies that start, borrow, convert, merge and are sold; tokens of privates."""

from __future__ import annotations

from engine.core.actions import (
    Accept,
    Action,
    ChooseBuyer,
    ClosePort,
    Convert,
    FloatCompany,
    KeepDestinationToken,
    Merge,
    OfferCompanyForSale,
    PlaceBridge,
    PlaceCattleToken,
    PlaceDestinationToken,
    PlaceOpenPort,
    RemoveToken,
    RepayLoans,
    TakeLoans,
    TakeLoansForCompany,
)
from engine.core.components import BridgeAbility, CityTokenAbility
from engine.core.state import BANK, Auction, CompanyStart, ExcessTokens, MergerTurn, StockTurn
from engine.operating.mines_and_bridges import private_tokens_left
from engine.site_18xx.action_codec import CORPORATION, PLAYER, PRIVATE, ActionCodec, EncodingContext, in_turn
from engine.site_18xx.game_file import ActionRecord, SiteAction, SiteFileError
from engine.site_18xx.site_table import SiteTable

# -- choose --------------------------------------------------------------------------------------


def _decode_choose(table: SiteTable, action: SiteAction) -> None:
    choices: dict[object, Action] = {"Map": PlaceDestinationToken(), "Charter": KeepDestinationToken()}
    choices |= {size: FloatCompany(size) for size in table.game.components.company_sizes}
    if action.choice not in choices:
        raise SiteFileError(f"{action.choice!r} is not a choice of this title")
    table.pass_for_others(action)
    top = table.game.top
    if isinstance(top, CompanyStart):
        is_asked = table.acting_seat(action) == top.seat
    else:
        is_asked = table.acting_company(action) == getattr(top, "company", "")
    if not is_asked:
        raise SiteFileError(f"{action.entity_key} has nothing to choose now")
    table.play(table.acting_seat(action), choices[action.choice])


def _encode_destination(
    context: EncodingContext, seat: str, action: PlaceDestinationToken | KeepDestinationToken
) -> ActionRecord:
    choice = "Map" if isinstance(action, PlaceDestinationToken) else "Charter"
    return {**context.turn_entity(seat), "choice": choice}


# -- assign --------------------------------------------------------------------------------------


def _decode_assign(table: SiteTable, action: SiteAction) -> None:
    if (action.entity_type == PRIVATE) != (action.target_type == "hex"):
        raise SiteFileError(f"a {action.entity_type} cannot be assigned to a {action.target_type}")
    if action.target_type == "hex" and not table.game.components.company_sizes:
        _play_private_token(table, action)
    elif action.target_type == "hex":
        table.play(
            table.acting_seat(action), PlaceBridge(action.target or "", table.private(action.entity_key))
        )
    elif action.target_type == "corporation":
        _play_offer_sale(table, action, table.company(action.target))
    else:
        top = table.game.top
        size = top.size if isinstance(top, CompanyStart) else None
        table.play_in_turn(action, FloatCompany(size or 0, (table.private(action.target),)))


def _play_private_token(table: SiteTable, action: SiteAction) -> None:
    """Place the token of a private; a second time on the same hex, close the port."""
    private, hex = table.private(action.entity_key), action.target or ""
    ability = table.game.private_definition(private).ability
    cattle = isinstance(ability, CityTokenAbility) and ability.token == "cattle"
    placement: Action = PlaceCattleToken(hex) if cattle else PlaceOpenPort(hex)
    if private in table.state.city_tokens:
        placement = ClosePort()
    table.play(table.acting_seat(action), placement)


def _play_offer_sale(table: SiteTable, action: SiteAction, company: str) -> None:
    """Offer a company for sale; presidents of companies asked before it pass."""

    def is_asked() -> bool:
        top = table.game.top
        return isinstance(top, MergerTurn) and (top.stage, top.company) == ("offer", company)

    table.pass_until(is_asked)
    table.play(table.acting_seat(action), OfferCompanyForSale(company))


def _encode_private_token(
    context: EncodingContext, seat: str, action: PlaceCattleToken | PlaceOpenPort | ClosePort
) -> ActionRecord:
    word = "cattle" if isinstance(action, PlaceCattleToken) else "port"
    privates = context.g.components.privates
    private = next(
        p.sym for p in privates if isinstance(p.ability, CityTokenAbility) and p.ability.token == word
    )
    tokens = context.g.state.city_tokens
    hex = tokens[private].hex if isinstance(action, ClosePort) else action.hex
    return {**context.private_entity(private), "target": hex, "target_type": "hex"}


def _encode_bridge(context: EncodingContext, seat: str, action: PlaceBridge) -> ActionRecord:
    private = action.using or next(
        p for p, _ in private_tokens_left(context.g, context.current_company(), BridgeAbility)
    )
    return {**context.private_entity(private), "target": action.hex, "target_type": "hex"}


def _encode_offer_sale(context: EncodingContext, seat: str, action: OfferCompanyForSale) -> ActionRecord:
    target = context.names.site_company(action.company)
    return {**context.entity(seat), "target": target, "target_type": "corporation"}


def _encode_float(context: EncodingContext, seat: str, action: FloatCompany) -> ActionRecord:
    """The size of a new company, or a private that pays for it."""
    if not action.privates:
        return {"type": "choose", **context.entity(seat), "choice": action.size}
    target = context.names.site_private(action.privates[0])
    return {**context.entity(seat), "target": target, "target_type": "company"}


# -- take_loan -----------------------------------------------------------------------------------


def _decode_take_loan(table: SiteTable, action: SiteAction) -> None:
    table.pass_for_others(action)
    company = table.company(action.entity_key)
    in_stock_round = isinstance(table.game.top, StockTurn | Auction)
    table.play(table.acting_seat(action), TakeLoansForCompany(company, 1) if in_stock_round else TakeLoans(1))


def _encode_loan(
    context: EncodingContext, seat: str, action: TakeLoansForCompany | TakeLoans
) -> ActionRecord:
    company = action.company if isinstance(action, TakeLoansForCompany) else context.current_company()
    return {**context.entity(company), "loan": context.numbering.next_loan(BANK)}


# -- payoff_loan, convert ------------------------------------------------------------------------


def _encode_repay(context: EncodingContext, seat: str, action: RepayLoans) -> ActionRecord:
    company = context.current_company()
    return {**context.entity(company), "loan": context.numbering.next_loan(company)}


def _encode_convert(context: EncodingContext, seat: str, action: Convert) -> ActionRecord:
    return context.entity(context.current_company())


# -- merge ---------------------------------------------------------------------------------------


def _decode_merge(table: SiteTable, action: SiteAction) -> None:
    company = table.company(action.corporation)
    if action.entity_type == "player":
        table.play_in_turn(action, ChooseBuyer(company))
        return
    president = table.state.companies[company].president
    table.play_in_turn(action, Merge(company))
    if table.state.offers and president:
        table.play(president, Accept())


def _encode_merge(context: EncodingContext, seat: str, action: Merge | ChooseBuyer) -> ActionRecord:
    by = context.current_company() if isinstance(action, Merge) else seat
    return context.entity(by) | context.corporation(action.company)


# -- remove_token --------------------------------------------------------------------------------


def _decode_remove_token(table: SiteTable, action: SiteAction) -> None:
    top, company = table.game.top, table.acting_company(action)
    if isinstance(top, ExcessTokens) and top.company != company:
        raise SiteFileError(f"the {top.company} has too many tokens, not the {company}")
    table.play(table.acting_seat(action), RemoveToken(*table.numbering.find_city(action.city or "")))


def _encode_remove_token(context: EncodingContext, seat: str, action: RemoveToken) -> ActionRecord:
    top = context.g.top
    assert isinstance(top, ExcessTokens)
    owners = (owner for node, owner in context.g.state.tokens[action.hex] if node == action.node)
    owner = next(owner for owner in owners if owner in (top.company, top.target))
    return {
        **context.entity(top.company),
        "city": context.numbering.city_name(action.hex, action.node),
        "slot": context.numbering.slot(action.hex, action.node, owner),
    }


CODECS = (
    ActionCodec(
        "choose",
        (PLAYER, CORPORATION),
        _decode_choose,
        {PlaceDestinationToken: _encode_destination, KeepDestinationToken: _encode_destination},
    ),
    ActionCodec(
        "assign",
        (PLAYER, PRIVATE),
        _decode_assign,
        {
            PlaceCattleToken: _encode_private_token,
            PlaceOpenPort: _encode_private_token,
            ClosePort: _encode_private_token,
            PlaceBridge: _encode_bridge,
            OfferCompanyForSale: _encode_offer_sale,
            FloatCompany: _encode_float,
        },
    ),
    ActionCodec(
        "take_loan",
        (CORPORATION,),
        _decode_take_loan,
        {TakeLoansForCompany: _encode_loan, TakeLoans: _encode_loan},
    ),
    ActionCodec(
        "payoff_loan", (CORPORATION,), in_turn(lambda *_: RepayLoans(1)), {RepayLoans: _encode_repay}
    ),
    ActionCodec("convert", (CORPORATION,), in_turn(lambda *_: Convert()), {Convert: _encode_convert}),
    ActionCodec(
        "merge", (PLAYER, CORPORATION), _decode_merge, {Merge: _encode_merge, ChooseBuyer: _encode_merge}
    ),
    ActionCodec("remove_token", (CORPORATION,), _decode_remove_token, {RemoveToken: _encode_remove_token}),
)
