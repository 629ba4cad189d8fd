"""Questions about a table: status, map, market, log, companies, players, and earlier positions."""

from __future__ import annotations

import engine
from bot.hub.command import Command, Commands, Form, Query, QueryRequest, lines_about, text_query
from bot.hub.feature import Addition, EndingPart, TurnPage
from bot.hub.info import stopped_text
from bot.hub.request import QueryAnswer
from bot.hub.table import LiveTable
from bot.position import text_views
from bot.position.boards import company_named, routes_view, runs_view, tile_view, tiles_view, trains_view
from bot.position.controls import Show
from bot.position.pending import pending_decisions
from bot.position.sentences import bids_view, private_view
from engine.core.words import join_words

DEFAULT_LOG_ROWS = 12
MAX_LOG_ROWS = 1000
PICTURE_KINDS = ("map", "market", "sheet")


def commands(registry: Commands) -> list[Command]:
    """The questions. registry: all commands, for `help`."""
    return [
        text_query(
            "status", _status, Form("status", "players, companies and who is to act"), picture="sheet"
        ),
        text_query("sheet", _status, Form("sheet"), picture="sheet"),
        text_query("map", _map, Form("map", "the map"), picture="map"),
        text_query("board", _map, Form("board"), picture="map"),
        text_query("market", _market, Form("market", "the stock market"), picture="market"),
        text_query("turn", _turn, Form("turn")),
        text_query("help", lambda q: _help(q, registry), Form("help [COMMAND]")),
        text_query("company", _company, Form("company COMPANY", "one company", "company X")),
        text_query("player", _player, Form("player PLAYER", "one player", "player X")),
        text_query("bids", lambda q: bids_view(q.table.state), Form("bids", "what is auctioned")),
        text_query(
            "privates",
            lambda q: private_view(q.table.state, q.argument),
            Form("privates [PRIVATE]", "a private and what it can do", "privates X"),
        ),
        text_query(
            "trains", lambda q: trains_view(q.table.state), Form("trains", "the trains that are left")
        ),
        text_query(
            "tiles", _tiles, Form("tiles [TILE]", "the tiles that are left; where one may lie", "tiles X")
        ),
        Query("routes", (Form("routes [COMPANY]", "what a company ran last", "routes X"),), _routes),
        text_query(
            "runs",
            lambda q: runs_view(q.table.state),
            Form("runs", "routes that may be run instead of the best"),
        ),
        Query("log", (Form("log [N]", "the last rows of the log", "log 20"),), _log),
        Query("at", (_AT,), _at),
    ]


_AT = Form(
    "at MOMENT [map|market|sheet]",
    "the position at the start of a round, or after a row of the log",
    "at or 2.1, at 120",
)


def _status(query: QueryRequest) -> str:
    stopped = stopped_text(query.table.stored_info.status)
    pending = () if stopped else query.table.pending
    return f"{text_views.status_view(query.table.state, pending, query.seat)}{stopped}"


def _map(query: QueryRequest) -> str:
    return text_views.map_view(query.table.state)


def _market(query: QueryRequest) -> str:
    return text_views.market_view(query.table.state)


def _turn(query: QueryRequest) -> str:
    state = query.table.state
    if stopped := stopped_text(query.table.stored_info.status):
        return f"{text_views.headline(state)}\n{stopped}"
    return f"{text_views.headline(state)}\n{text_views.question_text(state, query.table.pending)}"


def _help(query: QueryRequest, registry: Commands) -> str:
    seat = -1 if query.seat is None else query.seat
    stopped = stopped_text(query.table.stored_info.status)
    pending = () if stopped else query.table.pending
    text = f"{stopped}{text_views.help_view(query.table.state, seat, pending, registry.help_lines())}"
    return lines_about(text, query.argument) if query.argument else text


def _company(query: QueryRequest) -> str:
    state = query.table.state
    return text_views.company_view(state, company_named(state, query.argument), query.seat)


def _player(query: QueryRequest) -> str:
    if text := text_views.player_view(query.table.state, query.argument):
        return text
    names = join_words(query.table.state.players)
    raise ValueError(f"There is no player {query.argument}; there are {names}.")


def _tiles(query: QueryRequest) -> str:
    state = query.table.state
    return tile_view(state, query.argument) if query.argument else tiles_view(state)


async def _routes(query: QueryRequest) -> QueryAnswer:
    state, table = query.table.state, query.table
    company = company_named(state, query.argument) if query.argument else ""
    return QueryAnswer("routes", routes_view(state, table.last_runs(), company), argument=company)


def log_view(table: LiveTable, last: int = DEFAULT_LOG_ROWS) -> str:
    """The last rows of the log."""
    entries = table.log.entries(max(table.seq - last, 0))
    listed = [entry.listed(table.state.players) for entry in entries if entry.has_text]
    return "\n".join(listed) or "There is nothing to read in these rows of the log."


async def _log(query: QueryRequest) -> QueryAnswer | None:
    if query.argument and not (query.argument.isdecimal() and int(query.argument)):
        return None
    rows = min(int(query.argument or DEFAULT_LOG_ROWS), MAX_LOG_ROWS)
    return QueryAnswer("log", log_view(query.table, rows))


async def _at(query: QueryRequest) -> QueryAnswer:
    """The position at a row of the log or at the start of a round; the last word may name a picture.

    Raises ValueError if the argument is neither.
    """
    table = query.table
    *words, last = query.argument.split() or [""]
    picture = last.casefold() if last.casefold() in PICTURE_KINDS else "map"
    moment = " ".join(words if last.casefold() in PICTURE_KINDS else [*words, last])
    seq, heading = table.log.find_row(moment)
    state = table.state_at(seq)
    text = f"{heading}:\n{text_views.status_view(state, pending_decisions(state, 0))}"
    return QueryAnswer("at", text, picture, engine.encode_state(state))


async def add_to_ending(table: LiveTable) -> EndingPart:
    """The final sheet."""
    return EndingPart(pictures=["sheet"])


async def add_to_turn(page: TurnPage) -> Addition:
    """The whole map, where the card shows a part of it."""
    state = page.view.state
    shows_part = state is not None and engine.topic(state) in ("track", "run", "trains")
    return Addition(controls=(Show("Whole map", "map"),) if page.pending and shows_part else ())
