"""A strict fake Discord for tests, and the tests that hold it to that. Start with `tests.fake_discord.server`."""
