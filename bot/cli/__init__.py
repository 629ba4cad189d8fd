"""Commands on files and tables: import, export, render, replay."""
