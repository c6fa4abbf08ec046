"""What every test shares: no screen is needed, nothing is left behind, and one `device` fixture serves all devices."""

import os

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
if "PYTEST_XDIST_WORKER" in os.environ:
    # Several processes whose products wait busily for each other's cores would all come to a halt.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import gc
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import settings

from core import device_list
from core.device import Device
from core.digits.dataset import DigitSets
from core.digits.mnist import load_mnist
from core.training import learner
from tests.devices import DEVICES, as_parameters, in_use

# What is drawn at random is drawn alike in every run of CI: a change passes or fails by itself.
settings.register_profile("ci", derandomize=True, deadline=None)
if os.environ.get("CI"):
    settings.load_profile("ci")


@pytest.fixture(params=as_parameters(DEVICES))
def device(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Device]:
    """Every device that there is here, and one that stands for a GPU; runs open one of their own by its key."""
    make = DEVICES[request.param]

    def open_device(key: str, **choices: Any) -> Device:
        return make() if key == device.key else device_list.open_device(key, **choices)

    monkeypatch.setattr(learner, "open_device", open_device)
    with in_use(make()) as device:
        yield device


@pytest.fixture(scope="session")
def mnist() -> DigitSets:
    """The real thing, read once."""
    return load_mnist()


@pytest.fixture(scope="session")
def few_digits(mnist: DigitSets) -> DigitSets:
    """The first 1,200 training and 300 test digits of MNIST, for runs of well under a second."""
    return DigitSets("few", mnist.train.part(0, 1200), mnist.test.part(0, 300))


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20)


@pytest.fixture(autouse=True)
def no_thread_left_behind(request: pytest.FixtureRequest) -> Iterator[None]:
    before = set(threading.enumerate())
    yield
    left = threads_since(before)
    if any(thread.name.startswith("inkling-helper") for thread in left):
        # A device's helpers end with the device: let go of it.
        request.node.funcargs.clear()
        gc.collect()
        for thread in left:
            thread.join(5.0)
        left = threads_since(before)
    assert not left, f"threads left behind: {left}"


def threads_since(before: set[threading.Thread]) -> list[threading.Thread]:
    # Of a thread of Qt's that once asked for its name, Python up to 3.11 keeps a record for ever.
    started = [thread for thread in threading.enumerate() if not isinstance(thread, threading._DummyThread)]
    return [thread for thread in started if thread not in before and thread.is_alive()]
