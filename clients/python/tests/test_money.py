from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reeve import InvalidRequest
from reeve.money import micros_of

MICROS = st.integers(min_value=0, max_value=999_999_999_999_999)


@given(MICROS)
def test_texts_decimals_and_whole_dollars_are_exact(micros: int) -> None:
    text = f"{micros // 1_000_000}.{micros % 1_000_000:06d}"
    assert micros_of("amount", text) == micros
    assert micros_of("amount", Decimal(text)) == micros
    assert micros_of("amount", Decimal(text + "000")) == micros
    dollars = micros // 1_000_000
    assert micros_of("amount", dollars) == dollars * 1_000_000


@given(st.floats(min_value=0, max_value=900_000_000))
def test_a_float_is_rounded_to_the_nearest_micro_dollar(amount: float) -> None:
    assert abs(Decimal(micros_of("amount", amount)) - Decimal(amount) * 1_000_000) <= Decimal("0.5")


@given(st.decimals(min_value=0, max_value=1000, places=9, allow_nan=False, allow_infinity=False))
def test_a_fraction_of_a_micro_dollar_is_refused(amount: Decimal) -> None:
    micros = amount * 1_000_000
    if micros == micros.to_integral_value():
        assert micros_of("amount", amount) == int(micros)
    else:
        with pytest.raises(InvalidRequest, match="six decimals"):
            micros_of("amount", amount)


def test_what_people_write() -> None:
    assert [micros_of("amount", each) for each in ("1", "1.37", 0.0125, 0.1 + 0.2, 3)] == [
        1_000_000,
        1_370_000,
        12_500,
        300_000,
        3_000_000,
    ]


@pytest.mark.parametrize("text", ["", "1,37", "-1", "1.", ".5", "1.0000001", "1e3", " 1", "1\n", "NaN", "١"])
def test_a_text_that_is_no_amount(text: str) -> None:
    with pytest.raises(InvalidRequest, match="^cost: must be dollars"):
        micros_of("cost", text)


@pytest.mark.parametrize(
    "amount",
    [
        -1,
        -0.1,
        float("nan"),
        float("inf"),
        1e12,
        10**9,
        True,
        Decimal(-1),
        Decimal("NaN"),
        Decimal("1e999999"),
        None,
        [],
    ],
)
def test_a_number_that_is_no_amount(amount: object) -> None:
    with pytest.raises(InvalidRequest, match="^cost: "):
        micros_of("cost", amount)  # type: ignore[arg-type]


def test_a_huge_exponent_takes_no_time() -> None:
    with pytest.raises(InvalidRequest):
        micros_of("cost", Decimal("1e-99999999"))
