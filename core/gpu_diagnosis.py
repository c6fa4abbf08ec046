"""Why a GPU cannot compute, told from what the driver or CuPy said, and what helps.

A room of its own because it is knowledge and no doing: a table of error texts, each with its own sentence and remedy,
and the rule that picks one of the two CuPy packages. Nothing here asks the machine anything.
"""

import re
from dataclasses import dataclass, replace
from typing import NamedTuple


class Diagnosis(NamedTuple):
    """`reason` is a clause without a full stop; `remedy` is whole sentences and may end with a command to copy."""

    reason: str
    remedy: str


class _Extra(NamedTuple):
    """A way to start with a CuPy: the extra's name, its package, and the oldest CUDA version and card it runs on."""

    name: str
    package: str
    cuda: int
    capability: int


# CUDA 13 dropped all cards before Turing (7.5), CUDA 12 all before Maxwell (5.0); the better one comes first.
_EXTRAS = (_Extra("gpu", "cupy-cuda13x", 13000, 75), _Extra("gpu-cuda12", "cupy-cuda12x", 12000, 50))


@dataclass(frozen=True)
class Setup:
    """A card and what it is driven with.

    `driver_cuda` is the newest CUDA version that the driver can run (12040 is 12.4), `capability` the card's
    generation (86 is 8.6, 0 is unknown), `packages` those installed that bring CuPy.
    """

    driver_cuda: int
    capability: int
    packages: tuple[str, ...]

    @property
    def start(self) -> str:
        """The command that starts with a CuPy for this driver and card: the one installed, if it is one."""
        fitting = [extra for extra in _EXTRAS if self._fits(extra)] or [_EXTRAS[-1]]
        extra = next((extra for extra in fitting if (extra.package,) == self.packages), fitting[0])
        return f"uv run --extra {extra.name} main.py"

    @property
    def start_anew(self) -> str:
        """The remedy for a CuPy that is not right: without it, start with the right one."""
        return _start_anew(self.packages, self.start)

    @property
    def too_old_card(self) -> bool:
        """Whether the installed CuPy is for newer cards only."""
        return any(extra.package in self.packages and not self._new_enough(extra) for extra in _EXTRAS)

    def _fits(self, extra: _Extra) -> bool:
        return self.driver_cuda >= extra.cuda and self._new_enough(extra)

    def _new_enough(self, extra: _Extra) -> bool:
        return not self.capability or self.capability >= extra.capability


def _start_anew(packages: tuple[str, ...], start: str) -> str:
    if not packages:
        return f"Start with: {start}"
    # Starting with the other extra alone would leave both packages installed, one over the other.
    return f"Run uv pip uninstall {' '.join(packages)}, then start with: {start}"


_RESTART = "Restart the computer; if that does not help, reinstall the NVIDIA driver."
_CLOSE_OTHERS = "Close other programs that use the GPU (nvidia-smi lists them), then start again."
_BRING_LIBRARIES = "Start with: {start}"

_WRONG_ARCHITECTURE = re.compile(
    r"no kernel image|NO_BINARY_FOR_GPU|NoKernelImageForDevice|--gpu-architecture|invalid device function|"
    r"kernel image is invalid|ARCH_MISMATCH"
)

# What the error's text holds, the reason, the remedy; the first that fits counts. A group in parentheses that took part
# in the match is {found}.
_TABLE = [
    (re.compile(pattern, re.IGNORECASE), reason, remedy)
    for pattern, reason, remedy in [
        (
            r"libcuda\.so[.\d]*: cannot open|nvcuda\.dll -> not found|stub library",
            "CuPy does not find the NVIDIA driver",
            "Reinstall the NVIDIA driver, and take folders called stubs out of LD_LIBRARY_PATH.",
        ),
        (
            r"(lib[\w-]+\.so[.\d]*): cannot open shared object|Failure finding \"([\w.-]+)|"
            r"failed to (?:load|open) (\S+\.(?:dll|so[.\d]*\d|so))|Could not find module '([^']+)'|"
            r"Failed to dlopen (\S+):|(\S+\.dll) -> not found",
            "the CUDA library {found} is missing",
            _BRING_LIBRARIES,
        ),
        (r"DLL load failed|failed to load builtins", "a CUDA library is missing", _BRING_LIBRARIES),
        (
            r"(?:cannot|could not) open source file \"([^\"]+)|Failed to find (CUDA headers)",
            "a part of CUDA that compiles kernels is missing ({found})",
            _BRING_LIBRARIES,
        ),
        (
            r"numpy\.\S*multiarray failed to import|numpy\.\w+ size changed|compiled using NumPy",
            "the installed CuPy does not fit the installed NumPy",
            "{start_anew}",
        ),
        (
            r"No module named 'cupy|module 'cupy\S*' has no attribute|cannot import name .+ from .*'?cupy",
            "CuPy is only half installed",
            "{start_anew}",
        ),
        (
            r"multiple CuPy packages are installed",
            "several CuPy packages are installed, one over the other",
            "{start_anew}",
        ),
        (
            r"InsufficientDriver|driver version is insufficient|UNSUPPORTED_?PTX_?VERSION|unsupported toolchain|"
            r"CompatNotSupportedOnDevice|forward compatibility|RequiresNewerDriver",
            "the NVIDIA driver is older than the CUDA libraries",
            "Update the NVIDIA driver and restart the computer.",
        ),
        (
            r"SYSTEM_?DRIVER_?MISMATCH|driver / cuda driver combination",
            "parts of two versions of the NVIDIA driver are mixed, as after an update",
            _RESTART,
        ),
        (
            r"SYSTEM_?NOT_?READY|system not yet initialized",
            "the service that connects the machine's GPUs is not running",
            "On Linux, sudo systemctl start nvidia-fabricmanager starts it.",
        ),
        (
            r"out of memory|OUT_?OF_?MEMORY|ErrorMemoryAllocation|ALLOC_FAILED",
            "the card has no memory left",
            _CLOSE_OTHERS,
        ),
        (
            r"CU\w+_STATUS_(?:NOT_INITIALIZED|INITIALIZATION_FAILED)",
            "a CUDA library cannot start on the card, mostly for want of memory",
            _CLOSE_OTHERS,
        ),
        (
            r"DEVICES?_?UNAVAILABLE|busy or unavailable",
            "another program has the card for itself",
            "Close it; on Linux, sudo nvidia-smi --compute-mode=DEFAULT lets programs share the card.",
        ),
        (
            r"ECC_?UNCORRECTABLE|uncorrectable ECC",
            "the card's memory is faulty (uncorrectable ECC error)",
            "Restart the computer; if it happens again, the card needs repair.",
        ),
        (
            r"ERROR_?NO_?DEVICE|no CUDA-capable device",
            "the NVIDIA driver sees no card",
            "Check that the card is seated and powered, and that CUDA_VISIBLE_DEVICES does not hide it.",
        ),
        (
            r"illegal memory access|unspecified launch failure|LAUNCH_?FAILURE|ILLEGAL_?(?:ADDRESS|INSTRUCTION)|"
            r"device-side assert|misaligned address|hardware stack",
            "the card fails while it computes",
            _RESTART,
        ),
        (
            r"initialization error|InitializationError|ERROR_NOT_INITIALIZED|ERROR_?UNKNOWN|unknown error|"
            r"OPERATING_?SYSTEM|OS call failed",
            "the NVIDIA driver does not start",
            _RESTART,
        ),
        (
            r"No space left on device|Read-only file system|(?:Permission denied|Access is denied)",
            "CuPy cannot write its folder of compiled kernels",
            "Make room in it, or name another folder in the environment variable CUPY_CACHE_DIR.",
        ),
    ]
]


def find_obstacle(setup: Setup) -> Diagnosis | None:
    """What stands in the way and shows without importing CuPy; None if nothing does."""
    oldest = _EXTRAS[-1]
    if 0 < setup.capability < oldest.capability:
        return Diagnosis(
            f"the card is too old for CuPy: its compute capability is {setup.capability / 10}, not 5.0 or higher",
            "Train on the CPU; a GPU must be a GeForce GTX 900 or newer.",
        )
    if setup.driver_cuda < oldest.cuda:
        return Diagnosis(
            f"the NVIDIA driver is too old: it supports CUDA {_dotted(setup.driver_cuda)}, not 12.0 or higher",
            f"Update the NVIDIA driver, then start with: {setup.start}",
        )
    if not setup.packages:
        return Diagnosis("the package CuPy is not installed", f"Start with: {setup.start}")
    if len(setup.packages) > 1:
        names = " and ".join(setup.packages)
        return Diagnosis(f"the packages {names} are installed, one over the other", setup.start_anew)
    (package,) = setup.packages
    needed = next((extra.cuda for extra in _EXTRAS if extra.package == package), 0)
    if setup.driver_cuda < needed:
        return Diagnosis(
            f"the installed {package} needs a driver for CUDA {needed // 1000}, and this one supports CUDA "
            f"{_dotted(setup.driver_cuda)}",
            f"Update the NVIDIA driver, or keep it and change CuPy. {setup.start_anew}",
        )
    return None


def diagnose(error: str, setup: Setup) -> Diagnosis:
    """What `error`, the text of an exception or of the driver, means for a card in this `setup`.

    An unknown error is its own reason, in its first line that says something.
    """
    if _WRONG_ARCHITECTURE.search(error):
        return _diagnose_architecture(setup)
    for pattern, reason, remedy in _TABLE:
        match = pattern.search(error)
        if match:
            found = next((group for group in match.groups() if group), "")
            return Diagnosis(reason.format(found=found), remedy.format(start=setup.start, start_anew=setup.start_anew))
    return Diagnosis(
        _telling_line(error), f"Update the NVIDIA driver; if that does not help, install CuPy anew. {setup.start_anew}"
    )


def _diagnose_architecture(setup: Setup) -> Diagnosis:
    if setup.too_old_card:
        return Diagnosis(f"the card is too old for the installed {setup.packages[0]}", setup.start_anew)
    age = "too new" if setup.capability else "too new or too old"
    reason = f"the card is {age} for the CUDA libraries that CuPy found"
    newest = replace(setup, packages=()).start
    if newest != setup.start:
        return Diagnosis(reason, _start_anew(setup.packages, newest))
    upgrade = newest.replace("uv run", "uv run --upgrade")
    return Diagnosis(reason, f"Update the NVIDIA driver, then CuPy and its libraries with: {upgrade}")


def _telling_line(error: str) -> str:
    # When CuPy cannot be imported, it says why below a page of general advice.
    original = re.search(r"Original error:\s*(\S.*)", error)
    lines = [original[1]] if original else [line for line in error.splitlines() if re.search(r"\w", line)]
    return lines[0].strip(" .:") if lines else "it fails without a word"


def _dotted(version: int) -> str:
    return f"{version // 1000}.{version % 1000 // 10}"
