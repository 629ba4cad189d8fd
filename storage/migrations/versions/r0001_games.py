"""People, tables, their logs, and what is to be sent."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "answers",
        sa.Column("request", sa.String(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("request", name=op.f("pk_answers")),
    )
    op.create_index(op.f("ix_answers_at"), "answers", ["at"], unique=False)
    op.create_table(
        "leases",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("holder", sa.String(), nullable=False),
        sa.Column("until", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_leases")),
    )
    op.create_table(
        "outbox",
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("channel", sa.String(), nullable=False),
        sa.Column("address", sa.JSON(), nullable=False),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.Column("lane", sa.String(), nullable=True),
        sa.Column("supersedes", sa.String(), nullable=True),
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("not_before", sa.BigInteger(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("lease_until", sa.BigInteger(), nullable=True),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("ref", sa.String(), nullable=True),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.Column("settled", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("channel IN ('discord', 'mail')", name=op.f("ck_outbox_channel")),
        sa.CheckConstraint(
            "state IN ('pending', 'sent', 'dead', 'superseded')", name=op.f("ck_outbox_state")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_outbox")),
        sa.UniqueConstraint("key", name=op.f("uq_outbox_key")),
    )
    op.create_index(
        "ix_outbox_due",
        "outbox",
        ["channel", "not_before"],
        unique=False,
        sqlite_where=sa.text("state = 'pending'"),
        postgresql_where=sa.text("state = 'pending'"),
    )
    op.create_index(
        "ix_outbox_lane",
        "outbox",
        ["lane"],
        unique=False,
        sqlite_where=sa.text("state = 'pending'"),
        postgresql_where=sa.text("state = 'pending'"),
    )
    op.create_index(op.f("ix_outbox_settled"), "outbox", ["settled"], unique=False)
    op.create_index(
        "ix_outbox_supersedes",
        "outbox",
        ["supersedes"],
        unique=False,
        sqlite_where=sa.text("state = 'pending'"),
        postgresql_where=sa.text("state = 'pending'"),
    )
    op.create_table(
        "people",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("language", sa.String(), nullable=True),
        sa.Column("zone", sa.String(), nullable=True),
        sa.Column("preferences", sa.JSON(), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_people")),
    )
    op.create_table(
        "settings",
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_settings")),
    )
    op.create_table(
        "identities",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("value", sa.String(), nullable=False),
        sa.Column("verified_at", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("kind IN ('discord', 'email')", name=op.f("ck_identities_kind")),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name=op.f("fk_identities_person_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_identities")),
        sa.UniqueConstraint("kind", "value", name=op.f("uq_identities_kind_value")),
    )
    op.create_index(op.f("ix_identities_person_id"), "identities", ["person_id"], unique=False)
    op.create_table(
        "tables",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("code", sa.String(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("options", sa.JSON(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=True),
        sa.Column("host_id", sa.Integer(), nullable=True),
        sa.Column("place", sa.JSON(), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.CheckConstraint(
            "status IN ('lobby', 'running', 'paused', 'finished', 'ended')", name=op.f("ck_tables_status")
        ),
        sa.ForeignKeyConstraint(["host_id"], ["people.id"], name=op.f("fk_tables_host_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tables")),
        sa.UniqueConstraint("code", name=op.f("uq_tables_code")),
    )
    op.create_index(op.f("ix_tables_host_id"), "tables", ["host_id"], unique=False)
    op.create_index(op.f("ix_tables_status"), "tables", ["status"], unique=False)
    op.create_table(
        "cards",
        sa.Column("table_id", sa.Integer(), nullable=False),
        sa.Column("slot", sa.String(), nullable=False),
        sa.Column("decision", sa.String(), nullable=True),
        sa.Column("ref", sa.JSON(), nullable=False),
        sa.Column("posted", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["table_id"], ["tables.id"], name=op.f("fk_cards_table_id")),
        sa.PrimaryKeyConstraint("table_id", "slot", name=op.f("pk_cards")),
    )
    op.create_table(
        "heads",
        sa.Column("table_id", sa.Integer(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("stands_at", sa.Integer(), nullable=False),
        sa.Column("state", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["table_id"], ["tables.id"], name=op.f("fk_heads_table_id")),
        sa.PrimaryKeyConstraint("table_id", name=op.f("pk_heads")),
    )
    op.create_table(
        "moves",
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("request", sa.String(), nullable=True),
        sa.Column("seat", sa.Integer(), nullable=True),
        sa.Column("person_id", sa.Integer(), nullable=True),
        sa.Column("transport", sa.String(), nullable=False),
        sa.Column("said", sa.Text(), nullable=False),
        sa.Column("line", sa.Text(), nullable=False),
        sa.Column("events", sa.LargeBinary(), nullable=False),
        sa.Column("decision", sa.String(), nullable=True),
        sa.Column("stands_at", sa.Integer(), nullable=True),
        sa.Column("table_id", sa.Integer(), nullable=False),
        sa.Column("seq", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint(
            "(kind IN ('undo', 'redo')) = (stands_at IS NOT NULL)", name=op.f("ck_moves_stands_at")
        ),
        sa.CheckConstraint("kind IN ('move', 'undo', 'redo', 'replace', 'note')", name=op.f("ck_moves_kind")),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name=op.f("fk_moves_person_id")),
        sa.ForeignKeyConstraint(["table_id"], ["tables.id"], name=op.f("fk_moves_table_id")),
        sa.PrimaryKeyConstraint("table_id", "seq", name=op.f("pk_moves")),
        sa.UniqueConstraint("request", name=op.f("uq_moves_request")),
    )
    op.create_index(op.f("ix_moves_person_id"), "moves", ["person_id"], unique=False)
    op.create_table(
        "seats",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("table_id", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=True),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("joined", sa.BigInteger(), nullable=True),
        sa.Column("left_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name=op.f("fk_seats_person_id")),
        sa.ForeignKeyConstraint(["table_id"], ["tables.id"], name=op.f("fk_seats_table_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_seats")),
    )
    op.create_index(op.f("ix_seats_person_id"), "seats", ["person_id"], unique=False)
    op.create_index(op.f("ix_seats_table_id"), "seats", ["table_id"], unique=False)
    op.create_index(
        "uq_table_id_name_while",
        "seats",
        ["table_id", "name"],
        unique=True,
        sqlite_where=sa.text("left_at IS NULL"),
        postgresql_where=sa.text("left_at IS NULL"),
    )
    op.create_index(
        "uq_table_id_number_while",
        "seats",
        ["table_id", "number"],
        unique=True,
        sqlite_where=sa.text("left_at IS NULL"),
        postgresql_where=sa.text("left_at IS NULL"),
    )
    op.create_table(
        "votes",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("table_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("seat", sa.Integer(), nullable=True),
        sa.Column("subject", sa.JSON(), nullable=False),
        sa.Column("opened", sa.BigInteger(), nullable=False),
        sa.Column("closed", sa.BigInteger(), nullable=True),
        sa.Column("outcome", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(["table_id"], ["tables.id"], name=op.f("fk_votes_table_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_votes")),
    )
    op.create_index(op.f("ix_votes_table_id"), "votes", ["table_id"], unique=False)
    op.create_index(
        "uq_table_id_kind_while",
        "votes",
        ["table_id", "kind"],
        unique=True,
        sqlite_where=sa.text("closed IS NULL"),
        postgresql_where=sa.text("closed IS NULL"),
    )
    op.create_table(
        "voices",
        sa.Column("vote_id", sa.Integer(), nullable=False),
        sa.Column("seat", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("agrees", sa.Boolean(), nullable=True),
        sa.Column("at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["vote_id"], ["votes.id"], name=op.f("fk_voices_vote_id")),
        sa.PrimaryKeyConstraint("vote_id", "seat", name=op.f("pk_voices")),
    )
