"""One file from the web: resumed where it was cut, verified, and whole or not there."""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import json
import os
import re
import shutil
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from bearsketch.exceptions import BearError, ParameterError, SourceError
from bearsketch.files import lock, write_whole
from bearsketch.reading.codecs import MAGIC_BYTES, codec_named, codec_of
from bearsketch.sizes import format_bytes
from bearsketch.system import flush_folder

CHUNK_BYTES = 1 << 18
TIMEOUT = 30.0  # seconds of silence on the line
WAITS = (1.0, 2.0, 4.0, 8.0)  # seconds before another try; any progress starts them anew
BUSY = (408, 429)  # with 500 and above: answers that may be others a little later

Report = Callable[[float, float | None], None]
Note = Callable[[str], None]


class _AgainError(Exception):
    """The line or the server failed in a way that another try may mend."""


class _OtherPartError(_AgainError):
    """What the server has does not continue where our part ends."""


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows to the web alone, and never from an encrypted address to an open one."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: Any,
        url: str,
    ) -> urllib.request.Request | None:
        if urlsplit(url).scheme not in ("https", req.type):
            fp.close()
            raise _failed(req.full_url, f"the server redirects to {url}")
        return super().redirect_request(req, fp, code, msg, headers, url)


def check_url(url: str) -> None:
    """Refuse what is not an address on the web."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise ParameterError(
            f"the address must start with https:// or http://, got {url!r}", code="EXP-URL"
        )


def fetch_file(
    url: str,
    target: Path,
    *,
    size: int | None = None,
    sha256: str | None = None,
    report: Report = lambda done, total: None,
    note: Note = lambda text: None,
) -> None:
    """Fetch a file unless it is there, and verify it either way.

    What has come so far is kept as ``FILE.part``, and what it is a part of as ``FILE.part.tag``.
    The checksum of a whole file is kept as ``FILE.sha256``, for the next time.

    Parameters
    ----------
    url : str
    target : Path
        Name of the whole file.
    size, sha256 : optional
        What is known of the file. Without a checksum, given or recorded, the first whole
        download is trusted.
    report : callable
        Takes the bytes done and, where known, all bytes.
    note : callable
        Takes a line for the user.

    Raises
    ------
    SourceError
        When the file cannot be had or written, or is not the one it should be.
    """
    check_url(url)
    try:
        known = sha256 or _recorded(target)
        if target.exists():
            found = _verified(target, target, known, f"Delete {target} to fetch it again.")
            _keep_record(target, found)
            note(f"{target}: is there already; {_judged(known)}\n  sha256 {found}")
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            _fetch(url, target, size, known, report, note)
    except OSError as error:
        if isinstance(error, BearError):
            raise
        raise SourceError(
            f"cannot write to {error.filename or target}: {error.strerror or error}",
            code="IO-WRITE",
            hint="Check the folder and the free space; the same command continues where it was.",
        ) from error


def _fetch(
    url: str, target: Path, size: int | None, known: str | None, report: Report, note: Note
) -> None:
    part = target.with_name(f"{target.name}.part")
    tag = target.with_name(f"{target.name}.part.tag")
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
    with os.fdopen(os.open(part, flags, 0o666), "r+b", buffering=0) as file:
        if not _is_ours(file.fileno(), part):
            raise SourceError(
                f"{part}: another process is fetching this file",
                code="SRC-FETCH",
                hint="Wait for it to end.",
            )
        try:
            _Transfer(url, file, tag, size, report, note).run()
            os.fsync(file.fileno())
            _check_kind(part, target)
            found = _verified(part, target, known, _CHANGED)
        except SourceError as error:
            if error.code in _WRONG or file.seek(0, os.SEEK_END) == 0:
                part.unlink()
                tag.unlink(missing_ok=True)
            raise
        # The record comes first: a file under its own name has one, whenever the power fails.
        _keep_record(target, found)
        part.replace(target)
        flush_folder(target.parent)
    tag.unlink(missing_ok=True)
    note(f"{target}: {format_bytes(target.stat().st_size)}, {_judged(known)}\n  sha256 {found}")


def _is_ours(handle: int, part: Path) -> bool:
    """Whether no other process has the part, or has just made this very file the target."""
    return lock(handle) and part.exists() and os.path.samestat(os.fstat(handle), os.lstat(part))


_WRONG = ("SRC-CHECKSUM", "SRC-SUFFIX")  # whole, and of no use
_CHANGED = (
    "Nothing was kept. If the file has changed where it comes from and you trust it, delete its "
    ".sha256 file, or give the new checksum with --sha256."
)


def _verified(path: Path, target: Path, known: str | None, hint: str) -> str:
    """SHA-256 of a file, which is the known one if there is one."""
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if known is not None and found != known:
        raise SourceError(
            f"{target}: the SHA-256 must be {known}, got {found}", code="SRC-CHECKSUM", hint=hint
        )
    return found


def _judged(known: str | None) -> str:
    if known is not None:
        return "the checksum is right"
    return "no checksum was known, so this file is trusted and its checksum kept for the next time"


def _check_kind(part: Path, target: Path) -> None:
    """Refuse a page about an error, or anything else that is not compressed as it should be."""
    with part.open("rb") as file:
        found, named = codec_of(file.read(MAGIC_BYTES), target.name), codec_named(target.name)
    if found is not named:
        raise SourceError(
            f"{target}: what the server sent is {found.name if found else 'plain'} data, "
            f"not {named.name if named else 'plain'}",
            code="SRC-SUFFIX",
            hint="Nothing was kept. Open the address in a browser to see what it has.",
        )


def _record(target: Path) -> Path:
    return target.with_name(f"{target.name}.sha256")


def _recorded(target: Path) -> str | None:
    """Checksum kept beside a file, in the form of ``sha256sum``."""
    try:
        words = _record(target).read_text(errors="replace").split()
    except FileNotFoundError:
        return None
    if not words or not re.fullmatch(r"[0-9a-f]{64}", words[0]):
        raise SourceError(
            f"{_record(target)}: this is no SHA-256 in the form of sha256sum",
            code="SRC-CHECKSUM",
            hint="Delete it to trust the file as it is, or give the checksum with --sha256.",
        )
    return words[0]


def _keep_record(target: Path, found: str) -> None:
    with contextlib.suppress(SourceError):
        if _recorded(target) == found:
            return  # the folder may be closed to us
    write_whole(_record(target), f"{found}  {target.name}\n".encode())


class _Transfer:
    """Brings a part to its whole length, in as many tries as it takes."""

    def __init__(
        self, url: str, file: Any, tag: Path, size: int | None, report: Report, note: Note
    ) -> None:
        self.url, self.file, self.tag, self.size = url, file, tag, size
        self.report, self.note = report, note

    def run(self) -> None:
        best, failed = self.file.seek(0, os.SEEK_END), 0
        while True:
            try:
                return self._try()
            except _AgainError as error:
                if isinstance(error, _OtherPartError):
                    self._restart()
                done = self.file.seek(0, os.SEEK_END)
                best, failed = max(best, done), 0 if done > best else failed
                if failed == len(WAITS):
                    raise _failed(self.url, f"{error}, {failed + 1} times") from None
                self.note(f"{self.url}: {error}; trying again in {WAITS[failed]:g} s")
                time.sleep(WAITS[failed])
                failed += 1

    def _try(self) -> None:
        """One request for all that is missing."""
        came_from = self._tag()
        start, stamp, total = self.file.seek(0, os.SEEK_END), came_from["stamp"], came_from["total"]
        if not stamp or (total is not None and start > total):
            start = self._restart()
        if start and start == total:
            return
        with _ask(self.url, start, stamp) as answer:
            if answer.status == http.HTTPStatus.PARTIAL_CONTENT:
                total = _whole(answer, start, stamp, total)
            else:
                start, total = self._begin(answer)
            self._check_room(start, total)
            self.report(start, total)
            for done in self._take(answer, start):
                self.report(done, total)
        done = self.file.tell()
        if total is not None and done < total:
            raise _AgainError(f"the connection ended after {done} of {total} bytes")

    def _take(self, answer: http.client.HTTPResponse, done: int) -> Iterator[int]:
        while True:
            with _network(self.url):
                piece = answer.read1(CHUNK_BYTES)
            if not piece:
                return
            view = memoryview(piece)
            while view:
                view = view[self.file.write(view) :]
            done += len(piece)
            yield done

    def _begin(self, answer: http.client.HTTPResponse) -> tuple[int, int | None]:
        """Forget what there was: the server sends the file from its start."""
        total = answer.length
        if answer.status != http.HTTPStatus.OK:
            raise _failed(self.url, f"the server answers {answer.status} {answer.reason}")
        if total is None and not answer.chunked:
            raise _failed(self.url, "the server does not tell where the file ends")
        if self.size is not None and total not in (None, self.size):
            raise _failed(self.url, f"the server has {total} bytes, the file {self.size}")
        self._restart()
        tag = {"url": self.url, "stamp": _stamp(answer), "total": total}
        write_whole(self.tag, json.dumps(tag).encode())
        return 0, total

    def _check_room(self, start: int, total: int | None) -> None:
        free = shutil.disk_usage(self.tag.parent).free
        if total is not None and total - start > free:
            raise SourceError(
                f"{self.tag.parent} has {format_bytes(free)} free, "
                f"{self.url} needs {format_bytes(total - start)}",
                code="IO-WRITE",
                hint="Make room, or give another folder with --to.",
            )

    def _restart(self) -> int:
        self.file.truncate(0)
        return int(self.file.seek(0))

    def _tag(self) -> dict[str, Any]:
        """Tell what the part is a part of, if it comes from the same address."""
        with contextlib.suppress(FileNotFoundError, ValueError, KeyError, TypeError):
            tag = json.loads(self.tag.read_bytes())
            if tag["url"] == self.url:
                return {"stamp": str(tag["stamp"]), "total": tag["total"] and int(tag["total"])}
        return {"stamp": "", "total": None}


def _ask(url: str, start: int, stamp: str) -> http.client.HTTPResponse:
    request = urllib.request.Request(url, headers={"User-Agent": "bearsketch"})
    if start:
        request.add_header("Range", f"bytes={start}-")
        request.add_header("If-Range", stamp)
    opener = urllib.request.build_opener(_Redirects)
    with _network(url):
        answer: http.client.HTTPResponse = opener.open(request, timeout=TIMEOUT)
    return answer


def _stamp(answer: http.client.HTTPResponse) -> str:
    """Mark that tells this version of the file from any other; empty where there is none."""
    etag = str(answer.headers.get("ETag", ""))
    if etag.startswith('"'):  # a weak one, W/"...", promises no equal bytes
        return etag
    return str(answer.headers.get("Last-Modified", ""))


def _whole(
    answer: http.client.HTTPResponse, start: int, stamp: str, total: int | None
) -> int | None:
    """Length of the whole file, if the answer is the rest of the one we have a part of."""
    told = answer.headers.get("Content-Range", "")
    match = re.fullmatch(r"bytes (\d+)-\d+/(\d+|\*)", told)
    if match and int(match[1]) == start and _stamp(answer) in ("", stamp):
        whole = total if match[2] == "*" else int(match[2])
        if total in (None, whole):
            return whole
    raise _OtherPartError("the server sent another part than asked for")


@contextlib.contextmanager
def _network(url: str) -> Iterator[None]:
    try:
        yield
    except BearError:
        raise
    except urllib.error.HTTPError as error:
        with error:
            told = f"the server answers {error.code} {error.reason}"
        if error.code in BUSY or error.code >= http.HTTPStatus.INTERNAL_SERVER_ERROR:
            raise _AgainError(told) from None
        if error.code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            raise _OtherPartError(told) from None
        raise _failed(url, told) from None
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)
        if isinstance(reason, ssl.SSLCertVerificationError):
            raise _failed(url, f"the server is not who it says ({reason})") from None
        raise _AgainError(str(reason) or type(reason).__name__) from None


def _failed(url: str, what: str) -> SourceError:
    return SourceError(
        f"{url}: {what}",
        code="SRC-FETCH",
        hint="Check the address and the connection, or name a mirror with --from; "
        "the same command continues where it was.",
    )
