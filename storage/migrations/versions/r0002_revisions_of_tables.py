"""Each table has its own revision; plans are no part of the people; states and events say their format."""

import json

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.add_column("moves", _integer("format_version", "1"))
    op.add_column("table_snapshots", _integer("format_version", "1"))
    op.add_column("table_snapshots", _integer("rewind_count", "0"))
    op.add_column("table_snapshots", _integer("revision", "0"))
    op.execute(
        "UPDATE table_snapshots SET rewind_count = (SELECT count(*) FROM moves"
        " WHERE moves.table_id = table_snapshots.table_id AND moves.kind IN ('undo', 'redo'))"
    )
    op.create_table(
        "plans",
        sa.Column("table_id", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("since", sa.Integer(), nullable=False),
        sa.Column("lines", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name=op.f("fk_plans_person_id")),
        sa.ForeignKeyConstraint(["table_id"], ["game_tables.id"], name=op.f("fk_plans_table_id")),
        sa.PrimaryKeyConstraint("table_id", "person_id", name=op.f("pk_plans")),
    )
    op.create_index(op.f("ix_plans_person_id"), "plans", ["person_id"])
    _move_plans()
    op.execute("DELETE FROM settings WHERE key = 'data_revision'")


def _integer(name: str, default: str) -> sa.Column[int]:
    return sa.Column(name, sa.Integer(), nullable=False, server_default=default)


def _move_plans() -> None:
    """Plans were kept in the preferences of their people, by the ids of the tables."""
    people = sa.table("people", sa.column("id", sa.Integer()), sa.column("preferences", sa.JSON()))
    plans = sa.table(
        "plans",
        sa.column("table_id", sa.Integer()),
        sa.column("person_id", sa.Integer()),
        sa.column("since", sa.Integer()),
        sa.column("lines", sa.JSON()),
    )
    connection = op.get_bind()
    tables = set(connection.execute(sa.text("SELECT id FROM game_tables")).scalars())
    has_plans = sa.cast(people.c.preferences, sa.Text()).like('%"plans"%')
    for person_id, preferences in connection.execute(sa.select(people).where(has_plans)).all():
        preferences = json.loads(preferences) if isinstance(preferences, str) else preferences
        for table_id, plan in preferences.pop("plans", {}).items():
            if int(table_id) in tables:
                values = {"table_id": int(table_id), "person_id": person_id}
                connection.execute(sa.insert(plans).values(values | {k: plan[k] for k in ("since", "lines")}))
        connection.execute(sa.update(people).where(people.c.id == person_id).values(preferences=preferences))
