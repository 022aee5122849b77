"""Reads an edge list with a library from PyPI, for comparison; run by loading.py, one library a process.

Prints one line of JSON: `edges` (null: it does not say), `version`, and the wall and processor seconds of the reading alone, without the start
of Python and of the library.
"""

import argparse
import json
import time


def separator_of(path):
    """A tab or a space: what is between the ids of the first line."""
    with open(path) as file:
        return "\t" if "\t" in file.readline() else " "


def networkit(path, threads):
    import networkit

    networkit.setNumberOfThreads(threads)
    reader = networkit.graphio.EdgeListReader(separator_of(path), 0, "#", continuous=True, directed=True)
    return networkit, lambda: (reader.read(str(path)), None)[1]  # it drops duplicates, so its number of edges says nothing


def polars(path, threads):  # the threads are those that POLARS_MAX_THREADS says
    import polars

    schema = {"source": polars.UInt32, "target": polars.UInt32}
    return polars, lambda: polars.read_csv(path, separator=separator_of(path), has_header=False, schema=schema).height


def main():
    libraries = {function.__name__: function for function in (networkit, polars)}
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("library", choices=libraries)
    parser.add_argument("path")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    library, read = libraries[options.library](options.path, options.threads)
    wall, processor = time.perf_counter(), time.process_time()
    edges = read()
    print(json.dumps({"edges": edges, "version": library.__version__, "seconds": time.perf_counter() - wall,
                      "processor_seconds": time.process_time() - processor}))


if __name__ == "__main__":
    main()
