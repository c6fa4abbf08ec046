"""Where a training run stands, as the window sees it. The controller moves it; widgets show it."""

import enum


class TrainingState(enum.Enum):
    """IDLE: nothing runs; LOADING: the data is not there yet; STOPPING: asked to stop, not yet at home."""

    LOADING = enum.auto()
    IDLE = enum.auto()
    TRAINING = enum.auto()
    PAUSED = enum.auto()
    STOPPING = enum.auto()

    @property
    def is_running(self) -> bool:
        """Whether a training thread is alive."""
        return self in (TrainingState.TRAINING, TrainingState.PAUSED, TrainingState.STOPPING)
