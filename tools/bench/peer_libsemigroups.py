#!/usr/bin/env python3
"""Times libsemigroups on what krohn's benchmarks time, in one run: pip install libsemigroups_pybind11

    tools/bench/peer_libsemigroups.py [build-bench/tools/bench/bench_groups]

The order of M24 by Schreier-Sims, Froidure-Pin on T_7, and T_8 by Konieczny. With the path of bench_groups the
ratio for M24 is printed too. T_8 by Froidure-Pin takes 3 GB and is run with --t8 only.
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
        start = time.perf_counter()
        size = run(subject)
        times.append(1e3 * (time.perf_counter() - start))
        assert size == expected, f"{size} is not {expected}"
    return statistics.median(times)


def ours(program, name):
    command = [program, f"--benchmark_filter=^{name}$", "--benchmark_format=json", "--benchmark_repetitions=5"]
    report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return statistics.median(row["real_time"] for row in report["benchmarks"] if row["run_type"] == "iteration")


def main():
    quiet = ReportGuard(False)  # noqa: F841, holds until the end
    programs = [argument for argument in sys.argv[1:] if argument != "--t8"]
    group = median_ms(51, lambda: SchreierSims([Perm(images + [*range(24, 255)]) for images in M24]), lambda s: s.size(), 244823040)
    print(f"libsemigroups  M24 order          {group:10.3f} ms")
    if programs:
        time_of_ours = ours(programs[0], "order/M24")
        print(f"krohn          M24 order          {time_of_ours:10.3f} ms   {group / time_of_ours:.2f} times as fast")
    plain = median_ms(3, lambda: FroidurePin(full_monoid(7)), lambda s: s.size(), 7**7)
    print(f"libsemigroups  T_7 Froidure-Pin   {plain:10.0f} ms")
    if "--t8" in sys.argv:
        plain = median_ms(1, lambda: FroidurePin(full_monoid(8)), lambda s: s.size(), 8**8)
        print(f"libsemigroups  T_8 Froidure-Pin   {plain:10.0f} ms")
    classes = median_ms(5, lambda: Konieczny(full_monoid(8)), lambda s: s.size(), 8**8)
    print(f"libsemigroups  T_8 Konieczny      {classes:10.1f} ms")


main()
