"""Events that have a sentence of their own, whatever happens beside them; owners and payments in words."""

from __future__ import annotations

from engine.core.components import CityTokenAbility, train_label
from engine.core.events import (
    AbilityUsed,
    AnyEvent,
    BankBroken,
    BidMade,
    CapitalAwaited,
    CashMoved,
    CityTokenPlaced,
    CityTokenRemoved,
    CompanyClosed,
    CompanyFloated,
    ConnectionRunPostponed,
    ConnectionRunStarted,
    CoveredShortsChanged,
    CoveredShortsClosed,
    CrisisStartSeatChanged,
    DestinationTokenKept,
    DestinationTokenPlaced,
    DividendDeclared,
    EndTriggered,
    FramePopped,
    InterestSet,
    MineOrBridgeBuilt,
    OfferEnded,
    OfferMade,
    OperatingTurnStarted,
    ParSet,
    Passed,
    PhaseStarted,
    PlayerRenamed,
    PresidentNamed,
    PriceMoved,
    PriceProtected,
    PriorityMoved,
    QuestionAsked,
    RoundStarted,
    SharesReissued,
    StandingProtectionChanged,
    TokenMoved,
    TrainsRan,
    TrainsRusted,
    TrainsWithdrawn,
    UnpaidInterestChanged,
    UnplacedTokensChanged,
)
from engine.core.reasons import CashReason
from engine.core.state import BANK, IPO, POOL, OperatingRound
from engine.finance.offers import offer_label
from engine.game import Game
from engine.language.event_groups import hex_label
from engine.rounds.sequence import OperatingRoundRules

OWNER_LABELS = {IPO: "the initial offering", POOL: "the pool", BANK: "the bank"}

_PURPOSES = {
    CashReason.CAPITAL: "capital",
    CashReason.COMPANY: "the {}",
    CashReason.FORFEIT: "the train of a closed company",
    CashReason.LOAN: "a loan",
    CashReason.LOAN_REPAYMENT: "a loan repaid",
    CashReason.LOAN_SHORTFALL: "loans of the {}",
    CashReason.PRESIDENT_CASH: "what its president had",
    CashReason.PRESIDENT_CERTIFICATE: "the president's certificate of the {}",
    CashReason.PRIVATE: "the {}",
    CashReason.SHARES: "shares of the {}",
    CashReason.SHARE_SETTLEMENT: "shares of the {}",
    CashReason.SHORT_SALE: "a share of the {} sold short",
    CashReason.SHORT_SETTLEMENT: "shares of the {} sold short",
    CashReason.TERRAIN: "the terrain of {}",
    CashReason.TOKEN: "a token",
    CashReason.TOKENS: "station tokens",
    CashReason.TRACK: "track on {}",
    CashReason.TRAIN_CONTRIBUTION: "a forced purchase",
    CashReason.TREASURY_SHARES: "its treasury shares",
}
"""What a payment was for, as the object of `pays $100 for`; `{}` is the subject of the event."""


def owner_label(g: Game, owner: str, of: str | None = None) -> str:
    """An owner in words; the treasury, where a company owns shares `of` itself."""
    if owner == of:
        return "its treasury"
    if owner in g.state.companies:
        return f"the {owner}"
    return OWNER_LABELS.get(owner) or g.state.name(owner)


def payment_sentence(g: Game, paid: CashMoved) -> str:
    """A payment whose purpose no event has shown."""
    source, target = owner_label(g, paid.source), owner_label(g, paid.target)
    dollars = f"${paid.amount:,}"
    match paid.reason:
        case CashReason.BANKRUPTCY if paid.source == BANK:
            return f"{target} cannot pay {dollars} more"
        case CashReason.BANKRUPTCY:
            return f"{source} loses {dollars} by bankruptcy"
        case CashReason.SET_ASIDE:
            return f"{dollars} of {source} is set aside for its loans"
        case CashReason.COMPANY_CASH:
            return f"{target} receives the {dollars} of {source}"
        case CashReason.CLOSING | CashReason.REMAINDER:
            return f"the {dollars} of {source} goes to the bank"
        case CashReason.TRAIN:
            purpose = train_label(paid.subject)
        case CashReason.INTEREST:
            purpose = f"interest of the {paid.subject}" if paid.subject else "interest"
        case reason:
            purpose = _PURPOSES.get(reason, reason).format(paid.subject)
    if paid.source == BANK:
        return f"{target} receives {dollars} ({purpose})"
    return f"{source} pays {dollars} for {purpose}"


SILENT_EVENTS = frozenset[type[AnyEvent]](
    {
        AbilityUsed,
        CoveredShortsChanged,
        CoveredShortsClosed,
        CrisisStartSeatChanged,
        FramePopped,
        OperatingTurnStarted,
        QuestionAsked,
        StandingProtectionChanged,
        UnpaidInterestChanged,
        UnplacedTokensChanged,
    }
)
"""Events that no sentence mentions."""

FLUSHING_EVENTS = frozenset[type[AnyEvent]](
    {
        BankBroken,
        BidMade,
        CityTokenPlaced,
        CityTokenRemoved,
        CompanyClosed,
        CompanyFloated,
        ConnectionRunPostponed,
        ConnectionRunStarted,
        DestinationTokenKept,
        DestinationTokenPlaced,
        DividendDeclared,
        OfferEnded,
        OfferMade,
        ParSet,
        Passed,
        PhaseStarted,
        PriceMoved,
        PriceProtected,
        PriorityMoved,
        RoundStarted,
        SharesReissued,
        TrainsRan,
    }
)
"""Events before which whatever was held back is said: it does not belong to them."""


def event_sentence(g: Game, event: AnyEvent) -> str | None:
    """The sentence of an event that has one of its own."""

    def label(owner: str) -> str:
        return owner_label(g, owner)

    match event:
        case BankBroken():
            return f"the bank is broken: the game ends with {_last_rounds(g)}"
        case BidMade(seat, item, amount):
            return f"{label(seat)} bids ${amount:,} for the {item}"
        case ParSet(company, par):
            return f"the {company} starts at ${par:,}"
        case SharesReissued(company, par):
            return f"the {company} reissues its shares at ${par:,}"
        case PriceProtected(seat, company):
            return f"{label(seat)} protects the price of the {company}"
        case CompanyClosed(company):
            return f"the {company} is closed for good"
        case PresidentNamed(company, seat):
            return f"{label(seat)} is president of the {company}"
        case CompanyFloated(company):
            return f"the {company} floats"
        case CapitalAwaited(company, awaited=True):
            return f"the {company} receives its capital when the next operating round begins"
        case TokenMoved(company, hex, node):
            return f"the token of the {company} is now in city {node} of {hex_label(g, hex)}"
        case ConnectionRunStarted(company):
            return f"the {company} has reached its destination and makes its connection run"
        case ConnectionRunPostponed(company, resumed):
            return f"the {company} {'asks for' if resumed else 'postpones'} its connection run"
        case DestinationTokenPlaced(company, hex):
            return f"the {company} places its destination token in {hex_label(g, hex)}"
        case DestinationTokenKept(company):
            return f"the {company} has one more token, for ${g.components.kept_token_cost:,}"
        case CityTokenPlaced(private, token):
            kind = _token_word(g, private)
            if kind == "port":
                kind = "open port" if token.is_open else "closed port"
            return f"the {token.company} places its {kind} token in {hex_label(g, token.hex)}"
        case CityTokenRemoved(private):
            return f"the {_token_word(g, private)} token of the {private} leaves the map"
        case MineOrBridgeBuilt(company, _, hex, kind):
            what = "a coal mine" if kind == "mine" else "a bridge"
            return f"the {company} has {what} in {hex_label(g, hex)}"
        case TrainsRan(company, routes, revenue):
            ran = ", ".join(f"{train_label(train)} on {route}" for train, route in routes)
            return f"the {company} runs for ${revenue:,}: {ran}"
        case TrainsRusted(train):
            return f"all {train}-trains rust"
        case TrainsWithdrawn(train):
            return f"the bank sells no more {train}-trains"
        case PhaseStarted(phase):
            return f"phase {phase} begins"
        case InterestSet(dollars):
            return f"interest is ${dollars:,} a loan in this round"
        case EndTriggered():
            return "the end of the game is near: after one more stock round comes the last set of rounds"
        case PriorityMoved(seat):
            return f"{label(seat)} has the priority deal"
        case OfferMade(offer):
            deal = offer_label(g, offer)
            return f"{label(offer.proposer)} makes {label(offer.recipient)} an offer: {deal}"
        case OfferEnded(_, outcome) if outcome != "lapsed":
            return f"the offer is {outcome}"
        case PlayerRenamed(_, name):
            return f"{name} takes over a seat"
        case RoundStarted(name):
            return _round_begins(name)
    return None


def _token_word(g: Game, private: str) -> str:
    """What the token of a private is called: `port`, `cattle`."""
    ability = g.private_definition(private).ability
    assert isinstance(ability, CityTokenAbility)
    return ability.token


def _last_rounds(g: Game) -> str:
    rounds = g.title.questions[OperatingRound]
    whole = not isinstance(rounds, OperatingRoundRules) or rounds.finish_set
    return "this set of operating rounds" if whole else "this operating round"


ORDINALS = ("", "first", "second", "third", "fourth", "fifth")


def _round_begins(name: str) -> str:
    """`operating round 4.2 begins, the last of 2`; where there is only one, its number is enough."""
    number, _, total = name.partition(" of ")
    if not total or total == "1":
        return f"{number} begins"
    place = "last" if number.endswith(f".{total}") else ORDINALS[int(number.rpartition(".")[2])]
    return f"{number} begins, the {place} of {total}"
