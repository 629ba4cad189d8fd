"""What a player sees before a tile is laid or shares are sold: all ways to lay, and what the sales bring
(pure).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import NamedTuple

import engine
from bot.discord.cards import parts
from bot.discord.cards.parts import ImageAttachment, Json
from bot.discord.controls.controls import (
    LOOK_CLOSER,
    MAX_CUSTOM_ID,
    OPEN_TILES,
    SELECT,
    SUBMIT_LINE,
    CustomId,
    MenuItem,
    encode_choice,
    page_of,
)
from bot.discord.controls.decision_controls import LayChoice, purchase_label, purchases, with_effects
from bot.discord.interactions import private_answers
from bot.position import text_views
from bot.position.legal_lines import companies_closed, price_at_end_of_round, protection_note, sold_shares
from bot.position.pending import engine_seat
from engine.core.events import CashMoved, RoundStarted
from engine.core.reasons import CashReason
from engine.core.words import dollars
from engine.operating.run import best_run, format_routes

MAX_LAY_BUTTONS = 10
PREVIEW_BUDGET = 100_000  # nodes of the search for the best run
LAY_REASONS = (CashReason.TERRAIN, CashReason.TRACK, CashReason.PRIVATE_INCOME)


def ways_message(
    custom_id: CustomId,
    choices: Sequence[engine.Choice],
    lays: Sequence[LayChoice],
    images: Sequence[ImageAttachment],
    page: int,
    state: engine.State | None = None,
) -> list[Json]:
    """Every way to lay a tile on one hex, numbered, with pictures and controls; with what each does in
    `state`."""
    hex = lays[0].hex
    lines = [f"**{n}** · {choices[lay.number].label}" for n, lay in enumerate(lays, 1)]
    buttons = [
        parts.button(f"Lay {n}", _submit(custom_id, choices, lay.number), parts.PRIMARY)
        for n, lay in enumerate(lays[:MAX_LAY_BUTTONS], 1)
    ]
    items = [
        MenuItem(
            f"{n}: {choices[lay.number].label}",
            choices[lay.number].line,
            LOOK_CLOSER,
            encode_choice(choices, lay.number, MAX_CUSTOM_ID - 2),
        )
        for n, lay in enumerate(lays, 1)
    ]
    items = page_of(items, page, OPEN_TILES, f"{hex}+{page + 1}")
    if state is not None and custom_id.seat is not None:
        items = with_effects(state, engine_seat(custom_id.seat), choices, items)
    look = parts.select_row(
        str(custom_id._replace(action=SELECT, argument="0")), f"Look closer at {hex}", items
    )
    text = parts.truncate("\n".join(lines), private_answers.MAX_PRIVATE_TEXT)
    return [
        parts.text_display(text),
        *parts.media_galleries(images),
        *parts.action_rows(buttons),
        look,
    ]


def look_message(
    custom_id: CustomId,
    choices: Sequence[engine.Choice],
    lay: LayChoice,
    consequences: str,
    images: Sequence[ImageAttachment],
) -> list[Json]:
    """One way to lay a tile, on the map, before it is done."""
    back = custom_id._replace(action=OPEN_TILES, argument=lay.hex)
    buttons = [
        parts.button("Lay", _submit(custom_id, choices, lay.number), parts.SUCCESS),
        parts.button("Back", str(back)),
    ]
    text = f"**{choices[lay.number].label}**\n{consequences}"
    return [
        parts.text_display(text),
        *parts.media_galleries(images),
        *parts.action_rows(buttons),
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
    played = engine.play(state, seat, engine.parse(state, seat, line))
    after, cost = played.state, _cost_of_lay(played.events, company)
    told = [
        f"Brings {dollars(-cost)}." if cost < 0 else f"Costs {dollars(cost)}." if cost else "Costs nothing."
    ]
    told += [f"⚠ The {sym} closes." for sym in companies_closed(state, after)]
    routes: tuple[tuple[str, str], ...] = ()
    if company and state.companies[company].trains:
        before = best_run(engine.game_of(state), company, budget=PREVIEW_BUDGET)
        best = best_run(engine.game_of(after), company, budget=PREVIEW_BUDGET)
        routes = format_routes(engine.game_of(after), best)
        told.append(
            f"The best run of the {company} becomes {dollars(best.revenue)} (now {dollars(before.revenue)})."
        )
    return LayPreview(after, company, routes, " ".join(told))


def _cost_of_lay(events: Iterable[engine.AnyEvent], company: str) -> int:
    """Dollars that a company pays for a lay, less what a private brings it for that; not the income of a
    round that begins with it."""
    of_turn = takewhile(lambda event: not isinstance(event, RoundStarted), events)
    paid = [each for each in of_turn if isinstance(each, CashMoved) and each.reason in LAY_REASONS]
    return sum(each.amount * ((each.source == company) - (each.target == company)) for each in paid)


class SalePreview(NamedTuple):
    """Sales tried on a copy: the lines played, the position afterwards, and what changes in words."""

    lines: tuple[str, ...]
    state: engine.State
    text: str


def preview_sales(
    state: engine.State, seat: str, lines: Sequence[str], room: int = MAX_CUSTOM_ID
) -> SalePreview:
    """Try sales, of each company the largest of those chosen, as many as `room` characters can say. Raises
    engine.RefusedError."""
    by_company: dict[str, str] = {}
    for line in lines:
        sold, _ = sold_shares(line)
        by_company[sold] = max(by_company.get(sold, line), line, key=lambda each: sold_shares(each)[1])
    left = list[str]()
    while len("; ".join(by_company.values())) > room:
        left.append(by_company.popitem()[1])
    after, told = state, list[str]()
    for line in by_company.values():
        before, after = after, engine.play_line(after, seat, line).state
        told.append(f"`{line}` brings {dollars(after.cash[seat] - before.cash[seat])}.")
    for sym, company in after.companies.items():
        old, new = text_views.price_text(state, sym), text_views.price_text(after, sym)
        if old != new:
            told.append(f"{sym}: {old} → {new}.")
        if company.president != (former := state.companies[sym].president):
            name = after.name(company.president) if company.president else "nobody"
            told.append(f"⚠ {name} becomes president of the {sym}, after {state.name(former or '')}.")
    named = {sym: line for sym, line in by_company.items() if sym}  # `sell 2` after a merger names none
    told += [
        f"{sym}: {price} → {lower} after your turn, {protection_note(after, sym)}."
        for sym, line in named.items()
        if (price := text_views.price_text(state, sym))
        and (lower := engine.later_fall(state, sym, sold_shares(line)[1]))
        and lower != text_views.price_text(after, sym)
    ]
    told += [
        f"{sym}: {text_views.price_text(state, sym)} → {later} at the end of the round, as the shares lie."
        for sym in named
        if (later := price_at_end_of_round(state, after, sym))
    ]
    told.append(f"You then have {dollars(after.cash[seat])}.")
    told += [f"`{line}` does not fit here: choose it afterwards." for line in reversed(left)]
    return SalePreview(tuple(by_company.values()), after, "\n".join(told))


def sale_message(custom_id: CustomId, seat: str, preview: SalePreview) -> list[Json]:
    """The sales before they are done, with *Confirm* and the purchases that may follow."""
    sold = "; ".join(preview.lines)
    submit = custom_id._replace(action=SUBMIT_LINE, argument="")
    buttons = [parts.button("Confirm", str(submit._replace(argument=sold)), parts.DANGER)]
    if not preview.state.game_over:
        choices = engine.choices(preview.state, seat)
        for index in purchases(preview.state, seat, choices):
            line = f"{sold}; {choices[index].line}"
            if len(line) <= submit.max_argument_length:
                label = f"Confirm, b{purchase_label(choices[index])[1:]}"
                buttons.append(parts.button(label, str(submit._replace(argument=line))))
    text = parts.text_display(parts.truncate(preview.text, private_answers.MAX_PRIVATE_TEXT))
    return [text, *parts.action_rows(buttons)]
