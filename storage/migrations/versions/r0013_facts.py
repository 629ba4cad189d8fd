"""What features keep for people at their tables has one table, plans first. Every store has an id."""

import secrets

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    facts = op.create_table(
        "facts",
        sa.Column("feature", sa.String(), nullable=False),
        sa.Column("table_id", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("body", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name=op.f("fk_facts_person_id")),
        sa.ForeignKeyConstraint(["table_id"], ["game_tables.id"], name=op.f("fk_facts_table_id")),
        sa.PrimaryKeyConstraint("feature", "table_id", "person_id", name=op.f("pk_facts")),
    )
    op.create_index(op.f("ix_facts_person_id"), "facts", ["person_id"])
    plans = sa.table(
        "plans",
        sa.column("table_id"),
        sa.column("person_id"),
        sa.column("since"),
        sa.column("lines", sa.JSON),
    )
    rows = [
        {
            "feature": "plans",
            "table_id": row.table_id,
            "person_id": row.person_id,
            "body": {"since": row.since, "lines": row.lines},
        }
        for row in op.get_bind().execute(sa.select(plans))
    ]
    if rows:
        op.bulk_insert(facts, rows)
    op.drop_table("plans")
    settings = sa.table("settings", sa.column("key"), sa.column("value"))
    named = sa.select(settings.c.key).where(settings.c.key == "store_id")
    if op.get_bind().execute(named).first() is None:
        op.bulk_insert(settings, [{"key": "store_id", "value": secrets.token_hex(8)}])
