"""Digits for other programs to read."""

import pytest

from core.device import HostArray
from core.digits.dataset import DigitSets


@pytest.fixture
def pictures(mnist: DigitSets) -> HostArray:
    """A hundred test digits, uint8 (100, 28, 28)."""
    return mnist.test.images[200:300]
