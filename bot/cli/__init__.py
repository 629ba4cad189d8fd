"""Commands on files and tables (import, export, render, replay, review, snapshot), check-mail and status."""
