"""Printed tables, and results as JSON."""

from __future__ import annotations

import json
import platform
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


class Table:
    """Rows of text, printed as a Markdown table."""

    def __init__(self, *header: str) -> None:
        self._rows = [header]

    def add(self, *cells: str) -> None:
        """Add a row."""
        self._rows.append(cells)

    def __str__(self) -> str:
        widths = [max(len(row[k]) for row in self._rows) for k in range(len(self._rows[0]))]
        padded = [[cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in self._rows]
        lines = [f"| {' | '.join(row)} |" for row in padded]
        lines.insert(1, "|" + "|".join("-" * (w + 2) for w in widths) + "|")
        return "\n".join(lines)


def save_results(name: str, results: dict[str, Any]) -> None:
    """Write the results of a benchmark, with the versions of the libraries."""
    import lightgbm
    import sklearn

    import cgens

    versions = {"python": platform.python_version(), "cgens": cgens.__version__,
                "scikit-learn": sklearn.__version__, "lightgbm": lightgbm.__version__}  # fmt: skip
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps({"versions": versions, **results}, indent=1) + "\n")


def load_results(name: str) -> dict[str, Any]:
    """Return the saved results of a benchmark."""
    results: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text())
    return results
