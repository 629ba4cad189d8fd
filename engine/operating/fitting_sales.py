"""Which sales of shares pay for a train and leave little enough money (1870 §10.6.2).

Theory of operation. The shares of a company are sold in one block (1870 §5.3.3), and a sale moves no price
but its company's. So what a president can raise is one block at most of each company at the present prices,
in any order. What is left of the money must be no more than the lowest price of a share that was sold. A
share may be left out of a block that is still to be sold, so there what is left is even less than that
price. The sums that blocks can raise are the bits of a number: a block of three shares at $60 shifts them
by 180.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

Sale = tuple[str, int]
"""A company, and how many of its shares are sold."""


class Block(NamedTuple):
    """Shares of a company that may be sold: dollars of each, and how many at once.

    `forced`: so many, if any, have to be sold at least, and may leave any money (Exception One); 0: none.
    """

    company: str
    price: int
    counts: tuple[int, ...]
    forced: int = 0


def fitting_sales(blocks: Sequence[Block], short: int, lowest: int | None) -> list[Sale] | None:
    """Sales that raise the dollars that are short and leave little enough; None if none do.

    `lowest`: the lowest price of a share that has been sold before.
    """
    best: tuple[int, list[Sale]] | None = None
    for floor in {block.price for block in blocks}:
        usable = [b if b.price >= floor else _forced_part(b) for b in blocks]
        most = floor - 1 if lowest is None else min(floor - 1, lowest)
        found = _sales_in_range(usable, range(short, short + most + 1))
        if found and (best is None or found[0] < best[0]):
            best = found
    if best:
        return best[1]
    for last in map(_forced_part, blocks):
        others = [b for b in blocks if b.company != last.company]
        for count in last.counts:
            before = range(max(short - last.price * count, 0), short)
            if found := _sales_in_range(others, before):
                return [*found[1], (last.company, count)]
    return None


def paying_sales(blocks: Sequence[Block], short: int) -> list[Sale] | None:
    """The largest blocks, until they raise the dollars that are short; None if they never do."""
    sales: list[Sale] = []
    for block in sorted(blocks, key=lambda block: -block.price):
        if short > 0 and block.counts:
            count = next((n for n in block.counts if n * block.price >= short), block.counts[-1])
            sales.append((block.company, count))
            short -= count * block.price
    return sales if short <= 0 else None


def _forced_part(block: Block) -> Block:
    return block._replace(counts=tuple(n for n in block.counts if n <= block.forced))


def _sales_in_range(blocks: Iterable[Block], goal: range) -> tuple[int, list[Sale]] | None:
    """The smallest sum in the range that blocks can raise, and the blocks, the cheapest shares first."""
    in_order = sorted(blocks, key=lambda block: block.price)
    mask, reached = (1 << goal.stop) - 1, [1]
    for block in in_order:
        sums = reached[-1]
        for count in block.counts:
            sums |= reached[-1] << block.price * count
        reached.append(sums & mask)
    wanted = reached[-1] >> goal.start
    if not wanted:
        return None
    total = rest = goal.start + (wanted & -wanted).bit_length() - 1
    sales: list[Sale] = []
    for block, before in zip(reversed(in_order), reversed(reached[:-1]), strict=True):
        if not before >> rest & 1:
            count = next(
                n for n in block.counts if n * block.price <= rest and before >> (rest - n * block.price) & 1
            )
            sales.append((block.company, count))
            rest -= count * block.price
    return total, sales[::-1]
