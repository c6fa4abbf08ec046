"""The workspace: one array for each name and shape, whatever is asked for in between."""

from collections.abc import Callable

import numpy as np
import pytest

from core.device import Array, Device, last_axis_first
from core.workspace import Workspace


def test_asking_again_for_a_name_and_shape_gives_the_same_array_with_what_was_written_to_it(device: Device) -> None:
    workspace = Workspace(device, np.float32)
    y = workspace.array("y", (3, 2))
    y[...] = 7
    workspace.array("y", (4, 2))
    workspace.array("x", (3, 2))
    assert workspace.array("y", (3, 2)) is y
    assert (device.to_host(y) == 7).all()


def test_arrays_of_different_names_or_shapes_share_no_memory(device: Device) -> None:
    workspace = Workspace(device, np.float64)
    arrays = [workspace.array("y", (3, 2)), workspace.array("y", (2, 3)), workspace.array("dx", (3, 2))]
    for value, array in enumerate(arrays):
        array[...] = value
    assert [device.to_host(array).tolist() for array in arrays] == [
        [[0.0] * 2] * 3,
        [[1.0] * 3] * 2,
        [[2.0] * 2] * 3,
    ]


def test_two_workspaces_share_nothing(device: Device) -> None:
    assert Workspace(device, np.float32).array("y", (3,)) is not Workspace(device, np.float32).array("y", (3,))


def test_arrays_have_the_shape_asked_for_and_the_workspace_s_dtype_unless_another_is_named(device: Device) -> None:
    workspace = Workspace(device, np.float64)
    assert workspace.array("y", (3, 2)).dtype == np.float64
    assert workspace.array("passed", (3, 2), np.bool_).dtype == np.bool_
    assert workspace.array("loss", ()).shape == ()


@pytest.mark.parametrize(("ask", "value"), [(Workspace.zeros, 0), (Workspace.ones, 1)], ids=["zeros", "ones"])
def test_filled_arrays_are_full_at_first_and_afterwards_keep_what_was_written(
    ask: Callable[[Workspace, str, tuple[int, ...]], Array], value: int, device: Device
) -> None:
    workspace = Workspace(device, np.float64)
    first = ask(workspace, "padded", (3, 2))
    assert first.dtype == np.float64
    assert (device.to_host(first) == value).all()
    first[1] = 7
    assert ask(workspace, "padded", (3, 2)) is first
    assert device.to_host(first).tolist() == [[value] * 2, [7] * 2, [value] * 2]
    other = ask(workspace, "padded", (4, 2))
    assert (device.to_host(other) == value).all()


@pytest.mark.parametrize("shape", [(3, 2), (4, 3, 5, 2), (1, 28, 28, 2)], ids=str)
@pytest.mark.parametrize("dtype", [None, np.bool_])
def test_an_array_like_another_has_the_samples_first_or_last_in_memory_as_that_one(
    device: Device, shape: tuple[int, ...], dtype: type | None
) -> None:
    workspace = Workspace(device, np.float32)
    last = device.to_device(np.zeros(shape, np.float32))
    first = device.to_device(np.zeros((shape[-1], *shape[:-1]), np.float32)).transpose(*range(1, len(shape)), 0)
    arrays = {lies: workspace.array("y", shape, dtype, like=like) for lies, like in (("last", last), ("first", first))}
    assert arrays["last"] is workspace.array("y", shape, dtype)
    assert arrays["first"] is workspace.array("y", shape, dtype, like=first)
    assert arrays["first"] is not arrays["last"]
    for lies, array in arrays.items():
        assert (array.shape, array.dtype) == (shape, dtype or np.float32)
        assert last_axis_first(array) == (lies == "first")


def test_zeros_like_another_are_zeros_that_lie_as_that_one_does(device: Device) -> None:
    pixels = device.to_device(np.ones((5, 3))).T
    zeros = Workspace(device, np.float64).zeros("zeros", (3, 5), like=pixels)
    assert zeros.strides == pixels.strides
    assert not device.to_host(zeros).any()
