from __future__ import annotations

import pickle
from typing import Any

import pytest
from gateway_process import BOOTSTRAP_KEY

from reeve import ActionDenied, Answer, AsyncReeve, InvalidRequest, OperationTerminated, Reeve, RetryOptions, TlsOptions
from reeve._endpoints import endpoints_of
from reeve._settings import api_key_of, settings_of


def addresses_of(**given: Any) -> list[str]:
    settings = settings_of(given.get("address"), given.get("addresses"), None, 5, None, "deny")
    return [endpoint.address for endpoint in settings.endpoints]


def test_addresses_come_from_options_then_the_environment_then_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REEVE_GRPC_ADDR", raising=False)
    assert addresses_of() == ["127.0.0.1:50051"]
    monkeypatch.setenv("REEVE_GRPC_ADDR", "a:1, b:2")
    assert addresses_of() == ["a:1", "b:2"]
    assert addresses_of(address="c:3") == ["c:3"]
    assert addresses_of(addresses=["d:4"]) == ["d:4"]


def test_the_key_comes_from_the_option_or_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REEVE_API_KEY", f" {BOOTSTRAP_KEY}\n")
    assert api_key_of(None) == BOOTSTRAP_KEY
    assert api_key_of("jwt") == "jwt"
    monkeypatch.setenv("REEVE_API_KEY", "")
    assert api_key_of(None) is None


def test_tls_is_on_except_on_this_machine() -> None:
    def is_plain(address: str) -> bool:
        return endpoints_of(address, None, None)[0].tls is None

    assert all(is_plain(each) for each in ("127.0.0.1:1", "localhost:1", "[::1]:1", "unix:/x"))
    assert not any(is_plain(each) for each in ("10.0.0.1:1", "example.com:443", "127.0.0.1.evil.com:1"))
    assert endpoints_of("example.com:443", None, False)[0].tls is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"address": "http://x:1"}, "address: must be host:port"),
        ({"address": "secret@x:1"}, "address: must be host:port"),
        ({"address": "x:1,y:2"}, "several go into addresses"),
        ({"address": "x:0"}, "address: must be host:port"),
        ({"addresses": []}, "addresses: must be a list"),
        ({"addresses": "x:1"}, "addresses: must be a list"),
        ({"addresses": ["x:1", "X:01"]}, r"addresses\[1\]: is the same as addresses\[0\]"),
        ({"address": "x:1", "addresses": ["y:1"]}, "address or addresses, not both"),
        ({"address": "x:1", "tls": TlsOptions(cert="c")}, "cert and key belong together"),
        ({"address": "x:1", "deadline": 0}, "deadline: must be a time in seconds"),
        ({"address": "x:1", "on_unavailable": "allow"}, "on_unavailable: must be deny or raise"),
        ({"address": "x:1", "api_key": "rvk_short"}, 'api_key: must be "rvk_"'),
        ({"address": "x:1", "api_key": BOOTSTRAP_KEY[:-1] + "9"}, "api_key: the checksum does not fit"),
        ({"address": "x:1", "api_key": "a b"}, "api_key: holds a character"),
    ],
)
@pytest.mark.parametrize("client_class", [Reeve, AsyncReeve])
def test_bad_options_are_named(client_class: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidRequest, match=message) as caught:
        client_class(**options)
    key = options.get("api_key")
    assert key is None or key not in str(caught.value)


@pytest.mark.parametrize("bad", [{"burst": -1}, {"ratio": 2}, {"initial_backoff": 0}, {"max_backoff": float("nan")}])
def test_bad_retry_options_are_named(bad: dict[str, float]) -> None:
    with pytest.raises(InvalidRequest, match=f"retry.{next(iter(bad))}"):
        RetryOptions(**bad)


def test_secrets_are_in_no_representation() -> None:
    tls = TlsOptions(ca="authority", cert="certificate", key="very secret")
    assert "very secret" not in repr(tls)
    with Reeve("127.0.0.1:1", api_key=BOOTSTRAP_KEY) as client:
        agent = client.attach("a", "b", "c", token="token-that-nobody-sees")
        for shown in (client, agent, agent.operation(tool="x")):
            assert BOOTSTRAP_KEY not in f"{shown!r}{shown}"
            assert "token-that-nobody-sees" not in f"{shown!r}{shown}"


def test_errors_travel_between_processes() -> None:
    answer = Answer("deny", "no", "rule", "t:s", "t", "s")
    denied = pickle.loads(pickle.dumps(ActionDenied(answer)))  # noqa: S301
    assert denied.answer == answer
    terminated = pickle.loads(pickle.dumps(OperationTerminated("t:s", "why", "c", 3)))  # noqa: S301
    assert (terminated.op_id, terminated.reason, terminated.result) == ("t:s", "why", 3)
