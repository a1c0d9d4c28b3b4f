"""Many checks at once, split by what the gateway takes: a number of checks and a number of bytes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ._flow import Flow
from ._prepare import PreparedCheck
from ._retry import Deadline
from ._rpc import BATCH_CHECK, LARGEST_MESSAGE
from .answer import Answer, answer_of
from .errors import InternalError, InvalidRequest
from .v1.policy_service_pb2 import BatchCheckRequest

if TYPE_CHECKING:
    from ._link import GatewayLink

_MOST = 1000
#: The tag and length of one check in its batch.
_OVERHEAD = 8
_PLACE = re.compile(r"^requests\[(\d+)\]")

Batch = tuple[int, Sequence[PreparedCheck]]


def batches_of(checks: Sequence[PreparedCheck]) -> list[Batch]:
    """Each batch with the index of its first check among all checks."""
    batches: list[Batch] = []
    first = size = 0
    for index, check in enumerate(checks):
        bytes_of = check.request.ByteSize() + _OVERHEAD
        if index > first and (index - first >= _MOST or size + bytes_of > LARGEST_MESSAGE):
            batches.append((first, checks[first:index]))
            first, size = index, 0
        size += bytes_of
    if checks:
        batches.append((first, checks[first:]))
    return batches


def check_batch(
    link: GatewayLink, first: int, batch: Sequence[PreparedCheck], deadline: Deadline
) -> Flow[list[Answer]]:
    request = BatchCheckRequest(requests=[check.request for check in batch])
    try:
        answer = yield from link.send(BATCH_CHECK, request, deadline)
    except InvalidRequest as error:
        # The gateway counts within the batch. The caller counts within all checks.
        raise InvalidRequest(_PLACE.sub(lambda place: f"checks[{int(place[1]) + first}]", str(error))) from None
    if len(answer.responses) != len(batch):
        raise InternalError("the gateway answered another number of checks than were asked")
    return [answer_of(response, check.ids) for response, check in zip(answer.responses, batch, strict=True)]
