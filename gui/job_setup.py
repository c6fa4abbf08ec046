"""What is to be trained: preset, hyperparameters, device and digits, as they stand in the window, made into a job.

A room of its own because training, the search for a rate and the race all begin with it, and a kept run is shown in it
again before it is repeated or goes on.
"""

from dataclasses import replace

from PySide6.QtCore import QCoreApplication, QObject, Signal, Slot

from core.digits.dataset import DigitSets
from core.digits.downloads import find_titled, shows_digits
from core.training.hyperparameters import Hyperparameters
from core.training.job import TrainingJob
from core.training.presets import find_preset
from gui.main_window import MainWindow


class JobSetup(QObject):
    """`values_chosen` carries hyperparameters that the user chose, not those of a run that is shown."""

    values_chosen = Signal(Hyperparameters)

    def __init__(self, window: MainWindow, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._presets, self._devices = window.preset_selector, window.device_selector
        self._form = window.hyperparameter_form
        self._shows_run = False
        self.data = ""
        self.can_mix = True
        """Whether the set in use shows digits, so that others can be among them."""
        self._presets.preset_selected.connect(self._on_preset_selected)
        self._form.values_changed.connect(self._on_values_changed)

    def show_preset(self) -> None:
        """Put the values of the preset that is chosen into the form."""
        self._on_preset_selected(self._presets.selected_name())

    @Slot(object)
    def on_data_loaded(self, sets: DigitSets) -> None:
        """Jobs are on these digits from now on: known by name, or those of some folder by what that is called."""
        published = find_titled(sets.name)
        self.data = sets.name if published is None else published.name
        self.can_mix = shows_digits(sets.name)
        self._form.allow_ink(self.can_mix)

    def job(self) -> TrainingJob | None:
        """The job; None while something in the form is invalid."""
        values = self._form.values()
        if values is None:
            return None
        return TrainingJob(self._presets.selected_name(), values, self._devices.selected_key(), data=self.data)

    def show(self, job: TrainingJob) -> TrainingJob:
        """Let the window say what `job` does; returns it with a device that there is."""
        self._presets.select(job.preset)
        self._devices.select(job.device_key)
        self.show_values(job.hyperparameters)
        return replace(job, device_key=self._devices.selected_key())

    def show_values(self, hyperparameters: Hyperparameters) -> None:
        """Let the form say what a run goes on with, which is no change of it."""
        self._shows_run = True
        self._form.show_values(hyperparameters)
        self._shows_run = False

    @Slot(str)
    def _on_preset_selected(self, name: str) -> None:
        preset = find_preset(name)
        measured = self.tr("Measured on two cores: %1.").replace("%1", preset.figure)
        lesson = QCoreApplication.translate("presets", preset.lesson)
        self._form.show_lesson(f"{lesson} {measured}")
        self._form.show_values(preset.hyperparameters)

    @Slot()
    def _on_values_changed(self) -> None:
        if not self._shows_run and (values := self._form.values()) is not None:
            self.values_chosen.emit(values)
