"""1870 §10.6.2: sales that fit are found where a search through all of them finds any."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from engine.operating.fitting_sales import Block, Sale, fitting_sales, paying_sales


def some_sales_fit(blocks: Sequence[Block], short: int, lowest: int | None) -> bool:
    """Whether any order of blocks pays as the book says, tried one by one."""
    for block in blocks:
        others = [other for other in blocks if other is not block]
        for count in block.counts:
            forced = count <= block.forced
            if not forced and (count - 1) * block.price >= short:
                continue  # fewer shares would do
            sold = lowest if forced else block.price if lowest is None else min(lowest, block.price)
            left = count * block.price - short
            if left < 0 and some_sales_fit(others, -left, sold):
                return True
            if left >= 0 and (forced or sold is None or left <= sold):
                return True
    return False


def random_blocks(draw: random.Random) -> list[Block]:
    blocks = []
    for company in "ABC"[: draw.randint(1, 3)]:
        forced = draw.choice((0, 0, 0, 1, 2))
        most = draw.randint(max(forced, 1), 4)
        price = draw.choice((10, 20, 30, 50, 60, 82, 90, 100, 110, 140))
        blocks.append(Block(company, price, tuple(range(max(forced, 1), most + 1)), forced))
    return blocks


def raised(blocks: Sequence[Block], sales: Sequence[Sale]) -> int:
    prices = {block.company: block.price for block in blocks}
    return sum(prices[company] * count for company, count in sales)


@pytest.mark.parametrize("seed", range(8))
def test_10_6_2_sales_are_found_where_there_are_any(seed: int) -> None:
    draw = random.Random(seed)
    outcomes = set()
    for _ in range(400):
        blocks, short = random_blocks(draw), draw.randint(1, 400)
        lowest = draw.choice((None, None, 30, 60, 100))
        found = fitting_sales(blocks, short, lowest)
        assert (found is not None) == some_sales_fit(blocks, short, lowest), (blocks, short, lowest)
        outcomes.add(found is not None)
        if found:
            in_order = [
                block._replace(counts=(count,))
                for company, count in found
                for block in blocks
                if block.company == company
            ]
            assert some_sales_fit(in_order, short, lowest), (blocks, short, lowest, found)
    assert outcomes == {True, False}


def test_10_6_2_money_is_raised_by_the_dearest_shares_first() -> None:
    blocks = [Block("A", 60, (1, 2)), Block("B", 100, (1, 2, 3))]
    assert paying_sales(blocks, 250) == [("B", 3)]
    assert paying_sales(blocks, 350) == [("B", 3), ("A", 1)]
    assert paying_sales(blocks, 421) is None and raised(blocks, [("B", 3), ("A", 2)]) == 420
