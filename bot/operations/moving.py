"""`railpost move-store`: from a file to PostgreSQL, or back."""

from bot.config import PREFIX, Settings
from storage import move_store


async def move(settings: Settings, url: str) -> str:
    """Move the store of these settings; what was done and what remains to be done. Raises StoreError."""
    counts = await move_store(settings.database_url, url)
    return (
        f"Copied and compared: {counts['game_tables']:,} tables, {counts['moves']:,} moves, "
        f"{counts['people']:,} people, {sum(counts.values()):,} rows in all.\n"
        f"Now set {PREFIX}DATABASE to the new address and start the service. The former store is as it was: "
        "keep it until you are content, and start no service with it."
    )
