"""The sentences that players read, one of each form, from whole games: to be read through in a row.

`python -m tests.sentences.make` writes the files anew after a sentence has changed; look at the difference.
"""
