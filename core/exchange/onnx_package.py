"""The package that knows ONNX's file format: optional, and loaded only where such a file is written or read.

It takes a second to load, which nobody should wait for who has no such file.
"""

from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import Any


class MissingOnnxError(RuntimeError):
    """The package is not installed; the message says how to get it."""


def load_onnx() -> ModuleType:
    """The package onnx; raises MissingOnnxError."""
    try:
        # numpy_helper is no attribute of the package before it was asked for.
        import_module("onnx.numpy_helper")
        return import_module("onnx")
    except ImportError:
        raise MissingOnnxError(
            "ONNX files need the package onnx, which is not installed; run this with: uv run --extra onnx main.py"
        ) from None


def parse_onnx(content: bytes) -> Any:
    """The ModelProto that `content` is, unjudged but for being one; raises ValueError and MissingOnnxError."""
    onnx = load_onnx()
    try:
        proto = onnx.load_model_from_string(content)
    except import_module("google.protobuf.message").DecodeError as error:
        raise ValueError(str(error)) from None
    if not proto.graph.node:
        raise ValueError("there is no graph in it")
    if not all(isinstance(text, str) for text in _texts(proto)):
        raise ValueError("a name in it is no text")
    return proto


def _texts(proto: Any) -> Iterator[Any]:
    """All the names that a reader may come to see; what is not UTF-8, the package hands out as bytes."""
    graph = proto.graph
    for node in graph.node:
        yield from (node.op_type, node.name, node.domain, *node.input, *node.output)
    for named in (*graph.initializer, *graph.input, *graph.output):
        yield named.name
    for entry in proto.metadata_props:
        yield from (entry.key, entry.value)
    yield from (proto.producer_name, proto.producer_version)
