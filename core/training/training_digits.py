"""The digits of a job: those of its set, and the user's own among them where it says so.

A room of its own because a run that goes on, at the terminal or in the window, must learn from the very same digits.
"""

from core.digits.dataset import DatasetError, DigitSets, Splits, split
from core.digits.downloads import SETS
from core.digits.mixture import with_own_digits
from core.digits.my_digits import MyDigits, default_file
from core.training.job import TrainingJob


def splits_of(job: TrainingJob, sets: DigitSets) -> Splits:
    """What `job` learns from and is measured on, its set being `sets`; reads the user's file if the job wants it.

    It takes about 0.5 ms for each digit of the user's. Raises DatasetError if digits do not suffice, MyDigitsError if
    the user's file cannot be read.
    """
    chosen = job.hyperparameters
    splits = split(sets, chosen.validation_digits, chosen.train_limit)
    if not job.mine:
        return splits
    check_can_mix(job.data)
    collection = my_digits_of(job)
    own = collection.dataset()
    if own is None:
        raise DatasetError(f"{collection.path} holds no digits yet; draw some in the window and say what they are")
    return with_own_digits(splits, own, job.mine)


def my_digits_of(job: TrainingJob) -> MyDigits:
    """The user's digits that `job` is about."""
    return MyDigits(job.my_digits or default_file())


def check_can_mix(data: str) -> None:
    """Raises DatasetError if the set called `data` shows no digits, so that the user's own cannot be among them."""
    if data in SETS and not SETS[data].shows_digits:
        raise DatasetError(f"{data} shows no digits, so your own cannot be mixed in; train without them")
