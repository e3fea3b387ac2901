#!/usr/bin/env python3
"""Re-checks a certificate of krohn (docs/reference/certificate-file.md) against the network that it is about (docs/reference/network-file.md).

    python3 krohn_check.py CERTIFICATE MODEL [--against LANGUAGE.json]

Prints one line. Exit status: 0 established, 1 not established, 2 bad input, 3 undecided within its limits.

What has to be trusted: this file, which shares no code with krohn and was written from its pages (which were mended where they
were not enough for it); Python's integers, `fractions`, `json`, `struct` and SHA-256; and that the machine on which the network
runs computes as the claim says: IEEE 754, to nearest, with subnormal numbers; or, in any order, only that sums and products
come out exact where their results are numbers of the format. The claim is about the automaton in the model's file, unless
--against compares it with another one.
Nothing here computes with floats. Every number is an integer in units of 2^-1074, the least positive number of fp64; None
is a number that is not finite, or a label, context or state that does not exist."""
import functools
import hashlib
import itertools
import json
import math
import os
import re
import struct
import sys
import unicodedata
from fractions import Fraction

UNIT = 1074
MOST_LETTERS, MOST_BOXES = 10**8, 10**5  # that a certificate may ask to be read one by one
NOWHERE, NEVER_GIVEN = 2**32 - 1, 2**32 - 4


class BadInput(Exception):
    """A file is not what its page describes."""


class Refused(Exception):
    """The files are in order, but the claim does not follow."""


class Undecided(Exception):
    """The files may be in order, but a limit of this file was met."""


def demand(condition, error, message):
    if not condition:
        raise error(message)


def parse(data, place):
    """JSON without fractions and repeated members."""
    def members(pairs):
        demand(len(dict(pairs)) == len(pairs), BadInput, f"{place}: a member is given twice")
        return dict(pairs)

    def no_integer(text):
        raise BadInput(f"{place}: {text} is not an integer")

    def integer(text):
        return no_integer(text) if text == "-0" else int(text)
    try:
        return json.loads(data.decode(), object_pairs_hook=members, parse_int=integer, parse_float=no_integer,
                          parse_constant=no_integer)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{place}: {error}") from None


# ---- numbers and their rounding


class Format:
    def __init__(self, width, digits, least, greatest):
        self.width, self.digits, self.least, self.greatest = width, digits, least, greatest
        self.grain = least - digits + 1 + UNIT  # 2^grain units are the least positive number

    def decode(self, bits):
        exponent = bits >> (self.digits - 1) & (1 << (self.width - self.digits)) - 1
        fraction = bits & (1 << (self.digits - 1)) - 1
        if exponent == (1 << (self.width - self.digits)) - 1:
            return None
        size = (fraction | 1 << (self.digits - 1)) << (exponent - 1 + self.grain) if exponent else fraction << self.grain
        return -size if bits >> (self.width - 1) else size


FORMATS = {"fp64": Format(64, 53, -1022, 1023), "fp32": Format(32, 24, -126, 127), "fp16": Format(16, 11, -14, 15),
           "bf16": Format(16, 8, -126, 127)}
FP64, FP32, TF32 = FORMATS["fp64"], FORMATS["fp32"], Format(19, 11, -126, 127)


class Integers:
    """Integers of some bits, in units as well, that wrap around or saturate."""

    def __init__(self, name):
        self.name, self.width = name, int(name.partition("-")[0][1:])
        self.least = -(1 << self.width - 1) << UNIT if name[0] == "i" else 0
        self.values, self.saturates = 1 << self.width + UNIT, name.endswith("-saturating")

    def decode(self, bits):
        return self.wrapped(bits << UNIT)

    def wrapped(self, value):
        return (value - self.least) % self.values + self.least

    def fitted(self, value):
        most = self.least + self.values - (1 << UNIT)
        return min(max(value, self.least), most) if self.saturates else self.wrapped(value)

    def weight(self, real):
        """A weight, which has to be one of the integers."""
        whole = not isinstance(real, Interval) and real % (1 << UNIT) == 0 and self.wrapped(int(real)) == real
        demand(whole, Refused, f"a weight is no number of {self.name}")
        return int(real)


INTEGERS = {name: Integers(name) for type in ("u8", "i8", "u16", "i16", "u32", "i32") for name in (type, type + "-saturating")}


def rounded(value, shift, to):
    """value / 2^shift units in the format `to`: to nearest, ties to even; of integers, brought to the type."""
    if isinstance(to, Integers):
        return to.fitted(value >> shift)
    size = abs(value)
    drop = max(size.bit_length() - to.digits, to.grain + shift)
    if drop:
        size = (size + (1 << (drop - 1)) - 1 + (size >> drop & 1)) >> drop << (drop - shift)
    if size >> (to.greatest + 1 + UNIT):
        return None
    return size if value >= 0 else -size


def rounded_fraction(value, to):
    """A rational number of units. What lies between two quarters of a unit rounds as the odd quarter there does."""
    quarters, rest = divmod(value.numerator << 2, value.denominator)
    return rounded(quarters | (rest != 0), 2, to)


def rounded_root(square, to):
    """The square root of a rational number, in units."""
    scaled = (square.numerator << (2 * UNIT + 4)) // square.denominator
    quarters = math.isqrt(scaled)
    return rounded(quarters | (square * (1 << (2 * UNIT + 4)) != quarters * quarters), 2, to)


class Interval:
    """An irrational number of units, between two fractions."""

    def __init__(self, low, high):
        self.low, self.high = low, high

    def __add__(self, other):
        other = other if isinstance(other, Interval) else Interval(other, other)
        return Interval(self.low + other.low, self.high + other.high)

    def __mul__(self, other):
        other = other if isinstance(other, Interval) else Interval(other, other)
        ends = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return Interval(min(ends), max(ends))

    __radd__, __rmul__ = __add__, __mul__


def nearest(real, to):
    """A number of units, rounded once: an integer, a fraction or an interval. Integers have no weights but themselves."""
    if isinstance(to, Integers):
        return to.weight(real)
    if isinstance(real, Interval):
        low, high = rounded_fraction(real.low, to), rounded_fraction(real.high, to)
        demand(low == high, Refused, "the enclosure of a weight is too wide to decide how it rounds")
        return low
    if real is None or isinstance(real, int):
        return real if real is None else rounded(real, 0, to)
    return rounded_fraction(real, to)


@functools.lru_cache(None)
def cosine(turn):
    """cos 2π·turn. The series are summed in units of 2^-1400; each of fewer than 2^11 divisions errs by less than one
    unit, nothing multiplies an error by more than 2^11, so 2^64 units on both sides enclose the cosine with room."""
    turn = min(turn % 1, -turn % 1)
    if turn > Fraction(1, 4):
        return -1 * cosine(Fraction(1, 2) - turn)
    if turn.denominator in (1, 4, 6):  # and at most a quarter
        return {1: Fraction(1), 4: Fraction(0), 6: Fraction(1, 2)}[turn.denominator]
    one = 1 << 1400
    pi = sum(factor * (-1)**k * (one // (2 * k + 1) // x**(2 * k + 1)) for factor, x in ((16, 5), (-4, 239))
             for k in range(310))
    angle = 2 * pi * turn.numerator // turn.denominator
    square, term, total = angle * angle // one, one, one
    for k in range(2, 400, 2):
        term = -term * square // (one * k * (k - 1))
        total += term
    return Interval(Fraction(total - (1 << 64), one), Fraction(total + (1 << 64), one))


class Arithmetic:
    def __init__(self, name):
        stored, plus, sums = name.removesuffix("+fma"), name.endswith("+fma"), name.partition("/")[2]
        self.operands = TF32 if name == "tf32" else None
        self.stored = FP32 if name == "tf32" else INTEGERS.get(name) or FORMATS[stored.partition("/")[0]]
        self.sums, self.fused = FORMATS[sums] if sums else self.stored, plus or name in INTEGERS
        self.simple = self.operands is None and not sums and name not in INTEGERS

    def total(self, s, t):
        return None if s is None or t is None else rounded(s + t, 0, self.sums)

    def product(self, a, b):
        if self.operands and a is not None and b is not None:
            a, b = rounded(a, 0, self.operands), rounded(b, 0, self.operands)
        return None if a is None or b is None else rounded(a * b, UNIT, self.sums)

    def add_product(self, s, a, b):
        if not self.fused or s is None or a is None or b is None:
            return self.total(s, self.product(a, b))
        return rounded((s << UNIT) + a * b, UNIT, self.sums)


ARITHMETICS = [name + fma for fma in ("", "+fma") for name in FORMATS] + ["fp16/fp32", "bf16/fp32", "tf32", *INTEGERS]

# ---- the network's file


def is_count(value, least=0, most=NOWHERE):
    return type(value) is int and least <= value <= most


class File:
    """A safetensors file. Its tensors are handed out once each, so that none is left unread."""
    KINDS = {"U8": "B", "I8": "b", "U32": "I", "I32": "i", "U64": "Q", "I64": "q", "F32": "I", "F64": "Q", "BF16": "H", "F16": "H"}

    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        self.path, size, at = path, int.from_bytes(data[:8], "little"), 0
        self.demand(len(data) >= 8 + size, "the header is longer than the file")
        header = parse(data[8:8 + size], f"{path}: header")
        self.demand(type(header) is dict, "the header is not an object")
        self.metadata, self.tensors = header.pop("__metadata__", {}), {}
        self.demand(type(self.metadata) is dict and all(type(x) is str for x in self.metadata.values()), "metadata")
        for name, about in header.items():
            self.demand(type(about) is dict and set(about) == {"dtype", "shape", "data_offsets"}
                        and about["dtype"] in self.KINDS and all(type(x) is list and all(is_count(i, 0, 2**64) for i in x)
                                                                 for x in (about["shape"], about["data_offsets"]))
                        and len(about["data_offsets"]) == 2, f"{name}: not a tensor's description")
        for name, about in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
            begin, end = about["data_offsets"]
            count = math.prod(about["shape"])
            kind = "<" + str(count) + self.KINDS[about["dtype"]] if count <= len(data) else "<"
            self.demand(begin == at and end - begin == struct.calcsize(kind) and 8 + size + end <= len(data),
                        f"{name}: the tensor's bytes do not follow those before it")
            self.tensors[name] = (about["dtype"], about["shape"], struct.unpack_from(kind, data, 8 + size + begin))
            at = end
        self.demand(8 + size + at == len(data), "bytes that belong to no tensor")
        self.left = set(self.tensors)

    def demand(self, condition, message):
        demand(condition, BadInput, f"{self.path}: {message}")

    def beside(self, name):
        """The SHA-256 of the file of this name in the same folder, or None."""
        path = os.path.join(os.path.dirname(self.path), name)
        if not os.path.isfile(path):
            return None
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()

    def take(self, name, kinds, *shape, below=None, optional=False):
        """The tensor's numbers, row after row, all below a bound; real ones in units. A None in `shape` may be any length."""
        if name not in self.tensors and optional:
            return None
        self.demand(name in self.left, f"{name}: no such tensor")
        self.left.remove(name)
        kind, found, values = self.tensors[name]
        self.demand(kind in kinds.split(), f"{name}: of type {kind} instead of {kinds}")
        self.demand(len(found) == len(shape) and all(b in (None, a) for a, b in zip(found, shape)), f"{name}: its shape")
        if kind[0] == "F":
            decode = functools.lru_cache(None)((FP32 if kind == "F32" else FP64).decode)
            values = [decode(bits) for bits in values]
            self.demand(None not in values, f"{name}: a number that is not finite")
        self.demand(below is None or all(0 <= x < below for x in values), f"{name}: a number that is not below {below}")
        return list(values)

    def digest(self, prefixes, metadata):
        """SHA-256 of the canonical file of the tensors whose names begin so."""
        chosen = []
        for name, (kind, shape, values) in self.tensors.items():
            if name.startswith(prefixes) and not re.fullmatch(r"layers\.\d+\.A", name):
                if kind == "F64" and all(rounded(x, 0, FP32) == x for x in map(FP64.decode, values)):
                    kind, values = "F32", [narrowed(bits) for bits in values]
                chosen.append((name, kind, shape, values))
        return self.hashed(chosen, [f'"__metadata__":{compact(metadata)}'])

    def hashed(self, chosen, members):
        """SHA-256 of the file of these tensors."""
        packed = sorted((-struct.calcsize(self.KINDS[kind]), name.encode(), kind, shape,
                         struct.pack(f"<{len(values)}{self.KINDS[kind]}", *values)) for name, kind, shape, values in chosen)
        at = 0
        for _, name, kind, shape, data in packed:
            offsets = compact([at, at + len(data)])
            members.append(f'{compact(name.decode())}:{{"dtype":"{kind}","shape":{compact(shape)},"data_offsets":{offsets}}}')
            at += len(data)
        text = f"{{{','.join(members)}}}".encode()
        text += b" " * (-len(text) % 8)
        return hashlib.sha256(len(text).to_bytes(8, "little") + text + b"".join(x[4] for x in packed)).hexdigest()


def compact(value):
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def narrowed(bits):
    """The fp32 bits of an fp64 number that fp32 has."""
    size = abs(FP64.decode(bits)) >> FP32.grain
    extra = max(size.bit_length() - 24, 0)
    return bits >> 63 << 31 | (size if size < 2**23 else (extra << 23) + (size >> extra))


def rows_of(values, width):
    return [values[i:i + width] for i in range(0, len(values), width)] if width else []


class Matrix:
    """An action's matrix: rows of terms (column, weight), where `signs` tells a row of ±x_j from one of products; or factors
    (positions, values, square of their scale, β) of a product of reflections; or terms (outputs, inputs). Weights in units."""

    def __init__(self, form, rows=None, signs=None, factors=None, terms=None):
        self.form, self.rows, self.signs, self.factors, self.terms = form, rows, signs, factors, terms

    def entries(self, n):
        """The real entries, row after row."""
        if self.factors is not None:
            return product_of_reflections(n, self.factors)
        entries = [[0] * n for _ in range(n)]
        for i, row in enumerate(self.rows or []):
            for j, weight in row:
                entries[i][j] = weight
        for outputs, inputs in self.terms or []:
            for i in outputs:
                for j in inputs:
                    entries[i][j] += 1 << UNIT
        return entries


def product_of_reflections(n, factors):
    columns = []
    for j in range(n):
        y = [int(i == j) for i in range(n)]
        for positions, keys, square, beta in factors:
            dot = 0
            for i, key in zip(positions, keys):
                dot = dot + key * y[i] if isinstance(y[i], Interval) or y[i] != 0 else dot
            if isinstance(dot, Interval) or dot != 0:
                for i, key in zip(positions, keys):
                    y[i] = y[i] + -1 * key * (square * Fraction(beta, 1 << UNIT)) * dot
        columns.append([x * (1 << UNIT) for x in y])
    return [list(row) for row in zip(*columns)]


class Layer:
    def __init__(self, file, k, contexts, about, last):
        self.file, self.name = file, f"layers.{k}."
        names = ("dimension", "columns", "labels", "initial_label", "unit_copies")
        file.demand(type(about) is dict and set(about) == {*names, "forms"} and all(is_count(about[x]) for x in names)
                    and type(about["forms"]) is list, f"metadata `layers`, layer {k}")
        self.n, self.d, self.labels, self.initial_label, self.copies = n, d, labels, initial, copies = [about[x] for x in names]
        file.demand(n and d and initial < labels, f"metadata `layers`, layer {k}: sizes")
        form = self.take("form", "U8", None, below=len(about["forms"]))
        actions = len(form)
        self.action_of = self.take("action_of", "U32", contexts, below=actions)
        self.next = None if last else rows_of(self.take("next", "U32", len(self.action_of), labels), labels)
        self.H0 = self.columns(self.take("H0", "F32 F64", n, d))
        self.B = [None] * actions
        b = self.take("B", "F32 F64", actions, n, d, optional=True)
        if b is not None:
            given = self.take("B.given", "U8", actions, below=2)
            bits = rows_of(file.tensors[f"{self.name}B"][2], n * d)
            for a, flat in enumerate(rows_of(b, n * d)):
                file.demand(given[a] or not any(bits[a]), f"{self.name}B: action {a} has none, but its numbers are not +0")
                self.B[a] = self.columns(flat) if given[a] else None
        self.decoder(n, d, labels, copies)
        file.demand(len(set(map(str, about["forms"]))) == len(about["forms"]), f"{self.name}form: a form is named twice")
        of_form = [iter(self.forms(name, form.count(i))) for i, name in enumerate(about["forms"])]
        self.matrices = [next(of_form[i]) for i in form]
        given = self.take("A", "F32 F64", actions, n, n, optional=True)
        self.dense = given and rows_of(given, n * n)
        for a, flat in enumerate(self.dense or []):
            entries = [nearest(x, FP64) for row in self.matrices[a].entries(n) for x in row]
            slack = 1 << (UNIT - 60) if self.matrices[a].factors else 0  # krohn multiplies reflections in 64 bits
            file.demand(all(x is not None and abs(x - y) <= slack * max(1, abs(x) >> UNIT) for x, y in zip(entries, flat)),
                        f"{self.name}A: the matrix of action {a} is not the one of its structured form")

    def decoder(self, n, d, labels, copies):
        if copies:
            self.file.demand(d == 1 and n == copies * labels, f"{self.name}: sizes that unit codewords do not have")
            self.label, self.book, books = list(range(labels)), [0] * labels, 1
            self.codewords = [(tuple((i % labels == label) << UNIT for i in range(n)),) for label in range(labels)]
        else:
            self.codewords = [self.columns(x) for x in rows_of(self.take("codewords", "F32 F64", None, n, d), n * d)]
            count = len(self.codewords)
            self.label = self.take("codewords.label", "U32", count, below=labels, optional=True) or list(range(count))
            self.book = self.take("codewords.book", "U32", count, optional=True) or [0] * count
            books = len(set(self.book))
            self.file.demand(max(self.book, default=0) < max(books, 1), f"{self.name}codewords.book: there is a gap")
            self.file.demand(max(self.label, default=0) < labels, f"{self.name}codewords: more of them than labels")
        contexts = len(self.action_of)
        self.book_of = self.take("book_of_context", "U32", contexts, below=books, optional=True) or [0] * contexts
        self.file.demand(books > 0, f"{self.name}codewords: there are none")
        self.books = [[i for i, b in enumerate(self.book) if b == book] for book in range(books)]

    def take(self, name, kinds, *shape, **more):
        return self.file.take(self.name + name, kinds, *shape, **more)

    def columns(self, flat):
        return tuple(tuple(flat[c::self.d]) for c in range(self.d))

    def cut(self, name, values, count):
        """`values` cut into lists by the offsets named so."""
        offsets = self.take(f"structured.{name}.offsets", "U64", None if count is None else count + 1)
        self.file.demand(offsets[:1] == [0] and offsets == sorted(offsets) and offsets[-1] == len(values),
                         f"{self.name}structured.{name}.offsets: not offsets of {len(values)} entries")
        return [values[a:b] for a, b in zip(offsets, offsets[1:])]

    def supports(self, name, count):
        lists = self.cut(name, self.take("structured." + name, "U32", None, below=self.n), count)
        self.file.demand(all(len(set(x)) == len(x) for x in lists), f"{self.name}structured.{name}: an entry is named twice")
        return lists

    def forms(self, form, m):
        """The m matrices of one form."""
        n, take = self.n, lambda name, kinds, *shape, **more: self.take("structured." + name, kinds, *shape, **more)
        if form == "zero":
            return [Matrix(form, [[]] * n, [True] * n)] * m
        if form in ("map", "signed-permutation"):
            prefix = "" if form == "map" else "signed."
            maps = rows_of(take(prefix + "map", "U32", m, n, below=n), n)
            signs = rows_of(take("signed.sign", "I8", m, n) if prefix else [1] * m * n, n)
            self.file.demand(all(abs(x) == 1 for row in signs for x in row), f"{self.name}structured.signed.sign: not ±1")
            self.file.demand(not prefix or all(len(set(x)) == n for x in maps), f"{self.name}signed.map: no permutation")
            return [Matrix(form, [[(j, s[j] << UNIT) for j in range(n) if f[j] == i] for i in range(n)], [True] * n)
                    for f, s in zip(maps, signs)]
        if form == "diagonal":
            return [Matrix(form, [[(i, x)] for i, x in enumerate(row)], [False] * n)
                    for row in rows_of(take("diagonal", "F32 F64", m, n), n)]
        if form == "dense":
            return [Matrix(form, [list(enumerate(row)) for row in rows_of(flat, n)], [False] * n)
                    for flat in rows_of(take("dense", "F32 F64", m, n, n), n * n)]
        if form == "block-diagonal":
            every = self.cut("blocks.size", take("blocks.size", "U32", None), m)
            values = take("blocks.values", "F32 F64", sum(size * size for sizes in every for size in sizes))
            self.file.demand(all(sum(sizes) == n for sizes in every), f"{self.name}structured.blocks.size: not {n} wide")
            value = iter(values)
            return [Matrix(form, [[(j, next(value)) for j in range(sum(sizes[:b]), sum(sizes[:b + 1]))]
                                  for b, size in enumerate(sizes) for _ in range(size)], [False] * n) for sizes in every]
        if form == "rotation":
            return self.rotations(m, take)
        if form == "reflections":
            return self.reflections(m, take)
        self.file.demand(form == "factored", f"{self.name}form: an unknown form {form!r}")
        outputs, inputs = self.supports("factored.output", None), self.supports("factored.input", None)
        self.file.demand(len(outputs) == len(inputs), f"{self.name}structured.factored: outputs and inputs differ in number")
        terms = self.cut("factored", list(zip(outputs, inputs)), m)
        gates = self.cut("factored.gate", take("factored.gate", "U32", None), m)
        for own, gate in zip(terms, gates):
            self.file.demand(max(gate, default=-1) < len(own), f"{self.name}structured.factored.gate: no such term")
        return [Matrix(form, terms=[own[r] for r in gate]) for own, gate in zip(terms, gates)]

    def rotations(self, m, take):
        is_sign, matrices = take("rotation.is_sign", "U8", None), []
        turns = rows_of(take("rotation.turn", "I64", len(is_sign), 2), 2)
        for blocks in self.cut("rotation", list(zip(is_sign, turns)), m):
            rows, signs = [], []
            for sign, (p, q) in blocks:
                self.file.demand(sign in (0, 1) and q > 0 and (not sign or 2 * p % q == 0), f"{self.name}structured.rotation")
                cos, sin = (cosine(Fraction(p, q) - Fraction(quarter, 4)) * (1 << UNIT) for quarter in (0, 1))
                i = len(rows)
                rows += [[(i, int(cos))]] if sign else [[(i, cos), (i + 1, -1 * sin)], [(i, sin), (i + 1, cos)]]
                signs += [True] if sign else [False] * 2
            self.file.demand(len(rows) == self.n, f"{self.name}structured.rotation: the blocks are not {self.n} wide")
            matrices.append(Matrix("rotation", rows, signs))
        return matrices

    def reflections(self, m, take):
        beta = take("reflections.beta", "F32 F64", None)
        count = len(beta)
        squares = rows_of(take("reflections.scale_squared", "I64", count, 2), 2)
        plane, turns = take("reflections.plane", "U32", count), rows_of(take("reflections.angle", "I64", count, 2), 2)
        values = take("reflections.value", "I32", None)
        positions, factors = self.supports("reflections.position", count), []
        self.file.demand(sum(map(len, positions)) == len(values), f"{self.name}structured.reflections.value: its shape")
        value = iter(values)
        for r in range(count):
            keys, (p, q) = [next(value) for _ in positions[r]], squares[r] if positions[r] else turns[r]
            self.file.demand(q > 0 and (p > 0 if keys else plane[r] + 1 < self.n), f"{self.name}structured.reflections")
            if keys:
                factors.append((positions[r], keys, Fraction(p, q), beta[r]))
            else:
                angle = Fraction(p, q)
                factors.append(([plane[r], plane[r] + 1], [cosine(angle), cosine(angle - Fraction(1, 4))], Fraction(1), beta[r]))
        return [Matrix("reflections", factors=x) for x in self.cut("reflections", factors, m)]


class Model:
    """The file of a network: the automaton, the layers and the readout."""

    def __init__(self, path):
        file = path if isinstance(path, File) else File(path)
        path = file.path
        data = {x: parse(file.metadata.get(x, "").encode(), f"{path}: metadata `{x}`") for x in ("automaton", "layers")}
        file.demand(set(file.metadata) - {"snap_every"} == {"format", "version", "automaton", "layers", "provenance"}
                    and file.metadata["format"] == "krohn.network" and file.metadata["version"] == "1", "not of version 1")
        about, snap = data["automaton"], file.metadata.get("snap_every", "0")
        file.demand(re.fullmatch("0|[1-9][0-9]{0,18}", snap) and (snap != "0" or "snap_every" not in file.metadata), "snap_every")
        file.demand(type(about) is dict and set(about) == {"alphabet", "initial", "output_names", "state_names"}
                    and all(type(about[x]) is list for x in ("alphabet", "output_names", "state_names"))
                    and all(type(x) is dict and set(x) == {"name", "characters"} for x in about["alphabet"]),
                    "metadata `automaton`")
        self.snap_every, self.output_names = int(snap), about["output_names"]
        self.letters = [x["name"] for x in about["alphabet"]]
        self.characters = [x["characters"] for x in about["alphabet"]]
        file.demand(all(type(x) is str for x in self.letters + self.output_names), "metadata `automaton`: a name is no text")
        file.demand(len(self.letters) == len(set(self.letters)), "metadata `automaton`: letters that are not distinct names")
        self.outputs = file.take("automaton.outputs", "U32", None, below=len(self.output_names))
        states, letters, self.initial = len(self.outputs), len(self.letters), about["initial"]
        self.table = rows_of(file.take("automaton.table", "U32", states, letters, below=states), letters)
        file.demand(is_count(self.initial, 0, states - 1), "metadata `automaton`: no such initial state")
        file.demand(type(data["layers"]) is list and data["layers"], "metadata `layers`")
        self.layers, count = [], len(data["layers"])
        for k, layer in enumerate(data["layers"]):
            self.layers.append(Layer(file, k, None if k else len(self.letters), layer, k == count - 1))
        file.demand(len({x.dense is None for x in self.layers}) == 1, "some layers have an A, and others none")
        file.demand(not self.snap_every or all(len(x.books) == 1 for x in self.layers), "a network that snaps has one code book")
        self.readout = [rows_of(file.take(f"readout.{k}", "U32", None, x.labels), x.labels) for k, x in enumerate(self.layers)]
        file.demand(len(self.readout[0]) == 1, "readout.0: not one node")
        for k, level in enumerate(self.readout):
            after = len(self.readout[k + 1]) if k + 1 < count else states
            linked(file, f"readout.{k}", level, after)
            if k + 1 < count:
                linked(file, f"layers.{k}.next", self.layers[k].next, len(self.layers[k + 1].action_of))
        file.demand(not file.left, f"a tensor that a network does not have: {', '.join(sorted(file.left))[:80]}")
        snaps = {"snap_every": snap} if self.snap_every else {}
        self.weights = file.digest(("layers.", "readout."), {"layers": compact(data["layers"]), **snaps})
        self.automaton = file.digest(("automaton.",), {"automaton": compact({**about, "state_names": []})})

    def read(self, labels):
        """The state that labels are read as, one of each layer."""
        node = 0
        for level, label in zip(self.readout, labels):
            node = None if node is None or label is None else level[node][label]
        return node


def linked(file, name, table, bound):
    """Checks that entries are below `bound`, and writes None for those that say that no word leads there."""
    for row in table:
        file.demand(all(x < bound or x == NOWHERE for x in row), f"{name}: an entry that is not below {bound}")
        row[:] = [None if x == NOWHERE else x for x in row]


# ---- the network, bit for bit


def flat(columns):
    return [x for column in columns for x in column]


class Truth:
    """What is right after words: an automaton, and the answer that is wanted in each state, None where nothing is asked. A table
    entry is None where the letter cannot stand. `characters`: those of each letter, where it is known."""
    characters = None

    def __init__(self, letters, initial, table, wanted):
        self.letters, self.initial, self.table, self.wanted = letters, initial, table, wanted

    def right(self, state, answer):
        return self.wanted[state] is None or answer is not None and answer == self.wanted[state]


class Network:
    """A model in one arithmetic and one form. What it remembers is a triple: the label of each layer, the letters since the last
    snap, and the numbers of each layer, column after column."""

    def __init__(self, model, arithmetic, form):
        self.model, self.arithmetic, self.stored, self.form = model, arithmetic, arithmetic.stored, form
        self.truth = Truth(model.letters, model.initial, model.table, list(range(len(model.table))))
        self.pair_members = "state labels bits" + " phase" * bool(model.snap_every)
        self.matrices = [[self.prepared(layer, a) for a in range(len(layer.matrices))] for layer in model.layers]
        stored = lambda columns: columns and tuple(tuple(nearest(x, self.stored) for x in column) for column in columns)
        self.B = [[stored(b) for b in layer.B] for layer in model.layers]
        self.words = [[stored(c) for c in layer.codewords] for layer in model.layers]
        self.start = (tuple(x.initial_label for x in model.layers), 0, tuple(stored(x.H0) for x in model.layers))
        for name in ("column", "nearest", "step"):
            setattr(self, name, functools.lru_cache(1 << 18)(getattr(self, name)))
        # A codeword whose entries, like all others', are multiples of 2^-500 has the distance 0 from itself, and a positive one
        # from all others: no square is below 2^-1000. So it is found without computing distances.
        self.coarse = [all(x >> 574 << 574 == x for c in layer.codewords for x in flat(c)) for layer in model.layers]
        self.same = [{} for _ in model.layers]
        for k, layer in enumerate(model.layers):
            for i, c in enumerate(layer.codewords):
                self.same[k].setdefault((layer.book[i], c), []).append(i)

    def prepared(self, layer, action):
        """The matrix with its weights rounded. Dense entries have to round alike by way of fp64, as the file holds them."""
        matrix = layer.matrices[action]
        if self.form == "dense":
            entries = [[nearest(x, self.stored) for x in row] for row in matrix.entries(layer.n)]
            held = layer.dense[action] if layer.dense else [nearest(x, FP64) for x in flat(matrix.entries(layer.n))]
            demand([nearest(x, self.stored) for x in held] == flat(entries), Refused,
                   f"{layer.name}A: an entry of action {action} rounds otherwise by way of fp64")
            return Matrix("dense", [list(enumerate(row)) for row in entries], [False] * layer.n)
        if matrix.factors is not None:
            factors = [(at, [self.key(x, square) for x in keys], Fraction(1), nearest(beta, self.stored))
                       for at, keys, square, beta in matrix.factors]
            return Matrix(matrix.form, factors=factors)
        rows = matrix.rows and [[(j, x if signs else nearest(x, self.stored)) for j, x in row]
                                for row, signs in zip(matrix.rows, matrix.signs)]
        return Matrix(matrix.form, rows, matrix.signs, terms=matrix.terms)

    def key(self, value, square):
        if isinstance(value, int) and isinstance(self.stored, Integers):
            size = math.isqrt(int(square * value * value))
            demand(size * size == square * value * value, Refused, f"a weight is no number of {self.stored.name}")
            return self.stored.weight((size if value > 0 else -size) << UNIT)
        if isinstance(value, int):
            size = rounded_root(square * value * value, self.stored)
            return size if value > 0 else -size
        return nearest(value * (1 << UNIT), self.stored)

    def column(self, k, action, x):
        """A x, of one column, before it is stored."""
        matrix, a, y = self.matrices[k][action], self.arithmetic, list(x)
        if matrix.factors is not None:
            for positions, keys, _, beta in matrix.factors:
                s = 0
                for i, (j, key) in enumerate(zip(positions, keys)):
                    s = a.add_product(s, key, y[j]) if i else a.product(key, y[j])
                t = a.product(beta, s)
                for j, key in zip(positions, keys):
                    y[j] = a.add_product(y[j], None if key is None else -key, t)
        elif matrix.terms is not None:
            y = [0] * len(x)
            for outputs, inputs in matrix.terms:
                s = self.sum(x[j] for j in inputs)
                for i in outputs:
                    y[i] = a.total(y[i], s)
        else:
            for i, (row, signs) in enumerate(zip(matrix.rows, matrix.signs)):
                if signs:
                    y[i] = self.sum(x[j] if w > 0 or x[j] is None else -x[j] for j, w in row)
                else:
                    y[i] = a.product(row[0][1], x[row[0][0]])
                    for j, w in row[1:]:
                        if w != 0 or x[j] is None or a.operands:  # an x of tf32 may become infinite, and 0 · ∞ is no number
                            y[i] = a.add_product(y[i], w, x[j])
        return y

    def sum(self, numbers):
        s = 0
        for i, x in enumerate(numbers):
            s = self.arithmetic.total(s, x) if i else x
        return s

    def moved(self, k, action, columns):
        """The numbers of layer k after the action."""
        result = []
        for c, x in enumerate(columns):
            y = self.column(k, action, x)
            if self.B[k][action]:
                y = [self.arithmetic.total(s, t) for s, t in zip(y, self.B[k][action][c])]
            result.append(tuple(None if s is None else rounded(s, 0, self.stored) for s in y))
        return tuple(result)

    def nearest(self, k, columns, book):
        """The number of the nearest codeword; None for a tie and for numbers that are not finite."""
        layer, h = self.model.layers[k], flat(columns)
        if None in h:
            return None
        same = self.same[k].get((book, columns), [])
        if len(same) == 1 and self.coarse[k]:
            return same[0]
        found = least = None
        for i in layer.books[book]:
            distance = 0
            for x, c in zip(h, flat(layer.codewords[i])):
                difference = rounded(x - c, 0, FP64)
                square = None if difference is None else rounded(difference * difference, UNIT, FP64)
                distance = None if square is None else rounded(distance + square, 0, FP64)
                if distance is None or least is not None and distance > least:
                    break
            if distance is not None and (least is None or distance <= least):
                found, least = (None if distance == least else i), distance
        return found

    def step(self, memory, letter, lazy=False):
        """The memory after the letter, and the state that the labels were read as, before a snap. With `lazy`, the label of the
        last layer, which no letter needs, is −1 − its book until it is read."""
        labels, phase, states = memory
        new_labels, new_states, context, words = [], [], letter, []
        phase = (phase + 1) % self.model.snap_every if self.model.snap_every else 0
        snaps = self.model.snap_every and not phase
        for k, layer in enumerate(self.model.layers):
            found = label = None
            columns = states[k]
            if context is not None:
                columns, book = self.moved(k, layer.action_of[context], columns), layer.book_of[context]
                if lazy and layer.next is None and not snaps:
                    label = -1 - book
                else:
                    found = self.nearest(k, columns, book)
                    label = None if found is None else layer.label[found]
                if layer.next is not None:
                    context = None if labels[k] is None else layer.next[context][labels[k]]
            words.append(found)
            new_labels.append(label)
            new_states.append(columns)
        state = None if lazy else self.read((new_labels, phase, new_states))
        if snaps:
            new_states = [h if i is None else self.words[k][i] for k, (h, i) in enumerate(zip(new_states, words))]
        return (tuple(new_labels), phase, tuple(new_states)), state

    def against(self, truth):
        """Holds the outputs against a language, instead of the states against the model's automaton."""
        self.truth = truth
        self.answer = lambda state: None if state is None else self.model.output_names[self.model.outputs[state]]

    @staticmethod
    def answer(state):
        return state

    def memory(self, step, steps):
        """What a `pair` says is remembered."""
        model, states, bits = self.model, [], step["bits"]
        steps.demand(len(bits) == len(model.layers) == len(step["labels"]), "pair: not bits and a label of every layer")
        for layer, text in zip(model.layers, bits):
            values = steps.numbers(text, layer.n * layer.d, self.stored)
            states.append(tuple(map(tuple, rows_of(values, layer.n))))
        steps.check(all(x < layer.labels for x, layer in zip(step["labels"], model.layers)), "pair: no such label")
        steps.check(step.get("phase", 0) < max(model.snap_every, 1), "pair: no such phase")
        return tuple(step["labels"]), step.get("phase", 0), tuple(states)

    def read(self, memory):
        """The state that the labels are read as, one that was left open being decoded now."""
        labels = list(memory[0])
        if labels[-1] is not None and labels[-1] < 0:
            found = self.nearest(len(labels) - 1, memory[2][-1], -1 - labels[-1])
            labels[-1] = None if found is None else self.model.layers[-1].label[found]
        return self.model.read(labels)


class Exact(Network):
    """A network in exact arithmetic, as far as its states are numbers of fp64: letters are the exact matrices of the structured
    forms."""

    def __init__(self, model):
        super().__init__(model, Arithmetic("fp64"), "structured")
        linear(self)

    @functools.lru_cache(None)
    def entries(self, k, action):
        rows = self.model.layers[k].matrices[action].entries(self.model.layers[k].n)
        demand(not any(isinstance(x, Interval) for x in flat(rows)), Refused, f"layer {k}, action {action}: irrational entries")
        return rows

    def moved(self, k, action, columns):
        given = self.model.layers[k].B[action] or ((0,) * self.model.layers[k].n,) * len(columns)
        return tuple(tuple(Fraction(sum(w * x for w, x in zip(row, column)), 1 << UNIT) + b
                           for row, b in zip(self.entries(k, action), own)) for column, own in zip(columns, given))


# ---- the certificate's file

NUMBER, LONG = is_count, lambda x: is_count(x, 0, 2**64 - 1)
TEXT = lambda x: type(x) is str
LIST = lambda of: lambda x: type(x) is list and all(map(of, x))
BOUND = "config.json", "tokens.json"  # files that say what is done with the tensors beside them
VIEWS = lambda x: type(x) is list and all(LIST(NUMBER)(view) and len(view) > 1 for view in x)
MEMBERS = {"tokens": LIST(NUMBER), "before": LIST(NUMBER), "after": LIST(NUMBER), "start": LIST(NUMBER), "keep": LIST(NUMBER),
           "name": TEXT, "size": NUMBER, "shape": LIST(NUMBER), "terms": NUMBER, "of": VIEWS, "row of": NUMBER,
           "answer by logits": NUMBER, "numbers bits": TEXT, "numbers times": NUMBER, "language letters": LIST(TEXT),
           "table": LIST(LIST(NUMBER)), "outputs": LIST(lambda x: x is None or TEXT(x)),
           "logits": LIST(lambda x: x is None or NUMBER(x)), "against": TEXT,
           "layer": NUMBER, "codewords": LIST(NUMBER), "action": NUMBER, "book": NUMBER, "next": LIST(NUMBER), "state": NUMBER,
           "places": LIST(NUMBER), "labels": LIST(NUMBER), "phase": NUMBER, "depth": NUMBER, "bits": LIST(TEXT), "times": LONG,
           "exponent": TEXT, "expected": NUMBER, "given": lambda x: x is None or NUMBER(x) or TEXT(x), "seed": LONG, "stream": LONG, "words": LONG,
           "length": LONG, "lines": LONG, "a": TEXT, "b": TEXT, "word letters": LIST(TEXT), "maps letters": LIST(NUMBER),
           "random letters": LONG, "regions start": NUMBER, "regions letters": NUMBER, "lower": TEXT, "upper": TEXT, "format": TEXT,
           "version": NUMBER, "weights": TEXT, "automaton": TEXT, "arithmetic": TEXT, "form": TEXT, "order": TEXT, "claim": TEXT,
           **dict.fromkeys(BOUND, TEXT), "shortest": lambda x: type(x) is bool, "method": TEXT}


class Steps:
    """The lines of a certificate, one after another; `step` is the next one."""

    def __init__(self, path, file):
        self.path, self.file, self.line, self.taken = path, file, 0, 0
        self.read()

    def read(self):
        text = self.file.readline()
        self.line += 1
        self.demand(text.endswith(b"\n"), "the file ends before its `end`")
        self.step = parse(text, f"{self.path}: line {self.line}")
        self.demand(type(self.step) is dict, "not an object")

    def demand(self, condition, message):
        demand(condition, BadInput, f"{self.path}: line {self.line}: {message}")

    def members(self, names):
        """The next line, which must have just these members."""
        step, kind, names = self.step, str(self.step.get("step")), names.split()
        of_kind = {"step"} if self.line > 1 else set()  # the claim is no step
        self.demand(set(step) == of_kind.union(names), f"{kind}: its members are not {', '.join(names)}")
        for name in names:
            self.demand(MEMBERS.get(f"{kind} {name}", MEMBERS.get(name))(step[name]), f"{kind}: `{name}`")
        self.taken = self.line
        return step

    def maybe(self, kind, names):
        """The next step, if it is of this kind."""
        if self.step.get("step") != kind:
            return None
        step = self.members(names)
        self.read()
        return step

    def take(self, kind, names):
        step = self.maybe(kind, names)
        self.demand(step, f"a step {self.step.get('step')!r} where {kind!r} is due")
        return step

    def end(self):
        self.demand(self.step.get("step") == "end", f"a step {self.step.get('step')!r} where the end is due")
        self.demand(self.members("lines")["lines"] == self.line - 1 and not self.file.read(1), "end: not the end")

    def check(self, condition, message):
        demand(condition, Refused, f"line {self.taken}: {message}")

    def limit(self, value, most, what):
        demand(value <= most, Undecided, f"line {self.taken}: {value} {what}, and this checker takes {most}")

    def numbers(self, text, count, to):
        """Numbers in bits of the format `to`."""
        digits = to.width // 4
        self.demand(len(text) == count * digits and re.fullmatch("[0-9a-f]*", text), f"bits: not {count} numbers")
        bits = [int(text[i:i + digits], 16) for i in range(0, len(text), digits)]
        values = [to.decode(x) for x in bits]
        self.demand(isinstance(to, Integers) or None not in values and 1 << (to.width - 1) not in bits,
                    "bits: −0, or a number that is not finite")
        return values


# ---- operations


def sum64(*numbers):
    total = 0
    for x in numbers:
        total = rounded(total + x, 0, FP64)
    return total


def product64(*numbers):
    total = 1 << UNIT
    for x in numbers:
        total = rounded(total * x, UNIT, FP64)
    return total


def quotient(a, b, to):
    demand(b, Refused, "a division by 0")
    quarters, rest = divmod(abs(a) << UNIT + 2, abs(b))
    size = rounded(quarters | (rest != 0), 2, to)
    return size if (a < 0) == (b < 0) or size is None else -size


def exact_sum(a, b):
    """The sum rounded to fp64, and what that lost."""
    return rounded(a + b, 0, FP64), a + b - rounded(a + b, 0, FP64)


INVERSE_FACTORIALS = [rounded_fraction(Fraction(1 << UNIT, math.factorial(n)), FP64) for n in range(15)]


def whole(turns):
    """With ½ more, or below 0 less, cut to an integer."""
    shifted = sum64(turns, (1 if turns >= 0 else -1) << UNIT - 1)
    return (abs(shifted) >> UNIT) * (1 if shifted > 0 else -1)


def exponential64(x):
    """k, u, v with e^x = 2^k (1 + u + v): what e^x and tanh begin with."""
    k = whole(product64(x, FP64.decode(0x3FF71547652B82FE)))
    r, below = exact_sum(sum64(x, -k * FP64.decode(0x3FE62E42FEFA3800)), -product64(k << UNIT, FP64.decode(0x3D2EF35793C76730)))
    tail = 0
    for n in range(14, 2, -1):
        tail = sum64(product64(tail, r), INVERSE_FACTORIALS[n])
    square = product64(r, r)
    lost = rounded(r * r - (square << UNIT), UNIT, FP64)
    high, low = exact_sum(r, rounded(square, 1, FP64))
    rest = sum64(rounded(lost, 1, FP64), product64(square, r, tail), product64(below, sum64(1 << UNIT, r)))
    return k, *exact_sum(high, sum64(low, rest))


def times_power(x, k):
    """x · 2^k, rounded to fp64."""
    return rounded(x << k, 0, FP64) if k > 0 else rounded(x, -k, FP64)


def exp64(x):
    """e^x by the steps of `sigmoid`, in fp64; None above 710."""
    if x > 710 << UNIT or x < -746 << UNIT:
        return None if x > 0 else 0
    k, less, less_rest = exponential64(x)
    value, value_rest = exact_sum(1 << UNIT, less)
    return times_power(sum64(value, sum64(value_rest, less_rest)), k)


def tanh64(a):
    """tanh by the steps of `tanh`, in fp64."""
    x, less = -2 * abs(a), -1 << UNIT
    if x >= -40 << UNIT:
        k, first, second = exponential64(x)
        if k == 0:
            less = sum64(first, second)
        else:
            octaves, octaves_rest = exact_sum(1 << UNIT + k, -1 << UNIT)
            total, total_rest = exact_sum(octaves, times_power(first, k))
            below, below_rest = exact_sum(octaves_rest, times_power(second, k))
            whole, whole_rest = exact_sum(total, sum64(total_rest, below))
            less = sum64(whole, sum64(whole_rest, below_rest))
    value = quotient(less, sum64(2 << UNIT, less), FP64)
    return -value if a > 0 else value


def logistic64(a):
    """1 / (1 + e^−a) in fp64; 0 where that is too large."""
    e = exp64(-a)
    return 0 if e is None else quotient(1 << UNIT, sum64(1 << UNIT, e), FP64)


class Pair:
    """A number of units and one far smaller, whose sum is meant: the pairs of `softplus`."""

    def __init__(self, high, low=0):
        self.high, self.low = high, low

    def __add__(self, other):
        total, total_rest = exact_sum(self.high, other.high)
        below, below_rest = exact_sum(self.low, other.low)
        first, first_rest = exact_sum(total, sum64(total_rest, below))
        return Pair(*exact_sum(first, sum64(first_rest, below_rest)))

    def __mul__(self, other):
        product = product64(self.high, other.high)
        lost = rounded(self.high * other.high - (product << UNIT), UNIT, FP64)
        return Pair(*exact_sum(product, sum64(lost, sum64(product64(self.high, other.low), product64(self.low, other.high)))))

    def __sub__(self, other):
        return self + Pair(-other.high, -other.low)

    def __truediv__(self, other):
        first = quotient(self.high, other.high, FP64)
        rest = self - Pair(first) * other
        second = quotient(rest.high, other.high, FP64)
        last = rest - Pair(second) * other
        return Pair(*exact_sum(first, second)) + Pair(quotient(last.high, other.high, FP64))


LOG_OF_2 = Pair(FP64.decode(0x3FE62E42FEFA39EF), FP64.decode(0x3C7ABC9E3B39803F))
INVERSES_OF_ODD = [Pair(1 << UNIT) / Pair(2 * i + 1 << UNIT) for i in range(21)]
PAIRS_OF_FACTORIALS = [Pair(1 << UNIT)]
for n in range(1, 29):
    PAIRS_OF_FACTORIALS.append(PAIRS_OF_FACTORIALS[-1] / Pair(n << UNIT))


def series(factors, pairs, x):
    tail = 0
    for factor in reversed(factors[pairs:]):
        tail = sum64(product64(tail, x.high), factor.high)
    total = Pair(tail)
    for factor in reversed(factors[:pairs]):
        total = total * x + factor
    return total


def logarithm(x):
    """Of a pair that begins with a normal number above 0."""
    k = x.high.bit_length() - 1 - UNIT
    k += times_power(x.high, -k) > FP64.decode(0x3FF6A09E667F3BCD)
    high, low = times_power(x.high, -k), times_power(x.low, -k)
    f = Pair(*exact_sum(sum64(high, -1 << UNIT), low))
    s = f / (Pair(2 << UNIT) + f)
    half = s * series(INVERSES_OF_ODD, 4, s * s)
    of_m = Pair(2 * half.high, 2 * half.low)
    return of_m if k == 0 else LOG_OF_2 * Pair(k << UNIT) + of_m


def log1p64(x):
    """log(1 + x) for x ≥ 0, in fp64."""
    return x if x < 1 << UNIT - 60 else logarithm(Pair(*exact_sum(1 << UNIT, x))).high


def power64(x, y):
    """x^y for x ≥ 0 and y > 0, in fp64; None where it, or x, is too large."""
    if x in (None, 0, 1 << UNIT):
        return x
    small = x < 1 << UNIT - 1022
    log = logarithm(Pair(x << 60 * small))
    log = log - LOG_OF_2 * Pair(60 << UNIT) if small else log
    size = product64(y, log.high)
    if size > 710 << UNIT or size < -746 << UNIT:
        return None if size > 0 else 0
    exponent = log * Pair(y)
    k = whole(product64(exponent.high, FP64.decode(0x3FF71547652B82FE)))
    rest = exponent - LOG_OF_2 * Pair(k << UNIT)
    rest = Pair(rounded(rest.high, 6, FP64), rounded(rest.low, 6, FP64))
    less = rest * series(PAIRS_OF_FACTORIALS[1:13], 3, rest)
    for _ in range(6):
        less = Pair(2 * less.high, 2 * less.low) + less * less
    return times_power((Pair(1 << UNIT) + less).high, k)


HALF_PI = sum((1 - n % 4 // 2 * 2) * (16 * ((1 << 1280) // (n * 5**n)) - 4 * ((1 << 1280) // (n * 239**n))) for n in range(1, 557, 2)) // 2
QUARTER_TURN = FP64.decode(0x3FF921FB54400000), FP64.decode(0x3DD0B4611A600000), Pair(FP64.decode(0x3BA3198A2E037073), FP64.decode(0x384129024E088A68))


def leading(number):
    """Its first 53 binary digits, and zeros."""
    drop = max(abs(number).bit_length() - 53, 0)
    return (abs(number) >> drop << drop) * (1 if number > 0 else -1)


def angle64(a):
    """How many quarter turns, and the pair that is left."""
    if abs(a) < 1 << UNIT + 20:
        k = whole(product64(a, FP64.decode(0x3FE45F306DC9C883)))
        first, second, others = QUARTER_TURN
        left = Pair(*exact_sum(sum64(a, -product64(k << UNIT, first)), -product64(k << UNIT, second)))
        return k, left - others * Pair(k << UNIT)
    size = abs(a) << 1280 - UNIT
    k = (2 * size + HALF_PI) // (2 * HALF_PI)
    rest = size - k * HALF_PI
    sign = 1 if a > 0 else -1
    parts = leading(rest), leading(rest - leading(rest))
    high, low = (sign * (abs(x) >> 1280 - UNIT) * (1 if x > 0 else -1) for x in parts)
    return sign * k, Pair(*exact_sum(high, low))


def cosine64(a, quarters):
    """cos(a + quarters · π/2), in fp64."""
    k, rest = angle64(a)
    place = k + quarters & 3
    factors = [Pair(-x.high, -x.low) if i % 2 else x for i, x in enumerate(PAIRS_OF_FACTORIALS[place % 2::2])]
    value = series(factors, 4, rest * rest)
    value = (rest * value).high if place % 2 else value.high
    return -value if place in (1, 2) else value


def softplus(a, to):
    """The greater of a and 0, and log(1 + e^−|a|) rounded."""
    return rounded(max(a, 0) + rounded(log1p64(exp64(-abs(a))), 0, to), 0, to)


def softplus32(a, to):
    return a if a > 20 << UNIT else rounded(log1p64(exp32(a)), 0, to)


def softplus64(a, to):
    return a if a > 20 << UNIT else rounded(log1p64(exp64(a)), 0, to)


def log_sigmoid(a, to):
    return rounded(sum64(min(a, 0), -log1p64(exp64(-abs(a)))), 0, to)


def p_norm(numbers, exponent, to):
    """The root of the sum of the powers."""
    total = 0
    for x in numbers:
        power = power64(abs(x), exponent)
        total = None if total is None or power is None else sum64(total, power)
    root = power64(total, quotient(1 << UNIT, exponent, FP64))
    return None if root is None else rounded(root, 0, to)


def exponential(e, to):
    return None if e is None else rounded(e, 0, to)


def root32(i):
    """2^(i/32), rounded to fp64: five square roots of 2^i in units of 2^-80 to its 32nd power."""
    power = 1 << i + 32 * 80
    for _ in range(5):
        power = math.isqrt(power)
    return rounded(power << UNIT - 80, 0, FP64)


POWERS = [root32(i) for i in range(32)]


def exp32(x):
    """e^x by the steps of `sigmoid32`, in fp32; None where it is too large."""
    fused = lambda a, b, c: rounded(a * b + (c << UNIT), UNIT, FP64)
    if x > FP64.decode(0x40562E42E0000000) or x < FP64.decode(0xC059FE3680000000):
        return None if x > 0 else 0
    factor, shift = FP64.decode(0x40471547652B82FE), 3 << UNIT + 51
    k = (fused(factor, x, shift) - shift) >> UNIT
    r = fused(factor, x, -k << UNIT)
    high = fused(FP64.decode(0x3EBC6AF84B912394), r, FP64.decode(0x3F2EBFCE50FAC4F3))
    value = fused(high, product64(r, r), fused(FP64.decode(0x3F962E42FF0C52D6), r, 1 << UNIT))
    octaves, power = k >> 5, POWERS[k & 31]
    power = power << octaves if octaves > 0 else power >> -octaves
    return rounded(product64(value, power), 0, FP32)


def square_root(a, to):
    demand(a >= 0, Refused, "the root of a negative number")
    quarters = math.isqrt(a << UNIT + 4)
    return rounded(quarters | (quarters * quarters != a << UNIT + 4), 2, to)


def sigmoid(a, exponential, to):
    """a / (1 + e), e rounded; 0 where that is too large."""
    e = None if exponential is None else rounded(exponential, 0, to)
    return 0 if e is None else quotient(a, rounded((1 << UNIT) + e, 0, to), to)


COMPUTED = {"copy": (1, lambda to, a: a), "add": (2, lambda to, a, b: rounded(a + b, 0, to)),
            "subtract": (2, lambda to, a, b: rounded(a - b, 0, to)), "multiply": (2, lambda to, a, b: rounded(a * b, UNIT, to)),
            "divide": (2, lambda to, a, b: quotient(a, b, to)), "greater": (2, lambda to, a, b: max(a, b)),
            "root": (1, lambda to, a: square_root(a, to)), "bf16": (1, lambda to, a: rounded(a, 0, FORMATS["bf16"])),
            "sigmoid": (2, lambda to, a, b: sigmoid(a, exp64(-b), to)),
            "sigmoid32": (2, lambda to, a, b: sigmoid(a, exp32(-b), to)),
            "exp": (1, lambda to, a: exponential(exp64(a), to)), "exp32": (1, lambda to, a: exponential(exp32(a), to)),
            "softplus": (1, lambda to, a: softplus(a, to)), "softplus32": (1, lambda to, a: softplus32(a, to)),
            "logistic": (1, lambda to, a: rounded(logistic64(a), 0, to)), "tanh": (1, lambda to, a: rounded(tanh64(a), 0, to)),
            "softplus64": (1, lambda to, a: softplus64(a, to)), "log sigmoid": (1, lambda to, a: log_sigmoid(a, to)),
            "cosine": (1, lambda to, a: rounded(cosine64(a, 0), 0, to)), "sine": (1, lambda to, a: rounded(cosine64(a, -1), 0, to)),
            "norm": (1, None), "dot": (2, None)}
NEWER = {"softplus64", "log sigmoid", "cosine", "sine", "norm"}  # since version 3
MOST_NUMBERS, MOST_PRODUCTS = 1 << 26, 1 << 36  # of all lists together, in one list


class Operations:
    """A model that a certificate describes operation by operation. What it remembers is a pair: the numbers, and the answer given
    last, which is no part of what pairs are compared by."""
    pair_members = "state bits"

    def __init__(self, file, arithmetic, steps):
        self.file, self.stored, self.lists, self.values, self.depends = file, FORMATS[arithmetic], [], [], []
        self.names, self.sizes, self.size = [], [], None
        head = steps.take("operations", "tokens before after")
        self.tokens, self.prefix, self.suffix = head["tokens"], head["before"], head["after"]
        while steps.step.get("step") != "answer by":
            self.read_operation(steps, steps.step.get("step"))
        step = steps.take("answer by", "start keep logits")
        steps.check(all(i < len(self.lists) for i in [*step["start"], *step["keep"], step["logits"]]), "no such list")
        steps.check(all(self.depends[i] == 0 for i in step["start"]), "start: a list that depends on letters")
        self.keep, self.logits, self.token_lists = step["keep"], step["logits"], {}
        self.size = self.size or 0
        steps.check(self.size == sum(self.sizes[i] for i in step["start"]) == sum(self.sizes[i] for i in self.keep),
                    "what is remembered is not always as long")
        numbers, said = self.kept(step["start"], self.values), None
        for token in self.prefix:
            numbers, said = self.token(numbers, token)
        self.start = Memory(numbers, said if self.prefix and not self.suffix else self.behind(numbers) if self.suffix else None)

    def read_operation(self, steps, kind):
        i, views, depends = len(self.lists), [], 0
        if kind == "tensor":
            step = steps.take(kind, "name")
            steps.demand(step["name"] in self.file.tensors, f"the model has no tensor {step['name']!r}")
            self.names.append(step["name"])
            value, size = self.tensor(step["name"], steps), None
        elif kind == "numbers":
            step = steps.take(kind, "bits times")
            digits = self.stored.width // 4
            steps.demand(step["bits"] and step["times"], "numbers: none")
            steps.limit(len(step["bits"]) // digits * step["times"], MOST_NUMBERS, "numbers in a list")
            value, size = steps.numbers(step["bits"], len(step["bits"]) // digits, self.stored) * step["times"], None
        elif kind == "memory":
            step = steps.take(kind, "size")
            steps.demand(step["size"], "memory: of no size")
            steps.check(self.size is None, "memory: named twice")
            value, size, depends = None, step["size"], 2
            self.size = size
        elif kind == "row":
            step = steps.take(kind, "of size")
            steps.demand(step["size"], "row: of no size")
            steps.check(step["of"] < i and self.depends[step["of"]] == 0, "row: of no list that is always the same")
            value, size, depends = None, step["size"], 1
        else:
            steps.demand(kind in COMPUTED, f"an unknown operation {kind!r}")
            step = steps.take(kind, "shape of" + " terms" * (kind in ("dot", "norm")) + " exponent" * (kind == "norm"))
            if kind == "norm":
                step["exponent"], = steps.numbers(step["exponent"], 1, FP64)
                steps.demand(1 << UNIT <= step["exponent"] <= 1024 << UNIT, "norm: exponents are from 1 to 1,024")
            steps.demand(0 not in step["shape"] and step.get("terms") != 0, f"{kind}: sizes begin with 1")
            value, size = None, math.prod(step["shape"])
            steps.limit(size, MOST_NUMBERS, "numbers in a list")
            steps.limit(size * step.get("terms", 1), MOST_PRODUCTS, "products in a list")
            due = COMPUTED[kind][0]
            steps.check(len(step["of"]) == due or kind == "dot" and len(step["of"]) == 3, f"{kind}: not made of {due} lists")
            for v, (of, first, *strides) in enumerate(step["of"]):
                summed = "terms" in step and v < 2
                steps.check(of < i, f"{kind}: a list that does not come before it")
                steps.check(len(strides) == len(step["shape"]) + summed, f"{kind}: not a stride for each axis")
                at = [first]
                for extent, stride in zip(step["shape"], strides):
                    at = [x + y * stride for x in at for y in range(extent)]
                along = (step["terms"] - 1) * strides[-1] if summed and step["terms"] else 0
                steps.check(not at or max(at) + along < self.sizes[of], f"{kind}: a number that list {of} does not have")
                views.append((of, at, strides[-1] if summed else 0))
                depends = max(depends, self.depends[of])
        self.lists.append((kind, step, views))
        self.depends.append(depends)
        self.values.append(value)
        self.sizes.append(size if value is None else len(value))
        steps.limit(sum(self.sizes), MOST_NUMBERS, "numbers in all lists")
        if value is None and depends == 0:
            self.values[i] = self.computed(i, self.values)

    def tensor(self, name, steps):
        kind, _, bits = self.file.tensors[name]
        steps.check(kind in ("F32", "F64", "F16", "BF16"), f"tensor {name!r}: of type {kind}")
        decode = functools.lru_cache(None)({"F32": FP32, "F64": FP64, "F16": FORMATS["fp16"], "BF16": FORMATS["bf16"]}[kind].decode)
        values = [decode(x) for x in bits]
        values = [None if x is None else rounded(x, 0, self.stored) for x in values]
        steps.check(None not in values, f"tensor {name!r}: a number that is not finite")
        return values

    def computed(self, i, values):
        """List i from those before it."""
        kind, step, views = self.lists[i]
        to = self.stored
        if kind == "dot":
            (a, a_at, a_stride), (b, b_at, b_stride), rest = views[0], views[1], views[2:]
            result, left, right = [], values[a], values[b]
            sums = [values[rest[0][0]][x] for x in rest[0][1]] if rest else [0] * len(a_at)
            for x, y, total in zip(a_at, b_at, sums):
                for t in range(step["terms"]):
                    p, q = left[x + t * a_stride], right[y + t * b_stride]
                    if p and q:
                        p = rounded(p * q, UNIT, to)
                        total = None if p is None else rounded(total + p, 0, to)
                        demand(total is not None, Refused, f"list {i}: a number that is not finite")
                result.append(total)
            return result
        if kind == "norm":
            (of, at, stride), = views
            terms = [[values[of][x + t * stride] for t in range(step["terms"])] for x in at]
            result = [p_norm(numbers, step["exponent"], to) for numbers in terms]
        else:
            function = COMPUTED[kind][1]
            result = [function(to, *numbers) for numbers in zip(*([values[of][x] for x in at] for of, at, _ in views))]
        demand(None not in result, Refused, f"list {i}: a number that is not finite")
        return result

    def token(self, numbers, token):
        """What is remembered after one more token, and what is answered."""
        values = list(self.values)
        if token not in self.token_lists:
            for i, depends in enumerate(self.depends):
                if depends == 1 and self.lists[i][0] == "row":
                    step = self.lists[i][1]
                    values[i] = values[step["of"]][token * step["size"]:(token + 1) * step["size"]]
                    demand(len(values[i]) == step["size"], Refused, f"list {i}: token {token} has no row")
                elif depends == 1:
                    values[i] = self.computed(i, values)
            self.token_lists[token] = [(i, values[i]) for i, depends in enumerate(self.depends) if depends == 1]
        for i, value in self.token_lists[token]:
            values[i] = value
        for i, depends in enumerate(self.depends):
            if depends == 2:
                values[i] = numbers if self.lists[i][0] == "memory" else self.computed(i, values)
        return self.kept(self.keep, values), self.said(values)

    @staticmethod
    def kept(lists, values):
        return tuple(x for i in lists for x in values[i])

    def said(self, values):
        """The logit that is greatest, if one is."""
        logits = values[self.logits]
        said = max(range(len(logits)), key=logits.__getitem__, default=None)
        return None if said is None or logits.count(logits[said]) > 1 else said

    def behind(self, numbers):
        said = None
        for token in self.suffix:
            numbers, said = self.token(numbers, token)
        return said

    def against(self, truth):
        demand(len(self.tokens) == len(truth.letters), Refused, "not a token for each letter")
        self.truth = truth

    @staticmethod
    def answer(said):
        return said

    def step(self, memory, letter, lazy=False):
        demand(letter < len(self.tokens), Refused, f"letter {letter} has no token")
        numbers, said = self.token(memory.numbers, self.tokens[letter])
        said = self.behind(numbers) if self.suffix else said
        return Memory(numbers, said), said

    @staticmethod
    def read(memory):
        return memory.said

    def memory(self, step, steps):
        steps.demand(len(step["bits"]) == 1, "pair: not the bits of one list")
        return Memory(tuple(steps.numbers(step["bits"][0], self.size, self.stored)), None)


class Memory:
    """Numbers, by which two are compared, and what was answered beside them."""

    def __init__(self, numbers, said):
        self.numbers, self.said = numbers, said

    def __eq__(self, other):
        return self.numbers == other.numbers

    def __hash__(self):
        return hash(self.numbers)


def language(steps, letters, by_name):
    """What a certificate brings along as right. `letters`: the network's, whose outputs are compared by name."""
    step = steps.take("language", "letters table outputs" + " logits" * (not by_name))
    table, outputs = step["table"], step["outputs"]
    steps.demand(table and len(outputs) == len(table) and len(set(step["letters"])) == len(step["letters"])
                 and "" not in step["letters"], "language: not an output for each state, or a letter twice or without a name")
    steps.check(letters is None or step["letters"] == letters, "language: its letters are not the model's, in its order")
    steps.demand(all(len(row) == len(step["letters"]) and all(q < len(table) or q == NOWHERE for q in row) for row in table),
                 "language: no such state")
    steps.demand(not by_name or None not in outputs and all(NOWHERE not in row for row in table),
                 "language: of a network every word is asked about")
    wanted = outputs if by_name else step["logits"]
    steps.demand(len(wanted) == len(table) and all((a is None) == (b is None) for a, b in zip(outputs, wanted)),
                 "language: not a logit where there is an output, and only there")
    meant = {}
    steps.demand(by_name or all(meant.setdefault(a, b) == b for a, b in zip(wanted, outputs) if a is not None and a < NEVER_GIVEN),
                 "language: one logit stands for two outputs")
    truth = Truth(step["letters"], 0, [[None if q == NOWHERE else q for q in row] for row in table], wanted)
    truth.names = outputs
    return truth


# ---- closed regions

Q, MOST_LEAVES = 200, 6  # numbers below are integers in units of 2^-Q, rounded outward
TINY = 1 << Q - 126
# A format that runtimes may also round to: 2^COARSER roundings to fp32 err as much as one to it, what its underflow adds, and
# the bound of all numbers.
COARSER = {"fp32": (0, 0, 1 << Q + 126), "bf16": (16, TINY, 1 << Q + 126), "fp16": (13, 1 << Q - 24, 1 << Q + 15)}


def outward(low, high, shift=Q):
    return low >> shift, -(-high >> shift)


def ends_of_product(a, b):
    ends = a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high
    return min(ends), max(ends)


def end64(x, up):
    """The next fp64 number below, or above, in the units of the functions."""
    drop = max(abs(x).bit_length() - 53, 0)
    return (-(-x >> drop) if up else x >> drop) << drop + UNIT - Q


class Enclosed:
    """A number as a polynomial of others: its exact values, the roundings k on the way, and bounds of its terms, m, and of what
    underflow adds, t."""

    def __init__(self, low, high, k=0, m=None, t=TINY):
        self.low, self.high, self.k, self.t, self.m = low, high, k, t, max(abs(low), abs(high)) if m is None else m
        demand(self.m < 1 << Q + 126 and k <= 1 << 20, Refused, "a number may overflow")

    def error(self):
        return self.k and -(-self.k * self.m // ((1 << 24) - self.k)) + 2 * self.t

    def computed(self):
        """A leaf that holds what is computed; below 2^-126 that may be 0."""
        low, high = self.low - self.error(), self.high + self.error()
        low, high = 0 if 0 < low < TINY else low, 0 if -TINY < high < 0 else high
        return self if (low, high, self.k) == (self.low, self.high, 0) else Enclosed(low, high)

    def coarser(self, format, times):
        """Rounded to the format too, so many times."""
        roundings, underflow, _ = COARSER[format]
        return Enclosed(self.low, self.high, self.k + (times << roundings), self.m, self.t + times * underflow)

    def widened(self, by):
        return Enclosed(self.low - by, self.high + by)

    def imprecise(self):
        """What a function gives that is within 2^-21."""
        return self.widened(-(-max(self.m, 1 << Q) >> 21))

    def __add__(self, other):
        return Enclosed(self.low + other.low, self.high + other.high, self.k + other.k + 1, self.m + other.m, self.t + other.t + TINY)

    def __neg__(self):
        return Enclosed(-self.high, -self.low, self.k, self.m, self.t)

    def __mul__(self, other):
        _, m = outward(0, self.m * other.m)
        _, t = outward(0, self.t * other.m + other.t * self.m + self.t * other.t)
        return Enclosed(*outward(*ends_of_product(self, other)), self.k + other.k + 1, m, t + TINY)

    def __truediv__(self, other):
        x, y = self.computed(), other.computed()
        least = min(abs(y.low), abs(y.high))
        demand((y.low > 0 or y.high < 0) and least >= 1 << Q - 60, Refused, "a division by 0")
        ends = [Fraction(a << Q, b) for a in (x.low, x.high) for b in (y.low, y.high)]
        value = Enclosed(math.floor(min(ends)), math.ceil(max(ends)))
        return value.widened(-(-value.m >> 22) + 2 * TINY + math.ceil(Fraction(2 * TINY << Q, least)))

    def root(self):
        x = self.computed()
        demand(x.low >= 0, Refused, "the root of a negative number")
        value = Enclosed(math.isqrt(x.low << Q), math.isqrt(x.high << Q) + 1)
        return value.widened(-(-value.m >> 22) + (1 << Q - 62))

    def greatest(self, other):
        x, y = self.computed(), other.computed()
        return Enclosed(max(x.low, y.low), max(x.high, y.high)).widened(TINY)

    def function(self, rising):
        """Of a rising function, which is given to 2^-45 of its value."""
        x = self.computed()
        ends = rising(end64(x.low, False)), rising(end64(x.high, True))
        demand(None not in ends, Refused, "a number may overflow")
        return Enclosed(*outward(ends[0] - (abs(ends[0]) >> 45), ends[1] + (abs(ends[1]) >> 45), UNIT - Q)).imprecise()


def log_of_sum(a):
    return max(a, 0) + log1p64(exp64(-abs(a)))


ENCLOSED = {"copy": lambda a: a, "add": lambda a, b: a + b, "subtract": lambda a, b: a + -b, "multiply": lambda a, b: a * b,
            "divide": lambda a, b: a / b, "greater": lambda a, b: a.greatest(b), "root": lambda a: a.root(),
            "sigmoid": lambda a, b: Enclosed(*outward(*ends_of_product(a.computed(), b.function(logistic64)))).imprecise(), "tanh": lambda a: a.function(tanh64),
            "logistic": lambda a: a.function(logistic64), "exp": lambda a: a.function(exp64),
            "softplus": lambda a: a.function(log_of_sum), "log sigmoid": lambda a: a.function(lambda x: -log_of_sum(-x))}
ENCLOSED.update(sigmoid32=ENCLOSED["sigmoid"], exp32=ENCLOSED["exp"], softplus32=ENCLOSED["softplus"], softplus64=ENCLOSED["softplus"])
SUMS = {kind: ENCLOSED[kind] for kind in ("copy", "add", "subtract", "multiply")}


class Runtimes(Operations):
    """The same with all numbers that a runtime may compute. What was answered are the lists themselves."""

    def __init__(self, file, arithmetic, steps):
        self.leaves, self.format = {}, arithmetic
        super().__init__(file, "fp32", steps)

    def read_operation(self, steps, kind):
        steps.check(kind in ("tensor", "numbers", "memory", "row", "dot") or kind in ENCLOSED or kind not in COMPUTED,
                    f"there are no intervals of {kind!r}")
        super().read_operation(steps, kind)
        if kind in ("tensor", "numbers"):
            others = [rounded(x, 0, FORMATS[self.format]) for x in self.values[-1]]
            steps.demand(None not in others, f"a number is not finite in {self.format}")
            self.values[-1] = self.bounded([Enclosed(min(x, y) >> UNIT - Q, max(x, y) >> UNIT - Q) for x, y in zip(self.values[-1], others)])

    @staticmethod
    def kept(lists, values):
        return tuple(x.computed() for i in lists for x in values[i])

    def said(self, values):
        return values

    def is_given(self, i):
        return self.lists[i][0] in ("tensor", "numbers", "row")

    def operands(self, i, at):
        return [(of, places[at]) for of, places, _ in self.lists[i][2]]

    def leaves_of(self, place):
        """The leaves of a number, and whether one occurs twice; None where its corners do not bound it."""
        if place not in self.leaves:
            kind = self.lists[place[0]][0]
            found = (frozenset(), False) if self.is_given(place[0]) else (frozenset([place]), False)
            if kind in SUMS:
                parts = [self.leaves_of(x) for x in self.operands(*place)]
                found = None
                if None not in parts:
                    leaves = frozenset().union(*(x for x, _ in parts))
                    shared = len(leaves) < sum(len(x) for x, _ in parts)
                    if len(leaves) <= MOST_LEAVES and not (shared and kind == "multiply"):
                        found = leaves, shared or any(x for _, x in parts)
            self.leaves[place] = found
        return self.leaves[place]

    def at_corner(self, place, corner, values):
        if place in corner:
            return Enclosed(corner[place], corner[place])
        if self.is_given(place[0]):
            return values[place[0]][place[1]]
        return SUMS[self.lists[place[0]][0]](*(self.at_corner(x, corner, values) for x in self.operands(*place)))

    def computed(self, i, values):
        kind, step, views = self.lists[i]
        if kind == "dot":
            return self.bounded(self.rounded(self.sums(step["terms"], views, values), 2))
        result = [ENCLOSED[kind](*numbers) for numbers in zip(*([values[of][x] for x in at] for of, at, _ in views))]
        for at, number in enumerate(result if kind in SUMS and kind != "copy" else ()):
            leaves, repeats = self.leaves_of((i, at)) or ((), False)
            if repeats:
                leaves = sorted(leaves)
                ends = itertools.product(*((values[of][x].low, values[of][x].high) for of, x in leaves))
                corners = [self.at_corner((i, at), dict(zip(leaves, corner)), values) for corner in ends]
                number.low, number.high = min(x.low for x in corners), max(x.high for x in corners)
        return self.bounded(self.rounded(result, kind != "copy"))

    def rounded(self, numbers, times):
        return [x.coarser(self.format, times) for x in numbers] if self.format != "fp32" and times else numbers

    def bounded(self, numbers):
        demand(all(x.m + x.error() < COARSER[self.format][2] for x in numbers), Refused, "a number may overflow")
        return numbers

    def factors(self, numbers):
        """As they go into the products of a sum."""
        return [x.computed() for x in self.rounded(numbers, 1)]

    def sums(self, terms, views, values):
        (a, a_at, a_stride), (b, b_at, b_stride), rest = views[0], views[1], views[2:]
        left, right = self.factors(values[a]), self.factors(values[b])
        starts, result = [values[rest[0][0]][x] for x in rest[0][1]] if rest else [Enclosed(0, 0)] * len(a_at), []
        for x, y, start in zip(a_at, b_at, starts):
            low = high = m = sizes = 0
            for t in range(terms):
                p, q = left[x + t * a_stride], right[y + t * b_stride]
                least, most = ends_of_product(p, q)
                low, high, m, sizes = low + least, high + most, m + p.m * q.m, sizes + p.m + q.m
            low, high = outward(low, high)
            (_, m), (_, tiny) = outward(0, m), outward(0, TINY * sizes)
            result.append(Enclosed(start.low + low, start.high + high, start.k + 2 * terms, start.m + m,
                                   start.t + tiny + terms * (2 * TINY + 1)))
        return result

    def is_right(self, state, said):
        """Whether the logit that is wanted is the greatest, whatever is computed."""
        wanted = self.truth.wanted[state]
        if wanted is None:
            return True
        if said is None or wanted >= len(said[self.logits]):
            return False
        return all(j == wanted or self.lead(said, wanted, j) > 0 for j in range(len(said[self.logits])))

    def lead(self, values, w, j):
        """A bound from below of one logit over another."""
        kind, step, views = self.lists[self.logits]
        of_w, of_j = values[self.logits][w], values[self.logits][j]
        least = of_w.computed().low - of_j.computed().high
        for (a, a_at, a_stride), (x, x_at, x_stride) in [views[:2], views[1::-1]] if kind == "dot" else []:
            if self.is_given(a) and x_at[w] == x_at[j]:
                low = 0
                for t in range(step["terms"]):
                    factor = values[a][a_at[w] + t * a_stride] + -values[a][a_at[j] + t * a_stride]
                    number, = self.factors([values[x][x_at[w] + t * x_stride]])
                    low += ends_of_product(factor, number)[0]
                starts = [values[views[2][0]][views[2][1][n]] for n in (w, j)] if len(views) == 3 else [Enclosed(0, 0)] * 2
                least = max(least, (low >> Q) + starts[0].low - starts[1].high - of_w.error() - of_j.error())
        return least


def closed_regions(net, steps, claim):
    head, truth, regions, read = steps.take("regions", "start letters"), net.truth, [], 0
    while (step := steps.maybe("region", "state lower upper")):
        ends = [[x >> UNIT - Q for x in steps.numbers(step[name], net.size, FP32)] for name in ("lower", "upper")]
        steps.check(step["state"] < len(truth.table) and all(x <= y for x, y in zip(*ends)), "region: no such state, or an end above the other")
        regions.append((step["state"], *ends, steps.taken))

    def is_inside(state, memory):
        return any(state == own and all(x <= n.low and n.high <= y for x, y, n in zip(lower, upper, memory.numbers))
                   for own, lower, upper, _ in regions)

    def follow(boxes, most):
        nonlocal read
        while boxes:
            steps.check(most > 0, "a word leads into no region")
            most, found = most - 1, []
            for state, memory in boxes:
                for letter, after in enumerate(truth.table[state]):
                    if after is not None:
                        read += 1
                        steps.limit(read, MOST_BOXES, "boxes")
                        new, said = net.step(memory, letter)
                        steps.check(net.is_right(after, said), f"letter {letter} may be read wrongly")
                        found += [(after, new)] * (not is_inside(after, new))
            boxes = found

    steps.check(net.is_right(truth.initial, net.start.said), "the empty word may be read wrongly")
    follow([] if is_inside(truth.initial, net.start) else [(truth.initial, net.start)], head["start"])
    for state, lower, upper, steps.taken in regions:
        follow([(state, Memory(tuple(map(Enclosed, lower, upper)), None))], head["letters"])


# ---- methods


def tables(net, steps, exact):
    """Each layer's places (codewords) and moves, (action, book) ↦ places. Where not `exact`, moves are only noted down."""
    result = []
    for k, layer in enumerate(net.model.layers):
        step = steps.take("codewords", "layer codewords")
        places, moves = step["codewords"], {}
        steps.demand(step["layer"] == k, f"codewords of layer {step['layer']} where those of layer {k} are due")
        steps.check(places and max(places) < len(layer.codewords), "codewords: no such codeword")
        words, labels = [net.words[k][i] for i in places], [layer.label[i] for i in places]
        steps.check(all(x is not None for c in words + [net.start[2][k]] for x in flat(c)),
                    "codewords: not finite, or no integers of the type")
        steps.check(labels[0] == layer.initial_label, "codewords: place 0 does not have the initial label")
        steps.check(not exact or words[0] == net.start[2][k], "codewords: place 0 is not H_0")
        while (step := steps.maybe("move", "layer action book next")):
            action, book, after = step["action"], step["book"], step["next"]
            steps.check(step["layer"] == k and action < len(layer.matrices) and book < len(layer.books)
                        and (action, book) not in moves, "move: of another layer, of no action or book, or named twice")
            steps.check(len(after) == len(places) and max(after) < len(places), "move: `next` does not name places")
            moves[action, book] = after
            for i, j in enumerate(after):
                if not exact:
                    steps.check(layer.book[places[j]] == book, f"move: place {i} leads to a codeword of another book")
                    continue
                columns = net.moved(k, action, words[i])
                steps.check(columns == words[j], f"move: place {i} does not become place {j} bit for bit")
                found = net.nearest(k, words[j], book)
                steps.check(found is not None and layer.label[found] == labels[j], f"move: place {i} is decoded wrongly")
                steps.check(not net.model.snap_every or net.words[k][found] == words[j], f"move: place {i} snaps elsewhere")
        for context, (action, book) in enumerate(zip(layer.action_of, layer.book_of)):
            steps.check((action, book) in moves, f"layer {k}: context {context} has no move")
        result.append((places, labels, moves))
    return result


def emulated(net, steps, machine):
    """That the machine of labels emulates the automaton."""
    model = net.model
    place_0 = model.read([labels[0] for _, labels, _ in machine])
    if steps.maybe("induction", ""):
        steps.check(place_0 == model.initial, "induction: the places 0 are not read as the initial state")
        for letter, name in enumerate(model.letters):
            triples = {(letter, 0, 0)}
            for k, (layer, (_, labels, moves)) in enumerate(zip(model.layers, machine)):
                after, level = set(), model.readout[k]
                for context, u, v in triples:
                    move = moves[layer.action_of[context], layer.book_of[context]]
                    for place, label in enumerate(labels):
                        if level[u][label] is None:
                            continue
                        context_above = layer.next and layer.next[context][label]
                        node = level[v][labels[move[place]]]
                        steps.check(node is not None and (not layer.next or context_above is not None),
                                    f"induction: letter {name!r}, layer {k}, place {place}: nothing to go on to")
                        after.add((context_above, level[u][label], node))
                triples = after
            steps.check(all(v == model.table[u][letter] for _, u, v in triples), f"induction: letter {name!r} goes wrong")
        return
    tuples = []
    while (step := steps.maybe("tuple", "state places next")):
        tuples.append((steps.taken, step["places"], step["state"], step["next"]))
    steps.demand(tuples, "`induction` or tuples are due")
    demand(not any(tuples[0][1]) and tuples[0][2] == model.initial, Refused, f"line {tuples[0][0]}: tuple 0 is not the start")
    for line, places, state, after in tuples:
        steps.taken = line
        steps.check(len(places) == len(machine) and all(p < len(labels) for p, (_, labels, _) in zip(places, machine))
                    and state < len(model.table), "tuple: no such places or state")
        read = model.read([labels[p] for p, (_, labels, _) in zip(places, machine)])
        steps.check(read == state, f"tuple: it is read as {read}")
        steps.check(len(after) == len(model.letters) and max(after) < len(tuples), "tuple: `next` does not name tuples")
        for letter, j in enumerate(after):
            context, moved = letter, []
            for p, layer, (_, labels, moves) in zip(places, model.layers, machine):
                steps.check(context is not None, f"tuple: letter {letter} has no context")
                moved.append(moves[layer.action_of[context], layer.book_of[context]][p])
                context = layer.next and layer.next[context][labels[p]]
            steps.check(moved == tuples[j][1] and tuples[j][2] == model.table[state][letter],
                        f"tuple: letter {letter} does not lead to tuple {j}")


def linear(net):
    demand(not net.model.snap_every, Refused, "this method is not for networks that snap")


def closed_pairs(net, steps, T):
    """Pairs of which the first is the start. T: None, or the letters up to which they prove the model right."""
    truth, found = net.truth, []
    while steps.step.get("step") == "pair":
        depth = steps.step.get("depth")
        steps.demand(T is None or NUMBER(depth), "pair: `depth`")
        last = T is not None and depth >= T - 1
        step = steps.take("pair", net.pair_members + " depth" * (T is not None) + " next" * (not last))
        steps.check(step["state"] < len(truth.table), "pair: no such state")
        steps.check(T is None or depth < max(T, 1), f"pair: its depth is not below {T}")
        found.append((steps.taken, net.memory(step, steps), step["state"], depth, step.get("next")))
        steps.check(last or len(step["next"]) == len(truth.letters), "pair: `next` does not have every letter")
    steps.demand(found, "a pair is due")
    steps.taken = found[0][0]
    steps.check(found[0][1] == net.start and found[0][2] == truth.initial and not found[0][3]
                and truth.right(truth.initial, net.answer(net.read(net.start))),
                "pair 0 is not the start, or is not read as the initial state")
    for line, memory, state, depth, after in found if T != 0 else []:
        steps.taken = line
        for letter, state_after in enumerate(truth.table[state]):
            if state_after is None:
                steps.check(after is None or after[letter] == NOWHERE, f"pair: letter {letter} cannot stand there")
                continue
            new, read = net.step(memory, letter)
            steps.check(truth.right(state_after, net.answer(read)),
                        f"pair: letter {letter} is read as {read}, not as state {state_after}")
            if after is not None:
                steps.check(after[letter] < len(found), f"pair: letter {letter}: no pair {after[letter]}")
                _, memory_after, its_state, its_depth, _ = found[after[letter]]
                steps.check(new == memory_after and its_state == state_after, f"pair: letter {letter} does not lead to that pair")
                steps.check(T is None or its_depth <= depth + 1, f"pair: letter {letter} leads to a depth of {its_depth}")


def norm(squares, up=1):
    """The square root of a rational number, rounded up, or down."""
    if squares == 0:
        return Fraction(0)
    digits = 256 + max(0, squares.denominator.bit_length() - squares.numerator.bit_length())
    return Fraction(math.isqrt((squares.numerator << 2 * digits) // squares.denominator) + up, 1 << digits)


def length_of(values, scale=1):
    """Frobenius's norm of values in units (of two factors: scale 2), rounded up."""
    return norm(Fraction(sum(x * x for x in values), 1 << 2 * scale * UNIT))


def linear_horizon(net, steps, claim):
    linear(net)
    model, layer, a = net.model, net.model.layers[0], net.arithmetic
    demand(len(model.layers) == 1 and a.simple, Refused, "a linear horizon is about one layer and one format")
    (places, labels, moves), = tables(net, steps, exact=False)
    for place, label in enumerate(labels):
        state = model.readout[0][0][label]
        steps.check(state is not None and (place or state == model.initial), f"place {place} is not read as its state")
        for letter, after in enumerate(model.table[state]):
            move = moves[layer.action_of[letter], layer.book_of[letter]]
            steps.check(model.readout[0][0][labels[move[place]]] == after, f"place {place}, letter {letter}: a wrong state")
    words, last = [flat(layer.codewords[i]) for i in places], Fraction(2)**(net.stored.least - net.stored.digits + 1)
    unit, n, d, T = Fraction(1, 1 << net.stored.digits), layer.n, layer.d, claim["length"]
    gamma = lambda k: k * unit / (1 - k * unit)
    least = min((sum((x - y)**2 for x, y in zip(flat(layer.codewords[i]), flat(layer.codewords[j])))
                 for book in layer.books for i in book for j in book if j < i), default=0)
    r = (1 - Fraction(1, 1 << 20)) / 2 * norm(Fraction(least, 1 << 2 * UNIT), up=0)
    size = max(length_of(c) for c in words) + r
    e = length_of([x - y for x, y in zip(flat(net.start[2][0]), words[0])])
    x, eps, greatest = Fraction(0), Fraction(0), size
    k = max((max(map(len, net.matrices[0][action].rows or [()])) + bool(net.B[0][action]) for action, _ in moves), default=0)
    steps.check(2 * k * unit < 1, "too many products for the format")
    for (action, _), after in moves.items():
        matrix, b = net.matrices[0][action], flat(net.B[0][action] or [])
        weights = [w for row in matrix.rows or [] for _, w in row] + [w for f in matrix.factors or [] for w in [*f[1], f[3]]]
        steps.check(None not in weights + b, "a weight is not finite")
        if matrix.factors is not None:
            steps.check(not b, f"action {action}: reflections together with a B")
            product = grown = Fraction(1)
            alphas = Fraction(0)
            for positions, keys, _, beta in matrix.factors:
                v, s, beta = length_of(keys), len(keys), Fraction(abs(beta), 1 << UNIT) * (1 if beta > 0 else -1)
                steps.check(2 * (s + 3) * unit < 1, "too many products for the format")
                square = Fraction(sum(k * k for k in keys), 1 << 2 * UNIT)
                g, delta = max(Fraction(1), abs(1 - beta * square)), gamma(1) + gamma(s + 3) * abs(beta) * square
                product, grown, alphas = product * g, grown * (g + delta), alphas * (g + delta) + 4 * (s + 1) * (1 + v) * (
                    1 + abs(beta)) * last
                greatest = max(greatest, 16 * (1 + v)**2 * (1 + abs(beta)) * (grown * size + alphas))
            entries = exact_entries(matrix, n)
            x = max(x, grown - 1)
        else:
            steps.check(matrix.form in ("rotation", "diagonal", "dense", "block-diagonal"), f"action {action}: {matrix.form}")
            entries = matrix.entries(n)
            gram = [sum(row[i] * row[j] for row in entries) - ((i == j) << 2 * UNIT) for i in range(n) for j in range(n)]
            norm_a = length_of(flat(entries))
            x = max(x, length_of(gram, 2) / 2 + gamma(k) * norm_a)
        for i, j in enumerate(after):
            c = rows_of(words[i], n)
            exact = [sum(w * y for w, y in zip(row, column)) for column in c for row in entries]
            if matrix.factors is not None:
                away = norm(Fraction(sum((y - (z << UNIT))**2 for y, z in zip(exact, words[j]))) / (1 << 4 * UNIT))
                eps = max(eps, away + (grown - product) * length_of(words[i]) + d * alphas)
                continue
            with_b = [y + (z << UNIT) for y, z in zip(exact, b or [0] * n * d)]
            away = length_of([y - (z << UNIT) for y, z in zip(with_b, words[j])], 2)
            total = length_of([sum(abs(w * y) for w, y in zip(row, column)) + (abs(z) << UNIT)
                               for (column, row), z in zip(((c_, r_) for c_ in c for r_ in entries), b or [0] * n * d)], 2)
            eps = max(eps, away + gamma(k) * total + n * d * k * last)
            greatest = max(greatest, 2 * (total + norm_a * r) + n * d * k * last)
    demand(Fraction(1, 1 << 600) <= Fraction(least, 1 << 2 * UNIT) <= 1 << 600 and greatest < 2**min(net.stored.greatest, 500),
           Refused, "numbers too large or too small")
    demand(e + T * eps <= r * (1 - T * x), Refused, f"the bound does not reach {T} letters")


def divisor(values):
    """The greatest power of two that divides all; 0 of zeros."""
    bits = 0
    for x in values:
        bits |= x
    return bits & -bits


def together(*divisors):
    return min((x for x in divisors if x), default=0)


def fits(to, divides, bound):
    """*fit*, of numbers in squares of the unit."""
    return not divides or (bound <= divides << to.digits and bound < 1 << (to.greatest + 1 + 2 * UNIT)
                           and divides >= 1 << (to.grain + UNIT))


def exact_in_any_order(net, steps, claim):
    linear(net)
    machine = tables(net, steps, exact=True)
    emulated(net, steps, machine)
    for k, (places, _, _) in enumerate(machine):
        exact_layer(net, steps, k, [net.words[k][i] for i in places])


def exact_entries(matrix, n):
    """The entries of a matrix whose weights were rounded, exactly: those of reflections perhaps as fractions."""
    if matrix.factors is None:
        return matrix.entries(n)
    demand(all(None not in [*f[1], f[3]] for f in matrix.factors), Refused, "a weight of a reflection is not finite")
    return product_of_reflections(n, [(f[0], [Fraction(w, 1 << UNIT) for w in f[1]], 1, f[3]) for f in matrix.factors])


def exact_layer(net, steps, k, words):
    layer, to, n, d = net.model.layers[k], net.stored, net.model.layers[k].n, net.model.layers[k].d
    zero, has_b = ((0,) * n,) * d, any(net.B[k])
    actions, given = [], [b or zero for b in net.B[k]]
    for matrix in net.matrices[k]:
        rows = exact_entries(matrix, n)
        demand(all(x is not None and x == int(x) for x in flat(rows)), Refused, f"layer {k}: a matrix is not of the format")
        actions.append(tuple(zip(*[[int(x) for x in row] for row in rows])))
    demand(None not in flat(flat(given)), Refused, f"layer {k}: a B is not finite")
    sparse = [[[(i, w) for i, w in enumerate(column) if w] for column in a] for a in actions]

    @functools.lru_cache(None)
    def image(a, column):
        y = [0] * n
        for j, x in enumerate(column):
            for i, w in sparse[a][j] if x else []:
                y[i] += w * x
        return y

    def leads(a, before, after, b):
        """Whether A_a before + b = after, exactly."""
        return all(s + (t << UNIT) == u << UNIT for x, z, y in zip(before, b, after) for s, t, u in zip(image(a, x), z, y))
    listed, step = [], steps.maybe("maps", "layer letters")
    if step:
        starts = step["letters"]
        while (m := steps.maybe("map", "layer a b next")):
            b = steps.numbers(m["b"], n * d if has_b else 0, to)
            steps.check(m["layer"] == k, f"map of layer {m['layer']} where those of layer {k} are due")
            listed.append((steps.taken, tuple(zip(*rows_of(steps.numbers(m["a"], n * n, to), n))),
                           tuple(map(tuple, rows_of(b, n))) or zero, m["next"]))
        steps.check(len(starts) == len(actions) and all(i < len(listed) for i in starts), "maps: not a map of every action")
        for a, i in enumerate(starts):
            steps.check(listed[i][1:3] == (actions[a], given[a]), f"maps: map {i} is not action {a}")
    else:
        step = steps.take("moves", "layer")
        for a, columns in enumerate(sparse):
            steps.check(all(len(c) < 2 and all(abs(w) == 1 << UNIT for _, w in c) for c in columns), f"action {a} is no move")
        while has_b and (m := steps.maybe("addition", "layer b next")):
            steps.check(m["layer"] == k, f"addition of layer {m['layer']} where those of layer {k} are due")
            b = tuple(map(tuple, rows_of(steps.numbers(m["b"], n * d, to), n)))
            listed.append((steps.taken, (), b, m["next"]))
        steps.check(not has_b or listed and listed[0][2] == zero, "addition 0 is not the vector 0")
    steps.check(step["layer"] == k, f"layer {step['layer']} where layer {k} is due")
    for line, matrix, b, after in listed:
        steps.taken = line
        steps.check(len(after) == len(actions) and max(after) < len(listed), "`next` does not name one for each action")
        for a, j in enumerate(after):
            _, matrix_after, b_after, _ = listed[j]
            steps.check(leads(a, matrix, matrix_after, [[0] * n] * n) and leads(a, b, b_after, given[a]),
                        f"action {a} does not lead to number {j}")
    all_maps = [m for _, m, _, _ in listed if m] or actions
    all_b = [column for b in given + [b for _, _, b, _ in listed] for column in b]
    columns = [column for c in words for column in c]
    grain_a, grain_b, grain_h = (divisor(x for v in vectors for x in v) for vectors in (flat(all_maps), all_b, columns))
    if any(matrix.terms is not None for matrix in net.matrices[k]):
        grain_a = together(grain_a, 1 << UNIT)  # the terms of a factored matrix are added one by one
    row = max(sum(map(abs, r)) for m in all_maps for r in zip(*m))
    column, greatest = (max(f(map(abs, c)) for m in all_maps for c in m) for f in (sum, max))
    sum_b, most_b = (max(f(map(abs, v)) for v in all_b) for f in (sum, max))
    sum_h, most_h = (max(f(map(abs, v)) for v in columns) for f in (sum, max))
    one, of_h, of_b = 1 << UNIT, min(row * most_h, greatest * sum_h), min(row * most_b, greatest * sum_b)
    conditions = [("B", grain_b * one, most_b * one), ("H", grain_h * one, most_h * one)]
    if step["step"] == "moves":
        conditions += [("H and B", together(grain_h, grain_b) * one, (sum_h + most_b) * one),
                       ("B and B", grain_b * one, (sum_b + most_b) * one)]
    else:
        conditions += [("A", grain_a * one, greatest * one), ("A·A", grain_a * grain_a, min(row * greatest, greatest * column)),
                       ("A·H and B", together(grain_a * grain_h, grain_b * one), of_h + most_b * one),
                       ("A·B and B", together(grain_a * grain_b, grain_b * one), of_b + most_b * one)]
    for name, divides, bound in conditions:
        demand(fits(to, divides, bound), Refused, f"layer {k}: {name} does not fit")
    for a, matrix in enumerate(net.matrices[k]):
        for x in set(columns) if matrix.factors else ():
            demand(reflected_exactly(to, matrix.factors, list(x)), Refused, f"layer {k}, action {a}: a reflection does not fit")


def reflected_exactly(to, factors, x):
    """Whether every number on the way of a column through the factors is of the format, whatever the order of sums."""
    for positions, keys, _, beta in factors:
        products = [key * x[i] for i, key in zip(positions, keys)]
        if not fits(to, divisor(products), sum(map(abs, products))):
            return False
        scaled = beta * (sum(products) >> UNIT)
        if not fits(to, divisor([scaled]), abs(scaled)):
            return False
        terms = [key * (scaled >> UNIT) for key in keys]
        before = [x[i] << UNIT for i in positions]
        if not fits(to, divisor(terms), max(map(abs, terms))):
            return False
        if not fits(to, divisor(terms + before), max(abs(s) + abs(t) for s, t in zip(before, terms))):
            return False
        for i, s, t in zip(positions, before, terms):
            x[i] = (s - t) >> UNIT
    return True


def random_letters(seed, stream, n):
    """The letters of a random word over n letters, without end."""
    mask, g = 2**64 - 1, 0x9e3779b97f4a7c15

    def mix(x):
        x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9 & mask
        x = (x ^ x >> 27) * 0x94d049bb133111eb & mask
        return x ^ x >> 31
    key, base = mix(seed + g * mix(stream + g & mask) & mask), n if n > 256 else max(n, 2)
    bound, k, cleared = 2**32 if n > 256 else 256, 0, False
    while base**(k + 1) <= bound:
        k += 1
    if n <= 256:
        cleared, k = base**k != 256, (4 if base**k != 256 else 8) * k
    i = 0
    while i := i + 1:
        fraction = mix(key + g * i & mask)
        fraction = fraction >> 8 << 8 if cleared else fraction
        for _ in range(k):
            yield fraction * n >> 64
            fraction = fraction * n & mask


def failing_word(net, steps, claim):
    truth = net.truth
    memory, state, length, spent = net.start, truth.initial, 0, 0

    def run(memory, state, letters):
        nonlocal spent
        for letter in letters:
            spent += 1
            steps.limit(spent, MOST_LETTERS, "letters to read one by one")
            state = truth.table[state][letter]
            steps.check(state is not None, f"letter {letter} of the word cannot stand there")
            memory = net.step(memory, letter, True)[0]
        return memory, state
    number = {name: i for i, name in enumerate(truth.letters)}
    if (step := steps.maybe("random", "seed stream letters")):
        steps.check(not claim["shortest"], "random: a random word is never claimed to be the shortest")
        letters = random_letters(step["seed"], step["stream"], len(number))
        memory, state = run(memory, state, (next(letters) for _ in range(step["letters"])))
    else:
        while (step := steps.maybe("word", "letters times")):
            steps.demand(step["letters"] and step["times"], "word: no letters")
            steps.check(all(x in number for x in step["letters"]), "word: a letter that the model does not have")
            letters, left = [number[x] for x in step["letters"]], step["times"]
            length += len(letters) * left
            mark, since, power = (memory, state), 0, 1
            while left:  # once a memory returns, whole rounds are left out (Brent's algorithm)
                (memory, state), left, since = run(memory, state, letters), left - 1, since + 1
                if power and (memory, state) == mark:
                    left, power = left % since, 0
                elif since == power:
                    mark, since, power = (memory, state), 0, 2 * power
    step = steps.take("answer", "expected given")
    given = net.answer(net.read(memory))
    steps.check(step["expected"] == state and type(step["given"]) is type(given) and step["given"] == given
                and not truth.right(state, given), f"answer: the automaton is in state {state}, the model gives {given}")
    if claim["shortest"] and length:
        closed_pairs(net, steps, length - 1)


def sampled(net, steps, claim):
    truth, step = net.truth, steps.take("words", "seed words length")
    steps.check(step["words"] and step["length"], "words: nothing was read")
    steps.limit(step["words"] * step["length"], MOST_LETTERS, "letters of random words")
    for stream in range(step["words"]):
        memory, state, letters = net.start, truth.initial, random_letters(step["seed"], stream, len(truth.letters))
        for t in range(step["length"]):
            letter = next(letters)
            state = truth.table[state][letter]
            steps.check(state is not None, f"words: stream {stream}, letter {t + 1} cannot stand there")
            memory, read = net.step(memory, letter)
            steps.check(truth.right(state, net.answer(read)), f"words: stream {stream}, letter {t + 1} is read as {read}")


METHODS = {"closed codewords": lambda net, steps, claim: emulated(net, steps, tables(net, steps, exact=True)),
           "closed reachable set": lambda net, steps, claim: closed_pairs(net, steps, claim.get("length")),
           "linear horizon": linear_horizon, "exact in any order": exact_in_any_order, "failing word": failing_word,
           "sampled": sampled, "closed regions": closed_regions}
CLAIMS = {"proved": ("closed codewords", "closed reachable set", "exact in any order", "closed regions"), "refuted": ("failing word",),
          "proved up to a length": ("closed reachable set", "linear horizon"), "sampled": ("sampled",)}


def established(steps, file):
    """What the certificate establishes of the model, in words; and the automaton with its outputs that it is about."""
    kind, brings = steps.step.get("claim"), "against" in steps.step
    operations = steps.step.get("form") == "operations"
    claim = steps.members("format version weights arithmetic form order claim method" + " automaton" * (not operations)
                          + " length" * (kind == "proved up to a length") + " shortest" * (kind == "refuted") + " against" * brings
                          + "".join(f" {name}" for name in BOUND if operations and name in steps.step))
    arithmetic, order, method = claim["arithmetic"], claim["order"], claim["method"]
    steps.demand(claim["format"] == "krohn.certificate" and claim["version"] in (2, 3, 4), "not a certificate of version 2 to 4")
    steps.demand((arithmetic in ARITHMETICS or (arithmetic, claim["form"], method) == ("exact", "structured", "closed codewords"))
                 and claim["form"] in ("structured", "dense", "operations")
                 and order in ("sequential", "any"), "the arithmetic, form or order")
    steps.demand(method in CLAIMS.get(kind, ()) and (order == "any") == (method in ("exact in any order", "closed regions"))
                 and (order != "any" or arithmetic in FORMATS) and claim.get("length", 1) > 0, "such a claim has no such method")
    steps.demand(claim.get("against", "language") == "language" and (brings or not operations)
                 and (not brings or method in ("closed reachable set", "failing word", "sampled", "closed regions"))
                 and (not operations or arithmetic in (COARSER if method == "closed regions" else ("fp32", "fp64", "bf16")))
                 and (method != "closed regions" or operations), "such a claim is not held against a language of its own")
    for name in ("weights", "automaton", *BOUND):
        steps.demand(re.fullmatch("[0-9a-f]{64}", claim.get(name, "0" * 64)), f"`{name}` is no SHA-256")
    if operations:
        steps.read()
        net = (Runtimes if method == "closed regions" else Operations)(file, arithmetic, steps)
        newer = any(kind in NEWER for kind, *_ in net.lists)
        steps.demand(claim["version"] == (4 if method == "closed regions" else 2 + newer), "the version is not that of the operations")
        named = [(name, *file.tensors[name]) for name in sorted(set(net.names))]
        demand(claim["weights"] == file.hashed(named, []), Refused, "the certificate was made for another model: other weights")
        for name in BOUND:
            demand(name not in claim or file.beside(name) == claim[name], Refused, f"the certificate was made for another {name}")
        net.against(language(steps, None, False))
        model = None
    else:
        steps.demand(claim["version"] == 2, "networks have certificates of version 2")
        model = Model(file)
        for name in ("weights", "automaton"):
            steps.check(claim[name] == getattr(model, name), f"the certificate was made for another model: other {name}")
        net = Exact(model) if arithmetic == "exact" else Network(model, Arithmetic(arithmetic), claim["form"])
        steps.read()
        if brings:
            net.against(language(steps, model.letters, True))
            net.truth.characters = model.characters
    METHODS[method](net, steps, claim)
    steps.end()
    words = {"proved": "proved for words of every length", "sampled": "sampled, not proved: random words were read correctly",
             "proved up to a length": f"proved for words of up to {claim.get('length')} letters",
             "refuted": f"refuted by a {'shortest ' * claim.get('shortest', False)}word"}[kind]
    if brings and kind.startswith("proved"):
        entered = {to for row in net.truth.table for to in row}
        words += ", of those that are asked about" * any(to is None or net.truth.wanted[to] is None for to in entered)
    orders = {"any": "in any order of evaluation", "sequential": "letter after letter"}
    roundings = sum(kind == "bf16" for kind, *_ in net.lists) if operations else 0
    arithmetic += f" with {roundings} rounding{'s' * (roundings > 1)} to bf16" * (roundings > 0)
    orders["any"] += (", with sums in fp32" * (arithmetic != "fp32") + ", with functions within 2^-21") * (method == "closed regions")
    sentence = f"{words}, in {arithmetic}, {orders[order]}" + ", with dense weights" * (claim["form"] == "dense")
    if operations:
        others = ["metadata"] if "model" in file.metadata else [name for name in BOUND if name not in claim]
        sentence += ", of the listed operations on the tensors that they name"
        sentence += f" ({' and '.join(others)} {'was' if len(others) == 1 else 'were'} not compared)" * bool(others)
    if brings:
        asked = sum(x is not None for x in net.truth.wanted)
        return (f"{sentence}, held against the language in the certificate, which asks in {asked} of its "
                f"{len(net.truth.table)} states"), net.truth
    truth = Truth(model.letters, model.initial, model.table, model.table)
    truth.characters = model.characters
    truth.names = [model.output_names[i] for i in model.outputs]
    return sentence, truth


def characters_of(name):
    """What a letter's name alone says of its characters (docs/languages.md); None where Unicode's tables would have to be asked."""
    if re.fullmatch(r"\\x\{[0-9A-F]{1,6}\}", name):
        return None
    one = {"\\n": 10, "\\t": 9, "\\r": 13}.get(name, ord(name) if len(name) == 1 else None)
    return [] if one is None else [[one, one]]


def written_out(character):
    """The name of the letter that is this character alone: itself, or an escape of what does not print (docs/languages.md)."""
    if character in "\n\t\r":
        return {"\n": "\\n", "\t": "\\t", "\r": "\\r"}[character]
    prints = unicodedata.category(character) not in ("Cc", "Cf", "Co", "Cs", "Mc", "Me", "Mn", "Zl", "Zp", "Zs")
    return character if prints or character == " " else f"\\x{{{ord(character):02X}}}"


def same_letter(name, own, other, characters):
    """Whether the letter `name` of the model and `other` of a file are one: by name, or by the characters that both stand for."""
    return name == other or len(other) == 1 and written_out(other) == name or bool(own) and own == characters


def read_language(path):
    """The automaton of a JSON file: letters, initial state, table, each state's output by name."""
    with open(path, "rb") as file:
        about = parse(file.read(), path)
    valid = about["format"] == "krohn automaton" and about["version"] == 1
    letters = [x["name"] if type(x) is dict else x for x in about["alphabet"]]
    characters = [x.get("characters", []) if type(x) is dict else characters_of(x) for x in about["alphabet"]]
    states, initial, rows = about["states"], about["initial"], about["transitions"]
    if "accepting" in about:  # missing arcs lead to a sink
        outputs = ["accept" if q in about["accepting"] else "reject" for q in range(len(rows))] + ["reject"]
        table = [[len(rows) if q is None else q for q in row] for row in rows] + [[len(rows)] * len(letters)]
        valid = valid and all(is_count(q, 0, states - 1) for q in about["accepting"])
    else:
        outputs, table = [about["output_names"][i] if is_count(i) else None for i in about["outputs"]], rows
    valid = valid and is_count(states) and is_count(initial, 0, states - 1) and states == len(rows) and len(outputs) == len(table)
    valid = valid and all(len(row) == len(letters) and all(is_count(q, 0, len(table) - 1) for q in row) for row in table)
    demand(valid and all(type(x) is str for x in letters + outputs), BadInput,
           f"{path}: not a deterministic automaton as docs/languages.md describes it; `krohn convert` writes one")
    return letters, characters, initial, table, outputs


def same_language(truth, path):
    """Compares, on every pair of states that one word leads to, what is asked."""
    try:
        letters, characters, initial, table, outputs = read_language(path)
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise BadInput(f"{path}: not an automaton as docs/languages.md describes it ({type(error).__name__}: {error})") from None
    owns = [None] * len(truth.letters) if truth.characters is None else truth.characters
    by_name, number = {other: i for i, other in enumerate(letters)}, []
    for name, own in zip(truth.letters, owns):
        number.append(by_name[name] if name in by_name else next((i for i, other in enumerate(letters) if same_letter(
            name, own, other, characters[i])), None))
    demand(None not in number and len(set(number)) == len(letters) == len(by_name), BadInput,
           f"{path}: its letters are not those of the model")
    if truth.characters is not None:
        for name, own, i in zip(truth.letters, truth.characters, number):
            demand(characters[i] in (own, None), BadInput, f"{path}: its letter {name!r} stands for other characters than the model's")
    todo, known = [(truth.initial, initial, None)], {(truth.initial, initial)}
    for i, (p, q, before) in enumerate(todo):
        if truth.names[p] is not None and truth.names[p] != outputs[q]:
            word, at = [], before
            while at is not None:
                at, letter = at
                word.insert(0, truth.letters[letter])
                at = todo[at][2]
            raise Refused(f"after the word {' '.join(word)!r} the automaton of the claim answers {truth.names[p]!r}, "
                          f"{path} {outputs[q]!r}")
        for letter, j in enumerate(number):
            pair = truth.table[p][letter], table[q][j]
            if pair[0] is not None and pair not in known:
                known.add(pair)
                todo.append((*pair, (i, letter)))


def model_of(path):
    """The file of a model that is named so; of a folder of `krohn train` or a checkpoint, that of its tensors, or the shards that
    its index names as one."""
    for name in ("parameters.safetensors", "model.safetensors"):
        if os.path.isfile(os.path.join(path, name)):
            return File(os.path.join(path, name))
    index = os.path.join(path, "model.safetensors.index.json")
    if not os.path.isfile(index):
        return File(path)
    with open(index, "rb") as file:
        names = parse(file.read(), index)
    demand(type(names) is dict and type(names.get("weight_map")) is dict and names["weight_map"]
           and all(type(x) is str and x == os.path.basename(x) for x in names["weight_map"].values()), BadInput,
           f"{index}: names no shards")
    whole, *others = (File(os.path.join(path, name)) for name in sorted(set(names["weight_map"].values())))
    for other in others:
        whole.demand(not whole.tensors.keys() & other.tensors.keys(), f"a tensor that {other.path} has, too")
        whole.tensors.update(other.tensors)
    whole.left = set(whole.tensors)
    return whole


def main(arguments):
    if len(arguments) not in (2, 4) or len(arguments) == 4 and arguments[2] != "--against":
        print("usage: krohn_check.py CERTIFICATE MODEL [--against LANGUAGE.json]", file=sys.stderr)
        return 2
    try:
        with open(arguments[0], "rb") as file:
            demand(file.read(1) == b"{", BadInput, f"{arguments[0]}: not a certificate, which begins with {{; the certificate is "
                   "the first argument, the model the second")
            file.seek(0)
            sentence, truth = established(Steps(arguments[0], file), model_of(arguments[1]))
        if len(arguments) == 4:
            same_language(truth, arguments[3])
            sentence += f"; the automaton is that of {arguments[3]}" + ", where it asks" * (None in truth.names)
            sentence += ", by the names of its letters" * (truth.characters is None)
    except Refused as reason:
        print(f"not established: {reason}")
        return 1
    except BadInput as reason:
        print(f"bad input: {reason}", file=sys.stderr)
        return 2
    except (Undecided, MemoryError) as reason:
        print(f"undecided: {str(reason) or 'there is not enough memory'}")
        return 3
    except OSError as error:
        print(f"bad input: {error.filename}: {error.strerror}", file=sys.stderr)
        return 2
    except Exception as error:  # what nothing above foresaw establishes nothing
        print(f"bad input: the checker broke down ({type(error).__name__}: {error})", file=sys.stderr)
        return 2
    print(f"established: {sentence}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
