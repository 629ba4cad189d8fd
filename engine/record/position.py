"""Positions from set-up lines: what was said, what was left unsaid, and what cannot be.

The lines are read into a `Said` first, whatever their order; then the board is built in the order
in which one thing rests on another: phase, holdings, trains, tiles, tokens, privates, money, round.
Each part fills in what was not said and refuses what no game can lead to. At last the frame of the
round is put on the stack and settles as in any game.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from engine.board.faces import face_at, fits
from engine.facts import PhaseFacts, tile_faces
from engine.game import Game
from engine.holdings import presidents_percent
from engine.kernel import game_of, settle
from engine.loans import in_zone, rate
from engine.merging.rounds import MergerRounds
from engine.operating.stations import (
    UNDECIDED,
    free_slots,
    holds_tokens,
    home_node,
    printed_home,
    reserved_slots,
)
from engine.operating.track import belongs, blocker, supply
from engine.record.deal import dealt_as
from engine.record.setup import Said, note
from engine.record.text import Malformed, Placed
from engine.record.words import Words, Wrong
from engine.rounds import OperatingRounds
from engine.state import (
    BANK,
    CLOSED,
    IPO,
    POOL,
    TREASURY,
    Allotment,
    MergerRound,
    OperatingRound,
    State,
    StockRound,
    copied,
    is_seat,
)

LATER_ROUND = 2
"""The stock round that a position stands in: not the first, in which nothing may be sold."""


def place(start: State, setup: Sequence[Placed]) -> State:
    """The position that the set-up lines describe, in the game that begins with `start`.

    Where they tell of nothing but money, that is the opening; in a title that deals out its privates
    they may tell of the deal too. Raises Malformed, with the line, for what cannot be read or be.
    """
    if not setup:
        return start
    said, g = Said(), game_of(copied(start))
    seen: dict[tuple[str, ...], int] = {}
    for number, text in setup:
        try:
            key = note(said, Words(g, text))
            if key in seen:
                raise Wrong(f"That was said before, in line {seen[key]}.")
        except Wrong as wrong:
            raise Malformed(number, str(wrong)) from None
        seen[key] = number
        said.lines |= dict.fromkeys(key[1:], number)
    try:
        about = {key[0] for key in seen}
        deals = isinstance(start.stack[0], Allotment)
        if about <= ({"cash", "private"} if deals else {"cash"}):
            g = game_of(dealt_as(start, said.privates)) if said.privates else g
            _place_money(g, said, g.state.cash)
        else:
            _build(g, said)
    except Wrong as wrong:
        raise Malformed(said.lines.get(wrong.about, setup[-1].line), str(wrong)) from None
    return g.state


def _build(g: Game, said: Said) -> None:
    """Turn the game at its first question into the position that was described."""
    _place_phase(g, said)
    for company in g.state.companies:
        _place_holdings(g, said, company)
    g.state.market = [c for c in said.market if g.company(c).cell]
    _place_trains(g, said)
    _place_depot(g, said)
    _place_privates(g, said)
    for hex in said.tiles:
        _place_tile(g, said, hex)
    _check_supply(g)
    for company in g.state.companies:
        _place_tokens(g, said, company)
        _place_destination(g, said, company)
    _place_improvements(g, said)
    _check_cities(g, said)
    _place_money(g, said, dict.fromkeys(g.state.cash, 0))
    _place_round(g, said)
    try:
        settle(g)
    except RuntimeError:
        raise Wrong("Nobody has anything to do in this position, now or later.", "round") from None


def _place_improvements(g: Game, said: Said) -> None:
    """Tokens of privates in cities."""
    for private, token in said.improvements.items():
        effect = g.private_facts(private).effect
        if token.hex not in effect["hexes"]:
            raise Wrong(f"The token of the {private} goes to {', '.join(effect['hexes'])}.", private)
        if _reached(g, effect["removed_on"]):
            raise Wrong(f"In phase {g.state.phase} the token of the {private} is off the map.", private)
        g.state.improvements[private] = token


def _place_destination(g: Game, said: Said, company: str) -> None:
    """The destination token of a company that has connected, where it stands."""
    co = g.company(company)
    if company in (*said.connected, *said.destinations) and not co.running:
        raise Wrong(f"The {company} has not operated yet, so it has not connected.", company)
    co.connected = company in said.connected or company in said.destinations
    hex = said.destinations.get(company)
    if hex is None:
        return
    if hex != g.company_facts(company).destination:
        raise Wrong(f"The destination of the {company} is {g.company_facts(company).destination}.", company)
    g.state.destinations[company] = hex
    here = g.state.tokens.setdefault(hex, [])
    if all(owner != company for _, owner in here):
        here.append((0, company))


def _place_phase(g: Game, said: Said) -> None:
    """The phase that is named, or else the latest whose train is."""
    phases, depot = g.facts.phases, _totals(g)
    begun = {train for trains in said.trains.values() for train in trains}
    if said.depot and (train := said.depot[0]):
        types = [t.name for t in g.facts.trains]
        begun |= set(types[: types.index(train)])
        count, left = depot[train], said.depot[1]
        if count is not None and left is not None and left < count:
            begun.add(train)
    least = max((i for i, p in enumerate(phases) if p.on in begun), default=0)
    if said.phase is None:
        g.state.phase = phases[least].name
        return
    if [p.name for p in phases].index(said.phase) < least:
        raise Wrong(f"A {phases[least].on}-train was bought, so it is phase {phases[least].name}.", "phase")
    g.state.phase = said.phase


def _reached(g: Game, train: str | None) -> bool:
    """Whether the first train of that type has been bought."""
    upto = g.facts.phases.index(g.phase) + 1
    return train is not None and any(p.on == train for p in g.facts.phases[:upto])


def _totals(g: Game) -> dict[str, int | None]:
    return {t.name: t.count for t in g.facts.trains} | dict(g.title.depot)


def _place_holdings(g: Game, said: Said, company: str) -> None:
    """Shares, par, price, president, and whether it has floated and operated."""
    if g.facts.company_sizes:
        _place_sized(g, said, company)
        return
    co, facts = g.company(company), g.company_facts(company)
    if company in said.closed:
        _place_closed(g, said, company)
        return
    held = {h: percent for h, percent in said.shares.get(company, {}).items() if percent}
    _check_holdings(g, company, held, IPO in said.shares.get(company, {}))
    rest = sum(facts.shares) - sum(held.values())
    kept = _check_treasury(g, company, held)
    co.shares = held | ({company if kept else IPO: rest + held.get(company, 0) * kept} if rest else {})
    at, par = said.cells.get(company), said.pars.get(company)
    if at is None and par is None:
        _check_unstarted(g, said, company)
        return
    co.par = par or _likely_par(g, at)
    co.cell = at or g.title.par_cell(co.par)
    co.president = _president(g, said, company)
    co.floated = sum(facts.shares) - co.shares.get(IPO, 0) >= facts.float_percent
    co.running = co.floated and company not in said.new
    if company in said.new and not co.floated:
        raise Wrong(f"The {company} has not floated: {co.shares[IPO]} % are unsold.", company)


def _place_sized(g: Game, said: Said, company: str) -> None:
    """The same for a company whose number of shares was chosen: what nobody holds is in its treasury."""
    co, at = g.company(company), said.cells.get(company)
    if company not in said.sizes or at is None:
        told = (said.sizes, said.cells, said.shares, said.presidents, said.trains, said.tokens, said.loans)
        if any(company in what for what in told):
            raise Wrong(f"The {company} needs a size and a price.", company)
        return
    held = {h: percent for h, percent in said.shares.get(company, {}).items() if percent}
    rest = 100 - sum(held.values())
    if rest < 0:
        raise Wrong(f"{sum(held.values())} % of the {company} are held; there are 100 %.", company)
    co.shares = {h: p for h, p in (held | {company: held.get(company, 0) + rest}).items() if p}
    co.cell, co.par = at, _likely_par(g, at)
    co.president = _president(g, said, company)
    co.floated = co.running = True
    co.loans = said.loans.get(company, 0)


def _place_closed(g: Game, said: Said, company: str) -> None:
    """A company that is out of play."""
    for what in (said.shares, said.cells, said.pars, said.trains, said.tokens, said.markers, said.cash):
        if company in what:
            raise Wrong(f"The {company} is closed, so it has nothing.", company)
    co = g.company(company)
    co.closed, co.markers, co.shares = True, 0, {CLOSED: sum(co.shares.values())}


def _check_holdings(g: Game, company: str, held: dict[str, int], closed: bool) -> None:
    total, whole = sum(held.values()), sum(g.company_facts(company).shares)
    if total > whole:
        raise Wrong(f"{total} % of the {company} are held; there are {whole} %.", company)
    if closed and total < whole:
        raise Wrong(f"Only {total} % of the {company} are accounted for.", company)
    limit = g.facts.limits["pool_percent"]
    if held.get(POOL, 0) > limit:
        raise Wrong(f"The pool never holds more than {limit} % of a company.", company)


def _check_treasury(g: Game, company: str, held: dict[str, int]) -> bool:
    """Whether what is not sold lies in the company's treasury: so it does once it has floated."""
    sold = sum(percent for holder, percent in held.items() if holder not in (IPO, company))
    floated = sold >= g.company_facts(company).float_percent
    if held.get(company) and not floated:
        raise Wrong(f"The {company} has not floated, so its treasury holds no shares.", company)
    kept = floated and g.title.flotation.keeps_rest
    most = g.facts.limits.get("treasury_percent", 100)
    if kept and 100 - sold > most:
        raise Wrong(f"A {TREASURY} never holds more than {most} % of a company.", company)
    if kept and held.get(IPO):
        raise Wrong(f"The {company} has floated; what was not sold lies in its {TREASURY}.", company)
    return kept


def _check_unstarted(g: Game, said: Said, company: str) -> None:
    """Before a company starts, what can be held of it is what came with a private."""
    grants = sum(
        p.grants.percent
        for p in g.facts.privates
        if p.grants and p.grants.company == company and not p.grants.president
    )
    out = 100 - g.held(IPO, company)
    if g.held(POOL, company) or out > grants:
        raise Wrong(f"{out} % of the {company} are held, but it has neither a par nor a price.", company)
    for what in (said.presidents, said.trains, said.tokens, said.markers):
        if company in what:
            raise Wrong(f"The {company} has neither a par nor a price, so it has not started.", company)
    if company in said.new:
        raise Wrong(f"The {company} has neither a par nor a price, so it has not floated.", company)


def _likely_par(g: Game, at: tuple[int, int] | None) -> int:
    """Where no par was said: the highest that is not above the price."""
    assert at is not None
    pars = sorted(g.facts.par_prices)
    return max((p for p in pars if p <= g.title.cell(at).price), default=pars[0])


def _president(g: Game, said: Said, company: str) -> str:
    shares = g.company(company).shares
    most = max((percent for h, percent in shares.items() if is_seat(h)), default=0)
    if most < presidents_percent(g, company):
        raise Wrong(f"Nobody holds the president's certificate of the {company}.", company)
    largest = [h for h, percent in shares.items() if is_seat(h) and percent == most]
    named = said.presidents.get(company)
    if named is None:
        if len(largest) > 1:
            names = " and ".join(g.state.name(s) for s in largest)
            raise Wrong(f"{names} hold equally many shares of the {company}; name its president.", company)
        return largest[0]
    if named not in largest:
        raise Wrong(
            f"{g.state.name(named)} cannot be president of the {company}: "
            f"{g.state.name(largest[0])} holds {most} %, he {shares.get(named, 0)} %.",
            company,
        )
    return named


def _place_trains(g: Game, said: Said) -> None:
    for owner, trains in said.trains.items():
        for train in trains:
            if _reached(g, g.train_facts(train).rusts_on):
                raise Wrong(f"The {train}-trains are out of play in phase {g.state.phase}.", owner)
        if owner == POOL:
            g.state.pool = trains
            continue
        if trains and not g.company(owner).running:
            raise Wrong(f"The {owner} has not operated yet, so it has no trains.", owner)
        if len(trains) > g.phase.train_limit:
            limit = g.phase.train_limit
            raise Wrong(f"The {owner} has {len(trains)} trains; the limit is {limit}.", owner)
        g.company(owner).trains = trains


def _place_depot(g: Game, said: Said) -> None:
    """What is left of the type now sold; earlier types are gone, later ones complete."""
    named = Counter(train for trains in said.trains.values() for train in trains)
    totals, types = _totals(g), [t.name for t in g.facts.trains]
    own = types.index(g.phase.on) if g.phase.on else 0
    train, left = said.depot or (types[own], None)
    first = len(types) if train is None else types.index(train)
    in_order = max(i for i in range(own + 1) if g.facts.trains[i].available_on is None)
    if first < in_order:
        raise Wrong(f"In phase {g.state.phase} every {train}-train is gone.", BANK)
    for i, name in enumerate(types):
        count = totals[name]
        rest = None if count is None else count - named[name]
        if rest is not None and rest < 0:
            raise Wrong(f"{named[name]} {name}-trains are placed; there are {count}.", _holding(said, name))
        g.state.depot[name] = 0 if i < first else rest
        if i == first and left is not None:
            if rest is None:
                raise Wrong(f"There is no number of {name}-trains: they are unlimited.", BANK)
            if left > rest:
                raise Wrong(f"{left} {name}-trains are left and {named[name]} out; there are {count}.", BANK)
            g.state.depot[name] = left


def _holding(said: Said, train: str) -> str:
    return next(owner for owner in reversed(said.trains) if train in said.trains[owner])


def _place_privates(g: Game, said: Said) -> None:
    in_play = {p for p, owner in g.state.privates.items() if owner != CLOSED}
    g.state.privates = dict.fromkeys(g.state.privates, CLOSED) | said.privates
    for private, owner in g.open_privates():
        facts = g.private_facts(private)
        if private not in in_play:
            raise Wrong(f"The {private} is not in play with {len(g.state.players)} players.", private)
        if any("close_privates" in p.notes for p in _phases_so_far(g)):
            raise Wrong(f"In phase {g.state.phase} every private is closed.", private)
        when = facts.effect.get("closes_when", {})
        if "company" in when and g.company(when["company"]).trains:
            raise Wrong(f"The {private} closed with the first train of the {when['company']}.", private)
        if is_seat(owner) or g.facts.company_sizes:
            continue
        if not facts.effect.get("sellable_to_company", True):
            raise Wrong(f"The {private} may not be sold to a company.", private)
        early = owner in facts.effect.get("phase1_buyers", ())
        if not early and not any("can_buy_privates" in p.notes for p in _phases_so_far(g)):
            raise Wrong(f"No company has bought a private by phase {g.state.phase}.", private)
        if not g.company(owner).running:
            raise Wrong(f"The {owner} has not operated yet, so it owns no private.", private)


def _phases_so_far(g: Game) -> Sequence[PhaseFacts]:
    return g.facts.phases[: g.facts.phases.index(g.phase) + 1]


def _place_tile(g: Game, said: Said, hex: str) -> None:
    tile, turn = said.tiles[hex]
    turns = {t for name, t in _ways(g, hex) if name == tile}
    if not turns:
        raise Wrong(f"#{tile} cannot come to lie on {hex}.", hex)
    if turn is None and len(turns) > 1:
        raise Wrong(f"#{tile} lies on {hex} in several rotations; say which of {sorted(turns)}.", hex)
    if turn is not None and turn not in turns:
        raise Wrong(f"#{tile} in rotation {turn} does not fit on {hex}; {sorted(turns)} do.", hex)
    color = tile_faces()[tile].color
    if color not in g.phase.tile_colors:
        raise Wrong(f"No {color} tile lies on the map in phase {g.state.phase}.", hex)
    if private := blocker(g, hex):
        raise Wrong(f"{hex} has been closed all along: a player owns the {private}.", hex)
    g.state.tiles[hex] = (tile, turns.pop() if turn is None else turn)


def _ways(g: Game, hex: str) -> Iterator[tuple[str, int]]:
    """Every tile and rotation that upgrade by upgrade can come to lie on the hex."""
    upgrades, first = g.facts.upgrades or {}, g.facts.preprinted_upgrades.get(g.title.printed_kinds[hex], ())
    found: set[tuple[str, int]] = set()
    waiting: list[tuple[str, int] | None] = [None]
    while waiting:
        old = waiting.pop()
        for tile in upgrades.get(old[0], ()) if old else first:
            if not belongs(g, tile, hex):
                continue
            ways = {(tile, fit.turn) for fit in fits(g.facts, hex, old, tile)} - found
            found |= ways
            waiting += ways
    yield from found


def _check_supply(g: Game) -> None:
    for tile, left in supply(g).items():
        if left < 0:
            hex = next(h for h in reversed(g.state.tiles) if g.state.tiles[h][0] == tile)
            raise Wrong(f"{g.facts.tiles[tile]} of #{tile} there are, not {_placed(g, tile)}.", hex)


def _placed(g: Game, tile: str) -> int:
    return sum(name == tile for name, _ in g.state.tiles.values())


def _place_tokens(g: Game, said: Said, company: str) -> None:
    """The tokens that were named, and the home token of a company that has operated."""
    co, cities = g.company(company), said.tokens.get(company, [])
    if g.company_facts(company).home is None:
        for hex, node in cities:
            g.state.tokens.setdefault(hex, []).append((_city(g, company, hex, node), company))
        usual = g.facts.company_sizes[co.size].stations if co.size else 0
        co.markers = said.markers.get(company, max(usual - len(cities), 0))
        return
    if co.closed:
        return
    total = len(g.company_facts(company).tokens)
    home = printed_home(g, company).hex
    stands = co.running or (co.floated and g.title.flotation.homes)
    if not co.running and any(not stands or hex != home for hex, _ in cities):
        what = "token on the map but its home's" if stands else "token on the map"
        raise Wrong(f"The {company} has not operated yet, so it has no {what}.", company)
    if stands and home not in [hex for hex, _ in cities]:
        cities = [(home, home_node(g, company)), *cities]
    for hex, node in cities:
        here = g.state.tokens.setdefault(hex, [])
        if any(owner == company for _, owner in here):
            raise Wrong(f"Two tokens of the {company} never stand in one hex ({hex}).", company)
        here.append((_city(g, company, hex, node), company))
    if len(cities) > total:
        raise Wrong(f"The {company} has {total} tokens, not {len(cities)}.", company)
    co.markers = said.markers.get(company, total - len(cities))
    if not 0 <= co.markers <= total - len(cities):
        raise Wrong(f"The {company} has {total - len(cities)} tokens on its charter at most.", company)


def _city(g: Game, company: str, hex: str, node: int | None) -> int:
    """The node where a token stands; of a home with a choice the first city that is free."""
    nodes = face_at(g.facts, g.state.tiles, hex).nodes
    cities = [i for i, each in enumerate(nodes) if holds_tokens(g, each)]
    homed = g.company_facts(company).home is not None
    if homed and node is None and hex == printed_home(g, company).hex:
        if (node := home_node(g, company)) is not None:
            return node
        if _chosen_with_tile(g) and hex not in g.state.tiles:
            return UNDECIDED
        return next((i for i in cities if free_slots(g, hex, i) > 0), cities[0])
    if node is None and len(cities) == 1:
        return cities[0]
    if node is None and cities:
        choices = " or ".join(f"{hex}.{i}" for i in cities)
        raise Wrong(f"{hex} has several cities; say where the {company} stands: {choices}.", company)
    if node is None or (node not in cities and not (homed and hex == printed_home(g, company).hex)):
        raise Wrong(f"There is no city for a token at {hex if node is None else f'{hex}.{node}'}.", company)
    return node


def _chosen_with_tile(g: Game) -> bool:
    """Whether a home with several cities stays open until a tile lies there (§19.1)."""
    rounds = g.title.questions[OperatingRound]
    return isinstance(rounds, OperatingRounds) and rounds.home_chosen_by == "layer"


def _check_cities(g: Game, said: Said) -> None:
    for hex, tokens in g.state.tokens.items():
        last = max((c for _, c in tokens), key=lambda c: said.lines.get(c, 0))
        face = face_at(g.facts, g.state.tiles, hex)
        for node, company in tokens:
            if node == UNDECIDED:
                continue
            homed = g.company_facts(company).home is not None
            if homed and not face.node_exits[node] and hex != printed_home(g, company).hex:
                raise Wrong(f"No track leads to the city in {hex}, so no token can have come there.", company)
            beside = sum(there == hex for there in g.state.destinations.values())
            free = free_slots(g, hex, node) + (0 if g.places else beside)
            if g.state.destinations.get(company) == hex or not holds_tokens(g, face.nodes[node]):
                continue
            if free < 0:
                raise Wrong(f"{hex} has no space for so many tokens.", last)
            if free < reserved_slots(g, hex, node):
                raise Wrong(f"The space in {hex} is kept for the home of another company.", last)


def _place_money(g: Game, said: Said, unnamed: dict[str, int]) -> None:
    """Cash, of the `unnamed` what is said there; the bank has what is left of the title's money."""
    whole = sum(g.state.cash.values())
    cash = unnamed | said.cash
    for who, amount in cash.items():
        if who == BANK:
            continue
        if amount < 0:
            raise Wrong(f"{g.state.name(who)} cannot have ${amount}.", who)
        if amount and who in g.state.companies and not g.company(who).floated:
            raise Wrong(f"The {who} has not floated, so it has no money.", who)
    out = sum(amount for who, amount in cash.items() if who != BANK)
    cash[BANK] = said.cash.get(BANK, whole - out)
    if g.facts.bank is None:
        g.state.cash = cash
        return
    if cash[BANK] < 0 and said.left is None:
        about = BANK if BANK in said.cash else next(reversed(said.cash))
        raise Wrong(f"The bank would have ${cash[BANK]}; there are ${whole} in all.", about)
    if cash[BANK] + out > whole:
        raise Wrong(f"${cash[BANK] + out} are out; there are ${whole} in all.", BANK)
    g.state.cash = cash


def _ends_with_set(g: Game) -> bool:
    """Whether a broken bank lets the set of operating rounds be finished."""
    rounds = g.title.questions[OperatingRound]
    return not isinstance(rounds, OperatingRounds) or rounds.whole_set


def _kind_of_sale(g: Game, company: str) -> str:
    """The stage of a merger round in which that company is sold."""
    if in_zone(g, company, "liquidation"):
        return "liquidate"
    return "acquire" if in_zone(g, company, "acquisition") else "offer"


def _place_merger(g: Game, kind: str, company: str, number: int) -> None:
    """A merger round at that company's turn to grow, or at its own sale; those behind it are to come."""
    order = g.operating_order()
    if company not in order:
        raise Wrong(f"The {company} is not in play.", "round")
    gray = tuple(c for c in order if in_zone(g, c, "acquisition"))
    red = tuple(c for c in order if in_zone(g, c, "liquidation"))
    rounds = g.title.questions[MergerRound]
    one_pass = isinstance(rounds, MergerRounds) and rounds.one_pass
    stage = "convert" if kind == "merger" else "sales" if one_pass else _kind_of_sale(g, company)
    line = order if kind == "merger" else order[::-1]
    of = g.phase.operating_rounds
    left = tuple(line[line.index(company) :])
    g.state.stack = [MergerRound(1, number, of, stage, left, gray, red, start=tuple(order))]


def _place_round(g: Game, said: Said) -> None:
    """The frame of the round, and whose deal it is."""
    g.state.mines, g.state.bridges = said.mines, said.bridges
    if g.facts.loans is not None:
        g.state.interest = rate(g) if said.interest is None else said.interest
    g.state.broken = said.left is not None
    g.state.priority = said.priority or said.stock or g.state.seats[0]
    rounds = g.phase.operating_rounds
    whole = _ends_with_set(g)
    if said.merger:
        _place_merger(g, *said.merger)
        return
    if said.operating is None:
        last = rounds if whole else 1
        if said.left not in (None, last):
            raise Wrong(f"After a stock round in phase {g.state.phase} come {last} rounds.", "left")
        g.state.stack = [StockRound(LATER_ROUND, said.stock or g.state.priority)]
        return
    if said.left and not whole:
        raise Wrong("Once the bank is broken the game ends with the round.", "left")
    company, number = said.operating
    if not g.company(company).floated:
        raise Wrong(f"The {company} has not floated, so it does not operate.", "round")
    of = rounds if said.left is None or not whole else number + said.left
    if not 1 <= number <= of:
        raise Wrong(f"In phase {g.state.phase} there are {rounds} operating rounds in a set.", "round")
    order = [c for c in g.operating_order() if g.company(c).floated]
    waiting = tuple(order[order.index(company) :])
    g.state.stack = [OperatingRound(LATER_ROUND - 1, number, of, waiting)]
