"""Files within a prompt that are texts: base64, and URLs that hold what they stand for.

A provider reads them, so they are judged as what they say.
"""

from __future__ import annotations

import binascii
import re
from base64 import b64decode, b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote, unquote_to_bytes

from ._unmaskable import UnmaskablePrompt, unfit


@dataclass(frozen=True, slots=True)
class FileText:
    """A text that a value of a prompt stands for."""

    text: str
    #: Another text in the same form.
    written: Callable[[str], str]
    #: Whether all that rules find in the value is found in the text as well.
    has_all: bool = False


@dataclass(frozen=True, slots=True)
class PlacedFile:
    path: tuple[str | int, ...]
    said: str
    file: FileText


#: A file that is to be read as text, whoever looks into it.
_OF_TEXT = re.compile(r"^text(?:/|$)|[/+](?:json|xml|yaml|csv|javascript|sql)\b", re.IGNORECASE)

#: Shorter ones are words.
_SHORTEST_BASE64 = 8
_BASE64 = re.compile(r"[A-Za-z0-9_+/\r\n-]+={0,2}")

#: No text has such characters in it, but nearly all other files have.
_UNREADABLE = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")

_MEDIA_TYPES = ("media_type", "mime_type", "mediaType", "mimeType")


def file_text_in(said: str, media_type: str = "") -> FileText | None:
    """The file that a text of a prompt holds, if that is a text. None also for a file that nobody can read as one."""
    url = _data_url_in(said)
    if url is None:
        return _base64_text(said, 1 if _OF_TEXT.search(media_type) else _SHORTEST_BASE64)
    head, data = url
    if head.lower().endswith(";base64"):
        file = _base64_text(unquote(data), 1)
        return file and FileText(file.text, lambda text: f"{head},{file.written(text)}")
    text = _text_of(unquote_to_bytes(data))
    return None if text is None else FileText(text, lambda other: f"{head},{quote(other, safe='')}", has_all=True)


def _data_url_in(said: str) -> tuple[str, str] | None:
    """What stands before its first comma, and the data after it. Nothing here looks twice at the same character."""
    head, comma, data = said.partition(",")
    return (head, data) if comma and head[:5].lower() == "data:" else None


def files_in(said: Any, path: tuple[str | int, ...] = (), media_type: str = "") -> Iterator[PlacedFile]:
    """All files that a prompt holds."""
    if isinstance(said, str):
        known = media_type if path[-1:] == ("data",) else ""
        file = file_text_in(said, known)
        if file is not None:
            yield PlacedFile(path, said, file)
        elif _is_unreadable(said, known):
            raise UnmaskablePrompt("it has a file that cannot be read as text")
    elif isinstance(said, Mapping):
        own = next((each for name in _MEDIA_TYPES if isinstance(each := said.get(name), str)), media_type)
        for name, each in said.items():
            yield from files_in(each, (*path, name), own)
    elif isinstance(said, (list, tuple)):
        for at, each in enumerate(said):
            yield from files_in(each, (*path, at), media_type)


def put_file(masked: Any, placed: PlacedFile, left: Any) -> None:
    """Puts what rules have left of a file in its place."""
    if left == placed.file.text:
        return
    *above, name = placed.path
    try:
        for each in above:
            masked = masked[each]
        said = masked[name]
    except (LookupError, TypeError):
        raise unfit() from None
    # What is masked in its own form, too, would be neither the one nor the other.
    if not isinstance(left, str) or not (said == placed.said or (placed.file.has_all and isinstance(said, str))):
        raise unfit()
    masked[name] = placed.file.written(left)


def _is_unreadable(said: str, media_type: str) -> bool:
    """Whether it is a file of text that nobody can read, such as one in another encoding."""
    url = _data_url_in(said)
    if url is not None:
        media_type = url[0][5:].partition(";")[0]
    elif _BASE64.fullmatch(said.rstrip()) is None:
        return False
    return _OF_TEXT.search(media_type) is not None


def _base64_text(said: str, shortest: int) -> FileText | None:
    if len(said) < shortest or not _BASE64.fullmatch(said.rstrip()):
        return None
    digits = re.sub(r"[\s=]", "", said)
    try:
        text = _text_of(b64decode(digits.translate(_STANDARD) + "=" * (-len(digits) % 4)))
    except binascii.Error:
        return None
    encoded = urlsafe_b64encode if re.search("[_-]", said) else b64encode
    return None if text is None else FileText(text, lambda other: encoded(other.encode()).decode())


_STANDARD = str.maketrans("-_", "+/")


def _text_of(data: bytes) -> str | None:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    return None if _UNREADABLE.search(text) else text
