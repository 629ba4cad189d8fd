"""Votes beside the game: told at once, in `turns` and digests, recalled daily."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bot.discord.cards.notices import turns_card
from bot.hub.log import recent_events
from bot.hub.request import Completed, LineRefused, PollUpdated, QueryAnswer, TableNotRunning
from tests.mail.mail_desk import MailDesk
from tests.pace.conftest import START, DrivenTable, to
from tests.pace.test_replacement import voters
from tests.pace.test_seat_requests import ask

QUESTION = "Bob proposes another pace: 48h"


async def open_vote(driven: DrivenTable, *, discord: bool = False) -> None:
    """Bob proposes another pace to Ann, who reads a digest, and to Cid."""
    await driven.begin("none", discord=discord)
    await driven.settings("Ann", "digest 08:00", "zone UTC")
    assert isinstance(await driven.say("Bob", "pace 48h"), PollUpdated)


async def test_a_vote_is_asked_at_once_and_stands_in_turns(driven: DrivenTable) -> None:
    await open_vote(driven)
    assert len(driven.heard("Ann", "vote")) == len(driven.heard("Cid", "vote")) == 1
    driven.now += timedelta(hours=3)
    turns = await driven.say("Cid", "turns")
    assert isinstance(turns, QueryAnswer) and QUESTION in turns.text
    assert "a vote, open for 3 hours" in turns.text
    await driven.say("Cid", "accept")
    turns = await driven.say("Cid", "turns")
    assert isinstance(turns, QueryAnswer) and turns.text == "No table waits for you."


async def test_who_names_no_vote_reads_that_another_waits(driven: DrivenTable) -> None:
    await open_vote(driven)
    await driven.say("Bob", "end")
    first, second = await driven.say("Cid", "accept"), await driven.say("Cid", "accept")
    assert isinstance(first, PollUpdated) and isinstance(second, PollUpdated)
    assert first.sentences[-1] == "Another vote waits for you: Bob would like to end the game unfinished."
    assert len(second.sentences) == 1


@pytest.mark.parametrize("seat_changes", [False, True])
async def test_no_other_vote_waits_for_who_has_no_vote_in_it(driven: DrivenTable, seat_changes: bool) -> None:
    """Who plays for Bob cannot end the game for him; Bob, who is replaced, has no vote any more."""
    await driven.begin("24h")
    await driven.person("Dora")
    await driven.say(*(("Dora", "ask Bob") if seat_changes else ("Bob", "away until 2026-07-01 deputy Dora")))
    await driven.say("Ann", "pace 48h")
    await driven.say("Cid", "end")
    answer = await driven.say("Bob" if seat_changes else "Dora", "accept")
    assert isinstance(answer, PollUpdated) and "Another vote" not in " ".join(answer.sentences)


@pytest.mark.parametrize(("former", "resigns"), [("Bob", False), ("Bob", True), ("Cid", False)])
async def test_no_game_ends_because_of_whom_a_player_has_replaced(
    driven: DrivenTable, former: str, resigns: bool
) -> None:
    """Bob has agreed to what Cid has proposed, and Dora plays on for one of them: nobody asked her, and
    Ann ended the game that she had just joined."""
    await driven.begin("none")
    await driven.person("Dora")
    await driven.say("Cid", "end")
    await driven.say("Bob", "accept")
    if resigns:
        await driven.say(former, "resign yes")
    await ask(driven, "Dora", f"ask {former}")
    await (ask(driven, "Ann", "admit Dora") if resigns else driven.say(former, "accept"))
    assert [line[9:] for line in driven.heard("Dora", "vote")] == [
        "mail vote: Cid would like to end the game unfinished."
    ]
    answer = await driven.say("Ann", "accept")
    assert isinstance(answer, PollUpdated) and answer.outcome is None
    answer = await driven.say("Dora", "accept")
    assert isinstance(answer, PollUpdated) and answer.outcome == "passed"


@pytest.mark.parametrize(
    ("lines", "asked"),
    [
        ("Bob: resign yes; Cid: end; Dora: ask; Ann: admit Dora", ["Ann", "Dora"]),
        ("Bob: robot Bob; Cid: robot Cid; Ann: pace 48h; Dora: ask Robot", ["Dora", "Robot 2"]),
        ("Cid: robot Cid; Eve: ask Ann; Dora: ask Robot", ["Ann"]),
        ("Cid: robot Cid; Ann: buy SV; Bob: buy CS; Ann: undo; Dora: ask Robot", ["Bob"]),
    ],
    ids=["an open seat", "beside another robot", "no vote on another seat", "no vote on others' moves"],
)
async def test_who_takes_a_seat_is_asked_whatever_was_there(
    driven: DrivenTable, lines: str, asked: list[str]
) -> None:
    """Nobody asked them where an empty seat had no vote, and the vote ended where another robot had one."""
    await driven.begin("none")
    for name in ("Dora", "Eve"):
        await driven.person(name)
    for each in lines.split("; "):
        name, _, line = each.partition(": ")
        await driven.say(name, line)
        for other in ("Ann", "Bob", "Cid") if line.startswith("robot") else ():
            await driven.say(other, "accept vote")
    assert await voters(driven) == asked
    assert len(driven.heard("Dora", "vote")) == asked.count("Dora")


@pytest.mark.parametrize("others", ["robot Bob", "end"])
async def test_a_proposal_ends_with_its_proposer(driven: DrivenTable, others: str) -> None:
    """The others could end the game at the wish of a player who had left it."""
    await driven.begin("none")
    await driven.say("Bob", others)
    await driven.say("Cid", "accept")
    await driven.say("Bob", "resign yes")
    assert await voters(driven) == []
    for name in ("Ann", "Cid"):
        (told,) = driven.heard(name, "news")
        assert told.count("The vote is over, because Bob has left: Bob would like") == 1


async def test_no_vote_waits_for_a_robot_that_plays_on(driven: DrivenTable) -> None:
    """It was asked anew in the seat of Bob, who had agreed: the others could not end the game any more."""
    await driven.begin("none")
    await driven.say("Cid", "end")
    await driven.say("Bob", "accept")
    await driven.say("Bob", "resign yes")
    await driven.say("Ann", "robot Bob")
    await driven.say("Cid", "accept")
    assert (await driven.service.queries.table_info(driven.table)).names == ("Ann", "Robot", "Cid")
    answer = await driven.say("Ann", "accept")
    assert isinstance(answer, PollUpdated) and answer.outcome == "passed"


async def test_a_vote_ends_that_a_player_leaves_to_a_robot(driven: DrivenTable) -> None:
    await driven.begin("none")
    await driven.say("Bob", "robot Bob")
    await driven.say("Cid", "end")
    for name in ("Ann", "Cid"):
        await driven.say(name, "accept")
    assert await voters(driven) == []
    assert (
        "The vote is over, because the seats have changed: Cid would like" in driven.heard("Ann", "news")[-1]
    )


async def test_who_has_not_voted_is_reminded_daily(driven: DrivenTable) -> None:
    await open_vote(driven)
    await driven.settings("Cid", "zone UTC", "quiet 07:00-12:00")
    await driven.wait_until(START + timedelta(days=2, hours=9))
    assert len(driven.heard("Cid", "vote_reminder")) == 2
    assert all(not 7 <= told.at.hour < 12 for told in driven.told if told.kind == "vote_reminder")
    assert driven.heard("Ann", "vote_reminder") == [], "it stands in the digest"
    await driven.say("Cid", "accept")
    await driven.wait_until(START + timedelta(days=5))
    assert len(driven.heard("Cid", "vote_reminder")) == 2


@pytest.mark.parametrize("line", ["accept vote", "accept"])
async def test_a_vote_is_submitted_alone(driven: DrivenTable, line: str) -> None:
    """It was said to be no line of the game, or that nothing could be accepted."""
    await open_vote(driven)
    result = await driven.say("Cid", line, "pass")
    assert isinstance(result, LineRefused) and result.reason == f"`{line}` has to be submitted alone."


async def test_who_was_asked_about_an_undo_hears_that_another_one_ends_the_vote(driven: DrivenTable) -> None:
    """They had a question that nobody asked any more."""
    await driven.begin("none")
    for name in ("Ann", "Bob", "Cid", "Ann"):
        assert isinstance(await driven.say(name, "pass"), Completed)
    assert isinstance(await driven.say("Ann", "undo"), Completed)
    assert isinstance(await driven.say("Ann", "undo"), PollUpdated)
    assert isinstance(await driven.say("Ann", "redo"), Completed)
    asked = "Ann would like to undo 3 moves (Ann: pass; Bob: pass; Cid: pass)."
    why = f"The vote is over, because Ann has restored moves: {asked}"
    assert why in driven.heard("Cid", "news")[-1]
    assert recent_events(await driven.service.queries.log(driven.table), 1)[-1] == why


async def test_who_sleeps_while_a_vote_is_opened_is_pinged_afterwards(driven: DrivenTable) -> None:
    """In the thread they were pinged a day later only; an email waits for the end of the hours."""
    await driven.begin("none", discord=True)
    for name, channel in (("Ann", "mail"), ("Cid", "thread")):
        await driven.settings(name, f"tell {channel}", "zone UTC", "quiet 07:00-12:00")
    await driven.say("Bob", "pace 48h")
    assert driven.heard("Ann", "vote") == driven.heard("Cid", "vote", "vote_reminder") == []
    await driven.wait_until(START + timedelta(hours=3))
    told = [driven.heard(name, "vote", "vote_reminder") for name in ("Ann", "Cid")]
    pings = [[each.partition(": ")[0] for each in told_one] for told_one in told]
    assert pings == [["01 12:00 mail vote"], ["01 12:00 thread vote_reminder"]]


async def test_who_is_away_is_not_reminded_of_a_vote(driven: DrivenTable) -> None:
    await open_vote(driven)
    await driven.settings("Cid", "zone UTC", "away until 2026-06-06")
    await driven.wait_until(START + timedelta(days=5, hours=1))
    assert [told[:2] for told in driven.heard("Cid", "vote_reminder")] == ["06"]


async def test_who_is_asked_or_back_late_is_reminded_of_an_old_vote(driven: DrivenTable) -> None:
    """Nobody recalled it nine weeks after it was opened, so it could stay open for ever."""
    await open_vote(driven)
    await driven.settings("Cid", "zone UTC", "away until 2026-09-01")
    await driven.wait_until(START + timedelta(days=80))
    assert driven.heard("Cid", "vote_reminder") == []
    await driven.wait_until(START + timedelta(days=250))
    assert len(driven.heard("Cid", "vote_reminder")) == 7 + 8


async def test_a_vote_that_nobody_answers_is_recalled_weekly_after_a_week(driven: DrivenTable) -> None:
    """Cid had an email every day for months, also in a pause."""
    await open_vote(driven)
    await driven.say("Bob", "pause")
    await driven.wait_until(START + timedelta(days=30, hours=1))
    assert len(driven.heard("Cid", "vote_reminder")) == 7 + 3
    await driven.wait_until(START + timedelta(days=200))
    assert len(driven.heard("Cid", "vote_reminder")) == 7 + 8, "and at last not any more"


async def test_an_answer_says_what_the_orders_say_that_it_releases(driven: DrivenTable) -> None:
    """It left them out, and the table heard twice, and for two reasons, that the vote was over."""
    await driven.begin("24h")
    for name in ("Ann", "Bob"):
        assert isinstance(await driven.say(name, "pass"), Completed)
    assert isinstance(await driven.say("Ann", "undo"), PollUpdated)
    left = await driven.say("Cid", "auto pass once")
    assert isinstance(left, QueryAnswer)
    assert left.text.endswith("Orders wait until the vote on the undo is over.")
    declined = await driven.say("Bob", "decline vote")
    assert isinstance(declined, PollUpdated) and "Cid passes." in declined.sentences
    assert await driven.asked() == ["Ann"]
    (told,) = driven.heard("Cid", "news")
    assert told.count("The vote is over, because Bob declines") == 1 and "has moved" not in told
    await driven.say("Bob", "pause")
    await driven.say("Ann", "auto pass")
    resumed = await driven.say("Bob", "resume")
    assert isinstance(resumed, Completed) and resumed.sentences[1:] == ("Ann passes.",)


@pytest.mark.parametrize(("pace", "hours"), [("none", 24), ("6h", 6)])
async def test_orders_wait_for_a_vote_on_an_undo_at_most_the_allowance_or_a_day(
    driven: DrivenTable, pace: str, hours: int
) -> None:
    """Nobody moves or votes meanwhile, so nothing else wakes the order."""
    await driven.begin(pace)
    await driven.say("Ann", "buy SV")
    await driven.say("Bob", "buy CS")
    assert isinstance(await driven.say("Ann", "undo"), PollUpdated)
    end = driven.now + timedelta(hours=hours)
    await driven.say("Cid", "auto pass once")
    await driven.wait_until(end - timedelta(minutes=5))
    assert await driven.asked() == ["Cid"]
    await driven.wait_until(end + timedelta(minutes=5))
    assert await driven.asked() == ["Ann"]
    assert (
        len([told for told in driven.told if told.at >= end and (told.to, told.kind) == ("Ann", "turn")]) == 1
    )


async def test_robots_wait_for_a_vote_on_an_undo_at_most_a_day(driven: DrivenTable) -> None:
    await driven.begin("none")
    await driven.say("Cid", "robot Cid")
    for name in ("Ann", "Bob"):
        await driven.say(name, "accept")
    await driven.say("Ann", "buy SV")
    await driven.say("Bob", "buy CS")
    assert isinstance(await driven.say("Ann", "undo"), PollUpdated)
    assert await driven.service.robots.play(driven.table) == 0
    await driven.wait_until(driven.now + timedelta(hours=25))
    assert await driven.service.robots.play(driven.table) == 1
    assert await driven.asked() == ["Ann"]
    driven.service.robots.worker.close()


@pytest.mark.parametrize("proposal", ["pace 48h", "end"])
async def test_a_proposal_stops_no_clock_and_fills_no_bank(driven: DrivenTable, proposal: str) -> None:
    await driven.begin("24h, bank 10h")
    await driven.wait_until(START + timedelta(hours=30))  # six hours of the bank are used
    await driven.say("Ann", "pass")
    await driven.wait_until(START + timedelta(hours=40))

    async def clocks() -> list[tuple[object, object]]:
        async with driven.store.read() as unit:
            found = await unit.clocks.seat_clocks(driven.table)
        return [(clock.bank, clock.time_up) for _, clock in sorted(found.items())]

    before = await clocks()
    assert [bank for bank, _ in before] == [4 * 3600, None, None] and before[1][1]
    assert isinstance(await driven.say("Cid", proposal), PollUpdated)
    assert await clocks() == before


async def test_the_digest_by_mail_asks_and_is_answered(driven: DrivenTable, desk: MailDesk) -> None:
    await open_vote(driven)
    driven.now += timedelta(minutes=3)
    await desk.take()
    driven.now = START + timedelta(days=1)
    await driven.service.clock.tick()
    (digest,) = to(await desk.take(), "Ann")
    assert QUESTION in digest.text and "accept vote" in digest.text
    assert "One table waits for you." in digest.text, "for a move and a vote"
    assert (await desk.answered(digest, "accept vote")).subject.endswith("Done")
    assert not [
        poll for poll, seat in (await driven.service.queries.view(driven.table)).missing_votes() if not seat
    ]


async def test_the_digest_on_discord_has_the_vote_and_the_news(driven: DrivenTable) -> None:
    await open_vote(driven, discord=True)
    await driven.say("Ann", "buy SV")
    await driven.say("Bob", "bid MH 115")
    await driven.say("Cid", "buy CS")
    waiting = await driven.service.waiting.pages(driven.people["Ann"], in_digest=True)
    card = str(await turns_card(driven.service, waiting))
    assert QUESTION in card and "accept vote" in card and "decline vote" in card
    assert "- Bob bids $115 for the MH" in card and "buys the CS for $40" in card


async def test_an_order_whose_line_is_undone_is_told_to_have_ended_once(driven: DrivenTable) -> None:
    """It had ended with what it said; after the undo its owner read of a second end."""
    await driven.begin("none")
    await driven.say("Bob", "auto buy private CS up to 40")
    await driven.say("Ann", "buy SV")
    assert isinstance(await driven.say("Ann", "undo"), PollUpdated)
    await driven.say("Bob", "accept vote")
    assert await driven.asked() == ["Ann"]
    (told,) = driven.heard("Bob", "order")
    assert told.endswith("has ended. The CS is sold to Bob.")


async def test_no_order_is_left_when_the_game_is_over(driven: DrivenTable) -> None:
    """It was said to wait for a turn that never comes."""
    await driven.begin("none")
    await driven.say("Ann", "end yes")
    answer = await driven.say("Bob", "auto pass")
    assert isinstance(answer, TableNotRunning) and answer.reason.endswith("is ended.")
    assert isinstance(await driven.say("Bob", "auto"), QueryAnswer)
