"""Positions from set-up lines: what was said, what was left unsaid, and what cannot be.

The lines are read into a `Said` first, whatever their order; then the board is built in the order
in which one thing rests on another: phase, holdings, trains, tiles, tokens, privates, money, round.
Each part fills in what was not said and refuses what no game can lead to. At last the frame of the
round is put on the stack and settles as in any game.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from engine.board.tile_geometry import face_at, fitting_rotations
from engine.core.components import CityTokenAbility, MarketZone, PhaseDefinition, tile_faces
from engine.core.state import (
    BANK,
    CLOSED,
    IPO,
    POOL,
    TREASURY,
    MergerRound,
    OperatingRound,
    PrivateAllotment,
    State,
    StockRound,
    copy_state,
    is_seat,
)
from engine.finance.loans import in_zone, interest_rate
from engine.finance.ownership import president_share_percent
from engine.game import Game
from engine.game_text.private_deal import start_with_deal
from engine.game_text.script import ScriptError, SetupLine
from engine.game_text.setup import Setup, read_setup_line
from engine.game_text.word_reader import InvalidLine, WordReader
from engine.kernel import advance, game_of
from engine.mergers.merger_rounds import MergerRoundRules
from engine.operating.stations import (
    UNDECIDED_CITY,
    accepts_tokens,
    free_slots,
    home_node,
    printed_home,
    reserved_slots,
)
from engine.operating.track import blocking_private, is_tile_allowed_on, tile_supply
from engine.rounds.sequence import OperatingRoundRules

LATER_ROUND = 2
"""The stock round that a position stands in: not the first, in which nothing may be sold."""


def set_up_position(start: State, setup: Sequence[SetupLine]) -> State:
    """The position that the set-up lines describe, in the game that begins with `start`.

    Where they tell of nothing but money, that is the opening; in a title that deals out its privates
    they may tell of the deal too. Raises Malformed, with the line, for what cannot be read or be.
    """
    if not setup:
        return start
    said, g = Setup(), game_of(copy_state(start))
    seen: dict[tuple[str, ...], int] = {}
    for number, text in setup:
        try:
            key = read_setup_line(said, WordReader(g, text))
            if key in seen:
                raise InvalidLine(f"That was said before, in line {seen[key]}.")
        except InvalidLine as wrong:
            raise ScriptError(number, str(wrong)) from None
        seen[key] = number
        said.line_numbers |= dict.fromkeys(key[1:], number)
    try:
        about = {key[0] for key in seen}
        deals = isinstance(start.stack[0], PrivateAllotment)
        if about <= ({"cash", "private"} if deals else {"cash"}):
            g = game_of(start_with_deal(start, said.privates)) if said.privates else g
            _set_cash(g, said, g.state.cash)
        else:
            _build(g, said)
    except InvalidLine as wrong:
        raise ScriptError(said.line_numbers.get(wrong.subject, setup[-1].line), str(wrong)) from None
    return g.state


def _build(g: Game, said: Setup) -> None:
    """Turn the game at its first question into the position that was described."""
    _set_phase(g, said)
    for company in g.state.companies:
        _set_shares(g, said, company)
    g.state.market_order = [c for c in said.market_order if g.company(c).cell]
    _set_trains(g, said)
    _set_depot(g, said)
    _set_privates(g, said)
    for hex in said.tiles:
        _set_tile(g, said, hex)
    _check_tile_supply(g)
    for company in g.state.companies:
        _set_tokens(g, said, company)
        _set_destination(g, said, company)
    _set_city_tokens(g, said)
    _check_cities(g, said)
    _set_cash(g, said, dict.fromkeys(g.state.cash, 0))
    _set_round(g, said)
    try:
        advance(g)
    except RuntimeError:
        raise InvalidLine("Nobody has anything to do in this position, now or later.", "round") from None


def _set_city_tokens(g: Game, said: Setup) -> None:
    """Tokens of privates in cities."""
    for private, token in said.city_tokens.items():
        ability = g.private_definition(private).ability
        assert isinstance(ability, CityTokenAbility)
        if token.hex not in ability.hexes:
            raise InvalidLine(f"The token of the {private} goes to {', '.join(ability.hexes)}.", private)
        if _is_train_bought(g, ability.removed_on):
            raise InvalidLine(f"In phase {g.state.phase} the token of the {private} is off the map.", private)
        g.state.city_tokens[private] = token


def _set_destination(g: Game, said: Setup, company: str) -> None:
    """The destination token of a company that has connected, where it stands."""
    co = g.company(company)
    if company in (*said.connected, *said.destinations) and not co.has_operated:
        raise InvalidLine(f"The {company} has not operated yet, so it has not connected.", company)
    co.connected = company in said.connected or company in said.destinations
    hex = said.destinations.get(company)
    if hex is None:
        return
    if hex != g.company_definition(company).destination:
        raise InvalidLine(
            f"The destination of the {company} is {g.company_definition(company).destination}.", company
        )
    g.state.destination_tokens[company] = hex
    here = g.state.tokens.setdefault(hex, [])
    if all(owner != company for _, owner in here):
        here.append((0, company))


def _set_phase(g: Game, said: Setup) -> None:
    """The phase that is named, or else the latest whose train is."""
    phases, depot = g.components.phases, _train_counts(g)
    begun = {train for trains in said.trains.values() for train in trains}
    if said.depot and (train := said.depot[0]):
        types = [t.name for t in g.components.trains]
        begun |= set(types[: types.index(train)])
        count, left = depot[train], said.depot[1]
        if count is not None and left is not None and left < count:
            begun.add(train)
    least = max((i for i, p in enumerate(phases) if p.on in begun), default=0)
    if said.phase is None:
        g.state.phase = phases[least].name
        return
    if [p.name for p in phases].index(said.phase) < least:
        raise InvalidLine(
            f"A {phases[least].on}-train was bought, so it is phase {phases[least].name}.", "phase"
        )
    g.state.phase = said.phase


def _is_train_bought(g: Game, train: str | None) -> bool:
    """Whether the first train of that type has been bought."""
    upto = g.components.phases.index(g.phase) + 1
    return train is not None and any(p.on == train for p in g.components.phases[:upto])


def _train_counts(g: Game) -> dict[str, int | None]:
    return {t.name: t.count for t in g.components.trains} | dict(g.title.train_counts)


def _set_shares(g: Game, said: Setup, company: str) -> None:
    """Shares, par, price, president, and whether it has floated and operated."""
    if g.components.company_sizes:
        _set_sized_company(g, said, company)
        return
    co, facts = g.company(company), g.company_definition(company)
    if company in said.closed:
        _set_closed_company(g, said, company)
        return
    held = {h: percent for h, percent in said.shares.get(company, {}).items() if percent}
    _check_shares(g, company, held, IPO in said.shares.get(company, {}))
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
    co.has_operated = co.floated and company not in said.not_operated
    if company in said.not_operated and not co.floated:
        raise InvalidLine(f"The {company} has not floated: {co.shares[IPO]} % are unsold.", company)


def _set_sized_company(g: Game, said: Setup, company: str) -> None:
    """The same for a company whose number of shares was chosen: what nobody holds is in its treasury."""
    co, at = g.company(company), said.cells.get(company)
    if company not in said.sizes or at is None:
        told = (said.sizes, said.cells, said.shares, said.presidents, said.trains, said.tokens, said.loans)
        if any(company in what for what in told):
            raise InvalidLine(f"The {company} needs a size and a price.", company)
        return
    held = {h: percent for h, percent in said.shares.get(company, {}).items() if percent}
    rest = 100 - sum(held.values())
    if rest < 0:
        raise InvalidLine(f"{sum(held.values())} % of the {company} are held; there are 100 %.", company)
    co.shares = {h: p for h, p in (held | {company: held.get(company, 0) + rest}).items() if p}
    co.cell, co.par = at, _likely_par(g, at)
    co.president = _president(g, said, company)
    co.floated = co.has_operated = True
    co.loans = said.loans.get(company, 0)


def _set_closed_company(g: Game, said: Setup, company: str) -> None:
    """A company that is out of play."""
    for what in (said.shares, said.cells, said.pars, said.trains, said.tokens, said.tokens_left, said.cash):
        if company in what:
            raise InvalidLine(f"The {company} is closed, so it has nothing.", company)
    co = g.company(company)
    co.closed, co.unplaced_tokens, co.shares = True, 0, {CLOSED: sum(co.shares.values())}


def _check_shares(g: Game, company: str, held: dict[str, int], closed: bool) -> None:
    total, whole = sum(held.values()), sum(g.company_definition(company).shares)
    if total > whole:
        raise InvalidLine(f"{total} % of the {company} are held; there are {whole} %.", company)
    if closed and total < whole:
        raise InvalidLine(f"Only {total} % of the {company} are accounted for.", company)
    limit = g.components.limits.pool_percent
    if held.get(POOL, 0) > limit:
        raise InvalidLine(f"The pool never holds more than {limit} % of a company.", company)


def _check_treasury(g: Game, company: str, held: dict[str, int]) -> bool:
    """Whether what is not sold lies in the company's treasury: so it does once it has floated."""
    sold = sum(percent for holder, percent in held.items() if holder not in (IPO, company))
    floated = sold >= g.company_definition(company).float_percent
    if held.get(company) and not floated:
        raise InvalidLine(f"The {company} has not floated, so its treasury holds no shares.", company)
    kept = floated and g.title.flotation.rest_to_treasury
    most = g.components.limits.treasury_percent
    if kept and 100 - sold > most:
        raise InvalidLine(f"A {TREASURY} never holds more than {most} % of a company.", company)
    if kept and held.get(IPO):
        raise InvalidLine(f"The {company} has floated; what was not sold lies in its {TREASURY}.", company)
    return kept


def _check_unstarted(g: Game, said: Setup, company: str) -> None:
    """Before a company starts, what can be held of it is what came with a private."""
    grants = sum(
        p.grants.percent
        for p in g.components.privates
        if p.grants and p.grants.company == company and not p.grants.president
    )
    out = 100 - g.percent_held(IPO, company)
    if g.percent_held(POOL, company) or out > grants:
        raise InvalidLine(
            f"{out} % of the {company} are held, but it has neither a par nor a price.", company
        )
    for what in (said.presidents, said.trains, said.tokens, said.tokens_left):
        if company in what:
            raise InvalidLine(f"The {company} has neither a par nor a price, so it has not started.", company)
    if company in said.not_operated:
        raise InvalidLine(f"The {company} has neither a par nor a price, so it has not floated.", company)


def _likely_par(g: Game, at: tuple[int, int] | None) -> int:
    """Where no par was said: the highest that is not above the price."""
    assert at is not None
    pars = sorted(g.components.par_prices)
    return max((p for p in pars if p <= g.title.cell(at).price), default=pars[0])


def _president(g: Game, said: Setup, company: str) -> str:
    shares = g.company(company).shares
    most = max((percent for h, percent in shares.items() if is_seat(h)), default=0)
    if most < president_share_percent(g, company):
        raise InvalidLine(f"Nobody holds the president's certificate of the {company}.", company)
    largest = [h for h, percent in shares.items() if is_seat(h) and percent == most]
    named = said.presidents.get(company)
    if named is None:
        if len(largest) > 1:
            names = " and ".join(g.state.name(s) for s in largest)
            raise InvalidLine(
                f"{names} hold equally many shares of the {company}; name its president.", company
            )
        return largest[0]
    if named not in largest:
        raise InvalidLine(
            f"{g.state.name(named)} cannot be president of the {company}: "
            f"{g.state.name(largest[0])} holds {most} %, he {shares.get(named, 0)} %.",
            company,
        )
    return named


def _set_trains(g: Game, said: Setup) -> None:
    for owner, trains in said.trains.items():
        for train in trains:
            if _is_train_bought(g, g.train_definition(train).rusts_on):
                raise InvalidLine(f"The {train}-trains are out of play in phase {g.state.phase}.", owner)
        if owner == POOL:
            g.state.pool_trains = trains
            continue
        if trains and not g.company(owner).has_operated:
            raise InvalidLine(f"The {owner} has not operated yet, so it has no trains.", owner)
        if len(trains) > g.phase.train_limit:
            limit = g.phase.train_limit
            raise InvalidLine(f"The {owner} has {len(trains)} trains; the limit is {limit}.", owner)
        g.company(owner).trains = trains


def _set_depot(g: Game, said: Setup) -> None:
    """What is left of the type now sold; earlier types are gone, later ones complete."""
    named = Counter(train for trains in said.trains.values() for train in trains)
    totals, types = _train_counts(g), [t.name for t in g.components.trains]
    own = types.index(g.phase.on) if g.phase.on else 0
    train, left = said.depot or (types[own], None)
    first = len(types) if train is None else types.index(train)
    in_order = max(i for i in range(own + 1) if g.components.trains[i].available_on is None)
    if first < in_order:
        raise InvalidLine(f"In phase {g.state.phase} every {train}-train is gone.", BANK)
    for i, name in enumerate(types):
        count = totals[name]
        rest = None if count is None else count - named[name]
        if rest is not None and rest < 0:
            raise InvalidLine(
                f"{named[name]} {name}-trains are placed; there are {count}.", _last_owner(said, name)
            )
        g.state.depot[name] = 0 if i < first else rest
        if i == first and left is not None:
            if rest is None:
                raise InvalidLine(f"There is no number of {name}-trains: they are unlimited.", BANK)
            if left > rest:
                raise InvalidLine(
                    f"{left} {name}-trains are left and {named[name]} out; there are {count}.", BANK
                )
            g.state.depot[name] = left


def _last_owner(said: Setup, train: str) -> str:
    return next(owner for owner in reversed(said.trains) if train in said.trains[owner])


def _set_privates(g: Game, said: Setup) -> None:
    in_play = {p for p, owner in g.state.private_owners.items() if owner != CLOSED}
    g.state.private_owners = dict.fromkeys(g.state.private_owners, CLOSED) | said.privates
    for private, owner in g.owned_privates():
        facts = g.private_definition(private)
        if private not in in_play:
            raise InvalidLine(f"The {private} is not in play with {len(g.state.players)} players.", private)
        if any(p.closes_privates for p in _phases_so_far(g)):
            raise InvalidLine(f"In phase {g.state.phase} every private is closed.", private)
        closing = facts.closes_with_first_train_of
        if closing and g.company(closing).trains:
            raise InvalidLine(f"The {private} closed with the first train of the {closing}.", private)
        if is_seat(owner) or g.components.company_sizes:
            continue
        if not facts.sellable_to_company:
            raise InvalidLine(f"The {private} may not be sold to a company.", private)
        early = facts.early_sale is not None and owner in facts.early_sale.buyers
        if not early and not any(p.companies_may_buy_privates for p in _phases_so_far(g)):
            raise InvalidLine(f"No company has bought a private by phase {g.state.phase}.", private)
        if not g.company(owner).has_operated:
            raise InvalidLine(f"The {owner} has not operated yet, so it owns no private.", private)


def _phases_so_far(g: Game) -> Sequence[PhaseDefinition]:
    return g.components.phases[: g.components.phases.index(g.phase) + 1]


def _set_tile(g: Game, said: Setup, hex: str) -> None:
    tile, turn = said.tiles[hex]
    turns = {t for name, t in _possible_tiles(g, hex) if name == tile}
    if not turns:
        raise InvalidLine(f"#{tile} cannot come to lie on {hex}.", hex)
    if turn is None and len(turns) > 1:
        raise InvalidLine(f"#{tile} lies on {hex} in several rotations; say which of {sorted(turns)}.", hex)
    if turn is not None and turn not in turns:
        raise InvalidLine(f"#{tile} in rotation {turn} does not fit on {hex}; {sorted(turns)} do.", hex)
    color = tile_faces()[tile].color
    if color not in g.phase.tile_colors:
        raise InvalidLine(f"No {color} tile lies on the map in phase {g.state.phase}.", hex)
    if private := blocking_private(g, hex):
        raise InvalidLine(f"{hex} has been closed all along: a player owns the {private}.", hex)
    g.state.tiles[hex] = (tile, turns.pop() if turn is None else turn)


def _possible_tiles(g: Game, hex: str) -> Iterator[tuple[str, int]]:
    """Every tile and rotation that upgrade by upgrade can come to lie on the hex."""
    upgrades, first = (
        g.components.upgrades or {},
        g.components.preprinted_upgrades.get(g.title.preprinted_kinds[hex], ()),
    )
    found: set[tuple[str, int]] = set()
    waiting: list[tuple[str, int] | None] = [None]
    while waiting:
        old = waiting.pop()
        for tile in upgrades.get(old[0], ()) if old else first:
            if not is_tile_allowed_on(g, tile, hex):
                continue
            ways = {(tile, fit.rotation) for fit in fitting_rotations(g.components, hex, old, tile)} - found
            found |= ways
            waiting += ways
    yield from found


def _check_tile_supply(g: Game) -> None:
    for tile, left in tile_supply(g).items():
        if left < 0:
            hex = next(h for h in reversed(g.state.tiles) if g.state.tiles[h][0] == tile)
            raise InvalidLine(
                f"{g.components.tiles[tile]} of #{tile} there are, not {_count_on_map(g, tile)}.", hex
            )


def _count_on_map(g: Game, tile: str) -> int:
    return sum(name == tile for name, _ in g.state.tiles.values())


def _set_tokens(g: Game, said: Setup, company: str) -> None:
    """The tokens that were named, and the home token of a company that has operated."""
    co, cities = g.company(company), said.tokens.get(company, [])
    if g.company_definition(company).home is None:
        for hex, node in cities:
            g.state.tokens.setdefault(hex, []).append((_token_node(g, company, hex, node), company))
        usual = g.components.company_sizes[co.size].stations if co.size else 0
        co.unplaced_tokens = said.tokens_left.get(company, max(usual - len(cities), 0))
        return
    if co.closed:
        return
    total = len(g.company_definition(company).tokens)
    home = printed_home(g, company).hex
    stands = co.has_operated or (co.floated and g.title.flotation.places_home)
    if not co.has_operated and any(not stands or hex != home for hex, _ in cities):
        what = "token on the map but its home's" if stands else "token on the map"
        raise InvalidLine(f"The {company} has not operated yet, so it has no {what}.", company)
    if stands and home not in [hex for hex, _ in cities]:
        cities = [(home, home_node(g, company)), *cities]
    for hex, node in cities:
        here = g.state.tokens.setdefault(hex, [])
        if any(owner == company for _, owner in here):
            raise InvalidLine(f"Two tokens of the {company} never stand in one hex ({hex}).", company)
        here.append((_token_node(g, company, hex, node), company))
    if len(cities) > total:
        raise InvalidLine(f"The {company} has {total} tokens, not {len(cities)}.", company)
    co.unplaced_tokens = said.tokens_left.get(company, total - len(cities))
    if not 0 <= co.unplaced_tokens <= total - len(cities):
        raise InvalidLine(f"The {company} has {total - len(cities)} tokens on its charter at most.", company)


def _token_node(g: Game, company: str, hex: str, node: int | None) -> int:
    """The node where a token stands; of a home with a choice the first city that is free."""
    nodes = face_at(g.components, g.state.tiles, hex).nodes
    cities = [i for i, each in enumerate(nodes) if accepts_tokens(g, each)]
    homed = g.company_definition(company).home is not None
    if homed and node is None and hex == printed_home(g, company).hex:
        if (node := home_node(g, company)) is not None:
            return node
        if _is_home_chosen_by_layer(g) and hex not in g.state.tiles:
            return UNDECIDED_CITY
        return next((i for i in cities if free_slots(g, hex, i) > 0), cities[0])
    if node is None and len(cities) == 1:
        return cities[0]
    if node is None and cities:
        choices = " or ".join(f"{hex}.{i}" for i in cities)
        raise InvalidLine(f"{hex} has several cities; say where the {company} stands: {choices}.", company)
    if node is None or (node not in cities and not (homed and hex == printed_home(g, company).hex)):
        raise InvalidLine(
            f"There is no city for a token at {hex if node is None else f'{hex}.{node}'}.", company
        )
    return node


def _is_home_chosen_by_layer(g: Game) -> bool:
    """Whether a home with several cities stays open until a tile lies there (§19.1)."""
    rounds = g.title.questions[OperatingRound]
    return isinstance(rounds, OperatingRoundRules) and rounds.home_chooser == "layer"


def _check_cities(g: Game, said: Setup) -> None:
    for hex, tokens in g.state.tokens.items():
        last = max((c for _, c in tokens), key=lambda c: said.line_numbers.get(c, 0))
        face = face_at(g.components, g.state.tiles, hex)
        for node, company in tokens:
            if node == UNDECIDED_CITY:
                continue
            homed = g.company_definition(company).home is not None
            if homed and not face.node_exits[node] and hex != printed_home(g, company).hex:
                raise InvalidLine(
                    f"No track leads to the city in {hex}, so no token can have come there.", company
                )
            beside = sum(there == hex for there in g.state.destination_tokens.values())
            free = free_slots(g, hex, node) + (0 if g.extra_slots else beside)
            if g.state.destination_tokens.get(company) == hex or not accepts_tokens(g, face.nodes[node]):
                continue
            if free < 0:
                raise InvalidLine(f"{hex} has no space for so many tokens.", last)
            if free < reserved_slots(g, hex, node):
                raise InvalidLine(f"The space in {hex} is kept for the home of another company.", last)


def _set_cash(g: Game, said: Setup, unnamed: dict[str, int]) -> None:
    """Cash, of the `unnamed` what is said there; the bank has what is left of the title's money."""
    whole = sum(g.state.cash.values())
    cash = unnamed | said.cash
    for who, amount in cash.items():
        if who == BANK:
            continue
        if amount < 0:
            raise InvalidLine(f"{g.state.name(who)} cannot have ${amount}.", who)
        if amount and who in g.state.companies and not g.company(who).floated:
            raise InvalidLine(f"The {who} has not floated, so it has no money.", who)
    out = sum(amount for who, amount in cash.items() if who != BANK)
    cash[BANK] = said.cash.get(BANK, whole - out)
    if g.components.bank is None:
        g.state.cash = cash
        return
    if cash[BANK] < 0 and said.rounds_left is None:
        about = BANK if BANK in said.cash else next(reversed(said.cash))
        raise InvalidLine(f"The bank would have ${cash[BANK]}; there are ${whole} in all.", about)
    if cash[BANK] + out > whole:
        raise InvalidLine(f"${cash[BANK] + out} are out; there are ${whole} in all.", BANK)
    g.state.cash = cash


def _finishes_set(g: Game) -> bool:
    """Whether a broken bank lets the set of operating rounds be finished."""
    rounds = g.title.questions[OperatingRound]
    return not isinstance(rounds, OperatingRoundRules) or rounds.finish_set


def _sale_stage(g: Game, company: str) -> str:
    """The stage of a merger round in which that company is sold."""
    if in_zone(g, company, MarketZone.LIQUIDATION):
        return "liquidate"
    return "acquire" if in_zone(g, company, MarketZone.ACQUISITION) else "offer"


def _set_merger_round(g: Game, kind: str, company: str, number: int) -> None:
    """A merger round at that company's turn to grow, or at its own sale; those behind it are to come."""
    order = g.operating_order()
    if company not in order:
        raise InvalidLine(f"The {company} is not in play.", "round")
    gray = tuple(c for c in order if in_zone(g, c, MarketZone.ACQUISITION))
    red = tuple(c for c in order if in_zone(g, c, MarketZone.LIQUIDATION))
    rounds = g.title.questions[MergerRound]
    one_pass = isinstance(rounds, MergerRoundRules) and rounds.one_pass
    stage = "convert" if kind == "merger" else "sales" if one_pass else _sale_stage(g, company)
    line = order if kind == "merger" else order[::-1]
    of = g.phase.operating_rounds
    left = tuple(line[line.index(company) :])
    g.state.stack = [MergerRound(1, number, of, stage, left, gray, red, initial_order=tuple(order))]


def _set_round(g: Game, said: Setup) -> None:
    """The frame of the round, and whose deal it is."""
    g.state.mine_hexes, g.state.bridge_hexes = said.mines, said.bridges
    if g.components.loans is not None:
        g.state.interest_per_loan = interest_rate(g) if said.interest is None else said.interest
    g.state.bank_broken = said.rounds_left is not None
    g.state.priority = said.priority or said.stock_turn or g.state.seats[0]
    rounds = g.phase.operating_rounds
    whole = _finishes_set(g)
    if said.merger_turn:
        _set_merger_round(g, *said.merger_turn)
        return
    if said.operating_turn is None:
        last = rounds if whole else 1
        if said.rounds_left not in (None, last):
            raise InvalidLine(f"After a stock round in phase {g.state.phase} come {last} rounds.", "left")
        g.state.stack = [StockRound(LATER_ROUND, said.stock_turn or g.state.priority)]
        return
    if said.rounds_left and not whole:
        raise InvalidLine("Once the bank is broken the game ends with the round.", "left")
    company, number = said.operating_turn
    if not g.company(company).floated:
        raise InvalidLine(f"The {company} has not floated, so it does not operate.", "round")
    of = rounds if said.rounds_left is None or not whole else number + said.rounds_left
    if not 1 <= number <= of:
        raise InvalidLine(f"In phase {g.state.phase} there are {rounds} operating rounds in a set.", "round")
    order = [c for c in g.operating_order() if g.company(c).floated]
    waiting = tuple(order[order.index(company) :])
    g.state.stack = [OperatingRound(LATER_ROUND - 1, number, of, waiting)]
