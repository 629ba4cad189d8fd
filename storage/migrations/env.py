"""Run by Alembic for every migration; `migrate` passes the connection and its transaction."""

from typing import Any, Literal

from alembic import context
from sqlmodel import AutoString

from storage.models import Model, UtcDateTime


def render_type(kind: str, item: Any, _: object) -> str | Literal[False]:
    """Render the database's types, so that a revision does not depend on today's classes."""
    if kind == "type" and isinstance(item, UtcDateTime):
        return "sa.BigInteger()"
    if kind == "type" and isinstance(item, AutoString):
        return "sa.String()"
    return False


context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Model.metadata,
    render_as_batch=True,
    render_item=render_type,
    compare_type=True,
)
context.run_migrations()
