"""A model of the money in the operating turns of a file of 1817: treasuries, loans, prices and dividends.

Theory of operation. Companies of 1817 merge, are sold and bought back in ways that a file tells only in part.
So the model begins anew with each turn: from the position before the turn, the printed numbers and the
company's actions it reckons the position after it, with the interest that no action tells. Starts of
companies, stock rounds, mergers and sales are not covered, nor turns in which a player raises cash.

Loans after the last other action are taken before the interest or after it, which the file leaves open where
the train step was passed over: either is right.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

Action = dict[str, Any]
PRICES = [0, 0, 0, 0, 40, 45, 50, 55, 60, 65, 70, 80, 90, 100, 110, 120, 135, 150, 165, 180, 200, 220]
PRICES += [245, 270, 300, 330, 360, 400, 440, 490, 540, 600]
LEFTMOST, GRAY_PRICE = 1, 40
MOUNTAINS = frozenset("B25 C20 C24 D19 E16 E18 F15 G12 G14 H11 H13 H15 I8 I10 I12".split())
RIVERS = frozenset("D13 E12 F11 G4 G6 G10 H3 H7 H9".split())
LAKES = frozenset("B9 B27 C8 D7 D25 D27 E22 G20 H17".split())
GREEN_COSTS_20 = frozenset({"C8", "E22"})
GREEN = frozenset({"14", "15", "54", "592", "619"})
MINES, BRIDGES = ("MINC", "CM", "MAJC"), frozenset({"OBC", "UBC"})
STEPS = frozenset({"lay_tile", "place_token", "run_routes", "dividend", "buy_train", "assign"})


class TurnStart(NamedTuple):
    """What a turn may change. `shares`: percent by player, short ones below zero. `tiles`: hexes with one."""

    cash: int
    space: int
    loans: int
    size: int
    own: int
    shares: dict[int, int]
    privates: frozenset[str]
    tiles: frozenset[str]
    players: dict[int, int]


class Turn:
    """One turn of a company, as far as it has been reckoned."""

    def __init__(self, start: TurnStart, rate: int) -> None:
        self._start, self._rate = start, rate
        self.cash, self.space, self.loans = start.cash, start.space, start.loans
        self.players = dict(start.players)
        self._tiles = set(start.tiles)
        self._lays = self._revenue = 0
        self._paid = False

    def _move(self, spaces: int) -> None:
        self.space = min(max(self.space + spaces, LEFTMOST), len(PRICES) - 1)

    def play(self, action: Action) -> None:
        match action["type"]:
            case "lay_tile":
                self.cash -= self._cost_of_tile(action)
            case "run_routes":
                self._revenue = sum(route["revenue"] for route in action["routes"])
            case "dividend":
                self._pay(action["kind"])
            case "buy_train":
                self.earn_nothing()
                self.cash -= action["price"]
            case "take_loan":
                self._borrow()
            case "payoff_loan":
                self.cash -= 100
                self.loans -= 1
                self._move(1)

    def _borrow(self) -> None:
        self.cash += 100
        self.loans += 1
        self._move(-1)

    def _cost_of_tile(self, action: Action) -> int:
        hex = action["hex"]
        first = hex not in self._tiles
        self._tiles.add(hex)
        self._lays += 1
        cost = 20 if self._lays == 2 else 0
        if not first:
            return cost + (20 if hex in GREEN_COSTS_20 and action["tile"].rpartition("-")[0] in GREEN else 0)
        if hex in MOUNTAINS:
            cost += 0 if action["entity"] in MINES else 15
            cost -= 20 if "ME" in self._start.privates else 0
        elif hex in RIVERS:
            cost += 0 if self._start.privates & BRIDGES else 10
        elif hex in LAKES:
            cost += 20
        return cost

    def _pay(self, kind: str) -> None:
        """Revenue is distributed; the half that is kept in whole dollars a certificate, rounded down."""
        revenue, size = self._revenue, self._start.size
        unit = 1 if size == 2 else size
        half = revenue - revenue // 2 // unit * unit
        paid = {"payout": revenue, "half": half, "withhold": 0}[kind]
        self.cash += revenue - paid + paid * self._start.own // 100
        for player, percent in self._start.shares.items():
            self.players[player] += paid * percent // 100
        price = max(PRICES[self.space], GRAY_PRICE)
        self._paid = True
        self._move(-1 if not paid else 2 if paid >= 2 * price else 1 if paid >= price else 0)

    def earn_nothing(self) -> None:
        """A turn without a dividend."""
        if not self._paid:
            self._paid = True
            self._move(-1)

    def pay_interest(self) -> None:
        """Pay for each loan, with more loans where the treasury does not suffice."""
        while self.cash < self._rate * self.loans and self.loans < self._start.size:
            self._borrow()
        self.cash -= self._rate * self.loans


def outcomes(start: TurnStart, rate: int, actions: Sequence[Action]) -> Iterator[Turn]:
    """A company's turn as it may have gone: with the interest before the last loans, or after them."""
    end = len(actions)
    while end and actions[end - 1]["type"] not in STEPS:
        end -= 1
    for at in range(end, len(actions) + 1):
        turn = Turn(start, rate)
        for number, action in enumerate(actions):
            if number == at:
                turn.earn_nothing()
                turn.pay_interest()
            turn.play(action)
        if at == len(actions):
            turn.earn_nothing()
            turn.pay_interest()
        yield turn


Snapshot = dict[str, Any]
"""As `position_snapshot`; its companies have their `size` too."""


def turn_faults(
    file: Action, rounds: Sequence[tuple[int, str]], snapshots: dict[int, Snapshot]
) -> Iterator[str | None]:
    """For each operating turn that can be reckoned what differs after it, or None.

    The last turn of a round is left out, since sales and the bank's purchases may follow it at once.
    `rounds`: (number of actions before it, name) of each; `snapshots`: the position after so many actions.
    """
    bounds = [*rounds, (len(file["actions"]), "")]
    operating = {begun for begun, name in rounds if name.startswith("operating")}
    ends = {begun for begun, _ in bounds}
    for (begun, _), (ended, _) in pairwise(bounds):
        actions = file["actions"][begun:ended]
        if begun in operating and begun in snapshots:
            loans = sum(company["loans"] for company in snapshots[begun]["companies"].values())
            rate = max(5, -(-loans // 5) * 5)
            for company, turn in _turns(actions, snapshots):
                before, after = snapshots.get(turn[0]["id"] - 1), snapshots.get(turn[-1]["id"])
                if before and after and turn[-1]["id"] not in ends:
                    yield _fault(company, turn, before, after, rate)


def _turns(
    actions: Sequence[Action], snapshots: dict[int, Snapshot]
) -> Iterator[tuple[str, Sequence[Action]]]:
    """The turns of a round in which only one company acts."""
    groups: list[tuple[str | None, list[Action]]] = []
    for action in actions:
        actor = action["entity"] if action["entity_type"] == "corporation" else None
        if action["entity_type"] == "company":
            companies = snapshots.get(action["id"], {}).get("companies", {})
            actor = next((c for c, at in companies.items() if action["entity"] in at["privates"]), None)
        if not groups or groups[-1][0] != actor:
            groups.append((actor, []))
        groups[-1][1].append(action)
    for number, (actor, turn) in enumerate(groups):
        beside = [groups[at][0] for at in (number - 1, number + 1) if 0 <= at < len(groups)]
        odd = any(action["type"] in ("discard_train", "bankrupt") for action in turn)
        once = sum(other == actor for other, _ in groups) == 1
        if actor is not None and None not in beside and once and not odd:
            yield actor, turn


def _fault(
    company: str, actions: Sequence[Action], before: Snapshot, after: Snapshot, rate: int
) -> str | None:
    """What differs after a turn. A company in liquidation afterwards is not looked at, nor a cash crisis."""
    start, end = before["companies"].get(company), after["companies"].get(company)
    if start is None or end is None or not end["cell"][1] or not start["cell"][1]:
        return None
    shares = {player: held["shares"].get(company, 0) for player, held in before["players"].items()}
    position = TurnStart(
        start["cash"], start["cell"][1], start["loans"], start["size"], start["own"], shares,
        frozenset(start["privates"]), frozenset(before["tiles"]),
        {player: held["cash"] for player, held in before["players"].items()},
    )  # fmt: skip
    found = (end["cash"], end["cell"][1], end["loans"])
    players = {player: held["cash"] for player, held in after["players"].items()}
    if min(players.values()) < 0:
        return None  # a cash crisis comes
    reckoned = [(t.cash, t.space, t.loans, t.players) for t in outcomes(position, rate, actions)]
    if (*found, players) in reckoned:
        return None
    return f"{actions[0]['id']}-{actions[-1]['id']}: the {company} has {found}, not {reckoned}; {players}"
