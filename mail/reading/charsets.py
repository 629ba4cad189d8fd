"""Text in the character sets of emails."""

import codecs

# Mail programs name a charset and send a superset of it; some use names of their own.
_CHARSET_SUPERSETS = {
    "us-ascii": "utf-8",
    "ascii": "utf-8",
    "iso-8859-1": "cp1252",
    "latin-1": "cp1252",
    "latin1": "cp1252",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "ks_c_5601-1987": "cp949",
    "euc-kr": "cp949",
    "shift_jis": "cp932",
    "x-sjis": "cp932",
    "windows-31j": "cp932",
    "iso-2022-jp": "iso2022_jp_ext",
    "iso-8859-8-i": "iso-8859-8",
    "iso-8859-8-e": "iso-8859-8",
    "windows-874": "cp874",
}
_UNSAFE_CHARSETS = frozenset(
    {"idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined", "utf-7"}
)


def decode_text(data: bytes, charset: str) -> str:
    """Decode by the declared charset, else UTF-8, else Windows-1252 with U+FFFD for invalid bytes."""
    name = charset.strip(" '\"").lower()
    for candidate in (_CHARSET_SUPERSETS.get(name, name), "utf-8"):
        try:
            if codecs.lookup(candidate).name.replace("_", "-") not in _UNSAFE_CHARSETS:
                return data.decode(candidate)
        except (LookupError, ValueError):
            continue
    return data.decode("cp1252", "replace")
