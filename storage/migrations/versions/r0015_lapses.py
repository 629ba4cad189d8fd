"""How often in a row the time of a player was up."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    op.add_column("seat_clocks", sa.Column("lapses", sa.Integer(), nullable=False, server_default="0"))
