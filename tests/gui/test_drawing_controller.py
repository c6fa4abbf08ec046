"""From ink to an answer, against the predictor asked directly."""

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from core.digits.dataset import DigitSets
from core.digits.ink import Ink, Stroke
from core.digits.rasterizer import Recipe, Trace, rasterize, trace
from core.predictor import Predictor
from core.training.calibration import Calibration
from core.training.model_file import SHIPPED_MODEL, load_model
from gui.drawing_controller import DrawingController
from gui.ink_history import OpenedPicture, PrintedDigit
from gui.read_number import ReadNumber


@pytest.fixture
def predictor() -> Predictor:
    return Predictor.from_model(load_model(SHIPPED_MODEL))


@pytest.fixture
def controller(predictor: Predictor) -> DrawingController:
    controller = DrawingController()
    controller.use_predictor(predictor)
    return controller


def test_a_drawing_is_answered_as_the_predictor_answers_its_picture(
    qtbot: QtBot, controller: DrawingController, predictor: Predictor, seven: Ink
) -> None:
    with qtbot.waitSignal(controller.answered) as answered:
        controller.on_ink_changed(seven)
    answer, picture = answered.args
    assert np.array_equal(picture, rasterize(seven))
    assert np.array_equal(answer.probabilities, predictor.probabilities(rasterize(seven)[np.newaxis])[0])
    assert answer.digit == answer.guess == 7


def test_an_empty_canvas_has_no_answer(qtbot: QtBot, controller: DrawingController) -> None:
    with qtbot.waitSignal(controller.answered) as answered:
        controller.on_ink_changed(Ink(()))
    assert answered.args == [None, None]


def test_without_a_network_the_picture_is_shown_all_the_same(qtbot: QtBot, seven: Ink) -> None:
    controller = DrawingController()
    with qtbot.waitSignal(controller.answered) as answered:
        controller.on_ink_changed(seven)
    assert answered.args[0] is None
    assert answered.args[1].any()


def test_new_weights_answer_the_same_drawing_anew(
    qtbot: QtBot, controller: DrawingController, predictor: Predictor, seven: Ink
) -> None:
    with qtbot.waitSignal(controller.answered) as first:
        controller.on_ink_changed(seven)
    none_at_all = {name: np.zeros_like(w) for name, w in load_model(SHIPPED_MODEL).weights.items()}
    with qtbot.waitSignal(controller.answered) as second:
        controller.use_weights(none_at_all)
    assert first.args[0].confidence > 0.5
    assert second.args[0].probabilities == pytest.approx(np.full(10, 0.1))


def test_a_burst_of_points_is_answered_once(qtbot: QtBot, controller: DrawingController, seven: Ink) -> None:
    answers: list[object] = []
    controller.answered.connect(lambda probabilities, picture: answers.append(picture))
    for _ in range(50):
        controller.on_ink_changed(seven)
    qtbot.waitUntil(lambda: bool(answers))
    assert len(answers) == 1


def test_a_printed_digit_is_seen_bit_for_bit(
    qtbot: QtBot, controller: DrawingController, predictor: Predictor, seven: Ink, mnist: DigitSets
) -> None:
    with qtbot.waitSignal(controller.answered):
        controller.on_ink_changed(seven)
    controller.on_recipe_changed(Recipe(centre=False))
    for number in (0, 17, 9999):
        with qtbot.waitSignal(controller.traced) as traced, qtbot.waitSignal(controller.answered) as answered:
            controller.on_digit_put(PrintedDigit(mnist.test.images[number], 0, number))
        answer, picture = answered.args
        assert picture.dtype == np.uint8
        assert picture.tobytes() == mnist.test.images[number].tobytes()
        assert np.array_equal(answer.probabilities, predictor.probabilities(mnist.test.images[number][np.newaxis])[0])
        assert traced.args == [None, None]
    with qtbot.waitSignal(controller.answered) as answered:
        controller.on_ink_changed(Ink(()))
    assert answered.args == [None, None]


def test_a_moved_picture_is_read_where_it_lies(
    qtbot: QtBot, controller: DrawingController, predictor: Predictor, seven: Ink
) -> None:
    controller.on_moved(4, -3)
    with qtbot.waitSignal(controller.answered) as answered:
        controller.on_ink_changed(seven)
    expected = np.zeros((28, 28), np.uint8)
    expected[:25, 4:] = rasterize(seven)[3:, :24]
    answer, picture = answered.args
    assert np.array_equal(picture, expected)
    assert np.array_equal(answer.probabilities, predictor.probabilities(expected[np.newaxis])[0])


def test_steps_left_out_are_left_out_of_what_is_read(qtbot: QtBot, controller: DrawingController) -> None:
    corner = Ink((Stroke(np.array([[0.1, 0.1], [0.2, 0.1], [0.15, 0.3]])),))
    recipe = Recipe(crop=False, scale=False, centre=False)
    controller.on_ink_changed(corner)
    with qtbot.waitSignal(controller.traced) as traced, qtbot.waitSignal(controller.answered) as answered:
        controller.on_recipe_changed(recipe)
    picture = answered.args[1]
    assert np.array_equal(picture, trace(corner, recipe).picture)
    assert not np.array_equal(picture, rasterize(corner))
    ink, way = traced.args
    assert ink is corner
    assert isinstance(way, Trace)
    assert np.array_equal(way.picture, picture)


CALIBRATION = Calibration(1.0, 2.0, 0.1, 0.01, 0.6, 0.002)


def test_what_is_below_the_threshold_gets_no_answer_and_the_threshold_may_be_moved(
    qtbot: QtBot, controller: DrawingController, seven: Ink
) -> None:
    controller.on_ink_changed(seven)
    with qtbot.waitSignal(controller.answered) as answered:
        controller.use_calibration(CALIBRATION)
    confidence = answered.args[0].confidence
    assert answered.args[0].digit == 7
    assert 0.1 < confidence < 1.0
    with qtbot.waitSignal(controller.answered) as answered:
        controller.set_threshold((1.0 + confidence) / 2)
    assert (answered.args[0].digit, answered.args[0].guess) == (None, 7)


def test_a_calibration_is_of_the_weights_that_were_last_heard_of_and_goes_with_them(
    qtbot: QtBot, controller: DrawingController, predictor: Predictor, seven: Ink
) -> None:
    weights = dict(load_model(SHIPPED_MODEL).weights)
    controller.use_weights(weights)
    controller.use_calibration(CALIBRATION)
    with qtbot.waitSignal(controller.answered):
        controller.on_ink_changed(seven)
    assert predictor.calibration == CALIBRATION
    with qtbot.waitSignal(controller.answered):
        controller.use_weights(weights)
    assert predictor.calibration is None


@pytest.fixture
def seventy_one(seven: Ink) -> Ink:
    """A 7, and a bent 1 to the right of it that is less sure."""
    return Ink((*seven.strokes, Stroke(np.array([[120, 20], [124, 55], [120, 90]]))))


def read(qtbot: QtBot, controller: DrawingController, change) -> ReadNumber | None:
    with qtbot.waitSignal(controller.number_read) as heard, qtbot.waitSignal(controller.answered):
        change()
    return heard.args[0]


def test_digits_side_by_side_are_a_number_each_answered_as_if_alone(
    qtbot: QtBot, controller: DrawingController, predictor: Predictor, seven: Ink, seventy_one: Ink
) -> None:
    number = read(qtbot, controller, lambda: controller.on_ink_changed(seventy_one))
    assert number is not None
    assert number.text == "71"
    for digit, ink in zip(number.digits, (seven, Ink(seventy_one.strokes[1:])), strict=True):
        assert np.array_equal(digit.picture, rasterize(ink))
        assert digit.answer is not None
        assert np.array_equal(digit.answer.probabilities, predictor.answer(rasterize(ink)).probabilities)


def test_one_digit_is_no_number(qtbot: QtBot, controller: DrawingController, seven: Ink) -> None:
    assert read(qtbot, controller, lambda: controller.on_ink_changed(seven)) is None
    assert read(qtbot, controller, lambda: controller.on_ink_changed(Ink(()))) is None


def test_the_least_sure_digit_is_looked_at_until_another_is_chosen(
    qtbot: QtBot, controller: DrawingController, seventy_one: Ink
) -> None:
    number = read(qtbot, controller, lambda: controller.on_ink_changed(seventy_one))
    assert number is not None
    sureness = [digit.answer.confidence for digit in number.digits if digit.answer]
    assert number.selected == int(np.argmin(sureness))
    other = 1 - number.selected
    with qtbot.waitSignal(controller.traced) as traced, qtbot.waitSignal(controller.answered) as answered:
        controller.select(other)
    assert np.array_equal(answered.args[1], number.digits[other].picture)
    assert traced.args[0].strokes == (seventy_one.strokes[other],)
    # The choice stays while there are as many digits, and no longer.
    again = read(qtbot, controller, lambda: controller.on_ink_changed(Ink(seventy_one.strokes)))
    assert again is not None
    assert again.selected == other
    read(qtbot, controller, lambda: controller.on_ink_changed(Ink(())))
    anew = read(qtbot, controller, lambda: controller.on_ink_changed(seventy_one))
    assert anew is not None
    assert anew.selected == number.selected


def test_what_is_looked_at_stays_when_new_weights_are_less_sure_of_another(
    qtbot: QtBot, controller: DrawingController, seventy_one: Ink
) -> None:
    number = read(qtbot, controller, lambda: controller.on_ink_changed(seventy_one))
    assert number is not None
    model, pictures = load_model(SHIPPED_MODEL), np.stack([digit.picture for digit in number.digits])
    for seed in range(50):
        rng = np.random.default_rng(seed)
        weights = {name: rng.permuted(w).astype(w.dtype) for name, w in model.weights.items()}
        sureness = Predictor(model.preset, model.hyperparameters, weights).read(pictures)[1]
        if sureness.argmin() != number.selected:
            break
    else:
        pytest.fail("no weights are less sure of the other digit")
    after = read(qtbot, controller, lambda: controller.use_weights(weights))
    assert after is not None
    assert after.selected == number.selected


def test_steps_left_out_are_left_out_of_every_digit(
    qtbot: QtBot, controller: DrawingController, seven: Ink, seventy_one: Ink
) -> None:
    read(qtbot, controller, lambda: controller.on_ink_changed(seventy_one))
    recipe = Recipe(thicken=False)
    number = read(qtbot, controller, lambda: controller.on_recipe_changed(recipe))
    assert number is not None
    for digit, ink in zip(number.digits, (seven, Ink(seventy_one.strokes[1:])), strict=True):
        assert np.array_equal(digit.picture, trace(ink, recipe).picture)


def test_the_digits_of_a_picture_are_read_as_they_were_found(
    qtbot: QtBot, controller: DrawingController, mnist: DigitSets
) -> None:
    digits = mnist.test.part(20, 32)
    opened = OpenedPicture(np.zeros((9, 9, 3), np.uint8), tuple(digits.images), np.zeros((12, 4)))
    with qtbot.waitSignal(controller.traced) as traced:
        number = read(qtbot, controller, lambda: controller.on_picture_put(opened))
    assert number is not None
    assert number.text == "".join(map(str, digits.labels))
    assert [digit.picture.tobytes() for digit in number.digits] == [one.tobytes() for one in digits.images]
    assert traced.args == [None, None]


def test_all_that_is_drawn_is_one_thing_to_a_network_that_reads_no_digits(
    qtbot: QtBot, controller: DrawingController
) -> None:
    bars = Ink(tuple(Stroke(np.array([[x, 20], [x, 80]], np.float32)) for x in (20, 80)))
    with qtbot.waitSignal(controller.number_read) as told:
        controller.on_ink_changed(bars)
    assert isinstance(told.args[0], ReadNumber)
    numbers: list[object] = []
    controller.number_read.connect(numbers.append)
    with qtbot.waitSignal(controller.answered) as whole:
        controller.read_whole(True)
    assert numbers == [None]
    assert np.array_equal(whole.args[1], rasterize(bars))
    with qtbot.waitSignal(controller.answered) as nothing:
        controller.on_ink_changed(Ink(()))
    assert nothing.args == [None, None]
