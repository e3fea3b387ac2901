#!/usr/bin/env python3
"""Runs the tests of the Python package that is importable; `tools/python/test` installs it first.

    tests/python/run.py [TEST…]       a TEST is a module here, or module.Class.test"""
import importlib.util
import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent


def main() -> int:
    for module in ("numpy", "krohn"):
        if importlib.util.find_spec(module) is None:
            print(f"skipped: the Python module {module} is not installed; tools/python/test makes it so")
            return 0
    sys.path.insert(0, str(HERE))
    loader = unittest.defaultTestLoader
    names = sys.argv[1:]
    suite = loader.loadTestsFromNames(names) if names else loader.discover(str(HERE), pattern="*_test.py")
    return 0 if unittest.TextTestRunner(verbosity=1).run(suite).wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
