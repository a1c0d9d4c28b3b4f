"""Held against the table that every language is held against."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reeve import AgentId, InvalidRequest
from reeve._exact_numbers import inexact_number_in, is_exact_number
from reeve._prepare import prepare_check
from reeve.adapters._jsonable import parsed

CASES = json.loads((Path(__file__).resolve().parents[3] / "tests" / "exact-numbers" / "cases.json").read_text())
ME = AgentId("acme", "core", "one")


@pytest.mark.parametrize("number", CASES["exact"])
def test_survives(number: str) -> None:
    assert is_exact_number(number)
    assert inexact_number_in(f'{{"n":{number}}}') is None


@pytest.mark.parametrize("number", CASES["inexact"])
def test_does_not_survive(number: str) -> None:
    assert not is_exact_number(number)
    assert inexact_number_in(f"[1,{number}]") == number
    with pytest.raises(
        InvalidRequest, match=f"the number {number} is not the same to every reader".replace(".", "[.]")
    ):
        prepare_check(ME, "token", {"tool": "pay", "args": parsed(f'{{"n": [{number}]}}')}, frozenset())


@pytest.mark.parametrize("case", CASES["documents"])
def test_document(case: dict[str, Any]) -> None:
    assert inexact_number_in(case["json"]) == case["inexact"]


@pytest.mark.parametrize("args", [{"n": 2**53 + 1}, {"n": [float("inf")]}, {"n": float("nan")}, {"n": 10**5000}])
def test_is_refused_before_anything_is_sent(args: Any) -> None:
    with pytest.raises(InvalidRequest, match="^args: "):
        prepare_check(ME, "token", {"tool": "pay", "args": args}, frozenset())


def test_long_texts_take_no_long_time() -> None:
    for text in ('["' + "a" * 2_000_000, "[1" + "0" * 2_000_000 + "1]", '["' + "\\\\" * 1_000_000 + '",1e400]'):
        inexact_number_in(text + "1e400")
