"""Robots at tables: they sit only where all agree, move by the same door as others, once, and give way."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlmodel import col, select

from bot.features.robots.players import WAY_OUT, RobotPlayers
from bot.features.robots.robot import LEAST_EFFORT, Robot
from bot.features.robots.worker import RobotMove, RobotWorker, agrees, decide_now, plain_move
from bot.hub.notifications.messages import decode_notification
from bot.hub.request import LineRefused, PollUpdated, QueryAnswer
from bot.hub.seating import robots_of
from bot.service import Service
from engine import State, encode_state, new_game
from storage import OutboxMessage, open_store


@pytest.fixture
async def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Service]:
    async def decide(worker: RobotWorker, state: State, seat: str, seed: int) -> RobotMove | None:
        found = decide_now(encode_state(state), seat, seed, LEAST_EFFORT)
        return RobotMove(*found) if found else None

    async def accepts(worker: RobotWorker, now: State, then: State, seat: str) -> bool:
        return agrees(encode_state(now), encode_state(then), seat)

    monkeypatch.setattr(RobotWorker, "decide", decide)
    monkeypatch.setattr(RobotWorker, "accepts", accepts)
    async with await open_store(tmp_path / "railpost.db") as store:
        yield Service(store)


async def person(service: Service, name: str) -> int:
    async with service.store.begin() as unit:
        return (await unit.people.add(name)).id


async def lobby(service: Service, *names: str, options: tuple[str, ...] = ()) -> tuple[int, list[int]]:
    """A table in its lobby with these people; the first is the host."""
    people = [await person(service, name) for name in names]
    info = await service.lobby.create("1830", people[0], options=options)
    for person_id, name in zip(people, names, strict=True):
        await service.lobby.join(info.id, person_id, name)
    return info.id, people


async def question(service: Service) -> str:
    """The newest question about a robot that waits to be sent."""
    async with service.store.read() as unit:
        rows = await unit._transaction.all(
            select(OutboxMessage)
            .where(col(OutboxMessage.status) == "pending")
            .order_by(col(OutboxMessage.id))
        )
    told = [decode_notification(row.payload) for row in rows]
    return [" ".join(each.sentences) for each in told if each.kind == "robot"][-1]


async def test_a_robot_waits_until_all_people_at_the_table_agree(service: Service) -> None:
    table_id, (ann, bob, cid) = await lobby(service, "Ann", "Bob", "Cid")
    info = await service.lobby.invite_robot(table_id, by=ann)
    assert [(r.name, r.joined) for r in robots_of(info)] == [("Robot", False)]
    with pytest.raises(ValueError, match="Robot has not joined yet"):
        await service.lobby.start(table_id, by=ann)
    info = await service.lobby.agree_to_robots(table_id, bob)
    assert not robots_of(info)[0].joined
    info = await service.lobby.agree_to_robots(table_id, cid)
    assert robots_of(info)[0].joined


async def test_each_robot_is_asked_about_also_within_a_second(service: Service) -> None:
    table_id, (ann, bob) = await lobby(service, "Ann", "Bob")
    async with service.store.begin() as unit:
        await unit.people.add_identity(bob, "email", "bob@player.test")
    for _ in range(2):
        await service.lobby.invite_robot(table_id, by=ann)
    assert "whether computer players, Robot and Robot 2, may play" in await question(service)
    await service.lobby.agree_to_robots(table_id, bob)
    await service.lobby.invite_robot(table_id, by=ann)
    assert "whether a computer player, Robot 3, may play" in await question(service)


async def test_a_stranger_has_no_say(service: Service) -> None:
    table_id, (ann,) = await lobby(service, "Ann")
    await service.lobby.invite_robot(table_id, by=ann)
    stranger = await person(service, "Eve")
    with pytest.raises(ValueError, match="have no seat"):
        await service.lobby.agree_to_robots(table_id, stranger)
    with pytest.raises(ValueError, match="its host, or a player"):
        await service.lobby.invite_robot(table_id, by=stranger)


async def test_nobody_is_called_like_a_robot(service: Service) -> None:
    table_id, _ = await lobby(service, "Ann")
    with pytest.raises(ValueError, match="is what the computer player is called"):
        await service.lobby.join(table_id, await person(service, "Eve"), "robot 2")


async def test_a_robot_leaves_a_full_lobby_when_a_person_comes(service: Service) -> None:
    table_id, (ann,) = await lobby(service, "Ann")
    for _ in range(5):
        await service.lobby.invite_robot(table_id, by=ann)
    info = await service.lobby.join(table_id, await person(service, "Bob"), "Bob")
    names = [p.name for p in info.seated_players]
    assert sorted(names) == ["Ann", "Bob", "Robot", "Robot 2", "Robot 3", "Robot 4"]


async def test_robots_move_until_a_person_is_awaited_and_only_once(service: Service) -> None:
    table_id, (ann,) = await lobby(service, "Ann")
    for _ in range(2):
        await service.lobby.invite_robot(table_id, by=ann)
    await service.lobby.start(table_id, by=None, order=["Robot", "Robot 2", "Ann"])
    assert await service.robots.play(table_id) == 2
    assert await service.robots.play(table_id) == 0
    view = await service.queries.view(table_id)
    assert [p.name for p in view.pending] == ["Ann"]
    # Another process that starts from the same row asks for the same move, and changes nothing.
    again = RobotPlayers(service.cache, service.submit, service.running.announce, 0)
    assert await again.play(table_id) == 0
    assert (await service.queries.view(table_id)).seq == view.seq


async def test_robots_agree_to_votes_of_people(service: Service) -> None:
    table_id, (ann,) = await lobby(service, "Ann")
    await service.lobby.invite_robot(table_id, by=ann)
    await service.lobby.start(table_id, by=None, order=["Ann", "Robot"])
    await service.submit(table_id, 0, ["pass"], None, None, person_id=ann)
    await service.robots.play(table_id, moves=1)
    asked = await service.submit(table_id, 0, ["pace 24h"], None, None, person_id=ann)
    assert isinstance(asked, PollUpdated)
    await service.robots.play(table_id, moves=1)
    assert (await service.queries.view(table_id)).polls == ()


async def asked_to_undo(service: Service) -> tuple[int, int]:
    """A table at which Ann has passed, a robot has moved, and Ann asks to undo both; its id, and Ann's."""
    table_id, (ann, bob) = await lobby(service, "Ann", "Bob")
    await service.lobby.invite_robot(table_id, by=ann)
    await service.lobby.agree_to_robots(table_id, bob)
    await service.lobby.start(table_id, by=None, order=["Ann", "Robot", "Bob"])
    await service.submit(table_id, 0, ["pass"], None, None, person_id=ann)
    await service.robots.play(table_id, moves=1)
    asked = await service.submit(table_id, 0, ["undo"], None, None, person_id=ann)
    assert isinstance(asked, PollUpdated)
    assert asked.sentences[1] == "Robot is asked to vote."
    return table_id, ann


async def test_a_robot_agrees_to_an_undo_that_costs_it_little(service: Service) -> None:
    table_id, ann = await asked_to_undo(service)
    assert await service.robots.play(table_id, moves=1) == 1
    view = await service.queries.view(table_id)
    assert (view.pending[0].name, view.polls) == ("Ann", ())
    undone = (await service.queries.log(table_id))[-1]
    assert undone.raw_line.startswith("Ann undoes pass")
    assert undone.raw_line.endswith("Robot agreed.")
    await service.submit(table_id, 0, ["redo"], None, None, person_id=ann)
    assert await service.robots.play(table_id) == 1
    assert (await service.queries.view(table_id)).pending[0].name == "Bob"


async def never_agrees(worker: RobotWorker, now: State, then: State, seat: str) -> bool:
    assert (seat, now.question_number > then.question_number) == ("p1", True)
    return False


async def test_a_robot_declines_an_undo_by_which_it_loses(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RobotWorker, "accepts", never_agrees)
    table_id, _ = await asked_to_undo(service)
    before = await service.queries.view(table_id)
    await service.robots.play(table_id, moves=1)
    view = await service.queries.view(table_id)
    assert view.polls == ()
    assert view.state == before.state
    assert (await service.queries.log(table_id))[-1].raw_line.startswith(
        "Robot declines: Ann would like to undo 2 moves"
    )


async def test_who_plays_against_robots_alone_takes_back_what_they_like(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RobotWorker, "accepts", never_agrees)
    table_id, (ann,) = await lobby(service, "Ann")
    await service.lobby.invite_robot(table_id, by=ann)
    await service.lobby.start(table_id, by=None, order=["Ann", "Robot"])
    await service.submit(table_id, 0, ["pass"], None, None, person_id=ann)
    await service.robots.play(table_id, moves=1)
    await service.submit(table_id, 0, ["undo"], None, None, person_id=ann)
    await service.robots.play(table_id, moves=1)
    view = await service.queries.view(table_id)
    assert (view.pending[0].name, view.polls) == ("Ann", ())


async def test_a_robot_that_thinks_while_a_vote_is_opened_does_not_end_it(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    table_id, (ann,) = await lobby(service, "Ann")
    for _ in range(2):
        await service.lobby.invite_robot(table_id, by=ann)
    await service.lobby.start(table_id, by=None, order=["Ann", "Robot", "Robot 2"])
    await service.submit(table_id, 0, ["pass"], None, None, person_id=ann)
    await service.robots.play(table_id, moves=1)

    async def asked_meanwhile(worker: RobotWorker, state: State, seat: str, seed: int) -> RobotMove:
        await service.submit(table_id, 0, ["undo"], None, None, person_id=ann)
        return RobotMove("pass", "it is late")

    monkeypatch.setattr(RobotWorker, "decide", asked_meanwhile)
    assert await service.robots.play(table_id, moves=1) == 0
    view = await service.queries.view(table_id)
    assert [poll.poll.kind for poll in view.polls] == ["undo"]
    assert view.pending[0].name == "Robot 2"


async def test_a_robot_stands_in_after_a_vote_and_gives_way_to_a_person(service: Service) -> None:
    table_id, (ann, bob, cid) = await lobby(service, "Ann", "Bob", "Cid")
    await service.lobby.start(table_id, by=None, order=["Ann", "Bob", "Cid"])
    asked = await service.submit(table_id, None, ["robot Cid"], None, None, person_id=ann)
    assert isinstance(asked, LineRefused)
    asked = await service.submit(table_id, None, ["robot Ann"], None, None, person_id=ann)
    assert isinstance(asked, PollUpdated)
    for voter in (bob, cid):
        await service.submit(table_id, None, ["accept vote"], None, None, person_id=voter)
    info = await service.queries.table_info(table_id)
    assert info.names == ("Robot", "Bob", "Cid")
    assert await service.robots.play(table_id) == 1
    dora = await person(service, "Dora")
    info = await service.running.replace_player(table_id, 0, dora, "Dora", by=dora)
    assert info.names == ("Dora", "Bob", "Cid")
    assert robots_of(info) == []


async def test_hints_only_where_the_table_allows_them_and_to_who_is_asked(service: Service) -> None:
    for options, expected in (((), LineRefused), (("hints",), QueryAnswer)):
        table_id, (ann, bob) = await lobby(service, "Ann", "Bob", options=options)
        await service.lobby.start(table_id, by=None, order=["Ann", "Bob"])
        answer = await service.submit(table_id, None, ["hint"], None, None, person_id=ann)
        assert isinstance(answer, expected)
        refused = await service.submit(table_id, None, ["hint"], None, None, person_id=bob)
        assert isinstance(refused, LineRefused)
    assert isinstance(answer, QueryAnswer)
    assert answer.text.startswith("A robot would play `")
    seq = (await service.queries.view(table_id)).seq
    await service.submit(table_id, None, ["hint"], None, None, person_id=ann)
    assert (await service.queries.view(table_id)).seq == seq


async def test_a_process_of_its_own_decides_the_same() -> None:
    state = new_game("1830", ["Ann", "Bob"]).state
    worker = RobotWorker(0.05)
    try:
        move = await worker._ask(state, "p0", 7, LEAST_EFFORT)
    finally:
        worker.close()
    assert move is not None
    assert move.reason == Robot(7, LEAST_EFFORT).choose(state, "p0").reason


async def test_a_robot_whose_judgement_fails_makes_a_legal_move(monkeypatch: pytest.MonkeyPatch) -> None:
    async def fails(worker: RobotWorker, *position: object) -> RobotMove:
        raise ValueError("a faulty judgement")

    monkeypatch.setattr(RobotWorker, "_ask", fails)
    state = new_game("1830", ["Ann", "Bob"]).state
    move = await RobotWorker(0).decide(state, "p0", 7)
    assert move is not None and move.line == "pass"
    assert plain_move(state, "p1") is None


async def test_a_refused_move_does_not_leave_the_table_waiting(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def nonsense(worker: RobotWorker, state: State, seat: str, seed: int) -> RobotMove:
        return RobotMove("buy everything", "it is a bug")

    monkeypatch.setattr(RobotWorker, "decide", nonsense)
    table_id, (ann,) = await lobby(service, "Ann")
    await service.lobby.invite_robot(table_id, by=ann)
    await service.lobby.start(table_id, by=None, order=["Robot", "Ann"])
    assert await service.robots.play(table_id) == 1
    assert [p.name for p in (await service.queries.view(table_id)).pending] == ["Ann"]


async def test_a_robot_without_a_move_says_so_once(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    async def nothing(worker: RobotWorker, state: State, seat: str, seed: int) -> None:
        return None

    monkeypatch.setattr(RobotWorker, "decide", nothing)
    table_id, (ann,) = await lobby(service, "Ann")
    await service.lobby.invite_robot(table_id, by=ann)
    await service.lobby.start(table_id, by=None, order=["Robot", "Ann"])
    after_restart = RobotPlayers(service.cache, service.submit, service.running.announce, 0)
    for robots in (service.robots, service.robots, after_restart):
        assert await robots.play(table_id) == 0
    told = [row.raw_line for row in await service.queries.log(table_id) if "finds no move" in row.raw_line]
    assert told == [f"Robot finds no move, so the table waits. {WAY_OUT}"]
