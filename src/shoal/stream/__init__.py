"""Tables larger than memory: from file to file, some records at a time."""

from shoal.stream.run import FileRelease, anonymize_file

__all__ = ["FileRelease", "anonymize_file"]
