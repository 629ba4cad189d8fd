"""A person may have several email addresses: what came back is counted for each."""

import json

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.add_column("identities", sa.Column("preferred_at", sa.BigInteger(), nullable=True))
    op.add_column("identities", sa.Column("fault", sa.Text(), nullable=False, server_default=""))
    op.add_column("identities", sa.Column("bounces", sa.JSON(), nullable=False, server_default="{}"))
    people = sa.table("people", sa.column("id", sa.Integer()), sa.column("preferences", sa.JSON()))
    identities = sa.table(
        "identities",
        sa.column("person_id", sa.Integer()),
        sa.column("kind", sa.String()),
        sa.column("fault", sa.Text()),
        sa.column("bounces", sa.JSON()),
    )
    connection = op.get_bind()
    for person_id, stored in connection.execute(sa.select(people.c.id, people.c.preferences)).all():
        preferences = json.loads(stored) if isinstance(stored, str) else stored
        fault, bounces = preferences.pop("mail_fault", None), preferences.pop("bounces", None)
        if fault or bounces:
            own_email = (identities.c.person_id == person_id, identities.c.kind == "email")
            values = {"fault": fault or "", "bounces": bounces or {}}
            connection.execute(sa.update(identities).where(*own_email).values(**values))
            connection.execute(
                sa.update(people).where(people.c.id == person_id).values(preferences=preferences)
            )
