"""Tables may allow hints."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.add_column("game_tables", sa.Column("hints", sa.Boolean(), nullable=False, server_default=sa.false()))
