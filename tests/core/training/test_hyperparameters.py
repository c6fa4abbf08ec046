"""What may be chosen: both ends of every range and just beyond, wrong kinds, and untrusted tables."""

import json
import math
from dataclasses import FrozenInstanceError, replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.nn.optimizers import OPTIMIZERS
from core.nn.schedules import SCHEDULES
from core.training.hyperparameters import (
    CHANGEABLE,
    PRECISIONS,
    RANGES,
    HyperparameterError,
    Hyperparameters,
    check_network,
)

WHOLE = (
    "batch_size",
    "epochs",
    "seed",
    "patience",
    "validation_digits",
    "evaluate_every",
    "shift_px",
    "train_limit",
)
FRACTIONS = (
    "learning_rate",
    "momentum",
    "weight_decay",
    "clip_norm",
    "warmup",
    "augment",
    "augment_fade",
    "synthetic",
    "label_smoothing",
    "averaging",
)
VALID = Hyperparameters("linear 64 relu, linear 10")
unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def chosen(name: str, value: object) -> Hyperparameters:
    """Valid hyperparameters but for one."""
    return replace(VALID, **{name: value})


def in_range(name: str, whole: bool = True) -> st.SearchStrategy:
    limits = RANGES[name]
    if whole:
        return st.integers(int(limits.minimum), int(limits.maximum))
    return st.floats(limits.minimum, limits.maximum)


TEXT = {"network": "linear 10"}
NETWORKS = ("linear 10", "linear 300 tanh, linear 10", "conv 4x3 same bn relu, pool 2, dropout 0.2, linear 10")
ANY_VALID = st.builds(
    Hyperparameters,
    network=st.sampled_from(NETWORKS),
    optimizer=st.sampled_from(list(OPTIMIZERS)),
    schedule=st.sampled_from(list(SCHEDULES)),
    precision=st.sampled_from(PRECISIONS),
    keep_best=st.booleans(),
    **{name: in_range(name) for name in WHOLE},
    **{name: in_range(name, whole=False) for name in FRACTIONS},
)


@pytest.mark.parametrize("name", RANGES)
def test_both_ends_of_a_range_are_allowed_and_what_lies_beyond_is_not(name: str) -> None:
    low, high = RANGES[name].minimum, RANGES[name].maximum
    if name in WHOLE:
        low, high, below, above = int(low), int(high), int(low) - 1, int(high) + 1
    else:
        below, above = math.nextafter(low, -math.inf), math.nextafter(high, math.inf)
    assert getattr(chosen(name, low), name) == low
    assert getattr(chosen(name, high), name) == high
    for wrong in (below, above):
        with pytest.raises(
            HyperparameterError, match=rf"^{name.replace('_', ' ')} is .*; it must be a (whole )?number from .* to "
        ):
            chosen(name, wrong)


@pytest.mark.parametrize("name", RANGES)
@pytest.mark.parametrize(
    "value",
    ["100", b"1", True, [1], {}, (1,), 1j, math.nan, math.inf, -math.inf],
    ids=["text", "bytes", "true", "list", "dict", "tuple", "complex", "nan", "inf", "-inf"],
)
def test_what_is_no_number_or_no_finite_one_is_refused(name: str, value: object) -> None:
    with pytest.raises(HyperparameterError, match=f"^{name.replace('_', ' ')} is ") as caught:
        chosen(name, value)
    assert len(str(caught.value)) < 200


def test_a_whole_number_too_large_for_any_float_is_refused_like_any_other() -> None:
    for name in RANGES:
        for value in (10**400, -(10**400)):
            with pytest.raises(HyperparameterError, match=f"^{name.replace('_', ' ')} is ") as caught:
                chosen(name, value)
            assert len(str(caught.value)) < 200


@pytest.mark.parametrize("name", WHOLE)
def test_a_fraction_is_refused_where_a_whole_number_is_wanted(name: str) -> None:
    for value in (200.5, 200.0):
        with pytest.raises(HyperparameterError, match=f"^{name.replace('_', ' ')} is 200.* a whole number from "):
            chosen(name, value)


@pytest.mark.parametrize(("name", "value"), [("learning_rate", 1), ("momentum", 0), ("augment", 1), ("clip_norm", 5)])
def test_a_whole_number_will_do_where_a_fraction_is_usual(name: str, value: int) -> None:
    assert getattr(chosen(name, value), name) == value


def test_every_range_is_tested_as_what_it_is_for() -> None:
    assert set(RANGES) == {*WHOLE, *FRACTIONS}


@pytest.mark.parametrize("name", [*WHOLE, *FRACTIONS])
def test_none_is_no_number(name: str) -> None:
    with pytest.raises(HyperparameterError, match=f"^{name.replace('_', ' ')} is None"):
        chosen(name, None)


@pytest.mark.parametrize("value", [0, 1, None, "true", [], 1.0])
def test_keep_best_is_true_or_false_and_nothing_that_counts_as_such(value: object) -> None:
    assert chosen("keep_best", True).keep_best is True
    with pytest.raises(HyperparameterError, match=r"^keep best is .*; it must be true or false$"):
        chosen("keep_best", value)


@pytest.mark.parametrize(
    ("network", "complaint"),
    [
        (None, r"^network is None; it must be a text, such as 'linear 256 relu, linear 10'$"),
        (256, "^network is 256; it must be a text"),
        (["linear 10"], r"^network is \['linear 10'\]; it must be a text"),
        (b"linear 10", "^network is b'linear 10'; it must be a text"),
        ("", "^network: a layer is missing here$"),
        ("linear 8,, linear 10", "^network: a layer is missing here$"),
        ("liner 10", "^network: 'liner' is no layer; there are conv, pool, linear"),
        ("linear ten", "^network: linear 'ten': it wants a number of units"),
        ("linear 0, linear 10", "^network: units is 0; it must be from 1 to 16,384$"),
        ("conv 8x30, linear 10", "^network: kernel is 30; it must be from 1 to 28$"),
        ("linear 8 relu, conv 8x3, linear 10", "^network: conv 8x3 after relu: there is no picture to convolve$"),
        ("linear 9", "^network: it must end with linear 10, one answer for each digit$"),
        ("linear 10, linear 11", "^network: it must end with linear 10"),
        ("conv 10x28", "^network: it must end with linear 10"),
        ("relu", "^network: it must end with linear 10"),
        ("linear 999999999, linear 10", "^network: units is 999999999; it must be from 1 to 16,384$"),
        ("linear " + "9" * 500, "^network: linear '9{40}': it wants a number of units"),
        (
            ", ".join(["linear 16384"] * 3 + ["linear 10"]),
            "^network: linear 16384 makes the network too large",
        ),
        (", ".join(["relu"] * 65 + ["linear 10"]), "^network: relu makes the network too large: .* and 64 layers$"),
        ("linear 10, " * 10_000_000 + "linear 10", "^network: the network's text is longer than 1000 characters$"),
    ],
    ids=lambda value: repr(value)[:40] if not isinstance(value, str) or len(value) < 200 else value[:40],
)
def test_what_describes_no_network_from_a_picture_to_ten_classes_is_refused_with_why(
    network: object, complaint: str
) -> None:
    for attempt in (check_network, lambda text: chosen("network", text)):
        with pytest.raises(HyperparameterError, match=complaint) as caught:
            attempt(network)
        assert len(str(caught.value)) < 200
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("network", [*NETWORKS, "conv 10x28, linear 10", "linear 16384 relu, linear 10"])
def test_networks_that_end_in_ten_answers_are_allowed(network: str) -> None:
    check_network(network)
    assert Hyperparameters(network).network == network


@pytest.mark.parametrize("name", ["optimizer", "schedule", "precision"])
@pytest.mark.parametrize("value", ["", "SGD", "nadam", None, 3, ["sgd"], "x" * 10_000])
def test_a_name_that_is_no_choice_is_refused_with_the_choices(name: str, value: object) -> None:
    choices = {
        "optimizer": "sgd or momentum or nesterov or adagrad or rmsprop or adam or adamw",
        "schedule": "constant or step or cosine or one-cycle",
        "precision": "float32 or tf32 or float64",
    }
    with pytest.raises(HyperparameterError, match=f"^{name} is .*; choose {choices[name]}$") as caught:
        chosen(name, value)
    assert len(str(caught.value)) < 200


def test_what_may_be_changed_during_a_run_are_choices() -> None:
    assert set(CHANGEABLE) <= set(VALID.as_dict())
    assert len(set(CHANGEABLE)) == len(CHANGEABLE)


def test_choices_cannot_be_changed_afterwards() -> None:
    with pytest.raises(FrozenInstanceError):
        VALID.batch_size = 0  # type: ignore[misc]


@unhurried
@given(ANY_VALID)
def test_choices_come_back_from_json_as_they_went(hyperparameters: Hyperparameters) -> None:
    assert Hyperparameters.from_dict(json.loads(json.dumps(hyperparameters.as_dict()))) == hyperparameters


def test_a_table_of_an_earlier_build_limits_no_digits_by_none() -> None:
    assert Hyperparameters.from_dict({**TEXT, "train_limit": None}) == Hyperparameters.from_dict(TEXT)


def test_what_a_table_leaves_out_takes_its_usual_value() -> None:
    assert Hyperparameters.from_dict({"network": "linear 10"}) == Hyperparameters("linear 10")


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        (None, "not a table"),
        ([], "not a table"),
        ("network", "not a table"),
        ({}, "^the hyperparameters are not a table with a network in it$"),
        ({"hidden": [3]}, "^the hyperparameters are not a table with a network in it$"),
        ({**TEXT, "hidden": [3]}, "unknown hyperparameter 'hidden'"),
        ({**TEXT, "colour": "red"}, "unknown hyperparameter 'colour'"),
        ({**TEXT, "c" * 5000: 1}, "unknown hyperparameter 'c{40}'"),
        ({**TEXT, 7: 1, None: 2}, "unknown hyperparameter '7'"),
        ({**TEXT, "__init__": 1}, "unknown hyperparameter '__init__'"),
        ({**TEXT, "epochs": 0}, "epochs is 0"),
        ({**TEXT, "keep_best": 1}, "keep best is 1; it must be true or false"),
        ({"network": ["linear 10"]}, "network is .*; it must be a text"),
        ({"network": {"linear": 10}}, "network is .*; it must be a text"),
        ({"network": [1] * 100_000}, "network is .*; it must be a text"),
        ({"network": "linear 3"}, "it must end with linear 10"),
        ({**TEXT, "seed": [[[[1]]]]}, "seed is "),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 50 else "",
)
def test_a_table_from_anywhere_is_refused_with_what_is_wrong_with_it(values: object, complaint: str) -> None:
    with pytest.raises(HyperparameterError, match=complaint) as caught:
        Hyperparameters.from_dict(values)
    assert len(str(caught.value)) < 300


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["sgd", "3", "", "linear 5, linear 10"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner),
    max_leaves=6,
)


@unhurried
@given(st.dictionaries(st.sampled_from([*VALID.as_dict(), "other"]), JSON_VALUES).map(lambda table: {**TEXT, **table}))
def test_whatever_json_holds_gives_valid_choices_or_a_hyperparameter_error(values: dict[str, object]) -> None:
    try:
        hyperparameters = Hyperparameters.from_dict(values)
    except HyperparameterError:
        return
    if values.get("train_limit", 0) is None:
        values = {**values, "train_limit": 0}
    assert hyperparameters.as_dict().items() >= values.items()


@pytest.mark.parametrize("name", [*RANGES, "optimizer", "schedule", "precision", "keep_best", "network"])
def test_a_refusal_begins_with_the_choice_it_is_about_and_says_which_that_is(name: str) -> None:
    with pytest.raises(HyperparameterError) as caught:
        Hyperparameters(**{"network": "linear 10", name: "luck"})
    assert caught.value.name == name
    assert str(caught.value).startswith(name.replace("_", " "))
