"""How calls of the library are shown and how their options are set."""

import os
import sys

from ._edgewire import UsageError


def cores():
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0))


def workers_of(workers, processes=1):
    """The threads of each process: as asked for, or else all cores, shared among the processes of a job."""
    return max(1, cores() // max(1, processes)) if workers is None else workers


def set_options(target, options):
    """Sets the attributes of `target` that `options` names. An option that is None stays as it is."""
    known = [name for name in dir(target) if not name.startswith("_")]
    for name, value in options.items():
        if name not in known:
            raise UsageError(f"there is no option {name!r}; options are {', '.join(known)}")
        if value is None:
            continue
        try:
            setattr(target, name, value)
        except TypeError:
            wanted = type(getattr(target, name)).__name__
            raise UsageError(f"{name}={value!r}: a {wanted} is needed here") from None
    return target


class Progress:
    """Shows the steps of a call as bars of tqdm. It is what `show` of a call is, inside `with`."""

    def __init__(self, wanted=None):
        """wanted: True, False, a function that is called with (name, done, total, unit), or None: bars where tqdm is there and
        stderr is a terminal."""
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
