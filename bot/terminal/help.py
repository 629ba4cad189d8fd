"""The commands that only the terminal has, with what each does, as `help` lists them."""

from collections.abc import Sequence

from bot.hub.command import Form

COMMANDS = (
    ("table new TITLE Ann, Bob, Cid", "create a table; `option X` after the names, once for each option"),
    ("table new TITLE Ann, robot, robot", "robots take these seats; `option hints` allows `hint`"),
    ("practice [TITLE]", "a game against two robots, with hints"),
    ("player Ann mail ADDRESS", "link an email address; `on`, `off` start and stop the emails"),
    ("table list, table use CODE", "list all tables; open one"),
    ("table import PATH", "go on with a game of 18xx.games, or with a game text"),
    ("watch PATH", "show such a game without a table, and what is new since the last time"),
    ("table replace Ann by Dora", "Dora plays on for Ann"),
    ("Ann: LINE", "play a line for Ann; `;` separates several lines"),
    ("LINE", "play a line for the player who is to act"),
    ("quit", "end the service"),
)


def command_lines(before_start: Sequence[Form]) -> list[str]:
    """A line for each command: its form and its meaning. before_start: lines of a table in its lobby."""
    lobby = [(f"table {form.text}", form.meaning) for form in before_start]
    listed = [*COMMANDS[:3], *lobby, *COMMANDS[3:]]
    width = max(len(form) for form, _ in listed)
    return [f"  {form.ljust(width)}  {meaning}" for form, meaning in listed]
