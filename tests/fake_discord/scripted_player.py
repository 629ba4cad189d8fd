"""A player on Discord who plays given lines with the controls on their screen.

The player knows the labels of a choice, as people do, and looks for them on the screen: they press the
button, choose the option of a select, go through menus level by level, and fill in the form for dollars. They
use `/do` only for a line to which no control leads.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

import engine
from bot.discord.controls.decision_controls import lay_choices
from bot.hub.table import TableView
from bot.position.pending import engine_seat
from engine import Choice
from tests.fake_discord.server import Channel, FakeDiscord, Interaction, Message
from tests.fake_discord.user_actions import MessageControl

SEARCHED_MESSAGES = 12  # how many of the last messages are searched for a card
IN_ADVANCE = "Answer in advance…"
ViewSource = Callable[[], Awaitable[TableView]]


@dataclass
class ScriptedPlayer:
    """The player `name` at the table of `thread`; `get_view` returns the current position.

    `inputs_used` counts the inputs (button, select, menu, form, do), `decisions` the kinds of decisions made
    with controls.
    """

    fake: FakeDiscord
    name: str
    thread: Channel
    get_view: ViewSource
    inputs_used: Counter[str] = field(default_factory=Counter)
    decisions: Counter[str] = field(default_factory=Counter)

    async def play_line(self, line: str) -> Interaction:
        """Play a full line with a control of the card; with `/do` where there is none."""
        view = await self.get_view()
        before = view.seq
        found = self._matching_choice(view, line)
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
        """Wait until the line is played; confirm it if asked. AssertionError tells the bot's answer."""
        end = time.monotonic() + self.fake.default_timeout
        while (await self.get_view()).seq == before:
            answer = "\n".join(m.text for m in done.private_messages if not m.loading)
            confirmation = [
                (message, control.label)
                for message in done.private_messages
                for control in self.fake.controls(message)
                if control.label in ("Confirm", f"{line} yes")
            ]
            if confirmation:
                done = await self.fake.click(self.name, *confirmation[-1])
            elif time.monotonic() > end or (
                answer and not answer.startswith("Done.") and not self._opened_menu(done)
            ):
                raise AssertionError(f"{self.name} played {line!r}; the answer was: {answer or 'nothing'}")
            await asyncio.sleep(0.005)
        return done

    def _opened_menu(self, done: Interaction) -> bool:
        return any(self.fake.controls(m) for m in done.private_messages)

    # -- looking -----------------------------------------------------------------------------

    def _seat(self, view: TableView) -> int:
        return view.table.names.index(self.name)

    def _matching_choice(self, view: TableView, line: str) -> tuple[Choice, int | None] | None:
        """The choice with this line, and the dollars of a choice with an amount."""
        seat = self._seat(view)
        if view.decision_id_of(seat) is None or view.state is None:
            return None
        for choice in engine.choices(view.state, engine_seat(seat)):
            if choice.amounts is None:
                if choice.line == line:
                    return choice, None
                continue
            stem, _, amount = line.rpartition(" ")
            if (
                stem == choice.line.rpartition(" ")[0]
                and amount.isdecimal()
                and int(amount) in choice.amounts
            ):
                return choice, int(amount)
        return None

    async def _find_card(self, view: TableView) -> Message:
        """The player's card, once it shows the current position; before it is their turn, the one that they
        open from that of another."""
        seat = self._seat(view)
        if not next(each.acts_now for each in view.pending if each.seat == seat):
            return await self._opened_in_advance(view)
        mention = self.fake.find_user(self.name).mention

        def there() -> list[Message]:
            return [m for m in self._current_cards(view) if mention in m.text.partition(" · ")[0]]

        await self.fake.wait_until(there, f"a card of {self.name} with move {view.seq}")
        wanted = f":{seat}:{view.decision_id_of(seat)}:"
        cards = there()
        return next(
            (m for m in cards if any(wanted in c.custom_id for c in self.fake.controls(m))), cards[-1]
        )

    async def _opened_in_advance(self, view: TableView) -> Message:
        """What a player sees who answers before it is their turn."""

        def there() -> list[Message]:
            return [m for m in self._current_cards(view) if IN_ADVANCE in self._labels(m)]

        await self.fake.wait_until(there, f"a card with {IN_ADVANCE!r} and move {view.seq}")
        done = await self.fake.click(self.name, there()[-1], IN_ADVANCE)
        return await self._private_card(done)

    def _current_cards(self, view: TableView) -> list[Message]:
        """The newest messages that show the current position and have controls."""
        newest = self.fake.visible_messages(self.thread)[-SEARCHED_MESSAGES:]
        return [m for m in newest if f"move {view.seq}\n" in f"{m.text}\n" and self.fake.controls(m)]

    def _labels(self, message: Message) -> list[str]:
        return [control.label for control in self.fake.controls(message) if control.kind == "button"]

    # -- using controls ----------------------------------------------------------------------

    async def _use_control(
        self, card: Message, choice: Choice, dollars: int | None
    ) -> tuple[str, Interaction]:
        label = choice.label + ("" if dollars is None else "…")
        card = await self._own_card(card, label)
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

    async def _own_card(self, card: Message, label: str) -> Message:
        """The card itself; of a card that asks several, the player's own, unless all may press the label."""
        labels = self._labels(card)
        if label in labels or f"{self.name}: all options…" not in labels:
            return card
        return await self._private_card(await self.fake.click(self.name, card, f"{self.name}: all options…"))

    async def _private_card(self, done: Interaction) -> Message:
        await self.fake.wait_until(lambda: done.private_messages, "the player's own card")
        return done.private_messages[0]

    async def _use_select(self, card: Message, choice: Choice, label: str) -> tuple[str, Interaction]:
        screen, way = card, "select"
        for _ in range(12):
            if (number := self._numbered_way(screen, label)) is not None:
                return "menu", await self._press_lay(screen, number)
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

    def _numbered_way(self, screen: Message, label: str) -> str | None:
        """The number of a way to lay a tile among those that the screen lists."""
        for each in self.fake.controls(screen):
            for option in each.options:
                number, colon, _ = option.name.partition(": ")
                if colon and number.isdecimal() and truncate_option(f"{number}: {label}") == option.name:
                    return number
        return None

    async def _press_lay(self, screen: Message, number: str) -> Interaction:
        """Lay at once, or after a closer look where the way has no button of its own."""
        buttons = [c.label for c in self.fake.controls(screen) if c.kind == "button"]
        if f"Lay {number}" in buttons:
            return await self.fake.click(self.name, screen, f"Lay {number}")
        select = next(c for c in self.fake.controls(screen) if c.kind == "select")
        option = next(o.name for o in select.options if o.name.startswith(f"{number}: "))
        done = await self.fake.select(self.name, screen, select.custom_id, option)
        await self._next_level(done)
        return await self.fake.click(self.name, screen, "Lay")

    async def _next_level(self, done: Interaction) -> None:
        await self.fake.wait_until(lambda: done.updated or done.private_messages, "the next menu")

    def _next_option(self, screen: Message, choice: Choice, label: str) -> tuple[MessageControl, str]:
        """The select and option to choose next: the choice itself, one of its labels, or the next page."""
        selects = [c for c in self.fake.controls(screen) if c.kind == "select"]
        own_verb = "lay" if lay_choices([choice]) else choice.path[0].casefold()
        for wanted in ([label], [*choice.path[1:], choice.path[0]], ["More…"]):
            for each in selects:
                labels = [option.name for option in each.options]
                verb = each.label.partition(":")[0].casefold()
                if len(selects) > 1 and wanted != [label] and verb not in (own_verb, "more"):
                    continue
                for word in wanted:
                    if truncate_option(word) in labels:
                        return each, truncate_option(word)
        shown = [(c.label, [o.name for o in c.options]) for c in selects]
        raise AssertionError(f"Nothing leads to {choice.line!r} ({label!r}, {choice.path}): {shown}")


def truncate_option(label: str) -> str:
    """A label as it is in an option."""
    return label if len(label) <= 100 else label[:99].rstrip() + "…"


def decision_kind(state: engine.State, choice: Choice) -> str:
    """The kind of decision of a choice: the frame, the step and the verb."""
    return f"{type(state.top).__name__} {getattr(state.top, 'step', '')}: {choice.path[0]}"


def make_players(
    fake: FakeDiscord, names: Sequence[str], thread: Channel, get_view: ViewSource
) -> dict[str, ScriptedPlayer]:
    """One player for each name."""
    return {name: ScriptedPlayer(fake, name, thread, get_view) for name in names}
