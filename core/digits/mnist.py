"""MNIST as it comes with Inkling, and any folder that holds a set published in the same form (Fashion-MNIST for one).

The built-in set is held against the checksums of the original files each time it is read.
"""

import hashlib
import os
from pathlib import Path

from core.digits.dataset import Dataset, DatasetError, DigitSets
from core.digits.idx import read_labels, read_pictures

BUILT_IN_FOLDER = Path(__file__).resolve().parents[2] / "assets" / "mnist"
NAME = "MNIST"

# SHA-256 of the unpacked originals.
CHECKSUMS = {
    "train-images": "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    "train-labels": "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    "t10k-images": "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    "t10k-labels": "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
}


def load_mnist(folder: Path = BUILT_IN_FOLDER) -> DigitSets:
    """Training and test set from the four files in `folder`; raises DatasetError.

    Takes a second or two: not for the GUI thread.
    """
    train, test = _load(folder, "train"), load_mnist_test(folder)
    return DigitSets(NAME if folder == BUILT_IN_FOLDER else folder.resolve().name, train, test)


def load_mnist_test(folder: Path = BUILT_IN_FOLDER) -> Dataset:
    """The test set alone from `folder`; raises DatasetError."""
    return _load(folder, "t10k")


def _load(folder: Path, part: str) -> Dataset:
    images_path, labels_path = _find(folder, f"{part}-images", "idx3"), _find(folder, f"{part}-labels", "idx1")
    images, image_bytes = read_pictures(images_path)
    labels, label_bytes = read_labels(labels_path)
    _check_built_in(folder, f"{part}-images", images_path, image_bytes)
    _check_built_in(folder, f"{part}-labels", labels_path, label_bytes)
    if len(images) != len(labels):
        raise DatasetError(
            f"{images_path} holds {len(images):,} pictures but {labels_path.name} {len(labels):,} labels; "
            "they do not belong together, so fetch both again"
        )
    return Dataset(images, labels)


def _find(folder: Path, part: str, kind: str) -> Path:
    """The file of this part in the folder, under any of the names in use."""
    names = [f"{part}{mark}{kind}-ubyte{packed}" for packed in ("", ".gz") for mark in ("-", ".")]
    for name in names:
        # Not Path.is_file, which raises where a name is too long for the system.
        if os.path.isfile(folder / name):
            return folder / name
    raise DatasetError(
        f"{folder} holds no {names[0]} or {names[0]}.gz; "
        "choose a folder with the four IDX files of MNIST, Fashion-MNIST or a set of that form"
    )


def _check_built_in(folder: Path, part: str, path: Path, data: bytes) -> None:
    if folder == BUILT_IN_FOLDER and hashlib.sha256(data).hexdigest() != CHECKSUMS[part]:
        raise DatasetError(f"{path} is not the original MNIST file (its checksum differs); install Inkling again")
