"""The real `railpost`, which writes the longest gap of its event loop into the file `gap` of its folder."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from time import perf_counter
from typing import Any

import bot.__main__ as program

STEP = 0.005
"""Seconds between two looks at the event loop."""


async def watch(folder: Path) -> None:
    """Write the longest gap, in milliseconds, whenever a longer one was seen. Never returns."""
    longest = 0.0
    while True:
        before = perf_counter()
        await asyncio.sleep(STEP)
        gap = (perf_counter() - before - STEP) * 1000
        if gap > longest:
            longest = gap
            (folder / "gap").write_text(f"{longest:.1f}")


def main() -> None:
    """Serve until killed."""
    serve = program.serve

    async def watched(*arguments: Any, **options: Any) -> None:
        watching = asyncio.create_task(watch(Path(os.environ["RAILPOST_DATA"])))
        try:
            await serve(*arguments, **options)
        finally:
            watching.cancel()

    setattr(program, "serve", watched)  # noqa: B010
    program.main()


if __name__ == "__main__":
    main()
