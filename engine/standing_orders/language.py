"""The notation of orders: `auto …` lines to orders and back.

Symbols, amounts and sources are read by the fields of the notation, so case, `$` and a missing `&` do not
matter here either. What is stored is the full line: `parse_order(format_order(o)) == o`.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any, get_args

from engine.game import Game
from engine.kernel import RefusedError
from engine.language.field_types import FIELD_TYPES
from engine.language.notation import UnreadableError, is_secret, split_words
from engine.standing_orders.arming import refuse_order
from engine.standing_orders.auctions import auctioned_item
from engine.standing_orders.model import (
    AutoBid,
    AutoBuy,
    AutoBuyPrivate,
    AutoDecline,
    AutoPass,
    AutoProtect,
    AutoRun,
    AutoTurn,
    ConditionKind,
    DividendChoice,
    Order,
    Questions,
    StopCondition,
)
from engine.standing_orders.stops import condition_text
from engine.standing_orders.turns import PlanError, plan_turn

ORDER_HELP = (
    (
        "auto pass",
        "pass in this stock round, until somebody sells what you hold or nears a presidency of yours",
    ),
    (
        "auto pass unless price NYC < 80",
        "the same, with a condition; also `unless NYC floats`, `starts`, `sold`, `unless par or sale`",
    ),
    ("auto pass once", "pass the next time you are asked"),
    ("auto buy NYC until floated", "buy one share in each turn where it is cheapest"),
    ("auto buy 3 NYC from pool up to 80 then pass", "so many, from there, up to a price, and then pass"),
    ("auto buy private DH up to 70", "buy the private when it is on offer at that price"),
    ("auto bid BO up to 260", "bid the least whenever you are overbid; `then pass` leaves above the limit"),
    ("auto bid ME nothing", "leave an auction as soon as you are asked"),
    ("auto run NYC", "run best, pay, and pass the rest in each turn; `withhold`, `half`, `unless lay`"),
    (
        "auto turn NYC: lay 57 H10; run best; pay",
        "say these in its next turn, if they still lead to the same",
    ),
    ("auto decline deals", "decline offers; `polls`: what several are asked at once; `votes`: undo and end"),
    ("auto protect MP up to 300", "answer price protection"),
)
"""Examples of orders, and what they do."""

FORMS = (
    "auto pass", "auto pass once", "auto pass unless price COMPANY < AMOUNT", "auto pass unless par or sale",
    "auto buy COMPANY until floated", "auto buy 3 COMPANY from pool up to AMOUNT then pass",
    "auto buy private PRIVATE up to AMOUNT", "auto bid PRIVATE up to AMOUNT", "auto bid PRIVATE nothing",
    "auto run COMPANY", "auto run COMPANY withhold", "auto turn COMPANY: LINE; LINE",
    "auto decline deals", "auto decline polls", "auto decline votes", "auto protect COMPANY up to AMOUNT",
)  # fmt: skip
ALL_FORMS = f"Orders are, for example: {'; '.join(FORMS)}."
PRICE_SIGNS: dict[str, ConditionKind] = {"<": "below", "below": "below", ">": "above", "above": "above"}
OF_ANY_COMPANY: tuple[ConditionKind, ...] = ("par", "sale")
HAPPENINGS: tuple[ConditionKind, ...] = ("floats", "starts", "sold", "bought")


class _Reader:
    """The words of an order from left to right."""

    def __init__(self, g: Game, text: str) -> None:
        self.g = g
        self.words = split_words(text)
        self.at = 0

    @property
    def rest(self) -> str:
        return " ".join(self.words[self.at :])

    def takes(self, *expected: str) -> bool:
        """Whether these words come next; they are then read."""
        following = [word.casefold() for word in self.words[self.at : self.at + len(expected)]]
        if following != list(expected):
            return False
        self.at += len(expected)
        return True

    def field(self, kind: str) -> Any:
        """The next word as a field of that kind, or None."""
        if self.at == len(self.words):
            return None
        value = FIELD_TYPES[kind].parse_word(self.g, self.words[self.at])
        self.at += value is not None
        return value

    def need(self, kind: str, what: str) -> Any:
        """The next word as a field of that kind. Raises _SyntaxError that names what is missing."""
        value = self.field(kind)
        if value is None:
            found = f", not {self.words[self.at]!r}" if self.at < len(self.words) else ""
            raise _SyntaxError(f"{what} should follow {' '.join(self.words[: self.at])!r}{found}.")
        return value

    def expect(self, *words: str) -> None:
        """Read these words. Raises _SyntaxError."""
        if not self.takes(*words):
            raise _SyntaxError(f"{' '.join(words)!r} should follow {' '.join(self.words[: self.at])!r}.")


class _SyntaxError(Exception):
    """The words are no order; the message is a sentence."""


def _unreadable(reason: str, text: str) -> UnreadableError:
    """The error for an order that cannot be read, with the forms of its kind, or of all orders. Those without
    a field are lines like it."""
    word, *rest = text.casefold().split()
    kinds = [form.split()[1] for form in FORMS]
    kind = get_close_matches("protect" if word == "standing" else "".join(rest[:1]), kinds, 1)
    forms = [form for form in FORMS if form.split()[1] in kind]
    examples = f"Write, for example: {'; '.join(forms)}." if forms else ALL_FORMS
    return UnreadableError(f"{reason} {examples}", [form for form in forms if form.islower()])


def is_order_line(line: str) -> bool:
    """Whether a line leaves, lists or ends orders."""
    words = line.casefold().split()
    return words[:1] == ["auto"] or words[:2] == ["standing", "protect"]


def parse_order(g: Game, seat: str, text: str) -> Order:
    """The order that a line means for the seat.

    Raises UnreadableError, or RefusedError where the order can never say anything, each with a sentence.
    """
    try:
        order = _read(g, seat, text)
    except _SyntaxError as error:
        raise _unreadable(str(error), text) from None
    if reason := refuse_order(g, seat, order):
        raise RefusedError(reason)
    return order


def _read(g: Game, seat: str, text: str) -> Order:
    head, colon, body = text.partition(":")
    reader = _Reader(g, head if colon else text)
    if not reader.takes("auto") and not reader.takes("standing"):
        raise _SyntaxError(f"{text.strip()!r} is no order.")
    if colon and not reader.takes("turn"):
        raise _SyntaxError("Only `auto turn COMPANY:` has a colon.")
    order = _read_turn(reader, seat, body) if colon else _read_kind(reader)
    if reader.rest:
        raise _SyntaxError(
            f"{reader.rest!r} is not understood after {' '.join(reader.words[: reader.at])!r}."
        )
    return order


def _read_kind(reader: _Reader) -> Order:
    if reader.takes("pass"):
        return AutoPass(reader.takes("once"), _read_conditions(reader))
    if reader.takes("buy", "private"):
        private = reader.need("PRIVATE", "A private")
        reader.expect("up", "to")
        return AutoBuyPrivate(private, reader.need("AMOUNT", "An amount in dollars"))
    if reader.takes("buy"):
        return _read_buy(reader)
    if reader.takes("bid"):
        item = reader.field("PRIVATE") or reader.field("COMPANY") or auctioned_item(reader.g)
        if item is None:
            found = f", not {reader.words[reader.at]!r}" if reader.at < len(reader.words) else ""
            raise _SyntaxError(f"A private or a company should follow 'auto bid'{found}.")
        if reader.takes("nothing"):
            return AutoBid(item, 0, True)
        reader.expect("up", "to")
        return AutoBid(item, reader.need("AMOUNT", "An amount in dollars"), reader.takes("then", "pass"))
    if reader.takes("run"):
        company = reader.need("COMPANY", "A company")
        kinds: tuple[DividendChoice, ...] = get_args(DividendChoice)
        dividend = next((kind for kind in kinds if reader.takes(kind)), kinds[0])
        return AutoRun(company, dividend, reader.takes("unless", "lay"))
    if reader.takes("decline"):
        for questions in get_args(Questions):
            if reader.takes(questions):
                return AutoDecline(questions)
        raise _SyntaxError("'deals', 'polls' or 'votes' should follow 'auto decline'.")
    if reader.takes("protect"):
        company = reader.need("COMPANY", "A company")
        reader.expect("up", "to")
        return AutoProtect(company, reader.need("AMOUNT", "An amount in dollars"))
    if reader.takes("turn"):
        raise _SyntaxError("A company, a colon and lines should follow 'auto turn'.")
    raise _SyntaxError(f"{reader.rest!r} is no order." if reader.rest else "The order says nothing.")


def _read_buy(reader: _Reader) -> AutoBuy:
    count = reader.field("AMOUNT")
    company = reader.need("COMPANY", "A company")
    given: dict[str, Any] = {"count": 1 if count is None else count}
    while reader.rest:
        if reader.takes("from"):
            given["source"] = reader.need("SOURCE", "ipo, pool or treasury")
        elif reader.takes("up", "to"):
            given["limit"] = reader.need("AMOUNT", "An amount in dollars")
        elif count is None and reader.takes("until", "floated"):
            given["count"] = None
        elif reader.takes("then", "pass"):
            given["then_pass"] = True
        elif conditions := _read_conditions(reader):
            given["unless"] = conditions
        else:
            break
    return AutoBuy(company, **given)


def _read_conditions(reader: _Reader) -> tuple[StopCondition, ...]:
    """`unless price NYC < 80 or NYC floats`."""
    conditions: list[StopCondition] = []
    while reader.takes("unless") or (conditions and reader.takes("or")):
        conditions.append(_read_condition(reader))
    return tuple(conditions)


def _read_condition(reader: _Reader) -> StopCondition:
    for of_any in OF_ANY_COMPANY:
        if reader.takes(of_any):
            return StopCondition(of_any)
    by_price = reader.takes("price")
    company = reader.need("COMPANY", "A company")
    if by_price or (reader.at < len(reader.words) and reader.words[reader.at].casefold() in PRICE_SIGNS):
        for sign, kind in PRICE_SIGNS.items():
            if reader.takes(sign):
                return StopCondition(kind, company, reader.need("AMOUNT", "A price"))
        raise _SyntaxError(f"'<' or '>' and a price should follow 'price {company}'.")
    for happening in HAPPENINGS:
        if reader.takes(happening) or reader.takes("is", happening):
            return StopCondition(happening, company)
    raise _SyntaxError(f"'floats', 'starts', 'sold', 'bought' or a price should follow {company!r}.")


def _read_turn(reader: _Reader, seat: str, body: str) -> AutoTurn:
    company = reader.need("COMPANY", "A company")
    lines = [line.strip() for line in body.split(";") if line.strip()]
    if not lines:
        raise _SyntaxError(f"Lines should follow 'auto turn {company}:', with a semicolon between them.")
    if hidden := next(filter(is_secret, lines), None):
        raise RefusedError(f"`{hidden}` is an order of its own: leave it by itself.")
    order = AutoTurn(company, tuple(lines))
    if reason := refuse_order(reader.g, seat, order):
        raise RefusedError(reason)
    try:
        planned = plan_turn(reader.g, seat, company, lines)
    except PlanError as error:
        raise RefusedError(str(error)) from None
    full = (p.line if _is_fixed(line) else line for p, line in zip(planned, lines, strict=True))
    return AutoTurn(company, tuple(full))


def _is_fixed(line: str) -> bool:
    """Whether a line means the same later: `run best` finds the best routes of its time."""
    return line.casefold().split() != ["run", "best"]


# -- writing ---------------------------------------------------------------------------------


def format_order(order: Order) -> str:
    """The full line of an order."""
    match order:
        case AutoPass(once, unless):
            return f"auto pass{' once' * once}{_format_conditions(unless)}"
        case AutoBuy():
            return _format_buy(order)
        case AutoBuyPrivate(item, limit):
            return f"auto buy private {item} up to {limit}"
        case AutoBid(item, 0, True):
            return f"auto bid {item} nothing"
        case AutoBid(item, limit, then_pass):
            return f"auto bid {item} up to {limit}{' then pass' * then_pass}"
        case AutoRun(company, dividend, unless_lay):
            return f"auto run {company} {dividend}{' unless lay' * unless_lay}"
        case AutoTurn(company, lines):
            return f"auto turn {company}: {'; '.join(lines)}"
        case AutoDecline(questions):
            return f"auto decline {questions}"
        case AutoProtect(company, limit):
            return f"auto protect {company} up to {limit}"
    raise AssertionError(f"no form writes {order}")


def _format_buy(order: AutoBuy) -> str:
    count = f"{order.count} " if order.count not in (None, 1) else ""
    parts = [
        f"auto buy {count}{order.company}",
        f"from {order.source}" if order.source else "",
        f"up to {order.limit}" if order.limit is not None else "",
        "until floated" if order.until_floated else "",
        "then pass" if order.then_pass else "",
    ]
    return " ".join(part for part in parts if part) + _format_conditions(order.unless)


def _format_conditions(unless: tuple[StopCondition, ...]) -> str:
    return f" unless {' or '.join(map(condition_text, unless))}" if unless else ""
