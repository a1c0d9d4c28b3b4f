"""Builds the wheel and looks at it as a user gets it: alone with what it declares to need."""

from __future__ import annotations

import re
import subprocess
import sys
import sysconfig
import tempfile
import venv
import zipfile
from email.parser import Parser
from pathlib import Path

CLIENT = Path(__file__).resolve().parents[1]
#: What the declared dependencies install.
NEEDED = ("grpc", "google", "typing_extensions.py")
PROGRAM = """
import importlib
import reeve
assert reeve.__version__ == {version!r}, reeve.__version__
for name in reeve.__all__:
    getattr(reeve, name)
with reeve.Reeve("127.0.0.1:1", deadline=0.1) as client:
    answer = client.attach("a", "b", "c", token="t" * 32).check(tool="x")
    assert answer.source == "sdk" and not answer
for extra in ("langchain", "openai-agents", "crewai", "pydantic-ai"):
    try:
        importlib.import_module("reeve.adapters." + extra.replace("-", "_"))
    except ImportError as error:
        assert "pip install 'reeve-gateway[" + extra + "]'" in str(error), error
    else:
        raise AssertionError(extra + " is not here")
"""


def run(*command: str) -> None:
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        raise SystemExit(f"{' '.join(command[:6])}: {ended.stdout}{ended.stderr}")


def look_into(wheel: Path) -> str:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (metadata_name,) = [name for name in names if name.endswith(".dist-info/METADATA")]
        metadata = Parser().parsestr(archive.read(metadata_name).decode())
    expected = {"reeve/py.typed", "reeve/__init__.py", "reeve/v1/policy_service_pb2.pyi", "reeve/adapters/crewai.py"}
    if missing := expected - set(names):
        raise SystemExit(f"the wheel lacks {', '.join(sorted(missing))}")
    if strange := [name for name in names if not name.startswith(("reeve/", "reeve_gateway-"))]:
        raise SystemExit(f"the wheel holds {', '.join(strange)}")
    if not any(name.endswith("licenses/LICENSE") for name in names):
        raise SystemExit("the wheel lacks its license")
    needs = [need for need in metadata.get_all("Requires-Dist", []) if "extra ==" not in need]
    if sorted(re.split(r"[<>=!~ ]", need)[0] for need in needs) != ["grpcio", "protobuf"]:
        raise SystemExit(f"the wheel needs {', '.join(needs)}")
    return str(metadata["Version"])


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="reeve-wheel-") as scratch:
        pip = (sys.executable, "-m", "pip", "--disable-pip-version-check")
        run(*pip, "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", scratch, str(CLIENT))
        (wheel,) = Path(scratch).glob("*.whl")
        version = look_into(wheel)
        fresh = Path(scratch, "fresh")
        venv.create(fresh, with_pip=False)
        installed = Path(sysconfig.get_path("purelib", vars={"base": str(fresh)}))
        run(*pip, "install", "--quiet", "--no-deps", "--no-index", "--target", str(installed), str(wheel))
        present = Path(sysconfig.get_path("platlib"))
        for name in NEEDED:
            (installed / name).symlink_to(present / name)
        run(str(fresh / "bin/python"), "-I", "-c", PROGRAM.format(version=version))
        other = installed / "reeve-0.1.41.dist-info"
        other.mkdir()
        ended = subprocess.run(
            (str(fresh / "bin/python"), "-I", "-c", "import reeve"), capture_output=True, check=False
        )
        if ended.returncode == 0 or b"'reeve' is another product" not in ended.stderr:
            raise SystemExit(f"it is imported beside the other 'reeve': {ended.stderr.decode()}")
    print(f"reeve-gateway {version} is whole")


if __name__ == "__main__":
    main()
