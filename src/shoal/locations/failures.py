"""Unexpected errors as they may be logged: what kind and where, nothing of what they hold."""

import traceback
from pathlib import Path


def kind_of(error: BaseException) -> str:
    """The kind of an error and the line of code that raised it.

    Its message is left out: it may hold the values of a row or of a request. So is the traceback, which has the
    messages of all errors that led to it.
    """
    frames = traceback.extract_tb(error.__traceback__, limit=-1)
    where = f" in {Path(frames[0].filename).name}, line {frames[0].lineno}" if frames else ""
    return f"{type(error).__name__}{where}"
