"""Edges from Parquet and Arrow files, a batch at a time: a whole table is never in memory."""

import os
import re

import numpy as np

from ._edgewire import Error
from .files import temporary_folder
from .graph import Graph, needed, read
from .inputs import columns_of, first_line, warn_of_types

BATCH_ROWS = 1 << 18
TEXTS = ("string", "large_string", "string_view")


def read_table(path, src, dst, weight, **options):
    """The graph whose edges are the rows of a file. src, dst, weight: see columns_of()."""
    dataset = needed("pyarrow.dataset", "reading Parquet and Arrow files")
    pyarrow = needed("pyarrow", "reading Parquet and Arrow files")
    if not os.path.exists(path):
        raise Error(f"{path}: no such file")
    try:
        rows = dataset.dataset(path, format="parquet" if path.lower().endswith((".parquet", ".pq")) else "feather")
        places, said = checked_columns(rows.schema, src, dst, weight)
        columns = [rows.schema.names[place] for place in places]
        if said is not None:
            batches = batches_of(rows, [rows.schema.names[said]])
            warn_of_types((pair for batch in batches for pair in said_in(batch.column(0))), options)
        types = [plain_type(rows.schema.field(place).type) for place in places]
        batches = checked_batches(rows, columns)
        return (from_names if any(str(kind) in TEXTS for kind in types[:2]) else from_numbers)(batches, types, options)
    except Error as error:
        raise type(error)(f"{path}: {error}") from None
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:  # the last: names of columns, or strings, that are no UTF-8
        line = first_line(error).rstrip(".")
        raise Error(f"{path}: {line}{': rename one of them' if 'duplicate field names' in line else ''}") from None


def batches_of(rows, columns):
    """The columns in batches, of which nothing leads out of the file: pyarrow reads what a damaged Arrow file says, and crashes where it is used."""
    for batch in rows.to_batches(columns=columns, batch_size=BATCH_ROWS, use_threads=False):
        batch.validate(full=True)
        yield batch


def plain_type(kind):
    """The type of the values of a column."""
    return kind.value_type if str(kind).startswith("dictionary") else kind


def decoded(column):
    """The column with its values in place of indexes of a dictionary, which may have nulls, too."""
    kind = plain_type(column.type)
    return column if kind == column.type else column.cast(kind)


def checked_columns(schema, src, dst, weight):
    """What columns_of() says of a table, whose columns can be ids and weights. A column of nulls has a type of its own."""
    from pyarrow import types

    places, said = columns_of(schema.names, src, dst, weight)
    columns = [schema.names[place] for place in places]
    kinds = [plain_type(schema.field(place).type) for place in places]
    for name, kind in zip(columns[:2], kinds):
        if not (types.is_integer(kind) or types.is_null(kind) or str(kind) in TEXTS):
            raise Error(f"column {name!r} has ids of type {kind}: they must be whole numbers or strings")
    for name, kind in zip(columns[2:], kinds[2:]):
        if not (types.is_integer(kind) or types.is_null(kind) or types.is_floating(kind) or types.is_boolean(kind)):
            raise Error(f"column {name!r} has weights of type {kind}: they must be numbers, whole or floats")
    return places, said if said is not None and str(plain_type(schema.field(said).type)) in TEXTS else None


def said_in(column):
    """What a column of strings says, and in how many rows."""
    from pyarrow import compute

    return ((pair["values"].as_py(), pair["counts"].as_py()) for pair in compute.value_counts(decoded(column)))


def checked_batches(rows, columns):
    """The columns of each batch, without nulls."""
    before = 0
    for batch in batches_of(rows, columns):
        arrays = []
        for name in columns:
            column = decoded(batch.column(name))
            if column.null_count:
                row = before + int(np.flatnonzero(np.asarray(column.is_null()))[0])
                raise Error(f"column {name!r} has a null in row {row}: drop such rows or fill them")
            arrays.append(column)
        before += batch.num_rows
        yield arrays


def from_numbers(batches, types, options):
    """Puts columns into files, which lie in the page cache as long as there is room, and maps these."""
    kinds = [np.dtype(np.uint64 if str(kind) == "uint64" else np.int64) for kind in types[:2]]
    kinds += [np.dtype(kind.to_pandas_dtype()) for kind in types[2:]]
    with temporary_folder() as folder:
        paths = [os.path.join(folder, str(i)) for i in range(len(types))]
        files = [open(path, "wb") for path in paths]
        try:
            for arrays in batches:
                for array, file, kind in zip(arrays, files, kinds):
                    file.write(np.ascontiguousarray(array, dtype=kind))
        finally:
            for file in files:
                file.close()
        arrays = [np.memmap(path, kind, "r") if os.path.getsize(path) else np.empty(0, kind) for path, kind in zip(paths, kinds)]
        return Graph.from_edges(*arrays, **options)


def from_names(batches, types, options):
    """Writes a table of text, which is read with names."""
    pyarrow = needed("pyarrow", "ids that are strings")
    csv = needed("pyarrow.csv", "ids that are strings")
    names = ["src", "dst", "weight"][:len(types)]
    text = [pyarrow.string()] * 2 + [pyarrow.uint8() if str(kind) == "bool" else kind for kind in types[2:]]
    schema = pyarrow.schema(list(zip(names, text)))
    with temporary_folder() as folder:
        path = os.path.join(folder, "edges.csv")
        with csv.CSVWriter(path, schema) as writer:
            for arrays in batches:
                writer.write_batch(pyarrow.RecordBatch.from_arrays([array.cast(kind) for array, kind in zip(arrays, text)], schema=schema))
        try:
            return read(path, *names, labels=True, **options)
        except Error as error:
            line = re.match(r": line (\d+), column \d+: (.*)", str(error).removeprefix(path))
            if line is None:
                raise
            raise Error(f"row {int(line[1]) - 2}: {line[2]}") from None  # the first line has names
