"""Files of named arrays: no pickle, checksums, atomic writes."""

from cgens.io.archive import Archive, FormatError, read_archive, write_archive

__all__ = ["Archive", "FormatError", "read_archive", "write_archive"]
