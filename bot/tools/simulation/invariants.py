"""Invariants: what must hold at every step of every game of every title.

There are three checks: of a position, of the options in it, and of a move. Each yields one sentence for each
violation. None of them knows a title; they compare with the title's components.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import msgspec

from engine import (
    BANK,
    CLOSED,
    IPO,
    POOL,
    Action,
    AmbiguousError,
    Game,
    OperatingTurn,
    Option,
    RefusedError,
    State,
    Transition,
    UnreadableError,
    choices,
    copy_state,
    decision,
    decode_events,
    decode_state,
    encode_events,
    encode_state,
    face_at,
    fold,
    format_action,
    game_of,
    is_seat,
    narrate,
    options,
    parse,
    play,
    prompt,
    round_name,
)
from engine.core.actions import (
    Accept,
    Decline,
    ExchangePrivate,
    LayTile,
    Pass,
    PlaceToken,
    SellShares,
    SetStandingProtection,
    StartConnectionRun,
    TradePrivate,
)
from engine.core.components import MarketZone
from engine.core.state import (
    Auction,
    CashCrisis,
    CompanyStart,
    Discard,
    ExcessTokens,
    MergerRound,
    PriceProtection,
    ShareholderSettlement,
    StockRound,
    StockTurn,
    Waterfall,
)
from engine.finance.offers import without_open_offers
from engine.finance.ownership import (
    certificate_limit,
    counted_certificates,
    market_zones,
    percent_limit,
    president_share_percent,
    share_percent,
    short_count,
)
from engine.kernel import question_key, refusal, still_awaits_others
from engine.language.notation import distinct
from engine.mechanics import do_nothing
from engine.operating.turn import OperatingTurnQuestion


def position_violations(state: State) -> Iterator[str]:
    """Violations in a position: cash, shares, tiles, tokens or trains that cannot exist."""
    g = game_of(state)
    yield from _money_violations(g)
    yield from _share_violations(g)
    yield from _market_violations(g)
    yield from _track_violations(g)
    yield from _token_violations(g)
    yield from _train_violations(g)
    yield from _ownership_violations(g)
    yield from _loan_violations(g)
    yield from _out_of_play_violations(g)
    if decode_state(encode_state(state)) != state:
        yield "the state is not the same after encoding and decoding"


def _money_violations(g: Game) -> Iterator[str]:
    cash = g.state.cash
    if (total := sum(cash.values())) != (g.components.bank or 0):
        yield f"${total} are in the game instead of ${g.components.bank or 0}"
    for owner, dollars in cash.items():
        owing = g.state.crisis_start_seat and not isinstance(g.state.stack[0], StockRound)
        if is_seat(owner) and (owing or any(isinstance(f, CompanyStart) for f in g.state.stack)):
            continue
        if dollars < 0 and not (owner == BANK and (g.state.bank_broken or g.components.bank is None)):
            yield f"{g.state.name(owner)} has ${dollars}"


def _share_violations(g: Game) -> Iterator[str]:
    for sym, co in g.state.companies.items():
        definition = g.company_definition(sym)
        if (total := sum(co.shares.values())) != sum(definition.shares):
            yield f"there are {total} % of the {sym}"
        for holder, percent in co.shares.items():
            short = co.size is not None and (is_seat(holder) or holder == POOL) and percent < 0
            if (percent <= 0 and not short) or percent % share_percent(g, sym):
                yield f"{holder} holds {percent} % of the {sym}"
            if not (is_seat(holder) or holder in (IPO, POOL, sym) or (co.closed and holder == CLOSED)):
                yield f"{holder!r} holds shares of the {sym}"
        if co.shares.get(POOL, 0) > g.components.limits.pool_percent:
            yield f"the pool holds {co.shares[POOL]} % of the {sym}"
        if co.size is not None:
            if short_count(g, sym) > co.size:
                yield f"{short_count(g, sym)} shares of the {sym} are sold short, and it has {co.size}"
            for holder, percent in co.shares.items():
                if is_seat(holder) and percent > percent_limit(g, sym):
                    yield f"{holder} holds {percent} % of the {sym}, more than anybody may"
        if co.president is None:
            if co.par is not None and co.former_president is None:
                yield f"the {sym} has a par price and no president"
            settled = any(isinstance(f, ShareholderSettlement) and f.company == sym for f in g.state.stack)
            if (
                co.former_president is not None
                and not settled
                and MarketZone.LIQUIDATION not in market_zones(g, sym)
            ):
                yield f"the {sym} has lost its president and goes on"
            continue
        own = co.shares.get(co.president, 0)
        if own < president_share_percent(g, sym):
            yield f"the president of the {sym} holds {own} %, less than the president's certificate"
        largest = max((percent for holder, percent in co.shares.items() if is_seat(holder)), default=0)
        if largest > own:
            yield f"somebody holds {largest} % of the {sym}, more than its president with {own} %"


def _market_violations(g: Game) -> Iterator[str]:
    priced = sorted(c for c, co in g.state.companies.items() if co.cell is not None)
    if sorted(g.state.market_order) != priced:
        yield f"tokens on the market are {g.state.market_order}, companies with a price {priced}"
    rows = g.components.market.rows
    for sym in priced:
        row, column = g.company(sym).cell or (-1, -1)
        if not (0 <= row < len(rows) and 0 <= column < len(rows[row]) and rows[row][column]):
            yield f"the {sym} stands off the market, at {g.company(sym).cell}"


def _track_violations(g: Game) -> Iterator[str]:
    used = Counter(tile for tile, _ in g.state.tiles.values())
    for tile, count in used.items():
        if tile not in g.components.tiles:
            yield f"a tile #{tile} lies on the map, and there is none"
        elif (supply := g.components.tiles[tile]) is not None and count > supply:
            yield f"{count} tiles #{tile} lie on the map, and there are {supply}"
    for hex, (tile, turn) in g.state.tiles.items():
        if hex not in g.components.map.hexes or not 0 <= turn < 6:
            yield f"#{tile} lies on {hex} in rotation {turn}"


def _token_violations(g: Game) -> Iterator[str]:
    placed: Counter[str] = Counter()
    for hex, tokens in g.state.tokens.items():
        nodes = face_at(g.components, g.state.tiles, hex).nodes
        for node, count in Counter(n for n, _ in tokens).items():
            extra = sum(destination == hex for destination in g.state.destination_tokens.values())
            offboard = node < len(nodes) and nodes[node].kind == "offboard"
            if node >= len(nodes) or (node >= 0 and not offboard and count > nodes[node].slots + extra):
                yield f"{count} tokens are in city {node} of {hex}"
        for (node, owner), times in Counter(tokens).items():
            placed[owner] += times
            if times > 1:
                yield f"the {owner} has {times} tokens in city {node} of {hex}"
    for sym, co in g.state.companies.items():
        if g.components.max_stations:
            if not 0 <= co.unplaced_tokens + placed[sym] <= g.components.max_stations and not any(
                isinstance(f, ExcessTokens) for f in g.state.stack
            ):
                yield f"the {sym} has {co.unplaced_tokens} tokens left and {placed[sym]} on the map"
            continue
        total = len(g.company_definition(sym).tokens) + (
            co.kept_destination_tokens > 0 or sym in g.state.destination_tokens
        )
        if not co.closed and (co.unplaced_tokens < 0 or co.unplaced_tokens + placed[sym] != total):
            yield f"the {sym} has {co.unplaced_tokens} tokens left and {placed[sym]} on the map"


def _train_violations(g: Game) -> Iterator[str]:
    held = Counter(t for co in g.state.companies.values() for t in co.trains) + Counter(g.state.pool_trains)
    started = {p.on for p in g.components.phases[: g.components.phases.index(g.phase) + 1]}
    for train in g.components.trains:
        count = g.title.train_counts.get(train.name, train.count)
        left = g.state.depot[train.name]
        rusted = train.rusts_on in started - {None}
        if g.components.loans is not None and not rusted:
            if count is not None and (left or 0) + held[train.name] > count:
                yield f"there are {(left or 0) + held[train.name]} {train.name}-trains instead of {count}"
            continue
        if rusted and (left or held[train.name]):
            yield f"{train.name}-trains are in play though they have rusted"
        if not rusted and count is not None and (left or 0) + held[train.name] != count:
            yield f"there are {(left or 0) + held[train.name]} {train.name}-trains instead of {count}"
        if left is not None and left < 0:
            yield f"the bank has {left} {train.name}-trains"
    if _discards_are_deferred(g):
        return
    discarding = Counter(f.company for f in g.state.stack if isinstance(f, Discard))
    for sym, co in g.state.companies.items():
        if len(co.trains) - discarding[sym] > g.phase.train_limit:
            yield f"the {sym} has {len(co.trains)} trains, and the limit is {g.phase.train_limit}"


def _discards_are_deferred(g: Game) -> bool:
    """Whether a turn or a sale is under way after which excess trains are discarded."""
    sales = isinstance(base := g.state.stack[0], MergerRound) and base.stage in ("sales", "end")
    if sales and any(isinstance(f, CashCrisis | Discard | ExcessTokens) for f in g.state.stack):
        return True
    turns = g.title.questions[OperatingTurn]
    assert isinstance(turns, OperatingTurnQuestion)
    return turns.after_turn is not do_nothing and any(isinstance(f, OperatingTurn) for f in g.state.stack)


def _ownership_violations(g: Game) -> Iterator[str]:
    for private, owner in g.state.private_owners.items():
        if owner not in (CLOSED, POOL) and owner not in g.state.cash:
            yield f"the {private} is owned by {owner!r}"
    for offer in g.state.offers:
        if not (is_seat(offer.proposer) and is_seat(offer.recipient)) or offer.proposer == offer.recipient:
            yield f"offer {offer.number} is from {offer.proposer} to {offer.recipient}"


def _loan_violations(g: Game) -> Iterator[str]:
    """Numbers of loans or an interest that cannot exist."""
    if g.components.loans is None:
        return
    total = sum(co.loans for co in g.state.companies.values())
    if total > g.components.loans.count:
        yield f"companies have {total} loans, and there are {g.components.loans.count}"
    rates = range(0, g.components.loans.rate_step * (g.components.loans.count // g.components.loans.step) + 1)
    if g.state.interest_per_loan not in rates or g.state.interest_per_loan % g.components.loans.rate_step:
        yield f"the interest is ${g.state.interest_per_loan}"
    for sym, co in g.state.companies.items():
        max_loans = g.components.company_sizes[co.size].max_loans if co.size else 0
        if not 0 <= co.loans <= max_loans:
            yield f"the {sym} has {co.loans} loans, and may have {max_loans}"
        if co.unpaid_interest and not g.state.crisis_start_seat:
            yield f"the {sym} owes interest, and nobody is in need"


def _out_of_play_violations(g: Game) -> Iterator[str]:
    """Assets of companies and players that are not in the game."""
    starting = {f.item for f in g.state.stack if isinstance(f, Auction)}
    for sym, co in g.state.companies.items():
        if not g.components.company_sizes or co.cell is not None or sym in starting:
            continue
        on_map = any(owner == sym for tokens in g.state.tokens.values() for _, owner in tokens)
        merging = any(isinstance(f, ExcessTokens) and f.target == sym for f in g.state.stack)
        if not merging and (co.unplaced_tokens or co.owed_tokens or co.trains or on_map or g.cash(sym)):
            yield f"the {sym} is out of play, and something is left of it"
        if co.president or list(co.shares) != [IPO] or g.privates_of(sym):
            yield f"the {sym} is out of play, and somebody has a part in it"
    for seat in g.state.bankrupt_seats:
        if g.cash(seat) or any(seat in co.shares for co in g.state.companies.values()):
            yield f"{g.state.name(seat)} is out of the game, and has something left"
    for private in g.components.privates:
        uses = g.state.used_abilities.count(private.sym)
        if private.ability and uses > private.ability.uses:
            yield f"the {private.sym} has been used {uses} times"
    for name, hexes in (("mine", g.state.mine_hexes), ("bridge", g.state.bridge_hexes)):
        for hex, times in Counter(hexes).items():
            if times > 1 or (name == "mine" and hex not in g.state.tiles):
                yield f"a {name} cannot be in {hex}"


# -- options ---------------------------------------------------------------------------------


def is_out_of_turn(g: Game, action: Action) -> bool:
    """Whether the action can be done out of turn."""
    return g.title.out_of_turn_for(g, action) is not None


def options_violations(state: State) -> Iterator[str]:
    """Violations in the options of each seat.

    Only the seats that are to act have options; every line reads back as its action; every option is
    accepted, and nothing beyond the options is.
    """
    if state.game_over:
        if any(options(state, seat) for seat in state.seats) or decision(state).awaited:
            yield "something is offered after the end"
        return
    current = decision(state)
    if not current.asked:
        yield f"nobody is to act in {current.round}: a dead end"
    if not prompt(state):
        yield "the prompt is empty"
    for seat in state.seats:
        available = options(state, seat)
        if seat in current.awaited and not available:
            yield f"{state.name(seat)} is to act ({prompt(state)}) and has no option: a dead end"
        yield from _seat_violations(state, seat, available, seat in current.asked)


def _seat_violations(state: State, seat: str, available: list[Option], decides: bool) -> Iterator[str]:
    g, name = game_of(state), state.name(seat)
    menu = choices(state, seat)
    offered = distinct(without_open_offers(g, seat, available), lambda option: option.action)
    if [c.line for c in menu] != [format_action(state, option.action) for option in offered]:
        yield f"{name}'s menu differs from the options"
    for line, times in Counter(format_action(state, option.action) for option in available).items():
        if times > 1:
            yield f"{name} is offered {line!r} {times} times"
    for path, times in Counter(c.path for c in menu).items():
        if times > 1:
            yield f"{name}'s menu leads to {' / '.join(path)} {times} times"
    for option, choice in zip(offered, menu, strict=False):
        if (
            option.amounts
            and choice.amounts
            and choice.line_for(option.amounts[-1])
            != format_action(state, with_amount(option, option.amounts[-1]))
        ):
            found = choice.line_for(option.amounts[-1])
            yield f"{name}'s {choice.line!r} for ${option.amounts[-1]} is {found!r}"
    for option in available:
        line = format_action(state, option.action)
        if not decides and not is_out_of_turn(g, option.action):
            yield f"{name} is not to act and is offered {line!r}"
        if not _is_entitled(state, seat, option.action):
            yield f"{name} has no right to {line!r}"
        yield from _option_violations(state, seat, option, line)
    yield from _certificate_limit_violations(g, seat, available)
    yield from _count_violations(g, seat, available)


def _certificate_limit_violations(g: Game, seat: str, available: list[Option]) -> Iterator[str]:
    """A player above the certificate limit who can sell cannot end their stock turn."""
    if not isinstance(g.top, StockTurn) or g.top.seat != seat:
        return
    above = counted_certificates(g, seat) > certificate_limit(g)
    done, sells = (any(isinstance(o.action, kind) for o in available) for kind in (Pass, SellShares))
    if above and done and sells:
        yield f"{g.state.name(seat)} is above the certificate limit, can sell, and may be done"


def _count_violations(g: Game, seat: str, available: list[Option]) -> Iterator[str]:
    """One more than the largest count that is offered is refused, and so is a count of 0."""
    max_counts: dict[Action, int] = {}
    for option in available:
        if "count" in option.action.__struct_fields__:
            single = msgspec.structs.replace(option.action, **{"count": 1})
            max_counts[single] = max(max_counts.get(single, 0), getattr(option.action, "count"))  # noqa: B009
    for single, count in max_counts.items():
        for beyond in (0, count + 1):
            action = msgspec.structs.replace(single, **{"count": beyond})
            if refusal(g, seat, action) is None:
                yield f"{g.state.name(seat)} is offered {count} at most and may have {beyond}: {action}"


def _is_entitled(state: State, seat: str, action: Action) -> bool:
    """Whether an action out of turn belongs to the seat that has the right to it."""
    g = game_of(state)
    match action:
        case Accept(number):
            return any(seat == o.recipient for o in state.offers if number in (None, o.number))
        case Decline() if isinstance(state.top, PriceProtection):
            return seat in decision(state).asked
        case SetStandingProtection(company) | StartConnectionRun(company):
            return state.companies[company].president == seat
        case Decline(number):
            return any(seat in (o.recipient, o.proposer) for o in state.offers if number in (None, o.number))
        case ExchangePrivate(private):
            return state.private_owners[private] == seat
        case TradePrivate(private, target=target):
            parties = {state.private_owners[private], target or seat}
            return seat in parties and not parties.isdisjoint(decision(state).asked)
        case LayTile(using=private) | PlaceToken(using=private) if private is not None:
            return g.controller(state.private_owners[private]) == seat
    return True


def _option_violations(state: State, seat: str, option: Option, line: str) -> Iterator[str]:
    g, name = game_of(state), state.name(seat)
    if not option.label:
        yield f"{line!r} is offered without a label"
    if why := refusal(g, seat, option.action):
        yield f"{name} is offered {line!r}, which is refused: {why}"
        return
    yield from _parsing_violations(state, seat, option.action, line)
    if option.amounts is not None:
        field = amount_field(option.action)
        first, last = option.amounts[0], option.amounts[-1]
        if getattr(option.action, field) != first:
            yield f"{line!r} does not name the least, ${first}"
        top = with_amount(option, last)
        if why := refusal(g, seat, top):
            yield f"{name} may say up to ${last} in {line!r}, which is refused: {why}"
        else:
            yield from _parsing_violations(state, seat, top, format_action(state, top))
        for beyond in (first - option.amounts.step, last + option.amounts.step):
            if refusal(g, seat, msgspec.structs.replace(option.action, **{field: beyond})) is None:
                yield f"{name} may say ${first} to ${last} in {line!r}, but ${beyond} is accepted too"


def _parsing_violations(state: State, seat: str, action: Action, line: str) -> Iterator[str]:
    try:
        read = parse(state, seat, line)
    except (UnreadableError, RefusedError, AmbiguousError) as error:
        yield f"{state.name(seat)}'s {line!r} cannot be read back: {error}"
        return
    if read != action:
        yield f"{line!r} is read as {read}, and is {action}"


def permission_violations(state: State, seat: str, action: Action) -> Iterator[str]:
    """Other seats that may do what only the acting seat may do."""
    g = game_of(state)
    for other in state.seats:
        if (
            other not in decision(state).asked
            and not is_out_of_turn(g, action)
            and not refusal(g, other, action)
        ):
            line = format_action(state, action)
            yield f"{state.name(other)} may {line!r} though {state.name(seat)} is to act"


def amount_field(action: Action) -> str:
    """The field with the dollars of an action that can have different amounts."""
    return "price" if "price" in action.__struct_fields__ else "amount"


def with_amount(option: Option, dollars: int) -> Action:
    """The option's action with that amount in dollars."""
    return msgspec.structs.replace(option.action, **{amount_field(option.action): dollars})


# -- a move ----------------------------------------------------------------------------------


def move_violations(
    before: State, seat: str, action: Action, raw: bytes, played: Transition
) -> Iterator[str]:
    """Violations in a move. raw: `before`, encoded before the move was played."""
    after, events = played
    if encode_state(before) != raw:
        yield "asking or playing has changed the state that it was given"
    stored = decode_events(encode_events(events))
    if stored != events:
        yield "the events are not the same after encoding and decoding"
    if fold(stored, copy_state(before)) != after:
        yield "folding the events does not lead to the state that was played"
    if play(before, seat, action) != played:
        yield "the same move led somewhere else the second time"
    yield from _question_number_violations(before, seat, after, action)
    if (
        after.offers
        and _turn_key(before) != _turn_key(after)
        and not set(after.offers).isdisjoint(before.offers)
    ):
        yield "an offer has outlived the turn in which it was made"
    for sentence in narrate(after, events):
        if not sentence.strip():
            yield "a sentence of the narration is empty"


def _question_number_violations(before: State, seat: str, after: State, action: Action) -> Iterator[str]:
    key_before, key_after = question_key(game_of(before)), question_key(game_of(after))
    changed = key_before != key_after or not is_out_of_turn(game_of(before), action)
    expected = int(changed and not still_awaits_others(key_before, key_after, seat))
    grown = after.question_number - before.question_number
    if grown != expected:
        yield f"the question's number grew by {grown}, and should have grown by {expected}"


def _turn_key(state: State) -> tuple[str, str]:
    """The round, and the seat or company whose turn it is."""
    for frame in state.stack:
        match frame:
            case StockTurn(seat=owner) | OperatingTurn(company=owner) | Waterfall(current_seat=owner):
                return round_name(state), owner
    return round_name(state), ""
