"""Runs the table on every framework that is named, or on all. Prints one result for each, as the table's head says."""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import sys

from .run_table import run_table
from .scene import Subject
from .table import LANGUAGE, read_table, spec_of

_SUBJECTS = {
    "sdk": "sdk",
    "sdk-async": "sdk",
    "langchain": "langchain",
    "langgraph": "langchain",
    "openai-agents": "openai_agents",
    "crewai": "crewai",
    "pydantic-ai": "pydantic_ai",
}


def _subject(name: str) -> Subject:
    module = importlib.import_module(f".subjects.{_SUBJECTS[name]}", __package__)
    found: Subject = getattr(module, name.replace("-", "_"))
    return found


def main(names: list[str]) -> None:
    table = read_table()
    subjects = [_subject(name) for name in names or _SUBJECTS]
    failures = run_table(table, subjects, at_once=6)
    for subject in subjects:
        spec = spec_of(table, subject.name)
        cases = {}
        for case in table["cases"]:
            failure = failures[subject.name].get(case["name"], "it never ran")
            how = "passed" if failure is None else f"failed: {failure}"
            cases[case["name"]] = "cannot" if case["name"] in spec.get("cannot", {}) else how
        versions = {name: importlib.metadata.version(name) for name in spec["packages"]}
        result = {"name": subject.name, "language": LANGUAGE, "versions": versions, "cases": cases}
        print(json.dumps(result), flush=True)


main(sys.argv[1:])
