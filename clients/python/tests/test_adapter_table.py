"""The table of cases for all adapters, on the plain SDK. Frameworks: `npm run conformance -- --only adapters`."""

from __future__ import annotations

import pytest
from adapters.run_table import Failures, run_table
from adapters.subjects.sdk import sdk, sdk_async
from adapters.table import cases_for, read_table

_TABLE = read_table()
_SUBJECTS = (sdk, sdk_async)
_TRIES = [(subject.name, case["name"]) for subject in _SUBJECTS for case in cases_for(_TABLE, subject.name)]


@pytest.fixture(scope="module")
def failures() -> Failures:
    return run_table(_TABLE, _SUBJECTS)


@pytest.mark.parametrize(("subject", "case"), _TRIES)
def test_case(failures: Failures, subject: str, case: str) -> None:
    assert failures[subject][case] is None
