"""Why a prompt is not sent."""

from __future__ import annotations


class UnmaskablePrompt(Exception):
    """Says why a prompt cannot be masked. It names no part of what the prompt says."""


def unfit() -> UnmaskablePrompt:
    return UnmaskablePrompt("a rule masks more of it than its texts")
