"""Stores and event logs of released versions, which every later version must be able to read.

Each folder is named for the version that wrote it. `python -m tests.golden.make VERSION` writes the folder of
a new version; the folders of old versions are never changed.
"""
