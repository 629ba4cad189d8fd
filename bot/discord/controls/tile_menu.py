"""Tile lays on Discord: first the hex, then every way to lay there, numbered, then one of them on the map.

The first press names the hex. The answer shows pictures of all ways with their numbers; *Lay 3* lays the
third at once, and *Look closer* shows the map with it, what it costs and what the best run becomes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import engine
from bot.discord.cards import parts as message_parts
from bot.discord.cards.parts import ImageRef, Json
from bot.discord.controls.controls import (
    LOOK_CLOSER,
    MAX_CUSTOM_ID,
    MAX_OPTIONS,
    OPEN_TILES,
    SELECT,
    SUBMIT_LINE,
    CustomId,
    MenuItem,
    encode_choice,
)
from bot.discord.controls.decision_controls import LayChoice, with_effects
from bot.discord.interactions import private_answers
from bot.position.pending import engine_seat
from bot.position.sentences import dollars
from engine.operating.run import best_run, format_routes

MAX_LAY_BUTTONS = 10
PREVIEW_BUDGET = 100_000  # nodes of the search for the best run


def ways_message(
    custom_id: CustomId,
    choices: Sequence[engine.Choice],
    lays: Sequence[LayChoice],
    images: Sequence[ImageRef],
    page: int = 0,
    state: engine.State | None = None,
) -> list[Json]:
    """Every way to lay a tile on one hex, numbered, with pictures and controls; with what each does in
    `state`."""
    hex = lays[0].hex
    lines = [f"**{n}** · {choices[lay.number].label}" for n, lay in enumerate(lays, 1)]
    buttons = [
        message_parts.button(f"Lay {n}", _submit(custom_id, choices, lay.number), message_parts.PRIMARY)
        for n, lay in enumerate(lays[:MAX_LAY_BUTTONS], 1)
    ]
    first = page * (MAX_OPTIONS - 1)
    last = len(lays) if len(lays) <= MAX_OPTIONS else first + MAX_OPTIONS - 1
    items = [
        MenuItem(
            f"{n}: {choices[lay.number].label}",
            choices[lay.number].line,
            LOOK_CLOSER,
            encode_choice(choices, lay.number, MAX_CUSTOM_ID - 2),
        )
        for n, lay in list(enumerate(lays, 1))[first:last]
    ]
    if state is not None and custom_id.seat is not None:
        items = with_effects(state, engine_seat(custom_id.seat), choices, items)
    if len(lays) > last:
        items.append(MenuItem("More…", f"{len(lays) - last} further", OPEN_TILES, f"{hex}+{page + 1}"))
    look = message_parts.select_row(
        str(custom_id._replace(action=SELECT, argument="0")), f"Look closer at {hex}", items
    )
    text = message_parts.truncate("\n".join(lines), private_answers.MAX_PRIVATE_TEXT)
    return [
        message_parts.text_display(text),
        *message_parts.media_galleries(images),
        *message_parts.action_rows(buttons),
        look,
    ]


def look_message(
    custom_id: CustomId,
    choices: Sequence[engine.Choice],
    lay: LayChoice,
    consequences: str,
    images: Sequence[ImageRef],
) -> list[Json]:
    """One way to lay a tile, on the map, before it is done."""
    back = custom_id._replace(action=OPEN_TILES, argument=lay.hex)
    buttons = [
        message_parts.button("Lay", _submit(custom_id, choices, lay.number), message_parts.SUCCESS),
        message_parts.button("Back", str(back)),
    ]
    text = f"**{choices[lay.number].label}**\n{consequences}"
    return [
        message_parts.text_display(text),
        *message_parts.media_galleries(images),
        *message_parts.action_rows(buttons),
    ]


def _submit(custom_id: CustomId, choices: Sequence[engine.Choice], index: int) -> str:
    blank = custom_id._replace(action=SUBMIT_LINE, argument="")
    return str(blank._replace(argument=encode_choice(choices, index, blank.max_argument_length)))


class LayPreview(NamedTuple):
    """A lay tried on a copy: the position after it, the best run's routes, and what changes in words."""

    state: engine.State
    company: str
    routes: tuple[tuple[str, str], ...]
    text: str


def preview_lay(state: engine.State, seat: str, line: str) -> LayPreview:
    """Try a lay. Raises engine.RefusedError."""
    company = engine.decision(state).company or ""
    after = engine.play(state, seat, engine.parse(state, seat, line)).state
    cost = state.cash.get(company, 0) - after.cash.get(company, 0)
    parts = [f"Costs {dollars(cost)}." if cost else "Costs nothing."]
    routes: tuple[tuple[str, str], ...] = ()
    if company and state.companies[company].trains:
        before = best_run(engine.game_of(state), company, budget=PREVIEW_BUDGET)
        best = best_run(engine.game_of(after), company, budget=PREVIEW_BUDGET)
        routes = format_routes(engine.game_of(after), best)
        parts.append(
            f"The best run of the {company} becomes {dollars(best.revenue)} (now {dollars(before.revenue)})."
        )
    return LayPreview(after, company, routes, " ".join(parts))
