"""Agents that act for somebody, against a gateway that knows an issuer."""

from __future__ import annotations

import asyncio
import base64
import json
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import fresh_name
from gateway_process import BOOTSTRAP_KEY, GatewayProcess

import reeve
from reeve import Agent, AsyncReeve, Reeve
from reeve.adapters._govern import Calls

ISSUER = "https://id.example.com"
POLICY = 'rules: [{name: staff, effect: allow, users: ["*@acme.com"]}]\n'


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Issuer:
    """Signs with RS256, by OpenSSL."""

    def __init__(self, folder: Path) -> None:
        self._key = folder / "key.pem"
        self._openssl("genrsa", "-out", str(self._key), "2048")
        modulus = self._openssl("rsa", "-in", str(self._key), "-noout", "-modulus").decode().strip().partition("=")[2]
        jwk = {"kty": "RSA", "kid": "1", "alg": "RS256", "e": "AQAB", "n": _text(bytes.fromhex(modulus))}
        (folder / "keys.json").write_text(json.dumps({"keys": [jwk]}))
        self.file = folder / "subjects.yaml"
        self.file.write_text(f"- {{issuer: {ISSUER}, audience: reeve, jwks_file: keys.json}}\n")

    def token(self, email: str, sub: str = "u-1") -> str:
        claims = {"iss": ISSUER, "aud": "reeve", "exp": int(time.time()) + 600, "sub": sub, "email": email}
        parts = [{"alg": "RS256", "kid": "1"}, claims]
        signed = ".".join(_text(json.dumps(part).encode()) for part in parts)
        signature = self._openssl("dgst", "-sha256", "-sign", str(self._key), given=signed.encode())
        return f"{signed}.{_text(signature)}"

    def _openssl(self, *args: str, given: bytes = b"") -> bytes:
        return subprocess.run(["/usr/bin/env", "openssl", *args], input=given, capture_output=True, check=True).stdout


@pytest.fixture(scope="module")
def issuer(tmp_path_factory: pytest.TempPathFactory) -> Issuer:
    return Issuer(tmp_path_factory.mktemp("issuer"))


@pytest.fixture(scope="module")
def trusting(issuer: Issuer) -> Iterator[GatewayProcess]:
    process = GatewayProcess({"SVC_SUBJECTS": str(issuer.file)}, POLICY)
    yield process
    process.remove()


@pytest.fixture
def agent(trusting: GatewayProcess) -> Iterator[Agent]:
    with Reeve(trusting.grpc, api_key=BOOTSTRAP_KEY) as client:
        yield client.register("acme", "core", fresh_name())


def test_a_token_goes_along_with_one_call(agent: Agent, issuer: Issuer) -> None:
    assert agent.check(tool="search", subject_token=issuer.token("ann@acme.com")).policy_rule == "test/staff"
    assert not agent.check(tool="search")
    refused = agent.check(tool="search", subject_token="nonsense")
    assert (refused.policy_rule, refused.reason) == ("identity", "subject token: is not a JWT")


def test_every_check_of_an_agent_that_acts_for_somebody_carries_the_token(agent: Agent, issuer: Issuer) -> None:
    ann = agent.on_behalf_of(issuer.token("ann@acme.com"))
    eve = issuer.token("eve@elsewhere.com", "u-2")
    assert ann.id == agent.id
    assert ann.check(tool="search")
    assert ann.check(tool="search", subject_token=None)
    assert ann.decision(tool="search")
    assert ann.run(lambda: 1, tool="search") == 1
    assert ann.guard("search")(lambda q: q)("x") == "x"
    with ann.operation(tool="search") as op:
        assert op.op_id
    both = ann.check_many([{"tool": "a"}, {"tool": "b", "subject_token": eve}])
    assert [answer.allowed for answer in both] == [True, False]
    assert not ann.on_behalf_of(eve).check(tool="search")
    assert not agent.check(tool="search")
    with pytest.raises(reeve.InvalidRequest, match="subject_token"):
        agent.on_behalf_of("")


def test_governed_calls_carry_it_too(agent: Agent, issuer: Issuer) -> None:
    members: dict[str, Any] = {"tool": "search"}
    calls = Calls(agent.on_behalf_of(issuer.token("ann@acme.com")))
    assert calls.call(members, lambda _: "done") == "done"
    assert Calls(agent).call(members, lambda _: "done") != "done"


def test_an_agent_of_the_async_client_acts_for_somebody(trusting: GatewayProcess, issuer: Issuer) -> None:
    async def act() -> None:
        async with AsyncReeve(trusting.grpc, api_key=BOOTSTRAP_KEY) as client:
            agent = await client.register("acme", "core", fresh_name())
            ann = agent.on_behalf_of(issuer.token("ann@acme.com"))
            assert await ann.check(tool="search")
            assert await ann.decision(tool="search")
            assert all(await ann.check_many([{"tool": "a"}]))
            assert await ann.guard("search")(lambda: 2)() == 2
            async with ann.operation(tool="search") as op:
                assert op.op_id
            assert not await agent.check(tool="search")

    asyncio.run(act())


def test_whose_tokens_are_taken_is_told(trusting: GatewayProcess) -> None:
    with Reeve(trusting.grpc, api_key=BOOTSTRAP_KEY) as client:
        token = client.enroll("acme", "core", fresh_name()).token
        assert client.identify(token).subject_issuers == (ISSUER,)
