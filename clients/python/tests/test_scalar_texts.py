"""Held against the table that every language is held against."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reeve._wire_result import is_scalar_text

CASES = json.loads((Path(__file__).resolve().parents[3] / "tests" / "scalar-texts" / "cases.json").read_text())


@pytest.mark.parametrize("text", CASES["scalars"])
def test_is_a_scalar(text: str) -> None:
    assert is_scalar_text(text)


@pytest.mark.parametrize("text", CASES["texts"])
def test_is_a_text(text: str) -> None:
    assert not is_scalar_text(text)


@pytest.mark.parametrize("text", [" " * 1_000_000, "\t\n\r " * 250_000, "1" + " " * 1_000_000, '"' * 1_000_000])
def test_a_long_text_keeps_nobody_waiting(text: str) -> None:
    assert not is_scalar_text(text + "x")
