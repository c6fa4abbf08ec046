"""NVIDIA's cuBLAS, spoken to directly: CuPy's own door to it is shut while a stream is being captured.

It is a room of its own because a step is recorded as one CUDA graph with its matrix products in it, and CuPy refuses to
ask cuBLAS for a product then (cupy/cupy issue 6290), though cuBLAS allows it once its scratch memory has been given to
it (NVIDIA, cuBLAS library, section "CUDA Graphs Support").
"""

import ctypes
import sys
from typing import Any

from core.openblas import TRANSPOSED, HostArray, layout

WORKSPACE_BYTES = 32 * 1024 * 1024
"""What NVIDIA recommends to give it on its newest cards."""

_TF32_MATH = 3
_NAME = "cublas64_{}.dll" if sys.platform == "win32" else "libcublas.so.{}"
_VERSIONS = (13, 12)


class CuBLAS:
    """Products on the CUDA stream at address `stream`, with `workspace`, the address of so many bytes on the GPU.

    Raises OSError if the library cannot be loaded or does not answer.
    """

    def __init__(self, stream: int, workspace: int) -> None:
        self._library = _load()
        self._handle = ctypes.c_void_p()
        self._call("cublasCreate_v2", ctypes.byref(self._handle))
        self._call("cublasSetStream_v2", self._handle, ctypes.c_void_p(stream))
        size = ctypes.c_size_t(WORKSPACE_BYTES)
        self._call("cublasSetWorkspace_v2", self._handle, ctypes.c_void_p(workspace), size)

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self._library.cublasDestroy_v2(self._handle)

    def allow_tf32(self, allowed: bool) -> None:
        """Whether float32 products may round their inputs to 10 bits of mantissa (TensorFloat-32), for speed."""
        self._call("cublasSetMathMode", self._handle, ctypes.c_int(_TF32_MATH if allowed else 0))

    def product(self, a: HostArray, b: HostArray, out: HostArray, keep: float = 0.0) -> bool:
        """out = keep out + a b, for matrices on the GPU of one dtype, float32 or float64.

        False, and nothing done, for others.
        """
        layouts = [layout(matrix) if matrix.ndim == 2 else None for matrix in (a, b, out)]
        kind = {"float32": ("cublasSgemm_v2", ctypes.c_float), "float64": ("cublasDgemm_v2", ctypes.c_double)}
        if None in layouts or str(out.dtype) not in kind or not a.dtype == b.dtype == out.dtype:
            return False
        (a_flag, a_step), (b_flag, b_step), (out_flag, out_step) = layouts  # type: ignore[misc]
        if out_flag == TRANSPOSED:
            return False
        name, real = kind[str(out.dtype)]
        one, kept = real(1.0), real(keep)
        (rows, columns), inner = out.shape, a.shape[1]
        # cuBLAS reads columns first, and so it sees every matrix turned over: outᵀ = bᵀ aᵀ.
        self._call(
            name,
            self._handle,
            ctypes.c_int(b_flag == TRANSPOSED),
            ctypes.c_int(a_flag == TRANSPOSED),
            *(ctypes.c_int(size) for size in (columns, rows, inner)),
            ctypes.byref(one),
            *(_address(b), ctypes.c_int(b_step), _address(a), ctypes.c_int(a_step)),
            ctypes.byref(kept),
            *(_address(out), ctypes.c_int(out_step)),
        )
        return True

    def _call(self, name: str, *arguments: Any) -> None:
        status = getattr(self._library, name)(*arguments)
        if status != 0:
            raise OSError(f"{name} answered with status {status}")


def _load() -> ctypes.CDLL:
    for version in _VERSIONS:
        try:
            return ctypes.CDLL(_NAME.format(version))
        except OSError:
            continue
    raise OSError("cuBLAS was not found")


def _address(array: HostArray) -> ctypes.c_void_p:
    return ctypes.c_void_p(int(array.data.ptr))  # type: ignore[attr-defined]
