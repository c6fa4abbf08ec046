"""What is said of a kept run: its name, its state, how far it came and how well it reads.

A room of its own because the table, the plot and the offer to go on speak of the same run.
"""

from datetime import datetime

from PySide6.QtCore import QCoreApplication, QDateTime, QLocale

from core.digits.downloads import title_of
from core.training.ledger import DAMAGED, INTERRUPTED, RUNNING, RunSummary
from core.training.presets import find_preset


def _tr(text: str) -> str:
    return QCoreApplication.translate("Runs", text)


def run_name(run: RunSummary) -> str:
    """What the user calls it, or when it began."""
    if run.info is not None and run.info.name:
        return run.info.name
    return when(run) or run.path.name


def when(run: RunSummary) -> str:
    """When it began, by the clock on the wall; empty where its folder does not say."""
    began = _began(run)
    if began is None:
        return ""
    if began.date() == QDateTime.currentDateTime().date():
        return QLocale().toString(began.time(), QLocale.FormatType.ShortFormat)
    return QLocale().toString(began, QLocale.FormatType.ShortFormat)


def preset_title(run: RunSummary) -> str:
    """The title of its preset; empty where its folder is damaged."""
    if run.info is None:
        return ""
    return QCoreApplication.translate("presets", find_preset(run.info.job.preset).title)


def data_title(run: RunSummary) -> str:
    """The title of the set it learned from, or what its folder is called; empty where the run's own is damaged."""
    if run.info is None:
        return ""
    return title_of(run.info.job.data)


def state_in_words(run: RunSummary) -> str:
    """How it ended, or that it has not."""
    words = {
        RUNNING: _tr("running"),
        INTERRUPTED: _tr("broken off"),
        DAMAGED: _tr("damaged"),
        "completed": _tr("finished"),
        "target": _tr("reached its target"),
        "stopped": _tr("stopped"),
        "diverged": _tr("diverged"),
        "failed": _tr("device failed"),
    }
    return words.get(run.state, run.state)


def accuracy_in_words(run: RunSummary) -> str:
    """On the test digits, or as long as there is none, on those held out; empty if it was never measured."""
    measured = run.validation_accuracy if run.test_accuracy is None else run.test_accuracy
    return "" if measured is None else f"{QLocale().toString(100 * measured, 'f', 2)} %"


def time_in_words(run: RunSummary) -> str:
    """Time spent in steps: 4.2 s, 12:30, 1:02:05."""
    if run.train_seconds < 60:
        return _tr("%1 s").replace("%1", QLocale().toString(run.train_seconds, "f", 1))
    minutes, second = divmod(min(round(run.train_seconds), 10**9), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"


def place_in_words(run: RunSummary) -> str:
    """Where it stands: "epoch 3 of 10"."""
    epochs = 0 if run.info is None else run.info.job.hyperparameters.epochs
    done = min(run.steps / run.total_steps, 1.0) if run.total_steps else 0.0
    epoch = min(int(done * epochs) + 1, epochs)
    number = QLocale().toString
    return _tr("epoch %1 of %2").replace("%1", number(epoch)).replace("%2", number(epochs))


def explanation(run: RunSummary) -> str:
    """All that has no room in a row of the table, a line each."""
    if run.info is None:
        return run.problem
    chosen = run.info.job.hyperparameters
    lines = [
        run.info.note,
        run.path.name,
        data_title(run),
        chosen.network,
        f"{place_in_words(run)}, {_tr('seed')} {chosen.seed}",
    ]
    return "\n".join(filter(None, lines))


def _began(run: RunSummary) -> QDateTime | None:
    try:
        created = datetime.fromisoformat("" if run.info is None else run.info.created)
        return QDateTime.fromSecsSinceEpoch(int(created.timestamp()))
    except (ValueError, OverflowError, OSError):
        return None
