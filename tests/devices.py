"""The devices that tests run on: the CPU, the double that stands for a GPU, and a GPU where there is one that works."""

import contextlib
import importlib.util
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

from core.cuda_device import CudaDevice
from core.device import Device
from core.gpu_probe import probe_gpus
from tests.doubles.device import DoubleDevice

DEVICES: dict[str, Callable[[], Device]] = {"cpu": Device, "double": DoubleDevice}
if importlib.util.find_spec("cupy") is not None and probe_gpus(lambda: False)[0].available:
    DEVICES["gpu"] = lambda: CudaDevice(0)


def as_parameters(names: Iterable[str]) -> list[Any]:
    """The names of devices as parameters of a fixture; who computes on a GPU is marked so."""
    return [pytest.param(name, marks=pytest.mark.gpu if name == "gpu" else ()) for name in names]


@contextlib.contextmanager
def in_use(device: Device) -> Iterator[Device]:
    """`device` ready to be computed with; a CPU always is, and active it would hide NumPy's warnings from a test."""
    with contextlib.nullcontext() if type(device) is Device else device.activate():
        yield device
