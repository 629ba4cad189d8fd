"""Pace of tables, clocks of seats, due rows, deputies, requests for open seats."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def _foreign_key(table: str, column: str, target: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [f"{target}.id"], name=op.f(f"fk_{table}_{column}"))


def _index(table: str, column: str) -> None:
    op.create_index(op.f(f"ix_{table}_{column}"), table, [column], unique=False)


def upgrade() -> None:
    op.add_column("game_tables", sa.Column("pace", sa.Text(), nullable=False, server_default="none"))
    _create_clocks()
    _create_due_rows()
    _create_deputies()
    _create_seat_requests()


def _create_clocks() -> None:
    op.create_table(
        "table_clocks",
        sa.Column("table_id", sa.Integer(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("is_stale", sa.Boolean(), nullable=False),
        _foreign_key("table_clocks", "table_id", "game_tables"),
        sa.PrimaryKeyConstraint("table_id", name=op.f("pk_table_clocks")),
    )
    op.create_table(
        "seat_clocks",
        sa.Column("table_id", sa.Integer(), nullable=False),
        sa.Column("seat", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=True),
        sa.Column("decision_id", sa.String(), nullable=True),
        sa.Column("since", sa.BigInteger(), nullable=True),
        sa.Column("bank", sa.Integer(), nullable=True),
        sa.Column("allowance_end", sa.BigInteger(), nullable=True),
        sa.Column("time_up", sa.BigInteger(), nullable=True),
        sa.Column("extended", sa.Boolean(), nullable=False),
        sa.Column("absence", sa.String(), nullable=False),
        _foreign_key("seat_clocks", "person_id", "people"),
        _foreign_key("seat_clocks", "table_id", "game_tables"),
        sa.PrimaryKeyConstraint("table_id", "seat", name=op.f("pk_seat_clocks")),
    )
    _index("seat_clocks", "person_id")


def _create_due_rows() -> None:
    op.create_table(
        "due_rows",
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("due_at", sa.BigInteger(), nullable=False),
        sa.Column("table_id", sa.Integer(), nullable=True),
        sa.Column("seat", sa.Integer(), nullable=True),
        sa.Column("person_id", sa.Integer(), nullable=True),
        sa.Column("details", sa.JSON(), nullable=False),
        _foreign_key("due_rows", "person_id", "people"),
        _foreign_key("due_rows", "table_id", "game_tables"),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_due_rows")),
    )
    for column in ("due_at", "person_id", "table_id"):
        _index("due_rows", column)


def _create_deputies() -> None:
    op.create_table(
        "deputies",
        sa.Column("table_id", sa.Integer(), nullable=False),
        sa.Column("seat", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("starts_at", sa.BigInteger(), nullable=False),
        sa.Column("ends_at", sa.BigInteger(), nullable=True),
        sa.Column("decision_id", sa.String(), nullable=True),
        _foreign_key("deputies", "person_id", "people"),
        _foreign_key("deputies", "table_id", "game_tables"),
        sa.PrimaryKeyConstraint("table_id", "seat", name=op.f("pk_deputies")),
    )
    _index("deputies", "person_id")


def _create_seat_requests() -> None:
    op.create_table(
        "seat_requests",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("table_id", sa.Integer(), nullable=False),
        sa.Column("seat", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("asked_at", sa.BigInteger(), nullable=False),
        sa.Column("answered_at", sa.BigInteger(), nullable=True),
        sa.Column("admitted", sa.Boolean(), nullable=True),
        _foreign_key("seat_requests", "person_id", "people"),
        _foreign_key("seat_requests", "table_id", "game_tables"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_seat_requests")),
    )
    for column in ("person_id", "table_id"):
        _index("seat_requests", column)
    op.create_index(
        "uq_table_id_person_id_where",
        "seat_requests",
        ["table_id", "person_id"],
        unique=True,
        sqlite_where=sa.text("answered_at IS NULL"),
        postgresql_where=sa.text("answered_at IS NULL"),
    )
