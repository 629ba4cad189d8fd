"""What the rule tests of 1817 are written with."""

from __future__ import annotations

from tests.texts import Book

SITE = "conventions 18xx.games"

BOOK = Book("1817")
holds = BOOK.holds
