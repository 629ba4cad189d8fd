"""What people do on Discord, whichever way they do it: press, choose, fill in, or write a command.

Every interaction is acknowledged before anything is asked of the store or drawn; only forms, which
have to be the acknowledgement themselves, are made from what is in memory first. What goes wrong is
told to the one who did it, in one sentence that nobody else sees. A press on a card that is carried
out needs no words: the card follows.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import Any

import discord
from discord import ui

import engine
from bot import words
from bot.answers import Answer, Done, Shown, Stale, Voted
from bot.discord import cards, controls
from bot.discord.cards import Json
from bot.discord.controls import Key
from bot.discord.courier import is_asking, ref_of
from bot.discord.wire import Attached, Document, Payload
from bot.discord.wire import Shown as Picture
from bot.lobby import told_status
from bot.people import by_discord, table_name
from bot.pictures import Pictures
from bot.play import View, seat_name
from bot.sayings import PLANS
from bot.service import Service
from bot.tables import TableInfo
from storage import Missing, Status, StoreError, Table

log = logging.getLogger(__name__)

DEFERRED_MESSAGE = discord.InteractionResponseType.deferred_channel_message
MOST_PREVIEWS = 4
CHANGED = "What can be said has changed since; look at the card as it is now."


class Form(ui.Modal):
    """A form as it is. It is finished before it is sent, so that the library keeps nothing of it."""

    def __init__(self, payload: Json) -> None:
        super().__init__(title="form", timeout=None)
        self._payload = payload
        self.stop()

    def to_dict(self) -> dict[str, Any]:
        return self._payload


async def reply(
    interaction: discord.Interaction,
    payload: list[Json],
    shown: Sequence[Attached] = (),
    *,
    public: bool = False,
) -> None:
    """Show something to who acted: in place of what was promised or of his menu, or as a new message."""
    files, view = [each.file for each in shown], Payload(payload)
    response = interaction.response
    private = interaction.message is not None and interaction.message.flags.ephemeral
    if not response.is_done():
        await response.send_message(view=view, files=files, ephemeral=not public)
    elif response.type is DEFERRED_MESSAGE or private:
        await interaction.edit_original_response(view=view, attachments=files)
    else:
        await interaction.followup.send(view=view, files=files, ephemeral=not public)


async def say_so(interaction: discord.Interaction, sentence: str) -> None:
    """Tell one sentence to who acted."""
    await reply(interaction, [cards.text(sentence)])


class Front:
    """Turns interactions into what the service understands, and its answers into messages."""

    def __init__(self, service: Service, pictures: Pictures) -> None:
        self.service, self.pictures = service, pictures
        self._known: dict[int, int] = {}

    @staticmethod
    def wrong(error: BaseException) -> None:
        """Something of ours failed: to the log."""
        log.error("Discord: an interaction failed", exc_info=error)

    # -- who and where -----------------------------------------------------------------------

    async def person(self, user: discord.User | discord.Member) -> int:
        """The person with that Discord id, made at the first meeting."""
        if user.id not in self._known:
            async with self.service.store.read() as unit:
                found = await unit.people.find("discord", str(user.id))
            if found is None:
                async with self.service.store.begin() as unit:
                    found = await by_discord(unit, user.id, table_name(user.display_name))
            self._known[user.id] = found.id
        return self._known[user.id]

    async def resolve(
        self, interaction: discord.Interaction, code: str | None, statuses: Sequence[Status] = ()
    ) -> TableInfo:
        """The table that is meant: the one named, that of the place, or the only one that waits.

        `statuses` narrows down what is not named. Raises ValueError with a sentence.
        """
        if code:
            return await self.service.find(code.split()[0])
        here = [t for t in await self._here(interaction) if not statuses or t.status in statuses]
        if len(here) == 1:
            return await self.service.table(here[0].id)
        person = await self.person(interaction.user)
        mine = [t for t in await self.service.tables(person=person) if not statuses or t.status in statuses]
        if here and (sitting := [t for t in mine if t.id in {each.id for each in here}]):
            mine = sitting
        waiting = [t for t in mine if t.status == "running" and t.seat_of(person) in t.asked]
        for found in (waiting, mine):
            if len(found) == 1:
                return found[0]
        codes = [t.code for t in mine] or [t.code for t in here]
        if codes:
            raise ValueError(f"Which table? Fill in `table`: {words.listed(codes, 'or')}.")
        raise ValueError("There is no such table here; `/table new` makes one, `/table list` shows all.")

    async def _here(self, interaction: discord.Interaction) -> list[Table]:
        """The tables that are shown where somebody acts: those of the thread, or those of the channel."""
        channel = interaction.channel_id
        async with self.service.store.read() as unit:
            every = await unit.games.all()
        exact = [t for t in every if t.place.get("thread") == channel]
        return exact or [t for t in every if t.place.get("channel") == channel and t.status != "ended"]

    async def matching(self, interaction: discord.Interaction, typed: str) -> list[TableInfo]:
        """Tables for autocompletion: those that wait for who types, his others, the server's."""
        person = await self.person(interaction.user)
        mine = await self.service.tables(person=person)
        mine.sort(
            key=lambda t: (t.status != "running" or t.seat_of(person) not in t.asked, t.status != "lobby")
        )
        if interaction.guild_id is not None:
            known = {t.id for t in mine}
            guild = await self.service.tables(
                place=("guild", interaction.guild_id), statuses=("lobby", "running")
            )
            mine += [t for t in guild if t.id not in known]
        wanted = typed.casefold().strip()
        return [
            t for t in mine if wanted in f"{t.code} {t.title} {t.name}".casefold() and t.status != "ended"
        ]

    # -- what is said ------------------------------------------------------------------------

    async def say(
        self, interaction: discord.Interaction, key: Key, lines: Sequence[str], *, sure: bool = False
    ) -> None:
        """Say lines as the answer to what the key names, and show what came of it."""
        person = await self.person(interaction.user)
        view = await self.service.view(key.table)
        mine = view.table.seat_of(person)
        if key.seat is not None and mine != key.seat:
            await say_so(interaction, cards.wrong_person(view.state, view.table.names, key.seat))
            return
        if not sure and (ending := self._ending(view, mine, key, lines)):
            await reply(interaction, ending)
            return
        answer = await self.service.say(
            key.table, mine, lines, key.decision, str(interaction.id), person=person, transport="discord"
        )
        await self.show(interaction, answer, view.table, mine)

    @staticmethod
    def _ending(view: View, seat: int | None, key: Key, lines: Sequence[str]) -> list[Json] | None:
        """The question whether he is sure, where a line would end the game."""
        if seat is None or view.state is None or view.state.over or len(lines) != 1:
            return None
        name = seat_name(seat)
        try:
            action = engine.parse(view.state, name, lines[0])
            line = engine.spell(view.state, action)
            if engine.play(view.state, name, action).state.over is None:
                return None
        except (engine.Unreadable, engine.Ambiguous, engine.Refused):
            return None
        sure = key._replace(
            seat=seat, decision=key.decision or view.decision(seat), act=controls.SURE, arg=line
        )
        return cards.sure(sure, line) if len(str(sure)) <= controls.LONGEST else None

    async def show(
        self, interaction: discord.Interaction, answer: Answer, table: TableInfo, seat: int | None
    ) -> None:
        """What came of what was said. A card needs no words: it follows by itself."""
        pressed = interaction.message is not None and not interaction.message.flags.ephemeral
        if pressed and isinstance(answer, Done | Voted):
            return
        link = await self._link(table, seat) if isinstance(answer, Stale) else None
        if isinstance(answer, Shown):
            await self.picture(interaction, answer, table)
        else:
            await reply(interaction, cards.answered(answer, table, seat, link))

    async def picture(
        self, interaction: discord.Interaction, answer: Shown, table: TableInfo, *, public: bool = False
    ) -> None:
        """What was asked to be shown: a picture where there is one and it can be drawn, or words."""
        state = (await self.service.view(table.id)).state
        drawn = None
        if answer.picture and answer.what != "board" and state is not None:
            drawn = await self.pictures.drawn(answer.picture, answer.state(state))
        shown: list[Attached] = [Document(file) for file in answer.files]
        parts = [cards.text(cards.spoken(answer)[0]), *cards.documents([f.name for f in answer.files])]
        if drawn is not None and answer.picture:
            picture = Picture(f"{answer.picture}.png", drawn)
            words_too = parts if answer.what in (*PLANS, "at") else []
            shown, parts = [*shown, picture], [*words_too, *cards.pictures([picture.shot])]
        await reply(interaction, parts, shown, public=public)

    async def _link(self, table: TableInfo, seat: int | None) -> str | None:
        """Where the card is that asks that seat, or any; until it is there, its thread."""
        guild, thread = table.place.get("guild"), table.place.get("thread")
        if guild is None or thread is None:
            return None
        async with self.service.store.read() as unit:
            kept = [ref_of(c) for c in await unit.games.cards(table.id) if is_asking(c.slot)]
        found = next((r for r in kept if r.seat == seat), kept[0] if kept else None)
        where = f"{found.channel}/{found.message}" if found else thread
        return f"https://discord.com/channels/{guild}/{where}"

    # -- what is pressed ---------------------------------------------------------------------

    async def press(self, interaction: discord.Interaction, key: Key, values: dict[str, str]) -> None:
        """A control was used, or a form sent; `values` are those of its fields."""
        match key.act:
            case controls.SAY | controls.SURE:
                await interaction.response.defer()
                line = await self._line(key)
                if line is None:
                    await say_so(interaction, CHANGED)
                else:
                    await self.say(interaction, key, [line], sure=key.act == controls.SURE)
            case controls.MENU:
                await self._menu(interaction, key)
            case controls.AMOUNT if values:
                await interaction.response.defer()
                await self._amount(interaction, key, values.get("amount", ""))
            case controls.AMOUNT:
                await self._ask_amount(interaction, key)
            case controls.WRITE if values:
                await interaction.response.defer()
                lines = [line for line in values.get("line", "").split(";") if line.strip()]
                await self.say(interaction, key, lines)
            case controls.WRITE:
                if not await self._not_his(interaction, key):
                    example = await self._example(key)
                    await interaction.response.send_modal(Form(cards.line_form(key, example)))
            case controls.JOIN | controls.LEAVE | controls.START:
                await interaction.response.defer(ephemeral=True, thinking=True)
                await self.lobby(interaction, await self.service.table(key.table), key.act)
            case _:
                await say_so(
                    interaction, "This control is of another version of Railpost; use `/do` instead."
                )

    async def _choices(self, key: Key) -> list[engine.Choice]:
        return [] if key.seat is None else await self.service.choices(key.table, key.seat)

    async def _line(self, key: Key) -> str | None:
        """The line that a control stands for; None where its place among the choices is no longer that."""
        if not key.arg.startswith("#"):
            return key.arg
        found = controls.find(await self._choices(key), key.arg)
        return found.line if found else None

    async def _example(self, key: Key) -> str:
        return next((c.line for c in await self._choices(key)), "pass")

    async def _not_his(self, interaction: discord.Interaction, key: Key) -> bool:
        """Whether somebody else's control was used; he is told so."""
        view = await self.service.view(key.table)
        if key.seat is None or view.table.seat_of(await self.person(interaction.user)) == key.seat:
            return False
        await say_so(interaction, cards.wrong_person(view.state, view.table.names, key.seat))
        return True

    async def _stale(self, interaction: discord.Interaction, key: Key) -> bool:
        """Whether what a control answers no longer stands; who used it is told what has happened since."""
        view = await self.service.view(key.table)
        running = view.table.status == "running"
        if running and any((a.seat, a.decision) == (key.seat, key.decision) for a in view.asked):
            return False
        reason = await self._since(view, key) if running else told_status(view.table.status)
        reason = reason if running else f"Table {view.table.code} is {reason}."
        link = await self._link(view.table, key.seat)
        await say_so(interaction, f"{reason}\n[The card as it is now]({link})" if link else reason)
        return True

    async def _since(self, view: View, key: Key) -> str:
        assert view.state is not None and key.seat is not None
        rows = await self.service.since(view.table.id, key.seat)
        happened = [f"- {each}" for each in cards.since(rows, view.table.names)]
        now = words.waiting(view.state, view.asked)
        return "\n".join([f"That question is no longer open. {now}", *happened])

    async def _menu(self, interaction: discord.Interaction, key: Key) -> None:
        """The next level of a menu, for him alone."""
        message = interaction.message
        if message is not None and message.flags.ephemeral:
            await interaction.response.defer()
        else:
            await interaction.response.defer(ephemeral=True, thinking=True)
        if await self._not_his(interaction, key) or await self._stale(interaction, key):
            return
        choices = await self._choices(key)
        step = controls.read_step(key.arg)
        places = controls.below(choices, step) if step else []
        if step is None or not places:
            await say_so(interaction, CHANGED)
            return
        path = choices[places[0]].path[: step.depth]
        title = controls.titled(" · ".join(path)) or "Choose"
        shown = await self._previews(key, [choices[i].line for i in places])
        items = controls.items(choices, places, step.depth, step.page)
        await reply(interaction, cards.menu(key, title, items, [s.shot for s in shown]), shown)

    async def _previews(self, key: Key, lines: Sequence[str]) -> list[Picture]:
        """Pictures of the ways in which tiles may be laid by these lines, where they lay few."""
        state = (await self.service.view(key.table)).state
        if state is None or key.seat is None or len(lines) > controls.MOST_OPTIONS:
            return []
        ways: dict[tuple[str, str], list[int]] = {}
        for hex, tile, turn in lays(state, seat_name(key.seat), lines):
            ways.setdefault((hex, tile), []).append(turn)
        if len(ways) > MOST_PREVIEWS:
            return []
        found = [(place, await self.pictures.tiles(state, *place, turns)) for place, turns in ways.items()]
        return [Picture(f"{hex}-{tile}.png", drawn) for (hex, tile), drawn in found if drawn is not None]

    async def _ask_amount(self, interaction: discord.Interaction, key: Key) -> None:
        if await self._not_his(interaction, key) or await self._stale(interaction, key):
            return
        choice = controls.find(await self._choices(key), key.arg)
        if choice is None or choice.amounts is None:
            await say_so(interaction, CHANGED)
        else:
            await interaction.response.send_modal(Form(cards.amount_form(key, choice)))

    async def _amount(self, interaction: discord.Interaction, key: Key, typed: str) -> None:
        if await self._not_his(interaction, key) or await self._stale(interaction, key):
            return
        choice = controls.find(await self._choices(key), key.arg)
        if choice is None or choice.amounts is None:
            await say_so(interaction, CHANGED)
            return
        figure = typed.strip().lstrip("$").replace(",", "")
        low = choice.amounts[0]
        if not figure.isdecimal() or int(figure) not in choice.amounts:
            await say_so(interaction, f"{typed!r} will not do: {choice.says}, from ${low} to {choice.most}.")
            return
        await self.say(interaction, key, [choice.at(int(figure))])

    # -- the lobby ---------------------------------------------------------------------------

    async def lobby(
        self, interaction: discord.Interaction, table: TableInfo, act: str, name: str | None = None
    ) -> None:
        """Join, leave or start."""
        person = await self.person(interaction.user)
        if act == controls.JOIN:
            invited = next((s.name for s in table.sitters if s.person == person and not s.joined), None)
            wanted = name or invited or table_name(interaction.user.display_name)
            await self.service.join(table.id, person, wanted)
            await say_so(interaction, f"You sit at table {table.code} as {wanted}.")
        elif act == controls.LEAVE:
            await self.service.leave(table.id, person, by=person)
            await say_so(interaction, f"You have left table {table.code}.")
        else:
            await self.service.start(table.id, by=person)
            await say_so(interaction, f"Table {table.code} begins; its thread follows.")


def lays(state: engine.State, seat: str, lines: Iterable[str]) -> list[tuple[str, str, int]]:
    """The tiles that the lines would lay: hex, tile and rotation each; none where one lays nothing."""
    found = []
    for line in lines:
        try:
            events = engine.play(state, seat, engine.parse(state, seat, line)).events
        except (engine.Unreadable, engine.Ambiguous, engine.Refused):
            return []
        laid = next((event for event in events if isinstance(event, engine.TileLaid)), None)
        if laid is None:
            return []
        found.append((laid.hex, laid.tile, laid.turn))
    return found


def sentence_of(error: BaseException) -> str:
    """What is told of an error: its own sentence where it is for people."""
    if isinstance(error, ValueError | StoreError | Missing):
        return str(error)
    return "Something went wrong on our side, and nothing was changed by it. Please try again in a while."
