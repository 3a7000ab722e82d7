"""Bytes into text, whatever charset they claim; never raises, and asks for no codec by a name from a stranger.

`codecs.lookup` would import modules and remember every name it was ever asked for; some codecs are not linear.
"""

from __future__ import annotations

import re
from typing import Final

_WESTERN: Final = "western"
_GUESS: Final = "guess"

# What a label means to mail programs (WHATWG Encoding, section 4.2), which is often more than what its standard says.
_CODECS: Final = {
    "": _GUESS, "ascii": _GUESS, "usascii": _GUESS, "ansix341968": _GUESS, "iso646us": _GUESS, "7bit": _GUESS,
    "8bit": _GUESS, "unknown": _GUESS, "unknown8bit": _GUESS, "xunknown": _GUESS, "binary": _GUESS, "none": _GUESS,
    "iso88591": _WESTERN, "iso885911987": _WESTERN, "latin1": _WESTERN, "l1": _WESTERN, "isolatin1": _WESTERN,
    "88591": _WESTERN, "windows1252": _WESTERN, "cp1252": _WESTERN, "1252": _WESTERN, "xcp1252": _WESTERN,
    "ansi": _WESTERN, "windows": _WESTERN, "westerneurope": _WESTERN,
    "utf8": "utf-8", "unicode11utf8": "utf-8", "xunicode20utf8": "utf-8", "utf8mb4": "utf-8", "utf8n": "utf-8",
    "utf7": "utf-7", "unicode11utf7": "utf-7", "xunicode20utf7": "utf-7",
    "utf16": "utf-16", "utf16le": "utf-16-le", "utf16be": "utf-16-be", "ucs2": "utf-16", "unicode": "utf-16",
    "utf32": "utf-32", "utf32le": "utf-32-le", "utf32be": "utf-32-be",
    "iso88599": "cp1254", "latin5": "cp1254", "iso885911": "cp874", "tis620": "cp874", "windows874": "cp874",
    "iso88598i": "iso8859_8", "iso88598e": "iso8859_8", "iso88596i": "iso8859_6", "iso88596e": "iso8859_6",
    "latin2": "iso8859_2", "latin3": "iso8859_3", "latin4": "iso8859_4", "latin6": "iso8859_10",
    "latin7": "iso8859_13", "latin8": "iso8859_14", "latin9": "iso8859_15", "latin10": "iso8859_16",
    "koi8r": "koi8_r", "koi8": "koi8_r", "koi8u": "koi8_u", "koi8ru": "koi8_u", "koi8t": "koi8_t",
    "macintosh": "mac_roman", "macroman": "mac_roman", "xmacroman": "mac_roman", "mac": "mac_roman",
    "maccyrillic": "mac_cyrillic", "xmaccyrillic": "mac_cyrillic", "macgreek": "mac_greek",
    "macturkish": "mac_turkish", "maccentraleurope": "mac_latin2", "xmaccentraleurroman": "mac_latin2",
    "gb2312": "gb18030", "gb231280": "gb18030", "gbk": "gb18030", "xgbk": "gb18030", "cp936": "gb18030",
    "windows936": "gb18030", "gb18030": "gb18030", "euccn": "gb18030", "hz": "hz", "hzgb2312": "hz",
    "big5": "cp950", "xxbig5": "cp950", "xbig5": "cp950", "cp950": "cp950", "cnbig5": "cp950",
    "big5hkscs": "big5hkscs", "shiftjis": "cp932", "sjis": "cp932", "xsjis": "cp932", "mskanji": "cp932",
    "cp932": "cp932", "windows31j": "cp932", "windows932": "cp932", "eucjp": "euc_jp", "xeucjp": "euc_jp",
    "iso2022jp": "iso2022_jp_ext", "iso2022jp1": "iso2022_jp_1", "iso2022jp2": "iso2022_jp_2",
    "iso2022jpext": "iso2022_jp_ext", "cp50220": "iso2022_jp_ext", "csiso2022jp": "iso2022_jp_ext",
    "iso2022kr": "iso2022_kr", "euckr": "cp949", "ksc5601": "cp949", "ksc56011987": "cp949", "ksc56011989": "cp949",
    "ksc5601992": "cp949", "cp949": "cp949", "uhc": "cp949", "windows949": "cp949", "johab": "johab",
    "dos": "cp437", "ibm437": "cp437", "ibm850": "cp850", "ibm852": "cp852", "ibm855": "cp855", "ibm866": "cp866",
    **{f"iso8859{part}": f"iso8859_{part}" for part in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)},
    **{f"iso8859{part}{year}": f"iso8859_{part}"
       for part, year in ((2, 1987), (3, 1988), (4, 1988), (5, 1988), (6, 1987), (7, 1987), (8, 1988))},
    **{f"{label}{page}": f"cp{page}" for label in ("cp", "windows", "xcp", "")
       for page in (1250, 1251, 1253, 1254, 1255, 1256, 1257, 1258)},
    **{f"cp{page}": f"cp{page}"
       for page in (437, 850, 852, 855, 857, 858, 860, 861, 862, 863, 864, 865, 866, 869, 874)},
    # As nearly every mail writes them: found without a look at their letters.
    "utf-8": "utf-8", "UTF-8": "utf-8", "us-ascii": _GUESS, "US-ASCII": _GUESS, "iso-8859-1": _WESTERN,
    "ISO-8859-1": _WESTERN, "windows-1252": _WESTERN, "Windows-1252": _WESTERN,
}  # fmt: skip

# In these a byte below 0x80 is that letter wherever it stands.
_SIMPLE: Final = frozenset({_GUESS, _WESTERN, "utf-8"})
_BARE_RETURN: Final = re.compile(rb"\r(?!\n)")
_CONTROLS: Final = re.compile("[\x80-\x9f]")
# Windows-1252 where it says something; the five bytes it leaves open stay controls.
_C1: Final = {
    code: char for code in range(0x80, 0xA0) if (char := bytes([code]).decode("cp1252", "replace")) != "\ufffd"
}
_MARKS: Final = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
_ANY_MARK: Final = tuple([mark for mark, _ in _MARKS])
_PUNCTUATION: Final = str.maketrans("", "", " \t-_.:;,'\"()/+*")


def codec_of(label: str) -> str | None:
    """Give the codec a label stands for; none where it is not known."""
    known = _CODECS.get(label)
    if known is None and len(label) <= 60:
        known = _CODECS.get(label.lower().translate(_PUNCTUATION))
    return known


def decode(data: bytes, label: str = "") -> str:
    """Give the text of bytes that claim a charset; what cannot be read becomes U+FFFD."""
    codec = codec_of(label) or _GUESS
    if codec in _SIMPLE and data.isascii():
        return data.decode("ascii")
    if codec == _WESTERN:
        return _western(data)
    if codec == _GUESS:
        return guess(data)
    if codec.startswith("utf"):
        return _unicode(data, codec)
    return data.decode(codec, "replace")


def decode_lines(data: bytes, label: str = "", *, may_be_bare: bool = True) -> str:
    """Give the text of bytes that claim a charset, each of its lines ended by LF; a CR may end one alone."""
    is_even = b"\r" in data and not (may_be_bare and _BARE_RETURN.search(data))
    if is_even and codec_of(label) in _SIMPLE and not data.startswith(_ANY_MARK):
        # To leave out a byte is many times quicker than to replace two.
        return decode(data.replace(b"\r", b""), label)
    text = decode(data, label)
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def guess(data: bytes) -> str:
    """Give the text of bytes that say nothing of their charset: UTF-8 if it can be, else Western European."""
    if data.startswith(_ANY_MARK):
        for mark, codec in _MARKS:
            if data.startswith(mark):
                return data[len(mark) :].decode(codec, "replace")
    try:
        return data.decode()
    except UnicodeDecodeError:
        return _western(data)


def _western(data: bytes) -> str:
    text = data.decode("latin-1")
    return text.translate(_C1) if _CONTROLS.search(text) else text


def _unicode(data: bytes, codec: str) -> str:
    # A byte order mark is no text, and says more than a label that leaves the order open.
    if data.startswith(_ANY_MARK):
        for mark, marked in _MARKS:
            if data.startswith(mark) and codec[:6] == marked[:6]:
                return data[len(mark) :].decode(marked, "replace")
    text = data.decode("utf-16-be" if codec == "utf-16" else codec, "replace")
    if codec == "utf-7" and not text.isascii():
        # Python's UTF-7 lets halves of surrogate pairs through, which no other encoding can say.
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
