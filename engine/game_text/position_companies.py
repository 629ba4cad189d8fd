"""Set-up lines of companies: shares, prices, sizes, presidents."""

from __future__ import annotations

from engine.core.state import CLOSED, IPO, POOL, TREASURY, is_seat
from engine.core.words import join_words
from engine.finance.ownership import president_share_percent
from engine.game import Game
from engine.game_text.setup import Setup
from engine.game_text.word_reader import InvalidLineError


def set_shares(g: Game, setup: Setup, company: str) -> None:
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
    co.awaits_capital = company in setup.awaiting
    if company in setup.not_operated and not co.floated:
        raise InvalidLineError(
            f"The {company} has not floated: {co.shares[IPO]} % are unsold.", company, "new"
        )


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
            names = join_words([g.state.name(s) for s in largest])
            raise InvalidLineError(
                f"{names} hold equally many shares of the {company}; name its president.", company
            )
        return largest[0]
    if named not in largest:
        raise InvalidLineError(
            f"{g.state.name(named)} cannot be president of the {company}: "
            f"{g.state.name(largest[0])} holds {most} %, {g.state.name(named)} {shares.get(named, 0)} %.",
            company,
            "president",
        )
    return named
