"""The words of the window about each choice: there is one for everything that can be chosen."""

from dataclasses import fields

import pytest

from core.nn.optimizers import OPTIMIZERS
from core.nn.schedules import SCHEDULES
from core.training.hyperparameters import CHANGEABLE, PRECISIONS, Hyperparameters
from gui.widgets.hyperparameter_texts import change_in_words, choice_title, label_and_explanation

IN_THE_FORM = [field.name for field in fields(Hyperparameters)]


@pytest.mark.parametrize("name", IN_THE_FORM)
def test_every_choice_has_a_label_and_sentences(name: str) -> None:
    label, explanation = label_and_explanation(name)
    assert label[0].isupper()
    assert explanation.endswith(".")


def test_no_two_choices_are_called_or_explained_alike() -> None:
    texts = [label_and_explanation(name) for name in IN_THE_FORM]
    assert len({label for label, _ in texts}) == len({words for _, words in texts}) == len(IN_THE_FORM)


@pytest.mark.parametrize("choice", [*OPTIMIZERS, *SCHEDULES])
def test_an_optimizer_and_a_schedule_have_a_title_of_their_own(choice: str) -> None:
    assert choice_title(choice)[0].isupper()


@pytest.mark.parametrize("choice", PRECISIONS)
def test_a_precision_is_written_as_numpy_does(choice: str) -> None:
    assert choice_title(choice) == choice


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"learning_rate": 0.03}, "Learning rate 0.03"),
        ({"learning_rate": 0.0003, "epochs": 10_000}, "Learning rate 0.0003, Epochs 10000"),
        ({"shift_px": 2}, "Shift (pixels) 2"),
        ({"network": "linear 32 relu, dropout 0.5, linear 10"}, "Dropout"),
    ],
)
def test_a_change_is_said_with_its_new_value(changes: dict[str, object], words: str) -> None:
    assert change_in_words(changes) == words


@pytest.mark.parametrize("name", [name for name in CHANGEABLE if name != "network"])
def test_every_number_that_may_change_during_a_run_can_be_said(name: str) -> None:
    assert change_in_words({name: 1}) == f"{label_and_explanation(name)[0]} 1"
