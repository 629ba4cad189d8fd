"""Orders that a reply leaves beside its moves: both are done, or neither."""

from __future__ import annotations

from pathlib import Path

from bot.hub.result import Completed
from tests.fake_discord.running_bot import OnePixelPictures
from tests.mail.letter_desk import LetterDesk, letter_desk

ANN = "ann@player.test"
OPENING = (
    ("Ann", "buy GRSC"), ("Bob", "buy MRBC"), ("Cid", "buy SCC"), ("Ann", "buy GSC"), ("Bob", "buy Frisco"),
    ("Bob", "par SLSF 68"), ("Cid", "buy Katy"),
)  # fmt: skip


async def test_a_protection_beside_a_move(tmp_path: Path) -> None:
    """A president leaves the limit of a price protection (1870 §5.4) in the email that starts the company."""
    with OnePixelPictures() as pictures:
        async with letter_desk(tmp_path, pictures) as desk:
            table = await stock_round(desk)
            half = await desk.write("", "Ann", "par MP 68", "standing protect MP 300")
            assert half.reason == "rejected"
            told = desk.newest[ANN].part("plain")
            assert "Line 2" in told and "NOT DONE" in told and await last_line(desk, table) == "buy Katy"
            whole = await desk.write("", "Ann", "par MP 68", "standing protect MP up to 300")
            assert whole.reason == "played"
            told = desk.newest[ANN].part("plain")
            assert "par MP 68 → The MP starts at $68." in told
            assert "Order 1: `auto protect MP up to 300`. `auto off 1` takes it back." in told
            assert await last_line(desk, table) == "par MP 68"


async def stock_round(desk: LetterDesk) -> int:
    """A table of 1870 whose privates are sold, with the letter that asks Ann."""
    table = await desk.table("1870", ["Ann", "Bob", "Cid"])
    info = await desk.service.queries.table_info(table)
    for name, line in OPENING:
        seat = info.names.index(name)
        answer = await desk.service.submit(table, seat, [line], None, None)
        assert isinstance(answer, Completed), answer
    await desk.take("start")
    return table


async def last_line(desk: LetterDesk, table: int) -> str:
    """The last line that was played."""
    log = await desk.service.queries.log(table)
    return [row.line for row in log if row.kind == "move" and row.is_live][-1]
