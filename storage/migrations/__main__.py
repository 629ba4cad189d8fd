"""Draft the next revision: `python -m storage.migrations STORE "what changes"`."""

import sys

from alembic import command
from sqlalchemy import create_engine

from storage.migrations import alembic_config, revisions


def draft_revision(store: str, message: str) -> None:
    """Write the next revision: the difference between the models and a store of the newest revision."""
    with create_engine(f"sqlite:///{store}").connect() as connection, connection.begin():
        config = alembic_config()
        config.attributes["connection"] = connection
        config.set_main_option("file_template", "r%%(rev)s_%%(slug)s")
        command.revision(config, message, autogenerate=True, rev_id=f"{int(revisions()[-1]) + 1:04}")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit("Name a store of the newest revision, and say what changes, in a few words.")
    draft_revision(sys.argv[1], " ".join(sys.argv[2:]))
