"""Edges from Parquet and Arrow files, a batch at a time: a whole table is never in memory."""

import os
import tempfile

import numpy as np

from ._edgewire import Error
from .graph import Graph, column_of, needed, read

BATCH_ROWS = 1 << 18


def read_table(path, src, dst, weight, **options):
    """The graph whose edges are the rows of a file. Without names the first two columns are the ends, and the third one, if any, is no
    weight."""
    dataset = needed("pyarrow.dataset", "reading Parquet and Arrow files")
    pyarrow = needed("pyarrow", "reading Parquet and Arrow files")
    if not os.path.exists(path):
        raise Error(f"{path}: no such file")
    try:
        rows = dataset.dataset(path, format="parquet" if path.lower().endswith((".parquet", ".pq")) else "feather")
    except (pyarrow.ArrowInvalid, OSError) as error:
        raise Error(f"{path}: {first_line(error)}") from None
    names = rows.schema.names
    if len(names) < 2:
        raise Error(f"{path}: a table of edges has two columns or more, this one has {len(names)}")
    try:
        columns = [column_of(names, names[i] if name is None else name) for i, name in enumerate((src, dst))]
        columns += [column_of(names, weight)] if weight is not None else []
    except Error as error:
        raise Error(f"{path}: {error}") from None
    types = [rows.schema.field(name).type for name in columns]
    for name, kind in zip(columns[:2], types):
        if not (pyarrow.types.is_integer(kind) or is_text(pyarrow, kind)):
            raise Error(f"{path}: column {name!r} has ids of type {kind}: they must be whole numbers or strings")
    batches = checked_batches(path, rows, columns)
    if any(is_text(pyarrow, kind) for kind in types[:2]):
        return from_names(pyarrow, batches, columns, types, options)
    return from_numbers(batches, len(columns), types, options)


def is_text(pyarrow, kind):
    if pyarrow.types.is_dictionary(kind):
        kind = kind.value_type
    return pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind)


def checked_batches(path, rows, columns):
    """The batches, without nulls."""
    before = 0
    for batch in rows.to_batches(columns=columns, batch_size=BATCH_ROWS):
        for name in columns:
            if batch.column(name).null_count:
                row = before + int(np.flatnonzero(np.asarray(batch.column(name).is_null()))[0])
                raise Error(f"{path}: column {name!r} has a null in row {row}: drop such rows or fill them")
        before += batch.num_rows
        yield batch


def from_numbers(batches, columns, types, options):
    """Puts columns into files, which lie in the page cache as long as there is room, and maps these."""
    kinds = [np.dtype(np.int64)] * 2 + [np.dtype(kind.to_pandas_dtype()) for kind in types[2:]]
    with tempfile.TemporaryDirectory(prefix="edgewire-") as folder:
        paths = [os.path.join(folder, str(i)) for i in range(columns)]
        files = [open(path, "wb") for path in paths]
        try:
            for batch in batches:
                for i, file in enumerate(files):
                    np.ascontiguousarray(batch.column(i), dtype=kinds[i]).tofile(file)
        finally:
            for file in files:
                file.close()
        arrays = [np.memmap(path, kind, "r") if os.path.getsize(path) else np.empty(0, kind) for path, kind in zip(paths, kinds)]
        return Graph.from_numpy(*arrays, **options)


def from_names(pyarrow, batches, columns, types, options):
    """Writes a table of text, which is read with names."""
    csv = needed("pyarrow.csv", "ids that are strings")
    text = [pyarrow.string()] * 2 + types[2:]
    schema = pyarrow.schema(list(zip(["src", "dst", "weight"], text)))
    with tempfile.TemporaryDirectory(prefix="edgewire-") as folder:
        path = os.path.join(folder, "edges.csv")
        with csv.CSVWriter(path, schema) as writer:
            for batch in batches:
                arrays = [column.cast(kind) for column, kind in zip(batch.columns, text)]
                writer.write_batch(pyarrow.RecordBatch.from_arrays(arrays, schema=schema))
        return read(path, "src", "dst", "weight" if len(columns) > 2 else None, labels=True, **options)


def first_line(error):
    return str(error).splitlines()[0] if str(error) else type(error).__name__
