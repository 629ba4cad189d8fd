"""Somebody who plays at a table on Discord: told what to say, he finds it among what he sees.

He knows the game as people do (what a line is called on a menu), and acts by the words on his screen:
presses the button that says so, chooses it from a select, goes through menus level by level, fills in the
form that asks for dollars. Only what no control of the card leads to is written by `/do`.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

import engine
from bot.service.live_table import TableView, engine_seat
from engine import Choice
from tests.fake_discord.server import Channel, FakeDiscord, Interaction, Message
from tests.fake_discord.user_actions import MessageControl

SEARCHED_MESSAGES = 12  # messages among which a card is looked for
CONFIRM_LABEL = "Yes, end the game"
ViewSource = Callable[[], Awaitable[TableView]]


@dataclass
class ScriptedPlayer:
    """A player called `name` at the table that is shown in `thread`; `look` tells him where the game is.

    `ways` counts how he spoke (button, select, menu, form, do), `decisions` what kind of decision he met
    by a control. `say` raises AssertionError where he was refused, with what he was told.
    """

    fake: FakeDiscord
    name: str
    thread: Channel
    get_view: ViewSource
    inputs_used: Counter[str] = field(default_factory=Counter)
    decisions: Counter[str] = field(default_factory=Counter)

    async def play_line(self, line: str, *, typed: bool = False) -> Interaction:
        """Say a line in full: by a control of his card, or where there is none (or `typed`) by `/do`."""
        view = await self.get_view()
        before = view.seq
        found = None if typed else self._matching_choice(view, line)
        if found is None:
            done = await self.fake.run_command(self.name, self.thread, "do", line=line)
            way = "do"
        else:
            card = await self._find_card(view)
            way, done = await self._use_control(card, *found)
            assert view.state is not None
            self.decisions[decision_kind(view.state, found[0])] += 1
        self.inputs_used[way] += 1
        return await self._wait_until_played(before, line, done)

    async def _wait_until_played(self, before: int, line: str, done: Interaction) -> Interaction:
        """Wait until it has happened, saying yes where he is asked; AssertionError with what he is told."""
        end = time.monotonic() + self.fake.default_timeout
        while (await self.get_view()).seq == before:
            told = "\n".join(m.text for m in done.private_messages if not m.loading)
            sure = [
                m for m in done.private_messages if CONFIRM_LABEL in [c.label for c in self.fake.controls(m)]
            ]
            if sure:
                done = await self.fake.click(self.name, sure[-1], CONFIRM_LABEL)
            elif time.monotonic() > end or (
                told and not told.startswith("Done.") and not self._opened_menu(done)
            ):
                raise AssertionError(f"{self.name} said {line!r} and was told: {told or 'nothing'}")
            await asyncio.sleep(0.005)
        return done

    def _opened_menu(self, done: Interaction) -> bool:
        return any(self.fake.controls(m) for m in done.private_messages)

    # -- what he sees ------------------------------------------------------------------------

    def _seat(self, view: TableView) -> int:
        return view.table.names.index(self.name)

    def _matching_choice(self, view: TableView, line: str) -> tuple[Choice, int | None] | None:
        """The choice that comes to this line, and the dollars where they are open."""
        seat = self._seat(view)
        if view.decision_id_of(seat) is None or view.state is None:
            return None
        for choice in engine.choices(view.state, engine_seat(seat)):
            if choice.amounts is None:
                if choice.line == line:
                    return choice, None
                continue
            stem, _, figure = line.rpartition(" ")
            if (
                stem == choice.line.rpartition(" ")[0]
                and figure.isdecimal()
                and int(figure) in choice.amounts
            ):
                return choice, int(figure)
        return None

    async def _find_card(self, view: TableView) -> Message:
        """His card, once it shows where the game is."""
        mention = self.fake.find_user(self.name).mention
        want = f"move {view.seq}\n"

        def there() -> list[Message]:
            newest = self.fake.visible_messages(self.thread)[-SEARCHED_MESSAGES:]
            mine = [m for m in newest if m.text.startswith(mention) and want in f"{m.text}\n"]
            return [m for m in mine if self.fake.controls(m)]

        await self.fake.wait_until(there, f"a card of {self.name} with {want!r}")
        seat = self._seat(view)
        wanted = f":{seat}:{view.decision_id_of(seat)}:"
        cards = there()
        return next(
            (m for m in cards if any(wanted in c.custom_id for c in self.fake.controls(m))), cards[-1]
        )

    # -- what he presses ---------------------------------------------------------------------

    async def _use_control(
        self, card: Message, choice: Choice, dollars: int | None
    ) -> tuple[str, Interaction]:
        label = choice.label + ("" if dollars is None else "…")
        buttons = [c for c in self.fake.controls(card) if c.kind == "button" and c.label == label]
        if buttons:
            done = await self.fake.click(self.name, card, custom_id=buttons[0].custom_id)
            way = "button"
        else:
            way, done = await self._use_select(card, choice, label)
        if dollars is not None:
            assert done.modal is not None, f"No form asks for the dollars of {choice.line!r}: {done.text}"
            done = await self.fake.submit_modal(self.name, done.modal, {"Dollars": str(dollars)})
            way = "form"
        return way, done

    async def _use_select(self, card: Message, choice: Choice, label: str) -> tuple[str, Interaction]:
        screen, way = card, "select"
        for _ in range(12):
            used, option = self._next_option(screen, choice, label)
            done = await self.fake.select(self.name, screen, used.custom_id, option)
            if option == label:
                return way, done
            way = "menu"
            if not screen.ephemeral:
                assert done.private_messages, f"No menu opened for {option!r}."
                screen = done.private_messages[0]
            else:
                await self._next_level(done)
        raise AssertionError(f"The menus do not lead to {choice.line!r}.")

    async def _next_level(self, done: Interaction) -> None:
        await self.fake.wait_until(lambda: done.updated or done.private_messages, "the next menu")

    def _next_option(self, screen: Message, choice: Choice, label: str) -> tuple[MessageControl, str]:
        """The select and the option that lead on: the thing itself, one of its labels, or more of them."""
        selects = [c for c in self.fake.controls(screen) if c.kind == "select"]
        for wanted in ([label], [*choice.path[1:], choice.path[0]], ["More…"]):
            for each in selects:
                labels = [option.name for option in each.options]
                verb = each.label.partition(":")[0].casefold()
                if len(selects) > 1 and wanted != [label] and verb not in (choice.path[0].casefold(), "more"):
                    continue
                for word in wanted:
                    if truncate_option(word) in labels:
                        return each, truncate_option(word)
        shown = [(c.label, [o.name for o in c.options]) for c in selects]
        raise AssertionError(f"Nothing leads to {choice.line!r} ({label!r}, {choice.path}): {shown}")


def truncate_option(label: str) -> str:
    """A label as an option shows it."""
    return label if len(label) <= 100 else label[:99].rstrip() + "…"


def decision_kind(state: engine.State, choice: Choice) -> str:
    """What kind of decision a choice belongs to: the question and the verb."""
    return f"{type(state.top).__name__} {getattr(state.top, 'step', '')}: {choice.path[0]}"


def make_players(
    fake: FakeDiscord, names: Sequence[str], thread: Channel, look: ViewSource
) -> dict[str, ScriptedPlayer]:
    """One for each name."""
    return {name: ScriptedPlayer(fake, name, thread, look) for name in names}
