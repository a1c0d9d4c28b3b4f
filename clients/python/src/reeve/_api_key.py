"""API keys, read without a call. The value itself never enters an error."""

from __future__ import annotations

import re
import zlib

from .errors import InvalidRequest

_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_FORM = re.compile(r"rvk_[a-z2-7]{12}_[0-9A-Za-z]{46}")
_SENDABLE = re.compile(r"[\x21-\x7e]+")


def parse_api_key(text: str | None) -> str | None:
    """The API key, or another bearer credential, ready to send. The checksum of a key reveals a typo here."""
    key = (text or "").strip()
    if not key:
        return None
    if not _SENDABLE.fullmatch(key):
        raise InvalidRequest("api_key: holds a character that cannot be sent")
    if not key.startswith("rvk_"):
        return key
    if not _FORM.fullmatch(key):
        raise InvalidRequest('api_key: must be "rvk_", 12 characters of a-z2-7, "_" and 46 of 0-9A-Za-z')
    if _checksum(key[:-6]) != key[-6:]:
        raise InvalidRequest("api_key: the checksum does not fit: a character is wrong")
    return key


def _checksum(body: str) -> str:
    rest = zlib.crc32(body.encode())
    digits = ""
    for _ in range(6):
        rest, digit = divmod(rest, 62)
        digits = _BASE62[digit] + digits
    return digits
