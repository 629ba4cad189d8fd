"""What a seat may do as choices that a person narrows down step by step, for any transport."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

from engine.board.tile_geometry import face_at
from engine.core.actions import (
    Action,
    BidNothing,
    BidUpTo,
    BuyPostMergerShares,
    BuyPrivate,
    BuyPrivateFromPool,
    BuyTrain,
    CancelStandingProtection,
    ChooseHome,
    ClosePort,
    DiscardTrain,
    FloatCompany,
    KeepDestinationToken,
    LayMine,
    Pass,
    PlaceCattleToken,
    PlaceClosedPort,
    PlaceDestinationToken,
    PlaceOpenPort,
    PostponeConnectionRun,
    RedeemSharesForCompany,
    RepayLoans,
    RunTrains,
    SellPostMergerShares,
    SetStandingProtection,
    StartCompany,
    StartConnectionRun,
    TakeLoans,
    TakeLoansForCompany,
    TradePrivate,
)
from engine.core.state import OperatingTurn, is_seat
from engine.core.words import counted
from engine.finance.offers import WITHDRAW, without_open_offers
from engine.game import Game
from engine.kernel import options, refusal
from engine.language.forms import field_defaults, format_action
from engine.language.notation import distinct
from engine.mechanics import Option
from engine.operating import run as trains

MAX_OTHER_RUNS = 24


@dataclass(frozen=True, slots=True)
class Choice:
    """One thing that a player may do.

    * `line`: in notation, with the least dollars where these are open.
    * `label`: in words.
    * `path`: the labels of a menu that lead to it, the verb first.
    * `amounts`: the dollars that are possible, where there are several.
    """

    line: str
    label: str
    path: tuple[str, ...]
    amounts: range | None = None

    @property
    def limit_text(self) -> str:
        """The most dollars: `$400`, or `$400 in steps of $5`; empty where no dollars are open."""
        if self.amounts is None:
            return ""
        steps = f" in steps of ${self.amounts.step:,}" if self.amounts.step > 1 else ""
        return f"${self.amounts[-1]:,}{steps}"

    def line_for(self, amount: int) -> str:
        """The line with that many dollars at its end. Raises ValueError outside the range."""
        if self.amounts is None or amount not in self.amounts:
            raise ValueError(f"${amount:,} is not possible here.")
        return f"{self.line.rpartition(' ')[0]} {amount}"


VERBS: dict[type[Action], str] = {
    Pass: "done",
    BuyPrivate: "buy",
    TradePrivate: "private",
    BuyTrain: "buy train",
    DiscardTrain: "discard",
    ChooseHome: "home",
    BidUpTo: "bid up to",
    BidNothing: "bid nothing",
    StartCompany: "start",
    TakeLoansForCompany: "loan for",
    RedeemSharesForCompany: "redeem for",
    FloatCompany: "float",
    LayMine: "lay with mine",
    BuyPostMergerShares: "buy",
    SellPostMergerShares: "sell",
    BuyPrivateFromPool: "private from the pool",
    SetStandingProtection: "answer protection in advance",
    CancelStandingProtection: "be asked again",
    PlaceCattleToken: "place cattle",
    PlaceOpenPort: "place an open port",
    PlaceClosedPort: "place a closed port",
    ClosePort: "close the port",
    StartConnectionRun: "connection run",
    PostponeConnectionRun: "postpone the connection run",
    PlaceDestinationToken: "place the destination token",
    KeepDestinationToken: "keep the destination token",
}
"""The first label of a menu path, where it is not the first word of the line."""


def choices(g: Game, seat: str) -> list[Choice]:
    """Everything that the seat may do now, but no offer that it has made already; of rotations that lie
    alike, only the first."""
    found = without_open_offers(g, seat, options(g, seat))
    return [_choice(g, option) for option in distinct(found, lambda option: option.action)]


def other_runs(g: Game, seat: str) -> list[Choice]:
    """The runs beside the best that the seat may choose now, highest revenue first.

    Where the rules demand the highest revenue (1830 §20.3) these are the runs that earn as much.
    """
    if not isinstance(g.top, OperatingTurn) or refusal(g, seat, RunTrains()):
        return []
    found = []
    for run, dollars in islice(trains.other_runs(g, g.top.company), MAX_OTHER_RUNS):
        if refusal(g, seat, run) is None:
            line = format_action(g, run)
            label = f"Run for ${dollars:,}: {line.removeprefix('run ')}"
            found.append(Choice(line, label, ("other routes", label)))
    return found


def _choice(g: Game, option: Option) -> Choice:
    action = option.action
    line = format_action(g, action)
    verb = VERBS.get(type(action), line.split()[0])
    if option.label.startswith(WITHDRAW):
        verb = WITHDRAW.split()[0].lower()
    labels = [label for name in action.menu_fields if (label := _field_label(g, action, name))]
    if isinstance(action, RunTrains):
        labels = [option.label]
    open_ended = option.amounts is not None and len(option.amounts) > 1
    return Choice(line, option.label, (verb, *labels), option.amounts if open_ended else None)


def _field_label(g: Game, action: Action, name: str) -> str | None:
    value = getattr(action, name)
    if value is None:
        return None
    match name:
        case "hex":
            town = g.components.map.hexes[value].name
            return f"{value} {town}" if town else str(value)
        case "tile":
            return f"#{value}"
        case "rotation":
            return f"rotation {value}"
        case "node":
            cities = face_at(g.components, g.state.tiles, getattr(action, "hex", "")).nodes
            return f"city {value}" if len(cities) > 1 else None
        case "price":
            return f"${value:,}"
        case "offer":
            return f"offer {value}"
        case "count" if isinstance(action, TakeLoans | RepayLoans | TakeLoansForCompany):
            return counted(value, "loan")
        case "count":
            return None if value == field_defaults(type(action)).get(name) else counted(value, "share")
        case "size":
            return f"{value} shares"
        case "privates":
            return f"with {', '.join(value)}" if value else "without privates"
        case "survivor":
            return f"the {value} remains"
        case "train" | "traded_in":
            return f"{value}-train" if name == "train" else f"trading in a {value}"
        case "using":
            return f"by the {value}"
    return g.state.name(value) if isinstance(value, str) and is_seat(value) else str(value)
