"""Run by Alembic around every migration; the connection and its transaction come from outside."""

from typing import Any, Literal

from alembic import context
from sqlmodel import AutoString

from storage.tables import Moment, Row


def plain(kind: str, item: Any, _: object) -> str | Literal[False]:
    """Types as the database has them, so that a revision outlives the classes of today."""
    if kind == "type" and isinstance(item, Moment):
        return "sa.BigInteger()"
    if kind == "type" and isinstance(item, AutoString):
        return "sa.String()"
    return False


context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Row.metadata,
    render_as_batch=True,
    render_item=plain,
    compare_type=True,
)
context.run_migrations()
