"""Which devices this machine has, and how to get one by its name."""

from collections.abc import Callable

from core.cuda_device import CudaDevice
from core.device import Device, DeviceError, DeviceInfo, UnknownDeviceError
from core.gpu_probe import probe_gpus


def list_devices(cancelled: Callable[[], bool] = lambda: False) -> list[DeviceInfo]:
    """Every device of this machine, the CPU first; where no GPU can be used, one entry says why.

    Takes up to half a minute, less once `cancelled` answers True: not for the GUI thread.
    """
    cpu = Device()
    return [DeviceInfo(cpu.key, cpu.name, available=True), *probe_gpus(cancelled)]


def open_device(key: str, *, tf32: bool = False) -> Device:
    """The device called `key`; "auto" is the first GPU that works, or else the CPU. `tf32`: see CudaDevice.

    Raises UnknownDeviceError if there is no such device, DeviceError if it cannot compute.
    """
    if key == "cpu":
        return Device()
    devices = list_devices()
    if key == "auto":
        key = next((info.key for info in devices if info.available and info.key != "cpu"), "cpu")
        return Device() if key == "cpu" else CudaDevice(_index(key), tf32=tf32)
    found = next((info for info in devices if info.key == key), None)
    if found is None:
        known = ", ".join(["auto", *(info.key for info in devices)])
        raise UnknownDeviceError(f"there is no device {key!r}; this machine knows {known}")
    if not found.available:
        raise DeviceError(f"{found.key} cannot be used: {found.reason}. {found.remedy}")
    return CudaDevice(_index(key), tf32=tf32)


def _index(key: str) -> int:
    return int(key.partition(":")[2])
