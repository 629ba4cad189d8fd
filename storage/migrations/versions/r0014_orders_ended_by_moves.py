"""Which move has ended an order, so that an undo of it restores the order."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    op.add_column("orders", sa.Column("ended_by_move", sa.Integer()))
