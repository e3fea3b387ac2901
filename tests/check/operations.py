"""Models as operations, and languages in certificates: small ones by hand, with certificates of each method; and an evaluator in
floats that shares nothing with krohn_check.py. Nothing here is trusted."""
import io
import json
import math
import struct

import certificates
import models
from certificates import check

NEVER = 2**32 - 4


def single(x):
    """To fp32. Sums, products, quotients and roots of fp32 numbers in double, then rounded once more, are rounded once in effect."""
    try:
        return struct.unpack("<f", struct.pack("<f", x))[0]
    except OverflowError:
        return math.inf


def bfloat(x):
    bits = struct.unpack("<I", struct.pack("<f", x))[0]
    return struct.unpack("<f", struct.pack("<I", (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000))[0]


def half(x):
    try:
        return struct.unpack("<e", struct.pack("<e", x))[0]
    except OverflowError:
        return math.inf


def hexadecimal(numbers, width=32):
    return "".join(struct.pack({32: ">f", 64: ">d"}[width], x).hex() for x in numbers)


# ---- the evaluator


class Evaluator:
    """The operations of a certificate, on tensors (name ↦ numbers)."""

    def __init__(self, lines, tensors):
        self.claim = lines[0]
        self.round = float if self.claim["arithmetic"] == "fp64" else single
        self.coarse = {"bf16": bfloat, "fp16": half}.get(self.claim["arithmetic"], float)  # of a claim about closed regions
        steps = lines[1:]
        end = next(i for i, s in enumerate(steps) if s["step"] == "answer by")
        self.head, self.steps, self.end, self.language = steps[0], steps[1:end], steps[end], steps[end + 1]
        self.tensors, self.width = tensors, 64 if self.claim["arithmetic"] == "fp64" else 32
        self.read = {}  # what `token` returned, by the bits of the memory (0 is not −0) and the token

    def lists(self, token, memory):
        made = []
        for s in self.steps:
            kind = s["step"]
            if kind == "tensor":
                made.append([self.coarse(self.round(x)) for x in self.tensors[s["name"]]])
            elif kind == "numbers":
                size = self.width // 8
                data = bytes.fromhex(s["bits"])
                made.append([self.coarse(struct.unpack({4: ">f", 8: ">d"}[size], data[i:i + size])[0])
                             for i in range(0, len(data), size)] * s["times"])
            elif kind == "memory":
                made.append(memory)
            elif kind == "row":
                made.append(made[s["of"]][token * s["size"]:(token + 1) * s["size"]])
            else:
                made.append([self.coarse(self.number(kind, s, made, place)) for place in self.places(s["shape"])])
        return made

    def places(self, shape):
        return [()] if not shape else [(i, *rest) for i in range(shape[0]) for rest in self.places(shape[1:])]

    def number(self, kind, s, made, place):
        def operand(view, t=None):
            at = place if t is None else (*place, t)
            return made[view[0]][view[1] + sum(x * y for x, y in zip(at, view[2:]))]
        o, views = self.round, s["of"]
        if kind == "dot":
            total = operand(views[2]) if len(views) > 2 else 0.0
            for t in range(s["terms"]):
                total = o(total + o(operand(views[0], t) * operand(views[1], t)))
            return total
        if kind == "norm":
            p, = struct.unpack(">d", bytes.fromhex(s["exponent"]))
            return o(sum(abs(operand(views[0], t))**p for t in range(s["terms"]))**(1 / p))
        a, b = operand(views[0]), operand(views[-1])
        if kind.startswith("sigmoid"):
            e = math.exp(-b) if -b < 709 else math.inf
            return o(a / o(1 + o(e)))
        return {"copy": lambda: a, "add": lambda: o(a + b), "subtract": lambda: o(a - b), "multiply": lambda: o(a * b),
                "divide": lambda: o(a / b), "greater": lambda: max(a, b), "root": lambda: o(math.sqrt(a)),
                "bf16": lambda: bfloat(a), "tanh": lambda: o(math.tanh(a)), "logistic": lambda: o(1 / (1 + math.exp(-a))),
                "softplus64": lambda: a if a > 20 else o(math.log1p(math.exp(a))), "cosine": lambda: o(math.cos(a)),
                "log sigmoid": lambda: o(min(a, 0) - math.log1p(math.exp(-abs(a)))), "sine": lambda: o(math.sin(a))}[kind]()

    def token(self, memory, token):
        key = struct.pack(f"{len(memory)}d", *memory), token
        if key not in self.read:
            made = self.lists(token, memory)
            logits = made[self.end["logits"]]
            best = max(range(len(logits)), key=lambda i: logits[i])
            self.read[key] = [x for i in self.end["keep"] for x in made[i]], best if logits.count(logits[best]) == 1 else None
        return self.read[key]

    def answers(self, word):
        """(state, answer) after 0, 1, … letters, as far as letters can stand."""
        made = self.lists(0, [1.0] * 10**4)  # of `start` alone, which does not depend on it
        memory, said, state = [x for i in self.end["start"] for x in made[i]], None, 0

        def answer():
            own, last = memory, said
            for token in self.head["after"]:
                own, last = self.token(own, token)
            return last
        for token in self.head["before"]:
            memory, said = self.token(memory, token)
        result = [(state, answer())]
        for letter in word:
            state = self.language["table"][state][letter]
            if state == models.NOWHERE:
                break
            memory, said = self.token(memory, self.head["tokens"][letter])
            result.append((state, answer()))
        return result

    def first_wrong(self, word):
        """After how many letters the answer is wrong; None where it never is."""
        for t, (state, said) in enumerate(self.answers(word)):
            wanted = self.language["logits"][state]
            if wanted is not None and said != wanted:
                return t
        return None


def numbers_of(data):
    """Name ↦ numbers of a safetensors file."""
    size = int.from_bytes(data[:8], "little")
    tensors = {}
    for name, about in json.loads(data[8:8 + size]).items():
        if name != "__metadata__":
            begin, end = about["data_offsets"]
            kind, part = about["dtype"], data[8 + size + begin:8 + size + end]
            if kind == "BF16":
                tensors[name] = [struct.unpack("<f", b"\0\0" + part[i:i + 2])[0] for i in range(0, len(part), 2)]
            else:
                tensors[name] = list(struct.unpack({"F32": "<%df" % (len(part) // 4), "F64": "<%dd" % (len(part) // 8)}[kind], part))
    return tensors


# ---- models


class Described:
    """A model by hand: its file, and the steps that say what is computed."""

    def __init__(self, tensors, steps, language):
        self.data = models.written({}, {name: models.real(values, *shape) for name, (shape, values) in tensors.items()})
        self.steps, self.language = steps, language

    def certificate(self, folder, steps_of, arithmetic="fp32", **claim):
        """`steps_of` makes the steps of the method from what the checker evaluates."""
        path = folder / "described.safetensors"
        path.write_bytes(self.data)
        file = check.File(str(path))
        own = [*self.steps, self.language]
        steps = check.Steps("described", io.BytesIO("".join(json.dumps(s) + "\n" for s in [{}, *own, {"step": "end"}]).encode()))
        steps.read()
        net = check.Operations(file, arithmetic, steps)
        net.against(check.language(steps, None, False))
        named = [(name, *file.tensors[name]) for name in sorted(set(net.names))]
        version = 3 if any(s["step"] in check.NEWER for s in self.steps) else 2
        first = {"format": "krohn.certificate", "version": version, "weights": file.hashed(named, []), "arithmetic": arithmetic,
                 "form": "operations", "order": "sequential", "against": "language", **claim}
        lines = [first, *own, *steps_of(net)]
        return "".join(json.dumps(line) + "\n" for line in [*lines, {"step": "end", "lines": len(lines)}])


def answer_of(net, letters, shortest):
    truth, memory, state = net.truth, net.start, 0
    for letter in letters:
        state, memory = truth.table[state][letter], net.step(memory, letter)[0]
    word = [{"step": "word", "letters": [truth.letters[x] for x in letters], "times": 1}] if letters else []
    answer = {"step": "answer", "expected": state, "given": net.answer(net.read(memory))}
    return [*word, answer, *(certificates.pair_steps(net, len(letters) - 1) if shortest and letters else [])]


def parity(grow=1.0, bits=32, fields=None, newer=False):
    """h ← A(letter) h from (1, 0), letter 1 exchanges the two numbers; logits are h, passed through every function: (h / √(h·h))
    · sigmoid(1, h) rounded to bf16, and so on. With `grow` the numbers of letter 1 are multiplied by that; `newer`: then through the
    functions that version 3 has, all of them growing where they are passed."""
    tensors = {"a": ([2, 2, 2], [1, 0, 0, 1, 0, grow, grow, 0]), "bias": ([2], [0, 0])}
    one, zero = hexadecimal([1], bits), hexadecimal([0], bits)
    steps = [{"step": "operations", "tokens": [0, 1], "before": [0], "after": []},
             {"step": "tensor", "name": "a"}, {"step": "memory", "size": 2}, {"step": "row", "of": 0, "size": 4},
             {"step": "dot", "shape": [2], "terms": 2, "of": [[2, 0, 2, 1], [1, 0, 0, 1]]},       # 3: A h
             {"step": "numbers", "bits": one, "times": 1}, {"step": "numbers", "bits": one + zero, "times": 1},  # 4, 5
             {"step": "dot", "shape": [], "terms": 2, "of": [[3, 0, 1], [3, 0, 1]]}, {"step": "root", "shape": [], "of": [[6, 0]]},
             {"step": "divide", "shape": [2], "of": [[3, 0, 1], [7, 0, 0]]},                     # 8: of norm 1
             {"step": "sigmoid", "shape": [2], "of": [[4, 0, 0], [8, 0, 1]]},
             {"step": "sigmoid32", "shape": [2], "of": [[4, 0, 0], [8, 0, 1]]},
             {"step": "add", "shape": [2], "of": [[9, 0, 1], [10, 0, 1]]}, {"step": "bf16", "shape": [2], "of": [[11, 0, 1]]},
             {"step": "multiply", "shape": [2], "of": [[12, 0, 1], [8, 0, 1]]},
             {"step": "tensor", "name": "bias"}, {"step": "subtract", "shape": [2], "of": [[13, 0, 1], [14, 0, 1]]},
             {"step": "greater", "shape": [2], "of": [[15, 0, 1], [14, 0, 0]]},
             {"step": "tanh", "shape": [2], "of": [[16, 0, 1]]}, {"step": "logistic", "shape": [2], "of": [[17, 0, 1]]},
             {"step": "copy", "shape": [2], "of": [[18, 0, 1]]},
             *([{"step": kind, "shape": [2], "of": [[19 + i, 0, 1]]}
                for i, kind in enumerate(["softplus64", "log sigmoid", "cosine", "sine"])] if newer else []),
             *([{"step": "norm", "shape": [2], "terms": 1, "exponent": "3ff3333333333333", "of": [[23, 0, 1, 1]]}] if newer else []),
             {"step": "answer by", "start": [5], "keep": [3], "logits": 24 if newer else 19}]
    language = {"step": "language", "letters": ["0", "1"], "table": [[0, 1], [1, 0]], "outputs": ["even", "odd"], "logits": [0, 1],
                **(fields or {})}
    return Described(tensors, steps, language)


def counter(limit, past):
    """h ← h + 1 from 0; answers 0 while limit − h, or past − h, is the greater of two numbers: its logits are h and the constant
    `past`. The language counts to `limit`, where it stops: no letter can stand."""
    tensors = {"past": ([1], [past])}
    steps = [{"step": "operations", "tokens": [0], "before": [], "after": []},
             {"step": "tensor", "name": "past"}, {"step": "memory", "size": 1}, {"step": "numbers", "bits": "3f800000", "times": 1},
             {"step": "add", "shape": [1], "of": [[1, 0, 1], [2, 0, 1]]}, {"step": "numbers", "bits": "00000000", "times": 1},
             {"step": "numbers", "bits": "3f80000000000000", "times": 1},
             {"step": "dot", "shape": [2], "terms": 1, "of": [[5, 0, 1, 0], [3, 0, 0, 0]]},
             {"step": "numbers", "bits": "000000003f800000", "times": 1},
             {"step": "dot", "shape": [2], "terms": 1, "of": [[7, 0, 1, 0], [0, 0, 0, 0], [6, 0, 1]]},
             {"step": "answer by", "start": [4], "keep": [3], "logits": 8}]
    table = [[i + 1] for i in range(limit)] + [[models.NOWHERE]]
    language = {"step": "language", "letters": ["a"], "table": table, "outputs": [None] + ["below"] * limit,
                "logits": [None] + [1] * limit}
    return Described(tensors, steps, language)


ON, OFF = (0.7, 1.001), (-1.001, -0.7)


def flip_flop(off=OFF, on=ON, letters=1, start=0, functions=False, weights=(16.0, -16.0, 0.0), fields=None):
    """A gated unit that letters set, reset and keep: n = tanh(8 h + w), z = 1/(1 + e^2), h ← (h − n) z + n; the logits are −x and x,
    x being h; with `functions`, a number that grows or falls with it, from its middle. The certificate has a region for either state."""
    tensors = {"w": ([3], weights)}
    steps = [{"step": "operations", "tokens": [0, 1, 2], "before": [1], "after": []},
             {"step": "tensor", "name": "w"}, {"step": "memory", "size": 1}, {"step": "row", "of": 0, "size": 1},
             {"step": "numbers", "bits": hexadecimal([8, -1, -2, 1]), "times": 1},
             {"step": "dot", "shape": [1], "terms": 1, "of": [[3, 0, 0, 1], [1, 0, 1, 1], [2, 0, 1]]},   # 4: 8 h + w
             {"step": "tanh", "shape": [1], "of": [[4, 0, 1]]},
             {"step": "logistic", "shape": [1], "of": [[3, 2, 0]]},                                         # 6: z
             {"step": "subtract", "shape": [1], "of": [[1, 0, 1], [5, 0, 1]]},
             {"step": "multiply", "shape": [1], "of": [[7, 0, 1], [6, 0, 1]]},
             {"step": "add", "shape": [1], "of": [[8, 0, 1], [5, 0, 1]]},                                    # 9: h
             {"step": "numbers", "bits": hexadecimal([-1]), "times": 1}]
    x, middle = 9, 0.0
    if functions:
        one = [3, 3, 0]
        steps += [{"step": "multiply", "shape": [1], "of": [[9, 0, 1], [9, 0, 1]]}, {"step": "add", "shape": [1], "of": [[11, 0, 1], one]},
                  {"step": "root", "shape": [1], "of": [[12, 0, 1]]}, {"step": "divide", "shape": [1], "of": [[9, 0, 1], [13, 0, 1]]},
                  *({"step": kind, "shape": [1], "of": [[14 + i, 0, 1]]} for i, kind in enumerate(("softplus64", "log sigmoid", "copy"))),
                  {"step": "sigmoid", "shape": [1], "of": [one, [17, 0, 1]]}, {"step": "greater", "shape": [1], "of": [[18, 0, 1], [10, 0, 1]]}]
        x, middle = 19, 0.395
    last = len(steps) - 1
    steps += [{"step": "numbers", "bits": hexadecimal([-1, 1, 2 * middle, 0]), "times": 1},
              {"step": "dot", "shape": [2], "terms": 1, "of": [[last, 0, 1, 1], [x, 0, 0, 1], [last, 2, 1]]},
              {"step": "answer by", "start": [10], "keep": [9], "logits": last + 1}]
    language = {"step": "language", "letters": ["set", "reset", "keep"], "table": [[1, 0, 0], [1, 0, 1]], "outputs": ["off", "on"],
                "logits": [0, 1], **(fields or {})}
    described = Described(tensors, steps, language)
    described.regions = [{"step": "regions", "start": start, "letters": letters},
                         *({"step": "region", "state": state, "lower": hexadecimal([ends[0]]), "upper": hexadecimal([ends[1]])}
                           for state, ends in ((0, off), (1, on)))]
    return described


def closed_regions(described, folder, arithmetic="fp32"):
    """All numbers are of fp32; the claim is of runtimes that may round to `arithmetic`."""
    return described.certificate(folder, lambda net: described.regions, claim="proved", method="closed regions", order="any",
                                 version=4).replace('"fp32"', f'"{arithmetic}"', 1)


def of_network(model, language, steps_of, arithmetic="fp32", **claim):
    """A certificate of a network that is held against a language of its own. `language`: table and outputs by name."""
    net = check.Network(model, check.Arithmetic(arithmetic), "structured")
    step = {"step": "language", "letters": model.letters, **language}
    truth = check.Truth(model.letters, 0, [[None if q == models.NOWHERE else q for q in row] for row in step["table"]],
                        step["outputs"])
    net.against(truth)
    return certificates.written(model, {"arithmetic": arithmetic, "against": "language", **claim}, [step, *steps_of(net)])


def coarse_parity():
    """A network that counts modulo 2 with one sign, whose own automaton says that every word is even; and the language that it
    really has."""
    layer = models.layer(1, 1, [[[1]], [[-1]]], "signed-permutation", {
        "structured.signed.map": ("U32", [2, 1], [0, 0]), "structured.signed.sign": ("I8", [2, 1], [1, -1])}, [0, 1])
    data = models.network(["0", "1"], [[0, 0], [1, 1]], [layer], [[[0, 1]]], names=["even", "odd"])
    return data, {"table": [[0, 1], [1, 0]], "outputs": ["even", "odd"]}


def subjects(folder):
    """(name, model, certificate), all established."""
    data, right = coarse_parity()
    path = folder / "coarse.safetensors"
    path.write_bytes(data)
    model = check.Model(str(path))
    yield "a network, proved", data, of_network(model, right, certificates.pair_steps, claim="proved", method="closed reachable set")
    yield "a network, up to 3", data, of_network(model, right, lambda net: certificates.pair_steps(net, 3), "bf16",
                                                 claim="proved up to a length", length=3, method="closed reachable set")
    modulo_3 = {"table": [[0, 1], [1, 2], [2, 0]], "outputs": ["even", "odd", "odd"]}
    yield "a network, refuted", data, of_network(model, modulo_3, lambda net: answer_of(net, [1, 1], True), claim="refuted",
                                                 shortest=True, method="failing word")
    yield "a network, sampled", data, of_network(
        model, right, lambda net: [{"step": "words", "seed": 1, "words": 2, "length": 9}], claim="sampled", method="sampled")
    for arithmetic, bits in (("fp32", 32), ("fp64", 64)):
        yield (f"parity, pairs, {arithmetic}", parity(bits=bits).data,
               parity(bits=bits).certificate(folder, certificates.pair_steps, arithmetic, claim="proved",
                                             method="closed reachable set"))
    for arithmetic, bits in (("fp32", 32), ("fp64", 64)):
        newer = parity(bits=bits, newer=True)
        yield (f"parity by newer functions, {arithmetic}", newer.data, newer.certificate(
            folder, certificates.pair_steps, arithmetic, claim="proved", method="closed reachable set"))
    growing = parity(grow=1.5)
    yield ("growing parity, up to 5", growing.data, growing.certificate(
        folder, lambda net: certificates.pair_steps(net, 5), claim="proved up to a length", length=5, method="closed reachable set"))
    other = parity(fields={"table": [[0, 1], [1, 2], [2, 1]], "outputs": ["even", "odd", "odd"], "logits": [0, 1, 1]})
    yield ("another language", other.data, other.certificate(
        folder, lambda net: answer_of(net, [1, 1], True), claim="refuted", shortest=True, method="failing word"))
    yield ("counting", counter(5, 6).data, counter(5, 6).certificate(
        folder, certificates.pair_steps, claim="proved", method="closed reachable set"))
    wide = {"off": (-1.05, -0.7), "on": (0.7, 1.05)}
    for about, arithmetic in (({}, "fp32"), ({"functions": True}, "fp32"), ({"on": (0.85, 1.001), "letters": 2}, "fp32"),
                              (wide, "bf16"), ({**wide, "functions": True}, "bf16"), (wide, "fp16"),
                              ({"on": (0.73, 1.006), "off": (-1.006, -0.73), "functions": True}, "fp16")):
        gated = flip_flop(**about)
        yield f"closed regions {about}, {arithmetic}", gated.data, closed_regions(gated, folder, arithmetic)
    yield ("sampled", growing.data, growing.certificate(
        folder, lambda net: [{"step": "words", "seed": 3, "words": 2, "length": 20}], claim="sampled", method="sampled"))
