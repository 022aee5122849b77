"""How calls of the library are shown and how their options are set."""

import os
import sys

import numpy as np

from ._edgewire import Graph, UsageError
from .inputs import shown


def cores():
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0))


WORDS = {bool: "True or False", int: "a whole number", float: "a number", str: "a text", type(None): "a whole number from 0 on"}


def set_options(target, options):
    """Sets the attributes of `target` that `options` names. An option that is None stays as it is."""
    known = [name for name in dir(target) if not name.startswith("_")]
    for name, value in options.items():
        if name not in known:
            raise UsageError(f"there is no option {name!r}; options are {', '.join(known)}")
        if value is None:
            continue
        now = getattr(target, name)
        try:
            setattr(target, name, value.item() if isinstance(value, np.generic) else value)
        except TypeError:
            wanted = f"a list such as {now!r}" if isinstance(now, list) else WORDS[type(now)]
            raise UsageError(f"{name}={shown(value)}: {wanted} is needed here") from None
    return target


def whole(name, value, least):
    """The value, which is a whole number from `least` on, of 32 bits."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and least <= value < 2**31:
        return int(value)
    raise UsageError(f"{name}={shown(value)}: a whole number from {least} to {2**31 - 1} is needed here")


def number(name, value):
    try:
        return float(value)
    except (TypeError, ValueError):
        raise UsageError(f"{name}={shown(value)}: a number is needed here") from None


def flag(name, value):
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise UsageError(f"{name}={shown(value)}: True or False is needed here")


def file_of(graph):
    """The file of a Graph."""
    file = getattr(graph, "_file", None)
    if not isinstance(file, Graph):
        raise UsageError(f"a Graph is needed here, not a {type(graph).__name__}: make one with read() or Graph.from_...()")
    return file


class Progress:
    """Shows the steps of a call as bars of tqdm. It is what `show` of a call is, inside `with`."""

    def __init__(self, wanted=None):
        """wanted: True, False, a function that is called with (name, done, total, unit), or None: bars where tqdm is there and
        stderr is a terminal."""
        if not callable(wanted) and wanted not in (None, True, False):
            raise UsageError(f"progress={shown(wanted)}: True, False or a function of (name, done, total, unit) is needed here")
        self.call = wanted if callable(wanted) else None
        self.bar = self.name = self.tqdm = None
        if self.call is None and wanted is not False and (wanted or sys.stderr.isatty()):
            try:
                from tqdm.auto import tqdm
            except ImportError:
                if wanted:
                    raise UsageError("progress=True: bars need tqdm, which is not there (pip install tqdm)") from None
            else:
                self.tqdm = tqdm

    def __enter__(self):
        return self.call or (self.show if self.tqdm else None)

    def __exit__(self, *_):
        if self.bar is not None:
            self.bar.close()

    def show(self, name, done, total, unit):
        if name != self.name:
            if self.bar is not None:
                self.bar.close()
            self.name = name
            self.bar = self.tqdm(total=total or None, desc=name, unit=f" {unit}" if unit else "it", leave=False)
        self.bar.total = total or None
        self.bar.n = done
        self.bar.refresh()
