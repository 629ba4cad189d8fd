"""Everything that a player is shown of a table, by channel: what the referees of secrets compare.

A picture is drawn from what is asked for alone, so the request stands for the picture; `draws` has them drawn
too, with their alternative texts.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import engine
from bot.discord.cards import card_texts, layouts
from bot.email.pages.turn_pages import TurnPages
from bot.features.views.feature import log_view
from bot.hub.feature import TurnPage
from bot.hub.log import recent_events
from bot.hub.request import LineRefused, QueryAnswer
from bot.hub.table import TableView
from bot.pictures.views import answer_pictures, turn_pictures
from bot.pictures.workers import PictureWorkers, draw_file
from bot.position import legal_lines
from renderers import Picture
from tests.service.conftest import NAMES, ServiceHarness

Views = dict[str, list[str]]
"""Texts by channel."""

TEXTS = ("status", "turn", "help", "market", "board", "log 50", "at start", "turns")
SHOWS = ("bids", "privates", "trains", "tiles", "routes", "chart", "chart prices", "records")
EXPORTS = ("export text", "export csv", "export 18xx.games --as-far-as-possible")
WRONG = ("buy nothing", "protect XX", "auto run XX", "plan XX")
"""Lines that are refused: their answers say nothing of the orders of others."""


class RequestedPictures(PictureWorkers):
    """Pictures that are what was asked for; with `draws` they are drawn, in this process."""

    def __init__(self) -> None:
        super().__init__(1)
        self.draws, self.drawn = False, 0

    async def request(
        self, kind: str, state: engine.State, arguments: tuple[Any, ...], details: dict[str, Any], *_: Any
    ) -> Picture | None:
        asked = repr((kind, engine.encode_state(state), arguments, sorted(details.items())))
        if not self.draws:
            return Picture(asked.encode(), asked, 1, 1)
        self.drawn += 1
        return draw_file(kind, state, arguments, details)


async def views_of(world: ServiceHarness, name: str, pictures: RequestedPictures) -> Views:
    """Everything that this player is shown now, but the messages that are on their way."""
    queries, seat = world.service.queries, NAMES.index(name)
    view = await queries.view(world.table)
    assert view.state is not None
    company = next(iter(view.state.companies))
    others = [f"player {other}" for other in NAMES] + [f"company {company}"]
    views: Views = {
        "terminal": await _answers(world, name, (*TEXTS, *others), pictures),
        "show": await _answers(world, name, (*SHOWS, f"routes {company}"), pictures),
        "bystander": await _answers(world, None, (*TEXTS[:-1], *SHOWS), pictures),
        "exports": [*await _answers(world, name, EXPORTS, pictures)],
        "errors": [repr(await world.say(name, line)) for line in WRONG],
        "card": await _cards(world, view, seat),
        "mail": await _emails(world, view, name, pictures, own=False),
        "own mail": await _emails(world, view, name, pictures, own=True),
    }
    log = await queries.log(world.table)
    views["log"] = [
        *(f"{row.seq} {row.kind} {row.line} {row.raw_line} {' '.join(row.sentences)}" for row in log),
        *card_texts.turn_lines(log, NAMES), *recent_events(log),
        log_view(await world.service.cache.get(world.table)),
    ]  # fmt: skip
    drawing = pictures.for_table(world.table, "light")
    images = await turn_pictures(queries, drawing, view)
    views["picture"] = [repr(image.picture.png) for image in images]
    views["alt text"] = [image.picture.alt for image in images]
    views["menu"] = [
        text
        for choice in await queries.choices(world.table, seat)
        for text in (choice.line, choice.label, *legal_lines.copyable_lines([choice]))
    ]
    views["position"] = [repr(engine.encode_state(engine.visible_to(view.state, f"p{seat}")))]
    return views


async def _answers(
    world: ServiceHarness, name: str | None, lines: Sequence[str], pictures: RequestedPictures
) -> list[str]:
    """Answers to questions of a player, or of somebody who has no seat."""
    found = []
    view = await world.service.queries.view(world.table)
    for line in lines:
        if name is None:
            answer = await world.service.ask(world.table, line, person_id=None)
        else:
            answer = await world.say(name, line)
        assert isinstance(answer, QueryAnswer | LineRefused), (line, answer)
        found.append(repr(answer))
        if isinstance(answer, QueryAnswer) and answer.picture != "animation":
            drawing = pictures.for_table(world.table, "light")
            images = await answer_pictures(world.service.queries, drawing, view, answer)
            found += [repr(image) for image in images]
    return found


async def _cards(world: ServiceHarness, view: TableView, seat: int) -> list[str]:
    """The cards of all who are asked, as they are posted for the whole table."""
    found = []
    for asked in view.pending:
        choices = {asked.seat: await world.service.queries.choices(world.table, asked.seat)}
        log = await world.service.queries.log_since_last_move(world.table, asked.seat)
        history = card_texts.history_lines(log, NAMES)
        added = await world.service.additions(TurnPage(view, asked, choices[asked.seat], None))
        card = layouts.turn_card(view, [asked], choices, history, {}, [], added=added)
        found += [json.dumps(card), card_texts.notification_line(view, [asked], {})]
    return found


async def _emails(
    world: ServiceHarness, view: TableView, name: str, pictures: RequestedPictures, own: bool
) -> list[str]:
    """The email of the turn of a player, or of others as whose deputy they might play."""
    assert view.state is not None
    pages = TurnPages(world.service, pictures)
    reader = world.people[name]
    asked = [each for each in view.pending if (each.name == name) == own]
    return [repr(await pages.turn(view, view.state, each, reader)) for each in asked]
