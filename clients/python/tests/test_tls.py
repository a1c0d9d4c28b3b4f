from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from conftest import fresh_name
from gateway_process import BOOTSTRAP_KEY, GatewayProcess

import reeve
from reeve import Reeve, TlsOptions


def test_tls_with_an_authority_of_ones_own(tmp_path: Path) -> None:
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    names = ["-subj", "/CN=gateway.test", "-addext", "subjectAltName=DNS:gateway.test"]
    made = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-days",
        "2",
    ]
    subprocess.run([*made, *names, "-keyout", str(key), "-out", str(cert)], check=True, capture_output=True)
    gateway = GatewayProcess({"SVC_TLS_CERT": str(cert), "SVC_TLS_KEY": str(key)})
    try:
        trusted = TlsOptions(ca=cert.read_text(), server_name="gateway.test")
        with Reeve(gateway.grpc, api_key=BOOTSTRAP_KEY, tls=trusted, deadline=30) as client:
            assert client.register("acme", "core", fresh_name()).check(tool="x")
        # Without the authority, without the name, and without TLS, nothing is sent.
        for tls in (True, TlsOptions(ca=cert.read_bytes()), False):
            with Reeve(gateway.grpc, tls=tls, deadline=0.5) as client:
                answer = client.attach("acme", "core", "one", token="t" * 32).check(tool="x")
                assert (answer.source, answer.allowed) == ("sdk", False)
            with Reeve(gateway.grpc, api_key=BOOTSTRAP_KEY, tls=tls, deadline=0.5) as client:
                with pytest.raises(reeve.GatewayUnavailable) as caught:
                    client.register("acme", "core", fresh_name())
                assert BOOTSTRAP_KEY not in str(caught.value)
    finally:
        gateway.remove()
