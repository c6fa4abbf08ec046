"""The predictor, held against a forward pass written out in float64."""

from pathlib import Path

import numpy as np
import pytest

from core.device import Device, HostArray
from core.digits.dataset import DigitSets
from core.nn.network import Network
from core.predictor import Predictor, calibrated
from core.training.calibration import Calibration, fit_temperature
from core.training.evaluation import EVALUATION_BATCH
from core.training.hyperparameters import INPUT_SHAPE, Hyperparameters
from core.training.model_file import Model, load_model, save_model
from core.training.presets import PRESETS, find_preset

NETWORKS = {
    "quick-mlp": "linear 12 relu, linear 10",
    "pycuda-seed": "linear 12 nobias relu, linear 10 nobias straight-relu",
}


def chosen(preset: str) -> Hyperparameters:
    return Hyperparameters(NETWORKS[preset])


def random_weights(preset: str, seed: int) -> dict[str, HostArray]:
    network = Network(find_preset(preset).build_layers(NETWORKS[preset]), INPUT_SHAPE, Device())
    rng = np.random.default_rng(seed)
    network.parameters[...] = rng.normal(0, 0.2, len(network.parameters))
    return network.export_weights()


def written_out(preset: str, weights: dict[str, HostArray], pictures: HostArray) -> HostArray:
    """Probabilities as the preset defines them: softmax, or shares of the outputs above 0."""
    scores = scores_written_out(preset, weights, pictures)
    shares = np.exp(scores) if preset == "quick-mlp" else scores
    return shares / shares.sum(axis=1, keepdims=True)


def scores_written_out(preset: str, weights: dict[str, HostArray], pictures: HostArray) -> HostArray:
    hidden = pictures.reshape(-1, 784) / 255 @ weights["linear1.weight"].T.astype(np.float64)
    hidden = np.maximum(hidden + weights.get("linear1.bias", 0), 0)
    scores = hidden @ weights["linear2.weight"].T.astype(np.float64) + weights.get("linear2.bias", 0)
    return scores if preset == "quick-mlp" else np.maximum(scores, 0)


@pytest.fixture(params=["quick-mlp", "pycuda-seed"])
def preset(request: pytest.FixtureRequest) -> str:
    return request.param


def test_both_ways_to_make_probabilities_are_tested() -> None:
    assert {PRESETS[name].loss for name in ("quick-mlp", "pycuda-seed")} == {p.loss for p in PRESETS.values()}


def test_probabilities_are_those_of_the_network_written_out_for_any_number_of_pictures(
    preset: str, few_digits: DigitSets
) -> None:
    pictures, weights = few_digits.train.images[:1050], random_weights(preset, 1)
    assert len(pictures) > EVALUATION_BATCH
    p = Predictor(preset, chosen(preset), weights).probabilities(pictures)
    assert (p.shape, p.dtype) == ((1050, 10), np.float32)
    np.testing.assert_allclose(p, written_out(preset, weights, pictures), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-5)


def test_a_picture_gets_the_same_answer_alone_and_among_others(preset: str, few_digits: DigitSets) -> None:
    predictor, pictures = Predictor(preset, chosen(preset), random_weights(preset, 1)), few_digits.test.images[:50]
    together = predictor.probabilities(pictures)
    alone = np.concatenate([predictor.probabilities(picture[np.newaxis]) for picture in pictures])
    np.testing.assert_allclose(alone, together, rtol=1e-4, atol=1e-6)


def test_no_pictures_get_no_answers(preset: str) -> None:
    predictor = Predictor(preset, chosen(preset), random_weights(preset, 1))
    assert predictor.probabilities(np.zeros((0, 28, 28), np.uint8)).shape == (0, 10)


def test_an_empty_picture_still_gets_shares_that_add_up_to_one(preset: str) -> None:
    p = Predictor(preset, chosen(preset), random_weights(preset, 1)).probabilities(np.zeros((1, 28, 28), np.uint8))
    assert p.sum() == pytest.approx(1, rel=1e-5)


def test_answers_belong_to_the_caller_and_pictures_stay_as_they_are(few_digits: DigitSets) -> None:
    predictor = Predictor("quick-mlp", chosen("quick-mlp"), random_weights("quick-mlp", 1))
    pictures = few_digits.test.images[:3].copy()
    first = predictor.probabilities(pictures)
    kept = first.copy()
    predictor.probabilities(few_digits.test.images[3:6])
    np.testing.assert_array_equal(first, kept)
    np.testing.assert_array_equal(pictures, few_digits.test.images[:3])


def test_weights_loaded_later_answer_from_then_on_and_may_change_afterwards(few_digits: DigitSets) -> None:
    pictures, later = few_digits.test.images[:20], random_weights("quick-mlp", 2)
    predictor = Predictor("quick-mlp", chosen("quick-mlp"), random_weights("quick-mlp", 1))
    given = {name: w.copy() for name, w in later.items()}
    predictor.load_weights(given)
    for w in given.values():
        w[...] = np.nan
    np.testing.assert_allclose(
        predictor.probabilities(pictures), written_out("quick-mlp", later, pictures), rtol=1e-4, atol=1e-6
    )


def test_weights_of_another_network_are_refused_and_the_old_ones_go_on_answering(few_digits: DigitSets) -> None:
    predictor, pictures = (
        Predictor("quick-mlp", chosen("quick-mlp"), random_weights("quick-mlp", 1)),
        few_digits.test.images[:20],
    )
    before = predictor.probabilities(pictures)
    with pytest.raises(ValueError, match="this network wants"):
        predictor.load_weights(random_weights("pycuda-seed", 2))
    np.testing.assert_array_equal(predictor.probabilities(pictures), before)


def test_a_network_from_a_file_answers_like_the_one_that_was_saved(tmp_path: Path, few_digits: DigitSets) -> None:
    model = Model("quick-mlp", chosen("quick-mlp"), random_weights("quick-mlp", 1))
    save_model(tmp_path / "n.safetensors", model, "float32")
    pictures = few_digits.test.images[:20]
    np.testing.assert_array_equal(
        Predictor.from_model(load_model(tmp_path / "n.safetensors")).probabilities(pictures),
        Predictor.from_model(model).probabilities(pictures),
    )


def test_finite_weights_so_large_that_scores_overflow_still_give_probabilities(
    preset: str, few_digits: DigitSets
) -> None:
    weights = {name: np.full_like(w, 3e38) for name, w in random_weights(preset, 1).items()}
    p = Predictor(preset, chosen(preset), weights).probabilities(few_digits.test.images[:2])
    assert np.isfinite(p).all()


CONV = "conv 3x5 bn relu, pool 2, dropout 0.5, linear 10"


def conv_weights() -> dict[str, HostArray]:
    network = Network(find_preset("quick-cnn").build_layers(CONV), INPUT_SHAPE, Device())
    rng = np.random.default_rng(6)
    weights = {name: rng.normal(0, 0.2, w.shape).astype(np.float32) for name, w in network.export_weights().items()}
    return {**weights, "bn1.running_variance": np.array([0.5, 2, 0.1], np.float32)}


def conv_written_out(weights: dict[str, HostArray], picture: HostArray) -> HostArray:
    """Pixel by pixel and square by square, in float64; dropout lets everything through."""
    x, w = picture / 255, {name: values.astype(np.float64) for name, values in weights.items()}
    pooled = np.empty((3, 12, 12))
    for c in range(3):
        met = [[(w["conv1.weight"][:, :, c, 0] * x[i : i + 5, j : j + 5]).sum() for j in range(24)] for i in range(24)]
        scale = w["bn1.weight"][c] / np.sqrt(w["bn1.running_variance"][c] + 1e-5)
        y = np.maximum((np.array(met) - w["bn1.running_mean"][c]) * scale + w["bn1.bias"][c], 0)
        pooled[c] = [[y[2 * i : 2 * i + 2, 2 * j : 2 * j + 2].max() for j in range(12)] for i in range(12)]
    shares = np.exp(w["linear1.weight"] @ pooled.ravel() + w["linear1.bias"])
    return shares / shares.sum()


def test_a_convolutional_network_answers_as_it_is_written_out(few_digits: DigitSets) -> None:
    pictures, weights = few_digits.test.images[:6], conv_weights()
    predictor = Predictor("quick-cnn", Hyperparameters(CONV), weights)
    p = predictor.probabilities(pictures)
    np.testing.assert_allclose(p, [conv_written_out(weights, x) for x in pictures], rtol=1e-3, atol=1e-5)
    np.testing.assert_array_equal(predictor.probabilities(pictures), p)


def test_a_variance_below_zero_from_a_file_still_gives_probabilities(few_digits: DigitSets) -> None:
    weights = {**conv_weights(), "bn1.running_variance": np.full(3, -4, np.float32)}
    p = Predictor("quick-cnn", Hyperparameters(CONV), weights).probabilities(few_digits.test.images[:3])
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-5)


def test_the_confusion_is_counted_over_all_digits_and_can_be_interrupted(few_digits: DigitSets) -> None:
    data, predictor = few_digits.train, Predictor("quick-mlp", chosen("quick-mlp"), random_weights("quick-mlp", 1))
    assert len(data) > 2 * EVALUATION_BATCH
    counted = np.zeros((10, 10), int)
    for label, picture in zip(data.labels, data.images, strict=True):
        counted[label, predictor.probabilities(picture[np.newaxis])[0].argmax()] += 1
    np.testing.assert_array_equal(predictor.confusion(data), counted)
    asked = iter([False, False, True])
    assert predictor.confusion(data, lambda: next(asked)) is None


CALIBRATION = Calibration(
    temperature=0.2, no_digit_score=0.5, threshold=0.6, least_ink=0.01, most_ink=0.5, calibration_error=0.1
)


def test_a_calibrated_network_divides_its_scores_and_knows_an_eleventh_answer(
    preset: str, few_digits: DigitSets
) -> None:
    pictures, weights = few_digits.test.images[:40], random_weights(preset, 1)
    predictor = Predictor(preset, chosen(preset), weights, calibration=CALIBRATION)
    terms = np.exp(scores_written_out(preset, weights, pictures) / 0.2)
    digits = []
    for picture, row in zip(pictures, terms, strict=True):
        answer = predictor.answer(picture)
        np.testing.assert_allclose(answer.probabilities, row / row.sum(), rtol=1e-3, atol=1e-6)
        assert answer.guess == row.argmax()
        assert answer.confidence == pytest.approx(row.max() / (row.sum() + np.exp(0.5 / 0.2)), rel=1e-3)
        assert answer.digit == (answer.guess if answer.confidence >= 0.6 else None)
        digits.append(answer.digit)
    assert None in digits
    assert len(set(digits)) > 1


def test_the_threshold_may_be_set_and_one_of_0_answers_all_that_has_ink(few_digits: DigitSets) -> None:
    weights = random_weights("quick-mlp", 1)
    predictor = Predictor("quick-mlp", chosen("quick-mlp"), weights, calibration=CALIBRATION)
    assert predictor.threshold == 0.6
    answer = predictor.answer(few_digits.test.images[0])
    for threshold, digit in ((answer.confidence, answer.guess), (answer.confidence + 1e-9, None), (0.0, answer.guess)):
        predictor.threshold = threshold
        assert predictor.answer(few_digits.test.images[0]).digit == digit
    for level in (0, 255):
        assert predictor.answer(np.full((28, 28), level, np.uint8)).digit is None


def test_a_network_that_was_not_calibrated_always_knows_unless_there_is_no_ink(
    preset: str, few_digits: DigitSets
) -> None:
    predictor = Predictor(preset, chosen(preset), random_weights(preset, 1))
    assert (predictor.calibration, predictor.threshold) == (None, 0.0)
    for picture in (*few_digits.test.images[:5], np.full((28, 28), 255, np.uint8)):
        answer, p = predictor.answer(picture), predictor.probabilities(picture[np.newaxis])[0]
        assert (answer.digit, answer.guess, answer.confidence) == (p.argmax(), p.argmax(), p.max())
    empty = predictor.answer(np.zeros((28, 28), np.uint8))
    assert (empty.digit, empty.confidence) == (None, 0.0)


def test_other_weights_are_not_answered_for_by_an_old_calibration(few_digits: DigitSets) -> None:
    first, second = random_weights("quick-mlp", 1), random_weights("quick-mlp", 2)
    predictor = Predictor("quick-mlp", chosen("quick-mlp"), first, calibration=CALIBRATION)
    predictor.load_weights(second)
    assert (predictor.calibration, predictor.threshold) == (None, 0.0)
    plain = Predictor("quick-mlp", chosen("quick-mlp"), second)
    pictures = few_digits.test.images[:5]
    np.testing.assert_array_equal(predictor.probabilities(pictures), plain.probabilities(pictures))
    predictor.load_weights(first, CALIBRATION)
    assert (predictor.calibration, predictor.threshold) == (CALIBRATION, 0.6)


def test_a_model_keeps_what_was_fitted_for_it_in_its_file(preset: str, tmp_path: Path, few_digits: DigitSets) -> None:
    validation, weights = few_digits.train, random_weights(preset, 1)
    model = calibrated(Model(preset, chosen(preset), weights, {"trained_on": "MNIST"}), validation)
    assert model.facts["trained_on"] == "MNIST"
    save_model(tmp_path / "n.safetensors", model, "float32")
    predictor = Predictor.from_model(load_model(tmp_path / "n.safetensors"))
    fitted = predictor.calibration
    assert fitted is not None
    scores = scores_written_out(preset, weights, validation.images)
    assert fitted.temperature == pytest.approx(fit_temperature(scores, validation.labels), rel=1e-3)
    answered = [predictor.answer(picture).digit is not None for picture in validation.images]
    assert 0.985 <= np.mean(answered) <= 0.995


def test_scores_that_overflow_can_be_calibrated_too(preset: str, few_digits: DigitSets) -> None:
    weights = {name: np.full_like(w, 3e38) for name, w in random_weights(preset, 1).items()}
    model = calibrated(Model(preset, chosen(preset), weights), few_digits.test)
    answer = Predictor.from_model(model).answer(few_digits.test.images[0])
    assert np.isfinite(answer.probabilities).all()
    assert 0 <= answer.confidence <= 1
