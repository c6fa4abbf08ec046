"""The sets on this machine: the built-in one, and those that were fetched by name or opened from files at hand.

    datasets/kmnist/         four IDX files under MNIST's own names, upright and whole; the folder is there or it is not
    datasets/kmnist.parts/   what a download has brought so far
    datasets/kmnist.lock     held while somebody writes here

Nothing here reaches for the network but `fetch_set`, and nobody calls that unasked.
"""

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from platformdirs import user_data_path

from core.digits.dataset import Dataset, DatasetError, DigitSets
from core.digits.downloads import PublishedSet, find_set
from core.digits.fetching import STALL_SECONDS, fetch_file
from core.digits.idx import write_idx
from core.digits.mnist import load_mnist, load_mnist_test
from core.digits.published_files import FoundFiles, are_as_published, find_files, read_files


def datasets_folder() -> Path:
    """Where sets are kept: in the user's own data folder."""
    return user_data_path("inkling", appauthor=False) / "datasets"


def is_here(name: str) -> bool:
    """Whether the set can be loaded without the network; raises UnknownSetError."""
    published = find_set(name)
    return published.is_built_in or _home(published).is_dir()


def arrived_bytes(name: str) -> int:
    """How much of the set lies here from a download that was cut short; raises UnknownSetError."""
    folder = _home(find_set(name), ".parts")
    try:
        return sum(path.stat().st_size for path in folder.iterdir())
    except OSError:
        return 0


def check_is_here(name: str) -> None:
    """Raises DatasetError, which says how to get the set, if it cannot be loaded; UnknownSetError if there is none."""
    if not is_here(name):
        raise DatasetError(
            f"{name} is not on this machine yet; fetch it with: uv run main.py data fetch {name}, "
            f"or open its files with: uv run main.py data open {name} FOLDER"
        )


def load_digit_sets(name: str) -> DigitSets:
    """Training and test set of the set called `name`; raises DatasetError, UnknownSetError among them.

    Takes a second or a few: not for the GUI thread.
    """
    check_is_here(name)
    published = find_set(name)
    if published.is_built_in:
        return load_mnist()
    sets = load_mnist(_home(published))
    return DigitSets(published.title, sets.train, sets.test)


def load_test_digits(name: str) -> Dataset:
    """The test set alone; raises as load_digit_sets."""
    check_is_here(name)
    published = find_set(name)
    return load_mnist_test() if published.is_built_in else load_mnist_test(_home(published))


def fetch_set(
    name: str,
    progress: Callable[[int, int], None] = lambda done, total: None,
    cancelled: Callable[[], bool] = lambda: False,
    stall_seconds: float = STALL_SECONDS,
) -> bool:
    """Have the set on this machine, from the network if it is not here or damaged; False if it was cancelled.

    One that is damaged stays as it is until another is here.
    `progress` is told the bytes that are here and those there are in all. What a call that was cancelled, failed or
    killed has brought is kept for the next. Raises DownloadError if no mirror helps, other DatasetErrors for a folder
    that cannot be written or that another process writes to.
    """
    published = find_set(name)
    if _is_sound(name):
        return True
    arrivals, before = _home(published, ".parts"), 0

    def tell(here: int) -> None:
        progress(before + here, published.size)

    with _alone(published):
        arrivals.mkdir(exist_ok=True)
        for file in published.files:
            if not fetch_file(file, arrivals, tell, cancelled, stall_seconds):
                return False
            before += file.size
        with _scratch(published) as scratch:
            _install(published, find_files(published, [arrivals], scratch), scratch)
    return True


def open_set(name: str, paths: Sequence[Path]) -> bool:
    """Take the set from files the user has, in place of the one here; True if checksums prove them, False if only form.

    `paths` are folders, files or zip archives, under any naming in use. Raises DatasetError.
    """
    published = _removable(name)
    with _alone(published), _scratch(published) as scratch:
        files = find_files(published, paths, scratch)
        proved = are_as_published(published, files)
        _install(published, files, scratch)
    return proved


def remove_set(name: str) -> bool:
    """Delete the set and what was fetched of it; False if there was nothing. Raises DatasetError."""
    published = _removable(name)
    found = [folder for folder in (_home(published), _home(published, ".parts")) if folder.exists()]
    if found:
        with _alone(published):
            for folder in found:
                shutil.rmtree(folder)
    return bool(found)


def _is_sound(name: str) -> bool:
    try:
        load_digit_sets(name)
    except DatasetError:
        return False
    return True


def _home(published: PublishedSet, suffix: str = "") -> Path:
    return datasets_folder() / f"{published.name}{suffix}"


def _removable(name: str) -> PublishedSet:
    published = find_set(name)
    if published.is_built_in:
        raise DatasetError(f"{published.title} is built in; it is always here and stays as it is")
    return published


def _install(published: PublishedSet, files: FoundFiles, scratch: Path) -> None:
    """Put what is in `files` where sets are loaded from; what a download has brought is not needed any more then."""
    sets = read_files(published, files)
    made = scratch / "made"
    made.mkdir()
    for part, digits in (("train", sets.train), ("t10k", sets.test)):
        write_idx(made / f"{part}-images-idx3-ubyte.gz", digits.images)
        write_idx(made / f"{part}-labels-idx1-ubyte.gz", digits.labels)
    if _home(published).exists():
        _home(published).rename(scratch / "replaced")
    made.rename(_home(published))
    shutil.rmtree(_home(published, ".parts"), ignore_errors=True)


@contextmanager
def _scratch(published: PublishedSet) -> Iterator[Path]:
    """An empty folder on the same disk, gone afterwards; what a killed process left in it goes too."""
    folder = _home(published, ".new")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _alone(published: PublishedSet) -> Iterator[None]:
    """To be held while writing; raises DatasetError if another holds it, or for what the system refuses within."""
    from filelock import FileLock, Timeout  # 0.1 s that no start should wait for

    try:
        datasets_folder().mkdir(parents=True, exist_ok=True)
        with FileLock(_home(published, ".lock"), timeout=0):
            yield
    except Timeout:
        raise DatasetError(f"another window or command is busy with {published.name}; wait for it") from None
    except OSError as error:
        raise DatasetError(
            f"{error.filename or datasets_folder()}: {error.strerror or error}; check the place and its free space"
        ) from None
