"""Prints numbers and e to them, in bits, as tools/check/krohn_check.py computes them with integers: `exp64 X RESULT`, `exp32 X
RESULT`, the result "none" where it is too large. For the page's exponentials, which compute with doubles."""
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
