"""The words and phrases by which a reply says yes or no."""

from __future__ import annotations

import re

from mail.reading.line_text import words_of
from mail.reading.small_talk import OK_WORDS

NO_WORDS = frozenset({"no", "n", "nope", "decline", "nein", "non"})
YES_WORDS = frozenset({"yes", "y", "yep", "yeah", "ja", "oui", "si", "sí", "sim", "tak"})
COURTESIES = frozenset("thanks thank you thx ty cheers danke merci sorry".split())
"""They change neither answer."""
_CONSENTS = (
    *OK_WORDS, "sure", "sure thing", "fine", "fine by me", "agree", "agreed", "accept", "vote yes",
    "of course", "absolutely", "definitely", "certainly", "gladly", "with pleasure", "go ahead",
    "i'd love to", "i'm in", "im in", "i am in", "count me in", "deal me in", "bin dabei", "ich bin dabei",
    "looking forward to it",
)  # fmt: skip
"""They agree only where nothing else in the reply says otherwise: `Okay, but I have to pass`."""
_ASIDES = (
    "please", "bitte", "i am", "i am sure", "i'm sure", "i do", "i did", "do it", "do that", "it is",
    "that's it", "that is it", "that's right", "that is right", "that's correct", "that is correct", "right",
    "correct", "exactly", "what i meant", "that's what i meant", "that is what i meant", "for the typo",
    "for the wait", "great", "cool", "nice", "then", "all good", "got it", "sounds good", "sounds good to me",
    "that's fine", "with me", "by me", "for me", "i will", "i'll join", "i'll play", "please do", "gern",
    "gerne", "passt",
)  # fmt: skip
"""Beside `yes` or `okay` they change nothing."""
_AGREES = "|".join((*YES_WORDS, *_CONSENTS))
_AGREEING = re.compile(rf"(?:(?:i|my vote is) )?(?:{_AGREES})(?: (?:i )?(?:{_AGREES}|{'|'.join(_ASIDES)}))*")
DECISIVE = (YES_WORDS | NO_WORDS | OK_WORDS) - {"si", "tak", "y", "n"}
"""Words of an answer that are no name or letter of somebody who is greeted: `Hi, Si!`"""
ANSWERING = YES_WORDS | NO_WORDS | OK_WORDS | COURTESIES | {"sure", *words_of(" ".join(_ASIDES))}


def words_said(text: str) -> list[str]:
    """The words of a text but `thanks` and `sorry`."""
    return [word for word in words_of(text) if word not in COURTESIES]


def agrees_wholly(text: str) -> bool:
    """Whether a text agrees, and says nothing else."""
    return "?" not in text and _AGREEING.fullmatch(" ".join(words_said(text))) is not None


def is_plain_yes(text: str) -> bool:
    """Whether a text says yes, and nothing else but courtesies."""
    return not YES_WORDS.isdisjoint(words_said(text)[:1]) and agrees_wholly(text)
