"""How much of the vertical axis a plot of accuracies or losses shows, so that what happens late is still seen.

A room of its own because all plots of a window should agree on it.
"""

import numpy as np

SMALLEST_LOSS = 1e-9
"""What is smaller is drawn as this on a logarithmic scale, which has no place for 0."""
_FLOORS = (98.0, 95.0, 90.0, 80.0, 50.0, 0.0)
_ROOM_ABOVE = 0.03


def accuracy_range(worst: float) -> tuple[float, float]:
    """From a round number of percent not above `worst`, and a little over 100.

    With the worst of the later points, the last few percent fill the plot.
    """
    floor = next(floor for floor in _FLOORS if floor <= worst)
    return floor, 100.0 + _ROOM_ABOVE * (100.0 - floor)


def loss_range(lowest: float, highest: float, logarithmic: bool) -> tuple[float, float]:
    """From 0 to above `highest`; or, `logarithmic`, around both: powers of ten."""
    highest = highest or 1.0
    if not logarithmic:
        return 0.0, highest * 1.05
    # Whole quarters of a decade, so that the axis does not move with every new lowest loss.
    low, high = np.log10(np.clip([min(lowest, highest), highest], SMALLEST_LOSS, None))
    return float(np.floor(low * 4 - 0.2) / 4), float(np.ceil(high * 4 + 0.2) / 4)
