"""Draft the next revision: `python -m storage.migrations "what changes"`."""

import sys

from alembic import command
from sqlalchemy import create_engine

from storage.migrations import alembic_config, migrate, revisions


def draft_revision(message: str) -> None:
    """Write the next revision from what the tables have and the revisions lack."""
    with create_engine("sqlite://").connect() as connection:
        if revisions():
            migrate(connection)
        with connection.begin():
            arranged = alembic_config()
            arranged.attributes["connection"] = connection
            arranged.set_main_option("file_template", "r%%(rev)s_%%(slug)s")
            command.revision(arranged, message, autogenerate=True, rev_id=f"{len(revisions()) + 1:04}")


if __name__ == "__main__":
    draft_revision(" ".join(sys.argv[1:]) or sys.exit("Say in a few words what changes."))
