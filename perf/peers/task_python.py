"""number-inc and Task Bench's patterns in Ray and Dask, two processes of one worker. Prints [[seconds, result], ...] as JSON.

task_python.py ray|dask LIBRARY number-inc COUNT RUNS
task_python.py ray|dask LIBRARY stencil|fft|random WIDTH STEPS WORK[,WORK...] RUNS
LIBRARY: of work_for(), see task_work.cpp. Each work is done RUNS times.
"""

import ctypes
import functools
import json
import sys
import time


LOADED = {}  # a plain dictionary: Ray sends functions by value, and cannot send one that functools.cache has wrapped


def library(path):
    if path not in LOADED:
        LOADED[path] = ctypes.CDLL(path)
        LOADED[path].work_for.argtypes = [ctypes.c_uint64]
    return LOADED[path]


def add_one(number):
    return number + 1


def combine(before, a, b):
    return a + b - before


def grain(path, step, column, work, *before):
    library(path).work_for(work)
    return (step * 1000003 + column + 1 + sum(before)) % 2**64


def waits_for(pattern, width, t, i, j):
    distance = abs(i - j)
    if pattern == "stencil":
        return distance <= 1
    if pattern == "fft":
        bits = max(1, (width - 1).bit_length())
        return distance in (0, 1 << (t - 1) % bits)
    mixed = (t << 40) + (i << 20) + j
    mixed = (mixed ^ mixed >> 31) * 0xBF58476D1CE4E5B9 % 2**64
    return distance == 0 or (distance <= 5 and mixed >> 62 == 0)


def number_inc(start, get, count):
    number = 0
    for _ in range(count):
        number = get([start(combine, number, start(add_one, number), start(add_one, number))])[0]
    return number


def grains(start, get, path, pattern, width, steps, work):
    row = []
    for t in range(steps):
        row = [start(grain, path, t, i, work, *(row[j] for j in range(len(row)) if waits_for(pattern, width, t, i, j)))
               for i in range(width)]
    return sum(get(row)) % 2**64


def ray_system():
    import ray
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    remote = {function: ray.remote(function) for function in (add_one, combine, grain)}
    return (lambda function, *arguments: remote[function].remote(*arguments)), ray.get


def dask_system():
    import distributed
    client = distributed.Client(distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None))
    return functools.partial(client.submit, pure=False), client.gather


def main():
    system, path, what, *numbers = sys.argv[1:]
    start, get = {"ray": ray_system, "dask": dask_system}[system]()
    runs = int(numbers.pop())
    if what == "number-inc":
        tries = [functools.partial(number_inc, start, get, int(numbers[0]))] * runs
        number_inc(start, get, 20)
    else:
        width, steps = map(int, numbers[:2])
        tries = [functools.partial(grains, start, get, path, what, width, steps, int(work))
                 for work in numbers[2].split(",") for _ in range(runs)]
        grains(start, get, path, what, width, 20, 1)
    found = []
    for one in tries:
        begin = time.perf_counter()
        result = one()
        found.append([time.perf_counter() - begin, result])
    print(json.dumps(found))


if __name__ == "__main__":
    main()
