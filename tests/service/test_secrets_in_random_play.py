"""What a player keeps to themselves, in nobody else's answers, whatever is asked in whatever order."""

from __future__ import annotations

import re
from random import Random

import msgspec
import pytest

import engine
from bot.hub.request import CommandResult, QueryAnswer
from tests.service.conftest import ServiceHarness
from tests.service.test_orders import OPENING, say_all

SECRETS = {
    "Ann": ("note zebra7", "auto buy B&O up to 1171 then pass", "plan buy B&O; pass"),
    "Bob": ("note yacht8", "auto buy PRR up to 1282 then pass", "settings quiet 22:13-07:41"),
    "Cid": ("note xylem9", "auto buy B&O up to 1393", "auto decline votes"),
}
"""What each keeps to themselves."""
WORDS = {
    "Ann": r"zebra7|\b1,?171\b",
    "Bob": r"yacht8|\b1,?282\b|22:13|07:41",
    "Cid": r"xylem9|\b1,?393\b",
}
"""By which others would know it."""
TOLD_ALONE = ("turn", "resign", "end", "import", "erase")
"""Words of lines that end the game or need more than a line."""


def text_of(result: CommandResult) -> str:
    """All that a result says, with its files."""
    files = result.files if isinstance(result, QueryAnswer) else ()
    return " ".join(
        [str(msgspec.to_builtins(result)), *(file.content.decode(errors="replace") for file in files)]
    )


@pytest.mark.parametrize("seed", range(4))
async def test_nobody_reads_what_another_keeps_to_themselves(world: ServiceHarness, seed: int) -> None:
    await say_all(world, *OPENING)
    await world.person("Eve")  # of no seat
    rng, registry = Random(seed), world.service.commands
    asked = [line for line in registry.completions() if not line.startswith(TOLD_ALONE)]
    asked += ["undo", "redo", "accept", "decline", "log 50", "export text", "export csv"]
    for _ in range(120):
        name = rng.choice([*SECRETS, *SECRETS, "Eve"])
        kind = rng.random()
        if kind < 0.2 and name in SECRETS:
            line = rng.choice(SECRETS[name])
        elif kind < 0.4 and name in SECRETS:
            view = await world.service.queries.view(world.table)
            seat = list(SECRETS).index(name)
            choices = engine.choices(view.state, f"p{seat}") if view.state else []
            line = rng.choice([choice.line for choice in choices] or ["pass"])
        else:
            line = rng.choice(asked)
        told = text_of(await world.say(name, line.strip()))
        messages = [notification for _, notification in await world.sent()]
        for owner, words in WORDS.items():
            to_others = repr([each for each in messages if each.person_id != world.people[owner]])
            assert not re.search(words, to_others), f"a message to others after {name}: `{line}`"
            assert owner == name or not re.search(words, told), f"{name} said `{line}`: {told}"
    log = await world.service.queries.log(world.table)
    assert len(log) > len(OPENING), "something was played"
