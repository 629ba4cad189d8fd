"""Games of random play go out and come in again, as files of the site and as texts: a few here, and in a
soak a hundred of each title, with all numbers of players and optional rules by seed."""

from __future__ import annotations

import json
import re
from itertools import cycle, islice

import pytest

import engine
from bot.offline.simulate import Simulated, simulated, varied
from engine.actions import Action
from engine.interchange.export import Exporter, NoCounterpart
from engine.interchange.site import Replay
from engine.interchange.site_file import read
from engine.interchange.site_names import names_of
from engine.notation import spell
from engine.record import Telling, Told, replay
from engine.record.telling import text
from engine.title import SITE
from engine.titles import title_of

WRITTEN = ("1830", "1870", "1817")
GAMES = 100
"""How many games of each title a soak plays."""
PLAIN = re.compile(r" for \d+$| of \w+$")
"""What a line may say or leave to be understood: what is paid anyway, whose power is used."""


class Heard(Exporter):
    """An export that notes what the site is told."""

    lines: list[tuple[str, str]]

    def _carry_out(self, seat: str, action: Action) -> None:
        self.lines.append((seat, spell(self.site, action)))
        super()._carry_out(seat, action)


def there_and_back(game: Simulated) -> None:
    """The game in the site's form is the same game when it is read, word by word, and goes out as before."""
    assert game.failure is None
    heard = Heard(game.start)
    heard.lines = []
    for told in game.told:
        heard.say(told)
    file = heard.file()
    back = Replay(read(json.dumps(file).encode()))
    for _ in back.run():
        pass
    assert not back.warnings
    assert [(s.seat, PLAIN.sub("", s.line)) for s in back.said] == [
        (seat, PLAIN.sub("", line)) for seat, line in heard.lines
    ]
    for field in set(game.state.__struct_fields__) - {"options", "question", "offered", "standing"}:
        assert getattr(back.state, field) == getattr(game.state, field), field
    by_seat = engine.standings(game.state)
    assert file["result"] == {str(int(seat[1:]) + 1): dollars for seat, dollars in by_seat.items()}
    once_more = Exporter(back.start)
    for said in back.said:
        once_more.say(Told(said.seat, said.line, said.events))
    assert once_more.file()["actions"] == file["actions"]


def as_text(game: Simulated) -> None:
    """The game as a text replays with all its checkpoints, and is the same text again."""
    assert game.failure is None
    report = replay(game.text)
    assert report.ok, report.failure
    assert report.state == game.state
    assert report.telling is not None
    assert text(Telling(game.start, report.telling.moves)).splitlines() == game.text.splitlines()[1:]


def tables(title: str, conventions: str, count: int) -> list[tuple[int, int, tuple[str, ...]]]:
    """Seeds with players and options, all numbers of players in turn."""
    options = () if conventions == "rulebook" else (f"conventions {conventions}",)
    seats = title_of(title, options).facts.players
    rounds = islice(cycle(range(seats["min"], seats["max"] + 1)), count)
    return [(seed, n, varied(title, n, seed, conventions)) for seed, n in enumerate(rounds, 1)]


def there(title: str, options: tuple[str, ...]) -> tuple[str, ...]:
    """Those options that the site has, too."""
    names = names_of(title)
    return tuple(o for o in options if o == SITE or not names.unknown((SITE, o)))


FEW = [
    *[("1830", players, seed) for players, seed in ((2, 5), (4, 2), (6, 14))],
    *[("1870", players, seed) for players, seed in ((3, 1), (7, 4))],
    *[("1817", players, seed) for players, seed in ((3, 6), (5, 3), (7, 1), (12, 2))],
]


@pytest.mark.parametrize("title, players, seed", FEW)
def test_a_game_goes_to_the_site_and_comes_back(title: str, players: int, seed: int) -> None:
    there_and_back(simulated(title, players, seed, there(title, varied(title, players, seed, "18xx.games"))))


@pytest.mark.soak
@pytest.mark.parametrize("title", WRITTEN)
def test_a_hundred_games_go_to_the_site_and_come_back(title: str) -> None:
    for seed, players, options in tables(title, "18xx.games", GAMES):
        there_and_back(simulated(title, players, seed, there(title, options)))


@pytest.mark.parametrize("title", engine.titles())
def test_a_game_is_a_text_and_comes_back(title: str) -> None:
    for seed, players, options in tables(title, "rulebook", 2):
        as_text(simulated(title, players, seed, options))


@pytest.mark.soak
@pytest.mark.parametrize("title", engine.titles())
def test_a_hundred_games_are_texts_and_come_back(title: str) -> None:
    for seed, players, options in tables(title, "rulebook", GAMES):
        as_text(simulated(title, players, seed, options))


@pytest.mark.soak
@pytest.mark.parametrize("title", WRITTEN)
def test_games_of_the_rulebook_go_out_or_are_refused_by_their_first_move(title: str) -> None:
    """What goes out is read without a warning; what does not is said with the move, in a sentence."""
    for seed, players, options in tables(title, "rulebook", 30):
        if set(there(title, options)) < set(options):
            continue
        game = simulated(title, players, seed, options)
        try:
            exporter = Exporter(game.start)
            for told in game.told:
                exporter.say(told)
        except NoCounterpart as wrong:
            assert re.match(r"Move \d+ \(\w+: .+\) has no counterpart on 18xx\.games: \S.*\.$", str(wrong))
