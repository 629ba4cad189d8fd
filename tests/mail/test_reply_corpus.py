"""Every email of the corpus is read as its writer means it; nothing is ever played that was not meant.

The figures per class are printed by `pytest -s`.
"""

from collections import Counter

import pytest

from tests.mail.reply_corpus import FOLDER, Reading, ReplyCase, cases, read

CASES = list(cases())
COLUMNS = ("emails", "to play", "played right", "not to play", "offered for yes", "played wrongly")


def plain(lines: tuple[str, ...], any_case: bool) -> tuple[str, ...]:
    if not any_case:
        return lines
    return tuple(line.casefold().replace("done", "pass").replace("$", "").replace("#", "") for line in lines)


def is_right(case: ReplyCase, reading: Reading) -> bool:
    return plain(reading.played, case.any_case) == plain(case.orders, case.any_case)


def test_an_email_does_what_its_writer_means(capsys: pytest.CaptureFixture[str]) -> None:
    """At least 300 emails, of which at least 60 must not be played; of those, none is."""
    figures = {path.stem: Counter[str]() for path in sorted(FOLDER.glob("*.toml"))}
    wrong = list[tuple[str, str, Reading]]()
    for name, case in CASES:
        reading = read(case)
        right = is_right(case, reading)
        if not right or case.offered not in {None, reading.offered}:
            wrong.append((case.name, case.text, reading))
        figures[name].update(
            {
                "emails": 1,
                "to play": bool(case.orders),
                "not to play": not case.orders,
                "played right": bool(case.orders) and right,
                "played wrongly": bool(reading.played) and not right,
                "offered for yes": bool(reading.offered),
            }
        )
    with capsys.disabled():
        print(f"\n{'class':24}" + "".join(f"{column:>17}" for column in COLUMNS))
        for name, count in figures.items():
            print(f"{name:24}" + "".join(f"{count[column]:17}" for column in COLUMNS))
    assert not wrong
    total = sum(figures.values(), Counter[str]())
    assert total["emails"] >= 300 and total["not to play"] >= 60
    assert total["played wrongly"] == 0
