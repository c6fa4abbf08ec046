"""The sets of digits that a run is measured on: which of them as it goes, which only where it begins and ends."""

import numpy as np

from core.device import Device
from core.digits.dataset import Splits
from core.nn.losses import Loss
from core.nn.network import Network
from core.training.evaluation import DeviceDataset, evaluate
from core.training.hyperparameters import CLASSES


class MeasuredSets:
    """The test set, what is held out, and the user's own digits, on `device`: those there are of `splits`.

    A set is called by the name of its split, "validation", "test" or "mine". Raises DeviceError if it does not fit.
    """

    def __init__(self, splits: Splits, device: Device, dtype: np.dtype[np.generic]) -> None:
        with device.activate():
            self._sets = {
                split: DeviceDataset(digits, device, dtype, CLASSES)
                for split, digits in (("validation", splits.validation), ("test", splits.test), ("mine", splits.mine))
                if digits
            }

    def watched(self, has_target: bool) -> dict[str, DeviceDataset]:
        """Those a run is measured on as it goes: the test set only where nothing is held out, or as a target."""
        left_out = {"test"} if "validation" in self._sets and not has_target else set()
        return {split: data for split, data in self._sets.items() if split not in left_out}

    def kept_apart(self) -> dict[str, DeviceDataset]:
        """Those that tell what was won and what forgotten."""
        return {split: data for split, data in self._sets.items() if split != "validation"}

    def accuracies(self, network: Network, loss: Loss) -> dict[str, float]:
        """Of `network`, 0 to 1, on each of them; both live on the device of the sets. Nothing interrupts this."""
        measured = {split: evaluate(network, loss, data) for split, data in self._sets.items()}
        return {split: result.accuracy for split, result in measured.items() if result is not None}
