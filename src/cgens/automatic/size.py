"""How large an automatic model is."""

from __future__ import annotations

#: Columns at least, more for each output, and at most: docs/decisions/0020-automatic-model.md.
COLUMNS, OUTPUT_COLUMNS, MOST_COLUMNS = 600, 150, 4000


def default_size(n_outputs: int) -> int:
    """Return the maximum number of columns."""
    return min(MOST_COLUMNS, COLUMNS + OUTPUT_COLUMNS * n_outputs)
