"""The predictor, held against a forward pass written out in float64."""

from pathlib import Path

import numpy as np
import pytest

from core.device import Device, HostArray
from core.digits.dataset import DigitSets
from core.nn.network import Network
from core.predictor import Predictor
from core.training.evaluation import EVALUATION_BATCH
from core.training.hyperparameters import Hyperparameters
from core.training.model_file import Model, load_model, save_model
from core.training.presets import INPUT_SHAPE, PRESETS, find_preset

HIDDEN = (12,)
CHOSEN = Hyperparameters(hidden=HIDDEN)


def random_weights(preset: str, seed: int) -> dict[str, HostArray]:
    network = Network(find_preset(preset).build_layers(HIDDEN), INPUT_SHAPE, Device())
    rng = np.random.default_rng(seed)
    network.parameters[...] = rng.normal(0, 0.2, len(network.parameters))
    return network.export_weights()


def written_out(preset: str, weights: dict[str, HostArray], pictures: HostArray) -> HostArray:
    """Probabilities as the preset defines them: softmax, or shares of the outputs above 0."""
    hidden = pictures.reshape(-1, 784) / 255 @ weights["linear1.weight"].T.astype(np.float64)
    hidden = np.maximum(hidden + weights.get("linear1.bias", 0), 0)
    scores = hidden @ weights["linear2.weight"].T.astype(np.float64) + weights.get("linear2.bias", 0)
    shares = np.exp(scores) if preset == "quick-mlp" else np.maximum(scores, 0)
    return shares / shares.sum(axis=1, keepdims=True)


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
    p = Predictor(preset, CHOSEN, weights).probabilities(pictures)
    assert (p.shape, p.dtype) == ((1050, 10), np.float32)
    np.testing.assert_allclose(p, written_out(preset, weights, pictures), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-5)


def test_a_picture_gets_the_same_answer_alone_and_among_others(preset: str, few_digits: DigitSets) -> None:
    predictor, pictures = Predictor(preset, CHOSEN, random_weights(preset, 1)), few_digits.test.images[:50]
    together = predictor.probabilities(pictures)
    alone = np.concatenate([predictor.probabilities(picture[np.newaxis]) for picture in pictures])
    np.testing.assert_allclose(alone, together, rtol=1e-4, atol=1e-6)


def test_no_pictures_get_no_answers(preset: str) -> None:
    predictor = Predictor(preset, CHOSEN, random_weights(preset, 1))
    assert predictor.probabilities(np.zeros((0, 28, 28), np.uint8)).shape == (0, 10)


def test_an_empty_picture_still_gets_shares_that_add_up_to_one(preset: str) -> None:
    p = Predictor(preset, CHOSEN, random_weights(preset, 1)).probabilities(np.zeros((1, 28, 28), np.uint8))
    assert p.sum() == pytest.approx(1, rel=1e-5)


def test_answers_belong_to_the_caller_and_pictures_stay_as_they_are(few_digits: DigitSets) -> None:
    predictor = Predictor("quick-mlp", CHOSEN, random_weights("quick-mlp", 1))
    pictures = few_digits.test.images[:3].copy()
    first = predictor.probabilities(pictures)
    kept = first.copy()
    predictor.probabilities(few_digits.test.images[3:6])
    np.testing.assert_array_equal(first, kept)
    np.testing.assert_array_equal(pictures, few_digits.test.images[:3])


def test_weights_loaded_later_answer_from_then_on_and_may_change_afterwards(few_digits: DigitSets) -> None:
    pictures, later = few_digits.test.images[:20], random_weights("quick-mlp", 2)
    predictor = Predictor("quick-mlp", CHOSEN, random_weights("quick-mlp", 1))
    given = {name: w.copy() for name, w in later.items()}
    predictor.load_weights(given)
    for w in given.values():
        w[...] = np.nan
    np.testing.assert_allclose(
        predictor.probabilities(pictures), written_out("quick-mlp", later, pictures), rtol=1e-4, atol=1e-6
    )


def test_weights_of_another_network_are_refused_and_the_old_ones_go_on_answering(few_digits: DigitSets) -> None:
    predictor, pictures = Predictor("quick-mlp", CHOSEN, random_weights("quick-mlp", 1)), few_digits.test.images[:20]
    before = predictor.probabilities(pictures)
    with pytest.raises(ValueError, match="this network wants"):
        predictor.load_weights(random_weights("pycuda-seed", 2))
    np.testing.assert_array_equal(predictor.probabilities(pictures), before)


def test_a_network_from_a_file_answers_like_the_one_that_was_saved(tmp_path: Path, few_digits: DigitSets) -> None:
    model = Model("quick-mlp", CHOSEN, random_weights("quick-mlp", 1))
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
    p = Predictor(preset, CHOSEN, weights).probabilities(few_digits.test.images[:2])
    assert np.isfinite(p).all()
