"""Plans on a private copy, past positions, and the game as a file."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bot.hub.request import Completed, LineAmbiguous, LineRefused, LineUnreadable, QueryAnswer
from bot.service import Service
from engine.game_text import replay
from engine.site_18xx.export import SiteExportError
from tests.service.conftest import ServiceHarness
from tests.service.test_orders import OPENING, say_all


async def shown(world: ServiceHarness, name: str, line: str, *more: str) -> QueryAnswer:
    answer = await world.say(name, line, *more)
    assert isinstance(answer, QueryAnswer), answer
    return answer


async def test_a_plan_shows_its_result_and_does_not_change_the_game(world: ServiceHarness) -> None:
    before = await world.service.queries.view(world.table)
    answer = await shown(world, "Ann", "plan buy SV", "Bob: bid CA 165; Cid: pass")
    assert "1. Ann: buy SV" in answer.text and "2. Bob: bid CA 165" in answer.text
    assert "Ann $800 → $780" in answer.text and "Standings:" in answer.text
    assert "Ann to act:" in answer.text
    state = answer.shown_state(before.state)  # type: ignore[arg-type]
    assert state.cash["p0"] == 780 and state.private_owners["SV"] == "p0" and answer.picture == "map"
    after = await world.service.queries.view(world.table)
    assert after.seq == before.seq and after.state == before.state


async def test_a_plan_is_private_and_kept_until_cleared(world: ServiceHarness) -> None:
    await shown(world, "Ann", "plan buy SV")
    await shown(world, "Ann", "plan more Bob: buy CS")
    again = Service(world.store)
    plan = await again.submit(world.table, 0, ["plan show"], None, None, person_id=world.people["Ann"])
    assert isinstance(plan, QueryAnswer) and "2. Bob: buy CS" in plan.text
    assert "no plan" in (await shown(world, "Bob", "plan")).text
    assert "deleted" in (await shown(world, "Ann", "plan clear")).text
    assert "no plan" in (await shown(world, "Ann", "plan")).text


async def test_a_plan_is_played_when_the_turn_comes(world: ServiceHarness) -> None:
    await world.say("Ann", "buy SV")
    assert isinstance(await world.say("Cid", "plan Bob: pass", "bid CA 165"), QueryAnswer)
    early = await world.say("Cid", "plan play")
    assert isinstance(early, LineRefused) and early.reason == "Your plan waits for Bob: pass."
    await shown(world, "Bob", "plan bid CA 165; Cid: pass; Ann: pass; buy CS")
    assert isinstance(await world.say("Bob", "plan play"), Completed)
    assert (await world.lines()) == ["buy SV", "bid CA 165"]
    assert "3. Bob: buy CS" in (await shown(world, "Bob", "plan")).text


async def test_lines_played_as_planned_are_removed_from_the_plan(world: ServiceHarness) -> None:
    await shown(world, "Ann", "plan buy SV; Bob: pass; Cid: pass; buy CS; Bob: bid CA 165")
    assert isinstance(await world.say("Ann", "plan play"), Completed)
    await world.say("Bob", "pass")
    assert "1. Cid: pass" in (await shown(world, "Ann", "plan")).text
    await world.say("Cid", "pass")
    assert isinstance(await world.say("Ann", "plan play"), Completed)
    assert await world.lines() == ["buy SV", "pass", "pass", "buy CS"]
    await world.say("Bob", "bid CA 165")
    assert "no plan" in (await shown(world, "Ann", "plan")).text


async def test_a_plan_skips_lines_of_others_when_its_player_is_to_act(world: ServiceHarness) -> None:
    await shown(world, "Bob", "plan Ann: buy SV; buy CS; Cid: pass; Ann: pass; buy DH")
    await world.say("Ann", "buy SV")
    assert isinstance(await world.say("Bob", "plan play"), Completed)
    await world.say("Cid", "bid CA 165")
    await world.say("Ann", "pass")
    assert isinstance(await world.say("Bob", "plan play"), Completed)
    assert (await world.lines())[-1] == "buy DH"


async def test_playing_a_plan_twice_by_one_request_is_playing_it_once(world: ServiceHarness) -> None:
    await shown(world, "Ann", "plan buy SV")
    first = await world.say("Ann", "plan play", request="once")
    assert await world.say("Ann", "plan play", request="once") == first
    assert await world.lines() == ["buy SV"]


async def test_an_outdated_plan_names_the_impossible_line(world: ServiceHarness) -> None:
    await shown(world, "Ann", "plan pass; Bob: buy SV")
    await world.say("Ann", "buy SV")
    text = (await shown(world, "Ann", "plan show")).text
    assert "1. Ann: pass is not possible there: Bob to act:" in text
    refused = await world.say("Ann", "plan play")
    assert isinstance(refused, LineRefused) and await world.lines() == ["buy SV"]


async def test_an_impossible_line_keeps_the_former_plan(world: ServiceHarness) -> None:
    await shown(world, "Ann", "plan buy SV")
    result = await world.say("Ann", "plan more Bob: buy SV")
    assert isinstance(result, LineRefused | LineAmbiguous) and result.index == 0
    assert isinstance(await world.say("Ann", "plan dance"), LineUnreadable)
    assert "1. Ann: buy SV" in (await shown(world, "Ann", "plan")).text
    assert isinstance(await world.say("Ann", "plan " + "pass;" * 41), LineRefused)


async def test_a_past_position_by_row_and_by_round(world: ServiceHarness) -> None:
    await say_all(world, *OPENING[:4])
    row = next(h.seq for h in await world.service.queries.log(world.table) if h.line == "buy CS")
    past = await shown(world, "Cid", f"at {row}")
    now = (await world.service.queries.view(world.table)).state
    assert now is not None
    assert past.text.startswith(f"After row {row}:") and past.shown_state(now).cash["p1"] == 760
    assert past.shown_state(now).private_owners["DH"] == "bank"
    assert (await shown(world, "Cid", "at start sheet")).picture == "sheet"
    for name, line in (("Bob", "buy CA"), ("Cid", "buy BO"), ("Cid", "par BO 67")):
        await world.say(name, line)
    found = await shown(world, "Ann", "at sr 1 market")
    assert found.text.startswith("At the start of stock round 1") and found.picture == "market"
    assert (await shown(world, "Ann", f"at move {row}")).text == past.text
    assert (await shown(world, "Ann", "at Stock Round 1")).text == found.text.replace("market", "map")
    for line in ("at sr 9", "at mr 1.1", "at merger round 2.1", "at 99999", "at", "at noon"):
        answer = await world.say("Ann", line)
        assert isinstance(answer, LineRefused), line


async def test_the_export_leaves_out_what_was_undone(world: ServiceHarness) -> None:
    await world.say("Ann", "buy SV")
    await world.say("Bob", "buy CS")
    await world.say("Bob", "undo")
    await world.say("Bob", "pass")
    text = (await shown(world, "Cid", "export")).files[0]
    report = replay(text.content.decode())
    assert text.name.endswith(".18xx") and report.ok and report.move_count == 2
    site = (await shown(world, "Cid", "export 18xx.games")).files[0]
    assert [a["type"] for a in json.loads(site.content)["actions"]] == ["bid", "pass"]
    for asked in ("--as-far-as-possible", "as far as possible"):
        assert (await shown(world, "Cid", f"export 18xx.games {asked}")).files[0].content == site.content
    assert (await shown(world, "Ann", "export csv")).files[0].content.startswith(b"round,Ann,Bob,Cid,")
    refused = await world.say("Ann", "export rails")
    assert isinstance(refused, LineRefused) and "no format rails" in refused.reason


async def test_a_refused_export_names_the_line_that_writes_a_part(
    world: ServiceHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **options: bool) -> dict[str, Any]:
        if options:
            return {}
        raise SiteExportError(1, "pass", "there Bob comes next.")

    monkeypatch.setattr("bot.features.game_files.feature.export_game", refused)
    answer = await world.say("Ann", "export 18xx.games")
    assert isinstance(answer, LineRefused)
    told, line, _ = answer.reason.split("`")
    assert told.endswith("there Bob comes next. ")
    assert (await shown(world, "Ann", line)).files


async def test_the_export_has_the_current_names(world: ServiceHarness) -> None:
    await say_all(world, *OPENING[:2])
    dora = await world.person("Dora")
    await world.service.running.replace_player(world.table, 0, dora, "Dora", by=None)
    telling = await world.service.queries.history(world.table)
    assert telling.start.players == ["Dora", "Bob", "Cid"]
    text = (await shown(world, "Bob", "export text")).files[0].content.decode()
    assert "Dora: buy SV" in text and replay(text).ok


async def test_a_suggestion_for_an_outdated_line_of_the_plan_can_be_submitted(world: ServiceHarness) -> None:
    """`plan more` would put it behind the line that is no longer possible."""
    await shown(world, "Ann", "plan bid BO 225; Bob: pass")
    await say_all(world, ("Ann", "pass"), ("Bob", "bid BO 300"), ("Cid", "pass"))
    refused = await world.say("Ann", "plan more Cid: pass")
    assert isinstance(refused, LineRefused | LineUnreadable) and refused.line == "bid BO 225"
    assert refused.suggestions == ("plan bid BO 305; Bob: pass; Cid: pass",)
    told = (await shown(world, "Ann", *refused.suggestions)).text
    assert "1. Ann: bid BO 305" in told and "3. Cid: pass" in told
