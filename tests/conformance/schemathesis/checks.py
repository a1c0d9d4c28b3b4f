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
# The same of members and parameters, by their pointer and the beginning of what is said of them.
BEYOND_THIS_SCHEMA = {
    ("/query/cursor", "is not a cursor"): "A cursor is good if the list has given it.",
    ("/query/state", "must be "): "OpenAPI has no rule between parameters.",
    ("/amount_usd", "must take off at most"): "It depends on what was spent.",
}


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
        if problem["code"] in BEYOND_SCHEMAS or is_beyond_this_schema(problem.get("errors", [])):
            return None
        # At operations with headers, the tool takes a number for a body that fits `type: object`.
        if isinstance(case.body, int):
            return None
        raise


def is_beyond_this_schema(errors: list[Any]) -> bool:
    return bool(errors) and all(
        any(error.get("pointer") == at and error.get("detail", "").startswith(said) for at, said in BEYOND_THIS_SCHEMA)
        for error in errors
    )


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
