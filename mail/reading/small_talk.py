"""Prose of a reply that is certainly not about its moves: greetings, closings, signatures. Pure."""

import re
from collections.abc import Collection, Sequence

from mail.reading.line_text import first_word, words_of
from mail.reading.unclear_lines import (
    CONNECTING,
    DECIDING,
    DOUBTING,
    REFERRING,
    Vocabulary,
    decides_in_signature,
    retracts,
    without_idioms,
    word_pattern,
)
from mail.reading.word_lists import GIVEN_NAMES, RETRACTION_WORDS

_GREETING = re.compile(
    r"(?:hi|hello|hey|dear|hiya|howdy|greetings|gents|folks|good (?:morning|evening|afternoon|day)|hallo"
    r"|moin|servus|coucou|grüezi|grüß gott|tach|guten (?:tag|morgen|abend)|liebe[rs]?|bonjour|salut|bonsoir"
    r"|hola|buenas(?: tardes| noches)?|buenos días|ciao|buongiorno|buonasera|hei|hej|hoi|dag|goedemorgen"
    r"|beste|ahoj|dobrý (?:den|večer)|cześć|dzień dobry|olá|bom dia|boa (?:tarde|noite)|merhaba|selam|moi"
    r"|terve|szia|sziasztok|bună|zdravo|bok|привет|здравствуйте|добрый (?:день|вечер)|доброе утро|γεια)"
    r"\b(?P<whom>[^?:]{0,40}):?"
    r"|(?:こんにちは|こんばんは|おはよう\w*|你好|您好|大家好|안녕하세요)\W{0,3}"
    r"|(?:morning|afternoon|evening)(?:,? (?:all|everyone|everybody|folks|gents|guys|team))?",
    re.IGNORECASE,
)
_INTRODUCTION = re.compile(
    r"(?:(?:and )?(?:here(?:'s| is| are| come| comes) )?(?:my (?:next )?)?(?:moves?|orders?|turn|actions?)"
    r"|next (?:moves?|orders?|actions?) ?:"
    r"|here goes!?|here we go|here it is"
    r"|ok|okay|mein zug|meine züge|hier mein zug|mon coup) ?[:.,!-]?",
    re.IGNORECASE,
)
_CLOSING = re.compile(
    r"(?:with (?=(?:\w+ )?(?:thanks$|regards\b|wishes\b|greetings\b)))?"
    r"(?:many |kind |best |warm |kindest |warmest )*(?:thanks|thank you|thx|ty|tia|cheers"
    r"|regards|best|rgds|br|yours|sincerely"
    r"|all the best|take care|bye"
    r"|(?:talk|speak) (?:soon|later|to you (?:soon|later))|see you|see ya|cu|good luck|good game|gg|have fun"
    r"|have a \w+ \w+"
    r"|gl|glhf|hf|enjoy"
    r"|happy \w+|well (?:done|played)|nice \w+|congrat\w*|mfg|mit (?:freundlichen|besten|lieben) gr(?:ü"
    r"|ue)(?:ß|ss)en"
    r"|(?:freundliche|viele|liebe|beste|schöne|herzliche) gr(?:ü|ue)(?:ß|ss)e|lg|vg|gr(?:u|ü|ue)(?:ß|ss)e?"
    r"|danke|vielen dank"
    r"|tschüss|bis bald|cordialement|bien à (?:vous|toi)|bien cordialement|bonne (?:journée|soirée)"
    r"|frohe[ns]? (?:weihnacht\w*|ostern|pfingsten|fest\w*|neues)|guten rutsch|joyeux (?:noël|anniversaire)"
    r"|joyeuses (?:fêtes|pâques)|bonne année|feliz (?:navidad|año|natal|páscoa|cumpleaños)|felices fiestas"
    r"|buon (?:natale|anno|compleanno)|buon[ae] (?:feste|pasqua|giornata|serata|fortuna)"
    r"|amicalement|merci|à bientôt|saludos|un (?:saludo|abrazo)|atentamente|gracias|cordiali saluti|saluti"
    r"|grazie|a presto|met vriendelijke groet(?:en)?"
    r"|mvg|groet(?:en|jes)?"
    r"|bedankt|med vänliga? hälsning(?:ar)?|mvh|(?:med )?(?:venn?lig|kærlig) hilsen|hilsen|tack"
    r"|(?:serdecznie )?pozdrawiam|pozdrowienia|dziękuję"
    r"|s pozdravem|děkuji|díky|terveisin|kiitos|üdv|üdvözlettel|köszönöm|mulțumesc|hvala|teşekkürler|sevgiler"
    r"|с уважением|спасибо|с наилучшими пожеланиями|ευχαριστώ|χαιρετισμούς"
    r"|감사합니다|ありがとう\w*|よろしく\w*|谢谢|謝謝|atenciosamente|abraços?|obrigado)(?![^\W_])[^?:]{0,60}",
    re.IGNORECASE,
)
_SHORT_CLOSING = re.compile(
    r"(?:bis (?:dann|später|morgen|nachher|die tage)|à (?:plus|demain|tout à l'heure)|à ?\+|a\+|tschau|tschö"
    r"|bises|bisous)"
    r"(?:[, ]{1,2}[A-Z]\w{1,20}){0,2}"
)
_CONTACT = re.compile(
    r"(?:https?://|www\.|\S@\S|\b(?:tel|fax|phone|mobile|mob|cell|mobil|telefon|handy)\b ?[.:]"
    r"|\b(?:skype|web|e-?mail)\b ?[.:]|(?:\d[ ()/.-]{0,2}){6})",
    re.IGNORECASE,
)
_INITIALS = re.compile(r"[-~/ ]{0,3}(?:[A-Z]\.?[ -]?){1,3}")
_INITIALS_FIRST = re.compile(r"^(?:i\. ?[AV]\.|ppa\.) ?|(?:[A-Z]\. ?){1,3}")
"""Before a name: `J. R. Ewing`; in German also who signs for a firm: `i. A. Ann Lee`."""
_OTHER_SCRIPT = re.compile(r"[^\W\d_\u0000-\u024f\u1e00-\u1eff]")
_TITLES = frozenset("dr prof mr mrs ms herr frau ing dipl mag sir".split())
_PARTICLES = frozenset(
    "von van de der den del da di du la le of and & und et y e the for zu zur to at in für".split()
)

OK_WORDS = frozenset({"ok", "okay"})
"""They agree, or announce what follows."""


def is_greeting(line: str) -> bool:
    """Whether a line greets, or announces the orders: `Hi Bob,`, `Here is my move:`."""
    match = _GREETING.fullmatch(line.strip(" !.,"))
    if match and not retracts(line):
        whom = match["whom"] or ""
        return RETRACTION_WORDS.isdisjoint(words_of(whom)) and not (
            DECIDING.search(whom) or DOUBTING.search(whom)
        )
    return _INTRODUCTION.fullmatch(line.strip()) is not None


def greets(line: str) -> bool:
    """Whether a line greets, and is no `okay`, which may be an answer."""
    return is_greeting(line) and first_word(line) not in OK_WORDS


def is_closing(line: str) -> bool:
    """Whether a line closes an email: `Cheers, Bob`, `Mit freundlichen Grüßen`."""
    plain = without_idioms(line)
    if _SHORT_CLOSING.fullmatch(line[:1].lower() + line[1:].strip(" !.,-")):
        return True
    match = _CLOSING.fullmatch(line.strip(" !.,-"))
    return match is not None and not (DECIDING.search(plain) or DOUBTING.search(plain) or retracts(plain))


def is_friendly(line: str) -> bool:
    """Whether a line greets or closes."""
    return is_greeting(line) or is_closing(line)


def is_signature_like(line: str, names: frozenset[str], in_signature: bool = False) -> bool:
    """Whether a line below moves begins a signature: a name, a phone number; below one, a company, an
    address. names: the writer's own.
    """
    words = words_of(line)
    if retracts(line):
        return False
    if not words:
        return "?" not in line
    if set(words) <= set(names) or _CONTACT.search(line):
        return True
    if _INITIALS.fullmatch(line):
        return words[0][0] in {name[0] for name in names}
    if not RETRACTION_WORDS.isdisjoint(words):
        return False
    if _OTHER_SCRIPT.search(line):
        return in_signature and len(words) <= 3  # elsewhere only names that we know
    bare = _INITIALS_FIRST.sub("", line)
    named = [word for word in words_of(bare) if word not in _TITLES][:1]
    if "?" in line or not named or named[0] in CONNECTING | REFERRING or len(words) > 8:
        return False
    is_known = not names.isdisjoint(words)
    if not (in_signature or is_known or (_may_be_name(named[0], names) and not DECIDING.search(line))):
        return False
    if DOUBTING.search(line) or (any(char.isdigit() for char in line) and not in_signature):
        return False
    return all(
        word[:1].isupper() or word.casefold() in _PARTICLES
        for word in re.findall(r"[^\W\d_][^\s,/|-]*", bare)
    )


def _may_be_name(word: str, names: Collection[str]) -> bool:
    """Whether a word is a given name, or begins as one of the writer's own names does."""
    return word in GIVEN_NAMES or (len(word) >= 3 and any(name[:3] == word[:3] for name in names))


# --- paragraphs without moves ---

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_ABOUT_MONEY = word_pattern(
    "price|prices|money|cash|expensive|cheap|cheaper|afford|cost|costs|number|numbers|share|shares"
)
_LIMITING = word_pattern(
    "only|or|rather|unless|except|never|nur|oder|lieber|sauf|seulement|solo|sólo|sino|oppure|alleen"
)
_IMPERATIVES = frozenset(
    "give let ask tell show send take make put use leave hold hang stop forget strike scrap drop".split()
)
_SMALL_TALK = re.compile(
    r"(?:p\.?s\.?:? )?(?:(?:i'm |i am )?sorry (?:for (?:the|my|being)|to keep)|apologies for"
    r"|(?:please )?excuse (?:my|the|any) (?:brevity|short)"
    r"|(?:i )?hope (?:you|everyone|everybody|all|this finds)|well done|nicely (?:done|played)"
    r"|(?:good|nice|great|fun|fine|long|lucky) (?:game|run|round|turn|play|move|one)|looking forward to"
    r"|no (?:hurry|rush|worries|problem|stress)|thanks|thank you|many thanks|see you|welcome back|greetings"
    r"|happy|merry|congrat\w*|good luck|best of luck|have (?:a|fun)|enjoy|safe travels|such a|what a"
    r"|back (?:from|at|in|home)|just back|here we go|my turn (?:already|again)|finally my turn"
    r"|(?:vielen )?dank|danke|viel (?:spaß|glück|erfolg)|schöne[ns]?|tut mir leid|entschuldig\w*|merci"
    r"|désolée?|bonne|gracias|grazie|bedankt|tack)\b",
    re.IGNORECASE,
)


def opens_signature(line: str, vocabulary: Vocabulary) -> bool:
    """Whether what follows a line below the moves is a signature."""
    return is_closing(line) or (bool(vocabulary.names) and set(words_of(line)) <= vocabulary.names)


def is_harmless_paragraph(
    lines: Sequence[str], vocabulary: Vocabulary, in_signature: bool, is_above: bool = False
) -> bool:
    """Whether a paragraph without moves is certainly not about them. lines: with their final dots.
    is_above: it stands above the moves, where nobody signs.

    No list of words can tell that free prose takes nothing back, so only closings, signatures and phrases of
    courtesy pass; below a signature also whole sentences in which nobody decides anything.
    """
    bare = [line.rstrip(".") for line in lines]
    is_signed = in_signature or is_closing(bare[0]) or _is_address(bare, vocabulary.names)
    if not is_above and all(
        is_friendly(line) or _is_signature_line(line, vocabulary, is_signed) for line in bare
    ):
        return True
    sentences = _SENTENCE_END.split(" ".join(lines).strip())
    return all(_is_harmless_sentence(each, vocabulary, in_signature) for each in sentences if each)


def _is_address(lines: Sequence[str], names: frozenset[str]) -> bool:
    """Whether lines are the writer's full name and an address, with numbers of house and phone."""
    words = [word for word in words_of(lines[0]) if word not in _TITLES]
    return len(words) > 1 and set(words) <= names and any(re.search(r"\d", line) for line in lines[1:])


def _is_signature_line(line: str, vocabulary: Vocabulary, in_signature: bool) -> bool:
    words = words_of(line)
    if (
        line.endswith(":")
        or not RETRACTION_WORDS.isdisjoint(words)
        or (len(words) == 1 and line.endswith("!"))
    ):
        return bool(words) and set(words) <= vocabulary.names
    return is_signature_like(line, vocabulary.names, in_signature)


def _is_harmless_sentence(sentence: str, vocabulary: Vocabulary, in_signature: bool) -> bool:
    words = words_of(sentence)
    if "?" in sentence or retracts(sentence):
        return False
    if is_friendly(sentence) or set(words) <= vocabulary.names:
        return True
    plain = without_idioms(sentence)
    named = {word.strip(".,:;!()") for word in plain.split()}
    if not vocabulary.symbols.isdisjoint(named):
        return False
    if in_signature and len(words) > 5:
        return words[0] not in _IMPERATIVES and not decides_in_signature(sentence)
    if not _SMALL_TALK.match(sentence):
        return False
    doubts = (DECIDING, _LIMITING, _ABOUT_MONEY)
    return not (any(doubt.search(plain) for doubt in doubts) or any(map(str.isdigit, plain)))
