"""When a step is slow because of others, one thread computes: held against made-up times, and against real weights.

The times are those of a machine that is told how long a step takes together and alone, and asked how long it took.
"""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from core.device import Device
from core.training.contention import Contention

ROOT = Path(__file__).resolve().parents[3]
TOGETHER, ALONE = 0.0003, 0.0005
Times = Callable[[bool], float]


class Machine:
    """Takes steps, and adds up how long they took and how many of them were taken alone."""

    def __init__(self) -> None:
        self.device = Device(shares=2)
        self.contention = Contention(self.device)
        self.seconds, self.steps_alone, self.changes = 0.0, 0, 0

    def take(self, steps: int, times: Times) -> None:
        for _ in range(steps):
            alone = self.device.alone
            seconds = times(alone)
            self.seconds += seconds
            self.steps_alone += alone
            self.contention.note(seconds)
            self.changes += self.device.alone != alone


def quiet(alone: bool) -> float:
    return ALONE if alone else TOGETHER


def crowded(rng: np.random.Generator, often: float = 0.4) -> Times:
    """Together, a step often waits for a core that somebody else has; alone, it gets less of one."""
    return lambda alone: 2 * ALONE if alone else TOGETHER + 0.012 * (rng.random() < often)


def test_undisturbed_all_threads_compute_all_the_time() -> None:
    machine = Machine()
    machine.take(5000, quiet)
    assert machine.steps_alone == 0


def test_a_slow_step_now_and_then_changes_nothing() -> None:
    machine, steps = Machine(), iter(range(10**9))
    machine.take(20_000, lambda alone: 0.006 if next(steps) % 40 == 0 else quiet(alone))
    assert machine.steps_alone == 0


@pytest.mark.parametrize("often", [0.1, 0.4, 1.0])
def test_crowded_one_thread_computes_and_all_again_when_it_is_over(rng: np.random.Generator, often: float) -> None:
    machine = Machine()
    machine.take(100, quiet)
    machine.take(3000, crowded(rng, often))
    assert machine.device.alone
    assert machine.steps_alone > 2000
    assert machine.seconds < 1.5 * 3000 * 2 * ALONE
    before = machine.seconds
    machine.take(200_000, quiet)
    assert not machine.device.alone
    assert machine.seconds - before < 200_000 * TOGETHER + 31


def test_crowded_from_the_start_one_thread_computes_all_the_same(rng: np.random.Generator) -> None:
    machine = Machine()
    machine.take(2000, crowded(rng))
    assert machine.steps_alone > 1500


def test_where_one_thread_is_no_quicker_it_is_tried_less_and_less(rng: np.random.Generator) -> None:
    machine = Machine()
    machine.take(100, quiet)
    machine.take(30_000, lambda alone: 0.02 if alone else TOGETHER + 0.012 * (rng.random() < 0.4))
    assert not machine.device.alone
    assert 4 <= machine.changes / 2 <= 16
    assert machine.steps_alone < 100


TRAINING = """
import sys
from itertools import islice
from dataclasses import replace
from core.digits.mnist import load_mnist
from core.training.learner import Learner
from core.training.presets import find_preset

digits = load_mnist().train.part(0, 3000)
chosen = replace(find_preset("quick-mlp").hyperparameters, network=sys.argv[1])
weights = []
for way in ("together", "alone", "by turns"):
    learner = Learner("quick-mlp", chosen, "cpu", digits)
    learner._contention = None
    assert learner.device.may_be_alone == (sys.argv[2] == "True")
    for step, rows in enumerate(islice(learner.full_batches(), 40)):
        learner.device.alone = way == "alone" or (way == "by turns" and step % 3 == 0)
        learner.step(rows, 0.05)
    weights.append(learner.network.parameters.tobytes())
print(len(set(weights)))
"""


@pytest.mark.parametrize(
    "network",
    [
        "linear 256 relu, linear 10",
        "linear 784 relu, linear 100 gelu, linear 10",
        "linear 30 relu, linear 10",
        "linear 10",
    ],
)
def test_alone_or_together_a_network_learns_the_same_bit_for_bit(network: str) -> None:
    two = Device(shares=2).may_be_alone and (os.cpu_count() or 1) > 1
    run = subprocess.run(
        [sys.executable, "-c", TRAINING, network, str(two)],
        cwd=ROOT,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "2"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.strip() == "1"
