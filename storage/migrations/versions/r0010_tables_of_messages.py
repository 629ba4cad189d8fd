"""Messages of the outbox name the table that they are about."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.add_column("outbox", sa.Column("table_id", sa.Integer(), nullable=True))
