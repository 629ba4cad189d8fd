"""`railpost bench --database`: the moves of one process and of two at one PostgreSQL database."""

from __future__ import annotations

from bot.tools.benchmark.processes import Comparison, ProcessFigures, comparison_text, measure_processes
from tests.benchmark.test_benchmark import run
from tests.stores import needs_server, temporary_database, url_text


def test_what_two_processes_make_is_compared() -> None:
    alone, beside = ProcessFigures(1000, 10, 5), ProcessFigures(900, 10, 6)
    comparison = Comparison(alone, (beside, beside))
    assert comparison.ratio == 1.8
    assert round(comparison.dearer, 2) == 1.33
    assert "two made 180 with 120% of a core: 1.80 times as many" in comparison_text(comparison)


@needs_server
def test_14_11_processes_at_a_postgresql_database_are_measured() -> None:
    with temporary_database() as url:
        comparison = measure_processes(url_text(url), 1)
    assert all(process.moves > 0 for process in (comparison.alone, *comparison.together))


def test_a_database_that_is_not_there_is_a_sentence() -> None:
    code, output = run("bench", "--database", "postgresql+psycopg://railpost@127.0.0.1:1/none")
    assert code == 1 and "could not begin" in output
