"""Deputies: of two seats, of players who sit there themselves, in a pause, and what they do not decide."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bot.hub.request import Completed, LineRefused, NotYourSeat, PollUpdated, QueryAnswer
from bot.service import Service
from tests.mail.mail_desk import MailDesk
from tests.pace.conftest import START, DrivenTable, to
from tests.pace.test_seat_requests import ask

HOUR = timedelta(hours=1)
AWAY = "away until 2026-07-01 deputy"


async def with_deputy(driven: DrivenTable, *absent: str, pace: str = "24h", deputy: str = "Eve") -> None:
    await driven.begin(pace)
    if deputy == "Eve":
        await driven.person("Eve")
    for name in absent:
        assert isinstance(await driven.say(name, f"{AWAY} {deputy}"), QueryAnswer)


async def test_a_deputy_of_two_seats_plays_for_both(driven: DrivenTable) -> None:
    """The second seat was refused to them, so the table waited for ever."""
    await with_deputy(driven, "Ann", "Bob")
    assert isinstance(await driven.say("Eve", "pass"), Completed)
    await driven.wait_until(START + HOUR)
    turns = await driven.say("Eve", "turns")
    assert isinstance(turns, QueryAnswer) and turns.text.endswith("for Bob")
    assert isinstance(await driven.say("Eve", "pass"), Completed)
    assert await driven.asked() == ["Cid"]
    driven.told.clear()
    await driven.say("Cid", "pause")
    assert len(driven.heard("Eve", "news")) == 1


async def test_a_deputy_of_two_seats_votes_for_both(driven: DrivenTable) -> None:
    """Both lines were Ann's vote."""
    await with_deputy(driven, "Ann", "Bob")
    await driven.say("Cid", "pace 48h")
    for line in ("accept vote", "accept"):
        assert isinstance(await driven.say("Eve", line), PollUpdated)
    assert str((await driven.service.queries.table_info(driven.table)).pace) == "48h"


async def test_a_deputy_of_two_seats_votes_for_both_beside_an_offer_to_another(driven: DrivenTable) -> None:
    """Both lines were Bob's vote, because an offer waited for Ann."""
    await with_deputy(driven, "Bob", "Cid")
    for name, line in (
        ("Ann", "buy SV"), ("Eve", "buy CS"), ("Eve", "buy DH"), ("Ann", "buy MH"), ("Eve", "buy CA"),
        ("Eve", "pass"), ("Ann", "pass"), ("Eve", "pass"), ("Eve", "buy private SV from Ann for 30"),
    ):  # fmt: skip
        assert isinstance(await driven.say(name, line), Completed)
    await driven.say("Ann", "pace 48h")
    for line in ("accept", "accept"):
        assert isinstance(await driven.say("Eve", line), PollUpdated)
    assert str((await driven.service.queries.table_info(driven.table)).pace) == "48h"


async def test_who_was_asked_for_a_vote_is_not_asked_again_after_a_deputy_decides(
    driven: DrivenTable,
) -> None:
    """Eve decides once for Ann, who has been asked for one vote before, and not for the other."""
    await driven.begin("24h, then deputy")
    await driven.person("Eve")
    await driven.settings("Ann", "deputy Eve")
    await driven.say("Bob", "pace 48h")
    await driven.wait_until(START + 25 * HOUR)
    await driven.say("Cid", "end")
    assert len(driven.heard("Ann", "vote")) == 2, "who may end the game is no question for Eve"
    await driven.say("Bob", "undo")
    assert isinstance(await driven.say("Eve", "pass"), Completed)
    assert len(driven.heard("Ann", "vote")) == 2


async def test_a_vote_is_asked_of_the_player_for_whom_a_robot_decides(driven: DrivenTable) -> None:
    """Nobody was asked; and the others were told that no message reaches a player who reads them all."""
    await driven.begin("24h, then deputy, robot deputies")
    await driven.wait_until(START + 25 * HOUR)
    await driven.say("Bob", "pace 48h")
    assert len(driven.heard("Ann", "vote")) == 1
    await driven.wait_until(START + 75 * HOUR)
    assert len(driven.heard("Ann", "vote_reminder")) == 2
    assert not [told for told in driven.told if "no message of Railpost reaches" in told.text]
    assert len(driven.heard("Cid", "vote")) == 2, "on the pace and on Ann's seat"
    assert isinstance(await driven.say("Ann", "accept"), PollUpdated)


async def test_a_vote_is_asked_of_the_deputy_for_whom_a_robot_has_decided_once(driven: DrivenTable) -> None:
    """Nobody was asked as long as Ann was away: she is not, and Eve did not play for her just then."""
    await with_deputy(driven, "Ann", pace="24h, then deputy, robot deputies")
    await driven.wait_until(START + 25 * HOUR)
    await driven.say("Bob", "pace 48h")
    assert driven.heard("Ann", "vote") == driven.heard("Eve", "vote") == []
    assert await driven.service.robots.play(driven.table, moves=1) == 1
    await driven.tick()
    assert len(driven.heard("Eve", "vote")) == 1 and driven.heard("Ann", "vote") == []
    assert isinstance(await driven.say("Eve", "accept"), PollUpdated)
    driven.service.robots.worker.close()


async def test_a_deputy_of_two_seats_answers_the_emails_of_both(driven: DrivenTable, desk: MailDesk) -> None:
    await with_deputy(driven, "Ann", "Bob")
    driven.now += timedelta(minutes=5)
    (turn,) = [each for each in to(await desk.take(), "Eve") if "Your turn" in each.subject]
    assert (await desk.answered(turn, "pass")).subject.endswith("Done")
    driven.now += timedelta(minutes=5)
    (turn,) = [each for each in to(await desk.take(), "Eve") if "Your turn" in each.subject]
    assert (await desk.answered(turn, "pass")).subject.endswith("Done")
    assert await driven.asked() == ["Cid"]


async def test_the_computer_player_is_a_deputy_of_two_seats(driven: DrivenTable) -> None:
    """It tried to move for the second seat without end."""
    await with_deputy(driven, "Ann", "Bob", pace="24h, robot deputies", deputy="Robot")
    assert await driven.service.robots.play(driven.table, moves=5) == 2
    assert await driven.asked() == ["Cid"]
    driven.service.robots.worker.close()


async def test_the_computer_player_leaves_the_seat_to_who_is_back(driven: DrivenTable) -> None:
    """The table was told that the robot finds no move, because another process had Ann back already."""
    await with_deputy(driven, "Ann", pace="24h, robot deputies", deputy="Robot")
    await driven.service.cache.refresh(driven.table)
    other = Service(driven.store)
    await other.submit(driven.table, None, ["back"], None, None, person_id=driven.people["Ann"])
    await other.clock.tick()
    assert await driven.service.robots.play(driven.table) == 0
    await driven.deliver()
    assert not [told for told in driven.told if "finds no move" in told.text]
    driven.service.robots.worker.close()


async def test_a_deputy_who_takes_a_seat_is_a_deputy_no_more(driven: DrivenTable) -> None:
    """Dora could not move for Ann any more, and Ann was not asked."""
    await driven.begin("24h")
    await driven.person("Dora")
    await driven.say("Ann", f"{AWAY} Dora")
    await driven.say("Bob", "resign yes")
    await ask(driven, "Dora", "ask Bob")
    await ask(driven, "Ann", "admit Dora")
    assert "You no longer play for Ann" in driven.heard("Dora", "dismissed")[0]
    assert len([each for each in driven.heard("Dora") if "plays on for Bob" in each]) == 0
    assert "nobody plays for you at table Friday" in driven.heard("Ann", "seat_answer")[0]
    assert driven.heard("Cid", "news")[-1].endswith("Their time does not run until then.")
    await driven.wait_until(START + 48 * HOUR)
    assert driven.heard("Ann", "time_up", "reminder") == []
    assert isinstance(await driven.say("Ann", "pass"), Completed)


async def test_a_deputy_does_not_agree_to_end_the_game(driven: DrivenTable) -> None:
    await with_deputy(driven, "Ann")
    assert isinstance(await driven.say("Bob", "end"), PollUpdated)
    assert driven.heard("Eve", "vote") == []
    turns = await driven.say("Eve", "turns")
    assert isinstance(turns, QueryAnswer) and "a vote" not in turns.text
    refused = await driven.say("Eve", "accept vote")
    assert isinstance(refused, LineRefused)
    assert refused.reason == "You play for Ann; only Ann can agree to end the game."
    await driven.say("Cid", "accept")
    await driven.say("Ann", "back")
    assert len(driven.heard("Ann", "vote")) == 1
    await driven.say("Ann", "accept vote")
    assert (await driven.service.queries.table_info(driven.table)).status == "ended"


async def test_a_player_for_whom_a_deputy_decides_once_is_asked_to_end_the_game(driven: DrivenTable) -> None:
    """Neither Ann nor Dora was asked, and nobody was reminded."""
    await late_with_deputy(driven)
    await driven.say("Bob", "end")
    await driven.wait_until(START + 49 * HOUR)
    assert driven.heard("Dora", "vote", "vote_reminder") == []
    assert [len(driven.heard("Ann", kind)) for kind in ("vote", "vote_reminder")] == [1, 1]


async def test_who_was_away_hears_that_the_deputy_is_deleted(driven: DrivenTable) -> None:
    """Nobody was told, and the table went on waiting for nobody until something happened."""
    await with_deputy(driven, "Ann")
    await driven.service.personal_data.erase(driven.people["Eve"])
    await driven.tick()
    assert "nobody plays for you at table Friday" in driven.heard("Ann", "seat_answer")[0]
    assert "Their time does not run until then." in driven.heard("Bob", "news")[-1]
    assert len(driven.heard("Ann", "turn")) == 1


async def test_a_deputy_votes_on_the_pace(driven: DrivenTable) -> None:
    await with_deputy(driven, "Ann")
    await driven.say("Bob", "pace 48h")
    assert len(driven.heard("Eve", "vote")) == 1
    assert isinstance(await driven.say("Eve", "accept vote"), PollUpdated)


async def test_a_deputy_resumes_the_game_that_was_paused_for_them(driven: DrivenTable) -> None:
    """They were told to write `resume`, and it was refused."""
    await with_deputy(driven, "Ann", pace="24h, then pause")
    await driven.wait_until(START + 25 * HOUR)
    assert "Write `resume` when you are back" in driven.heard("Eve", "time_up")[0]
    assert isinstance(await driven.say("Eve", "resume"), Completed)
    assert driven.heard("Bob", "news")[-1].endswith("The deputy of Ann resumes the game.")


@pytest.mark.parametrize("robots", [True, False])
async def test_the_deputy_of_an_absent_player_lets_the_time_run_out(
    driven: DrivenTable, robots: bool
) -> None:
    """A robot decides once; then the deputy, who was forgotten, plays again."""
    pace = "24h, then deputy" + ", robot deputies" * robots
    await with_deputy(driven, "Ann", pace=pace)
    await driven.settings("Ann", "deputy Eve")
    await driven.wait_until(START + 24 * HOUR)
    told = "Robot decides for them this once." if robots else (
        "Their deputy has not decided, so the game waits. If Ann stays away, the others vote on the seat."
    )  # fmt: skip
    assert driven.heard("Bob", "news")[-1].endswith(f"Ann's time is up. {told}")
    assert not any("Ann's time is up" in each for each in driven.heard("Eve", "news"))
    if not robots:
        assert "Your time is up, and the game waits for you." in driven.heard("Eve", "time_up")[-1]
    if robots:
        assert await driven.service.robots.play(driven.table) == 1
        await driven.tick()
        await driven.say("Bob", "pass")
        await driven.say("Cid", "pass")
        driven.service.robots.worker.close()
    assert await driven.asked() == ["Ann"]
    assert isinstance(await driven.say("Eve", "pass"), Completed)


async def late_with_deputy(driven: DrivenTable) -> None:
    await driven.begin("24h, then deputy")
    await driven.person("Dora")
    await driven.settings("Ann", "deputy Dora")
    await driven.wait_until(START + 24 * HOUR)


async def test_what_a_deputy_decides_for_a_late_player_counts_as_a_lapse(driven: DrivenTable) -> None:
    """Every decision of a sleeping player took the whole time again."""
    await late_with_deputy(driven)
    ends = list[timedelta]()
    while len(ends) < 3:
        await driven.wait_until(driven.now + HOUR / 2)
        while (asked := await driven.asked()) and (
            asked[0] != "Ann" or len(driven.heard("Dora", "turn")) > len(ends)
        ):
            ends += [driven.now - START] if asked[0] == "Ann" else []
            assert isinstance(await driven.say("Dora" if asked[0] == "Ann" else asked[0], "pass"), Completed)
    assert [round(each / HOUR) for each in ends] == [24, 48, 54]


async def test_who_moves_before_their_deputy_plays_on(driven: DrivenTable) -> None:
    """The deputy was not told, and was asked for votes of Ann's which Ann did not hear of."""
    await late_with_deputy(driven)
    await driven.say("Bob", "pace 48h")
    assert driven.heard("Ann", "vote") == []
    assert isinstance(await driven.say("Ann", "pass"), Completed)
    assert "You no longer play for Ann at table Friday" in driven.heard("Dora", "dismissed")[0]
    assert len(driven.heard("Ann", "vote")) == 1
    assert isinstance(await driven.say("Ann", "accept vote"), PollUpdated)


async def test_a_deputy_who_is_taken_back_decides_nothing(driven: DrivenTable) -> None:
    """They decided once all the same."""
    await late_with_deputy(driven)
    assert await driven.settings("Ann", "settings deputy off") == "You have no deputy."
    assert "You no longer play for Ann at table Friday" in driven.heard("Dora", "dismissed")[0]
    assert isinstance(await driven.say("Dora", "pass"), NotYourSeat)
    assert isinstance(await driven.say("Ann", "pass"), Completed)


async def test_who_has_a_deputy_for_a_decision_is_told(driven: DrivenTable) -> None:
    """Ann heard nothing, Dora heard of herself twice, and the end of the longer time was not told."""
    await late_with_deputy(driven)
    own = driven.heard("Ann", "time_up")[0]
    assert "Dora decides for you this once at table Friday" in own
    assert driven.heard("Dora", "news") == [] and len(driven.heard("Dora", "deputy", "turn")) == 1
    assert isinstance(await driven.say("Ann", "extend"), Completed)
    await driven.wait_until(START + 48 * HOUR)
    told = driven.heard("Bob", "news")
    assert len(told) == 3 and "Their deputy has not decided, so the game waits." in told[-1]


async def test_who_was_to_decide_once_hears_that_the_player_is_back(driven: DrivenTable) -> None:
    """Dora was told nothing, and could not move. Eve read that she may move first."""
    await with_deputy(driven, "Ann", pace="24h, then deputy", deputy="Eve")
    await driven.person("Dora")
    await driven.settings("Ann", "deputy Dora")
    await driven.wait_until(START + 24 * HOUR)
    (own,) = driven.heard("Eve", "time_up")
    assert "Ann's time is up. Dora decides for them this once at table Friday" in own
    await driven.say("Ann", "back")
    assert "You no longer play for Ann at table Friday" in driven.heard("Dora", "dismissed")[0]
    assert driven.heard("Eve", "dismissed") == [] and len(driven.heard("Ann", "turn")) == 1


async def test_who_decides_once_and_then_plays_for_an_absent_player_is_asked_to_vote(
    driven: DrivenTable,
) -> None:
    """Dora was to decide once, and was taken for a deputy who has been asked for the votes already."""
    await driven.begin("24h, then deputy")
    await driven.person("Dora")
    await driven.settings("Ann", "deputy Dora")
    await driven.say("Cid", "pace 30h, then deputy")
    await driven.wait_until(START + 24 * HOUR)
    assert driven.heard("Dora", "vote") == []
    await driven.say("Ann", f"{AWAY} Dora")
    assert len(driven.heard("Dora", "vote")) == 1


async def test_an_order_that_a_vote_holds_is_not_overtaken_by_a_pass(driven: DrivenTable) -> None:
    """Cid's time was up while the others voted on an undo: Cid passed instead of what the order says."""
    await driven.begin("24h, then orders")
    await driven.say("Ann", "buy SV")
    await driven.say("Bob", "buy CS")
    await driven.wait_until(START + 20 * HOUR)
    assert isinstance(await driven.say("Ann", "undo"), PollUpdated)
    await driven.say("Cid", "auto buy private DH up to 70")
    await driven.wait_until(START + 43 * HOUR)
    assert await driven.asked() == ["Cid"]
    await driven.wait_until(START + 45 * HOUR)
    assert await driven.asked() == ["Ann"]
    log = await driven.service.queries.log(driven.table)
    assert [row.line for row in log if row.kind == "move"] == ["buy SV", "buy CS", "buy DH"]


async def test_who_plays_from_now_on_is_pinged_in_the_thread(driven: DrivenTable) -> None:
    """The ping of the one to whom the same question was put before was taken for theirs."""

    def pinged() -> list[str]:
        return [told.to for told in driven.told if (told.channel, told.kind) == ("thread", "turn")]

    await driven.begin("24h, then deputy", discord=True)
    await driven.person("Dora", discord=True)
    await driven.settings("Ann", "deputy Dora")
    await driven.wait_until(START + HOUR)
    assert pinged() == ["Ann"]
    await driven.say("Ann", "away until 2026-06-02 deputy Dora")
    assert pinged() == ["Ann", "Dora"]
    await driven.wait_until(START + 23 * HOUR)  # the absence is over
    assert pinged() == ["Ann", "Dora", "Ann"]
    await driven.wait_until(START + 60 * HOUR)  # her time is up
    assert pinged() == ["Ann", "Dora", "Ann", "Dora"]


async def test_who_is_back_at_night_is_pinged_in_the_morning(driven: DrivenTable) -> None:
    """The hour counted at which another was asked, so nobody was. A deputy for other days is asked once."""
    await driven.begin("none", discord=True)
    await driven.person("Dora", discord=True)
    await driven.settings("Ann", "tell thread", "quiet 22:00-07:00")
    await driven.wait_until(START + HOUR)
    await driven.say("Ann", "away until 2026-06-03 deputy Dora")
    await driven.say("Ann", "away until 2026-06-02 deputy Dora")
    await driven.wait_until(START + 22 * HOUR)
    pings = [
        (told.at - START, told.to) for told in driven.told if told.channel == "thread" and told.to != "table"
    ]
    assert [(at // HOUR, to) for at, to in pings] == [(0, "Ann"), (1, "Dora"), (21, "Ann")]


async def test_a_deputy_is_not_pinged_for_a_player_who_slept(driven: DrivenTable) -> None:
    """The ping that the player was still to get came to the deputy beside their own."""
    await driven.begin("48h", discord=True)
    await driven.person("Dora", discord=True)
    await driven.settings("Bob", "tell thread", "quiet 09:00-16:00")
    await driven.say("Ann", "pass")
    await driven.wait_until(START + HOUR)
    await driven.say("Bob", "away until 2026-06-03 deputy Dora")
    await driven.wait_until(START + 8 * HOUR)
    assert [told.to for told in driven.told if told.channel == "thread" and told.to != "table"] == ["Dora"]


async def test_who_is_asked_for_a_vote_in_place_of_another_at_night_is_pinged_in_the_morning(
    driven: DrivenTable,
) -> None:
    """The vote pinged a deputy and a new player by the timer of whom it had been put to before."""
    await driven.begin("none", discord=True)
    for name in ("Dora", "Eve"):
        await driven.person(name, discord=True)
        await driven.settings(name, "tell thread", "quiet 09:00-16:00")
    await driven.say("Bob", "pace 48h")
    await driven.say("Cid", "away until 2026-06-20 deputy Dora")
    await driven.service.running.replace_player(driven.table, 0, driven.people["Eve"], "Eve", by=None)
    await driven.wait_until(START + 20 * HOUR)
    assert [driven.heard(name, "vote_reminder")[0][:8] for name in ("Dora", "Eve")] == ["01 16:00"] * 2


async def test_a_new_player_who_is_away_is_not_asked_beside_their_deputy(driven: DrivenTable) -> None:
    await driven.begin("24h")
    for name in ("Dora", "Eve"):
        await driven.person(name)
    await driven.settings("Dora", f"{AWAY} Eve")
    await driven.say("Cid", "pace 48h")
    await driven.service.running.replace_player(driven.table, 1, driven.people["Dora"], "Dora", by=None)
    await driven.tick()
    assert [len(driven.heard(name, "vote")) for name in ("Dora", "Eve")] == [0, 1]


@pytest.mark.parametrize("once", [False, True])
async def test_who_takes_the_seat_of_a_deputy_is_asked_once(driven: DrivenTable, once: bool) -> None:
    """Eve was asked for each vote twice, and Dora read that she no longer plays for Eve."""
    await driven.begin("24h, then deputy")
    for name in ("Dora", "Eve"):
        await driven.person(name)
    await driven.settings("Ann", "deputy Dora" if once else f"{AWAY} Dora")
    await driven.wait_until(START + 25 * HOUR)
    await driven.say("Cid", "pace 48h")
    await driven.service.running.replace_player(driven.table, 0, driven.people["Eve"], "Eve", by=None)
    await driven.tick()
    assert len(driven.heard("Eve", "vote")) == 1
    (told,) = driven.heard("Dora", "dismissed")
    assert "Eve has the seat now for which you played at table Friday" in told
    assert "nobody plays for you" not in "".join(driven.heard("Eve"))
    await driven.wait_until(driven.now + 1 * HOUR)
    assert len(driven.heard("Eve", "turn")) == 1


@pytest.mark.parametrize(("sleeper", "pinged_at"), [("Dora", "01 20:00"), ("Ann", "01 16:00")])
async def test_a_deputy_who_decides_once_is_pinged_once_when_they_wake(
    driven: DrivenTable, sleeper: str, pinged_at: str
) -> None:
    """A deputy who slept when they were named was never pinged; one who did not had the player's ping too."""
    await driven.begin("6h, then deputy", discord=True)
    await driven.person("Dora", discord=True)
    await driven.settings("Ann", "deputy Dora")
    await driven.settings(sleeper, "tell thread", "quiet 09:00-20:00")
    if sleeper == "Ann":
        await driven.say("Bob", "pause")
        await driven.say("Bob", "resume")
    await driven.wait_until(START + 11 * HOUR)
    pings = [told for told in driven.heard("Dora", "turn", "reminder") if " thread " in told]
    assert [told[:8] for told in pings] == [pinged_at]
    await driven.wait_until(START + 31 * HOUR)
    assert driven.heard("Dora", "reminder")[-1].endswith(
        "Ann's time ended Mon 1 Jun 16:00 (UTC); the table still waits for you."
    )


@pytest.mark.parametrize(
    ("pace", "sleeper", "quiet", "away_hours", "reminded_at"),
    [
        ("12h", "Dora", "11:00-18:00", (2,), ["01 18:00", "01 21:00"]),
        ("30h", "Ann", "20:00-08:00", (1, 12), ["02 08:00", "02 15:00"]),
    ],
)
async def test_who_is_asked_at_night_is_not_reminded_as_they_are_pinged(
    driven: DrivenTable,
    pace: str,
    sleeper: str,
    quiet: str,
    away_hours: tuple[int, ...],
    reminded_at: list[str],
) -> None:
    """A deputy, and a player who is back, had the ping and a reminder of one minute, in the same words."""
    await driven.begin(pace, discord=True)
    await driven.person("Dora", discord=True)
    await driven.settings(sleeper, "tell thread", f"quiet {quiet}")
    for hour, line in zip(away_hours, (f"{AWAY} Dora", "back"), strict=False):
        await driven.wait_until(START + hour * HOUR)
        await driven.say("Ann", line)
    await driven.wait_until(START + 32 * HOUR)
    assert [told[:8] for told in driven.heard(sleeper, "reminder")] == reminded_at


async def test_who_decides_once_at_night_is_not_reminded_as_they_are_pinged(driven: DrivenTable) -> None:
    """The daily reminder of a player with a time bank fell into the night of the deputy."""
    await driven.begin("6h, bank 20h, then deputy", discord=True)
    await driven.person("Dora", discord=True)
    await driven.settings("Ann", "deputy Dora")
    await driven.settings("Dora", "tell thread", "quiet 06:00-20:00")
    await driven.wait_until(START + 40 * HOUR)
    assert [told[:8] for told in driven.heard("Dora", "reminder")] == ["02 20:00"]
