"""The canvas at the window's side: what lies on it is read, looked up among the training digits, and told how sure."""

from PySide6.QtCore import QObject, Signal, Slot

from core.digits.dataset import DigitSets
from core.digits.downloads import PublishedSet, classes_of
from core.training.calibration import Calibration
from gui.certainty_controller import Certainty, CertaintyController
from gui.dialogs import Dialogs
from gui.drawing_controller import DrawingController
from gui.example_controller import ExampleController
from gui.main_window import MainWindow
from gui.nearest_controller import NearestController
from gui.network_controller import NetworkController
from gui.picture_controller import PictureController


class DrawingSide(QObject):
    """Joins the drawing panel and its controllers; `notified` and `failed` carry a sentence."""

    notified = Signal(str)
    failed = Signal(str)

    def __init__(
        self, window: MainWindow, network: NetworkController, dialogs: Dialogs, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._window, self._panel, self._network = window, window.drawing_panel, network
        self.controller = DrawingController(self)
        self._examples = ExampleController(self)
        self._nearest = NearestController(self)
        self._certainty = CertaintyController(self)
        self._pictures = PictureController(network.model_of_digits, dialogs, self)
        self._connect()

    @Slot(object)
    def on_data_loaded(self, sets: DigitSets) -> None:
        self._panel.show_labels(classes_of(sets.name))
        for part in (self._examples, self._nearest, self._certainty):
            part.on_data_loaded(sets)

    def allow(self, free: bool) -> None:
        """Whether the machine is free for what takes seconds and is not asked for at once."""
        self._certainty.allow(free)

    def cancel(self) -> None:
        """Give up what runs, and wait for its end."""
        for part in (self._nearest, self._certainty, self._pictures):
            part.cancel()

    def _connect(self) -> None:
        panel, drawing, network = self._panel, self.controller, self._network

        panel.ink_changed.connect(drawing.on_ink_changed)
        panel.digit_put.connect(drawing.on_digit_put)
        panel.picture_put.connect(drawing.on_picture_put)
        panel.moved.connect(drawing.on_moved)
        panel.recipe_changed.connect(drawing.on_recipe_changed)
        panel.digit_selected.connect(drawing.select)
        drawing.number_read.connect(panel.show_number)
        drawing.answered.connect(panel.show_answer)
        drawing.traced.connect(panel.show_way)
        network.learned_from.connect(self._on_learned_from)
        network.predictor_changed.connect(drawing.use_predictor)
        network.weights_changed.connect(drawing.use_weights)
        network.named.connect(panel.show_network_name)

        drawing.answered.connect(self._nearest.on_answered)
        panel.details_opened.connect(self._nearest.set_wanted)
        self._nearest.found.connect(panel.show_nearest)
        self._nearest.failed.connect(self.failed)

        panel.random_example_requested.connect(self._examples.choose_by_lot)
        panel.example_requested.connect(self._examples.choose)
        self._examples.ready.connect(panel.allow_examples)
        self._examples.chosen.connect(panel.canvas.put)

        self._window.open_picture_action.triggered.connect(self._pictures.ask)
        self._window.paste_picture_action.triggered.connect(self._pictures.paste)
        panel.picture_dropped.connect(self._pictures.read)
        for changed in (panel.ink_changed, panel.digit_put):
            changed.connect(self._pictures.forget)
        self._pictures.opened.connect(panel.canvas.put)
        self._pictures.notified.connect(self.notified)
        self._pictures.failed.connect(self.failed)

        network.settled.connect(self._certainty.look_at)
        self._certainty.unknown.connect(panel.certainty.show_nothing)
        self._certainty.known.connect(self._on_calibration_known)
        self._certainty.measured.connect(self._on_certainty_measured)
        self._certainty.unmeasured.connect(panel.certainty.forget_effect)
        self._certainty.failed.connect(self.failed)
        panel.certainty.threshold_changed.connect(drawing.set_threshold)

    @Slot(object)
    def _on_learned_from(self, published: PublishedSet) -> None:
        self._panel.show_meanings(published.title, published.classes)
        self.controller.read_whole(not published.shows_digits)

    @Slot(object)
    def _on_calibration_known(self, calibration: Calibration) -> None:
        self.controller.use_calibration(calibration)
        self._panel.certainty.show_threshold(calibration.threshold)
        # What is shown is what holds: no bar may pass the line and still be no answer.
        self.controller.set_threshold(self._panel.certainty.threshold)

    @Slot(object)
    def _on_certainty_measured(self, certainty: Certainty) -> None:
        self._panel.certainty.show_effect(certainty.coverage, certainty.accuracy)
