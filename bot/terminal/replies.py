"""What the terminal answers: a text, its tone, and the pictures that go with it. Pictures and files are
saved in the data folder, and the answer names their paths.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bot.features.watch.feature import Watcher
from bot.hub.feature import Page
from bot.hub.info import TableInfo, is_robot_name, status_text
from bot.hub.queries import TableQueries
from bot.hub.request import (
    CommandResult,
    Completed,
    ConfirmationRequired,
    LineFailure,
    NotYourSeat,
    PollUpdated,
    QueryAnswer,
    StaleDecision,
    TableNotRunning,
)
from bot.hub.table import TableView
from bot.pictures.views import (
    PICTURES_SAY_ALL,
    NamedPicture,
    answer_pictures,
    page_pictures,
    picture_file_name,
)
from bot.pictures.workers import WATCHED, Pictures, PictureWorkers
from bot.position import text_views
from engine.core.words import join_words
from storage import write_whole

Tone = Literal["plain", "good", "bad"]


@dataclass(frozen=True, slots=True)
class Reply:
    """The text for a line, whether it succeeded, and whether to quit.

    pictures: PNG files that go with it. caption: the text where the terminal shows them, if it is another.
    view: the table as the text leaves it, where the text ends with who is to act.
    """

    text: str
    tone: Tone = "plain"
    quit: bool = False
    pictures: tuple[bytes, ...] = ()
    caption: str | None = None
    view: TableView | None = None


def waiting_text(view: TableView) -> str:
    """Who is to act; nothing before the start, in a pause, and after an end before the end."""
    return text_views.question_text(view.state, view.pending) if view.state and view.waiting_sentence else ""


def reply_for(result: CommandResult, view: TableView) -> Reply:
    """A result of the service in words."""
    waiting = waiting_text(view)
    match result:
        case Completed():
            played = [f"{p.line}: {' '.join(p.sentences)}" if p.sentences else p.line for p in result.played]
            next_turn = [] if result.game_over else [waiting]
            text = "\n".join(filter(None, [*played, *result.sentences, *next_turn]))
            return Reply(text, "good", view=view)
        case LineFailure():
            return Reply(_failure_text(result), "bad")
        case StaleDecision():
            return Reply("\n".join([result.reason, *result.since]), "bad")
        case NotYourSeat() | TableNotRunning():
            return Reply(result.reason, "bad")
        case ConfirmationRequired():
            return Reply(f"{result.reason} Enter `{result.line}` to confirm.")
        case PollUpdated():
            names = view.state.players if view.state else []
            people = [names[seat] for seat in result.waiting_seats if not is_robot_name(names[seat])]
            votes = [f"{name}: accept, or {name}: decline" for name in people]
            next_turn = [waiting] if result.outcome and waiting else []
            return Reply("\n".join([*result.sentences, *votes, *next_turn]), "good")
        case QueryAnswer():
            return Reply(result.text)


def _failure_text(failed: LineFailure) -> str:
    prefix = f"Line {failed.index + 1}, `{failed.line}`: " if failed.index else ""
    if not failed.suggestions or any(each in failed.reason for each in failed.suggestions):
        return f"{prefix}{failed.reason}"
    return f"{prefix}{failed.reason} Possible: {'; '.join(failed.suggestions)}."


def table_summary(info: TableInfo, status: str = "") -> str:
    """The table in a sentence: code, title, status, round and players."""
    options = f" ({', '.join(info.options)})" if info.options else ""
    names = join_words(info.names or [s.name for s in info.seated_players]) or "nobody yet"
    now = status or status_text(info.status)
    where = f", {info.round}" if info.round not in ("", now) else ""
    return f"Table {info.code} of {info.title}{options} is {now}{where}: {names}."


WATCH_PLACE = "terminal"


class SavedAnswers:
    """data: the folder for pictures and files. pictures: None if nothing is drawn."""

    def __init__(self, queries: TableQueries, data: Path, pictures: PictureWorkers | None) -> None:
        self._queries = queries
        self._data = data
        self._pictures = pictures

    async def answer(self, view: TableView, answer: QueryAnswer) -> Reply:
        """The answer of a query; its picture and files are saved, and their paths named."""
        named: Sequence[NamedPicture] = ()
        if self._pictures is not None:
            named = await answer_pictures(self._queries, self._drawing(view), view, answer)
        paths = [("Picture", path) for path in self._save_pictures(view, answer, named)]
        paths += [("File", self._save_file("games", file.name, file.content)) for file in answer.files]
        places = [f"{kind}: {path}" for kind, path in paths]
        caption = "\n".join(places) if answer.query in PICTURES_SAY_ALL else None
        pngs = tuple(picture.png for _, picture in named)
        return Reply("\n".join([answer.text, *places]), pictures=pngs, caption=caption)

    async def watched(self, raw: bytes, watcher: Watcher) -> Reply:
        """A game that is given as a file, with its pictures and what is new since the last time. Raises
        ValueError."""
        pictures = self._pictures and self._pictures.for_table(WATCHED, "light", post="answer")
        text, drawn = await watcher.show(raw, WATCH_PLACE, None, pictures)
        saved = [
            self._save_file("pictures", f"watched-{picture_file_name(kind)}", picture.png)
            for kind, picture in drawn
        ]
        places = [f"Picture: {path}" for path in saved]
        return Reply("\n".join([text, *places]), pictures=tuple(picture.png for _, picture in drawn))

    def _drawing(self, view: TableView) -> Pictures:
        """Pictures of the table."""
        assert self._pictures is not None
        return self._pictures.for_table(view.table.id, view.table.palette, post="answer")

    def _save_pictures(
        self, view: TableView, answer: QueryAnswer, named: Sequence[NamedPicture]
    ) -> list[str]:
        """Save the pictures of an answer; their paths."""
        suffix = "" if answer.encoded_state is None else f"-{answer.query}"
        paths = []
        for number, (name, picture) in enumerate(named):
            again = sum(other == name for other, _ in named[:number])
            file = picture_file_name(f"{name}{suffix}", again + 1 if again else 0)
            paths.append(self._save_file("pictures", f"{view.table.code}-{file}", picture.png))
        return paths

    async def page_lines(self, view: TableView, page: Page) -> list[str]:
        """A page in lines, with the paths of its files and pictures."""
        lines = [page.headline, *page.sentences]
        for title, items in page.lists:
            lines += [*([f"{title}:"] if title else []), *items]
        lines += [f"File: {self._save_file('games', file.name, file.content)}" for file in page.files]
        if self._pictures is None:
            return lines
        for name, picture in await page_pictures(self._queries, self._drawing(view), view, page):
            path = self._save_file("pictures", f"{view.table.code}-{picture_file_name(name)}", picture.png)
            lines.append(f"Picture: {path}")
        return lines

    def _save_file(self, folder: str, name: str, content: bytes) -> str:
        """Write a file into the data folder; its path, or why it is not there."""
        path = self._data / folder / name
        try:
            write_whole(path, content)
        except OSError as error:
            return f"{path} cannot be written: {error.strerror}"
        return str(path)
