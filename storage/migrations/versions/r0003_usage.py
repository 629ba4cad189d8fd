"""What each person does on a day is counted."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_table(
        "usage",
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("day", sa.String(), nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name=op.f("fk_usage_person_id")),
        sa.PrimaryKeyConstraint("person_id", "kind", "day", name=op.f("pk_usage")),
    )
    op.create_index(op.f("ix_usage_day"), "usage", ["day"])
