"""A batch for the small networks, and the choice of how their dense layers are treated."""

import numpy as np
import pytest

from core.device import HostArray
from tests.core.nn.networks import BATCH, CLASSES, INPUTS, PICTURE, make_narrow


@pytest.fixture
def x(rng: np.random.Generator) -> HostArray:
    return rng.normal(0, 1, (INPUTS, BATCH))


@pytest.fixture
def pictures(rng: np.random.Generator) -> HostArray:
    return rng.normal(0, 1, (*PICTURE, BATCH))


@pytest.fixture
def targets(rng: np.random.Generator) -> HostArray:
    return np.eye(CLASSES)[:, rng.integers(0, CLASSES, BATCH)]


@pytest.fixture(params=[False, True], ids=["wide", "narrow"])
def narrow(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether every Linear of few units for its inputs is treated as a large one is."""
    if request.param:
        make_narrow(monkeypatch)
    return bool(request.param)
