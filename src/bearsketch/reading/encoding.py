"""Whether the text of an input is UTF-8, from its first bytes."""

from __future__ import annotations

import codecs

from bearsketch.escape import visible

NOT_UTF8 = "COM-ENCODING"  # code of the warning
LOOKED_AT = 1 << 22  # bytes: more would cost time, and text that is not UTF-8 shows early
_SHOWN = 16  # bytes on either side of the first that is none


class Encoding:
    r"""Looks at the first chunks of an input.

    Attributes
    ----------
    odd : str
        What to tell; empty while all is UTF-8.

    Examples
    --------
    >>> encoding = Encoding()
    >>> encoding.look(b"1 | caf\xc3")
    >>> encoding.look(b"\xa9\n0 | caf\xe9\n")
    >>> encoding.odd.partition(":")[0]
    "line 2 is no UTF-8 ('0 | caf\\xe9')"
    """

    def __init__(self) -> None:
        self.odd = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._size, self._lines = 0, 1

    def look(self, chunk: bytes) -> None:
        """Look at the next chunk, if there is something to find yet."""
        if self.odd or self._size >= LOOKED_AT:
            return
        try:
            self._decoder.decode(chunk)
        except UnicodeDecodeError as error:
            self._tell(error.object, error.start)
        self._size += len(chunk)
        self._lines += chunk.count(b"\n")

    def _tell(self, data: bytes, at: int) -> None:
        line = self._lines + data.count(b"\n", 0, at)
        first = max(data.rfind(b"\n", 0, at) + 1, at - _SHOWN)
        shown = visible(
            data[first : at + _SHOWN].split(b"\n")[0].decode("utf-8", "backslashreplace")
        )
        self.odd = (
            f"line {line} is no UTF-8 ('{shown}'): its bytes are taken as they are, so that the "
            "same word in UTF-8 is another feature; convert the data, for example with: iconv -f "
            "latin1 -t utf8"
        )
