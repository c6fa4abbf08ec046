"""Max pooling: keep the strongest answer of each little square."""

from collections.abc import Sequence

from core.device import Array
from core.nn.layers.layer import Layer, Shape, ShapeError


class MaxPool2d(Layer):
    """y = the largest x of each `size` by `size` square; rows and columns that fill no square are left out.

    Backward: dx = dy where x was the largest, else 0; of equal ones one takes it all. The largest is found over rows
    first and then over columns: the first step, with most of the work, then runs along whole rows.
    """

    name = "pool"
    divides = True

    def __init__(self, size: int) -> None:
        self.size = size

    def output_shape(self, input_shape: Shape) -> Shape:
        if len(input_shape) != 3:
            raise ShapeError("there is no picture to pool")
        channels, rows, columns = input_shape
        if min(rows, columns) < self.size:
            raise ShapeError(f"a picture of {rows}x{columns} is too small to pool by {self.size}")
        return channels, rows // self.size, columns // self.size

    def forward(self, x: Array, *, training: bool) -> Array:
        channels, rows, columns = self.output_shape(x.shape[:-1])
        samples = x.shape[-1]
        self._x = x
        high = self._high = self.workspace.array("high", (channels, rows, columns * self.size, samples))
        y = self._y = self.workspace.array("y", (channels, rows, columns, samples))

        def pool(part: slice) -> None:
            self._take_largest(self._of_rows(x, part), high[part])
            self._take_largest(self._of_columns(high, part), y[part])

        self.run_shares(self.shares(channels, x.size), pool)
        return y

    def backward(self, dy: Array) -> Array:
        dx = self.workspace.zeros("dx", self._x.shape)
        dhigh = self.workspace.array("dhigh", self._high.shape)
        largest = self.workspace.array("largest", self._high.shape, self.xp.bool_)

        def spread(part: slice) -> None:
            scratch = largest[part, :, : self._y.shape[2]]
            columns = self._of_columns(self._high, part), self._of_columns(dhigh, part)
            self._give_to_largest(dy[part], columns[0], self._y[part], columns[1], scratch)
            rows = self._of_rows(self._x, part), self._of_rows(dx, part)
            self._give_to_largest(dhigh[part], rows[0], self._high[part], rows[1], largest[part])

        self.run_shares(self.shares(len(dx), dx.size), spread)
        return dx

    def _of_rows(self, pictures: Array, part: slice) -> list[Array]:
        """The first row of every square, the second, and so on: views (C, H', size W', N)."""
        _, rows, columns, _ = self._high.shape
        return [pictures[part, i : rows * self.size : self.size, :columns] for i in range(self.size)]

    def _of_columns(self, pictures: Array, part: slice) -> list[Array]:
        return [pictures[part, :, j :: self.size] for j in range(self.size)]

    def _take_largest(self, views: Sequence[Array], out: Array) -> None:
        self.xp.copyto(out, views[0]) if len(views) == 1 else self.xp.maximum(views[0], views[1], out=out)
        for view in views[2:]:
            self.xp.maximum(out, view, out=out)

    def _give_to_largest(
        self, dy: Array, views: Sequence[Array], largest: Array, dviews: Sequence[Array], scratch: Array
    ) -> None:
        """dy to the first of `views` that equals `largest`; what no earlier one has taken is the last one's."""
        xp, rest = self.xp, dy
        for view, dview in zip(views[:-1], dviews[:-1], strict=True):
            xp.equal(view, largest, out=scratch)
            xp.multiply(rest, scratch, out=dview)
            xp.subtract(rest, dview, out=dviews[-1])
            rest = dviews[-1]
        if rest is dy:
            xp.copyto(dviews[-1], dy)
