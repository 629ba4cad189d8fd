"""Every table: people, game tables, their move logs, polls, the outbox, mail, settings."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "inbound_mail",
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("sha256", sa.String(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("received_at", sa.BigInteger(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("outcome", sa.String(), nullable=True),
        sa.Column("reply", sa.LargeBinary(), nullable=True),
        sa.Column("finished_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_inbound_mail")),
    )
    op.create_table(
        "leases",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("holder", sa.String(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_leases")),
    )
    op.create_table(
        "outbox",
        sa.Column("idempotency_key", sa.String(), nullable=False),
        sa.Column("channel", sa.String(), nullable=False),
        sa.Column("address", sa.JSON(), nullable=False),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.Column("ordering_key", sa.String(), nullable=True),
        sa.Column("collapse_key", sa.String(), nullable=True),
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("not_before", sa.BigInteger(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("lease_expires_at", sa.BigInteger(), nullable=True),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("external_id", sa.String(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("finished_at", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("channel IN ('discord', 'mail')", name=op.f("ck_outbox_channel")),
        sa.CheckConstraint(
            "status IN ('pending', 'sent', 'dead', 'superseded')", name=op.f("ck_outbox_status")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_outbox")),
        sa.UniqueConstraint("idempotency_key", name=op.f("uq_outbox_idempotency_key")),
    )
    op.create_index(
        "ix_outbox_collapse_key",
        "outbox",
        ["collapse_key"],
        unique=False,
        sqlite_where=sa.text("status = 'pending'"),
        postgresql_where=sa.text("status = 'pending'"),
    )
    op.create_index(
        "ix_outbox_due",
        "outbox",
        ["channel", "not_before"],
        unique=False,
        sqlite_where=sa.text("status = 'pending'"),
        postgresql_where=sa.text("status = 'pending'"),
    )
    op.create_index(op.f("ix_outbox_finished_at"), "outbox", ["finished_at"], unique=False)
    op.create_index(
        "ix_outbox_ordering_key",
        "outbox",
        ["ordering_key"],
        unique=False,
        sqlite_where=sa.text("status = 'pending'"),
        postgresql_where=sa.text("status = 'pending'"),
    )
    op.create_table(
        "people",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("language", sa.String(), nullable=True),
        sa.Column("time_zone", sa.String(), nullable=True),
        sa.Column("preferences", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_people")),
    )
    op.create_table(
        "request_results",
        sa.Column("request_id", sa.String(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("request_id", name=op.f("pk_request_results")),
    )
    op.create_index(op.f("ix_request_results_created_at"), "request_results", ["created_at"], unique=False)
    op.create_table(
        "settings",
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_settings")),
    )
    op.create_table(
        "address_claims",
        sa.Column("code_hash", sa.String(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("address", sa.String(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name=op.f("fk_address_claims_person_id")),
        sa.PrimaryKeyConstraint("code_hash", name=op.f("pk_address_claims")),
    )
    op.create_index(op.f("ix_address_claims_person_id"), "address_claims", ["person_id"], unique=False)
    op.create_table(
        "game_tables",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("code", sa.String(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("options", sa.JSON(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=True),
        sa.Column("host_id", sa.Integer(), nullable=True),
        sa.Column("location", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint(
            "status IN ('lobby', 'running', 'paused', 'finished', 'ended')",
            name=op.f("ck_game_tables_status"),
        ),
        sa.ForeignKeyConstraint(["host_id"], ["people.id"], name=op.f("fk_game_tables_host_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_game_tables")),
        sa.UniqueConstraint("code", name=op.f("uq_game_tables_code")),
    )
    op.create_index(op.f("ix_game_tables_host_id"), "game_tables", ["host_id"], unique=False)
    op.create_index(op.f("ix_game_tables_status"), "game_tables", ["status"], unique=False)
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
        "cards",
        sa.Column("table_id", sa.Integer(), nullable=False),
        sa.Column("slot", sa.String(), nullable=False),
        sa.Column("decision_id", sa.String(), nullable=True),
        sa.Column("message_ref", sa.JSON(), nullable=False),
        sa.Column("posted_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["table_id"], ["game_tables.id"], name=op.f("fk_cards_table_id")),
        sa.PrimaryKeyConstraint("table_id", "slot", name=op.f("pk_cards")),
    )
    op.create_table(
        "mail_tokens",
        sa.Column("token_hash", sa.String(), nullable=False),
        sa.Column("purpose", sa.String(), nullable=False),
        sa.Column("table_id", sa.Integer(), nullable=True),
        sa.Column("seat", sa.Integer(), nullable=True),
        sa.Column("person_id", sa.Integer(), nullable=True),
        sa.Column("decision_id", sa.String(), nullable=True),
        sa.Column("address", sa.String(), nullable=True),
        sa.Column("message_id", sa.String(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=True),
        sa.Column("revoked_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name=op.f("fk_mail_tokens_person_id")),
        sa.ForeignKeyConstraint(["table_id"], ["game_tables.id"], name=op.f("fk_mail_tokens_table_id")),
        sa.PrimaryKeyConstraint("token_hash", name=op.f("pk_mail_tokens")),
        sa.UniqueConstraint("message_id", name=op.f("uq_mail_tokens_message_id")),
    )
    op.create_index(op.f("ix_mail_tokens_expires_at"), "mail_tokens", ["expires_at"], unique=False)
    op.create_index(op.f("ix_mail_tokens_person_id"), "mail_tokens", ["person_id"], unique=False)
    op.create_index("ix_mail_tokens_seat", "mail_tokens", ["table_id", "seat"], unique=False)
    op.create_table(
        "moves",
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("request_id", sa.String(), nullable=True),
        sa.Column("seat", sa.Integer(), nullable=True),
        sa.Column("person_id", sa.Integer(), nullable=True),
        sa.Column("transport", sa.String(), nullable=False),
        sa.Column("raw_line", sa.Text(), nullable=False),
        sa.Column("line", sa.Text(), nullable=False),
        sa.Column("events", sa.LargeBinary(), nullable=False),
        sa.Column("decision_id", sa.String(), nullable=True),
        sa.Column("rewinds_to", sa.Integer(), nullable=True),
        sa.Column("table_id", sa.Integer(), nullable=False),
        sa.Column("seq", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint(
            "(kind IN ('undo', 'redo')) = (rewinds_to IS NOT NULL)", name=op.f("ck_moves_rewinds_to")
        ),
        sa.CheckConstraint("kind IN ('move', 'undo', 'redo', 'replace', 'note')", name=op.f("ck_moves_kind")),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name=op.f("fk_moves_person_id")),
        sa.ForeignKeyConstraint(["table_id"], ["game_tables.id"], name=op.f("fk_moves_table_id")),
        sa.PrimaryKeyConstraint("table_id", "seq", name=op.f("pk_moves")),
        sa.UniqueConstraint("request_id", name=op.f("uq_moves_request_id")),
    )
    op.create_index(op.f("ix_moves_person_id"), "moves", ["person_id"], unique=False)
    op.create_table(
        "polls",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("table_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("proposer_seat", sa.Integer(), nullable=True),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.Column("opened_at", sa.BigInteger(), nullable=False),
        sa.Column("closed_at", sa.BigInteger(), nullable=True),
        sa.Column("outcome", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(["table_id"], ["game_tables.id"], name=op.f("fk_polls_table_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_polls")),
    )
    op.create_index(op.f("ix_polls_table_id"), "polls", ["table_id"], unique=False)
    op.create_index(
        "uq_table_id_kind_where",
        "polls",
        ["table_id", "kind"],
        unique=True,
        sqlite_where=sa.text("closed_at IS NULL"),
        postgresql_where=sa.text("closed_at IS NULL"),
    )
    op.create_table(
        "seats",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("table_id", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=True),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("joined_at", sa.BigInteger(), nullable=True),
        sa.Column("left_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name=op.f("fk_seats_person_id")),
        sa.ForeignKeyConstraint(["table_id"], ["game_tables.id"], name=op.f("fk_seats_table_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_seats")),
    )
    op.create_index(op.f("ix_seats_person_id"), "seats", ["person_id"], unique=False)
    op.create_index(op.f("ix_seats_table_id"), "seats", ["table_id"], unique=False)
    op.create_index(
        "uq_table_id_name_where",
        "seats",
        ["table_id", "name"],
        unique=True,
        sqlite_where=sa.text("left_at IS NULL"),
        postgresql_where=sa.text("left_at IS NULL"),
    )
    op.create_index(
        "uq_table_id_number_where",
        "seats",
        ["table_id", "number"],
        unique=True,
        sqlite_where=sa.text("left_at IS NULL"),
        postgresql_where=sa.text("left_at IS NULL"),
    )
    op.create_table(
        "table_snapshots",
        sa.Column("table_id", sa.Integer(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("current_move", sa.Integer(), nullable=False),
        sa.Column("state", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["table_id"], ["game_tables.id"], name=op.f("fk_table_snapshots_table_id")),
        sa.PrimaryKeyConstraint("table_id", name=op.f("pk_table_snapshots")),
    )
    op.create_table(
        "votes",
        sa.Column("poll_id", sa.Integer(), nullable=False),
        sa.Column("seat", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("agrees", sa.Boolean(), nullable=True),
        sa.Column("voted_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["poll_id"], ["polls.id"], name=op.f("fk_votes_poll_id")),
        sa.PrimaryKeyConstraint("poll_id", "seat", name=op.f("pk_votes")),
    )
