"""What makes a reply unclear: lines that are nearly moves, and prose that may take a move back. Pure.

A move is played only if the whole reply leaves no doubt that it is meant. Two questions are asked here of
a line that the game cannot read: is it nearly a move (`nearly_move`), does it qualify the move that it stands
beside (`qualifies`). `mail.reading.small_talk` says which prose is certainly harmless.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cache, cached_property

from mail.reading.line_text import (
    DOUBTFUL_PICTOGRAPHS,
    comment_of,
    first_word,
    without_courtesies,
    words_of,
)

SIMILAR = 0.8  # the ratio of equal characters from which two lines are alike
MAX_COMPARED = 48  # characters of a line that is compared with legal lines
MAX_SENTENCE = 80  # characters of a sentence that may speak of a legal line


@dataclass(frozen=True)
class Vocabulary:
    """What the writer of a reply can say at their table now.

    verbs: the first words of all lines that can be sent, in lower case. game_verbs: those of them that make
    moves. symbols: what companies and privates are called. legal_lines: what is legal now. names: the
    writer's own names, in lower case. offered: lists the lines that an email offers now, with our comments on
    them; asked only of a line with a comment. similar: the legal lines of which a sentence may speak.
    """

    verbs: frozenset[str]
    game_verbs: frozenset[str] = frozenset()
    symbols: frozenset[str] = frozenset()
    legal_lines: tuple[str, ...] = ()
    names: frozenset[str] = field(default=frozenset())
    offered: Callable[[], Sequence[str]] = tuple
    similar: Callable[[str], Sequence[str]] = lambda _: ()

    def has_our_comment(self, line: str) -> bool:
        """Whether the comment on a line is ours, copied from an email: the move may be changed, as an amount
        above the least is, and a mail program may have cut the comment."""
        verb, comment = first_word(line), comment_of(line)
        return bool(comment) and any(
            first_word(offered) == verb and comment_of(offered).startswith(comment)
            for offered in self._offered_lines
        )

    @cached_property
    def _offered_lines(self) -> tuple[str, ...]:
        return tuple(self.offered())

    @cached_property
    def lower_symbols(self) -> frozenset[str]:
        return frozenset(symbol.casefold() for symbol in self.symbols)

    @cached_property
    def inflected_verbs(self) -> frozenset[str]:
        """The game's verbs as they stand in prose: `passes`, `selling`."""
        return frozenset(form for verb in self.game_verbs for form in _inflections(verb))

    @cached_property
    def lower_legal_lines(self) -> dict[str, str]:
        return {line.partition("#")[0].strip().casefold(): line for line in self.legal_lines}

    @cached_property
    def short_legal_lines(self) -> frozenset[str]:
        """The legal lines of one word, and those which are so often legal that a typo in them is meant."""
        own = {line for line in self.lower_legal_lines if " " not in line}
        return frozenset(own | ({"pass", "undo"} & self.verbs))


def _inflections(verb: str) -> tuple[str, ...]:
    doubled = verb + verb[-1]
    return (verb, f"{verb}s", f"{verb}es", f"{verb}ed", f"{verb}ing", f"{doubled}ing")


# --- nearly a move ---

# Given names one letter away from a move; as the last line of an email they are signatures.
_NAMES_LIKE_ORDERS = frozenset(
    """
    ray kay jay may fay pat pam paz pai paj ron jun rune rui don dona dane dong dene doni cass tass bass hugo
    """.split()
)
_IDIOMS = re.compile(
    r"\b(?:well done|nicely done|(?:good|nice|great|long|lucky|what a) run|pay attention|pass(?:ed)? away"
    r"|sell out|can'?t wait|cannot wait|(?:for|sorry) the wait|don'?t (?:worry|mind|panic|forget)"
    r"|see (?:you|ya) (?:later|soon|tonight|tomorrow)|no (?:hurry|rush|worries|problem|stress|objections?)"
    r"|(?:thanks|thank you|thx|well played|congrat\w*|good luck|see (?:you|ya))(?: again)? (?:for|on|in|at)"
    r" (?:the|our|your|that) other (?:game|table))\b",
    re.IGNORECASE,
)
_SPEAKING_OF_ONESELF = frozenset(
    """
    i i'll ill i'm im i'd we we'll let let's lets me my don't dont do not no then also will would can instead
    just ich wir mich nicht je nous yo no io ik jag
    """.split()
)
_ALIKE_TO_MOVES = frozenset({"undo", "redo", "resign", "accept", "decline", "auto"})
"""Words of commands that begin lines beside moves, and seldom prose of a few words."""
_HEX = re.compile(r"[a-z]{1,2}\d{1,2}")
_NUMBER = re.compile(r"\d+")
_WISH = re.compile(r"\b(?:i|we) (?:would|should) like to\b", re.IGNORECASE)


def without_idioms(line: str) -> str:
    """A line without phrases that have a verb of the game in them and no move: `Nice run!`."""
    return _IDIOMS.sub(" ", line)


def nearly_move(line: str, vocabulary: Vocabulary, *, may_be_name: bool = False) -> bool:
    """Whether a line that the game cannot read is nearly a move, or speaks of making a move.

    may_be_name: it stands where a signature stands.
    """
    plain = without_idioms(line)
    words = words_of(plain)
    if not words or set(words) <= vocabulary.names:
        return False
    if words[0] in vocabulary.game_verbs:
        return True
    if len(words) <= 3 and words[0] in vocabulary.verbs & _ALIKE_TO_MOVES:
        return True
    has_verb = any(word in vocabulary.inflected_verbs for word in words)
    if has_verb and (len(words) <= 3 or not _SPEAKING_OF_ONESELF.isdisjoint(words)):
        return True
    if has_verb and any(_is_piece(word, vocabulary) for word in words):
        return True
    if len(words) <= 3 and any(symbol in plain.split() for symbol in vocabulary.symbols):
        return True
    if len(words) == 1:
        return _is_misspelt_word(words[0], vocabulary) and not (
            may_be_name and words[0] in _NAMES_LIKE_ORDERS
        )
    first_is_near = any(_is_one_typo(words[0], verb) for verb in vocabulary.game_verbs)
    if first_is_near and len(words) <= 6 and any(_is_piece(word, vocabulary) for word in words[1:]):
        return True
    return nearest_line(line, vocabulary, SIMILAR) is not None


def _is_piece(word: str, vocabulary: Vocabulary) -> bool:
    return word in vocabulary.lower_symbols or word.isdecimal() or _HEX.fullmatch(word) is not None


def _is_misspelt_word(word: str, vocabulary: Vocabulary) -> bool:
    return len(word) >= 3 and any(_is_one_typo(word, line) for line in vocabulary.short_legal_lines)


def _is_one_typo(a: str, b: str) -> bool:
    """Whether one letter is missing, added or wrong, or two neighbours are swapped; in words of 3 letters or
    more.
    """
    if a == b or min(len(a), len(b)) < 2 or max(len(a), len(b)) < 3 or abs(len(a) - len(b)) > 1:
        return False
    at = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    if len(a) == len(b):
        swapped = a[at : at + 2] == b[at : at + 2][::-1] and a[at + 2 :] == b[at + 2 :]
        return swapped or a[at + 1 :] == b[at + 1 :]
    longer, shorter = (a, b) if len(a) > len(b) else (b, a)
    return longer[at + 1 :] == shorter[at:]


def nearest_line(line: str, vocabulary: Vocabulary, cutoff: float) -> str | None:
    """The legal line most like this one, or the one that it holds; None below the cutoff, or where two are
    equally like it. A line about a company or a private is like none about another, and one with a number is
    like none without it: `bidd CS 300` does not mean `bid CS 45`.
    """
    bare = without_courtesies(line.rstrip("?!"), vocabulary.verbs)
    text = " ".join(bare.casefold().replace("$", "").replace(",", " ").split())
    held = [lower for lower in vocabulary.lower_legal_lines if f" {lower} " in f" {text} "]
    longest = max(held, key=len, default="")
    if not all(f" {lower} " in f" {longest} " for lower in held):
        return None  # two moves in one line
    if held and not DOUBTING.search(text):
        return vocabulary.lower_legal_lines[longest].partition("#")[0].strip()
    if not 2 < len(text) <= MAX_COMPARED:
        return None
    named = vocabulary.lower_symbols.intersection(text.split())
    numbers = set(_NUMBER.findall(text))
    matcher = SequenceMatcher(b=text, autojunk=False)
    scores: list[tuple[float, str]] = []
    for lower, legal in vocabulary.lower_legal_lines.items():
        if abs(len(lower) - len(text)) > 8 or not named.issubset(lower.split()):
            continue
        if not numbers.issubset(_NUMBER.findall(lower)):
            continue
        matcher.set_seq1(lower)
        if min(matcher.real_quick_ratio(), matcher.quick_ratio(), ratio := matcher.ratio()) >= cutoff:
            scores.append((ratio, legal))
    scores.sort(reverse=True)
    if not scores or (len(scores) > 1 and scores[0][0] - scores[1][0] < 0.02):
        return None
    return scores[0][1].partition("#")[0].strip()


def line_of_sentence(sentence: str, vocabulary: Vocabulary) -> str | None:
    """The one legal line of which a sentence speaks, with the same numbers: `bid CS 50` of *I would like to
    bid $50 for the CS*. None where its writer doubts, or speaks of somebody else.
    """
    words = words_of(sentence)
    speaks_of_oneself = words[0] in vocabulary.game_verbs or not _SPEAKING_OF_ONESELF.isdisjoint(words)
    plain = _WISH.sub(" ", sentence)
    is_in_doubt = qualifies(plain) or DECIDING.search(plain) is not None
    if not speaks_of_oneself or len(sentence) > MAX_SENTENCE or is_in_doubt:
        return None
    found = vocabulary.similar(sentence)
    others = vocabulary.game_verbs.intersection(words) - set(map(first_word, found))
    if len(found) != 1 or others or sorted(_NUMBER.findall(found[0])) != sorted(_NUMBER.findall(sentence)):
        return None
    return found[0]


# --- prose that qualifies moves ---


@cache
def word_pattern(text: str) -> re.Pattern[str]:
    words = "|".join(re.escape(word.strip()) for word in text.strip().split("|"))
    return re.compile(rf"(?<![^\W_])(?:{words})(?![^\W_])", re.IGNORECASE)


_RETRACTING = word_pattern(
    """
    cancel|ignore|scratch that|scrap that|forget it|forget that|hold that|actually no|a mistake|nonsense|draft
    |wrong game|wrong table|other game|other table|to be confirmed|april fool|disregard|never mind|nevermind
    |changed my mind|second thought|second thoughts|correction
    |oops|my mistake|typo|kidding|joking|jk|just a test|just testing|only a test|hypothetically
    |not yet|hold on|hold off|instead|undecided|unsure|not sure|retract|take that back|take it back
    |do not play|don't play|don't do|do not do|not meant|no wait|please wait|wait a|wait for|wait until
    |wait till|wait with|stopp|ignorier|ignoriere|vergiss|doch nicht|lieber nicht|stattdessen|storno
    |noch nicht|moment mal|annule|pas encore|attends|plutôt|espera|todavía no|aspetta|non ancora|wacht even
    |nog niet|toch niet
    """.replace("\n    ", " ")
)
DOUBTING = word_pattern(
    """
    if|unless|only|but|except|provided|providing|assuming|otherwise|not|don't|dont|never|no|nope|rather|wait|maybe|perhaps
    |probably|or|either|should|would|could|might|until|till|before|after|when|once|while|actually|sorry|think|thinking|guess
    |what|which|how|why|whether|suppose|imagine|said|says|wrote|told|suggests|suggested|wenn|falls|nur|aber|außer|ausser|oder
    |vielleicht|nicht|kein|keine|nein|erst|sobald|bevor|doch|lieber|statt|sonst|si|sauf|mais|ou|peut-être|pas|non|seulement
    |sino|pero|quizás|sólo|se|ma|forse|oppure|solo|als|tenzij|maar|misschien|niet|geen
    """.replace("\n    ", " ")
)
DECIDING = word_pattern(
    """
    think|thinking|thought|thoughts|consider|considering|decide|decided|deciding|decision|sleep on|sleep over
    |ponder|check|checking|confirm|confirmed|certain|final|finally|real|really|wrong|error|mistaken|meant|mean|means|move|moves|answer
    |order|orders|action|choice|change|changes|changing|revise|correct|corrected|undo|edit|update|draft|joke|prank|table
    |yet|still|later|tonight|tomorrow|first|soon|depends|waiting|let me|let's|not|don't|dont|doesn't|didn't
    |can't|cannot|won't|if|unless|until|till|maybe|perhaps|probably|might|could|should|would|will decide
    |will send|will see|ask|asking|asked|wonder|wondering|hesitate|hesitating|regret|sorry about|clicked
    |pressed|accident|accidentally|hmm|uh|er|nein|nicht|kein|wenn|falls|erst|überlege|überlegen|überleg
    |entscheide|entscheiden|entscheidung|morgen|später|heute abend|falsch|falsches|falscher|fehler|versehen
    |eigentlich|vielleicht|zug|prüfen|noch|pas|demain|erreur|réfléchir|décider|peut-être|no era|mañana|luego
    |error|pensar|decidir|quizás|sbagliato|domani|forse|pensare|morgen|misschien|fout|nog
    """.replace("\n    ", "")
)
_ONESELF = word_pattern("i|i'll|i'd|i'm|i've|ill|im|me|my|we|let me|p.s|ps|ich|mein|meine|je|yo|io|ik")
CONNECTING = frozenset(
    """
    if unless only but except provided providing assuming otherwise or not no nope and then until till before
    after when once while though although however rather maybe perhaps wait stop wenn falls nur aber außer
    ausser oder nicht nein und dann erst sobald bevor doch lieber sonst si sauf mais ou non et puis pero sino
    o y solo sólo ma se oppure e als tenzij maar en of
    """.split()
)
REFERRING = frozenset(
    """
    all both two three four five half each every it them this that these those one ones from in at for to
    with up maximum minimum least most more less plus minus again twice same next last first later
    tomorrow tonight soon a an the as by into on alle beide das die der den dem es vom aus bis für mit tous
    toutes les le la de pour avec todo todas el con
    """.split()
)
_FOOTER = re.compile(
    r"\b(?:intended recipient|confidential|confidentiality|privileged|disclaimer|virus|virus-free|avast"
    r"|vertraulich\w*|confidentiel(?:le)?s?|confidencial(?:es)?|riservat[oie]|vertrouwelijk|poufn\w+"
    r"|empfänger|unsubscribe|this e-?mail|diese e-?mail|printing|scanned|registered (?:in|office)"
    r"|amtsgericht|geschäftsführer|learn why this is important|groups\.io links)\b",
    re.IGNORECASE,
)


def retracts(line: str) -> bool:
    """Whether prose may take a move back: `scratch that`, `on second thought`, `🤔`."""
    return not DOUBTFUL_PICTOGRAPHS.isdisjoint(line) or _RETRACTING.search(without_idioms(line)) is not None


def qualifies(line: str) -> bool:
    """Whether prose right beside a move may qualify it: `only if Bob sells`."""
    return "?" in line or DOUBTING.search(without_idioms(line)) is not None or retracts(line)


def starts_as_condition(line: str) -> bool:
    """Whether a line goes on where a move ends: `unless Bob bids`, `or pass`."""
    words = words_of(without_idioms(line))
    return bool(words) and words[0] in CONNECTING


def decides_in_signature(line: str) -> bool:
    """Whether a line below a closing or a signature is none, and goes on about the orders: `P.S. Let me
    check`.
    """
    plain = without_idioms(line)
    is_in_doubt = DECIDING.search(plain) is not None or DOUBTING.search(plain) is not None
    return retracts(line) or (is_in_doubt and _ONESELF.search(plain) is not None)


def is_mail_footer(line: str) -> bool:
    """Whether a line belongs to a disclaimer or an advertisement that a mail system adds."""
    return _FOOTER.search(line) is not None
