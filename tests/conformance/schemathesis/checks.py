"""What schemathesis cannot know of this API. Whatever else it finds is a failure."""

import json
import os
import re
from typing import Any

import schemathesis
from schemathesis.openapi.checks import AllowHeaderMismatch, RejectedPositiveData, UnsupportedMethodResponse
from schemathesis.specs.openapi import checks

# No schema can say which of these texts are good. The gateway says so by a code of its own.
BEYOND_SCHEMAS = {
    "invalid_token": "A token or code is good if the gateway has made it.",
    "policy_invalid": "The text of a policy or of cases is judged by its own parser.",
    "weak_password": "Characters are counted as composed, and common passwords are refused.",
}
# The same of parameters, by their pointer.
MADE_BY_THE_GATEWAY = {"/query/cursor"}


@schemathesis.hook
def before_call(ctx: Any, case: Any, kwargs: Any) -> None:
    """Whoever revokes the key of the run ends the run."""
    if case.path_parameters and case.path_parameters.get("id") == os.environ["REEVE_OWN_KEY_ID"]:
        case.path_parameters["id"] = "key_other"


@schemathesis.check
def accepted_if_it_fits(ctx: Any, response: Any, case: Any) -> bool | None:
    try:
        return checks.positive_data_acceptance(ctx, response, case)
    except RejectedPositiveData:
        problem = json.loads(response.content)
        pointers = {error.get("pointer") for error in problem.get("errors", [])}
        if problem["code"] in BEYOND_SCHEMAS or (pointers and pointers <= MADE_BY_THE_GATEWAY):
            return None
        raise


@schemathesis.check
def allow_names_what_is_there(ctx: Any, response: Any, case: Any) -> bool | None:
    try:
        return checks.allow_header_conformance(ctx, response, case)
    except AllowHeaderMismatch:
        advertised = {each.strip().lower() for each in ", ".join(response.headers["allow"]).split(",")}
        if advertised - {"head"} == methods_at(case, response):
            return None
        raise


@schemathesis.check
def no_other_methods(ctx: Any, response: Any, case: Any) -> bool | None:
    try:
        return checks.unsupported_method(ctx, response, case)
    except UnsupportedMethodResponse:
        if response.request.method.lower() in methods_at(case, response):
            return None
        raise


def methods_at(case: Any, response: Any) -> set[str]:
    """A document may be called as the path beside it, such as `test`. Then two path items meet at one address."""
    at = re.sub(r"^https?://[^/]+", "", response.request.url).split("?")[0]
    found: set[str] = set()
    for path, item in case.operation.schema.raw_schema["paths"].items():
        if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", path), at):
            found |= set(item)
    return found
