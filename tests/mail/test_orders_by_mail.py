"""What a reply does beside a move: orders that it leaves, other routes that it asks for."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import engine
from bot.hub.request import Completed, QueryAnswer
from engine.game_text import replay
from tests.mail.mail_desk import MailDesk
from tests.mail.servers import Delivery

ANN = "ann@player.test"
OPENING = (
    ("Ann", "buy GRSC"), ("Bob", "buy MRBC"), ("Cid", "buy SCC"), ("Ann", "buy GSC"), ("Bob", "buy Frisco"),
    ("Bob", "par SLSF 68"), ("Cid", "buy Katy"),
)  # fmt: skip


async def test_a_protection_beside_a_move(desk: MailDesk) -> None:
    """A president leaves the limit of a price protection (1870 §5.4) in the email that starts the company."""
    table = await stock_round(desk)
    half = await desk.write("Ann", "par MP 68", "standing protect MP 300")
    assert half.reason == "rejected"
    told = desk.newest[ANN].text
    assert "Line 2" in told and "NOT DONE" in told and await last_line(desk, table) == "buy Katy"
    whole = await desk.write("Ann", "par MP 68", "standing protect MP up to 300")
    assert whole.reason == "played"
    told = desk.newest[ANN].text
    assert "par MP 68 → The MP starts at $68." in told
    assert "Order 1: `auto protect MP up to 300`. `auto off 1` takes it back." in told
    assert await last_line(desk, table) == "par MP 68"


async def test_an_order_that_is_left_again_has_not_ended(desk: MailDesk) -> None:
    """One email says what was undone, and what follows for the order."""
    table = await stock_round(desk)
    cid = (await desk.service.queries.table_info(table)).names.index("Cid")
    told = []
    for seat, line in ((cid, "auto pass unless MP starts"), (0, "par MP 68"), (0, "undo")):
        answer = await desk.service.submit(table, seat, [line], None, None)
        assert isinstance(answer, Completed | QueryAnswer), answer
        await desk.take()
        told.append(desk.newest.get("cid@player.test"))
    _, over, again = told
    assert over and "Your order `auto pass unless MP starts` has ended" in over.message["Subject"]
    assert again and "News: Ann undoes par MP 68" in again.message["Subject"]
    assert "Your order `auto pass unless MP starts` is left again." in again.text


@pytest.mark.parametrize("acts_first", [False, True])
async def test_an_order_that_ends_as_its_owner_is_asked_is_told_once(
    desk: MailDesk, acts_first: bool
) -> None:
    """Two emails came, one for the order and one for the turn. Who acts before that email hears it too."""
    table = await stock_round(desk)
    for seat, line in ((0, "par MP 68"), (1, "pass"), (1, "auto buy MP up to 60")):
        await desk.service.submit(table, seat, [line], None, None)
    await desk.take()
    before = len(desk.emails)
    for seat, line in [(2, "buy MP"), (0, "pass"), *([(1, "pass")] if acts_first else [])]:
        await desk.service.submit(table, seat, [line], None, None)
    await desk.take()
    told = [each for each in desk.emails[before:] if each.message["To"] == "bob@player.test"]
    assert len(told) == 1 and "costs $68, more than your $60." in told[0].text
    assert ("Your turn" in told[0].message["Subject"]) is not acts_first


async def test_who_ends_their_own_order_reads_it_in_the_receipt_alone(desk: MailDesk) -> None:
    table = await stock_round(desk)
    for seat, line in ((1, "auto pass"), (0, "par MP 68")):
        await desk.service.submit(table, seat, [line], None, None)
    await desk.take()
    before = len(desk.emails)
    assert (await desk.write("Bob", "undo")).reason == "played"
    told = [each for each in desk.emails[before:] if each.message["To"] == "bob@player.test"]
    said = [each.text.count("Your order `auto pass` has ended.") for each in told]
    assert said == [1], [each.text for each in told]


async def test_a_host_ends_the_game_by_email(desk: MailDesk) -> None:
    """`end` is an order, and no mark that nothing follows, where nothing stands above it."""
    table = await desk.table("1830", ["Ann", "Bob"])
    await desk.take()
    assert (await desk.write("Ann", "buy SV", "END", "bid CA 165")).reason == "played"
    assert (await desk.write("Ann", "End", "", "> quoted")).reason == "held"
    assert (await desk.write("Ann", "yes", take=False)).reason == "played"
    (receipt, *_) = [mail async for mail in sent(desk)]
    assert "OK: all lines were carried out." in receipt and "is ended." in receipt
    assert (await desk.service.queries.table_info(table)).status == "ended"
    assert (await desk.write("Ann", "end", take=False)).reason == "rejected"


async def sent(desk: MailDesk) -> AsyncIterator[str]:
    """The texts of what is due, in the order in which it is sent."""
    while due := (await desk.outbox.lease_due(20)).mails:
        for mail in due:
            await desk.outbox.mark_sent(mail)
            yield Delivery(mail.envelope_sender, (mail.recipient,), mail.raw).text


async def test_a_setting_that_is_refused_is_not_answered_with_moves(desk: MailDesk) -> None:
    await desk.table("1830", ["Ann", "Bob"])
    await desk.take()
    await desk.write("Ann", "settings zone Berlin")
    told = desk.newest[ANN].text
    assert "`Berlin` is not the name of a time zone" in told and "You can write instead" not in told
    await desk.write("Ann", "buy CS")
    assert "You can write instead" in desk.newest[ANN].text


async def stock_round(desk: MailDesk) -> int:
    """A table of 1870 whose privates are sold, with the email that asks Ann."""
    table = await desk.table("1870", ["Ann", "Bob", "Cid"])
    info = await desk.service.queries.table_info(table)
    for name, line in OPENING:
        seat = info.names.index(name)
        answer = await desk.service.submit(table, seat, [line], None, None)
        assert isinstance(answer, Completed), answer
    await desk.take()
    return table


async def last_line(desk: MailDesk, table: int) -> str:
    """The last line that was played."""
    log = await desk.service.queries.log(table)
    return [row.line for row in log if row.kind == "move" and row.is_live][-1]


async def test_other_routes_are_listed_and_run(desk: MailDesk) -> None:
    """Where the best routes are not the only ones, the email says how to ask for the others."""
    game, seat = up_to_other_runs()
    ids = [await desk.person(name) for name in ("Ann", "Bob")]
    table, _ = await desk.service.imports.open_table(game.encode(), by=ids[0])
    for at, (name, person) in enumerate(zip(table.names, ids, strict=True)):
        await desk.service.imports.claim_seat(table.id, at, person, name)
    await desk.take()
    player = ("Ann", "Bob")[seat]
    address = f"{player.lower()}@player.test"
    assert "runs # asks which other routes can be run" in desk.newest[address].text
    await desk.write(player, "runs")
    told = desk.newest[address].text
    line = next(each.strip() for each in told.splitlines() if each.strip().startswith("run "))
    assert (await desk.write(player, line)).reason == "played"
    assert await last_line(desk, table.id) == line.partition("#")[0].strip()


def up_to_other_runs() -> tuple[str, int]:
    """A recorded game up to the first run for which there are others than the best, and whose it is."""
    path = Path(__file__).parent.parent / "games" / "1830-2p-27-18xx.games.18xx"
    text = path.read_text().splitlines(keepends=True)
    history = replay("".join(text)).history
    assert history is not None
    state, moves = engine.copy_state(history.start), [line for line in text if is_move(line)]
    for number, line in enumerate(history.lines):
        if line.line.startswith("run ") and engine.other_runs(state, line.seat):
            head = "".join(text[: text.index("---\n") + 1])
            return head + "".join(moves[:number]), int(line.seat[1:])
        for event in line.events:
            event.apply(state)
    raise AssertionError("The game has no such run.")


def is_move(line: str) -> bool:
    return line.startswith(("Ann: ", "Bob: "))


async def test_who_may_answer_in_advance_is_not_told_that_it_is_their_turn(desk: MailDesk) -> None:
    """1817 §4.2: Bob bids next, and Cid may leave a limit before."""
    await desk.table("1817", ["Ann", "Bob", "Cid"])
    await desk.take()
    await desk.write("Ann", "bid ME 0")
    acts, may_answer = desk.newest["bob@player.test"], desk.newest["cid@player.test"]
    assert "Your turn: opening, bid $5" in str(acts.message["Subject"])
    assert "In advance: opening, bid $5" in str(may_answer.message["Subject"])
    assert "You may answer in advance, Cid." in may_answer.text and "It is your turn" not in may_answer.text
    assert "Bob to act: bid $5" in may_answer.text and "Cid to act" not in acts.text
