"""What has happened, told in sentences that a player would say."""

from __future__ import annotations

from collections.abc import Iterable

from engine.events import (
    AnyEvent,
    Asked,
    BankBroke,
    BidMade,
    CashMoved,
    Changed,
    Closed,
    Declared,
    Floated,
    OfferEnded,
    OfferMade,
    Opened,
    ParSet,
    Passed,
    PhaseStarted,
    PlayerRenamed,
    PowerSpent,
    PresidentNamed,
    PriceMoved,
    PriorityMoved,
    PrivateMoved,
    Ran,
    SharesMoved,
    TileLaid,
    TokenPlaced,
    TokenShifted,
    TrainMoved,
    TrainsGone,
    TurnBegan,
)
from engine.game import Game
from engine.offers import offer_words
from engine.state import BANK, CLOSED, IPO, POOL, GameOver, OperatingRound, StockRound

PLACES = {IPO: "the initial offering", POOL: "the pool", BANK: "the bank"}
SILENT_CASH = (
    "income",
    "dividend",
    "capital",
    "revenue",
    "terrain",
    "a token",
    "a forced purchase",
    "bankruptcy",
)


def narrate(g: Game, events: Iterable[AnyEvent]) -> list[str]:
    """The events as sentences; `g` is the game after them. What follows by itself is left out."""
    told: list[str] = []
    income: dict[str, int] = {}
    for event in events:
        if isinstance(event, CashMoved) and event.why.startswith("income"):
            income[event.target] = income.get(event.target, 0) + event.amount
            continue
        if income:
            told.append(_income(g, income))
            income = {}
        if sentence := tell(g, event):
            told.append(sentence)
    if income:
        told.append(_income(g, income))
    return told


def _income(g: Game, income: dict[str, int]) -> str:
    return "Privates pay " + ", ".join(f"{_who(g, o)} ${d}" for o, d in income.items()) + "."


def _who(g: Game, owner: str) -> str:
    if owner in g.state.companies:
        return f"the {owner}"
    return PLACES.get(owner) or g.state.name(owner)


def _cap(text: str) -> str:
    return text[:1].upper() + text[1:]


def tell(g: Game, event: AnyEvent) -> str | None:
    """One event as a sentence, or None for what a player need not be told."""
    match event:
        case CashMoved():
            return _tell_cash(g, event)
        case SharesMoved(company, source, target, percent):
            return f"{percent} % of the {company} go from {_who(g, source)} to {_who(g, target)}."
        case PrivateMoved(private, owner):
            return (
                f"The {private} is closed."
                if owner == CLOSED
                else f"{_cap(_who(g, owner))} owns the {private}."
            )
        case BidMade(seat, private, amount):
            return f"{g.state.name(seat)} bids ${amount} for the {private}."
        case ParSet(company, par):
            return f"The {company} starts at ${par}."
        case PriceMoved(company, cell, why):
            return f"The {company} is at ${g.title.cell(cell).price} ({why})."
        case PresidentNamed(company, seat):
            return f"{g.state.name(seat)} is president of the {company}."
        case Floated(company):
            return f"The {company} floats."
        case TileLaid(company, hex, tile, turn):
            name = g.facts.map.hexes[hex].name
            return f"The {company} lays #{tile} on {hex}{f' {name}' if name else ''}, rotation {turn}."
        case TokenPlaced(company, hex):
            name = g.facts.map.hexes[hex].name
            return f"The {company} has a token in {name or hex} ({hex})."
        case TokenShifted(company, hex, node):
            return f"The token of the {company} in {hex} stands in its city {node}."
        case TrainMoved(train, source, target, why):
            return _tell_train(g, train, source, target, why)
        case TrainsGone(train):
            return f"All {train}-trains are out of play."
        case PhaseStarted(phase):
            return f"Phase {phase} begins."
        case Ran(company, routes, revenue):
            ran = ", ".join(f"{train} on {route}" for train, route in routes)
            return f"The {company} runs {ran}: ${revenue}."
        case Declared(company, kind, revenue):
            return {
                "pay": f"The {company} pays ${revenue}.",
                "withhold": f"The {company} withholds ${revenue}.",
            }.get(kind, f"The {company} earns nothing.")
        case Passed(who, what):
            return (
                f"{_cap(_who(g, who))} declines: {what}."
                if who in g.state.companies
                else f"{_who(g, who)} passes."
            )
        case PriorityMoved(seat):
            return f"{g.state.name(seat)} has the priority deal."
        case OfferMade(offer):
            return f"{g.state.name(offer.asker)} offers {g.state.name(offer.asked)}: {offer_words(g, offer)}."
        case OfferEnded(_, outcome):
            return f"The offer is {outcome}." if outcome != "lapsed" else "The offer ends with the turn."
        case PlayerRenamed(seat, name):
            return f"{name} plays on in seat {int(seat[1:]) + 1}."
        case BankBroke():
            return "The bank is broken: the game ends with this set of operating rounds, or with the next."
        case Opened(frame) | Changed(frame):
            return _tell_frame(frame)
        case PowerSpent() | TurnBegan() | Closed() | Asked():
            return None


def _tell_cash(g: Game, event: CashMoved) -> str | None:
    why, amount = event.why, event.amount
    if why.startswith(("revenue", "capital", "dividend")):
        return f"{_cap(_who(g, event.target))} receives ${amount} ({why})."
    if event.source == BANK:
        return f"{_cap(_who(g, event.target))} receives ${amount} for {why}."
    verb = "adds" if why == "a forced purchase" else "pays"
    return f"{_cap(_who(g, event.source))} {verb} ${amount} for {why}."


def _tell_train(g: Game, train: str, source: str, target: str, why: str) -> str:
    if target == POOL:
        return f"{_cap(_who(g, source))} gives up a {train}-train ({why})."
    return f"{_cap(_who(g, target))} has a {train}-train from {_who(g, source)}."


def _tell_frame(frame: object) -> str | None:
    match frame:
        case StockRound(number, passes=0, last=None):
            return f"Stock round {number} begins."
        case OperatingRound(after, number, of, waiting=()):
            return f"Operating round {after}.{number} of {of} begins."
        case GameOver(reason):
            return f"The game is over. {reason}"
    return None
