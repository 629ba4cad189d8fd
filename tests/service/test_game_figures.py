"""The figures at the end of a game: days, waits, what orders saved, and answers if the table has agreed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from bot.hub.notifications.ending import figures_sentence, game_figures
from bot.hub.pace import parse_pace
from bot.position.times import duration_text
from storage import LogRow

START = datetime(2026, 3, 1, tzinfo=UTC)


def moves(*told: tuple[int, float, int | None]) -> list[LogRow]:
    """Moves by seat, the hours after the start, and the order that said them."""
    return [
        LogRow("terminal", seat=seat, created_at=START + timedelta(hours=hours), order_id=order)
        for seat, hours, order in told
    ]


GAME = moves((0, 0, None), (1, 5, None), (2, 5, 7), (0, 30, None), (0, 31, None), (1, 31, 8), (2, 55, None))


def test_waits_and_what_orders_saved() -> None:
    """Without the two orders the table would have waited for seat 2 and for seat 1 too."""
    figures = game_figures(GAME)
    assert (figures.length, figures.waits, figures.saved) == (timedelta(hours=55), 3, 2)
    assert figures.answers == {1: timedelta(hours=5), 0: timedelta(hours=25), 2: timedelta(hours=24)}


def test_an_order_between_two_moves_of_one_player_makes_no_wait() -> None:
    figures = game_figures(moves((0, 0, None), (1, 0, 5), (0, 1, None)))
    assert (figures.waits, figures.saved) == (0, 2)


def test_one_is_said_in_the_singular() -> None:
    figures = game_figures(moves((0, 0, None), (1, 1, None), (1, 2, None), (0, 3, 5)))
    said = figures_sentence(figures, ["Ann", "Bob"], shows_answers=False)
    assert said == "The game took 3 hours and waited 1 time; orders saved 1 wait."


def test_answers_are_shown_only_if_the_table_has_agreed() -> None:
    names = ("Ann", "Bob", "Cid")
    hidden = figures_sentence(game_figures(GAME), names, shows_answers=False)
    assert hidden == "The game took 2 days and waited 3 times; orders saved 2 waits."
    shown = figures_sentence(game_figures(GAME), names, shows_answers=True)
    assert shown == f"{hidden} Median answers: Ann 25 hours, Bob 5 hours and Cid 24 hours."
    assert str(parse_pace("24h, answers shown")) == "24h, answers shown"
    assert not parse_pace("24h, answers shown, answers hidden").shows_answers


@pytest.mark.parametrize(
    ("minutes", "text"), [(0, "1 minute"), (12, "12 minutes"), (60, "1 hour"), (90, "90 minutes")]
)
def test_durations(minutes: int, text: str) -> None:
    assert duration_text(timedelta(minutes=minutes)) == text


def test_a_game_without_moves_has_no_figures() -> None:
    assert game_figures([]) == (timedelta(), 0, 0, {})
