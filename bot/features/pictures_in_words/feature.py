"""Questions whose answers say what a picture shows: a hex, a direction, what a company's track reaches, a
route, the market around a price, and the position in sentences.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from bot.features.pictures_in_words import board
from bot.hub.command import Command, Form, Query, QueryRequest
from bot.hub.request import QueryAnswer
from bot.position.boards import company_named

Text = Callable[[QueryRequest], str]


def commands() -> list[Command]:
    """`hex`, `from`, `network`, `route`, `around` and `words`."""
    place, way = r"[A-Za-z]{1,2}\d{1,2}", r"[a-z]{4,5}-?(?:east|west)?"
    return [
        _question("hex", Form("hex HEX", "a hex in words", "hex B2", rf"hex {place}"), _hex),
        _question(
            "from",
            Form(
                "from HEX DIRECTION",
                "the hexes that lie that way",
                "from B2 northeast",
                rf"from {place} {way}",
            ),
            _from,
        ),
        _question(
            "network", Form("network COMPANY", "what a company's track reaches", "network X"), _network
        ),
        _question("route", Form("route COMPANY N", "a route of its last run", "route X 1"), _route),
        _question(
            "around", Form("around COMPANY", "the market there", "around X"), _around, Form("around N")
        ),
        _question("words", Form("words", "the position in sentences", pattern="words"), _words),
    ]


def _question(name: str, form: Form, text: Text, *others: Form) -> Query:
    async def answer(query: QueryRequest) -> QueryAnswer | None:
        if form.pattern and not re.fullmatch(form.pattern, f"{name} {query.argument}".strip(), re.IGNORECASE):
            return None
        return QueryAnswer(name, text(query), argument=query.argument, next_decision_id=query.decision_id)

    return Query(name, (form, *others), answer)


def _hex(query: QueryRequest) -> str:
    return board.hex_text(query.table.state, query.argument)


def _from(query: QueryRequest) -> str:
    place, direction = query.argument.split()
    return board.way_text(query.table.state, place, direction.casefold().replace("-", ""))


def _network(query: QueryRequest) -> str:
    return board.network_text(query.table.state, company_named(query.table.state, query.argument))


def _route(query: QueryRequest) -> str:
    name, _, number = query.argument.partition(" ")
    company = company_named(query.table.state, name)
    ran = next((run for _, run in query.table.log.runs() if run.company == company), None)
    if ran is None:
        return f"The {company} has not run yet."
    if number and not number.isdecimal():
        raise ValueError(f"Write the number of the route: `route {company} 1`.")
    return board.route_text(query.table.state, ran, int(number or 1))


def _around(query: QueryRequest) -> str:
    return board.around_text(query.table.state, query.argument)


def _words(query: QueryRequest) -> str:
    return board.position_text(query.table.state, query.table.pending, query.seat)
