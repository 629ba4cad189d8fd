"""Games of random play go out and come in again, as files of the site and as texts: a few here, and in a
soak a hundred of each title, with all numbers of players and optional rules by seed."""

from __future__ import annotations

import json
import re
from itertools import cycle, islice

import pytest

import engine
from bot.simulation.simulate import SimulatedGame, random_options, simulate_game
from engine.core.actions import Action
from engine.game_text import GameHistory, HistoryLine, replay
from engine.game_text.history import history_script
from engine.language.notation import format_action
from engine.site_18xx.export import SiteExporter, SiteExportError
from engine.site_18xx.game_file import read_site_file
from engine.site_18xx.names import site_names_of
from engine.site_18xx.replay import SiteReplay
from engine.title import SITE_CONVENTIONS
from engine.titles import title_of

WRITTEN = ("1830", "1870", "1817")
GAMES = 100
"""How many games of each title a soak plays."""
PLAIN = re.compile(r" for \d+$| of \w+$")
"""What a line may say or leave to be understood: what is paid anyway, whose power is used."""


class RecordingExporter(SiteExporter):
    """An export that notes what the site is told."""

    lines: list[tuple[str, str]]

    def _apply(self, seat: str, action: Action) -> None:
        self.lines.append((seat, format_action(self.site_game, action)))
        super()._apply(seat, action)


def there_and_back(game: SimulatedGame) -> None:
    """The game in the site's form is the same game when it is read, word by word, and goes out as before."""
    assert game.failure is None
    heard = RecordingExporter(game.start)
    heard.lines = []
    for told in game.history_lines:
        heard.add_line(told)
    file = heard.build_file()
    back = SiteReplay(read_site_file(json.dumps(file).encode()))
    for _ in back.run():
        pass
    assert not back.warnings
    assert [(s.seat, PLAIN.sub("", s.line)) for s in back.lines] == [
        (seat, PLAIN.sub("", line)) for seat, line in heard.lines
    ]
    for field in set(game.state.__struct_fields__) - {"options", "question", "offered", "standing"}:
        assert getattr(back.state, field) == getattr(game.state, field), field
    by_seat = engine.standings(game.state)
    assert file["result"] == {str(int(seat[1:]) + 1): dollars for seat, dollars in by_seat.items()}
    once_more = SiteExporter(back.start)
    for said in back.lines:
        once_more.add_line(HistoryLine(said.seat, said.line, said.events))
    assert once_more.build_file()["actions"] == file["actions"]


def as_text(game: SimulatedGame) -> None:
    """The game as a text replays with all its checkpoints, and is the same text again."""
    assert game.failure is None
    report = replay(game.text)
    assert report.ok, report.failure
    assert report.state == game.state
    assert report.history is not None
    assert (
        history_script(GameHistory(game.start, report.history.lines)).splitlines()
        == game.text.splitlines()[1:]
    )


def tables(title: str, conventions: str, count: int) -> list[tuple[int, int, tuple[str, ...]]]:
    """Seeds with players and options, all numbers of players in turn."""
    options = () if conventions == "rulebook" else (f"conventions {conventions}",)
    seats = title_of(title, options).components.players
    rounds = islice(cycle(range(seats["min"], seats["max"] + 1)), count)
    return [(seed, n, random_options(title, n, seed, conventions)) for seed, n in enumerate(rounds, 1)]


def there(title: str, options: tuple[str, ...]) -> tuple[str, ...]:
    """Those options that the site has, too."""
    names = site_names_of(title)
    return tuple(
        o for o in options if o == SITE_CONVENTIONS or not names.unknown_options((SITE_CONVENTIONS, o))
    )


FEW = [
    *[("1830", players, seed) for players, seed in ((2, 5), (4, 2), (6, 14))],
    *[("1870", players, seed) for players, seed in ((3, 1), (7, 4))],
    *[("1817", players, seed) for players, seed in ((3, 6), (5, 3), (7, 1), (12, 2))],
]


@pytest.mark.parametrize("title, players, seed", FEW)
def test_a_game_goes_to_the_site_and_comes_back(title: str, players: int, seed: int) -> None:
    there_and_back(
        simulate_game(title, players, seed, there(title, random_options(title, players, seed, "18xx.games")))
    )


@pytest.mark.soak
@pytest.mark.parametrize("title", WRITTEN)
def test_a_hundred_games_go_to_the_site_and_come_back(title: str) -> None:
    for seed, players, options in tables(title, "18xx.games", GAMES):
        there_and_back(simulate_game(title, players, seed, there(title, options)))


@pytest.mark.parametrize("title", engine.title_names())
def test_a_game_is_a_text_and_comes_back(title: str) -> None:
    for seed, players, options in tables(title, "rulebook", 2):
        as_text(simulate_game(title, players, seed, options))


@pytest.mark.soak
@pytest.mark.parametrize("title", engine.title_names())
def test_a_hundred_games_are_texts_and_come_back(title: str) -> None:
    for seed, players, options in tables(title, "rulebook", GAMES):
        as_text(simulate_game(title, players, seed, options))


@pytest.mark.soak
@pytest.mark.parametrize("title", WRITTEN)
def test_games_of_the_rulebook_go_out_or_are_refused_by_their_first_move(title: str) -> None:
    """What goes out is read without a warning; what does not is said with the move, in a sentence."""
    for seed, players, options in tables(title, "rulebook", 30):
        if set(there(title, options)) < set(options):
            continue
        game = simulate_game(title, players, seed, options)
        try:
            exporter = SiteExporter(game.start)
            for told in game.history_lines:
                exporter.add_line(told)
        except SiteExportError as wrong:
            assert re.match(r"Move \d+ \(\w+: .+\) has no counterpart on 18xx\.games: \S.*\.$", str(wrong))
