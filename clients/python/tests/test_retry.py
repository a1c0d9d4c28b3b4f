from __future__ import annotations

import pytest

from reeve import GatewayUnavailable, RetryOptions
from reeve._retry import Retries, RetryBudget, backoff, deadline_in


def test_retries_stay_within_their_budget() -> None:
    budget = RetryBudget(2, 0.1)
    assert [budget.take() for _ in range(3)] == [True, True, False]
    for _ in range(9):
        budget.answered()
    assert not budget.take()
    budget.answered()
    assert budget.take()
    for _ in range(1000):
        budget.answered()
    assert [budget.take() for _ in range(3)] == [True, True, False], "a burst is all that can be saved"


def test_a_call_gives_up_with_its_cause_when_the_budget_is_spent() -> None:
    retries = Retries(RetryBudget(1, 0), RetryOptions(), deadline_in(60))
    retries.overdue(GatewayUnavailable("first", may_have_arrived=True))
    assert 0 <= retries.pause("wait_and_pay") <= 0.05
    retries.overdue(GatewayUnavailable("second", may_have_arrived=False))
    assert retries.pause("another") == 0
    assert retries.pause("wait") >= 0
    with pytest.raises(GatewayUnavailable, match="^second$") as caught:
        retries.pause("wait_and_pay")
    assert caught.value.may_have_arrived, "an earlier attempt may have arrived"


def test_a_call_names_each_place_where_it_was_tried() -> None:
    retries = Retries(RetryBudget(0, 0), RetryOptions(), deadline_in(60))
    for address in ("a:1", "b:2", "a:1"):
        retries.overdue(GatewayUnavailable("refused", addresses=(address,)))
    with pytest.raises(GatewayUnavailable, match="^refused, asked at a:1, b:2$"):
        retries.pause("wait_and_pay")


def test_a_call_gives_up_at_its_deadline() -> None:
    retries = Retries(RetryBudget(10, 0), RetryOptions(), deadline_in(0.000_001))
    with pytest.raises(GatewayUnavailable, match="no answer within 1e-06 s"):
        retries.overdue(GatewayUnavailable("gone"))


def test_waits_grow_up_to_their_limit_and_are_random() -> None:
    options = RetryOptions(initial_backoff=0.1, max_backoff=0.3)
    for retry, most in ((0, 0.1), (1, 0.2), (2, 0.3), (5000, 0.3)):
        waits = {backoff(retry, options) for _ in range(50)}
        assert len(waits) > 1
        assert max(waits) <= most
