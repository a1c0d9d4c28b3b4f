"""What happens to clients when a process forks.

The library that carries the calls has threads and locks of its own. A fork copies them in the middle of whatever they
do, so a child that used a copied connection would hang or crash now and then. The clients of a child know that they
belong to its parent, and say so instead.
"""

from __future__ import annotations

import os
import weakref
from typing import Protocol


class Forkable(Protocol):
    """Something with connections and threads."""

    forked: bool


_forkable: weakref.WeakSet[Forkable] = weakref.WeakSet()


def follow_forks(one: Forkable) -> None:
    _forkable.add(one)


def _in_child() -> None:
    for one in list(_forkable):
        one.forked = True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
