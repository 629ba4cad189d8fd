"""The commands that read and write games in files."""
