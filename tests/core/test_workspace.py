"""The workspace: one array for each name and shape, whatever is asked for in between."""

import numpy as np

from core.device import Device
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
