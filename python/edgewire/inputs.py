"""What users pass as ids, weights and names: as arrays that the library takes, or one line that says what is wrong."""

import numpy as np

from ._edgewire import Error, UsageError


def first_line(error):
    return str(error).splitlines()[0] if str(error) else type(error).__name__


def shown(value):
    """The value in one line, which may not be all of it."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else text[:77] + "..."


def array_of(values, name):
    """The values as an array of one dimension, without a copy where that can be."""
    try:
        if np.ma.is_masked(values):
            first = np.argmax(np.ma.getmaskarray(values))
            raise Error(f"{name}: element {first} is masked: drop such edges or fill them")
        array = np.asarray(values)
        if array.dtype.kind in "US" and not hasattr(values, "dtype"):  # NumPy makes texts of numbers that stand among texts
            array = np.asarray(values, object)
    except (TypeError, ValueError) as error:
        raise Error(f"{name} is no array of one dimension: {first_line(error)}") from None
    if array.ndim == 0:
        raise UsageError(f"{name} is a {type(values).__name__}: an array or a list is needed here")
    if array.ndim != 1:
        raise Error(f"{name} has {array.ndim} dimensions: one is needed")
    return array


def is_null(value):
    try:
        return value is None or bool(value != value)
    except (TypeError, ValueError):  # NA of pandas is neither true nor false
        return type(value).__name__ == "NAType"


def refuse_nulls(array, name):
    """Raises Error with the first null, which in arrays of floats and times is nan."""
    if array.dtype.kind in "OfcmM":
        for i, value in enumerate(array.tolist() if array.dtype.kind in "Of" else array):
            if is_null(value):
                raise Error(f"{name}: element {i} is {value}: drop such edges or fill them")


def types_of(array):
    return set(map(type, array.tolist()))


def are_whole(types):
    return all(issubclass(kind, (int, np.integer)) and kind is not bool for kind in types)


def whole_numbers(array, name):
    """An array of objects, all of them whole numbers, as numbers of 64 bits."""
    for kind in (np.int64, np.uint64):
        try:
            return array.astype(kind)
        except OverflowError:
            continue
    raise Error(f"{name} has ids that are not from 0 to 2^64 - 1")


def ids_array(values, name):
    """An array of ids as the library takes them, without a copy where that can be."""
    array = array_of(values, name)
    if array.size == 0:
        return np.empty(0, np.int64)
    if array.dtype.kind == "O" and are_whole(types_of(array)):
        array = whole_numbers(array, name)
    if array.dtype.kind not in "iu":
        refuse_nulls(array, name)
        remedy = {"f": " (astype(int) makes them so)", "O": " (Graph.from_edges() takes strings)"}.get(array.dtype.kind, "")
        raise Error(f"{name} has ids of type {array.dtype}: they must be whole numbers{remedy}")
    if array.dtype.itemsize < 4 or not array.dtype.isnative:
        array = array.astype(np.int64)
    return np.ascontiguousarray(array)


def ids_or_names(values, name):
    """An array of whole numbers, or of strings."""
    array = array_of(values, name)
    if array.dtype.kind == "S":
        try:
            return np.char.decode(array, "utf-8")
        except UnicodeDecodeError as error:
            raise Error(f"{name} has bytes that are no UTF-8: {error.reason}") from None
    if array.size and array.dtype.kind == "O":
        types = types_of(array)
        if not are_whole(types) and not all(issubclass(kind, str) for kind in types):
            refuse_nulls(array, name)
            names = ", ".join(sorted(kind.__name__ for kind in types))
            raise Error(f"{name} has ids of type {names}: they must be whole numbers, or all strings")
        if not are_whole(types):
            return array
    return array if array.size and array.dtype.kind in "UT" else ids_array(array, name)


def numbers_array(values, name):
    """An array of one dimension of floats or whole numbers."""
    array = array_of(values, name)
    if array.dtype.kind == "O":
        refuse_nulls(array, name)
        if not any(issubclass(kind, (str, bytes, complex)) for kind in types_of(array)):
            try:
                array = array.astype(np.float64)
            except (TypeError, ValueError, OverflowError):
                pass  # said below
    if array.dtype.kind not in "iufb":
        raise Error(f"{name} is of type {array.dtype}: numbers are needed here")
    return array


def weights_array(values):
    """An array of weights as the library takes them, without a copy where that can be."""
    array = np.ascontiguousarray(numbers_array(values, "weight"))
    if array.dtype.kind == "f":
        return array if array.dtype in (np.float32, np.float64) and array.dtype.isnative else array.astype(np.float64)
    if array.dtype.kind in "ib" and array.size and array.min() < 0:
        return array.astype(np.float64)
    return array if array.dtype in (np.uint32, np.uint64) and array.dtype.isnative else array.astype(np.uint64)


def check_lengths(src, dst, weight):
    lengths = [len(src), len(dst)] + ([] if weight is None else [len(weight)])
    if len(set(lengths)) > 1:
        raise UsageError(f"arrays of unequal length: {', '.join(map(str, lengths))}")


def unique_names(labels):
    if isinstance(labels, (str, bytes)) or not hasattr(labels, "__iter__"):
        raise UsageError(f"labels={shown(labels)}: a name for each vertex is needed here")
    labels = list(labels)
    names = [str(label) for label in labels]
    for i, label in enumerate(labels):
        if is_null(label) or label is np.ma.masked:
            raise Error(f"labels: element {i} is {label}: each vertex needs a name")
    try:
        "".join(names).encode()
    except UnicodeEncodeError as error:
        raise Error(f"labels are no Unicode text: {error.reason}") from None
    if len(set(names)) < len(names):
        seen = set()
        twice = next(name for name in names if name in seen or seen.add(name))
        raise Error(f"two vertices have the label {twice!r}")
    return names


def columns_of(known, *wanted):
    """The columns that are wanted, of those that are known; None is no column."""
    known, wanted = list(known), [name for name in wanted if name is not None]
    for name in wanted:
        if known.count(name) != 1:
            what = "no column" if name not in known else "more than one column"
            raise Error(f"there is {what} {name!r}; columns are {', '.join(map(repr, known))}")
        if wanted.count(name) > 1:
            raise UsageError(f"column {name!r} is named twice: src, dst and weight are different columns")
    return wanted
