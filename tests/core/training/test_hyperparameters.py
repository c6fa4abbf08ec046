"""What may be chosen: both ends of every range and just beyond, wrong kinds, and untrusted tables."""

import json
import math
from dataclasses import FrozenInstanceError, replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.training.hyperparameters import (
    MAX_HIDDEN_LAYERS,
    OPTIMIZERS,
    PRECISIONS,
    RANGES,
    SCHEDULES,
    HyperparameterError,
    Hyperparameters,
)

WHOLE = ("batch_size", "epochs", "seed", "validation_digits", "evaluate_every", "shift_px", "train_limit")
FRACTIONS = ("learning_rate", "momentum", "augment")
VALID = Hyperparameters(hidden=(64,))
unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def chosen(name: str, value: object) -> Hyperparameters:
    """Valid hyperparameters but for one; a layer's size is put into a tuple."""
    return replace(VALID, **{name: (value,) if name == "hidden" else value})


def in_range(name: str, whole: bool = True) -> st.SearchStrategy:
    limits = RANGES[name]
    if whole:
        return st.integers(int(limits.minimum), int(limits.maximum))
    return st.floats(limits.minimum, limits.maximum)


ANY_VALID = st.builds(
    Hyperparameters,
    hidden=st.lists(in_range("hidden"), max_size=MAX_HIDDEN_LAYERS).map(tuple),
    optimizer=st.sampled_from(OPTIMIZERS),
    learning_rate=in_range("learning_rate", whole=False),
    momentum=in_range("momentum", whole=False),
    schedule=st.sampled_from(SCHEDULES),
    batch_size=in_range("batch_size"),
    epochs=in_range("epochs"),
    seed=in_range("seed"),
    validation_digits=in_range("validation_digits"),
    shift_px=in_range("shift_px"),
    augment=in_range("augment", whole=False),
    evaluate_every=in_range("evaluate_every"),
    precision=st.sampled_from(PRECISIONS),
    train_limit=st.none() | in_range("train_limit"),
)


@pytest.mark.parametrize("name", RANGES)
def test_both_ends_of_a_range_are_allowed_and_what_lies_beyond_is_not(name: str) -> None:
    low, high = RANGES[name].minimum, RANGES[name].maximum
    if name in WHOLE or name == "hidden":
        low, high, below, above = int(low), int(high), int(low) - 1, int(high) + 1
    else:
        below, above = math.nextafter(low, -math.inf), math.nextafter(high, math.inf)
    assert getattr(chosen(name, low), name) in (low, (low,))
    assert getattr(chosen(name, high), name) in (high, (high,))
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


@pytest.mark.parametrize("name", ["hidden", *WHOLE])
def test_a_fraction_is_refused_where_a_whole_number_is_wanted(name: str) -> None:
    for value in (200.5, 200.0):
        with pytest.raises(HyperparameterError, match=f"^{name.replace('_', ' ')} is 200.* a whole number from "):
            chosen(name, value)


@pytest.mark.parametrize(("name", "value"), [("learning_rate", 1), ("momentum", 0), ("augment", 1)])
def test_a_whole_number_will_do_where_a_fraction_is_usual(name: str, value: int) -> None:
    assert getattr(chosen(name, value), name) == value


def test_every_range_is_tested_as_what_it_is_for() -> None:
    assert set(RANGES) == {"hidden", *WHOLE, *FRACTIONS}


@pytest.mark.parametrize("name", [name for name in (*WHOLE, *FRACTIONS) if name != "train_limit"])
def test_none_is_a_value_for_the_limit_alone(name: str) -> None:
    assert chosen("train_limit", None).train_limit is None
    with pytest.raises(HyperparameterError, match=f"^{name.replace('_', ' ')} is None"):
        chosen(name, None)


@pytest.mark.parametrize("hidden", [(), (1,), (16384,) * MAX_HIDDEN_LAYERS])
def test_none_to_eight_hidden_layers_are_allowed(hidden: tuple[int, ...]) -> None:
    assert Hyperparameters(hidden=hidden).hidden == hidden


@pytest.mark.parametrize("hidden", [(8,) * (MAX_HIDDEN_LAYERS + 1), [8], 8, "8", None])
def test_more_layers_or_anything_but_a_tuple_are_refused(hidden: object) -> None:
    with pytest.raises(HyperparameterError, match=r"^hidden is .*; it wants up to 8 layer sizes"):
        Hyperparameters(hidden=hidden)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["optimizer", "schedule", "precision"])
@pytest.mark.parametrize("value", ["", "SGD", "nadam", None, 3, ["sgd"], "x" * 10_000])
def test_a_name_that_is_no_choice_is_refused_with_the_choices(name: str, value: object) -> None:
    choices = {"optimizer": "sgd or adam", "schedule": "constant or cosine", "precision": "float32 or float64"}
    with pytest.raises(
        HyperparameterError, match=f"^{name.replace('_', ' ')} is .*; choose {choices[name]}$"
    ) as caught:
        chosen(name, value)
    assert len(str(caught.value)) < 200


def test_choices_cannot_be_changed_afterwards() -> None:
    with pytest.raises(FrozenInstanceError):
        VALID.batch_size = 0  # type: ignore[misc]


@unhurried
@given(ANY_VALID)
def test_choices_come_back_from_json_as_they_went(hyperparameters: Hyperparameters) -> None:
    assert Hyperparameters.from_dict(json.loads(json.dumps(hyperparameters.as_dict()))) == hyperparameters


def test_what_a_table_leaves_out_takes_its_usual_value() -> None:
    assert Hyperparameters.from_dict({"hidden": [3, 2]}) == Hyperparameters(hidden=(3, 2))


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        (None, "not a table"),
        ([], "not a table"),
        ("hidden", "not a table"),
        ({}, "not a table with a list of hidden layers"),
        ({"hidden": 3}, "not a table with a list of hidden layers"),
        ({"hidden": "33"}, "not a table with a list of hidden layers"),
        ({"hidden": {"0": 3}}, "not a table with a list of hidden layers"),
        ({"hidden": [3], "colour": "red"}, "unknown hyperparameter 'colour'"),
        ({"hidden": [3], "c" * 5000: 1}, "unknown hyperparameter 'c{40}'"),
        ({"hidden": [3], 7: 1, None: 2}, "unknown hyperparameter '7'"),
        ({"hidden": [3], "__init__": 1}, "unknown hyperparameter '__init__'"),
        ({"hidden": [3], "epochs": 0}, "epochs is 0"),
        ({"hidden": [3.0]}, "hidden is 3.0"),
        ({"hidden": [[3]]}, r"hidden is \[3\]"),
        ({"hidden": [None]}, "hidden is None"),
        ({"hidden": [1] * 100_000}, "up to 8 layer sizes"),
        ({"hidden": [3], "seed": [[[[1]]]]}, "seed is "),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 50 else "",
)
def test_a_table_from_anywhere_is_refused_with_what_is_wrong_with_it(values: object, complaint: str) -> None:
    with pytest.raises(HyperparameterError, match=complaint) as caught:
        Hyperparameters.from_dict(values)
    assert len(str(caught.value)) < 300


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["sgd", "3", ""]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner),
    max_leaves=6,
)


@unhurried
@given(
    st.dictionaries(st.sampled_from([*VALID.as_dict(), "other"]), JSON_VALUES).map(
        lambda table: {"hidden": [4], **table}
    )
)
def test_whatever_json_holds_gives_valid_choices_or_a_hyperparameter_error(values: dict[str, object]) -> None:
    try:
        hyperparameters = Hyperparameters.from_dict(values)
    except HyperparameterError:
        return
    assert hyperparameters.as_dict().items() >= values.items()
