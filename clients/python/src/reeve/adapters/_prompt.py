"""The prompts of models as rules have masked them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Any

from .._flow import Flow
from .._said import Said
from .._same_json import same_json
from ..errors import ReeveError, ResultDenied
from ._prompt_files import file_text_in, files_in, put_file
from ._unmaskable import UnmaskablePrompt, unfit

Masked = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Prompt:
    #: What the model is asked, as JSON.
    says: Mapping[str, Any]
    #: What describes a form, of tools or of the answer. The names in it are part of the form: only texts are
    #: masked, and numbers that are as long as a card's.
    forms: Mapping[str, Any]
    #: What the provider gets beside, and no adapter changes: where rules mask a text or a name in it, the call
    #: is not made.
    fixed: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AskedPrompt:
    """What a model is asked, by what rules mask of it. An adapter that has it sends what `put` makes of the rest."""

    #: What the framework sends if nothing is masked.
    given: Any
    #: What it says. Only called where rules mask it.
    read: Callable[[], Prompt]
    #: What is sent in place of `given`. It gets the members that rules have changed.
    put: Callable[[Masked], Any]


def masked_prompt(op: Said, asked: AskedPrompt) -> Flow[Any]:
    """What to send to the provider. Raises if the call must not happen."""
    if not op.answer.judge_prompt:
        return asked.given
    try:
        return (yield from _judged(op, asked))
    except BaseException as error:
        # Nothing was sent.
        op.spent_usd(0)
        op.ended("cancelled")
        if isinstance(error, ReeveError) or not isinstance(error, Exception):
            raise
        why = error if isinstance(error, UnmaskablePrompt) else "it cannot be read"
        raise ResultDenied(op.op_id, f"the prompt cannot be masked: {why}", source="sdk") from None


def _judged(op: Said, asked: AskedPrompt) -> Flow[Any]:
    read = asked.read()
    texts = {name: list(_texts_in(form)) for name, form in read.forms.items()}
    options = {name: found for name, each in read.fixed.items() if (found := list(_texts_in(each, names=True)))}
    files = list(files_in(read.says))
    beside = {"files": [each.file.text for each in files], "options": list(options.values())}
    prompt = {**read.says, **texts, **{name: each for name, each in beside.items() if each}}
    masked = yield from op._checked_prompt(prompt)
    # A name that is masked would leave the member that it named as it was.
    if not isinstance(masked, dict) or list(masked) != list(prompt):
        raise UnmaskablePrompt("a rule masks the name of a member of the prompt, which cannot be another one")
    _require_same(options, masked.get("options", []))
    for placed, left in zip(files, _list_of(masked.get("files", []), len(files)), strict=True):
        put_file(masked, placed, left)
    said = {**read.says, **texts}
    changed = {name: masked[name] for name, each in said.items() if not same_json(masked[name], each)}
    for name in changed.keys() & texts.keys():
        changed[name] = _with_texts(read.forms[name], iter(_list_of(changed[name], len(texts[name]))))
    return asked.put(changed) if changed else asked.given


def _require_same(options: Mapping[str, list[Any]], masked: Any) -> None:
    for (name, texts), left in zip(options.items(), _list_of(masked, len(options)), strict=True):
        if not same_json(left, texts):
            raise UnmaskablePrompt(f"a rule masks a text in {name}, which is sent as it is or not at all")


#: A card has at least 13 digits.
_SHORTEST_CARD = 10**12


def _is_said(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, (int, float)) and _SHORTEST_CARD <= abs(value) < inf)


def _texts_in(form: Any, names: bool = False) -> Iterator[str | int | float]:
    if _is_said(form):
        yield form
        file = file_text_in(form) if isinstance(form, str) else None
        if file is not None:
            yield file.text
    elif isinstance(form, dict):
        for name, each in form.items():
            if names:
                yield str(name)
            yield from _texts_in(each, names)
    elif isinstance(form, (list, tuple)):
        for each in form:
            yield from _texts_in(each, names)
    # What a provider makes of any other object, nobody knows here.
    elif form is not None and not isinstance(form, (bool, int, float)):
        raise UnmaskablePrompt(f"what is sent beside it holds a {type(form).__name__}")


def _with_texts(form: Any, texts: Iterator[Any]) -> Any:
    """The same form with other texts, in the order in which they were found."""
    if _is_said(form):
        return _left_of(form, texts)
    if isinstance(form, dict):
        return {name: _with_texts(each, texts) for name, each in form.items()}
    if isinstance(form, (list, tuple)):
        return [_with_texts(each, texts) for each in form]
    return form


def _left_of(given: Any, texts: Iterator[Any]) -> Any:
    """The text or number as it is left, and so the file that it holds."""
    said = next(texts)
    # What was masked is a text, also where it was a number.
    if not isinstance(said, str) and said != given:
        raise unfit()
    file = file_text_in(given) if isinstance(given, str) else None
    if file is None or (text := next(texts)) == file.text:
        return said
    if not isinstance(text, str) or (said != given and not file.has_all):
        raise unfit()
    return file.written(text)


def _list_of(masked: Any, length: int) -> list[Any]:
    if not isinstance(masked, list) or len(masked) != length:
        raise unfit()
    return masked
