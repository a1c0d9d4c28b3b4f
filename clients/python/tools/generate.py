"""Generates src/reeve/v1 from the protos. With --check it fails if the committed code differs."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from grpc_tools import protoc

CLIENT = Path(__file__).resolve().parents[1]
PROTOS = CLIENT.parents[1] / "packages/contract/proto"
COMMITTED = CLIENT / "src/reeve/v1"


def generated() -> dict[str, str]:
    """The files by name."""
    with tempfile.TemporaryDirectory() as out:
        protos = sorted(str(proto) for proto in (PROTOS / "reeve/v1").glob("*.proto"))
        if protoc.main(["protoc", f"-I{PROTOS}", f"--python_out={out}", f"--pyi_out={out}", *protos]) != 0:
            raise SystemExit("the protos cannot be compiled")
        return {path.name: path.read_text() for path in Path(out, "reeve/v1").iterdir()}


def main() -> None:
    fresh = {**generated(), "__init__.py": '"""The wire, generated from the protos by tools/generate.py."""\n'}
    present = {path.name: path.read_text() for path in COMMITTED.glob("*.py*") if path.is_file()}
    if "--check" in sys.argv:
        stale = sorted(name for name in {*fresh, *present} if fresh.get(name) != present.get(name))
        if stale:
            raise SystemExit(f"generated code is out of date: {', '.join(stale)}\nRun: npm run generate")
        return
    for name in present:
        (COMMITTED / name).unlink()
    for name, text in fresh.items():
        (COMMITTED / name).write_text(text)


if __name__ == "__main__":
    main()
