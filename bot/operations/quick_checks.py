"""The quick check of a store at every start: before the service begins, or beside it where it takes long."""

from __future__ import annotations

from storage import Store, quick_check

SMALL_STORE = 64 * 1024 * 1024
"""Bytes of a store that is checked before the service begins; a larger one is checked meanwhile."""


async def quick_check_at_start(store: Store) -> None:
    """Raises InvalidStore for a small store with damaged pages."""
    if store.path is not None and store.path.stat().st_size <= SMALL_STORE:
        await quick_check(store)


async def quick_check_in_background(store: Store) -> None:
    """The same for a large one, while the service runs. Raises InvalidStore."""
    if store.path is not None and store.path.stat().st_size > SMALL_STORE:
        await quick_check(store)
