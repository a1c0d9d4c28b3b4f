"""The table of cases, as the head of tests/adapters/cases.yaml describes it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

LANGUAGE = "python"
_FILE = Path(__file__).resolve().parents[4] / "tests" / "adapters" / "cases.yaml"

Case = Mapping[str, Any]
Table = Mapping[str, Any]


def read_table() -> Table:
    table: Table = yaml.safe_load(_FILE.read_text())
    return table


def spec_of(table: Table, name: str) -> Mapping[str, Any]:
    for spec in table["adapters"]:
        if spec["name"] == name and spec["language"] == LANGUAGE:
            found: Mapping[str, Any] = spec
            return found
    raise LookupError(f"the table has no adapter {name} for Python")


def cases_for(table: Table, name: str) -> list[Case]:
    """The cases that the subject can do."""
    cannot = spec_of(table, name).get("cannot", {})
    return [case for case in table["cases"] if case["name"] not in cannot]


def filled(text: str, values: Mapping[str, Any]) -> str:
    """The text with its `${name}` replaced."""
    return re.sub(r"\$\{(\w+)\}", lambda match: _plain(values[match[1]]), text)


def _plain(value: Any) -> str:
    """Frameworks may turn 50 into 50.0."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
