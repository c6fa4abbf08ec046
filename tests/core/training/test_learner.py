"""The step that all rooms share: what comes to it, and that it learns. What it learns is tested with the trainer."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from core.digits.dataset import DatasetError, DigitSets
from core.digits.outliers import outlier_pictures
from core.nn.optimizers import CarriedMomentum, Momentum
from core.training.learner import Learner
from core.training.presets import find_preset
from tests.core.training.runs import job


def learner(few_digits: DigitSets, **choices: object) -> Learner:
    chosen = job("quick-mlp", **{"hidden": (8,), **choices}).hyperparameters  # type: ignore[arg-type]
    return Learner("quick-mlp", chosen, "cpu", few_digits.train)


def test_a_pass_holds_every_digit_once_and_the_last_batch_what_is_left(few_digits: DigitSets) -> None:
    one = learner(few_digits, batch_size=500)
    for _ in range(2):
        batches = list(one.batches())
        assert [len(rows) for rows in batches] == [500, 500, 200]
        np.testing.assert_array_equal(np.sort(np.concatenate(batches)), np.arange(1200))


def test_full_batches_go_on_past_the_end_and_are_all_of_one_size(few_digits: DigitSets) -> None:
    batches = list(islice(learner(few_digits, batch_size=500).full_batches(), 5))
    assert [len(rows) for rows in batches] == [500] * 5
    assert not np.array_equal(batches[0], batches[2])


def test_steps_lower_the_loss_of_what_was_learned_and_reading_it_starts_anew(few_digits: DigitSets) -> None:
    one = learner(few_digits, shift_px=0)
    losses = []
    for rows in islice(one.full_batches(), 30):
        one.step(rows, 0.1)
        losses.append(one.read_and_reset()[0])
    assert np.mean(losses[-5:]) < 0.5 * losses[0]


@pytest.mark.parametrize("network", ["linear 8 relu, linear 10", "conv 3x5 bn relu, pool 4, dropout 0.2, linear 10"])
def test_momentum_is_the_same_whether_the_network_adds_up_its_velocity_or_the_optimizer(
    few_digits: DigitSets, network: str
) -> None:
    # A gradient that may have to be clipped is not added up on the way; this one is far too short for it.
    ones = [learner(few_digits, network=network, hidden=None, clip_norm=clip) for clip in (0.0, 1000.0)]
    assert [type(one.optimizer) for one in ones] == [CarriedMomentum, Momentum]
    for one in ones:
        for number, rows in enumerate(islice(one.full_batches(), 20)):
            if number == 10:
                one.apply(replace(one.hyperparameters, momentum=0.5, weight_decay=0.01))
            one.step(rows, 0.05)
    carried, plain = (one.network.export_weights() for one in ones)
    for name, values in plain.items():
        np.testing.assert_allclose(carried[name], values, rtol=1e-5, atol=1e-5, err_msg=name)


@pytest.mark.parametrize("shift_px", [0, 2])
def test_a_network_is_shown_the_digits_of_a_batch_all_moved_one_way(
    few_digits: DigitSets, monkeypatch: pytest.MonkeyPatch, shift_px: int
) -> None:
    one, shown, ways = learner(few_digits, shift_px=shift_px), [], set()
    forward = one.network.forward
    monkeypatch.setattr(
        one.network, "forward", lambda x, **how: shown.append(np.moveaxis(x[0], -1, 0) * 255) or forward(x, **how)
    )
    for rows in islice(one.full_batches(), 12):
        one.step(rows, 0.01)
        down, right = one.shift.offset
        around = np.pad(few_digits.train.images[rows], ((0, 0), (2, 2), (2, 2)))
        moved = around[:, 2 - down : 30 - down, 2 - right : 30 - right]
        np.testing.assert_allclose(shown[-1], moved, atol=1e-4)
        ways.add((down, right))
    assert (len(ways) > 5) == (shift_px > 0)


def test_accuracy_is_that_of_the_digits_where_others_are_among_them(few_digits: DigitSets) -> None:
    one = learner(few_digits, synthetic=0.5, shift_px=0)
    for rate in (*[0.1] * 25, 0.0):
        for rows in one.batches():
            one.step(rows, rate)
        accuracy = one.read_and_reset()[1]
    # 300 of the 2,400 pictures are no digit, and no answer to them is right: of all pictures it could be 0.875.
    assert 0.9 < accuracy <= 1


def test_an_outlier_teaches_to_find_no_digit_likely(few_digits: DigitSets) -> None:
    one = learner(few_digits, synthetic=0.5, shift_px=0)
    for _ in range(25):
        for rows in one.batches():
            one.step(rows, 0.1)
    drawings, digits = outlier_pictures(200, np.random.default_rng(9)), few_digits.train.images[:200]
    sure = []
    for pictures in (drawings, digits):
        x = pictures.reshape(200, 784).T.reshape(1, 28, 28, 200).astype(np.float32) / 255
        scores = one.network.forward(x)
        sure.append(np.exp(scores - np.logaddexp.reduce(scores, axis=0)).max(axis=0))
    assert np.median(sure[0]) < 0.5
    assert np.median(sure[1]) > 0.9


def test_a_rate_of_0_changes_nothing(few_digits: DigitSets) -> None:
    one = learner(few_digits)
    before = one.network.export_weights()
    one.step(next(one.full_batches()), 0.0)
    for name, values in one.network.export_weights().items():
        np.testing.assert_array_equal(values, before[name])


def test_a_batch_larger_than_the_set_is_refused(few_digits: DigitSets) -> None:
    chosen = find_preset("quick-mlp").hyperparameters
    with pytest.raises(DatasetError, match="smaller batch"):
        Learner("quick-mlp", chosen, "cpu", few_digits.train.part(0, 99))
