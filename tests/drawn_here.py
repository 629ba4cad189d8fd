"""Pictures that are drawn in this process, for tests that look at them."""

from __future__ import annotations

from typing import Any

import engine
from bot.pictures.workers import PictureWorkers, draw_file
from renderers import Picture


class DrawnHere(PictureWorkers):
    """Draws without processes, and remembers what was asked for."""

    def __init__(self) -> None:
        super().__init__(1)
        self.requests: list[tuple[str, dict[str, Any]]] = []

    async def request(
        self, kind: str, state: engine.State, arguments: tuple[Any, ...], details: dict[str, Any], *_: Any
    ) -> Picture | None:
        self.requests.append((kind, details))
        return draw_file(kind, state, arguments, details)
