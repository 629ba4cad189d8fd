"""`railpost snapshot`: what a snapshot says and shows, and how a webhook takes it."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
import stamina
from aiohttp import web
from aiohttp.test_utils import TestServer
from PIL import Image
from typer.testing import CliRunner

import engine
from bot.__main__ import app_for
from bot.cli.export import history_of_file
from bot.cli.snapshot import NOT_POSTED, UNCHANGED
from bot.features.watch.feature import answer
from bot.features.watch.snapshot import PICTURES, Snapshot, description, drawings, news, snapshot_of
from bot.features.watch.webhook import Webhook, WebhookError
from bot.pictures.workers import draw_file
from engine.game_text import GameHistory, replay
from renderers import Picture

GAME = Path(__file__).parents[1] / "games/1830-3p-9.18xx"
TEXT = """title 1830
players Ann, Bob, Cid
---
Ann: buy SV
Bob: bid BO 225
Cid: pass
"""


@pytest.fixture
def short(tmp_path: Path) -> str:
    """The file of a game that has just begun."""
    file = tmp_path / "short.18xx"
    file.write_text(TEXT)
    return str(file)


def pictures(snapshot: Snapshot, since: int | None, kinds: list[str]) -> list[tuple[str, Picture]]:
    return [(kind, draw_file(kind, snapshot.state, (), d)) for kind, d in drawings(snapshot, since, kinds)]


def history(text: str) -> GameHistory:
    found = replay(text).history
    assert found is not None
    return found


def test_a_snapshot_says_what_the_game_is_and_what_has_changed() -> None:
    snapshot = snapshot_of(history(TEXT))
    assert description(snapshot) == [
        "1830 with Ann, Bob and Cid, opening, after 3 moves.",
        "Ann to act: buy the CS for $40, bid on another private, or pass.",
        "Standings: Ann $800, Bob $800 and Cid $800.",
    ]
    assert description(snapshot._replace(status="paused"))[1] == "The game is paused."
    assert description(snapshot._replace(status="ended"))[1] == "The game was ended unfinished."
    assert news(snapshot, 1) == [
        "Since the last snapshot, 2 moves:",
        "Bob bids $225 for the BO.",
        "Cid passes.",
    ]
    assert news(snapshot, 3) == ["Nothing has changed since the last snapshot."]


def test_a_game_is_known_again_whatever_was_played_since() -> None:
    long = history_of_file(GAME)
    early = GameHistory(long.start, long.lines[:40])
    assert snapshot_of(early).key(8) == snapshot_of(long).key(8) != snapshot_of(long).key(9)
    told = news(snapshot_of(long), 40)
    assert told[0].startswith("Since the last snapshot, ") and told[1].startswith("… ") and len(told) == 10
    assert all(len(each) <= 180 for each in told)


def test_of_many_moves_those_are_told_that_did_not_decline() -> None:
    history = replay(TEXT + "Ann: pass\nBob: pass\nCid: pass\n" * 3).history
    assert history is not None
    assert news(snapshot_of(history), 0)[1:] == [
        "Ann buys the SV for $20. Bob has the priority deal.",
        "Bob bids $225 for the BO.",
        *["Bob passes. Privates pay: Ann $5."] * 3,
    ]


async def test_a_first_snapshot_in_which_nothing_was_played_says_so() -> None:
    """Since the round began; no picture is wanted, and no review."""
    told = {}
    for count in (0, 3):
        history = replay(TEXT).history
        assert history is not None
        snapshot = snapshot_of(GameHistory(history.start, history.lines[:count]))
        told[count] = (await answer(snapshot, None, "changed", None, None)).text  # type: ignore[arg-type]
    assert told[0] == "Nothing has been played since the opening began."
    assert told[3].startswith("Since the opening began:\nAnn buys the SV")


def test_a_snapshot_shows_nothing_that_is_hidden() -> None:
    """1870 §5.9: an order to protect a price is its president's secret."""
    played = history_of_file(GAME.parent / "1870-3p-5004.18xx")
    assert any(engine.is_secret(line.line) for line in played.lines)
    snapshot = snapshot_of(played)
    assert not any(engine.is_secret(line.line) for line in snapshot.history.lines)
    assert snapshot.state == engine.visible_to(snapshot.state, None)


def test_the_pictures_are_png_and_of_the_wanted_kinds() -> None:
    snapshot = snapshot_of(history_of_file(GAME))
    drawn = pictures(snapshot, snapshot.moves - 20, ["map", "sheet"])
    assert [name for name, _ in drawn] == ["map", "sheet"]
    for _, picture in drawn:
        with Image.open(BytesIO(picture.png)) as image:
            assert image.format == "PNG" and image.size == (picture.width, picture.height)
    assert drawn[0][1].png != pictures(snapshot, None, ["map"])[0][1].png, "changes are marked"
    with pytest.raises(ValueError, match="There is no picture graph"):
        pictures(snapshot, None, ["graph"])


class FakeWebhook:
    """What Discord answers at the address of a webhook. statuses: the next answers, then 200."""

    def __init__(self) -> None:
        self.statuses: list[int] = []
        self.posts: dict[str, dict[str, Any]] = {}
        self.requests: list[str] = []

    async def handle(self, request: web.Request) -> web.Response:
        self.requests.append(request.method)
        form = await request.post()
        if self.statuses:
            status = self.statuses.pop(0)
            return web.json_response({}, status=status, headers={"Retry-After": "0.1"})
        message = request.match_info.get("message") or str(len(self.posts) + 1)
        if request.method == "PATCH" and message not in self.posts:
            return web.json_response({}, status=404)
        raw: Any = form["payload_json"]
        payload = json.loads(raw)
        files = [name for name in form if name.startswith("files[")]
        self.posts[message] = payload | {"files": len(files), "query": request.query_string}
        return web.json_response({"id": message})


@pytest.fixture(autouse=True)
def without_waiting() -> Iterator[None]:
    stamina.set_testing(True, attempts=3)
    yield
    stamina.set_testing(False)


@pytest.fixture
async def fake() -> AsyncIterator[tuple[FakeWebhook, str]]:
    webhook, app = FakeWebhook(), web.Application()
    app.router.add_post("/api/webhooks/1/secret", webhook.handle)
    app.router.add_patch("/api/webhooks/1/secret/messages/{message}", webhook.handle)
    async with TestServer(app) as server:
        yield webhook, str(server.make_url("/api/webhooks/1/secret?thread_id=5"))


def run(tmp_path: Path, *words: str, url: str = "") -> tuple[int, str]:
    environment = {"RAILPOST_DATA": str(tmp_path), "DISCORD_WEBHOOK": url or None}
    done = CliRunner().invoke(app_for(["snapshot"]), ["snapshot", *words], env=environment)
    return done.exit_code, done.output


async def aside(tmp_path: Path, *words: str, url: str) -> tuple[int, str]:
    return await asyncio.to_thread(run, tmp_path, *words, url=url)


async def test_a_post_is_made_edited_and_made_again(fake: tuple[FakeWebhook, str], tmp_path: Path) -> None:
    webhook, url = fake
    game = tmp_path / "game.18xx"
    game.write_text(TEXT)
    assert await aside(tmp_path, str(game), url=url) == (0, "The snapshot is posted.\n")
    assert webhook.posts["1"]["files"] == 3 and webhook.posts["1"]["query"] == "thread_id=5&wait=true"
    assert webhook.posts["1"]["allowed_mentions"] == {"parse": []}
    assert (await aside(tmp_path, str(game), "--if-changed", url=url))[0] == UNCHANGED
    game.write_text(TEXT + "Ann: buy CS\n")
    assert (await aside(tmp_path, str(game), "--if-changed", "--news", "--only", "map", url=url))[0] == 0
    assert webhook.posts["1"]["files"] == 1 and "Ann buys the CS" in webhook.posts["1"]["content"]
    assert webhook.posts["2"]["content"].startswith("Since the last snapshot, 1 move:")
    del webhook.posts["1"]
    assert (await aside(tmp_path, str(game), url=url))[0] == 0
    assert webhook.requests == ["POST", "PATCH", "POST", "PATCH", "POST"]
    assert "secret" not in (tmp_path / "snapshots.json").read_text()


async def test_moves_that_were_taken_back_are_a_change(fake: tuple[FakeWebhook, str], tmp_path: Path) -> None:
    """The game may have as many moves as before. What another version has kept says nothing of them."""
    webhook, url = fake
    game, lines = tmp_path / "game.18xx", [TEXT.rstrip(), *["Ann: pass", "Bob: pass", "Cid: pass"] * 2]
    for last, code, told in (
        ("Ann: pass", 0, "opening"),
        ("Ann: pass", UNCHANGED, "opening"),
        ("Ann: buy CS", 0, "Moves were taken back"),
    ):
        game.write_text("\n".join([*lines, last]))
        assert (await aside(tmp_path, str(game), "--if-changed", "--only", "map", url=url))[0] == code
        assert told in webhook.posts["1"]["content"]
    kept = tmp_path / "snapshots.json"
    (posted,) = json.loads(kept.read_text())
    kept.write_text(json.dumps([{name: v for name, v in posted.items() if name != "whole"}]))
    assert (await aside(tmp_path, str(game), "--if-changed", url=url))[0] == UNCHANGED


async def test_a_busy_webhook_is_tried_again_and_a_wrong_one_is_told(
    fake: tuple[FakeWebhook, str], tmp_path: Path, short: str
) -> None:
    webhook, url = fake
    webhook.statuses = [429, 503]
    assert (await aside(tmp_path, short, "--only", "market", url=url))[0] == 0
    webhook.statuses = [502] * 9
    code, told = await aside(tmp_path, short, url=url)
    assert code == NOT_POSTED and "it answers 502. Try again later." in told
    webhook.statuses = [401] * 2
    code, told = await aside(tmp_path / "else", short, url=url)
    assert (
        code == NOT_POSTED
        and told == "The webhook does not exist any more, or its address is not complete.\n"
    )
    code, told = await aside(tmp_path, short, url="http://127.0.0.1:9/api/webhooks/1/secret")
    assert code == NOT_POSTED and told.startswith("127.0.0.1 cannot be reached") and "secret" not in told


def test_without_a_webhook_pictures_and_sentences_are_written(tmp_path: Path) -> None:
    code, told = run(tmp_path, str(GAME), "--out", str(tmp_path / "out"), "--only", "map,market")
    assert code == 0 and told.startswith("1830 with Ann, Bob and Cid, over, after ")
    assert sorted(each.name for each in (tmp_path / "out").iterdir()) == ["map.png", "market.png"]
    assert run(tmp_path, str(GAME), "--only", "x")[0] == 1
    code, told = run(tmp_path, str(tmp_path / "none.18xx"))
    assert code == 1 and told.count("\n") == 1


def test_a_table_is_shown_by_its_code(tmp_path: Path, short: str) -> None:
    environment = {"RAILPOST_DATA": str(tmp_path)}
    saved = CliRunner().invoke(app_for(["import"]), ["import", short, "--save", "Friday"], env=environment)
    assert saved.exit_code == 0
    code = saved.output.split()[-1].strip(".")
    status, told = run(tmp_path, code, "--out", str(tmp_path / "out"), "--only", "sheet")
    assert status == 0 and told.startswith("1830 with ") and (tmp_path / "out/sheet.png").exists(), told
    assert run(tmp_path, code, "--if-changed")[0] == UNCHANGED
    assert run(tmp_path, "NOWHERE") == (1, "There is no file NOWHERE, and no table of that code or name.\n")


def test_a_webhook_that_cannot_be_reached_is_one_sentence(tmp_path: Path, short: str) -> None:
    words = ["railpost", "snapshot", short, "--only", "", "--webhook", "http://127.0.0.1:1/x"]
    program = f"import stamina, sys; stamina.set_testing(True, attempts=2); sys.argv = {words}; "
    done = subprocess.run(
        [sys.executable, "-c", program + "from bot.__main__ import main; main()"],
        env={**os.environ, "PYTHONPATH": str(GAME.parents[2])},
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == NOT_POSTED
    assert done.stderr.startswith("127.0.0.1 cannot be reached: ") and done.stderr.count("\n") == 1


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(WebhookError, match="begins with https://"):
        Webhook("channel 5")


def test_another_position_of_the_same_players_is_a_change(tmp_path: Path) -> None:
    position = tmp_path / "friday.18xx"
    text = "title 1830\nplayers Ann, Bob\n---\n@ owns Ann PRR 6\n@ par PRR 100\n@ round stock Ann\n"
    position.write_text(text)
    assert "since the last" not in run(tmp_path, str(position), "--out", str(tmp_path))[1]
    assert run(tmp_path, str(position), "--if-changed")[0] == UNCHANGED
    position.write_text(text + "@ cash Ann 120\n")
    code, told = run(tmp_path, str(position), "--if-changed", "--out", str(tmp_path))
    assert code == 0 and "The position has changed since the last snapshot." in told
    position.write_text(text + "@ cash Ann 120\nAnn: sell 1 PRR\n")
    assert "Since the last snapshot, 1 move:" in run(tmp_path, str(position), "--out", str(tmp_path))[1]


def test_the_position_of_the_guide_is_drawn() -> None:
    guide = (Path(__file__).parents[2] / "docs/snapshots.md").read_text(encoding="utf-8")
    text = guide.partition("<!-- snapshot -->\n```\n")[2].partition("```")[0]
    snapshot = snapshot_of(history(text))
    assert description(snapshot)[0] == "1830 with Ann, Bob and Cid, operating round 1.1."
    assert [name for name, _ in pictures(snapshot, None, [*PICTURES])] == ["map", "market", "sheet"]


@pytest.mark.parametrize(
    ("right", "wrong", "line", "told"),
    [
        ("owns Ann PRR 6", "owns Eve PRR 6", 4, "'Eve' is not a player (Ann, Bob, Cid), ipo or pool."),
        ("owns Ann PRR 6", "owns Ann PPR 6", 4, "'PPR' is not a company of this title (PRR, NYC,"),
        ("owns Ann PRR 6", "owns Ann PRR all", 4, "'all' is not a number of shares, such as 6."),
        ("owns Ann PRR 6", "own Ann PRR 6", 4, "'own' is not one of cash, owns, "),
        ("owns Bob NYC 6", "owns Bob NYC 11", 5, "110 % of the NYC are held; there are 100 %."),
        ("phase 3", "phase 4", 13, "The 2-trains are out of play in phase 4."),
        ("cash NYC 610", "cash NYC 12000", 11, "The bank would have -$940; there are $12,000 in all."),
        ("token NYC E19", "token NYC H12", 17, "H12 has fewer spaces than tokens."),
        ("par PRR 100", "par PRR 101", 6, "$101 is no par price; there are 67, 71, 76, 82, 90, 100."),
        ("cash Ann 120", "cash Eve 120", 8, "'Eve' is not a player (Ann, Bob, Cid), a company or bank."),
        ("phase 3", "phase 9", 12, "There is no phase 9; there are 2, 3, 4, 5, 6, D."),
        ("trains NYC 3", "trains NYC 8", 14, "'8' is not a type of train of this title (2, 3, 4,"),
        ("tile H10 57 1", "tile H10 57 9", 15, "#57 in rotation 9 does not fit on H10; 0, 1, 2,"),
        ("phase 3", "private XX Ann", 12, "'XX' is not a private of this title (SV, CS, DH, MH,"),
        ("tile H10 57 1", "tile H10 57", 15, "#57 fits on H10 in several rotations; name one of 0,"),
        ("cash Ann 120", "cash Ann -5", 8, "Ann cannot have -$5."),
        ("round operating PRR", "round operating", 18, "'round operating' ends where a company of this "),
        ("round operating PRR", "round stock Eve", 18, "'Eve' is not a player (Ann, Bob, Cid)."),
    ],
)  # fmt: skip
def test_a_mistake_in_a_position_is_named_with_what_would_be_right(
    right: str, wrong: str, line: int, told: str
) -> None:
    guide = (Path(__file__).parents[2] / "docs/snapshots.md").read_text(encoding="utf-8")
    text = guide.partition("<!-- snapshot -->\n```\n")[2].partition("```")[0]
    assert f"@ {right}\n" in text
    failure = str(replay(text.replace(f"@ {right}\n", f"@ {wrong}\n")).failure)
    assert failure.startswith(f"line {line}: {told}"), failure


@pytest.mark.parametrize(
    ("right", "wrong", "failure"),
    [
        ("---\n", "--\n", "line 3: the line --- between header and game is missing before '--'."),
        ("---\n", "", "line 3: the line --- between header and game is missing before '@ owns Ann PRR 6'."),
        (
            "Ann, Bob, Cid",
            "Ann; Bob; Cid",
            "line 2: 'Ann; Bob; Cid' cannot be used: a name has 1 to 20 letters,",
        ),
    ],
)
def test_a_mistake_in_the_header_is_named_where_it_is(right: str, wrong: str, failure: str) -> None:
    text = "title 1830\nplayers Ann, Bob, Cid\n---\n@ owns Ann PRR 6\n"
    assert str(replay(text.replace(right, wrong)).failure).startswith(failure)
