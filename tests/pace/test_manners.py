"""Manners: nobody is told twice, or what they know, or what is for somebody else; nobody is left out."""

from __future__ import annotations

from datetime import timedelta

from bot.hub.log import recent_events
from bot.hub.notifications.messages import Notification
from bot.hub.request import Completed, LineRefused, PollUpdated
from tests.mail.mail_desk import MailDesk
from tests.pace.conftest import DrivenTable, to
from tests.pace.test_clock import BERLIN
from tests.pace.test_pace import local


async def since_last_turn(driven: DrivenTable, seat: int) -> tuple[str, ...]:
    return recent_events(await driven.service.queries.log_since_last_move(driven.table, seat))


async def test_whoever_undoes_is_told_in_the_answer_alone(driven: DrivenTable) -> None:
    await driven.begin("24h")
    await driven.say("Ann", "pass")
    await driven.wait_until(local("2026-06-01 12:10"))
    driven.told.clear()
    await driven.say("Ann", "undo")
    await driven.wait_until(local("2026-06-01 12:30"))
    assert [(each.to, each.kind, each.text) for each in driven.told] == [
        ("Bob", "news", "Ann undoes pass."),
        ("Cid", "news", "Ann undoes pass."),
    ]


async def test_an_undo_by_a_vote_is_told_to_whoever_asked_for_it(driven: DrivenTable) -> None:
    await driven.begin("24h")
    await driven.say("Ann", "pass")
    await driven.say("Bob", "pass")
    driven.told.clear()
    assert isinstance(await driven.say("Ann", "undo"), PollUpdated)
    assert isinstance(await driven.say("Bob", "accept vote"), PollUpdated)
    await driven.wait_until(local("2026-06-01 12:30"))
    news = [(each.to, each.text) for each in driven.told if each.kind == "news"]
    assert news == [("Cid", "Ann undoes pass; Bob: pass. Bob agreed.")]
    assert [each.to for each in driven.told if each.kind == "turn"] == ["Ann"]
    assert (await since_last_turn(driven, 0))[-1] == "Ann undoes pass; Bob: pass. Bob agreed."


async def test_a_reminder_is_not_sent_beside_a_digest(driven: DrivenTable) -> None:
    """The digest says how much time is left."""
    await driven.begin("24h")
    await driven.settings("Ann", BERLIN, "digest 11:00")
    await driven.wait_until(local("2026-06-02 11:30"))
    assert len(driven.heard("Ann", "digest")) == 1 and driven.heard("Ann", "reminder") == []


async def test_who_reads_digests_learns_of_an_absence(driven: DrivenTable) -> None:
    await driven.begin("24h")
    await driven.settings("Ann", "digest 08:00")
    await driven.settings("Cid", "away until 2026-06-09")
    assert driven.heard("Ann", "news") == []
    assert (await since_last_turn(driven, 0))[-1].startswith("Cid is away until Tue 9 Jun 2026.")


async def test_a_time_is_up_once_whatever_is_said_afterwards(driven: DrivenTable) -> None:
    await driven.begin("24h, then deputy")
    await driven.wait_until(local("2026-06-02 12:10"))
    assert len(driven.heard("Bob", "news")) == 1
    await driven.service.running.announce(driven.table, "Bob says: hello", "say", by=driven.people["Bob"])
    await driven.wait_until(local("2026-06-02 13:00"))
    assert len(driven.heard("Bob", "news")) == 1, "and nobody hears their own words"
    assert len(driven.heard("Cid", "news")) == 2
    assert sum("time is up" in each for each in await since_last_turn(driven, 2)) == 1


async def test_more_time_after_the_end_of_a_time(driven: DrivenTable) -> None:
    await driven.begin("24h, then deputy")
    await driven.wait_until(local("2026-06-02 12:10"))
    assert isinstance(await driven.say("Ann", "extend"), Completed)
    await driven.wait_until(local("2026-06-03 12:10"))
    assert sum("time is up" in each for each in await since_last_turn(driven, 1)) == 2


async def test_a_deputy_is_addressed_by_name_and_told_when_it_is_over(
    driven: DrivenTable, desk: MailDesk
) -> None:
    await driven.begin("24h, bank 48h")
    await driven.person("Dora")
    await driven.settings("Dora", BERLIN)
    await driven.settings("Ann", "away until 2026-06-09 deputy Dora")
    driven.now += timedelta(minutes=3)
    (turn,) = to(await desk.take(), "Dora")
    assert "Ann asks you to play for them" in turn.text
    assert "It is Ann's turn: you play for them, Dora." in turn.text
    assert (
        "Please reply by Tue 2 Jun 12:00 (Europe/Berlin); after that your time bank lasts 2 days."
        in turn.text
    )
    assert (await desk.answered(turn, "bid CS 45")).subject.endswith("Done")
    await driven.settings("Ann", "back")
    (dismissed,) = to(await desk.take(), "Dora")
    assert "You no longer play for Ann at table Friday" in dismissed.text


async def test_a_paused_game_goes_on_by_an_email(driven: DrivenTable, desk: MailDesk) -> None:
    await driven.begin("24h, then pause")
    driven.now = local("2026-06-02 12:00")
    await driven.tick()
    emails = await desk.take()
    (told,) = [each for each in to(emails, "Ann") if each.subject.endswith("Your time is up")]
    assert "Write `resume` when you are back" in told.text
    assert (await desk.answered(told, "resume")).subject.endswith("Done")
    assert (await driven.service.queries.table_info(driven.table)).status == "running"


async def test_pause_and_resume_are_lines_and_a_repeated_request_does_nothing(driven: DrivenTable) -> None:
    await driven.begin("24h")
    bob = driven.people["Bob"]

    async def submit(line: str, request: str) -> object:
        return await driven.service.submit(driven.table, None, [line], None, request, person_id=bob)

    assert isinstance(await submit("pause", "a"), Completed)
    assert isinstance(await submit("resume", "b"), Completed)
    assert isinstance(await submit("pause", "a"), Completed), "the answer that it had"
    assert (await driven.service.queries.table_info(driven.table)).status == "running"
    refused = await submit("resume", "c")
    assert isinstance(refused, LineRefused) and refused.reason.startswith("Table ")
    assert isinstance(await submit("pause now", "d"), LineRefused)


async def test_an_unfinished_game_has_its_figures(driven: DrivenTable) -> None:
    await driven.begin("24h")
    await driven.say("Ann", "pass")
    driven.now += timedelta(days=2)
    await driven.say("Bob", "pass")
    await driven.service.running.end_now(driven.table, by=driven.people["Ann"])
    await driven.tick()
    assert "ends the game" in driven.heard("Cid", "over")[0]
    info = await driven.service.queries.table_info(driven.table)
    page = await driven.service.pages["over"](info, Notification("over", info.id, info.seq))
    assert page is not None and "The game took 2 days" in page.sentences[1]
