"""What each hyperparameter is called on screen, and what it does to learning.

A room of its own because these sentences are the teacher in the window: they can be read, weighed and translated in
one place, without a form around them.
"""

from PySide6.QtCore import QCoreApplication


def label_and_explanation(name: str) -> tuple[str, str]:
    """The label of the hyperparameter `name`, and one or two sentences about what the choice does."""
    translate = QCoreApplication.translate
    texts = {
        "hidden": (
            translate("HyperparameterForm", "Hidden layers"),
            translate(
                "HyperparameterForm",
                "Units in each hidden layer, first to last: 256, or 512, 128. More units tell more shapes apart, but "
                "make every step slower and learning by heart easier. Empty means no hidden layer.",
            ),
        ),
        "optimizer": (
            translate("HyperparameterForm", "Optimizer"),
            translate(
                "HyperparameterForm",
                "How a gradient becomes a change of the weights. SGD moves all weights by one rule; Adam gives each a "
                "step of its own size and forgives a badly chosen learning rate.",
            ),
        ),
        "learning_rate": (
            translate("HyperparameterForm", "Learning rate"),
            translate(
                "HyperparameterForm",
                "How far the weights move at each step. Too small, and learning crawls; too large, and the loss jumps "
                "about or runs away.",
            ),
        ),
        "momentum": (
            translate("HyperparameterForm", "Momentum"),
            translate(
                "HyperparameterForm",
                "The share of each update that carries on into the next. It gathers speed along steady slopes and "
                "rolls over small bumps; too much overshoots. Only for SGD: Adam brings its own.",
            ),
        ),
        "schedule": (
            translate("HyperparameterForm", "Schedule"),
            translate(
                "HyperparameterForm",
                "How the learning rate goes on over the run. Constant keeps it; cosine lets it fall to nothing by the "
                "end, which often settles the last mistakes.",
            ),
        ),
        "batch_size": (
            translate("HyperparameterForm", "Batch size"),
            translate(
                "HyperparameterForm",
                "Digits averaged into one step. Small batches take many noisy steps an epoch; large ones take few "
                "smooth steps, want a larger learning rate, and suit a GPU.",
            ),
        ),
        "epochs": (
            translate("HyperparameterForm", "Epochs"),
            translate(
                "HyperparameterForm",
                "How often every training digit is seen. More leaves time to learn, and later to learn by heart: then "
                "the training curve still rises while validation does not.",
            ),
        ),
        "seed": (
            translate("HyperparameterForm", "Seed"),
            translate(
                "HyperparameterForm",
                "Picks the first weights and the order of the digits. The same seed repeats a run; another one shows "
                "how much of a result was luck.",
            ),
        ),
        "validation_digits": (
            translate("HyperparameterForm", "Validation digits"),
            translate(
                "HyperparameterForm",
                "Training digits set aside to measure on and never learned from. More make the curve steadier and "
                "leave fewer to learn from; with 0 the live curve is the test set.",
            ),
        ),
        "evaluate_every": (
            translate("HyperparameterForm", "Measure every"),
            translate(
                "HyperparameterForm",
                "Digits learned from between two measurements. Often gives a finer curve; each measurement takes time "
                "but changes nothing in the network.",
            ),
        ),
        "shift_px": (
            translate("HyperparameterForm", "Shift (pixels)"),
            translate(
                "HyperparameterForm",
                "Moves each batch at random by up to so many pixels. The network learns that a digit stays the same "
                "wherever it lies, for next to no time; with 0 it sees the same pictures every epoch.",
            ),
        ),
        "augment": (
            translate("HyperparameterForm", "Distortion"),
            translate(
                "HyperparameterForm",
                "How strongly each digit is turned, scaled, slanted and shifted at random before it is learned from. "
                "Learning by heart gets harder, drawn digits are read better; each step takes longer.",
            ),
        ),
        "precision": (
            translate("HyperparameterForm", "Precision"),
            translate(
                "HyperparameterForm",
                "The size of every number in the computation. float32 is enough for learning; float64 takes at least "
                "twice as long and shows whether rounding plays a part.",
            ),
        ),
    }
    return texts[name]


def choice_title(value: str) -> str:
    """How one of the choices of optimizer, schedule and precision is written on screen."""
    translate = QCoreApplication.translate
    titles = {
        "sgd": translate("HyperparameterForm", "SGD"),
        "adam": translate("HyperparameterForm", "Adam"),
        "constant": translate("HyperparameterForm", "Constant"),
        "cosine": translate("HyperparameterForm", "Cosine"),
    }
    return titles.get(value, value)
