"""`/watch`: a game that is played elsewhere is one post in a channel, which is edited when it comes again."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

from aiohttp import web
from aiohttp.test_utils import TestServer

from bot.features.watch.address import GameAddresses
from tests.drawn_here import DrawnHere
from tests.fake_discord.running_bot import RunningBot
from tests.fake_discord.server import FakeDiscord, Interaction, Message

START = "title 1830\nplayers Nora, Otto\n---\nNora: buy SV\n"
NEXT = START + "Otto: buy CS\n"


async def test_a_game_is_shown_and_its_post_is_edited(running: RunningBot, fake: FakeDiscord) -> None:
    channel = fake.find_channel("general")
    async with running.online() as service:
        first = await fake.run_command("Ann", "general", "watch", file=("friday.18xx", START.encode()))
        assert first.text.startswith("The game is shown: https://") and not first.public_messages
        (post,) = [each for each in fake.visible_messages(channel) if "1830 with Nora and Otto" in each.text]
        assert len(fake.shown_images(post)) == 3 and not post.pinged
        again = await fake.run_command("Bob", "general", "watch", file=("f.18xx", NEXT.encode()), news=True)
        assert again.text.startswith("The post is up to date: https://")
        assert "Since the last snapshot, 1 move:" in post.text and "Otto buys the CS" in post.text
        posts = [each for each in fake.visible_messages(channel) if "Otto buys the CS" in each.text]
        assert len(posts) == 2 and not fake.shown_images(posts[1])
        async with service.store.read() as unit:
            assert await unit.tables.find() == []
    async with running.online():
        later = await fake.run_command("Cid", "general", "watch", file=("f.18xx", NEXT.encode()))
        assert later.text.startswith("The post is up to date")
        assert "Nothing has changed since the last snapshot." in post.text
        wrong = await fake.run_command("Cid", "general", "watch", file=("f.18xx", b"hello"))
        assert "neither a file of 18xx.games nor a game text" in wrong.text


async def test_two_who_show_a_game_at_once_share_its_post(running: RunningBot, fake: FakeDiscord) -> None:
    channel = fake.find_channel("general")
    async with running.online():
        game = ("f.18xx", NEXT.encode())
        told = await asyncio.gather(
            *(fake.run_command(who, "general", "watch", file=game) for who in ("Ann", "Bob"))
        )
        assert len([each for each in told if each.text.startswith("The game is shown")]) == 1
        posts = [m for m in fake.visible_messages(channel) if "1830 with Nora and Otto" in m.text]
        assert len(posts) == 1


async def test_a_game_whose_moves_were_taken_back_says_so(running: RunningBot, fake: FakeDiscord) -> None:
    channel = fake.find_channel("general")
    async with running.online():
        start = START + "Otto: pass\nNora: pass\n" * 4
        longer, other = start + "Otto: buy CS\n", start + "Otto: pass\n"
        await fake.run_command("Ann", "general", "watch", file=("f.18xx", longer.encode()))
        for text in (start, longer, other):
            told = await fake.run_command("Ann", "general", "watch", file=("f.18xx", text.encode()))
            assert told.text.startswith("The post is up to date")
            (post,) = [m for m in fake.visible_messages(channel) if "1830 with Nora and Otto" in m.text]
            taken_back = text != longer
            assert ("Moves were taken back since the last snapshot." in post.text) == taken_back
            assert ("Since the last snapshot, 1 move:" in post.text) != taken_back


async def test_a_game_is_read_by_its_address_and_refreshed(running: RunningBot, fake: FakeDiscord) -> None:
    """Nobody is asked before the host has named the site; afterwards only when somebody presses *Refresh*."""
    channel, asked = fake.find_channel("general"), list[str]()

    async def answer(request: web.Request) -> web.Response:
        asked.append(request.path)
        return web.Response(text=START if len(asked) == 1 else NEXT)

    app = web.Application()
    app.router.add_get("/api/game/7", answer)
    async with TestServer(app) as site, running.online() as service:
        origin = str(site.make_url("/")).rstrip("/")
        refused = await fake.run_command("Ann", "general", "watch", url=f"{origin}/game/7")
        assert "has not allowed that games are read by their address" in refused.text and not asked
        service.watcher._addresses = GameAddresses(service.store, [origin])
        first = await fake.run_command("Ann", "general", "watch", url=f"{origin}/game/7")
        assert first.text.startswith("The game is shown: https://")
        (post,) = [each for each in fake.visible_messages(channel) if "1830 with Nora and Otto" in each.text]
        assert f"{origin}/game/7 as of <t:" in post.text
        await fake.click("Bob", post, "Refresh")
        assert asked == ["/api/game/7"], "the game was read a moment ago"
        service.store.now = lambda: datetime.now(UTC) + timedelta(minutes=11)
        pressed = await fake.click("Bob", post, "Refresh")
        assert pressed.text.startswith("The post is up to date") and len(asked) == 2
        assert "Otto buys the CS" in post.text


async def test_a_position_written_by_hand_is_shown(running: RunningBot, fake: FakeDiscord) -> None:
    guide = (Path(__file__).parents[2] / "docs/snapshots.md").read_text(encoding="utf-8")
    text = guide.partition("<!-- snapshot -->\n```\n")[2].partition("```")[0]
    channel = fake.find_channel("general")
    async with running.online():
        asked = await fake.run_command("Ann", "general", "watch")
        await fake.fill_in(
            "Ann",
            asked.private_messages[-1],
            "Position…",
            {"Position": text.replace("@ par PRR 100", "@ par PRR 101")},
        )
        told = asked.private_messages[-1]
        await fake.wait_until(lambda: "101" in told.text, "the mistake")
        assert "line 6" in told.text.casefold() and "@ owns Bob NYC 6" in told.text
        assert not [each for each in fake.visible_messages(channel) if fake.shown_images(each)]
        await fake.fill_in("Ann", asked.private_messages[-1], "Position…", {"Position": text})
        await fake.wait_until(
            lambda: any(fake.shown_images(each) for each in fake.visible_messages(channel)), "the post"
        )
        (post,) = [each for each in fake.visible_messages(channel) if fake.shown_images(each)]
        assert "1830 with Ann, Bob and Cid, operating round 1.1" in post.text


async def test_a_post_that_was_deleted_is_made_again(running: RunningBot, fake: FakeDiscord) -> None:
    channel = fake.find_channel("general")
    async with running.online():
        await fake.run_command("Ann", "general", "watch", file=("friday.18xx", START.encode()))
        (post,) = [each for each in fake.visible_messages(channel) if "1830 with Nora and Otto" in each.text]
        await fake.delete_message(post)
        again = await fake.run_command("Ann", "general", "watch", file=("friday.18xx", START.encode()))
        assert again.text.startswith("The game is shown")
        assert len([m for m in fake.visible_messages(channel) if "1830 with Nora and Otto" in m.text]) == 1


OVER = Path(__file__).parent.parent / "games" / "1830-2p-27-18xx.games.18xx"


async def pressed(fake: FakeDiscord, who: str, post: Message, label: str) -> Interaction:
    """A press of a button whose answer only the presser sees."""
    done = await fake.click(who, post, label)
    assert not done.public_messages
    return done


async def test_the_buttons_of_a_post(fake: FakeDiscord, tmp_path: Path) -> None:
    running = RunningBot(fake, tmp_path / "railpost.db", pictures=DrawnHere())
    async with running.online():
        await fake.run_command("Ann", "general", "watch", file=("f.18xx", START.encode()))
        await fake.run_command("Ann", "general", "watch", file=("f.18xx", NEXT.encode()))
    async with running.online():  # after a restart too
        post = fake.messages_with_controls("general")[-1]
        labels = [control.label for control in fake.controls(post)]
        assert labels == ["What changed", "Map larger", "◀ Rounds ▶", "Animation"]
        assert "Otto buys the CS" in (await pressed(fake, "Bob", post, "What changed")).text
        larger = (await pressed(fake, "Bob", post, "Map larger")).message
        assert larger is not None
        (picture,) = fake.shown_images(larger)
        (small, *_) = fake.shown_images(post)
        assert picture.pixel_size and small.pixel_size and picture.pixel_size[0] > 1.5 * small.pixel_size[0]
        rounds = await pressed(fake, "Cid", post, "◀ Rounds ▶")
        assert "opening" in rounds.text and "1 of 1" in rounds.text


async def test_leafing_through_the_rounds_of_a_game_that_is_over(fake: FakeDiscord, tmp_path: Path) -> None:
    running = RunningBot(fake, tmp_path / "railpost.db", pictures=DrawnHere())
    async with running.online():
        await fake.run_command("Ann", "general", "watch", file=("over.18xx", OVER.read_bytes()))
        post = fake.messages_with_controls("general")[-1]
        assert fake.controls(post)[-1].label == "Review"
        opened = (await pressed(fake, "Bob", post, "◀ Rounds ▶")).message
        assert opened is not None and [control.label for control in fake.controls(opened)] == ["◀"]
        last = int(opened.text.split(" of ")[-1].split(",")[0])
        assert f"{last} of {last}" in opened.text and len(fake.shown_images(opened)) == 2
        await fake.click("Bob", opened, "◀")
        await fake.wait_until(lambda: f"{last - 1} of {last}" in opened.text, "the round before")
        assert [control.label for control in fake.controls(opened)] == ["◀", "▶"]
        await fake.click("Bob", opened, "▶")
        await fake.wait_until(lambda: f"{last} of {last}" in opened.text, "the last round")
        review = (await pressed(fake, "Cid", post, "Review")).message
        assert review is not None and "won" in review.text and "1. " in review.text
        assert [image.filename for image in fake.shown_images(review)] == ["review.png"]


async def test_the_animation(fake: FakeDiscord, tmp_path: Path) -> None:
    running = RunningBot(fake, tmp_path / "railpost.db", pictures=DrawnHere())
    script = OVER.read_text().splitlines()
    part = "\n".join([line for line in script if not line.startswith("=")][:160])
    async with running.online():
        await fake.run_command("Ann", "general", "watch", file=("f.18xx", part.encode()))
        post = fake.messages_with_controls("general")[-1]
        answer = (await pressed(fake, "Bob", post, "Animation")).message
        assert answer is not None
        (film,) = answer.attachments
        assert film.filename == "animation.gif" and film.content.startswith(b"GIF8")


async def test_a_table_is_shown_elsewhere_only_when_its_host_allows_it(tmp_path: Path) -> None:
    async with FakeDiscord(["Ann", "Bob", "Cid", "Dan"], channels=("general", "hall")) as fake:
        running = RunningBot(fake, tmp_path / "railpost.db")
        async with running.online():
            await running.start_game("Ann", "Bob", "Cid")
            code = running.table_code
            own = await fake.run_command("Dan", "general", "watch", table=code)
            assert own.text.startswith("The game is shown")
            refused = await fake.run_command("Dan", "hall", "watch", table=code)
            assert "only in its own channel" in refused.text
            no = await fake.run_command("Bob", running.thread, "do", line="watching on")
            assert "its host, may do that" in no.text
            yes = await fake.run_command("Ann", running.thread, "do", line="watching on")
            assert "may show this table now" in yes.text
            await fake.run_command("Ann", running.thread, "do", line="pause")
            shown = await fake.run_command("Dan", "hall", "watch", table=code)
            assert shown.text.startswith("The game is shown")
            (post,) = [m for m in fake.visible_messages(fake.find_channel("hall")) if "1830 with" in m.text]
            assert "The game is paused.\nStandings" in post.text
            await fake.run_command("Ann", running.thread, "do", line="watching off")
            again = await fake.run_command("Dan", "hall", "watch", table=code)
            assert "only in its own channel" in again.text
            nothing = await fake.run_command("Dan", "hall", "watch")
            assert nothing.text.startswith("Give a game as a file") and not nothing.public_messages
