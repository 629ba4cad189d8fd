"""Answers with pictures and files: these are saved in the data folder, and the answer names their paths."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bot.features.watch.feature import Watcher
from bot.hub.feature import Page
from bot.hub.queries import TableQueries
from bot.hub.request import QueryAnswer
from bot.hub.table import TableView
from bot.pictures.views import (
    PICTURES_SAY_ALL,
    NamedPicture,
    answer_pictures,
    page_pictures,
    picture_file_name,
)
from bot.pictures.workers import WATCHED, Pictures, PictureWorkers
from bot.terminal.replies import Reply

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
    ) -> list[Path]:
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

    def _save_file(self, folder: str, name: str, content: bytes) -> Path:
        """Write a file into the data folder; its path."""
        path = self._data / folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path
