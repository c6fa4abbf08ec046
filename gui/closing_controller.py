"""The way out: ask, stop, wait, save, close; never hanging, and never losing a trained network without a word.

A run that is kept in its folder loses nothing: it is asked whether to stop it, and its network needs no saving. Where
it ends by itself while that is asked, the question is another, or none where it has left nothing.
"""

from PySide6.QtCore import QObject, Signal, Slot

from gui.dialogs import Dialogs, Keep
from gui.file_controller import FileController
from gui.training_controller import TrainingController
from gui.training_state import TrainingState


class ClosingController(QObject):
    """Emits `close_allowed` when nothing speaks against closing any more."""

    close_allowed = Signal()

    def __init__(
        self,
        training: TrainingController,
        files: FileController,
        dialogs: Dialogs,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._training, self._files, self._dialogs = training, files, dialogs
        self._asking = False
        self._waiting_to: Keep | None = None
        self._promised = self._is_overtaken = False
        training.state_changed.connect(self._on_state_changed)

    @Slot()
    def on_close_requested(self) -> None:
        """The window was asked to close."""
        if self._asking or self._waiting_to is not None:
            return
        running = self._training.state.is_running
        if not running and not self._files.has_unsaved:
            self.close_allowed.emit()
            return
        self._promised = running and self._training.is_kept
        answer = self._ask(running, self._promised)
        if self._is_overtaken and answer is Keep.STAY:
            if not (self._files.has_unsaved or self._training.is_kept):
                self.close_allowed.emit()
                return
            answer = self._ask(False, not self._files.has_unsaved)
        if answer is Keep.STAY:
            return
        # The run may have ended by itself while the question was open.
        if self._training.state.is_running:
            self._waiting_to = answer
            self._training.stop()
        else:
            self._leave(answer)

    def _ask(self, running: bool, kept: bool) -> Keep:
        self._asking, self._is_overtaken = True, False
        answer = self._dialogs.ask_before_closing(running, kept)
        self._asking = False
        return answer

    @Slot(TrainingState)
    def _on_state_changed(self, state: TrainingState) -> None:
        if state is TrainingState.IDLE and self._asking:
            # What was asked about is over: nothing is left to be stopped.
            self._is_overtaken = True
            self._dialogs.withdraw()
        elif state is TrainingState.IDLE and self._waiting_to is not None:
            answer, self._waiting_to = self._waiting_to, None
            if self._promised and self._files.has_unsaved:
                # Its end could not be written: that was not known when it was asked.
                self.on_close_requested()
            else:
                self._leave(answer)

    def _leave(self, answer: Keep) -> None:
        if self._files.settle(answer):
            self.close_allowed.emit()
