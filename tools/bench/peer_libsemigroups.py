#!/usr/bin/env python3
"""Times libsemigroups on what krohn's benchmarks time, in one run: pip install libsemigroups_pybind11

    tools/bench/peer_libsemigroups.py [build-bench/tools/bench] [--t8]

The order of M24 by Schreier-Sims, Froidure-Pin on T_7, and T_8 by Konieczny, each beside ours when the folder of our
benchmarks is given; medians of processor time, so that a busy machine disturbs less. T_8 by Froidure-Pin takes 3 GB and
is run with --t8 only. tools/bench/run ends with this.
"""
import json
import statistics
import subprocess
import sys
import time

try:
    from libsemigroups_pybind11 import FroidurePin, Konieczny, Perm, ReportGuard, SchreierSims, Transf
except ImportError:
    print("skipped: libsemigroups_pybind11 is not installed")
    sys.exit(0)

# The Python binding of SchreierSims works on 255 points, whatever the degree; C++ programs need not.
M24 = [
    list(range(1, 23)) + [0, 23],
    [0, 1, 16, 12, 3, 5, 8, 17, 2, 6, 11, 22, 13, 18, 19, 14, 9, 10, 4, 21, 15, 20, 7, 23],
    [23, 22, 11, 15, 17, 9, 19, 13, 20, 5, 16, 2, 21, 7, 18, 3, 10, 4, 14, 6, 8, 12, 1, 0],
]


def full_monoid(n):
    """A cycle, a transposition and a map of rank n-1."""
    return [Transf([*range(1, n), 0]), Transf([1, 0, *range(2, n)]), Transf([1, 1, *range(2, n)])]


def median_ms(repeats, make, run, expected):
    times = []
    for _ in range(repeats):
        subject = make()
        start = time.process_time()
        size = run(subject)
        times.append(1e3 * (time.process_time() - start))
        assert size == expected, f"{size} is not {expected}"
    return statistics.median(times)


def ours(folder, program, name):
    command = [f"{folder}/{program}", f"--benchmark_filter=^{name}$", "--benchmark_format=json", "--benchmark_repetitions=5"]
    report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return statistics.median(row["cpu_time"] for row in report["benchmarks"] if row["run_type"] == "iteration")


def compare(what, theirs, folders, program, name):
    print(f"libsemigroups  {what:18} {theirs:12.3f} ms")
    for folder in folders:
        mine = ours(folder, program, name)
        print(f"krohn          {what:18} {mine:12.3f} ms   {theirs / mine:.2f} times as fast")


def main():
    quiet = ReportGuard(False)  # noqa: F841, holds until the end
    folders = [argument for argument in sys.argv[1:] if argument != "--t8"]
    m24 = [Perm(images + [*range(24, 255)]) for images in M24]
    time_of = median_ms(51, lambda: SchreierSims(m24), lambda s: s.size(), 244823040)
    compare("M24 order", time_of, folders, "bench_groups", "order/M24")
    time_of = median_ms(3, lambda: FroidurePin(full_monoid(7)), lambda s: s.size(), 7**7)
    compare("T_7 Froidure-Pin", time_of, folders, "bench_monoids", "elements/T7")
    if "--t8" in sys.argv:
        time_of = median_ms(1, lambda: FroidurePin(full_monoid(8)), lambda s: s.size(), 8**8)
        compare("T_8 Froidure-Pin", time_of, folders, "bench_monoids", "elements/T8")
    time_of = median_ms(5, lambda: Konieczny(full_monoid(8)), lambda s: s.size(), 8**8)
    compare("T_8 Konieczny", time_of, folders, "bench_monoids", "green/T8")


main()
