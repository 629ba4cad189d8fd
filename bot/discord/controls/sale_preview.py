"""Sales before they are done: what they bring, how prices fall, who becomes president.

*Confirm* sells, and *Confirm, buy …* sells and buys in one press; all of it is played together or not at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import engine
from bot.discord.cards import parts
from bot.discord.cards.parts import Json
from bot.discord.controls.controls import SUBMIT_LINE, CustomId
from bot.discord.controls.decision_controls import purchase_label, purchases
from bot.discord.interactions import private_answers
from bot.position import text_views
from bot.position.legal_lines import price_at_end_of_round, protection_note, sold_shares
from bot.position.sentences import dollars


class SalePreview(NamedTuple):
    """Sales tried on a copy: the lines played, the position afterwards, and what changes in words."""

    lines: tuple[str, ...]
    state: engine.State
    text: str


def preview_sales(state: engine.State, seat: str, lines: Sequence[str]) -> SalePreview:
    """Try sales, of each company the largest of those chosen. Raises engine.RefusedError."""
    by_company: dict[str, str] = {}
    for line in lines:
        sold, _ = sold_shares(line)
        by_company[sold] = max(by_company.get(sold, line), line, key=lambda each: sold_shares(each)[1])
    after = state
    told = []
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
    told += [
        f"{sym}: {price} → {lower} after your turn, {protection_note(after, sym)}."
        for sym, line in by_company.items()
        if (price := text_views.price_text(state, sym))
        and (lower := engine.later_fall(state, sym, sold_shares(line)[1]))
    ]
    told += [
        f"{sym}: {text_views.price_text(state, sym)} → {later} at the end of the round, as the shares lie."
        for sym in by_company
        if (later := price_at_end_of_round(state, after, sym))
    ]
    told.append(f"You then have {dollars(after.cash[seat])}.")
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
