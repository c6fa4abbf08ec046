"""The driver is asked in its own tongue: a library in C answers as NVIDIA's documentation says that the driver does."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux") or shutil.which("cc") is None, reason="needs Linux and a C compiler"
)

# Handles are not indices here, as nothing promises that they are. Numbers of errors as in cuda.h.
DRIVER_IN_C = """
#include <stddef.h>
#include <string.h>
int cuDriverGetVersion(int *version) { *version = 12040; return 0; }
int cuInit(unsigned flags) { return flags == 0 ? STATUS : 1; }
int cuDeviceGetCount(int *count) { *count = 2; return 0; }
int cuDeviceGet(int *device, int index) { *device = 70 + index; return 0; }
int cuDeviceGetName(char *name, int length, int device) {
    strncpy(name, device == 70 ? "Big Card" : "Small \\xff Card", length); return 0;
}
int cuDeviceTotalMem_v2(size_t *bytes, int device) {
    *bytes = device == 70 ? (size_t)150000000000 : (size_t)2147483648; return 0;
}
int cuDeviceGetAttribute(int *value, int attribute, int device) {
    if (attribute == 75) *value = device == 70 ? 12 : 6;
    if (attribute == 76) *value = device == 70 ? 0 : 1;
    return 0;
}
int cuGetErrorName(int error, const char **name) {
    if (error == 34) *(volatile int *)0 = 0;
    if (error != 100) { *name = NULL; return 1; }
    *name = "CUDA_ERROR_NO_DEVICE"; return 0;
}
int cuGetErrorString(int error, const char **text) {
    if (error != 100) { *text = NULL; return 1; }
    *text = "no CUDA-capable device is detected"; return 0;
}
"""


def build_driver(folder: Path, status: int = 0) -> dict[str, str]:
    """Compile it so that its start gives `status`; returns the environment of a machine that has it."""
    command = ["cc", "-shared", "-fPIC", f"-DSTATUS={status}", "-x", "c", "-", "-o", str(folder / "libcuda.so.1")]
    subprocess.run(command, input=DRIVER_IN_C, text=True, check=True)
    return {**os.environ, "LD_LIBRARY_PATH": str(folder), "PYTHONPATH": str(ROOT)}


def answer(script: str, env: dict[str, str]) -> str:
    run = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, check=True)
    return run.stdout.strip()


def ask(env: dict[str, str]) -> str:
    return answer("from core.nvidia_driver import *; print(find_driver())", env)


def test_every_card_has_its_name_its_memory_and_its_generation(tmp_path: Path) -> None:
    cards = "(Card(name='Big Card', memory_bytes=150000000000, capability=120), "
    cards += "Card(name='Small \ufffd Card', memory_bytes=2147483648, capability=61))"
    assert ask(build_driver(tmp_path)) == f"Driver(cuda_version=12040, cards={cards}, error='')"


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (100, "CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected"),
        (34, "CUDA_ERROR_STUB_LIBRARY: CUDA driver is a stub library"),
        (4711, "CUDA error 4711: "),
    ],
)
def test_a_driver_that_does_not_start_says_why(tmp_path: Path, status: int, error: str) -> None:
    assert ask(build_driver(tmp_path, status)) == f"Driver(cuda_version=12040, cards=(), error={error!r})"


def test_from_the_driver_to_the_list_cupy_is_tried_in_the_probe_s_process_alone(tmp_path: Path) -> None:
    env = build_driver(tmp_path)
    package = tmp_path / "site" / "cupy"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(
        "import os, pathlib\n"
        f"pathlib.Path({str(tmp_path / 'importers')!r}).open('a').write(f'{{os.getpid()}} ')\n"
        "raise RuntimeError('cudaErrorMemoryAllocation: out of memory')\n"
    )
    env["PYTHONPATH"] += os.pathsep + str(package.parent)
    script = (
        "import os, sys\n"
        "from core.command_line import run\n"
        "status = run(['devices'])\n"
        "print(status, os.getpid(), 'cupy' in sys.modules)"
    )
    lines = answer(script, env).splitlines()
    assert lines[1] == "cuda:0: Big Card, 139.7 GiB (not available)"
    assert lines[2].startswith("    the card has no memory left. ")
    assert lines[3] == "cuda:1: Small \ufffd Card, 2.0 GiB (not available)"
    status, process, imported = lines[-1].split()
    assert (status, imported) == ("0", "False")
    importers = set((tmp_path / "importers").read_text().split())
    assert importers
    assert process not in importers
