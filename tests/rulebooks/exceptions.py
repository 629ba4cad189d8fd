"""Which test holds each sentence of the rulebooks with *except*, *unless*, *may not*, *immediately*, *only*.

    python -m tests.rulebooks.exceptions FOLDER             the whole list
    python -m tests.rulebooks.exceptions FOLDER --missing   sentences without a test or a reason

FOLDER has the books as `1830.txt` and so on. A line of `exceptions.list` has the book, the section (that of
the last heading before the sentence), a key of the sentence and its first words. Behind `|` stand the names
of tests without `test_`, or a dash and why none is needed. The key is made from the letters of the sentence.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
BOOKS = ("1830", "1851", "1870", "1817", "1817-notes")
WORDS = re.compile(r"\b(except|unless|may not|immediately|only)\b", re.IGNORECASE)
HEADING = re.compile(r"(\d{1,2}(?:\.\d+)*)\.?\s+[A-Z“\"2]")
MAX_HEADING, MIN_WORDS = 90, 5
"""Letters of a heading at most, words of a sentence at least."""


class Sentence(NamedTuple):
    """A sentence of a book: its section (empty where the book has no numbers), its text, its key."""

    book: str
    section: str
    text: str

    @property
    def key(self) -> str:
        letters = re.sub(r"[^a-z]", "", self.text.casefold())
        return sha256(letters.encode()).hexdigest()[:8]


class Entry(NamedTuple):
    """A line of the list: names of tests without `test_`, or why there is none."""

    tests: tuple[str, ...]
    reason: str


def sentences(folder: Path) -> Iterator[Sentence]:
    """The sentences of all books in the folder that have one of the words."""
    for book in BOOKS:
        for section, paragraph in _paragraphs((folder / f"{book}.txt").read_text(encoding="utf-8")):
            for text in re.split(r"(?<=[.!?])\s+(?=[A-Z“\"(*•])|\s[•*]\s", paragraph):
                if WORDS.search(text) and len(text.split()) >= MIN_WORDS:
                    yield Sentence(book, section, text)


def _paragraphs(text: str) -> list[tuple[str, str]]:
    """Paragraphs with their section; lines that a page has broken are joined."""
    found: list[tuple[str, str]] = []
    section = ""
    for line in map(str.strip, text.splitlines()):
        if not line or "....." in line:
            continue
        heading = HEADING.match(line)
        if heading and len(line) < MAX_HEADING and not line.endswith("."):
            section = heading[1].removesuffix(".0")
        if found and found[-1][0] == section and line[0].islower():
            found[-1] = (section, f"{found[-1][1]} {line}")
        else:
            found.append((section, line))
    return found


def entries() -> dict[tuple[str, str], Entry]:
    """The list, by book and key of the sentence."""
    found: dict[tuple[str, str], Entry] = {}
    for line in (HERE / "exceptions.list").read_text(encoding="utf-8").splitlines():
        head, _, held = line.partition(" | ")
        book, _, key, *_ = head.split()
        reason = held.removeprefix("- ") if held.startswith("- ") else ""
        found[book, key] = Entry(() if reason else tuple(held.split()), reason)
    return found


def main(folder: str, *options: str) -> int:
    """Print the list, or what is missing in it; 1 where something is missing."""
    known, missing = entries(), 0
    for sentence in sentences(Path(folder)):
        entry = known.get((sentence.book, sentence.key))
        missing += entry is None
        if entry is None or "--missing" not in options:
            held = "NOTHING" if entry is None else entry.reason or ", ".join(entry.tests)
            print(f"{sentence.book} §{sentence.section or '-'}  {sentence.text}\n    {held}")
    print(f"{missing} sentences have neither a test nor a reason.")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
