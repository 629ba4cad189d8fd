"""The cards of tables that have not begun, are joined, or are over: the lobby, invitations, *Rematch*."""

from __future__ import annotations

from collections.abc import Sequence

import engine
from bot.discord.cards.parts import PRIMARY, SUCCESS, Json, action_rows, button, container, text_display
from bot.discord.controls.controls import SUBMIT_LINE, CustomId
from bot.hub.info import TableInfo, open_seats
from bot.hub.pace import pace_text


def rematch_row(table: TableInfo) -> list[Json]:
    """The button that opens a table with the same people, after a game."""
    custom_id = CustomId(table.id, None, None, SUBMIT_LINE, "rematch")
    return action_rows([button("Rematch", str(custom_id))]) if table.seated_players else []


def lobby_card(table: TableInfo) -> list[Json]:
    """A table before its game starts: who is seated, and the buttons to join, leave and start."""
    components = engine.title_of(table.title, table.options).components
    seats = [
        f"{i}. {s.name}" + ("" if s.joined else " (invited)") for i, s in enumerate(table.seated_players, 1)
    ]
    name = "" if table.name == table.title else f" · {table.name}"
    lines = [
        f"### Table {table.code} · {table.title}{name}",
        f"For {components.players['min']} to {components.players['max']} players"
        + (f", {', '.join(table.options)}" if table.options else "")
        + ".",
        pace_text(table.pace),
        *(seats or ["Nobody is seated yet."]),
    ]
    parts = [text_display("\n".join(lines))]
    if table.status == "lobby":
        custom_id = CustomId(table.id, None, None, SUBMIT_LINE, "join")
        parts += action_rows(
            [
                button("Join", str(custom_id), SUCCESS),
                button("Leave", str(custom_id._replace(argument="leave"))),
                button("Start", str(custom_id._replace(argument="start shuffled")), PRIMARY),
            ]
        )
    elif table.status == "paused" and (seats_left := open_seats(table)):
        custom_id = CustomId(table.id, None, None, SUBMIT_LINE)
        parts.append(text_display("The game goes on once each seat has its player. Whose seat is yours?"))
        parts += action_rows(
            [
                button(f"The seat of {name}", str(custom_id._replace(argument=f"ask {name}")), SUCCESS)
                for name in (table.names[seat] for seat in seats_left)
            ]
        )
    else:
        parts.append(
            text_display("The game has begun." if table.status != "ended" else "The table was closed.")
        )
    return [container(parts)]


def invitation_card(table: TableInfo, host: str, details: Sequence[str] = ()) -> list[Json]:
    """A direct message that offers the reader a seat. details: what is agreed there, and who plays."""
    custom_id = CustomId(table.id, None, None, SUBMIT_LINE, "join")
    sentence = f"{host} keeps a seat for you at table **{table.code}** · {table.title} · {table.name}."
    join = button("Join", str(custom_id), SUCCESS)
    leave = button("Leave", str(custom_id._replace(argument="leave")))
    text = "\n".join([sentence, *details])
    return [container([text_display(text), *action_rows([join, leave])])]
