#!/usr/bin/env python3
"""A second evaluator of network files, written from docs/reference/network-file.md, in integers alone: a number is a pair (m, e), worth
m·2^e, and every rounding is a shift. It shares no code and no floating-point unit with krohn.

    tests/python/second_evaluator.py NETWORK READINGS [NETWORK READINGS …]

READINGS is what krohn computed, JSON: a list of {"arithmetic", "form", "order", "word": [letter numbers], "states": the
numbers of all layers, column after column, after 0, 1, … letters, as C's %a, "answers": the states read, null for none}.
Prints what differs and how many readings and numbers were compared; exit status 1 when anything differs."""
import functools
import json
import math
import struct
import sys

# ---- Numbers: (m, e) with m odd, or (0, 0); None is what is not finite.

ZERO = (0, 0)


def normal(m, e):
    if m == 0:
        return ZERO
    shift = (m & -m).bit_length() - 1
    return (m >> shift, e + shift)


def plus(a, b):
    if a is None or b is None:
        return None
    e = min(a[1], b[1])
    return normal((a[0] << a[1] - e) + (b[0] << b[1] - e), e)


def times(a, b):
    return None if a is None or b is None else normal(a[0] * b[0], a[1] + b[1])


def minus(a):
    return None if a is None else (-a[0], a[1])


def less(a, b):
    return plus(a, minus(b))[0] < 0


def number(value):
    """A double, exactly."""
    if not math.isfinite(value):
        return None
    m, e = math.frexp(value)
    return normal(int(math.ldexp(m, 53)), e - 53)


ONE, MINUS_ONE = (1, 0), (-1, 0)

# ---- Formats and arithmetics

FORMATS = {"fp64": (53, -1022, 1023), "fp32": (24, -126, 127), "fp16": (11, -14, 15), "bf16": (8, -126, 127)}
TF32 = (11, -126, 127)


def rounded(x, form, odd=False):
    """To nearest, ties to even. `odd`: the number is a little more, in absolute value, than x says."""
    if x is None or x[0] == 0:
        return x
    if isinstance(form, Integers):
        return form.fitted(x, odd)
    digits, least, greatest = form
    size, e = abs(x[0]), x[1]
    quantum = max(size.bit_length() + e, least + 1) - digits
    if e < quantum:
        shift = quantum - e
        kept, rest, half = size >> shift, size & (1 << shift) - 1, 1 << shift - 1
        kept += rest > half or rest == half and (odd or kept & 1)
        size, e = kept, quantum
    if size.bit_length() + e > greatest + 1:
        return None
    return normal(-size if x[0] < 0 else size, e)


class Integers:
    def __init__(self, name):
        self.bits, self.saturates = int(name.partition("-")[0][1:]), name.endswith("-saturating")
        self.least = -(1 << self.bits - 1) if name[0] == "i" else 0

    def fitted(self, x, odd):
        if odd or x[1] < 0:
            raise ValueError("no integer")
        above = (x[0] << x[1]) - self.least
        above = min(max(above, 0), (1 << self.bits) - 1) if self.saturates else above % (1 << self.bits)
        return normal(self.least + above, 0)


class Arithmetic:
    def __init__(self, name):
        base, _, how = name.partition("+") if "+" in name else name.partition("/")
        is_integer = name[0] in "ui"
        self.storage = Integers(name) if is_integer else FORMATS["fp32" if name == "tf32" else base]
        self.sums = FORMATS["fp32"] if how == "fp32" else self.storage
        self.fused, self.cuts = how == "fma" or is_integer, name == "tf32"

    def operands(self, a, b):
        return (rounded(a, TF32), rounded(b, TF32)) if self.cuts else (a, b)

    def product(self, a, b):
        return rounded(times(*self.operands(a, b)), self.sums)

    def add(self, s, t):
        return rounded(plus(s, t), self.sums)

    def add_product(self, s, a, b):
        exact = times(*self.operands(a, b))
        return rounded(plus(s, exact if self.fused else rounded(exact, self.sums)), self.sums)

    def store(self, s):
        return rounded(s, self.storage)

    def sum_of_products(self, pairs):
        pairs = iter(pairs)
        total = self.product(*next(pairs))
        for a, b in pairs:
            total = self.add_product(total, a, b)
        return total


ARITHMETICS = ["fp64", "fp32", "fp16", "bf16", "fp64+fma", "fp32+fma", "fp16+fma", "bf16+fma", "fp16/fp32", "bf16/fp32", "tf32"]

# ---- Real numbers: cosines and roots to 300 bits, far more than any format asks for

BITS = 300


def arctangent_of_inverse(d):
    power, total, k = (1 << BITS + 32) // d, 0, 1
    while power:
        total += power // k if k % 4 == 1 else -(power // k)
        power //= d * d
        k += 2
    return total


PI = 16 * arctangent_of_inverse(5) - 4 * arctangent_of_inverse(239)


@functools.lru_cache(None)
def cosine(p, q):
    """cos 2πp/q as (m, e, whether it is exact)."""
    p %= q
    g = math.gcd(p, q)
    p, q = p // g, q // g
    for exact_q, table in ((1, {0: 2}), (2, {1: -2}), (3, {1: -1, 2: -1}), (4, {1: 0, 3: 0}), (6, {1: 1, 5: 1})):
        if q == exact_q and p in table:
            return normal(table[p], -1) + (True,)
    angle, one = 2 * PI * p // q, 1 << BITS + 32
    square = angle * angle >> BITS + 32
    term = total = one
    n = 1
    while term:
        term = -(term * square >> BITS + 32) // (n * (n + 1))
        total += term
        n += 2
    return normal(total >> 32, -BITS) + (False,)


def sine(p, q):
    return cosine(4 * p - q, 4 * q)


def key(p, q, value):
    """√(p/q)·value."""
    square = p * value * value
    m = math.isqrt((square << 2 * BITS) // q)
    exact = m * m * q == square << 2 * BITS
    return normal(-m if value < 0 else m, -BITS) + (exact,)


def weight(real, form):
    return rounded(real[:2], form, odd=len(real) == 3 and not real[2])


# ---- Files

SIZES = {"F32": "f", "F64": "d", "U8": "B", "I8": "b", "U32": "I", "I32": "i", "U64": "Q", "I64": "q"}


def read_file(path):
    with open(path, "rb") as file:
        data = file.read()
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + length])
    metadata = header.pop("__metadata__")
    tensors = {}
    for name, entry in header.items():
        code = SIZES[entry["dtype"]]
        begin, end = entry["data_offsets"]
        count = (end - begin) // struct.calcsize("<" + code)
        tensors[name] = (entry["shape"], struct.unpack_from(f"<{count}{code}", data, 8 + length + begin))
    return metadata, tensors


def cut(values, offsets):
    return [values[a:b] for a, b in zip(offsets, offsets[1:])]


# ---- Matrices: each form gives what it does to a column, weights rounded to one format


class Gather:
    def __init__(self, images):
        self.sources = [[] for _ in images]
        for j, i in enumerate(images):
            self.sources[i].append(j)

    def apply(self, a, x):
        return [functools.reduce(a.add, [x[j] for j in js]) if js else ZERO for js in self.sources]

    def blocks(self, n):
        return [n]


class Signed:
    def __init__(self, images, signs):
        self.source = {i: (j, signs[j]) for j, i in enumerate(images)}

    def apply(self, a, x):
        picked = (self.source[i] for i in range(len(x)))
        return [x[j] if sign > 0 else minus(x[j]) for j, sign in picked]

    def blocks(self, n):
        return [n]


class Reflections:
    def __init__(self, factors):
        self.factors = factors  # ([(position, key)], β)

    def apply(self, a, x):
        y = list(x)
        for entries, beta in self.factors:
            t = a.product(beta, a.sum_of_products((k, y[j]) for j, k in entries))
            for j, k in entries:
                y[j] = a.add_product(y[j], minus(k), t)
        return y

    def blocks(self, n):
        return [n]


class Rotation:
    def __init__(self, turns):
        self.turns = turns  # a sign, or (cosine, sine)

    def apply(self, a, x):
        y, at = [], 0
        for turn in self.turns:
            if isinstance(turn, int):
                y.append(x[at] if turn > 0 else minus(x[at]))
                at += 1
                continue
            (c, s), u, v = turn, x[at], x[at + 1]
            y += [a.sum_of_products([(c, u), (minus(s), v)]), a.sum_of_products([(s, u), (c, v)])]
            at += 2
        return y

    def blocks(self, n):
        return [1 if isinstance(turn, int) else 2 for turn in self.turns]


class Diagonal:
    def __init__(self, values):
        self.values = values

    def apply(self, a, x):
        return [a.product(value, h) for value, h in zip(self.values, x)]

    def blocks(self, n):
        return [1] * n


class Zero:
    def apply(self, a, x):
        return [ZERO] * len(x)

    def blocks(self, n):
        return [1] * n


class Blocks:
    def __init__(self, blocks):
        self.rows = blocks  # of rows

    def apply(self, a, x):
        y, at = [], 0
        for block in self.rows:
            y += [a.sum_of_products(zip(row, x[at : at + len(row)])) for row in block]
            at += len(block)
        return y

    def blocks(self, n):
        return [len(block) for block in self.rows]


class Factored:
    def __init__(self, terms):
        self.terms = terms  # (outputs, inputs)

    def apply(self, a, x):
        y = [ZERO] * len(x)
        for outputs, inputs in self.terms:
            if not inputs:
                continue
            s = functools.reduce(a.add, [x[j] for j in inputs])
            for i in outputs:
                y[i] = a.add(y[i], s)
        return y

    def blocks(self, n):
        return [n]


class Layer:
    def __init__(self, tensors, k, description):
        self.tensors, self.prefix = tensors, f"layers.{k}."
        self.n, self.d = description["dimension"], description["columns"]
        self.labels, self.initial_label = description["labels"], description["initial_label"]
        self.copies, self.forms = description["unit_copies"], description["forms"]
        self.action_of, self.next = self.get("action_of"), self.get("next")
        self.book_of_context = self.get("book_of_context")
        self.form = self.get("form")
        numbers = self.get("codewords") or ()
        size = self.n * self.d
        self.codewords = [self.by_columns(numbers[i : i + size]) for i in range(0, len(numbers), size)]
        self.label_of, self.book = self.get("codewords.label"), self.get("codewords.book")
        if self.copies:
            self.codewords = [
                [ONE if i % self.labels == label else ZERO for i in range(size)] for label in range(self.labels)
            ]
        self.initial = self.by_columns(self.get("H0"))

    def get(self, name):
        found = self.tensors.get(self.prefix + name)
        return None if found is None else found[1]

    def structured(self, name):
        return self.get("structured." + name)

    def lists(self, name):
        return cut(self.structured(name), self.structured(name + ".offsets"))

    def by_columns(self, rows):
        return [number(rows[i * self.d + j]) for j in range(self.d) for i in range(self.n)]

    def addition(self, action, form):
        given = self.get("B.given")
        if given is None or not given[action]:
            return None
        size = self.n * self.d
        return [rounded(x, form) for x in self.by_columns(self.get("B")[action * size : (action + 1) * size])]

    def dense(self, action, form):
        size, n = self.n * self.n, self.n
        entries = [rounded(number(x), form) for x in self.get("A")[action * size : (action + 1) * size]]
        return Blocks([[entries[i * n : (i + 1) * n] for i in range(n)]])

    def matrix(self, action, form):
        """The action's structured form; matrices of one form are numbered in the order of their actions."""
        name = self.forms[self.form[action]]
        at, n = sum(self.forms[f] == name for f in self.form[:action]), self.n
        row = slice(at * n, (at + 1) * n)
        real = lambda values: [rounded(number(value), form) for value in values]
        if name == "map":
            return Gather(self.structured("map")[row])
        if name == "signed-permutation":
            return Signed(self.structured("signed.map")[row], self.structured("signed.sign")[row])
        if name == "diagonal":
            return Diagonal(real(self.structured("diagonal")[row]))
        if name == "zero":
            return Zero()
        if name == "dense":
            entries = real(self.structured("dense")[at * n * n : (at + 1) * n * n])
            return Blocks([[entries[i * n : (i + 1) * n] for i in range(n)]])
        if name == "rotation":
            turns = []
            begin, end = self.structured("rotation.offsets")[at : at + 2]
            for b in range(begin, end):
                p, q = self.structured("rotation.turn")[2 * b : 2 * b + 2]
                if self.structured("rotation.is_sign")[b]:
                    turns.append(1 if p % q == 0 else -1)
                else:
                    turns.append((weight(cosine(p, q), form), weight(sine(p, q), form)))
            return Rotation(turns)
        if name == "reflections":
            return self.reflections(at, form)
        if name == "block-diagonal":
            blocks, values = [], iter(real(self.structured("blocks.values")))
            for index, sizes in enumerate(self.lists("blocks.size")):
                matrix = [[[next(values) for _ in range(size)] for _ in range(size)] for size in sizes]
                blocks.append(matrix)
            return Blocks(blocks[at])
        if name == "factored":
            begin, end = self.structured("factored.offsets")[at : at + 2]
            outputs, inputs = self.lists("factored.output"), self.lists("factored.input")
            return Factored([(outputs[begin + r], inputs[begin + r]) for r in self.lists("factored.gate")[at]])
        raise ValueError(name)

    def reflections(self, at, form):
        begin, end = self.structured("reflections.offsets")[at : at + 2]
        positions = cut(self.structured("reflections.position"), self.structured("reflections.position.offsets"))
        values = cut(self.structured("reflections.value"), self.structured("reflections.position.offsets"))
        factors = []
        for f in range(begin, end):
            beta = rounded(number(self.structured("reflections.beta")[f]), form)
            p, q = self.structured("reflections.scale_squared")[2 * f : 2 * f + 2]
            entries = [(j, weight(key(p, q, value), form)) for j, value in zip(positions[f], values[f])]
            if not entries:
                p, q = self.structured("reflections.angle")[2 * f : 2 * f + 2]
                plane = self.structured("reflections.plane")[f]
                entries = [(plane, weight(cosine(p, q), form)), (plane + 1, weight(sine(p, q), form))]
            factors.append((entries, beta))
        return Reflections(factors)

    def nearest(self, state, book):
        """The number of the nearest codeword, in fp64; None for a tie or when nothing is finite."""
        form, best, least = FORMATS["fp64"], None, None
        if None in state:
            return None
        for i, codeword in enumerate(self.codewords):
            if self.book is not None and self.book[i] != book:
                continue
            square = ZERO
            for h, c in zip(state, codeword):
                difference = rounded(plus(h, minus(c)), form)
                square = rounded(plus(square, rounded(times(difference, difference), form)), form)
            if square is None:
                continue
            if least is None or less(square, least):
                best, least = i, square
            elif square == least:
                best = None
        return best

    def label(self, codeword):
        return None if codeword is None else codeword if self.label_of is None else self.label_of[codeword]


# ---- Orders. A run is told the actions of a layer one after another and gives the state after each.


class Sequential:
    def __init__(self, layer, a, dense):
        self.layer, self.a, self.h = layer, a, [rounded(x, a.storage) for x in layer.initial]
        actions = range(len(layer.form))
        self.matrices = [(layer.dense if dense else layer.matrix)(i, a.storage) for i in actions]
        self.additions = [layer.addition(i, a.storage) for i in actions]

    def read(self, action):
        n, b = self.layer.n, self.additions[action]
        y = [v for c in range(0, len(self.h), n) for v in self.matrices[action].apply(self.a, self.h[c : c + n])]
        if b is not None:
            y = [self.a.add(v, w) for v, w in zip(y, b)]
        self.h = [self.a.store(v) for v in y]
        return self.h

    def snap(self, codeword):
        self.h = [rounded(c, self.a.storage) for c in self.layer.codewords[codeword]]


class Maps:
    """The letters of a layer as dense maps that compose."""

    def __init__(self, layer, a, dense):
        self.layer, self.a, n = layer, a, layer.n
        matrices = [(layer.dense if dense else layer.matrix)(i, a.storage) for i in range(len(layer.form))]
        unit = lambda j: [ONE if i == j else ZERO for i in range(n)]
        columns = [[[a.store(v) for v in m.apply(a, unit(j))] for j in range(n)] for m in matrices]
        if dense:
            columns = [[[row[j] for row in m.rows[0]] for j in range(n)] for m in matrices]
        additions = [layer.addition(i, a.storage) for i in range(len(layer.form))]
        self.adds = any(b is not None for b in additions)
        additions = [b if b is not None else [ZERO] * (n * layer.d) for b in additions] if self.adds else [None] * len(additions)
        is_target = lambda c: [v for v in c if v != ZERO] in ([], [ONE], [MINUS_ONE])
        self.moves = not dense and all(is_target(c) for m in columns for c in m)
        ends = set(range(1, n + 1))
        for m in matrices:
            at, own = 0, {0}
            for size in [n] if dense else m.blocks(n):
                at += size
                own.add(at)
            ends &= own
        starts = [0] + sorted(ends)
        self.block = {i: range(s, e) for s, e in zip(starts, starts[1:]) for i in range(s, e)}
        # A map is its rows and B.
        self.letters = [([[c[i] for c in m] for i in range(n)], b) for m, b in zip(columns, additions)]

    def row_times(self, row, x, i):
        if not self.moves:
            return self.a.sum_of_products((row[j], x[j]) for j in self.block[i])
        total = ZERO
        for sign, h in zip(row, x):
            if sign != ZERO:
                total = self.a.add(total, h if sign == ONE else minus(h))
        return total

    def apply(self, map_, h):
        rows, b = map_
        n, y = self.layer.n, []
        for c in range(0, len(h), n):
            for i, row in enumerate(rows):
                s = self.row_times(row, h[c : c + n], i)
                y.append(self.a.store(s if b is None else self.a.add(s, b[c + i])))
        return y

    def after(self, second, first):
        rows, _ = second
        n = self.layer.n
        product = [[ZERO] * n for _ in range(n)]
        for i in range(n):
            for j in range(n) if self.moves else self.block[i]:
                column = [row[j] for row in first[0]]
                product[i][j] = self.a.store(self.row_times(rows[i], column, i))
        return product, None if first[1] is None else self.apply(second, first[1])


class Composed(Maps):
    """chunked:C, scan, doubling: H_t from the letters of the block so far, by the definition, each total made once."""

    def __init__(self, layer, a, dense, kind, block):
        super().__init__(layer, a, dense)
        self.kind, self.size = kind, block
        self.start = [rounded(x, a.storage) for x in layer.initial]
        self.begin()

    def begin(self):
        self.word, self.totals, self.states = [], {}, [self.start]

    def total(self, first, count):
        """The total of `count` letters, a power of two."""
        if (first, count) not in self.totals:
            half = count // 2
            made = self.word[first] if count == 1 else self.after(self.total(first + half, half), self.total(first, half))
            self.totals[first, count] = made
        return self.totals[first, count]

    def read(self, action):
        if self.size and len(self.word) == self.size:
            self.start = self.states[-1]
            self.begin()
        self.word.append(self.letters[action])
        t = len(self.word)
        if self.kind == "chunked":
            self.prefix = self.word[0] if t == 1 else self.after(self.word[-1], self.prefix)
            h = self.apply(self.prefix, self.start)
        elif self.kind == "scan":
            low = t & -t
            h = self.apply(self.total(t - low, low), self.states[t - low])
        else:  # letter t is at position t, H before the block at position 0; totals end before letter t
            map_, end, rest = self.word[-1], t - 1, t - (1 << t.bit_length() - 1)
            while rest:
                low = rest & -rest
                map_ = self.after(map_, self.total(end - low, low))
                end, rest = end - low, rest - low
            h = self.apply(map_, self.states[end])
        self.states.append(h)
        return h


class Chunk:
    """The UT form: I − β k kᵀ for the factors of all letters of a chunk, and H before it."""

    def __init__(self, layer, a, size):
        self.layer, self.a, self.size = layer, a, size
        self.solver = a if a.sums == a.storage else Arithmetic("fp32")
        self.factors = []
        for action in range(len(layer.form)):
            dense = []
            for entries, beta in layer.matrix(action, a.storage).factors:
                k = [ZERO] * layer.n
                for j, value in entries:
                    k[j] = value
                dense.append((k, [a.store(a.product(beta, v)) for v in k]))
            self.factors.append(dense)
        self.h = [rounded(x, a.storage) for x in layer.initial]
        self.begin()

    def begin(self):
        self.start, self.letters, self.keys, self.scaled, self.solved = self.h, 0, [], [], []
        self.sums = None

    def add_factor(self, k, scaled):
        a, r, n = self.a, len(self.keys), self.layer.n
        row = [minus(a.sum_of_products(zip(scaled, other))) for other in self.keys]
        solved = list(row)
        for j in range(r - 1):
            pairs = ((row[l], self.solved[l][j]) for l in range(j + 1, r))
            solved[j] = a.add(row[j], self.solver.sum_of_products(pairs))
        self.keys.append(k)
        self.scaled.append(scaled)
        self.solved.append(solved)
        t = [a.store(v) for v in solved] + [ONE]
        w = [a.store(a.sum_of_products(zip(t, (s[i] for s in self.scaled)))) for i in range(n)]
        columns = range(0, len(self.start), n)
        u = [minus(a.store(a.sum_of_products(zip(w, self.start[c : c + n])))) for c in columns]
        if self.sums is None:
            self.sums = [a.product(v, x) for x in u for v in k]
        else:
            self.sums = [a.add_product(s, v, x) for s, (x, v) in zip(self.sums, ((x, v) for x in u for v in k))]

    def read(self, action):
        if self.letters == self.size:
            self.begin()
        self.letters += 1
        for k, scaled in self.factors[action]:
            self.add_factor(k, scaled)
        self.h = self.start
        if self.sums is not None:
            self.h = [self.a.store(self.a.add(h, s)) for h, s in zip(self.start, self.sums)]
        return self.h


def make_run(layer, a, dense, order):
    kind, _, size = order.partition(":")
    if kind == "sequential":
        return Sequential(layer, a, dense)
    if kind == "chunked" and not dense and layer.get("B.given") is None and set(layer.forms) == {"reflections"}:
        return Chunk(layer, a, int(size))
    return Composed(layer, a, dense, kind, int(size or 0))


NO_WAY = 0xFFFFFFFF


class Evaluator:
    def __init__(self, path):
        metadata, tensors = read_file(path)
        self.layers = [Layer(tensors, k, d) for k, d in enumerate(json.loads(metadata["layers"]))]
        self.readout = [tensors[f"readout.{k}"] for k in range(len(self.layers))]
        self.snap_every = int(metadata.get("snap_every", 0))

    def answer(self, labels):
        node = 0
        for (shape, table), label in zip(self.readout, labels):
            if label is None:
                return None
            node = table[node * shape[1] + label]
            if node == NO_WAY:
                return None
        return node

    def readings(self, arithmetic, form, order, word):
        """(numbers, answer) after 0, 1, … letters."""
        a = Arithmetic(arithmetic)
        runs = [make_run(layer, a, form == "dense", order) for layer in self.layers]
        labels = [layer.initial_label for layer in self.layers]
        states = [[rounded(x, a.storage) for x in layer.initial] for layer in self.layers]
        stuck = len(runs)  # layers from here on have lost their word, in the orders that compose
        yield sum(states, []), self.answer(labels)
        for t, letter in enumerate(word, 1):
            context, nearest = letter, [None] * len(runs)
            for k, (layer, run) in enumerate(zip(self.layers, runs)):
                before, labels[k] = labels[k], None
                if context is None or k >= stuck:
                    if order != "sequential":
                        stuck = min(stuck, k)
                    context = None
                    continue
                states[k] = run.read(layer.action_of[context])
                nearest[k] = layer.nearest(states[k], layer.book_of_context[context] if layer.book_of_context else 0)
                labels[k] = layer.label(nearest[k])
                if k + 1 < len(runs):
                    context = None if before is None else layer.next[context * layer.labels + before]
                    context = None if context == NO_WAY else context
            answer = self.answer(labels)
            if self.snap_every and t % self.snap_every == 0:
                for k, run in enumerate(runs):
                    if nearest[k] is not None:
                        run.snap(nearest[k])
                        states[k] = run.h
            yield sum(states, []), answer


def compare(path, readings):
    """Differences, readings compared, numbers compared."""
    evaluator, differences, numbers = Evaluator(path), 0, 0
    for reading in readings:
        where = f"{path}, {reading['arithmetic']}, {reading['form']} weights, {reading['order']}"
        ours = list(evaluator.readings(reading["arithmetic"], reading["form"], reading["order"], reading["word"]))
        theirs = [([number(float.fromhex(x)) for x in state], answer) for state, answer in
                  zip(reading["states"], reading["answers"])]
        numbers += sum(len(state) for state, _ in theirs)
        if ours == theirs:
            continue
        differences += 1
        first = next((t for t, pair in enumerate(zip(ours, theirs)) if pair[0] != pair[1]), min(len(ours), len(theirs)))
        print(f"{where}, after {first} letters: {ours[first:first + 1]}, and krohn says {theirs[first:first + 1]}")
    return differences, len(readings), numbers


def main():
    differences, count, numbers = 0, 0, 0
    for path, readings in zip(sys.argv[1::2], sys.argv[2::2]):
        with open(readings, encoding="utf-8") as file:
            differences, count, numbers = map(sum, zip((differences, count, numbers), compare(path, json.load(file))))
    print(f"{count} readings, {numbers} numbers, {differences} differences")
    return 1 if differences or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
