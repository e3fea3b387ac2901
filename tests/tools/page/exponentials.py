"""Prints numbers and e to them, their tanh and log(1 + x), in bits, as tools/check/krohn_check.py computes them with integers: `exp64 X
RESULT`, `exp32 X RESULT`, `tanh64 X RESULT`, `log1p64 X RESULT`, `power64 X RESULT Y`, `cosine64 X RESULT QUARTERS`, the result "none" where
it is too large. For the page's functions, which compute with doubles."""
import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "tools/check"))
import krohn_check as check  # noqa: E402


def bits(x):
    return struct.unpack(">Q", struct.pack(">d", x))[0]


def encoded(value):
    """A multiple of the checker's unit as a double."""
    return "none" if value is None else f"{bits(value / (1 << check.UNIT)):016x}"


def single(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


edges = [0.0, 1.0, -1.0, 2.0**-30, -2.0**-30, 2.0**-1060, 709.5, 710.0, 710.0000001, -745.5, -746.0, -746.0000001, 0.34657359, -0.34657359, 37.0, -37.0]
singles = [single(x) for x in (88.72283172607422, 88.72284, 88.7229, -103.97207641601562, -103.972084, -103.98, 87.5, -87.5)]
spread = [(i * 7919 % 10007 / 10007 - 0.5) * scale for i in range(40) for scale in (0.01, 3, 40, 170)]
for x in edges + spread:
    print("exp64", f"{bits(x):016x}", encoded(check.exp64(check.FP64.decode(bits(x)))))
for x in [single(x) for x in edges if abs(x) < 1000] + singles + [single(x) for x in spread]:
    print("exp32", f"{bits(x):016x}", encoded(check.exp32(check.FP64.decode(bits(x)))))
# What tanh takes of 2a changes its power of two at odd multiples of log 2 / 4.
borders = [0.17328679513998632 * odd + near for odd in range(1, 60, 2) for near in (-1e-16, 0, 1e-16)]
for x in [y * sign for y in edges + spread + borders + [20.0, 20.000000000000004, 40.0, 2.0**-540, 5e-324] for sign in (1, -1)]:
    print("tanh64", f"{bits(x):016x}", encoded(check.tanh64(check.FP64.decode(bits(x)))))
# Of 1 + x, powers of two change at √2 times a power; the series is longest beside them.
roots = [2.0**k * 1.4142135623730951 - 1 + near * 2.0**(k - 52) for k in range(0, 30) for near in range(-3, 4)]
for x in [abs(y) for y in edges + spread + roots + [2.0**-60, 2.0**-60 - 2.0**-113, 2.0**-59, 1e-17, 1e300]]:
    print("log1p64", f"{bits(x):016x}", encoded(check.log1p64(check.FP64.decode(bits(x)))))
# Angles at eighths of a turn and beside them, where they are reduced in integers, and as large as they come.
eighths = [(turns + i) * 0.7853981633974483 * (1 + near * 2.0**-52) for turns in (0, 100, 2.0**21, 2.0**80) for i in range(9) for near in (-1, 0, 1)]
for x in edges + spread + eighths + [2.0**20, 2.0**20 - 2.0**-33, 1e22, 1e300, 6381956970095103 * 2.0**797, 5e-324, -1e18, -2.0**20 - 0.5]:
    for quarters in (0, -1):
        print("cosine64", f"{bits(x):016x}", encoded(check.cosine64(check.FP64.decode(bits(x)), quarters)), quarters)
for x in edges + spread + roots + [5e-324, 2.0**-1022, 1e300, 1 - 2.0**-53, 1 + 2.0**-52]:
    for y in (1.0, 1.2, 1 / 1.2, 2.5, 0.0625, 1024.0):
        print("power64", f"{bits(abs(x)):016x}", encoded(check.power64(check.FP64.decode(bits(abs(x))), check.FP64.decode(bits(y)))), f"{bits(y):016x}")
