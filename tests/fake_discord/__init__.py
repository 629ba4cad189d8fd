"""A strict fake Discord for tests, its users, and the tests that hold it to the limits of the real one.

Start with `tests.fake_discord.server`.
"""
