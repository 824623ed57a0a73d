"""X as a table: names, kinds and values of its columns, whatever the user's frame or array."""

from cgens.table.table import Table

__all__ = ["Table"]
