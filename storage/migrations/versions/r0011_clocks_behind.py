"""The clocks that are behind their logs are marked, so that nobody looks at all tables to find them."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"

MARK = """
UPDATE table_clocks SET is_stale = true WHERE seq <>
    (SELECT s.seq FROM table_snapshots AS s WHERE s.table_id = table_clocks.table_id)
"""
ADD = """
INSERT INTO table_clocks (table_id, seq, is_stale) SELECT id, -1, true FROM game_tables
WHERE status = 'running' AND id NOT IN (SELECT table_id FROM table_clocks)
"""


def upgrade() -> None:
    op.create_index(
        "ix_table_clocks_stale",
        "table_clocks",
        ["table_id"],
        sqlite_where=sa.text("is_stale"),
        postgresql_where=sa.text("is_stale"),
    )
    op.execute(MARK)
    op.execute(ADD)
