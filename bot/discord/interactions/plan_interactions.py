"""*Try* on a card: a plan is made step by step in a private message, with its map, money and revenue.

Every control of that message stays in the plan; only *Play this* plays it at the table.
"""

from __future__ import annotations

from collections.abc import Sequence

import discord

import engine
from bot.discord.api import ImageAttachment
from bot.discord.cards import parts
from bot.discord.cards.card_builder import image_attachments
from bot.discord.cards.parts import Json
from bot.discord.controls.controls import (
    ENTER_LINE,
    MAX_OPTIONS,
    SELECT,
    SUBMIT_LINE,
    TRY,
    TRY_LINE,
    CustomId,
    MenuItem,
    capitalized,
    group_by_label,
)
from bot.discord.controls.decision_controls import with_effects
from bot.discord.interactions import private_answers
from bot.hub.result import QueryAnswer
from bot.pictures.views import tried_pictures
from bot.pictures.workers import PictureWorkers
from bot.position.pending import engine_seat
from bot.service import Service

MAX_PLAN_SELECTS = 5
MAX_LINE_LENGTH = 96  # of an option's value
NO_STEPS = "Nothing is planned yet. Choose a step; nobody else sees it, and nothing is played."


def plan_controls(
    custom_id: CustomId,
    state: engine.State,
    seat: str,
    choices: Sequence[engine.Choice],
    *,
    has_steps: bool,
) -> list[Json]:
    """Selects of the next steps by verb, and the buttons of the plan, which has led to `state`."""
    rows = []
    for number, (verb, indices) in enumerate(group_by_label(choices, range(len(choices)), 0).items()):
        fitting = [choices[i] for i in indices if len(choices[i].line) <= MAX_LINE_LENGTH]
        items = [MenuItem(c.label, c.line, TRY_LINE, c.line) for c in fitting[:MAX_OPTIONS]]
        if items and number < MAX_PLAN_SELECTS:
            select = custom_id._replace(action=SELECT, argument=str(number))
            more = f", {len(indices) - len(items)} more by Write…" if len(indices) > len(items) else ""
            items = with_effects(state, seat, choices, items)
            rows.append(parts.select_row(str(select), f"Try: {capitalized(verb)}{more}", items))
    play = custom_id._replace(action=SUBMIT_LINE, argument="plan play")
    buttons = [
        *([parts.button("Play this", str(play), parts.SUCCESS)] if has_steps else []),
        parts.button("Write…", str(custom_id._replace(action=ENTER_LINE, argument="plan"))),
        *([parts.button("Start over", str(custom_id._replace(argument="clear")))] if has_steps else []),
    ]
    return [*rows, *parts.action_rows(buttons)]


class PlanInteractions:
    """Shows and extends plans."""

    def __init__(self, service: Service, pictures: PictureWorkers) -> None:
        self.service, self.pictures = service, pictures

    async def show(
        self, interaction: discord.Interaction, custom_id: CustomId, person_id: int, line: str
    ) -> tuple[list[Json], list[ImageAttachment]]:
        """Carry out `plan LINE` and show the plan: a message with its pictures."""
        view = await self.service.queries.view(custom_id.table_id)
        seat = view.table.seat_of(person_id)
        custom_id = CustomId(custom_id.table_id, seat, None, TRY)
        result = await self.service.submit(
            custom_id.table_id, seat, [f"plan {line}"], None, str(interaction.id),
            person_id=person_id, transport="discord",
        )  # fmt: skip
        if not isinstance(result, QueryAnswer):
            back = parts.button("Back to the plan", str(custom_id))
            return [
                *private_answers.result_message(result, view.table, seat),
                *parts.action_rows([back]),
            ], []
        has_steps = result.encoded_state is not None
        state = result.shown_state(view.state) if view.state else None
        if state is None or seat is None:
            return private_answers.result_message(result, view.table, seat), []
        choices = []
        if not state.game_over and engine_seat(seat) in engine.decision(state).awaited:
            choices = engine.choices(state, engine_seat(seat))
        palette = await self.service.settings.palette(view.table, person_id)
        drawing = self.pictures.for_table(custom_id.table_id, palette, reader=person_id)
        assert view.state is not None
        images = image_attachments(await tried_pictures(drawing, state, view.state, result.ran))
        text = private_answers.result_text(result)[0] if has_steps else NO_STEPS
        payload = [
            parts.text_display(text, private_answers.MAX_PRIVATE_TEXT),
            *parts.media_galleries([each.ref for each in images]),
            *plan_controls(custom_id, state, engine_seat(seat), choices, has_steps=has_steps),
        ]
        return payload, images
