"""The digits that runs in these tests learn from."""

import pytest

from core.digits.dataset import DigitSets, Splits, split


@pytest.fixture
def splits(few_digits: DigitSets) -> Splits:
    """1,000 training, 200 validation and 300 test digits."""
    return split(few_digits, 200)
