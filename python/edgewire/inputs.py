"""What users pass as ids, weights and names: as arrays that the library takes, or one line that says what is wrong."""

import sys
import warnings

import numpy as np

from . import _edgewire
from ._edgewire import Error, UsageError


def first_line(error):
    return str(error).splitlines()[0] if str(error) else type(error).__name__


def warn(line):
    """Warns the caller of the package, where there is something to say."""
    depth, frame = 1, sys._getframe()
    while frame and frame.f_globals.get("__name__", "").split(".")[0] == "edgewire":
        depth, frame = depth + 1, frame.f_back
    if line:
        warnings.warn(line, stacklevel=depth)


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
        if array.dtype.kind == "f" and array.ndim == 1 and array.size and not hasattr(values, "dtype"):  # and floats of 2^63 beside smaller ones
            whole = np.asarray(values, object)
            array = whole.astype(np.uint64) if are_whole(types_of(whole)) and whole.min() >= 0 else array
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


def place_of(name, known):
    """The place of the column that is called so; where all have texts for names, a number is its place from 1 on."""
    texts = all(isinstance(label, str) for label in known)
    places = [i for i, label in enumerate(known) if label == name]
    if not places and isinstance(name, str):
        places = [i for i, label in enumerate(known) if str(label).lower() == name.lower()]
    if not places and texts and isinstance(name, int) and 0 < name <= len(known):
        places = [name - 1]
    if len(places) != 1:
        remedy = "; call it by its number, from 1 on" if texts and places else ""
        raise Error(f"there is {'more than one' if places else 'no'} column {name!r}; columns are {', '.join(map(repr, known))}{remedy}")
    return places[0]


def columns_of(known, src=None, dst=None, weight=None):
    """Chooses the columns of a table by their names, or without names as all tables are read. Returns the places of source, target and,
    where there is one, weight; and that of a column that says Directed or Undirected, or None."""
    known = list(known)
    if (src is None) != (dst is None):
        raise UsageError("src and dst name columns together, and weight beside them")
    names = [label if isinstance(label, str) else repr(label) for label in known]
    places = [None if name is None else place_of(name, known) for name in (src, dst, weight)]
    if src is None:
        *places, note = _edgewire.edge_columns(names, places[2])
        warn(note if all(isinstance(label, str) for label in known) else note.partition(" (")[0])
    places = [place for place in places if place is not None]
    types = [i for i, name in enumerate(names) if name.lower() == "type"]
    for place in places:
        if places.count(place) > 1:
            raise UsageError(f"column {known[place]!r} is named twice: src, dst and weight are different columns")
    return places, types[0] if len(types) == 1 else None


def warn_of_types(counts, options):
    """Warns where a column says that edges are undirected. counts: pairs of what it says, and in how many rows."""
    counts = list(counts)
    undirected = sum(count for value, count in counts if isinstance(value, str) and value.strip().lower() == "undirected")
    if not options.get("undirected"):
        warn(_edgewire.note_of_types(undirected, sum(count for _, count in counts)))
