"""What the rule tests of 1851 are written with."""

from __future__ import annotations

from tests.texts import Book

RICH = "@ cash Ann 1500\n@ cash Bob 1500\n@ cash Cid 1500\n"

BOOK = Book("1851")
text, holds, refused = BOOK.text, BOOK.holds, BOOK.refused
