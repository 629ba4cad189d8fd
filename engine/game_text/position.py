"""Positions from set-up lines.

All lines are read into a `Setup` first, whatever their order. The position is then built part by part,
each part after those it depends on: phase, shares, trains, privates, tiles, tokens, money, round. Each
part fills in what the lines leave out and refuses what no game can lead to. Finally the frame of the
round is pushed on the stack and the game advances as usual.
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
    MergerStage,
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
from engine.game_text.word_reader import InvalidLineError, WordReader
from engine.kernel import advance, game_of
from engine.mergers.merger_rounds import GameLength, MergerRoundRules
from engine.operating.connection_runs import destination_tokens_add_slots, is_in_city
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
"""The number of the stock round: not the first, in which no shares may be sold."""


def set_up_position(start: State, lines: Sequence[SetupLine]) -> State:
    """The position that the set-up lines describe, in the game that begins with `start`.

    Lines about money alone leave the game in its opening, as do lines about the deal of privates in a
    title that has one. Raises ScriptError for a line that cannot be read or describes the impossible.
    """
    if not lines:
        return start
    setup, g = Setup(), game_of(copy_state(start))
    seen: dict[tuple[str, ...], int] = {}
    for number, text in lines:
        try:
            key = read_setup_line(setup, WordReader(g, text))
            if key in seen:
                raise InvalidLineError(f"This repeats line {seen[key]}.")
        except InvalidLineError as error:
            raise ScriptError(number, str(error)) from None
        seen[key] = number
        setup.line_numbers |= dict.fromkeys(key[1:], number)
    try:
        keywords = {key[0] for key in seen}
        has_deal = isinstance(start.stack[0], PrivateAllotment)
        if keywords <= ({"cash", "private"} if has_deal else {"cash"}):
            g = game_of(start_with_deal(start, setup.privates)) if setup.privates else g
            _set_cash(g, setup, g.state.cash)
        else:
            _build(g, setup)
    except InvalidLineError as error:
        raise ScriptError(setup.line_numbers.get(error.subject, lines[-1].line), str(error)) from None
    return g.state


def _build(g: Game, setup: Setup) -> None:
    """Turn the game at its first question into the position that the lines describe."""
    _set_phase(g, setup)
    for company in g.state.companies:
        _set_shares(g, setup, company)
    g.state.market_order = [c for c in setup.market_order if g.company(c).cell]
    _set_trains(g, setup)
    _set_depot(g, setup)
    _set_privates(g, setup)
    for hex in setup.tiles:
        _set_tile(g, setup, hex)
    _check_tile_supply(g)
    for company in g.state.companies:
        _set_tokens(g, setup, company)
        _set_destination(g, setup, company)
    _set_city_tokens(g, setup)
    _add_slots(g)
    _check_cities(g, setup)
    _set_cash(g, setup, dict.fromkeys(g.state.cash, 0))
    _set_round(g, setup)
    try:
        advance(g)
    except RuntimeError:
        raise InvalidLineError("Nobody has anything to do in this position, now or later.", "round") from None


def _set_city_tokens(g: Game, setup: Setup) -> None:
    """Place the tokens of privates in cities."""
    for private, token in setup.city_tokens.items():
        ability = g.private_definition(private).ability
        assert isinstance(ability, CityTokenAbility)
        if token.hex not in ability.hexes:
            raise InvalidLineError(f"The token of the {private} goes to {', '.join(ability.hexes)}.", private)
        if _is_train_bought(g, ability.removed_on):
            raise InvalidLineError(
                f"In phase {g.state.phase} the token of the {private} is off the map.", private
            )
        g.state.city_tokens[private] = token


def _set_destination(g: Game, setup: Setup, company: str) -> None:
    """Set whether the company has connected, and place its destination token."""
    co = g.company(company)
    if company in (*setup.connected, *setup.destinations) and not co.has_operated:
        raise InvalidLineError(f"The {company} has not operated yet, so it has not connected.", company)
    co.connected = company in setup.connected or company in setup.destinations
    hex = setup.destinations.get(company)
    if hex is None:
        return
    if hex != g.company_definition(company).destination:
        raise InvalidLineError(
            f"The destination of the {company} is {g.company_definition(company).destination}.", company
        )
    g.state.destination_tokens[company] = hex
    tokens = g.state.tokens.setdefault(hex, [])
    if all(owner != company for _, owner in tokens):
        tokens.append((0, company))


def _set_phase(g: Game, setup: Setup) -> None:
    """Set the phase: the one that is named, or else the latest whose train is named."""
    phases, depot = g.components.phases, _train_counts(g)
    bought = {train for trains in setup.trains.values() for train in trains}
    if setup.depot and (train := setup.depot[0]):
        types = [t.name for t in g.components.trains]
        bought |= set(types[: types.index(train)])
        count, left = depot[train], setup.depot[1]
        if count is not None and left is not None and left < count:
            bought.add(train)
    earliest = max((i for i, p in enumerate(phases) if p.on in bought), default=0)
    if setup.phase is None:
        g.state.phase = phases[earliest].name
        return
    if [p.name for p in phases].index(setup.phase) < earliest:
        raise InvalidLineError(
            f"A {phases[earliest].on}-train was bought, so it is phase {phases[earliest].name}.", "phase"
        )
    g.state.phase = setup.phase


def _is_train_bought(g: Game, train: str | None) -> bool:
    """Whether the first train of that type has been bought."""
    count = g.components.phases.index(g.phase) + 1
    return train is not None and any(p.on == train for p in g.components.phases[:count])


def _train_counts(g: Game) -> dict[str, int | None]:
    return {t.name: t.count for t in g.components.trains} | dict(g.title.train_counts)


def _set_shares(g: Game, setup: Setup, company: str) -> None:
    """Set shares, par, price and president, and whether the company has floated and operated."""
    if g.components.company_sizes:
        _set_sized_company(g, setup, company)
        return
    co, definition = g.company(company), g.company_definition(company)
    if company in setup.closed:
        _set_closed_company(g, setup, company)
        return
    held = {h: percent for h, percent in setup.shares.get(company, {}).items() if percent}
    _check_shares(g, company, held, IPO in setup.shares.get(company, {}))
    rest = sum(definition.shares) - sum(held.values())
    in_treasury = _check_treasury(g, company, held)
    co.shares = held | (
        {company if in_treasury else IPO: rest + held.get(company, 0) * in_treasury} if rest else {}
    )
    cell, par = setup.cells.get(company), setup.pars.get(company)
    if cell is None and par is None:
        _check_unstarted(g, setup, company)
        return
    co.par = par or _likely_par(g, cell)
    co.cell = cell or g.title.par_cell(co.par)
    co.president = _president(g, setup, company)
    co.floated = sum(definition.shares) - co.shares.get(IPO, 0) >= definition.float_percent
    co.has_operated = co.floated and company not in setup.not_operated
    if company in setup.not_operated and not co.floated:
        raise InvalidLineError(f"The {company} has not floated: {co.shares[IPO]} % are unsold.", company)


def _set_sized_company(g: Game, setup: Setup, company: str) -> None:
    """The same for a company that chooses its number of shares: those nobody holds are in its treasury."""
    co, cell = g.company(company), setup.cells.get(company)
    if company not in setup.sizes or cell is None:
        contents = (
            setup.sizes,
            setup.cells,
            setup.shares,
            setup.presidents,
            setup.trains,
            setup.tokens,
            setup.loans,
        )
        if any(company in content for content in contents):
            raise InvalidLineError(f"The {company} needs a size and a price.", company)
        return
    held = {h: percent for h, percent in setup.shares.get(company, {}).items() if percent}
    rest = 100 - sum(held.values())
    if rest < 0:
        raise InvalidLineError(f"{sum(held.values())} % of the {company} are held; there are 100 %.", company)
    co.shares = {h: p for h, p in (held | {company: held.get(company, 0) + rest}).items() if p}
    co.cell, co.par = cell, _likely_par(g, cell)
    co.president = _president(g, setup, company)
    co.floated = co.has_operated = True
    co.loans = setup.loans.get(company, 0)


def _set_closed_company(g: Game, setup: Setup, company: str) -> None:
    """Take a company out of play."""
    for content in (
        setup.shares,
        setup.cells,
        setup.pars,
        setup.trains,
        setup.tokens,
        setup.tokens_left,
        setup.cash,
    ):
        if company in content:
            raise InvalidLineError(f"The {company} is closed, so it has nothing.", company)
    co = g.company(company)
    co.closed, co.unplaced_tokens, co.shares = True, 0, {CLOSED: sum(co.shares.values())}


def _check_shares(g: Game, company: str, held: dict[str, int], closed: bool) -> None:
    total, whole = sum(held.values()), sum(g.company_definition(company).shares)
    if total > whole:
        raise InvalidLineError(f"{total} % of the {company} are held; there are {whole} %.", company)
    if closed and total < whole:
        raise InvalidLineError(f"Only {total} % of the {company} are accounted for.", company)
    limit = g.components.limits.pool_percent
    if held.get(POOL, 0) > limit:
        raise InvalidLineError(f"The pool never holds more than {limit} % of a company.", company)


def _check_treasury(g: Game, company: str, held: dict[str, int]) -> bool:
    """Whether unsold shares are in the company's treasury, as they are in some titles once it has floated."""
    sold = sum(percent for holder, percent in held.items() if holder not in (IPO, company))
    floated = sold >= g.company_definition(company).float_percent
    if held.get(company) and not floated:
        raise InvalidLineError(f"The {company} has not floated, so its treasury holds no shares.", company)
    in_treasury = floated and g.title.flotation.rest_to_treasury
    most = g.components.limits.treasury_percent
    if in_treasury and 100 - sold > most:
        raise InvalidLineError(f"A {TREASURY} never holds more than {most} % of a company.", company)
    if in_treasury and held.get(IPO):
        raise InvalidLineError(
            f"The {company} has floated; what was not sold lies in its {TREASURY}.", company
        )
    return in_treasury


def _check_unstarted(g: Game, setup: Setup, company: str) -> None:
    """Check a company that has not started: only shares that came with a private may be held."""
    grants = sum(
        p.grants.percent
        for p in g.components.privates
        if p.grants and p.grants.company == company and not p.grants.president
    )
    held = 100 - g.percent_held(IPO, company)
    if g.percent_held(POOL, company) or held > grants:
        raise InvalidLineError(
            f"{held} % of the {company} are held, but it has neither a par nor a price.", company
        )
    for content in (setup.presidents, setup.trains, setup.tokens, setup.tokens_left):
        if company in content:
            raise InvalidLineError(
                f"The {company} has neither a par nor a price, so it has not started.", company
            )
    if company in setup.not_operated:
        raise InvalidLineError(
            f"The {company} has neither a par nor a price, so it has not floated.", company
        )


def _likely_par(g: Game, cell: tuple[int, int] | None) -> int:
    """The par of a company for which none is named: the highest that is not above its price."""
    assert cell is not None
    pars = sorted(g.components.par_prices)
    return max((p for p in pars if p <= g.title.cell(cell).price), default=pars[0])


def _president(g: Game, setup: Setup, company: str) -> str:
    shares = g.company(company).shares
    most = max((percent for h, percent in shares.items() if is_seat(h)), default=0)
    if most < president_share_percent(g, company):
        raise InvalidLineError(f"Nobody holds the president's certificate of the {company}.", company)
    largest = [h for h, percent in shares.items() if is_seat(h) and percent == most]
    named = setup.presidents.get(company)
    if named is None:
        if len(largest) > 1:
            names = " and ".join(g.state.name(s) for s in largest)
            raise InvalidLineError(
                f"{names} hold equally many shares of the {company}; name its president.", company
            )
        return largest[0]
    if named not in largest:
        raise InvalidLineError(
            f"{g.state.name(named)} cannot be president of the {company}: "
            f"{g.state.name(largest[0])} holds {most} %, {g.state.name(named)} {shares.get(named, 0)} %.",
            company,
        )
    return named


def _set_trains(g: Game, setup: Setup) -> None:
    for owner, trains in setup.trains.items():
        for train in trains:
            if _is_train_bought(g, g.train_definition(train).rusts_on):
                raise InvalidLineError(f"The {train}-trains are out of play in phase {g.state.phase}.", owner)
        if owner == POOL:
            g.state.pool_trains = trains
            continue
        if trains and not g.company(owner).has_operated:
            raise InvalidLineError(f"The {owner} has not operated yet, so it has no trains.", owner)
        if len(trains) > g.phase.train_limit:
            limit = g.phase.train_limit
            raise InvalidLineError(f"The {owner} has {len(trains)} trains; the limit is {limit}.", owner)
        g.company(owner).trains = trains


def _set_depot(g: Game, setup: Setup) -> None:
    """Set the bank's trains: earlier types are gone, later types are complete."""
    owned = Counter(train for trains in setup.trains.values() for train in trains)
    totals, types = _train_counts(g), [t.name for t in g.components.trains]
    phase_train = types.index(g.phase.on) if g.phase.on else 0
    train, left = setup.depot or (types[phase_train], None)
    on_sale = len(types) if train is None else types.index(train)
    earliest = max(i for i in range(phase_train + 1) if g.components.trains[i].available_on is None)
    if on_sale < earliest:
        raise InvalidLineError(f"In phase {g.state.phase} every {train}-train is gone.", BANK)
    for i, name in enumerate(types):
        count = totals[name]
        rest = None if count is None else count - owned[name]
        if rest is not None and rest < 0:
            raise InvalidLineError(
                f"{owned[name]} {name}-trains are owned; there are {count}.", _last_owner(setup, name)
            )
        g.state.depot[name] = 0 if i < on_sale else rest
        if i == on_sale and left is not None:
            if rest is None:
                raise InvalidLineError(
                    f"The {name}-trains are unlimited, so no number of them is left.", BANK
                )
            if left > rest:
                raise InvalidLineError(
                    f"{left} {name}-trains are left and {owned[name]} are owned; there are {count}.", BANK
                )
            g.state.depot[name] = left


def _last_owner(setup: Setup, train: str) -> str:
    return next(owner for owner in reversed(setup.trains) if train in setup.trains[owner])


def _set_privates(g: Game, setup: Setup) -> None:
    in_play = {p for p, owner in g.state.private_owners.items() if owner != CLOSED}
    g.state.private_owners = dict.fromkeys(g.state.private_owners, CLOSED) | setup.privates
    for private, owner in g.owned_privates():
        definition = g.private_definition(private)
        if private not in in_play:
            raise InvalidLineError(
                f"The {private} is not in play with {len(g.state.players)} players.", private
            )
        if any(p.closes_privates for p in _phases_so_far(g)):
            raise InvalidLineError(f"In phase {g.state.phase} every private is closed.", private)
        closing_company = definition.closes_with_first_train_of
        if closing_company and g.company(closing_company).trains:
            raise InvalidLineError(
                f"The {private} closed with the first train of the {closing_company}.", private
            )
        if is_seat(owner) or g.components.company_sizes:
            continue
        if not definition.sellable_to_company:
            raise InvalidLineError(f"The {private} may not be sold to a company.", private)
        is_early_buyer = definition.early_sale is not None and owner in definition.early_sale.buyers
        if not is_early_buyer and not any(p.companies_may_buy_privates for p in _phases_so_far(g)):
            raise InvalidLineError(f"No company has bought a private by phase {g.state.phase}.", private)
        if not g.company(owner).has_operated:
            raise InvalidLineError(f"The {owner} has not operated yet, so it owns no private.", private)


def _phases_so_far(g: Game) -> Sequence[PhaseDefinition]:
    return g.components.phases[: g.components.phases.index(g.phase) + 1]


def _set_tile(g: Game, setup: Setup, hex: str) -> None:
    tile, rotation = setup.tiles[hex]
    rotations = {t for name, t in _possible_tiles(g, hex) if name == tile}
    if not rotations:
        raise InvalidLineError(f"#{tile} can never lie on {hex}.", hex)
    if rotation is None and len(rotations) > 1:
        raise InvalidLineError(
            f"#{tile} fits on {hex} in several rotations; name one of {sorted(rotations)}.", hex
        )
    if rotation is not None and rotation not in rotations:
        raise InvalidLineError(
            f"#{tile} in rotation {rotation} does not fit on {hex}; {sorted(rotations)} do.", hex
        )
    color = tile_faces()[tile].color
    if color not in g.phase.tile_colors:
        raise InvalidLineError(f"No {color} tile lies on the map in phase {g.state.phase}.", hex)
    if private := blocking_private(g, hex):
        raise InvalidLineError(f"{hex} is closed while a player owns the {private}.", hex)
    g.state.tiles[hex] = (tile, rotations.pop() if rotation is None else rotation)


def _possible_tiles(g: Game, hex: str) -> Iterator[tuple[str, int]]:
    """Every tile and rotation that a sequence of upgrades can bring to the hex."""
    upgrades, first = (
        g.components.upgrades or {},
        g.components.preprinted_upgrades.get(g.title.preprinted_kinds[hex], ()),
    )
    possible: set[tuple[str, int]] = set()
    to_visit: list[tuple[str, int] | None] = [None]
    while to_visit:
        old = to_visit.pop()
        for tile in upgrades.get(old[0], ()) if old else first:
            if not is_tile_allowed_on(g, tile, hex):
                continue
            new = {(tile, fit.rotation) for fit in fitting_rotations(g.components, hex, old, tile)} - possible
            possible |= new
            to_visit += new
    yield from possible


def _check_tile_supply(g: Game) -> None:
    for tile, left in tile_supply(g).items():
        if left < 0:
            hex = next(h for h in reversed(g.state.tiles) if g.state.tiles[h][0] == tile)
            raise InvalidLineError(
                f"There are {g.components.tiles[tile]} of #{tile}, not {_count_on_map(g, tile)}.", hex
            )


def _count_on_map(g: Game, tile: str) -> int:
    return sum(name == tile for name, _ in g.state.tiles.values())


def _set_tokens(g: Game, setup: Setup, company: str) -> None:
    """Place the tokens that are named, and the home token of a company that has operated."""
    co, cities = g.company(company), setup.tokens.get(company, [])
    if g.company_definition(company).home is None:
        for hex, node in cities:
            g.state.tokens.setdefault(hex, []).append((_token_node(g, company, hex, node), company))
        token_count = g.components.company_sizes[co.size].stations if co.size else 0
        co.unplaced_tokens = setup.tokens_left.get(company, max(token_count - len(cities), 0))
        return
    if co.closed:
        return
    total = len(g.company_definition(company).tokens)
    home = printed_home(g, company).hex
    has_home_token = co.has_operated or (co.floated and g.title.flotation.places_home)
    if not co.has_operated and any(not has_home_token or hex != home for hex, _ in cities):
        what = "token on the map but its home's" if has_home_token else "token on the map"
        raise InvalidLineError(f"The {company} has not operated yet, so it has no {what}.", company)
    if has_home_token and home not in [hex for hex, _ in cities]:
        cities = [(home, home_node(g, company)), *cities]
    for hex, node in cities:
        tokens = g.state.tokens.setdefault(hex, [])
        if any(owner == company for _, owner in tokens):
            raise InvalidLineError(f"Two tokens of the {company} never stand in one hex ({hex}).", company)
        tokens.append((_token_node(g, company, hex, node), company))
    if len(cities) > total:
        raise InvalidLineError(f"The {company} has {total} tokens, not {len(cities)}.", company)
    co.unplaced_tokens = setup.tokens_left.get(company, total - len(cities))
    if not 0 <= co.unplaced_tokens <= total - len(cities):
        raise InvalidLineError(
            f"The {company} has {total - len(cities)} tokens on its charter at most.", company
        )


def _token_node(g: Game, company: str, hex: str, node: int | None) -> int:
    """The node of a token; of a home with several cities the first one that is free."""
    nodes = face_at(g.components, g.state.tiles, hex).nodes
    cities = [i for i, each in enumerate(nodes) if accepts_tokens(g, each)]
    has_home = g.company_definition(company).home is not None
    if has_home and node is None and hex == printed_home(g, company).hex:
        if (node := home_node(g, company)) is not None:
            return node
        if _is_home_chosen_by_layer(g) and hex not in g.state.tiles:
            return UNDECIDED_CITY
        return next((i for i in cities if free_slots(g, hex, i) > 0), cities[0])
    if node is None and len(cities) == 1:
        return cities[0]
    if node is None and cities:
        choices = " or ".join(f"{hex}.{i}" for i in cities)
        raise InvalidLineError(f"{hex} has several cities; name that of the {company}: {choices}.", company)
    if node is None or (node not in cities and not (has_home and hex == printed_home(g, company).hex)):
        raise InvalidLineError(
            f"There is no city for a token at {hex if node is None else f'{hex}.{node}'}.", company
        )
    return node


def _is_home_chosen_by_layer(g: Game) -> bool:
    """Whether the city of such a home is chosen only when a tile is laid there (1830 §19.1)."""
    rounds = g.title.questions[OperatingRound]
    return isinstance(rounds, OperatingRoundRules) and rounds.home_chooser == "layer"


def _add_slots(g: Game) -> None:
    """Add slots for destination tokens in cities, where the convention is that none has to be vacant."""
    if not destination_tokens_add_slots(g):
        return
    for hex in set(g.state.destination_tokens.values()):
        if is_in_city(g, (hex, 0)) and (missing := reserved_slots(g, hex, 0) - free_slots(g, hex, 0)) > 0:
            g.state.added_slots[hex] = missing


def _check_cities(g: Game, setup: Setup) -> None:
    for hex, tokens in g.state.tokens.items():
        last_named = max((c for _, c in tokens), key=lambda c: setup.line_numbers.get(c, 0))
        face = face_at(g.components, g.state.tiles, hex)
        for node, company in tokens:
            if node == UNDECIDED_CITY:
                continue
            has_home = g.company_definition(company).home is not None
            if has_home and not face.node_exits[node] and hex != printed_home(g, company).hex:
                raise InvalidLineError(
                    f"No track leads to the city in {hex}, so no token can be there.", company
                )
            destination_tokens = sum(there == hex for there in g.state.destination_tokens.values())
            free = free_slots(g, hex, node) + (0 if g.title.extra_slots else destination_tokens)
            if g.state.destination_tokens.get(company) == hex or not accepts_tokens(g, face.nodes[node]):
                continue
            if free < 0:
                raise InvalidLineError(f"{hex} has fewer spaces than tokens.", last_named)
            if free < reserved_slots(g, hex, node):
                raise InvalidLineError(
                    f"The space in {hex} is kept for the home of another company.", last_named
                )


def _set_cash(g: Game, setup: Setup, unnamed: dict[str, int]) -> None:
    """Set all cash. `unnamed`: dollars of those without a line. The bank has the rest."""
    total = sum(g.state.cash.values())
    cash = unnamed | setup.cash
    for who, amount in cash.items():
        if who == BANK:
            continue
        if amount < 0:
            raise InvalidLineError(f"{g.state.name(who)} cannot have ${amount}.", who)
        if amount and who in g.state.companies and not g.company(who).floated:
            raise InvalidLineError(f"The {who} has not floated, so it has no money.", who)
    outside_bank = sum(amount for who, amount in cash.items() if who != BANK)
    cash[BANK] = setup.cash.get(BANK, total - outside_bank)
    if g.components.bank is None:
        g.state.cash = cash
        return
    if cash[BANK] < 0 and setup.rounds_left is None:
        subject = BANK if BANK in setup.cash else next(reversed(setup.cash))
        raise InvalidLineError(f"The bank would have ${cash[BANK]}; there are ${total} in all.", subject)
    if cash[BANK] + outside_bank > total:
        raise InvalidLineError(f"${cash[BANK] + outside_bank} are named; there are ${total} in all.", BANK)
    g.state.cash = cash


def _finishes_set(g: Game) -> bool:
    """Whether the set of operating rounds is finished after the bank breaks."""
    rounds = g.title.questions[OperatingRound]
    return not isinstance(rounds, OperatingRoundRules) or rounds.finish_set


def _sale_stage(g: Game, company: str) -> MergerStage:
    """The stage of a merger round in which the company is sold."""
    if in_zone(g, company, MarketZone.LIQUIDATION):
        return "liquidate"
    return "acquire" if in_zone(g, company, MarketZone.ACQUISITION) else "offer"


def _set_merger_round(g: Game, kind: str, company: str, number: int, rounds_in_set: int) -> None:
    """Push a merger round at the turn of that company to convert or merge, or at its sale."""
    order = g.operating_order()
    if company not in order:
        raise InvalidLineError(f"The {company} is not in play.", "round")
    in_acquisition = tuple(c for c in order if in_zone(g, c, MarketZone.ACQUISITION))
    in_liquidation = tuple(c for c in order if in_zone(g, c, MarketZone.LIQUIDATION))
    rounds = g.title.questions[MergerRound]
    one_pass = isinstance(rounds, MergerRoundRules) and rounds.one_pass
    stage: MergerStage = "convert" if kind == "merger" else "sales" if one_pass else _sale_stage(g, company)
    sequence = order if kind == "merger" else order[::-1]
    remaining = tuple(sequence[sequence.index(company) :])
    g.state.stack = [
        MergerRound(
            LATER_ROUND - 1,
            number,
            rounds_in_set,
            stage,
            remaining,
            in_acquisition,
            in_liquidation,
            initial_order=tuple(order),
        )
    ]


def _set_round(g: Game, setup: Setup) -> None:
    """Push the frame of the round, and set the priority deal and the end of the game."""
    g.state.mine_hexes, g.state.bridge_hexes = setup.mines, setup.bridges
    if g.components.loans is not None:
        g.state.interest_per_loan = interest_rate(g) if setup.interest is None else setup.interest
    g.state.priority = setup.priority or setup.stock_turn or g.state.seats[0]
    if setup.merger_turn:
        kind, company, number = setup.merger_turn
        rounds_in_set = _set_end(g, setup, number)
        _set_merger_round(g, kind, company, number, rounds_in_set)
    elif setup.operating_turn:
        company, number = setup.operating_turn
        if not g.company(company).floated:
            raise InvalidLineError(f"The {company} has not floated, so it does not operate.", "round")
        rounds_in_set = _set_end(g, setup, number)
        order = [c for c in g.operating_order() if g.company(c).floated]
        yet_to_operate = tuple(order[order.index(company) :])
        g.state.stack = [OperatingRound(LATER_ROUND - 1, number, rounds_in_set, yet_to_operate)]
    else:
        _set_end(g, setup, 0)
        g.state.stack = [StockRound(LATER_ROUND, setup.stock_turn or g.state.priority)]


def _set_end(g: Game, setup: Setup, number: int) -> int:
    """Set whether the end of the game is triggered. Returns the number of operating rounds in this set.

    `number`: of the operating round in its set, 0 in a stock round.
    """
    rounds = g.title.questions.get(MergerRound)
    if isinstance(rounds, MergerRoundRules):
        rounds_in_set = _set_end_by_phase(g, setup, rounds.game_length, number)
    else:
        rounds_in_set = _set_end_by_bank(g, setup, number)
    if number > rounds_in_set or (number < 1 and not _is_stock_round(setup)):
        raise InvalidLineError(
            f"In phase {g.state.phase} there are {g.phase.operating_rounds} operating rounds in a set.",
            "round",
        )
    return rounds_in_set


def _is_stock_round(setup: Setup) -> bool:
    return setup.operating_turn is None and setup.merger_turn is None


def _set_end_by_phase(g: Game, setup: Setup, length: GameLength, number: int) -> int:
    """The end that a phase triggers (1817 §8). Without a line `left` it was triggered just now."""
    if not any(phase.triggers_game_end for phase in _phases_so_far(g)):
        if setup.rounds_left is not None:
            raise InvalidLineError(f"In phase {g.state.phase} the end of the game is not in sight.", "left")
        return g.phase.operating_rounds
    stock_round = LATER_ROUND - (number > 0)
    trigger = length.trigger_for(g, stock_round, number, setup.rounds_left)
    if trigger is None:
        left = "this" if setup.rounds_left is None else f"{setup.rounds_left} more"
        raise InvalidLineError(f"The game cannot end after {left} operating rounds from here.", "left")
    g.state.end_triggered_in = trigger
    return length.operating_rounds(g, stock_round)


def _set_end_by_bank(g: Game, setup: Setup, number: int) -> int:
    """The end by a broken bank (1830 §25), which a line `left` sets."""
    rounds, left = g.phase.operating_rounds, setup.rounds_left
    g.state.bank_broken = left is not None
    finishes_set = _finishes_set(g)
    if _is_stock_round(setup):
        last = rounds if finishes_set else 1
        if left not in (None, last):
            raise InvalidLineError(
                f"A stock round in phase {g.state.phase} is followed by {last} rounds.", "left"
            )
        return rounds
    if left and not finishes_set:
        raise InvalidLineError("Once the bank is broken, the game ends with this round.", "left")
    return rounds if left is None or not finishes_set else number + left
