"""Heuristics of the random player: rough, and cheap to compute.

With weights alone, companies hoard money and lay track to nowhere, and games end long before the last train.
So the choice depends a little on the position: a company saves for a train and pays dividends once it has
enough, a president fills their company, track goes to where the revenue is. Nothing is excluded, only made
rare.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from engine import (
    Game,
    OperatingTurn,
    Option,
    State,
    copy_state,
    game_of,
    stop_revenue,
)
from engine.core.actions import (
    BuyShares,
    FloatCompany,
    LayTile,
    Par,
    TakeLoans,
    TakeLoansForCompany,
)
from engine.core.state import StockTurn, Waterfall
from engine.operating.track import lay_tile
from engine.operating.trains import cheapest_train_price

KindFactors = Mapping[str, float]
"""By kind of decision, the factor for its weight; 1 for kinds that are not named."""

NEUTRAL: KindFactors = {}
WAIT_FOR_PRICE_CUT: KindFactors = {"pass in the opening": 7}
"""For a player in an opening in which others pass: the price may fall, or privates pay income."""
FLOAT_OWN_COMPANY: KindFactors = {"buy from the initial offering": 5, "done in the stock round": 0.4}
"""For a president whose company has not floated."""
START_COMPANY: KindFactors = {"par": 5, "done in the stock round": 0.5}
"""For a player who can float a company of their own."""
SAVE_FOR_TRAIN: KindFactors = {"withhold": 3, "pay": 0.25, "pay half": 0.5}
"""For a company that lacks a train and the money for it."""
PAY_DIVIDEND: KindFactors = {"withhold": 0.3, "pay": 3, "pay half": 2}
"""For a company that has enough trains, or the money for another."""
AVOID_DEBT: KindFactors = {
    "buy a train": 0.2,
    "buy a train of an own company": 0.2,
    "ask another president for a train": 0.3,
}
"""For a company with a train that needs its money for interest."""

SAMPLE_SIZE = 5
"""Options of a kind that are drawn; the best of them is taken."""
NEARBY_STOP_VALUE = 4
"""Dollars for a stop that the next tile may reach. A stop that is reached counts twice that, and its
revenue."""


def kind_factors(state: State, kinds: Mapping[str, Sequence[Option]]) -> KindFactors:
    """The factors for a player who has these options, by kind."""
    g, top = game_of(state), state.top
    match top:
        case Waterfall(_, passes):
            return WAIT_FOR_PRICE_CUT if passes else NEUTRAL
        case StockTurn(seat):
            shares = kinds.get("buy from the initial offering", ())
            if any(_fills_own_company(g, seat, o) for o in shares):
                return FLOAT_OWN_COMPANY
            return START_COMPANY if any(_can_float(g, seat, o) for o in kinds.get("par", ())) else NEUTRAL
        case OperatingTurn(company, "dividend"):
            room = len(g.company(company).trains) < g.phase.train_limit
            return SAVE_FOR_TRAIN if room and _is_poor(g, company) else PAY_DIVIDEND
        case OperatingTurn(company, "trains") if g.company(company).trains:
            return AVOID_DEBT if _is_poor(g, company) else NEUTRAL
    return NEUTRAL


def pick_option(state: State, options: Sequence[Option], rng: Random) -> Option:
    """One of several options of a kind: the best of a random sample."""
    g, top = game_of(state), state.top

    def rating(option: Option) -> int:
        match option.action, top:
            case LayTile() as lay, OperatingTurn(company):
                return _lay_value(state, company, lay)
            case Par(_, price), StockTurn(seat):
                return price * _can_float(g, seat, option)
            case BuyShares(), StockTurn(seat):
                return _fills_own_company(g, seat, option)
            case TakeLoans(count) | TakeLoansForCompany(_, count), _:
                return -count
            case FloatCompany(_, privates), _:
                return -len(privates)
        return 0

    candidates = _one_lay_per_hex(options, rng) if isinstance(options[0].action, LayTile) else options
    return max(dict.fromkeys(rng.choices(candidates, k=SAMPLE_SIZE)), key=rating)


def _is_poor(g: Game, company: str) -> bool:
    """Whether the company cannot pay for the cheapest train and its interest."""
    owed = g.company(company).loans * g.state.interest_per_loan
    price = cheapest_train_price(g)
    return price is not None and g.cash(company) < price + owed


def _can_float(g: Game, seat: str, par: Option) -> bool:
    """Whether the player can pay for enough shares to float the company."""
    assert isinstance(par.action, Par)
    return par.action.price * g.company_definition(par.action.company).float_percent <= 10 * g.cash(seat)


def _fills_own_company(g: Game, seat: str, buy: Option) -> bool:
    """Whether it is a share of a company of the player that has not floated."""
    assert isinstance(buy.action, BuyShares)
    co = g.company(buy.action.company)
    return co.president == seat and not co.floated


def _one_lay_per_hex(lays: Sequence[Option], rng: Random) -> list[Option]:
    """A random lay in each hex."""
    by_hex: dict[str, list[Option]] = {}
    for lay in lays:
        assert isinstance(lay.action, LayTile)
        by_hex.setdefault(lay.action.hex, []).append(lay)
    return [rng.choice(options) for options in by_hex.values()]


def _lay_value(state: State, company: str, lay: LayTile) -> int:
    """Dollars of the stops that the company reaches with a lay, and of the stops nearby."""
    g = game_of(copy_state(state))
    g.network.reachable(company)  # later searches start from this one, not from that of another trial
    lay_tile(g, company, lay)
    network, reach = g.network, g.network.reachable(company)
    there = {hex for hex, _ in reach.stops}
    near = sum(hex not in there and bool(network.faces[hex].nodes) for hex in reach.edges)
    values = (stop_revenue(g.components, g.state.phase, network.node(stop)) for stop in reach.stops)
    return sum(2 * NEARBY_STOP_VALUE + value for value in values) + NEARBY_STOP_VALUE * near
