"""A real gateway in its own process, started from this repository."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).resolve().parents[3]
#: A well-formed key, known only to tests.
BOOTSTRAP_KEY = "rvk_abcdefghijkl_01234567890123456789012345678901234567891ssRG8"

POLICY = """
name: test
default: allow
budget:
  agent_daily_limit_usd: 2
rules:
  - name: never-delete
    effect: deny
    tools: ["delete_*"]
  - name: big-refunds
    effect: deny
    tools: [refund]
    when: args.amount > 100
  - name: ask-first
    effect: require_approval
    tools: [ask_*]
  - name: ask-models
    effect: require_approval
    models: [ask-*]
"""


class GatewayProcess:
    """Its folder outlives a restart, and so does its gRPC port."""

    def __init__(self, env: dict[str, str] | None = None, policy: str = POLICY) -> None:
        self.folder = tempfile.mkdtemp(prefix="reeve-python-")
        self._env = env or {}
        policies = Path(self.folder, "policies")
        policies.mkdir()
        (policies / "test.yaml").write_text(policy)
        self._logs: list[IO[str]] = []
        self.grpc = "127.0.0.1:0"
        self.start()

    def start(self) -> None:
        bundle = os.environ.get("REEVE_TEST_GATEWAY")
        program = ["node_modules/.bin/node", bundle] if bundle else ["node_modules/.bin/reeve"]
        addresses = ["--http", "127.0.0.1:0", "--grpc", self.grpc]
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("SVC_", "REEVE_"))}
        errors = Path(tempfile.gettempdir(), f"{Path(self.folder).name}.log")
        stderr = errors.open("w+")
        self._logs.append(stderr)
        self._process = subprocess.Popen(
            [*program, "serve", *addresses, "--data", self.folder],
            cwd=ROOT,
            env={**kept, "SVC_BOOTSTRAP_API_KEY": BOOTSTRAP_KEY, **self._env},
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        )
        assert self._process.stdout is not None
        said = self._process.stdout.readline()
        assert said, f"the gateway did not start: {errors.read_text()}"
        errors.unlink()
        line = json.loads(said)
        self.http: str = line["http"]
        self.grpc = line["grpc"]

    def kill(self, how: signal.Signals = signal.SIGKILL) -> None:
        self._process.send_signal(how)
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def freeze(self) -> None:
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def remove(self) -> None:
        self.thaw()
        self.kill()
        for log in self._logs:
            log.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def output(self) -> str:
        """What the gateway has written so far, for people. The file has no name any more, but is still there."""
        files = [log.fileno() for log in self._logs]
        return "".join(os.pread(each, os.fstat(each).st_size, 0).decode() for each in files)

    def api(self, method: str, path: str, body: object = None) -> Any:
        """Calls over HTTP and returns the answer, whatever its status."""
        request = urllib.request.Request(self.http + path, method=method)
        request.add_header("authorization", f"Bearer {BOOTSTRAP_KEY}")
        data = None
        if body is not None:
            request.add_header("content-type", "application/json")
            data = json.dumps(body).encode()
        try:
            with urllib.request.urlopen(request, data) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            with error:
                return json.load(error)

    def op(self, op_id: str) -> Any:
        return self.api("GET", f"/api/v1/ops/{urllib.parse.quote(op_id, safe='')}")

    def control(self, op_id: str, action: str, reason: str = "") -> Any:
        path = f"/api/v1/ops/{urllib.parse.quote(op_id, safe='')}/{action}"
        return self.api("POST", path, {"reason": reason})["control"]

    def receipt(self, control_id: str) -> Any:
        return self.api("GET", f"/api/v1/control/{control_id}")

    def logs(self, **query: str) -> Any:
        return self.api("GET", f"/api/v1/logs?{urllib.parse.urlencode(query)}")["items"]

    def decide(self, approval_id: str, verdict: str) -> Any:
        return self.api("POST", f"/api/v1/approvals/{approval_id}/{verdict}", {"reason": "a person said so"})
