"""Where gateways listen, and whether by TLS."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from .errors import InvalidRequest

_LOCAL = re.compile(r"(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?", re.IGNORECASE)
#: Errors name addresses, so nothing that may be a secret stands in one: no user before the host.
_HOST_AND_PORT = re.compile(r"^(\[[0-9a-f:.%]+\]|[^\s,:/@\[\]]+):(\d{1,5})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TlsOptions:
    """How to trust a gateway, in PEM. The system's authorities count if `ca` is left out."""

    ca: bytes | str | None = None
    #: The certificate and key of the client, if the gateway asks for them.
    cert: bytes | str | None = None
    key: bytes | str | None = field(default=None, repr=False)
    #: The name on the gateway's certificate, if it differs from the address.
    server_name: str | None = None


@dataclass(frozen=True, slots=True)
class Endpoint:
    address: str
    tls: TlsOptions | None


def endpoints_of(
    address: str | None, addresses: Sequence[str] | None, tls: bool | TlsOptions | None
) -> tuple[Endpoint, ...]:
    """The gateways that the options name, each with its own TLS."""
    if addresses is None:
        checked = _checked("address", address)
        return (Endpoint(checked, _tls_of(checked, tls)),)
    if address is not None:
        raise InvalidRequest("addresses: give address or addresses, not both")
    if isinstance(addresses, str) or not isinstance(addresses, Sequence) or not addresses:
        raise InvalidRequest("addresses: must be a list of one or more host:port")
    seen: dict[str, int] = {}
    result = []
    for index, item in enumerate(addresses):
        member = f"addresses[{index}]"
        checked = _checked(member, item.strip() if isinstance(item, str) else item)
        first = seen.setdefault(_place(checked), index)
        if first != index:
            raise InvalidRequest(f"{member}: is the same as addresses[{first}]")
        result.append(Endpoint(checked, _tls_of(checked, tls)))
    return tuple(result)


def _tls_of(address: str, tls: bool | TlsOptions | None) -> TlsOptions | None:
    """Keys and tokens travel with the calls. So plain text beyond this machine needs an explicit option."""
    if tls is None:
        tls = not (_LOCAL.fullmatch(address) or address.startswith("unix:"))
    if tls is False:
        return None
    options = TlsOptions() if tls is True else tls
    if not isinstance(options, TlsOptions):
        raise InvalidRequest("tls: must be True, False or TlsOptions")
    if (options.cert is None) != (options.key is None):
        raise InvalidRequest("tls: cert and key belong together")
    return options


def _checked(member: str, address: object) -> str:
    if isinstance(address, str):
        if address.startswith("unix:"):
            return address
        match = _HOST_AND_PORT.fullmatch(address)
        if match and 1 <= int(match[2]) <= 65_535:
            return address
    hint = "; several go into addresses, one by one" if isinstance(address, str) and "," in address else ""
    raise InvalidRequest(f'{member}: must be host:port, without a scheme, as "127.0.0.1:50051"{hint}')


def _place(address: str) -> str:
    """The same text for the same place. Names ignore case, and ports leading zeros; paths ignore nothing."""
    match = _HOST_AND_PORT.fullmatch(address)
    return f"{match[1].lower()}:{int(match[2])}" if match else address
