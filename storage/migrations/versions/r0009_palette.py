"""Tables have the palette of their pictures."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.add_column("game_tables", sa.Column("palette", sa.String(), nullable=False, server_default="light"))
