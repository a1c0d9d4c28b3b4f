"""The token of an agent, which is renewed while it is in use."""

from __future__ import annotations

from dataclasses import dataclass, field

#: How soon a renewal that failed is tried again, by the life of the token.
TRIES_PER_LIFE = 30
#: A renewal whose answer was lost can be repeated while the former token works, for a minute.
LONGEST_PAUSE_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class TokenLife:
    """How long a token works, and for how much longer, in seconds."""

    ttl: float
    left: float

    @property
    def renew_after(self) -> float:
        """The wait until two thirds of the life are over."""
        return max(self.left - self.ttl / 3, 0.0)


@dataclass(slots=True)
class Credential:
    """Whoever sends takes the token from here each time."""

    token: str = field(repr=False)
