"""The example of the plain SDK. Those of frameworks: `npm run conformance -- --only adapters`."""

from __future__ import annotations

import os
import subprocess
import sys

from gateway_process import BOOTSTRAP_KEY, ROOT, GatewayProcess

_EXAMPLES = ROOT / "examples" / "python"


def test_the_plain_example_searches_and_may_not_delete(gateway: GatewayProcess) -> None:
    env = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "clients" / "python" / "src"),
        "REEVE_GRPC_ADDR": gateway.grpc,
        "REEVE_API_KEY": BOOTSTRAP_KEY,
    }
    command = [sys.executable, str(_EXAMPLES / "plain.py")]
    printed = subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout
    assert "search_docs: refunds.md says: five days." in printed
    assert "delete_customer: Denied by policy: " in printed
    assert "is gone" not in printed


def test_an_example_is_short_enough_to_be_read() -> None:
    lengths = {path.name: len(path.read_text().splitlines()) for path in _EXAMPLES.glob("*.py")}
    assert len(lengths) == 5
    assert max(lengths.values()) < 60
