"""Every citation in the engine names its book and a section, table or chapter that the book has."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import engine
from engine.titles.t1817.composition import SECTIONS as SECTIONS_1817
from engine.titles.t1851.composition import SECTIONS as SECTIONS_1851
from engine.titles.t1870.composition import SECTIONS as SECTIONS_1870
from tests.t1817 import test_section_coverage as book_1817
from tests.t1830 import test_section_coverage as book_1830

OF_1870 = """
1 1.1 1.2 1.3 2 2.1 2.2 2.3 2.4 2.5 2.6 3 3.1 3.2 3.3 3.4 3.5 3.6 3.7
4 4.1 4.2 4.2.1 4.2.2 4.2.3 4.2.4 4.2.5 4.2.6 4.2.7 4.2.8
5 5.1 5.1.1 5.1.2 5.1.3 5.1.4 5.1.5 5.2 5.2.1 5.2.2 5.2.3 5.3 5.3.1 5.3.2 5.3.3 5.3.4 5.3.5
5.4 5.4.1 5.4.2 5.5 5.5.1 5.5.2 5.5.2.1 5.5.3 5.5.4 5.6 5.7 5.8 5.8.1 5.8.2 5.8.3 5.8.4 5.9 5.10 5.11
6 6.1 6.2 6.3 6.4 6.4.1 6.5 6.6 6.6.1 6.6.2 6.6.3 7 7.1 7.2 7.3 7.4 7.5 8 8.1 8.2 8.3 8.3.1
9 9.1 9.1.1 9.1.2 9.1.3 9.1.4 9.2 10 10.1 10.2 10.2.1 10.3 10.4 10.4.1 10.5 10.6 10.6.1 10.6.2 10.6.3
10.7 10.8 11 11.1 11.2 11.3 11.4 11.4.1 11.4.2 11.5 12 12.1 12.2 12.3 12.4 13 13.1 13.2 13.3 14
15 15.1 15.2 15.3 16 16.1 16.2 16.3 16.4 16.5 17
""".split()

POINTS_OF_1870 = {"5.9": 9, "5.10": 8, "5.11": 8}
"""How many numbered points a section has: point 7 of 5.9 is cited as 5.9.7."""

BOOKS = {
    "1830": {*book_1830.SECTIONS, *book_1830.LEFT_OUT, *book_1830.NUMBERED},
    "1817": {*book_1817.SECTIONS, *book_1817.LEFT_OUT, *book_1817.NUMBERED, "14"},
    "1870": {*OF_1870} | {f"{s}.{n + 1}" for s, most in POINTS_OF_1870.items() for n in range(most)},
}
TABLES = {*(f"Table {n}" for n in range(1, 9)), *(f"Table 1.{note}" for note in range(1, 6))}
CHAPTERS_OF_1851 = {
    "Setting Up the Game",
    "Stock Rounds",
    "Buying Stock",
    "Selling Stock",
    "Operating Rounds",
    "Routes",
    "Lay or Upgrade Track",
    "Place Station Marker",
    "Run Trains",
    "Pay Dividends",
    "Purchase Trains",
    "Phases",
    "Issue or Redeem Stock",
    "Ending the Game",
}

PLACE = r"§[\d.]*\d|Table \d+(?:\.\d)?"
CITATION = re.compile(rf"\b(18\d\d) ((?:{PLACE})(?:(?:, | and |-)(?:{PLACE}))*)")
SOURCES = sorted(Path(engine.__file__).parent.rglob("*.py"))


def citations(text: str) -> Iterator[tuple[str, str]]:
    """The book and place of each citation with a number."""
    for book, places in CITATION.findall(text):
        for place in re.findall(PLACE, places):
            yield book, place


def exists(book: str, place: str) -> bool:
    return place in TABLES if place.startswith("Table") else place.removeprefix("§") in BOOKS.get(book, ())


def test_every_cited_section_is_one_of_its_book() -> None:
    wrong = [
        f"{path.name}: {book} {place}"
        for path in SOURCES
        for book, place in citations(path.read_text(encoding="utf-8"))
        if not exists(book, place)
    ]
    assert not wrong


def test_every_cited_chapter_of_1851_is_one_of_its_book() -> None:
    cited = {
        chapter
        for path in SOURCES
        for chapter in re.findall(r"""cite\([^)]*["']1851 ([\w ]+)["']""", path.read_text(encoding="utf-8"))
    }
    cited |= {name for place in SECTIONS_1851.values() for name in place[5:].split(", ")}
    assert cited <= CHAPTERS_OF_1851


def test_other_books_are_translated_from_sections_that_exist() -> None:
    for sections in (SECTIONS_1817, SECTIONS_1851, SECTIONS_1870):
        for place in sections:
            assert all(exists(*citation) for citation in citations(place)), place


def test_no_sentence_cites_a_section_without_its_book() -> None:
    bare = [
        path.name for path in SOURCES if re.search(r" \((?:§|Table \d)", path.read_text(encoding="utf-8"))
    ]
    assert not bare
