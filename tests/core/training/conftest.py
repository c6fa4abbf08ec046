"""The digits that runs in these tests learn from, and jobs for the device that is being tested."""

import functools

import pytest

from core.device import Device
from core.digits.dataset import DigitSets, Splits, split
from tests.core.training import runs
from tests.core.training.runs import JobMaker


@pytest.fixture
def splits(few_digits: DigitSets) -> Splits:
    """1,000 training, 200 validation and 300 test digits."""
    return split(few_digits, 200)


@pytest.fixture
def job(device: Device) -> JobMaker:
    """Makes jobs as `runs.job` does."""
    return functools.partial(runs.job, device=device.key)
