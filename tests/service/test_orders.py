"""Orders at a table: armed, listed and taken back, spoken in the commit that wakes them, and secret."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import engine
from bot.features.standing_orders import feature as order_module
from bot.features.standing_orders import runner
from bot.hub.commit import CommitDraft
from bot.hub.log import recent_events
from bot.hub.request import Completed, LineRefused, LineUnreadable, PollUpdated, QueryAnswer
from bot.service import Service
from storage import DuplicateRequest, StoreError, open_store
from tests.service.conftest import NAMES, ServiceHarness
from tests.service.test_hidden_orders import read_by
from tests.tables import started

OPENING = (
    ("Ann", "buy SV"), ("Bob", "buy CS"), ("Cid", "buy DH"), ("Ann", "buy MH"), ("Bob", "buy CA"),
    ("Cid", "buy BO"), ("Cid", "par BO 67"),
)  # fmt: skip


async def say_all(world: ServiceHarness, *moves: tuple[str, str]) -> None:
    for name, line in moves:
        answer = await world.say(name, line)
        assert isinstance(answer, Completed), answer


@pytest.fixture
async def trading(world: ServiceHarness) -> ServiceHarness:
    """The first stock round: the privates are sold, and Ann is to act."""
    await say_all(world, *OPENING)
    return world


async def arm(world: ServiceHarness, name: str, *lines: str) -> str:
    answer = await world.say(name, *lines)
    assert isinstance(answer, QueryAnswer), answer
    return answer.text


async def test_an_order_is_answered_with_what_it_would_say_and_listed(trading: ServiceHarness) -> None:
    assert await arm(trading, "Bob", "auto pass") == (
        "Order 1: `auto pass`. `auto off 1` takes it back.\nIt would say nothing now; it waits for your turn."
    )
    listed = await arm(trading, "Bob", "auto")
    assert listed.startswith("1. `auto pass`. It would say nothing now")
    assert (await arm(trading, "Cid", "auto")).startswith("You have left no orders at this table.")
    assert await arm(trading, "Bob", "auto off 1") == "Taken back: `auto pass`."
    assert "Ended: `auto pass`. You have taken it back." in await arm(trading, "Bob", "auto")


async def test_an_order_left_in_a_pause_says_that_it_waits(trading: ServiceHarness) -> None:
    await trading.say("Bob", "pause")
    assert (await arm(trading, "Ann", "auto pass")).endswith("now.\nOrders wait until the game goes on.")
    await trading.say("Bob", "resume")
    assert await trading.asked_names() == ["Bob"]


async def test_a_chain_of_orders_is_one_commit_and_one_notification(trading: ServiceHarness) -> None:
    await arm(trading, "Bob", "auto pass")
    await arm(trading, "Cid", "auto pass")
    await trading.deliver()
    before = len(await trading.service.queries.log(trading.table))
    answer = await trading.say("Ann", "par PRR 67")
    assert isinstance(answer, Completed) and [p.line for p in answer.played] == ["par PRR 67"]
    assert answer.sentences == ("Bob passes.", "Cid passes.")
    assert await trading.asked_names() == ["Ann"]
    log = (await trading.service.queries.log(trading.table))[before:]
    assert [(row.seat, row.line) for row in log] == [(0, "par PRR 67"), (1, "pass"), (2, "pass")]
    assert len({row.created_at for row in log}) == 1
    assert [n.kind for _, n in await trading.sent()] in ([], ["turn"])


async def test_an_order_left_in_its_owners_turn_speaks_at_once(trading: ServiceHarness) -> None:
    text = await arm(trading, "Ann", "auto pass")
    assert "It has said `pass`: Ann passes." in text
    assert await trading.asked_names() == ["Bob"]


async def test_what_an_order_said_is_a_move_that_can_be_undone_and_that_disarms_it(
    trading: ServiceHarness,
) -> None:
    await arm(trading, "Bob", "auto pass")
    await say_all(trading, ("Ann", "par PRR 67"))
    undo = await trading.say("Bob", "undo")
    assert isinstance(undo, Completed) and await trading.asked_names() == ["Bob"]
    assert "Ended: `auto pass`. What it was left for was undone." in await arm(trading, "Bob", "auto")
    assert (await trading.lines())[-1] == "par PRR 67"


async def test_an_undo_past_the_place_where_an_order_was_left_disarms_it(trading: ServiceHarness) -> None:
    await say_all(trading, ("Ann", "par PRR 67"))
    await arm(trading, "Cid", "auto pass")
    assert isinstance(await trading.say("Ann", "undo"), Completed)
    assert "What it was left for was undone." in await arm(trading, "Cid", "auto")
    assert [n.seat for _, n in await trading.sent("order")] in ([], [2])


async def test_an_owner_is_told_why_an_order_has_ended_and_nobody_else(empty: ServiceHarness) -> None:
    for name in NAMES:
        await empty.person(name, discord=f"{len(empty.people) + 1}", email=f"{name}@example.org")
    place = {"guild": 1, "channel": 2, "thread": 3}
    empty.table = (await started(empty.service, empty.people, location=place)).id
    await say_all(empty, *OPENING)
    await arm(empty, "Bob", "auto buy BO up to 60")
    await say_all(empty, ("Ann", "pass"))
    why = "Your order `auto buy B&O up to 60` has ended. A share of the B&O costs $67, more than your $60."
    told = [(m, n) for m, n in await empty.sent() if n.sentences == (why,)]
    assert {(m.channel, m.address.get("user"), n.kind, n.seat) for m, n in told} == {
        ("discord", "2", "order", 1),
        ("mail", None, "turn", 1),
    }
    assert all(not (message.key.endswith("table")) for message, _ in told)


async def test_orders_are_asked_in_the_order_of_their_owner(trading: ServiceHarness) -> None:
    await arm(trading, "Bob", "auto pass once")
    await arm(trading, "Bob", "auto buy B&O")
    assert await arm(trading, "Bob", "auto first 2") == "`auto buy B&O` is asked first now."
    answer = await trading.say("Ann", "pass")
    assert isinstance(answer, Completed) and "B&O" in answer.sentences[0]


async def test_several_orders_and_a_turn_over_several_lines(trading: ServiceHarness) -> None:
    """`/do` and the terminal split at semicolons, and an email has a line for each."""
    await say_all(trading, ("Ann", "par PRR 67"), ("Bob", "pass"), ("Cid", "pass"))
    for _ in range(4):
        await say_all(trading, ("Ann", "buy PRR"), ("Bob", "pass"), ("Cid", "pass"))
    text = await arm(trading, "Ann", "auto turn PRR: lay 57 H10 1", "token H10", "auto pass")
    assert "`auto turn PRR: lay 57 H10 1; token H10`" in text and "`auto pass`" in text


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (["auto off 3"], "You have left no orders at this table."),
        (["auto", "auto pass"], "`auto` has to be submitted alone."),
        (["pass", "auto"], "`auto` has to be submitted alone."),
        (["auto pass", "undo"], "`undo` has to be submitted alone."),
        (["auto pass", "plan pass"], "`plan pass` has to be submitted alone."),
        (["standing protect PRR ask"], "You have left no such order."),
    ],
)
async def test_lines_that_the_service_refuses(trading: ServiceHarness, lines: list[str], reason: str) -> None:
    answer = await trading.say("Ann", *lines)
    assert isinstance(answer, LineRefused) and answer.reason == reason
    assert await trading.asked_names() == ["Ann"]


async def test_an_order_beside_a_move_is_left_in_the_same_commit(trading: ServiceHarness) -> None:
    answer = await trading.say("Ann", "auto pass", "par PRR 67")
    assert isinstance(answer, Completed) and [each.line for each in answer.played] == ["par PRR 67"]
    assert answer.sentences == (
        "Order 1: `auto pass`. `auto off 1` takes it back.",
        "It would say nothing now; it waits for your turn.",
    )
    assert await trading.asked_names() == ["Bob"]
    await say_all(trading, ("Bob", "pass"))
    answer = await trading.say("Cid", "pass")
    assert isinstance(answer, Completed) and answer.sentences[0] == "Ann passes."


@pytest.mark.parametrize(
    ("lines", "failed"), [(("par PRR 67", "auto pass sometimes"), 1), (("auto pass", "par PRR 68"), 1)]
)
async def test_a_move_and_the_order_beside_it_are_done_both_or_neither(
    trading: ServiceHarness, lines: tuple[str, ...], failed: int
) -> None:
    before = await trading.lines()
    answer = await trading.say("Ann", *lines)
    assert isinstance(answer, LineRefused | LineUnreadable) and answer.index == failed, answer
    assert await trading.lines() == before
    assert (await arm(trading, "Ann", "auto")).startswith("You have left no orders at this table.")


async def test_an_undo_of_the_move_disarms_the_order_beside_it(trading: ServiceHarness) -> None:
    assert isinstance(await trading.say("Ann", "par PRR 67", "auto buy 2 PRR"), Completed)
    assert isinstance(await trading.say("Ann", "undo"), Completed)
    assert "Ended: `auto buy 2 PRR`. What it was left for was undone." in await arm(trading, "Ann", "auto")


async def test_an_order_that_cannot_be_read_changes_nothing(trading: ServiceHarness) -> None:
    answer = await trading.say("Bob", "auto pas")
    assert isinstance(answer, LineUnreadable) and answer.line == "auto pas"
    assert answer.reason.startswith("'pas' is no order. Write, for example: auto pass;")
    refused = await trading.say("Bob", "auto pass", "auto run PRR")
    assert isinstance(refused, LineRefused) and refused.index == 1
    assert (await arm(trading, "Bob", "auto")).startswith("You have left no orders")


async def test_nobody_else_sees_an_order_before_or_after_it_speaks(trading: ServiceHarness) -> None:
    """Everything that Cid can read is the same with and without an order of Bob's."""
    without = await read_by(trading, "Cid")
    before = (await trading.service.queries.table_info(trading.table)).seq
    await arm(trading, "Bob", "auto buy B&O up to 173 then pass unless price B&O < 61")
    assert await read_by(trading, "Cid") == without
    assert (await trading.service.queries.table_info(trading.table)).seq == before
    await say_all(trading, ("Ann", "pass"))
    seen = await read_by(trading, "Cid")
    assert "Bob" in seen and "173" not in seen and "auto buy" not in seen
    assert not [n for m, n in await trading.sent() if n.kind == "order" and n.seat != 1]


async def test_a_vote_is_declined_by_an_order(trading: ServiceHarness) -> None:
    await say_all(trading, ("Ann", "par PRR 67"))
    await arm(trading, "Bob", "auto decline votes")
    await say_all(trading, ("Bob", "pass"))
    answer = await trading.say("Ann", "undo")
    assert isinstance(answer, PollUpdated) and answer.outcome == "failed"
    assert answer.sentences[1:] == ("Bob declines.", "Nothing changes.")
    assert (await trading.lines())[-1] == "pass"


async def test_an_order_of_a_player_who_has_left_says_nothing(trading: ServiceHarness) -> None:
    await arm(trading, "Bob", "auto pass")
    await trading.say("Bob", "resign yes")
    dan = await trading.person("Dan")
    await trading.service.running.replace_player(trading.table, 1, dan, "Dan", by=trading.people["Ann"])
    await say_all(trading, ("Ann", "pass"))
    assert await trading.asked_names() == ["Dan"]
    assert (await arm(trading, "Dan", "auto")).startswith("You have left no orders")


async def test_an_order_that_cannot_be_judged_does_not_stop_its_table(
    trading: ServiceHarness, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    await arm(trading, "Bob", "auto pass")

    def broken(*args: object) -> None:
        raise RuntimeError("auto pass")

    monkeypatch.setattr(runner, "run_orders", broken)
    await say_all(trading, ("Ann", "pass"))
    assert await trading.asked_names() == ["Bob"]
    assert "RuntimeError" in caplog.text and "auto pass" not in caplog.text


async def test_two_processes_on_one_store_say_an_order_once(trading: ServiceHarness, address: str) -> None:
    """The other process has the table in memory from before the arming; its move wakes the order too."""
    async with await open_store(address) as store:
        other = Service(store)
        await other.queries.view(trading.table)
        await arm(trading, "Bob", "auto pass")
        first, second = await asyncio.gather(
            trading.service.submit(trading.table, 0, ["pass"], None, "one", person_id=trading.people["Ann"]),
            other.submit(trading.table, 0, ["pass"], None, "two", person_id=trading.people["Ann"]),
        )
        assert sorted(type(answer).__name__ for answer in (first, second)) == ["Completed", "LineRefused"]
        assert (await trading.lines())[-2:] == ["pass", "pass"] and await trading.asked_names() == ["Cid"]


async def test_a_commit_that_fails_leaves_the_move_and_its_orders_unsaid(
    trading: ServiceHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """kill -9 between a wake-up and its move: both are in one transaction, so neither is there."""
    await arm(trading, "Bob", "auto pass")

    async def killed(*args: object) -> None:
        raise DuplicateRequest("killed")

    with monkeypatch.context() as patch:
        patch.setattr(trading.store, "commit_move", killed)
        with pytest.raises(DuplicateRequest):
            await trading.say("Ann", "pass")
    assert await trading.asked_names() == ["Ann"]
    await say_all(trading, ("Ann", "pass"))
    assert (await trading.lines())[-2:] == ["pass", "pass"] and await trading.asked_names() == ["Cid"]


async def test_an_order_of_a_failed_commit_is_not_read_for_the_next_with_its_number(
    trading: ServiceHarness,
) -> None:
    async def fail(draft: CommitDraft) -> None:
        raise StoreError("the disk is full")

    reactions = trading.service.cache.reactions
    reactions.append(fail)
    with pytest.raises(StoreError):
        await arm(trading, "Cid", "auto pass")
    reactions.remove(fail)
    await arm(trading, "Bob", "auto buy B&O until floated")
    await trading.say("Ann", "pass")
    assert (await trading.lines())[-2:] == ["pass", "buy B&O from ipo"]


async def test_orders_are_read_again_after_a_restart(trading: ServiceHarness) -> None:
    await arm(trading, "Bob", "auto pass")
    restarted = ServiceHarness(trading.store, Service(trading.store), trading.people, trading.table, 1000)
    await say_all(restarted, ("Ann", "pass"))
    assert await restarted.asked_names() == ["Cid"]
    log = await restarted.service.queries.log(restarted.table)
    assert (log[-1].seat, log[-1].line) == (1, "pass")


async def test_a_repeated_request_arms_one_order(trading: ServiceHarness) -> None:
    first = await trading.say("Bob", "auto pass", request="same")
    assert await trading.say("Bob", "auto pass", request="same") == first
    assert (await arm(trading, "Bob", "auto")).count("`auto pass`") == 1


async def test_a_summary_for_the_owner_begins_after_their_own_last_move(trading: ServiceHarness) -> None:
    await arm(trading, "Bob", "auto pass")
    await say_all(trading, ("Ann", "par PRR 67"), ("Cid", "pass"))
    log = await trading.service.queries.log_since_last_move(trading.table, 1, by_hand=True)
    assert [row.line for row in log if row.line] == ["buy BO", "par B&O 67", "par PRR 67", "pass", "pass"]
    assert [row.by_own_order for row in log if row.line] == [False, False, False, True, False]
    assert "Bob passes. (Your order said this.)" in recent_events(log)
    public = await trading.service.queries.log_since_last_move(trading.table, 1)
    assert [row.line for row in public if row.line] == ["pass"]
    assert engine.round_name(await trading.service.queries.state_at(trading.table))


async def test_help_explains_every_order(trading: ServiceHarness) -> None:
    text = await arm(trading, "Bob", "auto help")
    for line in (
        "auto pass once",
        "auto buy",
        "auto bid",
        "auto run",
        "auto turn",
        "auto decline",
        "auto protect",
    ):
        assert line in text


async def test_orders_can_be_taken_back_where_no_more_can_be_left(
    world: ServiceHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(order_module, "MAX_MOVES", 1)
    await world.say("Bob", "auto decline deals")
    assert isinstance(await world.say("Bob", "auto decline votes"), LineRefused)
    assert isinstance(await world.say("Bob", "auto off 1"), QueryAnswer)
    assert isinstance(await world.say("Bob", "auto decline votes"), QueryAnswer)


async def test_a_limit_that_the_position_holds_is_listed_and_taken_back(empty: ServiceHarness) -> None:
    """A game that moves in, and one of an older version, hold limits of price protection themselves."""
    game = Path("tests/games/1870-4p-5103-18xx.games.18xx").read_text()
    held = "Bob: standing protect SLSF up to 15\n"
    text = game[: game.index(held)] + held
    for name in ("Ann", "Bob", "Cid", "Dan"):
        await empty.person(name)
    table, _ = await empty.service.imports.open_table(text.encode(), by=empty.people["Ann"])
    empty.table = table.id
    for seat, name in enumerate(table.names):
        await empty.service.imports.claim_seat(table.id, seat, empty.people[name], name)
    ask = "`standing protect SLSF ask` takes it back."
    assert f"`standing protect SLSF up to 15` holds; {ask}" in await arm(empty, "Bob", "auto")
    assert isinstance(await empty.say("Bob", "standing protect slsf up to 20"), Completed)
    assert f"`standing protect SLSF up to 20` holds; {ask}" in await arm(empty, "Bob", "auto")
    assert "holds" not in await arm(empty, "Ann", "auto")
    assert isinstance(await empty.say("Bob", "standing protect SLSF ask"), Completed)
    assert "holds" not in await arm(empty, "Bob", "auto")
    answer = await empty.say("Bob", "standing protect SLSF ask")
    assert isinstance(answer, LineRefused) and answer.reason == "You have left no such order."
    assert "`auto protect SLSF up to 15`" in await arm(empty, "Bob", "standing protect SLSF up to 15")
    changed = await arm(empty, "Bob", "auto protect SLSF up to 25")
    assert "Order 1: `auto protect SLSF up to 25`. It replaces `auto protect SLSF up to 15`." in changed
    assert "`auto protect SLSF up to 25` has replaced it." in await arm(empty, "Bob", "auto")


async def test_a_new_order_of_the_same_verb_and_subject_replaces_the_old_one(world: ServiceHarness) -> None:
    """Of two limits for one private the first to end took the other with it, or the higher one bid."""
    await arm(world, "Bob", "auto bid BO up to 260")
    text = await arm(world, "Bob", "auto bid BO up to 230")
    assert "Order 1: `auto bid BO up to 230`. It replaces `auto bid BO up to 260`." in text
    await arm(world, "Bob", "auto bid CA up to 200")
    await arm(world, "Bob", "auto pass once")
    assert "It replaces `auto pass once`." in await arm(world, "Bob", "auto pass")
    listed = await arm(world, "Bob", "auto")
    assert [line[:3] for line in listed.splitlines()[:3]] == ["1. ", "2. ", "3. "] and "4. " not in listed


@pytest.mark.parametrize("line", ["auto pass once", "auto off", "auto off 1"])
async def test_a_message_may_replace_or_take_back_what_it_has_left(
    trading: ServiceHarness, line: str
) -> None:
    """It was an error, and nothing was left."""
    told = await arm(trading, "Ann", "auto pass", line)
    assert told.startswith("Order 1: `auto pass`.")
    assert ("It replaces `auto pass`." if "once" in line else "Taken back: `auto pass`.") in told


async def test_an_order_that_never_speaks_because_of_another_says_so(trading: ServiceHarness) -> None:
    await arm(trading, "Bob", "auto pass")
    text = await arm(trading, "Bob", "auto buy 2 BO")
    never = "It never speaks while order 1, `auto pass`, comes before it; `auto first 2` has it asked first."
    assert never in text and never in await arm(trading, "Bob", "auto")
    await arm(trading, "Bob", "auto first 2")
    assert "never speaks" not in await arm(trading, "Bob", "auto")


async def test_an_undo_of_others_restores_the_orders_that_the_move_ended(trading: ServiceHarness) -> None:
    async with trading.store.begin() as unit:
        await unit.people.add_identity(trading.people["Cid"], "email", "cid@example.org")
    await say_all(trading, ("Ann", "par PRR 67"))
    await arm(trading, "Cid", "auto buy BO up to 100 unless NYC starts")
    await say_all(trading, ("Bob", "par NYC 67"))
    assert "The NYC has started." in await arm(trading, "Cid", "auto")
    assert isinstance(await trading.say("Bob", "undo"), Completed)
    assert (await arm(trading, "Cid", "auto")).startswith("1. `auto buy B&O up to 100 unless NYC starts`.")
    told = [sentence for _, notice in await trading.sent("news") for sentence in notice.sentences]
    assert told[-1].endswith("is left again. What ended it was undone.")
    await say_all(trading, ("Bob", "pass"))
    assert (await trading.lines())[-1] == "buy B&O from ipo"


async def test_what_its_owner_took_back_stays_taken_back_at_an_undo(trading: ServiceHarness) -> None:
    await arm(trading, "Cid", "auto pass")
    await say_all(trading, ("Ann", "par PRR 67"))
    await arm(trading, "Cid", "auto off 1")
    assert isinstance(await trading.say("Ann", "undo"), Completed)
    assert (await arm(trading, "Cid", "auto")).startswith("You have left no orders")


async def test_an_undo_is_free_while_only_the_movers_own_orders_have_spoken(trading: ServiceHarness) -> None:
    """Nobody finds a limit of another by bidding and taking back."""
    await arm(trading, "Bob", "auto pass")
    await say_all(trading, ("Ann", "par PRR 67"))
    vote = await trading.say("Ann", "undo")
    assert isinstance(vote, PollUpdated) and vote.waiting_seats == (1,)
