"""What the rule tests are written with."""

from __future__ import annotations

import pytest

from tests.texts import Book

TITLE = "1830"
SITE = "conventions 18xx.games"
BOTH = ((), (SITE,))

both = pytest.mark.parametrize("options", BOTH, ids=("rulebook", "site"))

BOUGHT = """
Ann: buy SV
Bob: buy CS
Cid: buy DH
Ann: buy MH
Bob: buy CA
Cid: buy BO
"""
"""Every private at its price, up to the question for the B&O's par."""

BOOK = Book(TITLE)
text, holds, refused = BOOK.text, BOOK.holds, BOOK.refused
