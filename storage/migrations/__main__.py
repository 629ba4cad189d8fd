"""Draft the next revision: `python -m storage.migrations "what changes"`."""

import sys

from alembic import command
from sqlalchemy import create_engine

from storage.migrations import alembic_config, migrate, revisions


def draft_revision(message: str) -> None:
    """Write the next revision: the difference between the models and the revisions so far."""
    with create_engine("sqlite://").connect() as connection:
        if revisions():
            migrate(connection)
        with connection.begin():
            config = alembic_config()
            config.attributes["connection"] = connection
            config.set_main_option("file_template", "r%%(rev)s_%%(slug)s")
            command.revision(config, message, autogenerate=True, rev_id=f"{len(revisions()) + 1:04}")


if __name__ == "__main__":
    draft_revision(" ".join(sys.argv[1:]) or sys.exit("Say what changes, in a few words."))
