"""Random games are exported and imported again, as files of 18xx.games and as texts.

A few games here; in a soak test a hundred of each title, with all numbers of players and random options.
"""

from __future__ import annotations

import json
import re
from itertools import cycle, islice
from typing import Any

import pytest

import engine
from bot.tools.simulation.simulate import SimulatedGame, random_options, simulate_game
from engine.core.actions import Action
from engine.core.events import PresidentNamed
from engine.game_text import GameHistory, HistoryLine, replay
from engine.game_text.history import history_script
from engine.language.forms import format_action
from engine.site_18xx.export import SiteExporter, SiteExportError
from engine.site_18xx.names import site_names_of
from engine.site_18xx.site_game import SiteGame
from engine.title import SITE_CONVENTIONS
from engine.titles import title_of
from tests.site_18xx.recorded_games import assert_same_position, replay_file
from tests.site_18xx.site_procedure import faults

EXPORTABLE_TITLES = ("1830", "1870", "1817")
GAMES = 100
"""How many games of each title a soak plays."""
PLAIN = re.compile(r" for \d+$| of \w+$")
"""Parts of a line that may be left out: a price that is fixed anyway, the owner of an ability."""


class RecordingGame(SiteGame):
    """A second game that keeps its lines."""

    lines: list[tuple[str, str]]

    def apply(self, seat: str, action: Action) -> None:
        self.lines.append((seat, format_action(self.game, action)))
        super().apply(seat, action)


def check_certificates(exporter: SiteExporter) -> None:
    """Numbered certificates have the owners of the position, and each president has the first."""
    for company, co in exporter.site.game.state.companies.items():
        if not co.closed:
            held = exporter.site.numbering.certificates.holders(company)
            assert {owner: sum(s.values()) for owner, s in held.items()} == co.shares
            assert co.president is None or min(held[co.president]).endswith("_0")


def check_site_round_trip(game: SimulatedGame) -> list[dict[str, Any]]:
    """The exported game follows the site's procedure; it is imported line by line as the same game, and
    exported as the same file. Returns its actions.
    """
    assert game.failure is None
    exporter = SiteExporter(game.start)
    exporter.site.__class__ = RecordingGame
    recorded = exporter.site
    assert isinstance(recorded, RecordingGame)
    recorded.lines = []
    for line in game.history_lines:
        exporter.add_line(line)
        if game.state.title != "1817":
            check_certificates(exporter)
    file = exporter.build_file()
    written = json.dumps(file)
    assert list(faults(json.loads(written))) == []
    imported = replay_file(written.encode())
    assert not imported.warnings
    assert [(s.seat, PLAIN.sub("", s.line)) for s in imported.lines] == [
        (seat, PLAIN.sub("", line)) for seat, line in recorded.lines
    ]
    assert_same_position(imported.state, game.state)
    assert imported.state.players == game.state.players
    by_seat = engine.standings(game.state)
    assert file["result"] == {str(int(seat[1:]) + 1): dollars for seat, dollars in by_seat.items()}
    second_exporter = SiteExporter(imported.start)
    for each in imported.lines:
        second_exporter.add_line(HistoryLine(each.seat, each.line, each.events))
    actions: list[dict[str, Any]] = file["actions"]
    assert second_exporter.build_file()["actions"] == actions
    return actions


def check_text_round_trip(game: SimulatedGame) -> None:
    """The text of the game replays with all its checkpoints, and is written as the same text again."""
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
    """(seed, players, options), with all numbers of players in turn."""
    options = () if conventions == "rulebook" else (f"conventions {conventions}",)
    seats = title_of(title, options).components.players
    rounds = islice(cycle(range(seats["min"], seats["max"] + 1)), count)
    return [(seed, n, random_options(title, n, seed, conventions)) for seed, n in enumerate(rounds, 1)]


def options_on_site(title: str, options: tuple[str, ...]) -> tuple[str, ...]:
    """Those of the options that the site has too."""
    names = site_names_of(title)
    return tuple(
        o for o in options if o == SITE_CONVENTIONS or not names.unknown_options((SITE_CONVENTIONS, o))
    )


FEW = [
    ("1830", 6, 14),
    ("1870", 3, 2),
    ("1817", 3, 6),
]


@pytest.mark.parametrize("title, players, seed", FEW)
def test_a_game_is_exported_and_imported_again(title: str, players: int, seed: int) -> None:
    """Presidencies change in those with numbered certificates, and half a president's certificate is sold."""
    options = options_on_site(title, random_options(title, players, seed, "18xx.games"))
    game = simulate_game(title, players, seed, options)
    actions = check_site_round_trip(game)
    if title != "1817":
        assert sum(isinstance(e, PresidentNamed) for line in game.history_lines for e in line.events) > 10
        sales = [action for action in actions if action["type"] == "sell_shares"]
        named = [sum(20 if s.endswith("_0") else 10 for s in sale["shares"]) for sale in sales]
        assert any(sale["percent"] == all_of - 10 for sale, all_of in zip(sales, named, strict=True))


@pytest.mark.soak
@pytest.mark.parametrize("title", EXPORTABLE_TITLES)
def test_a_hundred_games_are_exported_and_imported_again(title: str) -> None:
    for seed, players, options in tables(title, "18xx.games", GAMES):
        check_site_round_trip(simulate_game(title, players, seed, options_on_site(title, options)))


@pytest.mark.soak
@pytest.mark.parametrize("title", engine.title_names())
def test_a_hundred_games_are_written_and_replayed_as_texts(title: str) -> None:
    for seed, players, options in tables(title, "rulebook", GAMES):
        check_text_round_trip(simulate_game(title, players, seed, options))


@pytest.mark.soak
@pytest.mark.parametrize("title", EXPORTABLE_TITLES)
def test_rulebook_games_are_exported_or_refused_at_a_move(title: str) -> None:
    """An exported game is imported without a warning; a refusal names the move in one sentence."""
    for seed, players, options in tables(title, "rulebook", 30):
        if set(options_on_site(title, options)) < set(options):
            continue
        game = simulate_game(title, players, seed, options)
        try:
            exporter = SiteExporter(game.start)
            for told in game.history_lines:
                exporter.add_line(told)
        except SiteExportError as wrong:
            assert re.match(r"Move \d+ \(\w+: .+\) has no counterpart on 18xx\.games: \S.*\.$", str(wrong))
