"""Letters in: claims to addresses, tokens, the ledger."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_table(
        "letters",
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("sha", sa.String(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("received", sa.BigInteger(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("outcome", sa.String(), nullable=True),
        sa.Column("receipt", sa.LargeBinary(), nullable=True),
        sa.Column("settled", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_letters")),
    )
    op.create_table(
        "claims",
        sa.Column("code_hash", sa.String(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("value", sa.String(), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.Column("expires", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name=op.f("fk_claims_person_id")),
        sa.PrimaryKeyConstraint("code_hash", name=op.f("pk_claims")),
    )
    op.create_index(op.f("ix_claims_person_id"), "claims", ["person_id"], unique=False)
    op.create_table(
        "tokens",
        sa.Column("hash", sa.String(), nullable=False),
        sa.Column("purpose", sa.String(), nullable=False),
        sa.Column("table_id", sa.Integer(), nullable=True),
        sa.Column("seat", sa.Integer(), nullable=True),
        sa.Column("person_id", sa.Integer(), nullable=True),
        sa.Column("decision", sa.String(), nullable=True),
        sa.Column("address", sa.String(), nullable=True),
        sa.Column("carrier", sa.String(), nullable=True),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.Column("expires", sa.BigInteger(), nullable=True),
        sa.Column("revoked", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name=op.f("fk_tokens_person_id")),
        sa.ForeignKeyConstraint(["table_id"], ["tables.id"], name=op.f("fk_tokens_table_id")),
        sa.PrimaryKeyConstraint("hash", name=op.f("pk_tokens")),
        sa.UniqueConstraint("carrier", name=op.f("uq_tokens_carrier")),
    )
    op.create_index(op.f("ix_tokens_expires"), "tokens", ["expires"], unique=False)
    op.create_index(op.f("ix_tokens_person_id"), "tokens", ["person_id"], unique=False)
    op.create_index("ix_tokens_seat", "tokens", ["table_id", "seat"], unique=False)
