"""Networks from other programs, whichever form their file has."""

from pathlib import Path

from core.exchange.foreign_network import ForeignFileError, check_size
from core.exchange.onnx_reader import read_onnx
from core.exchange.state_dict import read_state_dict
from core.training.model_file import Model

_PICKLES = (b"PK\x03\x04", b"\x80")
"""How files begin that torch.save writes; to read one is to run whatever program is in it."""

_ONNX_FIELDS = bytes([0x08, 0x12, 0x1A, 0x22, 0x28, 0x32, 0x3A, 0x42, 0x72, 0xA2, 0xCA])
"""How ONNX files begin: with one of the fields that such a model has. See onnx.proto."""


def import_network(path: Path, text: str | None = None) -> Model:
    """The network in an ONNX file, or in a PyTorch state dict saved as safetensors.

    `text` is its network text: a state dict needs it, to an ONNX file it may add dropout. Raises ForeignFileError and
    MissingOnnxError.
    """
    check_size(path)
    start = first_bytes(path)
    if is_safetensors(start):
        return read_state_dict(path, text)
    check_may_be_onnx(path, start)
    return read_onnx(path, text)


def check_may_be_onnx(path: Path, start: bytes) -> None:
    """Raise ForeignFileError for a file that begins so and cannot be ONNX, before a package is asked for."""
    if start.startswith(_PICKLES):
        raise ForeignFileError(
            f"{path} is a pickle, which could run any program when it is read; save the network in PyTorch with "
            "safetensors.torch.save_file(model.state_dict(), ...), and import that"
        )
    if not start or start[0] not in _ONNX_FIELDS:
        raise ForeignFileError(
            f"{path} is neither a network, ink nor ONNX, as its first bytes show; choose another file"
        )


def first_bytes(path: Path) -> bytes:
    """The first few bytes of a file, by which its form is known; none where there is no file that can be read."""
    try:
        with path.open("rb") as file:
            return file.read(16)
    except OSError:
        return b""


def is_safetensors(start: bytes) -> bool:
    """Whether a file that begins so is safetensors: eight bytes of a length, then JSON."""
    return start[8:9] == b"{"
