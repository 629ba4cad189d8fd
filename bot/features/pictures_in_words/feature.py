"""Questions whose answers say what a picture shows: a hex, a direction, what a company's track reaches, a
route, the market around a price, and what the sheet shows, in words.
"""

from __future__ import annotations

from bot.features.pictures_in_words import board
from bot.hub.command import Command, Form, QueryRequest, text_query
from bot.hub.info import stopped_text
from bot.position.boards import company_named
from renderers.views.sheet import sheet_view


def commands() -> list[Command]:
    """`hex`, `from`, `network`, `route`, `around` and `words`."""
    return [
        text_query(
            "hex",
            lambda q: board.hex_text(q.table.state, q.argument),
            Form("hex HEX", "a hex in words", "hex X"),
        ),
        text_query(
            "from",
            _from,
            Form("from HEX DIRECTION", "the hexes that lie that way", "from X northeast"),
        ),
        text_query(
            "network", _network, Form("network COMPANY", "what a company's track reaches", "network X")
        ),
        text_query("route", _route, Form("route COMPANY [N]", "a route of its last run", "route X 1")),
        text_query(
            "around",
            lambda q: board.around_text(q.table.state, q.argument),
            Form("around COMPANY", "the market there", "around X"),
            Form("around N"),
        ),
        text_query("words", _words, Form("words", "what the sheet shows, in words")),
    ]


def _from(query: QueryRequest) -> str:
    place, _, direction = query.argument.partition(" ")
    return board.way_text(query.table.state, place, direction.casefold().replace("-", ""))


def _network(query: QueryRequest) -> str:
    return board.network_text(query.table.state, company_named(query.table.state, query.argument))


def _route(query: QueryRequest) -> str:
    name, _, number = query.argument.partition(" ")
    company = company_named(query.table.state, name)
    if (ran := query.table.last_runs().get(company)) is None:
        return f"The {company} has not run yet."
    if number and not number.isdecimal():
        raise ValueError(f"Write the number of the route: `route {company} 1`.")
    return board.route_text(query.table.state, ran, int(number or 1))


def _words(query: QueryRequest) -> str:
    table, view = query.table, query.table.view()
    waiting = view.waiting_sentence or stopped_text(view.table.status)
    viewer = None if query.seat is None else table.state.seats[query.seat]
    sheet = sheet_view(table.state, viewer, table.last_revenues(), has_footer=False)
    return "\n".join(sheet.lines(waiting))
