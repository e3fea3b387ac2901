#!/usr/bin/env python3
"""Tests krohn-check-verified against tests/python/second_evaluator.py, which shares no code with it.

    tests/check/verified_test.py CHECKER [--mutants 2000] [--seed 1] [MODEL ARITHMETIC]...

First networks made by hand (models.py), of every form of matrix, on both sides of every bound, with certificates by
certificates.py; then planted faults, each of which must be refused; then mutants of models and certificates: whatever is accepted
has to be right by the second evaluator, which follows all reachable states. MODELs are added to the networks that are mutated.
Exit status 1 when anything is wrong."""
import argparse
import contextlib
import hashlib
import json
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
import certificates  # noqa: E402
import models  # noqa: E402
import second_evaluator as second  # noqa: E402
from certificates import check  # noqa: E402

FORMATS = {"fp64", "fp32", "fp16", "bf16"}
CODES = second.SIZES
failures = 0


def expect(condition, what):
    global failures
    if not condition:
        failures += 1
        print("WRONG:", what)


def columns(*words):
    return [[[x] for x in word] for word in words]


def certified(data, arithmetic, *ways):
    """Certificates of a model: its pairs, its "tuples" of codewords, "induction" over them, "any" order."""
    makers = {"pairs": certificates.closed_reachable_set, "tuples": lambda m, **c: certificates.closed_codewords(m, "tuples", **c),
              "induction": certificates.closed_codewords, "any": lambda m, **c: certificates.exact_in_any_order(m, False, **c)}
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        model = check.Model(file.name)
        return [makers[way](model, arithmetic=arithmetic).encode() for way in ways]


# ---- What is true: everything that words reach, by the second evaluator


class Model:
    def __init__(self, data):
        n = struct.unpack_from("<Q", data)[0]  # names may be any bytes, and mean nothing
        data = data[:8] + bytes(c if c < 128 else 63 for c in data[8 : 8 + n]) + data[8 + n :]
        with tempfile.NamedTemporaryFile() as file:
            file.write(data)
            file.flush()
            self.evaluator = second.Evaluator(file.name)
            metadata, tensors = second.read_file(file.name)
        shape, flat = tensors["automaton.table"]
        self.letters = shape[1]
        self.table = [flat[i * shape[1] : (i + 1) * shape[1]] for i in range(shape[0])]
        self.initial = json.loads(metadata["automaton"])["initial"]

    def pairs(self, arithmetic, form, limit=20000):
        """(state, labels, numbers, next) each; None where a word is read wrongly."""
        a = second.Arithmetic(arithmetic)
        layers = self.evaluator.layers
        runs = [second.Sequential(l, a, form == "dense") for l in layers]
        start = (self.initial, tuple(l.initial_label for l in layers), tuple(tuple(r.h) for r in runs))
        found, todo, result = {start: 0}, [start], []
        for q, labels, numbers in todo:
            if self.evaluator.answer(labels) != q:
                return None
            after = []
            for letter in range(self.letters):
                context, new_labels, new_numbers = letter, [], []
                for k, (l, run) in enumerate(zip(layers, runs)):
                    run.h = list(numbers[k])
                    new_numbers.append(tuple(run.read(l.action_of[context])))
                    label = l.label(l.nearest(list(new_numbers[-1]), l.book_of_context[context] if l.book_of_context else 0))
                    if label is None:
                        return None
                    new_labels.append(label)
                    context = l.next[context * l.labels + labels[k]] if k + 1 < len(layers) else None
                place = (self.table[q][letter], tuple(new_labels), tuple(new_numbers))
                if place not in found:
                    found[place] = len(todo)
                    todo.append(place)
                    if len(todo) > limit:
                        raise OverflowError("too many states")
                after.append(found[place])
            result.append((q, labels, numbers, after))
        return result


class Checker:
    def __init__(self, path):
        self.path, self.folder = path, tempfile.TemporaryDirectory()

    def __call__(self, certificate, model):
        return self.run(certificate, model).returncode

    def associates(self, certificate, model):
        """Whether it is accepted for letters composed into maps too."""
        run = self.run(certificate, model)
        return run.returncode == 0 and "in any association" in run.stdout

    def run(self, certificate, model):
        c, m = pathlib.Path(self.folder.name, "c"), pathlib.Path(self.folder.name, "m")
        c.write_bytes(certificate)
        m.write_bytes(model)
        run = subprocess.run([self.path, c, m], capture_output=True, text=True, timeout=100)
        expect(run.returncode in (0, 1, 2), f"status {run.returncode}: {run.stderr}")
        return run


# ---- Networks by hand


def by_hand():
    """name -> (model, arithmetic): one of every form, two layers, B, code books, unit codewords, weights that round."""
    def numbers(kind, *values):
        return kind, [len(values)], list(values)

    def key(position, value, scale, beta=1, angle=(0, 1)):
        return {"structured.reflections.offsets": numbers("U64", 0, 1), "structured.reflections.position": numbers("U32", *position),
                "structured.reflections.position.offsets": numbers("U64", 0, len(position)), "structured.reflections.value": numbers("I32", *value),
                "structured.reflections.scale_squared": ("I64", [1, 2], scale), "structured.reflections.plane": numbers("U32", 0),
                "structured.reflections.angle": ("I64", [1, 2], list(angle)), "structured.reflections.beta": models.real([beta], 1)}

    def turn(is_sign, turn):
        return {"structured.rotation.offsets": numbers("U64", 0, 1), "structured.rotation.is_sign": numbers("U8", is_sign),
                "structured.rotation.turn": ("I64", [1, 2], turn)}
    factored = {f"structured.factored.{name}": numbers(kind, *values) for name, kind, values in (
        ("offsets", "U64", (0, 2)), ("output", "U32", (1, 0)), ("output.offsets", "U64", (0, 1, 2)), ("input", "U32", (0, 1)),
        ("input.offsets", "U64", (0, 1, 2)), ("gate", "U32", (0, 1)), ("gate.offsets", "U64", (0, 2)))}
    minus = {"structured.signed.map": ("U32", [1, 1], [0]), "structured.signed.sign": ("I8", [1, 1], [-1])}
    exchange = {"structured.map": ("U32", [1, 2], [1, 0])}
    units, signs = columns([1, 0], [0, 1]), columns([1], [-1])

    def one(form, words, tensors, letters=1, table=((1,), (0,)), readout=((0, 1),), **more):
        layer = models.layer(len(words[0]), 1, words, form, tensors, list(range(letters)), **more)
        return models.network([chr(97 + i) for i in range(letters)], table, [layer], [readout])

    def dense(words, *rows, **more):
        return one("dense", words, {"structured.dense": models.real(rows, 1, len(rows), len(rows))}, **more)
    low = models.layer(1, 1, signs, "signed-permutation", minus, [0], labels=[0, 1])
    low[1]["next"] = ("U32", [1, 2], [0, 1])
    high = models.layer(1, 1, signs, "dense", {"structured.dense": models.real([1, -1], 2, 1, 1)}, [0, 1], labels=[0, 1])
    return {
        "map": (one("map", units, exchange), "bf16"),
        "unit copies": (one("map", units, exchange, copies=1), "fp16"),
        "signed-permutation": (one("signed-permutation", signs, minus), "fp32"),
        "diagonal": (one("diagonal", signs, {"structured.diagonal": models.real([-1], 1, 1)}), "fp64"),
        "dense": (dense(units, [0, 1], [1, 0]), "bf16+fma"),
        "block-diagonal": (one("block-diagonal", columns([1, 0], [-1, 0]), {
            "structured.blocks.size": numbers("U32", 1, 1), "structured.blocks.size.offsets": numbers("U64", 0, 2),
            "structured.blocks.values": models.real([-1, 1], 2)}), "bf16/fp32"),
        "reflections": (one("reflections", units, key([0, 1], [1, -1], [1, 1])), "bf16"),
        "a root": (one("reflections", signs, key([0], [3], [2, 9])), "bf16"),
        "a plane": (one("reflections", columns([1, 0], [0, -1]), key([], [], [1, 1], 2, (1, 8))), "bf16"),
        "a sign": (one("rotation", signs, turn(1, [1, 2])), "fp16"),
        "a quarter of a turn": (one("rotation", columns([1, 0], [0, 1], [-1, 0], [0, -1]), turn(0, [-3, 4]), table=[[1], [2], [3], [0]],
                                    readout=[[0, 1, 2, 3]]), "fp64"),
        "factored": (one("factored", units, factored), "fp16/fp32"),
        "zero and B": (one("zero", signs, {}, 2, [[0, 1], [0, 1]], B=signs), "fp32"),
        "B given once": (one("diagonal", signs, {"structured.diagonal": models.real([0, 0, 1], 3, 1)}, 3, [[0, 1, 0], [0, 1, 1]],
                                   B=[*signs, None]), "fp32+fma"),
        "two layers": (models.network(["a"], [[1], [2], [3], [0]], [low, high], [[[0, 1]], [[0, 2], [1, 3]]]), "bf16"),
        # Both letters lead to -1, which the two books read differently.
        "two books": (one("zero", columns([1], [-1], [-1]), {}, 2, [[1, 0], [1, 0]], labels=[0, 1, 0], B=columns([-1], [-1]), books=[0, 1],
                          code_books=[0, 0, 1]), "fp64+fma"),
        "a third": (dense(columns([1 / 3], [-1 / 3]), [-1]), "bf16"),
    }


def bounds(checker):
    """Sums of m grains of 2^e, on both sides of every inequality of the order-free kind. `x` and `y` are added to a third number."""
    for x, y, z, arithmetic, any_order, what in [
        (255, 1, 256, "bf16", 0, "2^8 grains fit"),
        (255, 2, 256, "bf16", 1, "2^8 + 1 grains do not; left to right gives 256"),
        (-255, -1, -256, "bf16", 0, "2^8 grains below zero fit"),
        (255, -2, 253, "bf16", 1, "it is the absolute values that are summed"),
        (2047, 1, 2048, "fp16", 0, "2^11 grains fit"),
        (2047, 2, 2048, "fp16", 1, "2^11 + 1 grains do not"),
        (2.0**-133, 2.0**-133, 2.0**-132, "bf16", 0, "the least grain"),
        (2.0**119 * 127, 2.0**119, 2.0**126, "bf16", 0, "the greatest grain"),
        (2.0**120 * 127, 2.0**120, 2.0**127, "bf16", 1, "a grain more: 2^8 of them are infinite"),
    ]:
        model = models.matrices([[[1, 0, 0], [0, 1, 0], [1, 1, 0]]], columns([x, y, 0], [x, y, z]), [[1], [1]])
        sequential, free = certified(model, arithmetic, "tuples", "any")
        expect(checker(sequential, model) == 0, f"sequential: {what}")
        expect(checker(free, model) == any_order, f"any order: {what}")
    # The grain of the products: 2^-67 squared is half the least number of bf16, 2^-66 squared twice it.
    for w, words, table, any_order in [(2.0**-66, columns([2.0**-66, 0], [2.0**-66, 2.0**-132]), [[1], [1]], 0),
                                       (2.0**-67, columns([2.0**-67, 0]), [[0]], 1)]:
        model = models.matrices([[[1, 0], [w, 0]]], words, table)
        sequential, free = certified(model, "bf16", "tuples", "any")
        expect(checker(sequential, model) == 0, f"sequential: products of {w}")
        expect(checker(free, model) == any_order, f"any order: products of {w}")


def composed_bounds(checker):
    """Letters composed into maps: matrices on both sides of moving, sums of a state and what words add on both sides of fitting."""
    for matrix, words, composes, what in [
        ([[0, 1], [1, 0]], ([1, 0], [0, 1]), True, "a permutation"),
        ([[0, -1], [-1, 0]], ([1, 0], [0, -1]), True, "a signed permutation"),
        ([[1, 1], [0, 0]], ([1, 0],), True, "two numbers moved into one"),
        ([[1, 0], [1, 0]], ([1, 1],), False, "one number moved into two"),
        ([[1, 0], [0, 0.5]], ([1, 0],), False, "an entry of one half"),
        ([[1, 0], [0, 2]], ([1, 0],), False, "an entry of two"),
    ]:
        model = models.matrices([matrix], columns(*words), [[(q + 1) % len(words)] for q in range(len(words))])
        free, = certified(model, "bf16", "any")
        expect(checker(free, model) == 0, f"any order: {what}")
        expect(checker.associates(free, model) == composes, f"any association: {what}")
    for start, added, composes, what in [
        (255, [1], True, "255 and 1 are 2^8 grains"), (255, [1, 2], False, "255 and 2 are one more"),
        (127, [127], True, "127 twice"), (1, [129], False, "129 twice"), (-255, [-1], True, "255 and 1 below zero"),
        (2.0**120, [2.0**112], False, "2^8 grains and one more"),
        (2.0**119, [2.0**119], True, "the greatest grain"), (2.0**120, [2.0**120], False, "one that is greater"),
    ]:
        words = list(dict.fromkeys([start] + added))
        layer = models.layer(1, 1, [[[w]] for w in words], "zero", {}, list(range(len(added))), B=[[[b]] for b in added])
        model = models.network([chr(97 + i) for i in range(len(added))], [[words.index(b) for b in added] for _ in words], [layer],
                               [[list(range(len(words)))]])
        sequential, free = certified(model, "bf16", "tuples", "any")
        expect(checker(sequential, model) == 0, f"sequential: {what}")
        expect(checker.associates(free, model) == composes, f"any association: {what}")


def header(data):
    n = struct.unpack_from("<Q", data)[0]
    return json.loads(data[8 : 8 + n]), data[8 + n :]


def with_header(head, body):
    text = head if isinstance(head, bytes) else json.dumps(head).encode()
    return struct.pack("<Q", len(text)) + text + body


def planted(checker):
    """Faults that must be refused, each in a network and a certificate that are right otherwise."""
    model, arithmetic = by_hand()["two layers"]
    good, pairs, induction = certified(model, arithmetic, "tuples", "pairs", "induction")
    expect(checker(good, model) == 0 and checker(pairs, model) == 0, "the network without a fault")
    head, body = header(model)

    def changed(what, edit):
        new_head, new_body = json.loads(json.dumps(head)), bytearray(body)
        edit(new_head, new_body)
        for certificate in (good, pairs):
            expect(checker(certificate, with_header(new_head, bytes(new_body))) in (1, 2), what)

    def poke(name, index, value):
        def edit(h, b):
            code, (begin, _) = CODES[h[name]["dtype"]], h[name]["data_offsets"]
            struct.pack_into("<" + code, b, begin + index * struct.calcsize(code), value)
        return edit

    changed("a state that leads elsewhere", poke("automaton.table", 0, 2))
    changed("a state out of range", poke("automaton.table", 3, 4))
    changed("a readout that says another state", poke("readout.1", 1, 3))
    changed("a context that leads elsewhere", poke("layers.0.next", 0, 1))
    changed("an action out of range", poke("layers.0.action_of", 0, 1))
    changed("another action", poke("layers.1.action_of", 0, 1))
    changed("a codeword's other label", poke("layers.1.codewords.label", 0, 1))
    changed("a label out of range", poke("layers.1.codewords.label", 0, 2))
    changed("codewords that tie", poke("layers.1.codewords", 1, 3.0))
    changed("another start", poke("layers.1.H0", 0, -1.0))
    changed("a weight that shrinks", poke("layers.1.structured.dense", 1, -0.99609375))
    changed("an infinite weight", poke("layers.1.structured.dense", 1, float("inf")))
    changed("NaN", poke("layers.1.H0", 0, float("nan")))
    changed("an unknown form", poke("layers.1.form", 0, 1))
    changed("no sign", poke("layers.0.structured.signed.sign", 0, 2))
    changed("a wrong type", lambda h, b: h["layers.0.action_of"].update(dtype="I32"))
    changed("a wrong shape", lambda h, b: h["layers.0.next"].update(shape=[2, 1]))
    changed("a negative extent", lambda h, b: h["layers.0.next"].update(shape=[-1, -2]))
    changed("a negative offset", lambda h, b: h["automaton.table"].update(data_offsets=[-16, 0]))
    changed("an extent with a fraction", lambda h, b: h["layers.0.next"].update(shape=[1.0, 2]))
    changed("a tensor too many", lambda h, b: h.update({"x": {"dtype": "U8", "shape": [0], "data_offsets": [len(b), len(b)]}}))
    last = max((name for name in head if name != "__metadata__"), key=lambda name: head[name]["data_offsets"])
    changed("a tensor too few", lambda h, b: b.__delitem__(slice(h.pop(last)["data_offsets"][0], None)))
    changed("trailing bytes", lambda h, b: b.append(0))
    changed("missing bytes", lambda h, b: b.pop())
    changed("overlapping tensors", lambda h, b: h["readout.0"].update(data_offsets=[0, 8]))
    changed("a network that snaps", lambda h, b: h["__metadata__"].update(snap_every="4"))
    changed("an unknown key", lambda h, b: h["__metadata__"].update(decoder="argmax"))
    for more in ("dense", "zero"):
        changed("a form named twice or never used",
                lambda h, b: h["__metadata__"].update(layers=h["__metadata__"]["layers"].replace('["dense"]', f'["dense", "{more}"]')))
    changed("another version", lambda h, b: h["__metadata__"].update(version="2"))
    changed("an initial state out of range", lambda h, b: h["__metadata__"].update(automaton=h["__metadata__"]["automaton"].replace('"initial": 0', '"initial": 4')))
    changed("a negative initial state", lambda h, b: h["__metadata__"].update(automaton=h["__metadata__"]["automaton"].replace('"initial": 0', '"initial": -0.0')))
    text = json.dumps(head).encode()
    for what, bad in [("a repeated name", text.replace(b'"readout.0":', b'"readout.1":')), ("a header that does not end", text[:-1]),
                      ("two headers", text + b"{}"), ("a header of another kind", b"[" + text + b"]")]:
        expect(checker(good, with_header(bad, body)) == 2, what)
    expect(checker(good, b"") == 2 and checker(good, model[:7]) == 2 and checker(good, struct.pack("<Q", 2**63) + model[8:]) == 2, "no file")

    for certificate in (good, pairs):
        steps = [json.loads(line) for line in certificate.decode().splitlines()]
        text = certificate.decode()
        for what, bad in [
            ("no certificate", ""), ("no end", text[: text.rindex("{")]), ("no last line feed", text[:-1]), ("something after the end", text + "{}\n"),
            ("a wrong number of lines", text.replace(f'"lines": {len(steps) - 1}', f'"lines": {len(steps)}')),
            ("version 1", text.replace('"version": 2', '"version": 1')), ("another claim", text.replace('"proved"', '"sampled"')),
            ("an unknown arithmetic", text.replace('"bf16"', '"tf32"')), ("an unknown member", text.replace('"step": "end"', '"step": "end", "x": 1')),
            ("a repeated member", text.replace('"version": 2', '"version": 2, "version": 2')),
            ("a negative number", text.replace('"state": 0', '"state": -1')), ("fewer successors", text.replace('"next": [1]', '"next": []')),
            ("more successors", text.replace('"next": [1]', '"next": [1, 1]')), ("a successor out of range", text.replace('"next": [1]', '"next": [4]')),
            ("another successor", text.replace('"next": [1]', '"next": [2]')),
        ]:
            expect(checker(bad.encode(), model) in (1, 2), f"a certificate with {what}")
    for certificate in (good, pairs, induction):
        steps = [json.loads(line) for line in certificate.decode().splitlines()]
        for i in range(1, len(steps) - 1):
            if certificate is good and steps[i]["step"] == "move":
                continue  # the tuples say the same
            rest = steps[:i] + steps[i + 1 : -1]
            text = "".join(json.dumps(step) + "\n" for step in [*rest, {"step": "end", "lines": len(rest)}])
            expect(checker(text.encode(), model) in (1, 2), f"a certificate without its line {i}: {steps[i]}")


# ---- Mutants


def mutated_model(data, rng):
    head, body = header(data)
    body = bytearray(body)
    names = [n for n in head if n != "__metadata__" and head[n]["data_offsets"][0] < head[n]["data_offsets"][1]]
    kind = rng.randrange(8)
    if kind == 0:
        return data[: rng.randrange(len(data))]
    if kind == 1:
        body = bytearray(data)
        body[rng.randrange(len(body))] ^= 1 << rng.randrange(8)
        return bytes(body)
    if kind == 2:
        text = json.dumps(head)
        digits = [i for i, c in enumerate(text) if c.isdigit()]
        i = rng.choice(digits)
        return with_header((text[:i] + rng.choice("0123456789-") + text[i + 1 :]).encode(), bytes(body))
    name = rng.choice(names)
    code, (begin, end) = CODES[head[name]["dtype"]], head[name]["data_offsets"]
    size = struct.calcsize(code)
    count = (end - begin) // size
    i, j = rng.randrange(count), rng.randrange(count)
    if kind <= 4:
        a, b = begin + i * size, begin + j * size
        body[a : a + size], body[b : b + size] = body[b : b + size], body[a : a + size]
    elif kind == 5:
        body[begin + i * size + rng.randrange(size)] ^= 1 << rng.randrange(8)
    else:
        value = struct.unpack_from("<" + code, body, begin + i * size)[0]
        new = rng.choice([value + 1, value - 1, -value, 0, 1, value * 2, value / 2 if code in "fd" else value // 2])
        try:
            struct.pack_into("<" + code, body, begin + i * size, new)
        except (struct.error, OverflowError):
            pass
    return with_header(head, bytes(body))


def mutated_certificate(data, rng):
    kind = rng.randrange(6)
    if kind == 0:
        return data[: rng.randrange(len(data))]
    steps = data.decode().splitlines()
    if kind == 1:
        i, j = rng.randrange(len(steps)), rng.randrange(len(steps))
        steps[i], steps[j] = steps[j], steps[i]
    elif kind == 2:
        steps.pop(rng.randrange(len(steps)))
    else:
        i = rng.randrange(len(steps))
        places = [k for k, c in enumerate(steps[i]) if c.isdigit()]
        if places:
            k = rng.choice(places)
            steps[i] = steps[i][:k] + rng.choice(["0", "1", "2", "-1", "10"]) + steps[i][k + 1 :]
        if rng.randrange(8) == 0:
            steps[0] = steps[0].replace(rng.choice(["bf16", "fp32", "fp16", "fp64"]), rng.choice(["bf16", "fp32", "fp16", "fp64"]))
    return ("\n".join(steps) + "\n").encode()


def right(model, c, rng):
    """All reachable states; with the order "any" in other arithmetics of the same storage too, and words in orders that compose."""
    if c["order"] == "sequential":
        return model.pairs(c["arithmetic"], c["form"]) is not None
    wider = [c["arithmetic"] + "/fp32"] if c["arithmetic"] in ("bf16", "fp16") else []
    if any(model.pairs(a, c["form"]) is None for a in [c["arithmetic"], c["arithmetic"] + "+fma"] + wider):
        return False
    composable = c["form"] == "dense" or not any({"reflections", "factored"} & set(l.forms) for l in model.evaluator.layers)
    for order in ["scan", "doubling", "chunked:3"] if composable else []:
        word, q, states = [rng.randrange(model.letters) for _ in range(12)], model.initial, [model.initial]
        for letter in word:
            q = model.table[q][letter]
            states.append(q)
        if [answer for _, answer in model.evaluator.readings(c["arithmetic"], c["form"], order, word)] != states:
            return False
    return True


def mutants(checker, subjects, count, seed):
    rng, judged, tally = random.Random(seed), {}, {"refused": 0, "not established": 0, "accepted, right": 0, "not judged": 0}
    for _ in range(count):
        name, model, certificate = rng.choice(subjects)
        new_model, new_certificate = model, certificate
        if rng.random() < 0.7:
            new_model = mutated_model(model, rng)
        else:
            new_certificate = mutated_certificate(certificate, rng)
        status = checker(new_certificate, new_model)
        if status:
            tally["refused" if status == 2 else "not established"] += 1
            continue
        c = json.loads(new_certificate.decode().splitlines()[0])
        key = hashlib.sha256(new_model).hexdigest() + c["arithmetic"] + c["form"] + c["order"]
        if key not in judged:
            try:
                judged[key] = right(Model(new_model), c, rng)
            except Exception as error:  # the second evaluator trusts what it reads
                judged[key] = None
                print(f"not judged: {name}: {type(error).__name__} {error}")
        tally["not judged" if judged[key] is None else "accepted, right"] += 1
        if judged[key] is False or judged[key] is None:
            expect(judged[key] is None, f"an accepted mutant of {name} is wrong")
    expect(tally["not judged"] == 0, "accepted mutants that the second evaluator cannot read")
    print(", ".join(f"{n} {what}" for what, n in tally.items()))


def main():
    parser = argparse.ArgumentParser(usage="tests/check/verified_test.py CHECKER [--mutants N] [--seed S] [MODEL ARITHMETIC]...")
    parser.add_argument("checker")
    parser.add_argument("models", nargs="*")
    parser.add_argument("--mutants", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_intermixed_args()
    checker = Checker(options.checker)
    subjects = []
    given = {path: (pathlib.Path(path).read_bytes(), arithmetic) for path, arithmetic in zip(options.models[::2], options.models[1::2])}
    for name, (model, arithmetic) in {**by_hand(), **given}.items():
        is_exact = arithmetic in FORMATS and name not in ("factored", "a third", "a root", "a plane", *given)
        for way in ("pairs", "tuples", "induction") + ("any",) * is_exact:
            with contextlib.suppress(ValueError) if name in given else contextlib.nullcontext():  # its states may be no codewords
                certificate, = certified(model, arithmetic, way)
                expect(checker(certificate, model) == 0, f"{name} in {arithmetic} is right: {way}")
                subjects.append((name, model, certificate))
    bounds(checker)
    composed_bounds(checker)
    planted(checker)
    mutants(checker, subjects, options.mutants, options.seed)
    print("all right" if failures == 0 else f"{failures} wrong")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
