"""The tables of version 1.0.0, which `storage.migrations.migrate` makes of the models."""

revision = "0016"
down_revision = None


def upgrade() -> None:
    """An empty database gets the tables of today at once, and no store is older."""
