"""Paths that users name, and folders of temporary files."""

import contextlib
import errno
import os
import shutil
import tempfile

from ._edgewire import Error, UsageError


def path_of(path):
    """The path as a string that the library takes."""
    path = os.fsdecode(path)
    try:
        plain = "\0" not in path and path.encode() is not None
    except UnicodeEncodeError:
        plain = False
    if not plain:
        raise UsageError(f"{path!r}: names of files are UTF-8 here, without zero bytes")
    return path


@contextlib.contextmanager
def temporary_folder(keep=False):
    """A folder of temporary files, which goes at the end; `keep`: after an error only. Errors of writing there say what to do."""
    try:
        folder = tempfile.mkdtemp(prefix="edgewire-")
    except OSError as error:
        raise Error(f"no folder for temporary files: {error.strerror}: set TMPDIR to a folder that can be written") from None
    try:
        yield folder
    except BaseException as error:
        keep = False
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise Error(f"{folder}: {error.strerror}: set TMPDIR to a folder with more room") from None
        if isinstance(error, Error) and str(error).startswith(folder) and ": cannot write: " in str(error):
            raise type(error)(f"{error}: set TMPDIR to a folder with more room") from None
        raise
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


def remove_folder(folder, pid):
    """Unless this is a process that was forked from the one that has made the folder."""
    if os.getpid() == pid:
        shutil.rmtree(folder, ignore_errors=True)
