"""What NVIDIA's driver says of itself and of its cards, asked directly through its C interface.

A room of its own because it needs no CuPy: the cards can be named even where nothing can compute on them.
"""

import ctypes
import sys
from dataclasses import dataclass

_STUB_LIBRARY = 34
_CAPABILITY_MAJOR = 75
_CAPABILITY_MINOR = 76


@dataclass(frozen=True)
class Card:
    """A graphics card; `capability` is NVIDIA's number for its generation, 86 for 8.6, 0 if unknown."""

    name: str
    memory_bytes: int = 0
    capability: int = 0


@dataclass(frozen=True)
class Driver:
    """`cuda_version` is the newest CUDA it can run (13010 is 13.1); `error` says why there are no cards, if known."""

    cuda_version: int
    cards: tuple[Card, ...] = ()
    error: str = ""


def find_driver() -> Driver | None:
    """The driver of this machine; None without one. To be called in a process that may hang or die."""
    try:
        cuda = ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    except OSError:
        return None
    version, count = ctypes.c_int(0), ctypes.c_int(0)
    cuda.cuDriverGetVersion(ctypes.byref(version))
    status = cuda.cuInit(0) or cuda.cuDeviceGetCount(ctypes.byref(count))
    if status:
        return Driver(version.value, error=_error_text(cuda, status))
    return Driver(version.value, tuple(_card(cuda, index) for index in range(count.value)))


def _card(cuda: ctypes.CDLL, index: int) -> Card:
    device, name, memory = ctypes.c_int(0), ctypes.create_string_buffer(256), ctypes.c_size_t(0)
    cuda.cuDeviceGet(ctypes.byref(device), index)
    cuda.cuDeviceGetName(name, len(name), device)
    cuda.cuDeviceTotalMem_v2(ctypes.byref(memory), device)
    major, minor = ctypes.c_int(0), ctypes.c_int(0)
    cuda.cuDeviceGetAttribute(ctypes.byref(major), _CAPABILITY_MAJOR, device)
    cuda.cuDeviceGetAttribute(ctypes.byref(minor), _CAPABILITY_MINOR, device)
    return Card(name.value.decode(errors="replace"), memory.value, 10 * major.value + minor.value)


def _error_text(cuda: ctypes.CDLL, status: int) -> str:
    """As CuPy would write it: "CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected"."""
    if status == _STUB_LIBRARY:
        # The stub that CUDA's toolkit brings crashes when asked for the text of its own error.
        return "CUDA_ERROR_STUB_LIBRARY: CUDA driver is a stub library"
    name, text = ctypes.c_char_p(), ctypes.c_char_p()
    cuda.cuGetErrorName(status, ctypes.byref(name))
    cuda.cuGetErrorString(status, ctypes.byref(text))
    return f"{(name.value or b'CUDA error %d' % status).decode()}: {(text.value or b'').decode(errors='replace')}"
