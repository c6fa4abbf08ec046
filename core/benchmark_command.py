"""The benchmark at the terminal: how long an epoch takes on each device, by the width of the hidden layer.

It is a room of its own because, like a training run, it lasts: figures are shown as they come, and Ctrl-C ends it with
those there are.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from typing import Annotated, Any

import typer
from rich.console import Group
from rich.live import Live
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
from rich.table import Table

from core.device import UnknownDeviceError
from core.device_list import list_devices
from core.digits.dataset import Dataset
from core.digits.mnist import load_mnist
from core.terminal import Json, WrongUseError, complain, print_json, stderr, stdout, stop_on_interrupt
from core.training.benchmark import (
    HIDDEN,
    PRESETS,
    BenchmarkEnded,
    BenchmarkJob,
    BenchmarkProgress,
    WidthFailed,
    WidthMeasured,
    benchmark,
    read_widths,
)
from core.training.benchmark_lesson import crossovers, lesson
from core.training.hyperparameters import HyperparameterError
from core.training.job import TrainingControl

_HIDDEN = ",".join(str(units) for units in HIDDEN)


def benchmark_command(
    hidden: Annotated[str, typer.Option(help="Units of the hidden layer, each to be measured.")] = _HIDDEN,
    devices: Annotated[
        str | None, typer.Option(help="Such as cpu,cuda:0; without it, every device that can compute.")
    ] = None,
    preset: Annotated[str, typer.Option(help=f"The recipe to train by: {' or '.join(PRESETS)}.")] = PRESETS[0],
    as_json: Json = False,
) -> None:
    """Measure one epoch of training for each width of the hidden layer, on each device. Ctrl-C keeps what there is."""
    # What is wrong with the words is said before devices are looked for.
    job = BenchmarkJob(preset, _widths(hidden), ())
    job = replace(job, device_keys=_device_keys(devices))
    digits = load_mnist().train
    told = _Told()
    _run(job, digits, told)
    if as_json:
        print_json(_figures(job, len(digits), told))
    else:
        stdout.print(told.table())
        for sentence in told.sentences():
            stdout.print(escape(sentence), soft_wrap=True)
    if not told.measured and told.failed:
        raise typer.Exit(1)


class _Told:
    """What a benchmark has told so far."""

    def __init__(self) -> None:
        self.measured: list[WidthMeasured] = []
        self.failed: list[WidthFailed] = []
        self.outcome = "stopped"

    def table(self) -> Table:
        """A row for each width on each device."""
        table = Table()
        for title in ("hidden", "device", "seconds", "digits/s", "GFLOP/s", "of peak"):
            table.add_column(title, justify="left" if title == "device" else "right")
        rows: list[WidthMeasured | WidthFailed] = [*self.measured, *self.failed]
        for row in sorted(rows, key=lambda row: row.hidden):
            figures = _in_figures(row) if isinstance(row, WidthMeasured) else ["–"] * 4
            table.add_row(f"{row.hidden:,}", escape(row.device_key), *figures)
        return table

    def sentences(self) -> Iterator[str]:
        """What is to be learned from it."""
        yield from (finding.say() for finding in lesson(self.measured))


def _in_figures(result: WidthMeasured) -> list[str]:
    return [
        f"{result.seconds:.2f}",
        f"{result.digits_per_second:,.0f}",
        f"{result.flops_per_second / 1e9:,.1f}",
        f"{result.share_of_peak:.1%}",
    ]


def _run(job: BenchmarkJob, digits: Dataset, told: _Told) -> None:
    """Measure, and show on stderr what there is, where there is someone to see it; Ctrl-C ends it after its step."""
    control = TrainingControl()
    bar = Progress(TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), console=stderr)
    task = bar.add_task("preparing", total=1.0)
    live = Live(console=stderr, transient=True, auto_refresh=stderr.is_terminal)
    with stop_on_interrupt(control.stop, "what was measured"), live:
        for event in benchmark(job, digits, control):
            if isinstance(event, BenchmarkProgress):
                words = f"{event.device_key} · {event.hidden:,} hidden units"
                bar.update(task, completed=event.done, description=escape(words))
            elif isinstance(event, WidthMeasured):
                told.measured.append(event)
            elif isinstance(event, WidthFailed):
                # A device that cannot be opened fails at each width, and is told of once.
                if event.reason not in [failure.reason for failure in told.failed]:
                    complain(event.reason)
                told.failed.append(event)
            elif isinstance(event, BenchmarkEnded):
                told.outcome = event.outcome
            live.update(Group(told.table(), bar))


def _widths(text: str) -> tuple[int, ...]:
    try:
        return read_widths(text)
    except HyperparameterError as error:
        raise WrongUseError(f"--hidden: {error}") from None


def _device_keys(text: str | None) -> tuple[str, ...]:
    """The keys in `text`, each once, or those of all devices that can compute; raises UnknownDeviceError."""
    if text is None:
        return tuple(info.key for info in list_devices() if info.available)
    keys = tuple(dict.fromkeys(part.strip() for part in text.split(",")))
    # Looking for GPUs takes a second or more: not where none is asked for.
    known = ["cpu"] if keys == ("cpu",) else [info.key for info in list_devices()]
    for key in keys:
        if key not in known:
            raise UnknownDeviceError(f"there is no device {key!r:.60}; this machine knows {', '.join(known)}")
    return keys


def _figures(job: BenchmarkJob, digits: int, told: _Told) -> dict[str, Any]:
    return {
        "preset": job.preset,
        "digits": digits,
        "results": [asdict(result) for result in told.measured],
        "failures": [asdict(failure) for failure in told.failed],
        # Of the first GPU that overtakes the CPU.
        "crossover": next(iter(crossovers(told.measured).values()), None),
        "lesson": list(told.sentences()),
        "outcome": told.outcome,
    }


COMMANDS: Mapping[str, Callable[..., None]] = {"benchmark": benchmark_command}
