"""What each hyperparameter is called on screen, and what it does to learning.

A room of its own because these sentences are the teacher in the window: they can be read, weighed and translated in
one place, without a form around them.
"""

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QCoreApplication


def label_and_explanation(name: str) -> tuple[str, str]:
    """The label of the hyperparameter `name`, or of the "data", and one or two sentences about what the choice does."""
    translate = QCoreApplication.translate
    texts = {
        "data": (
            translate("HyperparameterForm", "Data"),
            translate(
                "HyperparameterForm",
                "The set to learn from and to be tested on. MNIST is built in; another is fetched once you ask for it, "
                "or taken from files you have. The test accuracy is that of the set chosen here.",
            ),
        ),
        "network": (
            translate("HyperparameterForm", "Network"),
            translate(
                "HyperparameterForm",
                "The layers, first to last: linear 256 relu, or conv 16x3 relu, pool 2; also bn, dropout 0.3, same, "
                "gelu, tanh, sigmoid, leaky-relu. It ends with linear 10. Wider layers tell more apart, slowly.",
            ),
        ),
        "optimizer": (
            translate("HyperparameterForm", "Optimizer"),
            translate(
                "HyperparameterForm",
                "How a gradient becomes a change of the weights. SGD and Momentum move all weights by one rule; Adam "
                "and its kin give each a step of its own size and forgive a badly chosen learning rate.",
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
                "rolls over small bumps; too much overshoots. For Momentum and Nesterov: others bring their own.",
            ),
        ),
        "schedule": (
            translate("HyperparameterForm", "Schedule"),
            translate(
                "HyperparameterForm",
                "How the learning rate goes on over the run. Constant keeps it; step and cosine lower it, which often "
                "settles the last mistakes; one-cycle first raises it, then lets it fall to nothing.",
            ),
        ),
        "warmup": (
            translate("HyperparameterForm", "Warm-up"),
            translate(
                "HyperparameterForm",
                "The share of the run over which the learning rate first rises from nothing. It keeps the first steps, "
                "taken from random weights, from doing damage.",
            ),
        ),
        "weight_decay": (
            translate("HyperparameterForm", "Weight decay"),
            translate(
                "HyperparameterForm",
                "Pulls every weight a little towards 0 at each step, so that only those stay large that are worth it. "
                "It makes learning by heart harder.",
            ),
        ),
        "clip_norm": (
            translate("HyperparameterForm", "Clip gradient"),
            translate(
                "HyperparameterForm",
                "The longest gradient a step may use; a longer one is shortened to this. It tames rare wild batches. "
                "With 0 every gradient is used as it is.",
            ),
        ),
        "label_smoothing": (
            translate("HyperparameterForm", "Label smoothing"),
            translate(
                "HyperparameterForm",
                "The share of certainty taken from the right answer and spread over all ten. The network learns not to "
                "be too sure, which often makes it right a little more often.",
            ),
        ),
        "averaging": (
            translate("HyperparameterForm", "Averaging"),
            translate(
                "HyperparameterForm",
                "Measures and keeps a running mean of the weights, with this share of the old at each step: 0.99 looks "
                "back a hundred steps. It smooths out the noise of the last ones; 0 keeps the weights as they are.",
            ),
        ),
        "patience": (
            translate("HyperparameterForm", "Patience (epochs)"),
            translate(
                "HyperparameterForm",
                "Ends the run once so many epochs have brought no better validation accuracy. With 0 it always goes on "
                "to the end.",
            ),
        ),
        "keep_best": (
            translate("HyperparameterForm", "Keep the best"),
            translate(
                "HyperparameterForm",
                "Keeps the weights with the best validation accuracy of the run instead of the last ones.",
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
        "train_limit": (
            translate("HyperparameterForm", "Training digits"),
            translate(
                "HyperparameterForm",
                "How many of the training digits are learned from. A few are soon known by heart: the two curves part, "
                "and you see what more of them are worth.",
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
                "How strongly each digit is turned, scaled, slanted, shifted and warped at random before it is learned "
                "from. Learning by heart gets harder, drawn digits are read better; each step takes longer.",
            ),
        ),
        "augment_fade": (
            translate("HyperparameterForm", "Distortion fades"),
            translate(
                "HyperparameterForm",
                "The share of the run, at its end, over which the distortion fades away. The network learns to bear "
                "much first, and at last sees digits as they are written.",
            ),
        ),
        "synthetic": (
            translate("HyperparameterForm", "Synthetic ink"),
            translate(
                "HyperparameterForm",
                "Share of digits nobody wrote: forms that people use and MNIST lacks, such as a 1 with an upstroke or "
                "a barred 7, and drawings that are no digit. What you draw is read better; each pass takes longer.",
            ),
        ),
        "precision": (
            translate("HyperparameterForm", "Precision"),
            translate(
                "HyperparameterForm",
                "The size of every number in the computation. float32 is enough for learning; float64 shows whether "
                "rounding plays a part, at half the speed. tf32 rounds more on a GPU, for speed.",
            ),
        ),
    }
    return texts[name]


def change_in_words(changes: Mapping[str, Any]) -> str:
    """Changed hyperparameters with their new values, as short as they fit beside a curve."""
    words = []
    for name, value in changes.items():
        # Of the network, only dropout can change.
        shown = "" if name == "network" else f" {value:g}"
        title = QCoreApplication.translate("HyperparameterForm", "Dropout") if name == "network" else ""
        words.append((title or label_and_explanation(name)[0]) + shown)
    return ", ".join(words)


def choice_title(value: str) -> str:
    """How one of the choices of optimizer, schedule and precision is written on screen."""
    translate = QCoreApplication.translate
    titles = {
        "sgd": translate("HyperparameterForm", "SGD"),
        "momentum": translate("HyperparameterForm", "Momentum"),
        "nesterov": translate("HyperparameterForm", "Nesterov"),
        "adagrad": translate("HyperparameterForm", "AdaGrad"),
        "rmsprop": translate("HyperparameterForm", "RMSprop"),
        "adam": translate("HyperparameterForm", "Adam"),
        "adamw": translate("HyperparameterForm", "AdamW"),
        "constant": translate("HyperparameterForm", "Constant"),
        "step": translate("HyperparameterForm", "Step"),
        "cosine": translate("HyperparameterForm", "Cosine"),
        "one-cycle": translate("HyperparameterForm", "One cycle"),
    }
    return titles.get(value, value)
