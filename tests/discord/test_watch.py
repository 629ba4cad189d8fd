"""`/watch`: a game that is played elsewhere is one post in a channel, which is edited when it comes again."""

from __future__ import annotations

from tests.fake_discord.running_bot import RunningBot
from tests.fake_discord.server import FakeDiscord

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
        assert "Since the last snapshot, 1 moves:" in post.text and "Otto buys the CS" in post.text
        posts = [each for each in fake.visible_messages(channel) if "Otto buys the CS" in each.text]
        assert len(posts) == 2 and not fake.shown_images(posts[1])
        async with service.store.read() as unit:
            assert await unit.tables.all() == []
    async with running.online():
        later = await fake.run_command("Cid", "general", "watch", file=("f.18xx", NEXT.encode()))
        assert later.text.startswith("The post is up to date")
        assert "Nothing has changed since the last snapshot." in post.text
        wrong = await fake.run_command("Cid", "general", "watch", file=("f.18xx", b"hello"))
        assert "cannot be played" in wrong.text or "no game" in wrong.text


async def test_a_post_that_was_deleted_is_made_again(running: RunningBot, fake: FakeDiscord) -> None:
    channel = fake.find_channel("general")
    async with running.online():
        await fake.run_command("Ann", "general", "watch", file=("friday.18xx", START.encode()))
        (post,) = [each for each in fake.visible_messages(channel) if "1830 with Nora and Otto" in each.text]
        await fake.delete_message(post)
        again = await fake.run_command("Ann", "general", "watch", file=("friday.18xx", START.encode()))
        assert again.text.startswith("The game is shown")
        assert len([m for m in fake.visible_messages(channel) if "1830 with Nora and Otto" in m.text]) == 1
