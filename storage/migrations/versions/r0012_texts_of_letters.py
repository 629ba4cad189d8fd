"""Messages of the outbox keep their words after they are sent, so that what comes back is said again."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    op.add_column("outbox", sa.Column("text", sa.Text(), nullable=True))
