"""Errors as they were met in the wild: each is recognised, in words of its own and with a remedy that can be followed.

The texts are those that people reported (the number is the issue's, at github.com/cupy/cupy where no other place is
named) or that CuPy 14.2 said on a machine without a GPU ("14.2").
"""

import re

import pytest

from core.gpu_diagnosis import Diagnosis, Setup, diagnose, find_obstacle

GPU = "uv run --extra gpu main.py"
CUDA12 = "uv run --extra gpu-cuda12 main.py"
NEW = Setup(13000, 86, ("cupy-cuda13x",))
OLD = Setup(12040, 86, ("cupy-cuda12x",))

IMPORT_FAILED = """
================================================================
Failed to import CuPy.

If you installed CuPy via wheels (cupy-cudaXXX or cupy-rocm-X-X), make sure that the package matches with the version \
of CUDA or ROCm installed.

On Linux, you may need to set LD_LIBRARY_PATH environment variable depending on how you installed CUDA/ROCm.
On Windows, try setting CUDA_PATH environment variable.

Check the Installation Guide for details:
  https://docs.cupy.dev/en/latest/install.html{}

Original error:
  {}
================================================================
"""
WINDOWS_LIBRARIES = """

CUDA Path: None
DLL dependencies:
  nvcuda.dll -> C:\\Windows\\system32\\nvcuda.dll
  nvrtc64_120_0.dll -> not found"""
DUPLICATES = """
--------------------------------------------------------------------------------

  CuPy may not function correctly because multiple CuPy packages are installed
  in your environment:

    cupy-cuda12x, cupy-cuda13x

  Follow these steps to resolve this issue:
"""
NO_SUCH_FILE = "cannot open shared object file: No such file or directory"

# Where it was met, the error, what must be said of it, and how the remedy must end.
CUDA_LIBRARIES = [
    (
        "8317",
        f"CuPy failed to load libnvrtc.so.12: OSError: libnvrtc.so.12: {NO_SUCH_FILE}",
        "library libnvrtc.so.12 is missing",
    ),
    (
        "9318",
        f"CuPy failed to load libnvrtc.so.13: OSError: libnvrtc.so.13: {NO_SUCH_FILE}",
        "library libnvrtc.so.13 is missing",
    ),
    ("8188", f"libcublas.so.11: {NO_SUCH_FILE}", "library libcublas.so.11 is missing"),
    (
        "8226",
        IMPORT_FAILED.format("", f"ImportError: libcudart.so.12: {NO_SUCH_FILE}"),
        "library libcudart.so.12 is missing",
    ),
    (
        "kijai/ComfyUI-GIMM-VFI 17",
        "CuPy failed to load nvrtc64_120_0.dll: FileNotFoundError: Could not find module 'nvrtc64_120_0.dll' (or one "
        "of its dependencies). Try using the full path with constructor syntax.",
        "library nvrtc64_120_0.dll is missing",
    ),
    (
        "7253",
        IMPORT_FAILED.format(
            "", "ImportError: DLL load failed while importing runtime: The specified module could not be found."
        ),
        "a CUDA library is missing",
    ),
    (
        "6325",
        IMPORT_FAILED.format("", "ImportError: DLL load failed while importing runtime: 找不到指定的模块。"),
        "a CUDA library is missing",
    ),
    (
        "7279",
        IMPORT_FAILED.format(
            WINDOWS_LIBRARIES,
            "ImportError: DLL load failed while importing runtime: The specified module could not be found.",
        ),
        "library nvrtc64_120_0.dll is missing",
    ),
    (
        "9719",
        'Failure finding "libcublasLt.so": No such file: libcublasLt.so*, No such file: libcublasLt.so*, No such file: '
        '/usr/local/cuda/lib64/libcublasLt.so\n  listdir("/usr/local/cuda/lib64"):\n    cmake\n    libaccinj64.so',
        "library libcublasLt.so is missing",
    ),
    (
        "14.2",
        'Failure finding "libnvrtc.so.13 or libnvrtc.so.12": No such file: libnvrtc.so.13 or libnvrtc.so.12, '
        "No such file: libnvrtc.so.13 or libnvrtc.so.12\n",
        "library libnvrtc.so.13 is missing",
    ),
    (
        "NVIDIA/numba-cuda 196",
        "nvrtc: error: failed to open libnvrtc-builtins.so.12.8.\n"
        "  Make sure that libnvrtc-builtins.so.12.8 is installed correctly.",
        "library libnvrtc-builtins.so.12.8 is missing",
    ),
    ("ucbdrive/hd3 3", "nvrtc: error: failed to load builtins", "a CUDA library is missing"),
    (
        "8466",
        "ComfyUI_windows_portable\\python_embeded\\Lib\\site-packages\\cupy\\_core\\include\\cupy\\_cuda\\cuda-12.4\\"
        'cuda_fp16.h(129): catastrophic error: cannot open source file "vector_types.h"\n#include "vector_types.h"',
        "compiles kernels is missing (vector_types.h)",
    ),
    (
        "5202",
        "/tmp/tmpiatufk20/d1a46dada092a1d26c70ca560727a5db_2.cubin.cu(56): catastrophic error: "
        'cannot open source file "cuda_runtime.h"',
        "compiles kernels is missing (cuda_runtime.h)",
    ),
]
DRIVER = [
    (
        "NVIDIA/FastPhotoStyle 68, 14.2",
        "cudaErrorInsufficientDriver: CUDA driver version is insufficient for CUDA runtime version",
        "driver is older than the CUDA libraries",
        "Update the NVIDIA driver",
    ),
    (
        "14.2",
        "cudaErrorCallRequiresNewerDriver: API call is not supported in the installed CUDA driver",
        "driver is older than the CUDA libraries",
        "Update the NVIDIA driver",
    ),
    (
        "Project-MONAI/MONAI 3541",
        "CUDA_ERROR_UNSUPPORTED_PTX_VERSION: the provided PTX was compiled with an unsupported toolchain.",
        "driver is older than the CUDA libraries",
        "Update the NVIDIA driver",
    ),
    (
        "rapidsai/cusignal 398",
        "cudaErrorCompatNotSupportedOnDevice: forward compatibility was attempted on non supported HW",
        "driver is older than the CUDA libraries",
        "restart",
    ),
    (
        "NVIDIA/nvidia-docker 1705",
        "cudaErrorSystemDriverMismatch: system has unsupported display driver / cuda driver combination",
        "two versions of the NVIDIA driver are mixed",
        "Restart the computer",
    ),
    (
        "1790",
        f"libcuda.so.1: {NO_SUCH_FILE}",
        "does not find the NVIDIA driver",
        "Reinstall the NVIDIA driver",
    ),
    (
        "im-djh/CMD 4",
        "CUDA_ERROR_STUB_LIBRARY: CUDA driver is a stub library",
        "does not find the NVIDIA driver",
        "stubs out of LD_LIBRARY_PATH",
    ),
    (
        "2549",
        "cudaErrorNoDevice: no CUDA-capable device is detected",
        "sees no card",
        "CUDA_VISIBLE_DEVICES",
    ),
    (
        "NVIDIA/cuml 5624",
        "CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected",
        "sees no card",
        "seated and powered",
    ),
    ("1351", "cudaErrorUnknown: unknown error", "driver does not start", "Restart the computer"),
    ("numba/numba 8638", "CUDA_ERROR_UNKNOWN: unknown error", "driver does not start", "reinstall the NVIDIA driver"),
    (
        "chainer/chainer 1087",
        "cudaErrorInitializationError: initialization error",
        "driver does not start",
        "Restart the computer",
    ),
    (
        "2845",
        "cudaErrorSystemNotReady: system not yet initialized",
        "connects the machine's GPUs is not running",
        "sudo systemctl start nvidia-fabricmanager",
    ),
]
CARD = [
    (
        "2537",
        "Out of memory allocating 25,600,000 bytes (allocated so far: 3,635,267,072 bytes).",
        "no memory left",
        "Close other programs",
    ),
    (
        "1912",
        "out of memory to allocate 1073741824 bytes (total 12373894656 bytes)",
        "no memory left",
        "Close other programs",
    ),
    ("1576", "cudaErrorMemoryAllocation: out of memory", "no memory left", "nvidia-smi"),
    ("donaldlab/OSPREY3 67", "CUDA_ERROR_OUT_OF_MEMORY", "no memory left", "Close other programs"),
    ("3935", "CUBLAS_STATUS_NOT_INITIALIZED", "cannot start on the card", "Close other programs"),
    ("6277", "CURAND_STATUS_INITIALIZATION_FAILED", "cannot start on the card", "Close other programs"),
    (
        "rapidsai/dask-cuda 1342",
        "cudaErrorDevicesUnavailable: CUDA-capable device(s) is/are busy or unavailable",
        "another program has the card for itself",
        "nvidia-smi --compute-mode=DEFAULT",
    ),
    (
        "pfnet/PaintsChainer 134",
        "all CUDA-capable devices are busy or unavailable",
        "another program has the card for itself",
        "Close it",
    ),
    (
        "ostris/ai-toolkit 470",
        "cudaErrorECCUncorrectable: uncorrectable ECC error encountered",
        "memory is faulty",
        "needs repair",
    ),
    (
        "7482",
        "cudaErrorIllegalAddress: an illegal memory access was encountered",
        "fails while it computes",
        "Restart",
    ),
    (
        "7615",
        "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered",
        "fails while it computes",
        "Restart",
    ),
    (
        "NVIDIA/accelerated-computing-hub 263",
        "[Errno 13] Permission denied: '/tmp/cupy_cache/72f86c41c8573e998064b7a8fdab240eba823b7e.cubin'",
        "cannot write its folder of compiled kernels",
        "CUPY_CACHE_DIR",
    ),
]
PACKAGE = [
    (
        "ehristoforu/DeFooocus 52",
        IMPORT_FAILED.format(
            "",
            "ImportError: numpy.core.multiarray failed to import (auto-generated because you didn't call "
            "'numpy.import_array()' after cimporting numpy; use '<void>numpy._import_array' to disable if you are "
            "certain you don't need it).",
        ),
        "does not fit the installed NumPy",
    ),
    (
        "seung-lab/igneous 203",
        "numpy.dtype size changed, may indicate binary incompatibility. Expected 96 from C header, got 88 from "
        "PyObject",
        "does not fit the installed NumPy",
    ),
    ("gpustack/gpustack 5459, 14.2", DUPLICATES, "several CuPy packages"),
    # What Python says once one of two packages was removed and took files of the other with it.
    ("Python 3.11", "module 'cupy' has no attribute 'cuda'", "half installed"),
    ("Python 3.11", "No module named 'cupy._environment'", "half installed"),
    ("Python 3.11", "cannot import name '_core' from 'cupy' (/site-packages/cupy/__init__.py)", "half installed"),
]
ARCHITECTURE = [
    ("9475", "nvrtc: error: invalid value for --gpu-architecture (-arch)"),
    ("9106", "CUDA_ERROR_NO_BINARY_FOR_GPU: no kernel image is available for execution on the device"),
    (
        "rapidsai/dask-cuda 328",
        "parallel_for failed: "
        "cudaErrorNoKernelImageForDevice: no kernel image is available for execution on the device",
    ),
    ("8045", "CUDA_ERROR_INVALID_SOURCE: device kernel image is invalid"),
    ("JuliaGPU/CUDA.jl 609", "CUBLAS_STATUS_ARCH_MISMATCH"),
]


def assert_says(diagnosis: Diagnosis, words: str, remedy: str) -> None:
    assert words in diagnosis.reason
    assert remedy in diagnosis.remedy
    assert "\n" not in diagnosis.reason + diagnosis.remedy
    assert "{" not in diagnosis.reason + diagnosis.remedy
    assert not re.search(r"[.:]$", diagnosis.reason)


@pytest.mark.parametrize(("source", "error", "words"), CUDA_LIBRARIES)
def test_a_missing_cuda_library_is_named_and_brought_by_a_start_with_the_same_cupy(
    source: str, error: str, words: str
) -> None:
    assert_says(diagnose(error, NEW), words, f"Start with: {GPU}")
    assert_says(diagnose(error, OLD), words, f"Start with: {CUDA12}")


@pytest.mark.parametrize(("source", "error", "words", "remedy"), DRIVER + CARD)
def test_a_driver_or_card_that_fails_has_its_own_sentence_and_remedy(
    source: str, error: str, words: str, remedy: str
) -> None:
    for setup in (NEW, OLD, Setup(13000, 0, ())):
        assert_says(diagnose(error, setup), words, remedy)


@pytest.mark.parametrize(("source", "error", "words"), PACKAGE)
def test_a_cupy_that_is_not_right_is_removed_before_the_right_one_is_brought(
    source: str, error: str, words: str
) -> None:
    assert_says(diagnose(error, NEW), words, f"uv pip uninstall cupy-cuda13x, then start with: {GPU}")
    both = Setup(12040, 86, ("cupy-cuda12x", "cupy-cuda13x"))
    assert_says(diagnose(error, both), words, f"uv pip uninstall cupy-cuda12x cupy-cuda13x, then start with: {CUDA12}")


@pytest.mark.parametrize(("source", "error"), ARCHITECTURE)
class TestArchitecture:
    @pytest.mark.parametrize("capability", [50, 61, 70, 72])
    def test_a_card_older_than_cuda_13_needs_the_cupy_for_cuda_12(
        self, source: str, error: str, capability: int
    ) -> None:
        diagnosis = diagnose(error, Setup(13000, capability, ("cupy-cuda13x",)))
        assert_says(diagnosis, "too old", f"uv pip uninstall cupy-cuda13x, then start with: {CUDA12}")

    @pytest.mark.parametrize("capability", [75, 90, 120, 140])
    def test_a_card_that_is_not_too_old_is_too_new_for_the_libraries_and_they_are_updated(
        self, source: str, error: str, capability: int
    ) -> None:
        diagnosis = diagnose(error, Setup(13000, capability, ("cupy-cuda13x",)))
        assert_says(diagnosis, "too new", "uv run --upgrade --extra gpu main.py")
        diagnosis = diagnose(error, Setup(12080, capability, ("cupy-cuda12x",)))
        assert_says(diagnosis, "too new", "uv run --upgrade --extra gpu-cuda12 main.py")

    def test_a_card_too_new_for_cuda_12_moves_to_cuda_13_if_the_driver_can(self, source: str, error: str) -> None:
        diagnosis = diagnose(error, Setup(13000, 120, ("cupy-cuda12x",)))
        assert_says(diagnosis, "too new", f"uv pip uninstall cupy-cuda12x, then start with: {GPU}")

    def test_of_a_card_of_unknown_age_both_are_said(self, source: str, error: str) -> None:
        assert_says(diagnose(error, Setup(13000, 0, ("cupy-cuda13x",))), "too new or too old", "Update")


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (
            "cudaErrorNotPermitted: operation not permitted\nand much more",
            "cudaErrorNotPermitted: operation not permitted",
        ),
        (
            IMPORT_FAILED.format("", "ImportError: the moon is in the wrong phase"),
            "ImportError: the moon is in the wrong phase",
        ),
        ("\n=====\n  it is late\n", "it is late"),
        ("RuntimeError", "RuntimeError"),
        ("[Errno 7] {odd} braces", "[Errno 7] {odd} braces"),
        ("It fails.", "It fails"),
        ("CUDA error 4711: ", "CUDA error 4711"),
        ("", "it fails without a word"),
        ("==\n--", "it fails without a word"),
    ],
)
def test_an_unknown_error_is_its_own_reason_with_a_general_remedy(error: str, reason: str) -> None:
    diagnosis = diagnose(error, NEW)
    assert diagnosis.reason == reason
    assert "Update the NVIDIA driver" in diagnosis.remedy
    assert diagnosis.remedy.endswith(f"uv pip uninstall cupy-cuda13x, then start with: {GPU}")


def test_without_a_cupy_there_is_none_to_remove() -> None:
    remedy = diagnose("CUDA error 4711: ", Setup(13000, 0, ())).remedy
    assert "uninstall" not in remedy
    assert remedy.endswith(f"Start with: {GPU}")


# The driver's CUDA version, the card's generation, the packages; what is said and how the remedy ends.
OBSTACLES = [
    (11040, 75, (), "driver is too old: it supports CUDA 11.4", f"Update the NVIDIA driver, then start with: {CUDA12}"),
    (11040, 75, ("cupy-cuda12x",), "driver is too old", f"Update the NVIDIA driver, then start with: {CUDA12}"),
    (11040, 35, (), "compute capability is 3.5", "GeForce GTX 900 or newer."),
    (13000, 0, (), "CuPy is not installed", f"Start with: {GPU}"),
    (13010, 75, (), "CuPy is not installed", f"Start with: {GPU}"),
    (13000, 61, (), "CuPy is not installed", f"Start with: {CUDA12}"),
    (12080, 120, (), "CuPy is not installed", f"Start with: {CUDA12}"),
    (
        13000,
        86,
        ("cupy-cuda12x", "cupy-cuda13x"),
        "cupy-cuda12x and cupy-cuda13x are installed",
        f"Run uv pip uninstall cupy-cuda12x cupy-cuda13x, then start with: {GPU}",
    ),
    (
        13000,
        61,
        ("cupy", "cupy-cuda13x"),
        "cupy and cupy-cuda13x are installed",
        f"Run uv pip uninstall cupy cupy-cuda13x, then start with: {CUDA12}",
    ),
    (
        12040,
        86,
        ("cupy-cuda13x",),
        "cupy-cuda13x needs a driver for CUDA 13, and this one supports CUDA 12.4",
        f"Run uv pip uninstall cupy-cuda13x, then start with: {CUDA12}",
    ),
]


@pytest.mark.parametrize(("cuda", "capability", "packages", "words", "remedy"), OBSTACLES)
def test_what_can_be_told_without_importing_cupy_is(
    cuda: int, capability: int, packages: tuple[str, ...], words: str, remedy: str
) -> None:
    obstacle = find_obstacle(Setup(cuda, capability, packages))
    assert obstacle is not None
    assert_says(obstacle, words, remedy)
    assert obstacle.remedy.endswith(remedy)


@pytest.mark.parametrize(
    ("cuda", "packages"),
    [
        (12000, ("cupy-cuda12x",)),
        (13000, ("cupy-cuda12x",)),
        (13000, ("cupy-cuda13x",)),
        (12000, ("cupy",)),
        (14000, ("cupy-cuda14x",)),
    ],
)
def test_one_cupy_that_the_driver_can_run_is_no_obstacle(cuda: int, packages: tuple[str, ...]) -> None:
    for capability in (0, 50, 86, 140):
        assert find_obstacle(Setup(cuda, capability, packages)) is None
