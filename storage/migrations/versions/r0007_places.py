"""Tables are found by the place on Discord where they are shown."""

import json

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

PLACES = ("guild", "channel", "thread")


def upgrade() -> None:
    for name in PLACES:
        op.add_column("game_tables", sa.Column(name, sa.BigInteger(), nullable=True))
        op.create_index(op.f(f"ix_game_tables_{name}"), "game_tables", [name])
    tables = sa.table(
        "game_tables",
        sa.column("id", sa.Integer()),
        sa.column("location", sa.JSON()),
        *(sa.column(name, sa.BigInteger()) for name in PLACES),
    )
    connection = op.get_bind()
    for table_id, location in connection.execute(sa.select(tables.c.id, tables.c.location)).all():
        location = json.loads(location) if isinstance(location, str) else location
        places = {name: location[name] for name in PLACES if isinstance(location.get(name), int)}
        if places:
            connection.execute(sa.update(tables).where(tables.c.id == table_id).values(**places))
