"""What must hold at every step of every game, said as complaints.

Three checks: of a position, of what is offered in it, and of a move that was played. Each yields
one sentence for each thing that is wrong, so that a game that goes well yields none. None of them
knows a title; what they compare with are the title's facts.
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
    Ambiguous,
    Game,
    OperatingTurn,
    Option,
    Played,
    Refused,
    State,
    Unreadable,
    choices,
    copied,
    decision,
    decoded,
    decoded_events,
    encoded,
    encoded_events,
    face_at,
    fold,
    game_of,
    is_seat,
    narrate,
    options,
    parse,
    play,
    round_name,
    spell,
)
from engine.actions import (
    Accept,
    ConnectRun,
    DealPrivate,
    Decline,
    Exchange,
    Lay,
    Pass,
    Sell,
    StandBy,
    Token,
)
from engine.holdings import (
    certificate_limit,
    counted_certificates,
    percent_limit,
    presidents_percent,
    shorts,
    unit,
    zones,
)
from engine.kernel import awaits_the_rest, refusal, standing
from engine.operating.turn import OperatingTurns, nothing_after
from engine.state import (
    Auction,
    Crisis,
    Discard,
    Formation,
    MergerRound,
    Protection,
    Settlement,
    StockRound,
    StockTurn,
    Surplus,
)


def position_faults(state: State) -> Iterator[str]:
    """What cannot be in a position: money, shares, tiles, tokens, trains out of nothing."""
    g = game_of(state)
    yield from _money_faults(g)
    yield from _share_faults(g)
    yield from _market_faults(g)
    yield from _track_faults(g)
    yield from _token_faults(g)
    yield from _train_faults(g)
    yield from _ownership_faults(g)
    yield from _loan_faults(g)
    yield from _out_of_play_faults(g)
    if decoded(encoded(state)) != state:
        yield "the state is not the same after encoding and decoding"


def _money_faults(g: Game) -> Iterator[str]:
    cash = g.state.cash
    if (total := sum(cash.values())) != (g.facts.bank or 0):
        yield f"${total} are in the game instead of ${g.facts.bank or 0}"
    for owner, dollars in cash.items():
        owing = g.state.crisis_from and not isinstance(g.state.stack[0], StockRound)
        if is_seat(owner) and (owing or any(isinstance(f, Formation) for f in g.state.stack)):
            continue
        if dollars < 0 and not (owner == BANK and (g.state.broken or g.facts.bank is None)):
            yield f"{g.state.name(owner)} has ${dollars}"


def _share_faults(g: Game) -> Iterator[str]:
    for sym, co in g.state.companies.items():
        facts = g.company_facts(sym)
        if (total := sum(co.shares.values())) != sum(facts.shares):
            yield f"there are {total} % of the {sym}"
        for holder, percent in co.shares.items():
            short = co.size is not None and (is_seat(holder) or holder == POOL) and percent < 0
            if (percent <= 0 and not short) or percent % unit(g, sym):
                yield f"{holder} holds {percent} % of the {sym}"
            if not (is_seat(holder) or holder in (IPO, POOL, sym) or (co.closed and holder == CLOSED)):
                yield f"{holder!r} holds shares of the {sym}"
        if co.shares.get(POOL, 0) > g.facts.limits["pool_percent"]:
            yield f"the pool holds {co.shares[POOL]} % of the {sym}"
        if co.size is not None:
            if shorts(g, sym) > co.size:
                yield f"{shorts(g, sym)} shares of the {sym} are sold short, and it has {co.size}"
            for holder, percent in co.shares.items():
                if is_seat(holder) and percent > percent_limit(g, sym):
                    yield f"{holder} holds {percent} % of the {sym}, more than anybody may"
        if co.president is None:
            if co.par is not None and co.former is None:
                yield f"the {sym} has a par price and no president"
            settled = any(isinstance(f, Settlement) and f.company == sym for f in g.state.stack)
            if co.former is not None and not settled and "liquidation" not in zones(g, sym):
                yield f"the {sym} has lost its president and goes on"
            continue
        his = co.shares.get(co.president, 0)
        if his < presidents_percent(g, sym):
            yield f"the president of the {sym} holds {his} %, less than his certificate"
        most = max((p for h, p in co.shares.items() if is_seat(h)), default=0)
        if most > his:
            yield f"somebody holds {most} % of the {sym}, more than its president with {his} %"


def _market_faults(g: Game) -> Iterator[str]:
    priced = sorted(c for c, co in g.state.companies.items() if co.cell is not None)
    if sorted(g.state.market) != priced:
        yield f"tokens on the market are {g.state.market}, companies with a price {priced}"
    rows = g.facts.market.rows
    for sym in priced:
        row, column = g.company(sym).cell or (-1, -1)
        if not (0 <= row < len(rows) and 0 <= column < len(rows[row]) and rows[row][column]):
            yield f"the {sym} stands off the market, at {g.company(sym).cell}"


def _track_faults(g: Game) -> Iterator[str]:
    used = Counter(tile for tile, _ in g.state.tiles.values())
    for tile, count in used.items():
        if tile not in g.facts.tiles:
            yield f"a tile #{tile} lies on the map, and there is none"
        elif (most := g.facts.tiles[tile]) is not None and count > most:
            yield f"{count} tiles #{tile} lie on the map, and there are {most}"
    for hex, (tile, turn) in g.state.tiles.items():
        if hex not in g.facts.map.hexes or not 0 <= turn < 6:
            yield f"#{tile} lies on {hex} in rotation {turn}"


def _token_faults(g: Game) -> Iterator[str]:
    placed: Counter[str] = Counter()
    for hex, here in g.state.tokens.items():
        nodes = face_at(g.facts, g.state.tiles, hex).nodes
        for node, there in Counter(n for n, _ in here).items():
            beside = sum(where == hex for where in g.state.destinations.values())
            red = node < len(nodes) and nodes[node].kind == "offboard"
            if node >= len(nodes) or (node >= 0 and not red and there > nodes[node].slots + beside):
                yield f"{there} tokens are in city {node} of {hex}"
        for (node, owner), times in Counter(here).items():
            placed[owner] += times
            if times > 1:
                yield f"the {owner} has {times} tokens in city {node} of {hex}"
    for sym, co in g.state.companies.items():
        if g.facts.max_stations:
            if not 0 <= co.markers + placed[sym] <= g.facts.max_stations and not any(
                isinstance(f, Surplus) for f in g.state.stack
            ):
                yield f"the {sym} has {co.markers} tokens left and {placed[sym]} on the map"
            continue
        total = len(g.company_facts(sym).tokens) + (co.kept > 0 or sym in g.state.destinations)
        if not co.closed and (co.markers < 0 or co.markers + placed[sym] != total):
            yield f"the {sym} has {co.markers} tokens left and {placed[sym]} on the map"


def _train_faults(g: Game) -> Iterator[str]:
    held = Counter(t for co in g.state.companies.values() for t in co.trains) + Counter(g.state.pool)
    started = {p.on for p in g.facts.phases[: g.facts.phases.index(g.phase) + 1]}
    for facts in g.facts.trains:
        count = g.title.depot.get(facts.name, facts.count)
        left = g.state.depot[facts.name]
        gone = facts.rusts_on in started - {None}
        if g.facts.loans is not None and not gone:
            if count is not None and (left or 0) + held[facts.name] > count:
                yield f"there are {(left or 0) + held[facts.name]} {facts.name}-trains instead of {count}"
            continue
        if gone and (left or held[facts.name]):
            yield f"{facts.name}-trains are in play though they have rusted"
        if not gone and count is not None and (left or 0) + held[facts.name] != count:
            yield f"there are {(left or 0) + held[facts.name]} {facts.name}-trains instead of {count}"
        if left is not None and left < 0:
            yield f"the bank has {left} {facts.name}-trains"
    if _discards_wait(g):
        return
    discarding = Counter(f.company for f in g.state.stack if isinstance(f, Discard))
    for sym, co in g.state.companies.items():
        if len(co.trains) - discarding[sym] > g.phase.train_limit:
            yield f"the {sym} has {len(co.trains)} trains, and the limit is {g.phase.train_limit}"


def _discards_wait(g: Game) -> bool:
    """Whether a turn or a sale goes on behind which it is asked who has to discard."""
    sales = isinstance(base := g.state.stack[0], MergerRound) and base.stage in ("sales", "end")
    if sales and any(isinstance(f, Crisis | Discard | Surplus) for f in g.state.stack):
        return True
    turns = g.title.questions[OperatingTurn]
    assert isinstance(turns, OperatingTurns)
    return turns.after is not nothing_after and any(isinstance(f, OperatingTurn) for f in g.state.stack)


def _ownership_faults(g: Game) -> Iterator[str]:
    for private, owner in g.state.privates.items():
        if owner not in (CLOSED, POOL) and owner not in g.state.cash:
            yield f"the {private} is owned by {owner!r}"
    for offer in g.state.offers:
        if not (is_seat(offer.asker) and is_seat(offer.asked)) or offer.asker == offer.asked:
            yield f"offer {offer.number} is from {offer.asker} to {offer.asked}"


def _loan_faults(g: Game) -> Iterator[str]:
    """Loans that there cannot be, interest that is none."""
    if g.facts.loans is None:
        return
    total = sum(co.loans for co in g.state.companies.values())
    if total > g.facts.loans.count:
        yield f"companies have {total} loans, and there are {g.facts.loans.count}"
    rates = range(0, g.facts.loans.rate_step * (g.facts.loans.count // g.facts.loans.step) + 1)
    if g.state.interest not in rates or g.state.interest % g.facts.loans.rate_step:
        yield f"the interest is ${g.state.interest}"
    for sym, co in g.state.companies.items():
        most = g.facts.company_sizes[co.size].max_loans if co.size else 0
        if not 0 <= co.loans <= most:
            yield f"the {sym} has {co.loans} loans, and may have {most}"
        if co.missed and not g.state.crisis_from:
            yield f"the {sym} owes interest, and nobody is in need"


def _out_of_play_faults(g: Game) -> Iterator[str]:
    """What is left with companies and players that are not in the game."""
    starting = {f.lot for f in g.state.stack if isinstance(f, Auction)}
    for sym, co in g.state.companies.items():
        if not g.facts.company_sizes or co.cell is not None or sym in starting:
            continue
        here = any(owner == sym for there in g.state.tokens.values() for _, owner in there)
        merging = any(isinstance(f, Surplus) and f.target == sym for f in g.state.stack)
        if not merging and (co.markers or co.owed or co.trains or here or g.cash(sym)):
            yield f"the {sym} is out of play, and something is left of it"
        if co.president or list(co.shares) != [IPO] or g.privates_of(sym):
            yield f"the {sym} is out of play, and somebody has a part in it"
    for seat in g.state.out:
        if g.cash(seat) or any(seat in co.shares for co in g.state.companies.values()):
            yield f"{g.state.name(seat)} is out of the game, and has something left"
    for private in g.facts.privates:
        spent, tokens = g.state.spent.count(private.sym), private.effect.get("tokens")
        if tokens is not None and spent > tokens:
            yield f"the {private.sym} has been used {spent} times"
    for name, hexes in (("mine", g.state.mines), ("bridge", g.state.bridges)):
        for hex, times in Counter(hexes).items():
            if times > 1 or (name == "mine" and hex not in g.state.tiles):
                yield f"a {name} cannot be in {hex}"


# -- what is offered -------------------------------------------------------------------------


def is_aside(g: Game, action: Action) -> bool:
    """Whether the action may be done beside the question that stands."""
    return g.title.aside(g, action) is not None


def offer_faults(state: State) -> Iterator[str]:
    """What is wrong with what each seat is offered: the right seats, lines that mean what they say,
    everything offered accepted, nothing beyond it."""
    if state.over:
        if any(options(state, seat) for seat in state.seats) or decision(state).all:
            yield "something is offered after the end"
        return
    asks = decision(state)
    if not asks.asked:
        yield f"nobody is asked in {asks.round}: a dead end"
    if not asks.needs:
        yield "nobody is told what is needed"
    for seat in state.seats:
        found = options(state, seat)
        if seat in asks.all and not found:
            yield f"{state.name(seat)} is asked {asks.needs} and has no option: a dead end"
        yield from _seat_faults(state, seat, found, seat in asks.asked)


def _seat_faults(state: State, seat: str, found: list[Option], decides: bool) -> Iterator[str]:
    g, name = game_of(state), state.name(seat)
    shown = choices(state, seat)
    lines = [spell(state, option.action) for option in found]
    if [c.line for c in shown] != lines:
        yield f"{name}'s menu differs from the options"
    for line, times in Counter(lines).items():
        if times > 1:
            yield f"{name} is offered {line!r} {times} times"
    for path, times in Counter(c.path for c in shown).items():
        if times > 1:
            yield f"{name}'s menu leads to {' / '.join(path)} {times} times"
    for option, choice in zip(found, shown, strict=False):
        line = choice.line
        if (
            option.amounts
            and choice.amounts
            and choice.at(option.amounts[-1]) != spell(state, at_amount(option, option.amounts[-1]))
        ):
            yield f"{name}'s {line!r} for ${option.amounts[-1]} is {choice.at(option.amounts[-1])!r}"
        if not decides and not is_aside(g, option.action):
            yield f"{name} is not asked and is offered {line!r}"
        if not _is_his(state, seat, option.action):
            yield f"{name} has no right to {line!r}"
        yield from _option_faults(state, seat, option, line)
    yield from _limit_faults(g, seat, found)
    yield from _count_faults(g, seat, found)


def _limit_faults(g: Game, seat: str, found: list[Option]) -> Iterator[str]:
    """Nobody ends his stock turn above the certificate limit if he can sell."""
    if not isinstance(g.top, StockTurn) or g.top.seat != seat:
        return
    above = counted_certificates(g, seat) > certificate_limit(g)
    done, sells = (any(isinstance(o.action, kind) for o in found) for kind in (Pass, Sell))
    if above and done and sells:
        yield f"{g.state.name(seat)} is above the certificate limit, can sell, and may be done"


def _count_faults(g: Game, seat: str, found: list[Option]) -> Iterator[str]:
    """Where several are offered at once, one more than the most is refused, and so is none."""
    most: dict[Action, int] = {}
    for option in found:
        if "count" in option.action.__struct_fields__:
            alike = msgspec.structs.replace(option.action, **{"count": 1})
            most[alike] = max(most.get(alike, 0), getattr(option.action, "count"))  # noqa: B009
    for alike, count in most.items():
        for beyond in (0, count + 1):
            said = msgspec.structs.replace(alike, **{"count": beyond})
            if refusal(g, seat, said) is None:
                yield f"{g.state.name(seat)} is offered {count} at most and may have {beyond}: {said}"


def _is_his(state: State, seat: str, action: Action) -> bool:
    """Whether what is done beside the question is done by whoever has the right to it."""
    g = game_of(state)
    match action:
        case Accept(number):
            return any(seat == o.asked for o in state.offers if number in (None, o.number))
        case Decline() if isinstance(state.top, Protection):
            return seat in decision(state).asked
        case StandBy(company) | ConnectRun(company):
            return state.companies[company].president == seat
        case Decline(number):
            return any(seat in (o.asked, o.asker) for o in state.offers if number in (None, o.number))
        case Exchange(private):
            return state.privates[private] == seat
        case DealPrivate(private, target=target):
            parties = {state.privates[private], target or seat}
            return seat in parties and not parties.isdisjoint(decision(state).asked)
        case Lay(using=private) | Token(using=private) if private is not None:
            return g.voice(state.privates[private]) == seat
    return True


def _option_faults(state: State, seat: str, option: Option, line: str) -> Iterator[str]:
    g, name = game_of(state), state.name(seat)
    if not option.says:
        yield f"{line!r} is offered without words"
    if why := refusal(g, seat, option.action):
        yield f"{name} is offered {line!r}, which is refused: {why}"
        return
    yield from _reading_faults(state, seat, option.action, line)
    if option.amounts is not None:
        dollars = amount_field(option.action)
        first, last = option.amounts[0], option.amounts[-1]
        if getattr(option.action, dollars) != first:
            yield f"{line!r} does not name the least, ${first}"
        top = at_amount(option, last)
        if why := refusal(g, seat, top):
            yield f"{name} may say up to ${last} in {line!r}, which is refused: {why}"
        else:
            yield from _reading_faults(state, seat, top, spell(state, top))
        for beyond in (first - option.amounts.step, last + option.amounts.step):
            if refusal(g, seat, msgspec.structs.replace(option.action, **{dollars: beyond})) is None:
                yield f"{name} may say ${first} to ${last} in {line!r}, but ${beyond} is accepted too"


def _reading_faults(state: State, seat: str, action: Action, line: str) -> Iterator[str]:
    try:
        read = parse(state, seat, line)
    except (Unreadable, Refused, Ambiguous) as wrong:
        yield f"{state.name(seat)}'s {line!r} cannot be read back: {wrong}"
        return
    if read != action:
        yield f"{line!r} is read as {read}, and is {action}"


def trespass_faults(state: State, seat: str, action: Action) -> Iterator[str]:
    """Whether others may do what only the one who is asked may."""
    g = game_of(state)
    for other in state.seats:
        if other not in decision(state).asked and not is_aside(g, action) and not refusal(g, other, action):
            yield f"{state.name(other)} may {spell(state, action)!r} though {state.name(seat)} is asked"


def amount_field(action: Action) -> str:
    """The field in which an action that may be had for different amounts says its dollars."""
    return "price" if "price" in action.__struct_fields__ else "amount"


def at_amount(option: Option, dollars: int) -> Action:
    """The option's action for so many dollars."""
    return msgspec.structs.replace(option.action, **{amount_field(option.action): dollars})


# -- a move ----------------------------------------------------------------------------------


def move_faults(before: State, seat: str, action: Action, raw: bytes, played: Played) -> Iterator[str]:
    """What is wrong with a move: `raw` is `before` encoded ahead of it."""
    after, events = played
    if encoded(before) != raw:
        yield "asking or playing has changed the state that it was given"
    stored = decoded_events(encoded_events(events))
    if stored != events:
        yield "the events are not the same after encoding and decoding"
    if fold(stored, copied(before)) != after:
        yield "folding the events does not lead to the state that was played"
    if play(before, seat, action) != played:
        yield "the same move led somewhere else the second time"
    yield from _question_faults(before, seat, after, action)
    if after.offers and _turn(before) != _turn(after) and not set(after.offers).isdisjoint(before.offers):
        yield "an offer has outlived the turn in which it was made"
    for sentence in narrate(after, events):
        if not sentence.strip():
            yield "something was told in no words"


def _question_faults(before: State, seat: str, after: State, action: Action) -> Iterator[str]:
    was, now = standing(game_of(before)), standing(game_of(after))
    changed = was != now or not is_aside(game_of(before), action)
    should = changed and not awaits_the_rest(was, now, seat)
    grown = after.question - before.question
    if grown != int(should):
        yield f"the question's number grew by {grown}, and should have grown by {int(should)}"


def _turn(state: State) -> tuple[str, str]:
    """Whose turn it is, and in which round."""
    turns = (f for f in state.stack if isinstance(f, StockTurn | OperatingTurn))
    whose = next((f.seat if isinstance(f, StockTurn) else f.company for f in turns), "")
    return round_name(state), whose
