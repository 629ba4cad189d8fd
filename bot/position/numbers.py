"""The numbers that a decision needs, in a few lines for every transport (pure).

The player who acts, with cash, certificates and shares; their company, with treasury, trains, tokens and last
run; the run to come; bids and their leader. Amounts are in dollars, shares in percent.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import engine
from bot.position import text_views
from bot.position.sentences import auction_lines, free_cash_line, private_text, run_lines
from bot.position.text_views import share_texts
from engine.core.words import counted, dollars
from engine.finance.loans import size_definition


def decision_lines(
    state: engine.State,
    seat: str,
    revenues: Mapping[str, int] | None = None,
    offer: str = "",
) -> list[str]:
    """What a seat's decision depends on: itself, the company for which it acts, and what is auctioned.

    revenues: dollars of each company's last run. offer: an offer to the seat, such as `a 5-train from the
    NYC to the PRR`; companies of the seat that it names are told too.
    """
    lines = [player_line(state, seat)]
    company = engine.decision(state).company
    if company and state.companies[company].president:
        lines.append(company_line(state, company, (revenues or {}).get(company)))
    others = [*companies_to_compare(state, seat), *companies_named(state, seat, offer)]
    others = [sym for sym in dict.fromkeys(others) if sym != company]
    lines += [company_line(state, sym, (revenues or {}).get(sym)) for sym in others]
    if (lending := engine.loan_status(state)) and engine.round_name(state) != "opening":
        lines.append(f"Loans: {lending}")
    if company and engine.topic(state) == "trains":
        lines += text_views.trains_text(state)
    lines += run_lines(state)
    declares = getattr(state.stack[-1], "step", "") == "dividend" and seat in engine.decision(state).acting
    if company and declares:
        lines.append(dividend_line(state, seat, company))
    if engine.round_name(state) == "opening" or engine.bids(state):
        lines += auction_lines(state)
        lines.append(free_cash_line(state))
    return lines


def companies_to_compare(state: engine.State, seat: str) -> list[str]:
    """The companies of a seat among those that a question about mergers is about. Where one is sold, that one
    and all companies of the seat, which may buy it."""
    asked = engine.companies_in_question(state)
    if engine.auctioned(state) in asked:
        return [*asked, *(sym for sym, each in state.companies.items() if each.president == seat)]
    return [sym for sym in asked if state.companies[sym].president == seat]


def companies_named(state: engine.State, seat: str, text: str) -> list[str]:
    """The companies of a seat that a text names."""
    own = [sym for sym, each in state.companies.items() if each.president == seat]
    return [sym for sym in own if re.search(rf"(?<![\w&]){re.escape(sym)}(?![\w&])", text)]


def dividend_line(state: engine.State, seat: str, company: str) -> str:
    """Where the share price goes: `Price of the PRR, now $90: pay → $100, withhold → $82`."""
    after = {
        choice.line: engine.play_line(state, seat, choice.line).state
        for choice in engine.choices(state, seat)
        if choice.line in ("pay", "half", "withhold")
    }
    prices = {
        line: "closes" if then.companies[company].closed else text_views.price_text(then, company)
        for line, then in after.items()
    }
    told = ", ".join(f"{line} → {price}" for line, price in prices.items())
    return f"Price of the {company}, now {text_views.price_text(state, company)}: {told}"


def player_line(state: engine.State, seat: str) -> str:
    """`Ann: $430, 5/11 certificates, PRR 30%*, NYC 20%, DH Delaware & Hudson (pays $15)`; `*` marks a
    presidency."""
    g = engine.game_of(state)
    held = f"{engine.counted_certificates(g, seat)}/{engine.certificate_limit(g)} certificates"
    privates = [private_text(state, sym) for sym, owner in state.private_owners.items() if owner == seat]
    parts = [dollars(state.cash[seat]), held, *share_texts(state, seat), *privates]
    return f"{state.name(seat)}: {', '.join(parts)}"


def _loans(state: engine.State, sym: str) -> list[str]:
    """`3 of 10 loans, $15 interest`; nothing without loans."""
    company, lending = state.companies[sym], engine.loan_status(state)
    if lending is None or not company.loans:
        return []
    most = size_definition(engine.game_of(state), sym).max_loans
    interest = dollars(company.loans * lending.current_rate)
    return [f"{company.loans} of {counted(most, 'loan')}, {interest} interest"]


def company_line(state: engine.State, sym: str, revenue: int | None = None) -> str:
    """`PRR: treasury $430, price $90, trains 2 2 3, 2 tokens left, last ran $120`, for the whole table."""
    company = state.companies[sym]
    tokens = f"{counted(company.unplaced_tokens, 'token')} left"
    trains = f"trains {' '.join(company.trains)}" if company.trains else "no train"
    parts = [
        f"treasury {text_views.treasury_text(state, sym, None)}",
        f"price {text_views.price_text(state, sym)}",
        trains,
        tokens,
        *_loans(state, sym),
        *([] if revenue is None or not company.has_operated else [f"last ran {dollars(revenue)}"]),
        *(private_text(state, private) for private, owner in state.private_owners.items() if owner == sym),
    ]
    return f"{sym}: {', '.join(parts)}"
