#!/usr/bin/env python3
"""Recurrence for verifiers of neural networks: a folder in the layout of VNN-COMP (onnx/, vnnlib/, instances.csv) of trackers that
krohn proved for words of every length, unrolled to so many letters, and what is the right answer to each.

    python tools/bench/vnncomp.py make FOLDER [--seed 1]    # needs numpy, onnx, safetensors and the command krohn
    python tools/bench/vnncomp.py run FOLDER                # needs numpy<2, onnx, onnxruntime, maraboupy, and krohn

Each network is `krohn compile --target torch-rnn-relu`: a unit for each state and letter, h ← ReLU(W h + U x + b), the same at every
letter. An input has the word's letters one-hot; in the box the right letter's coordinate is in [1 − ε, 1] and the others' in [0, ε].
The question is whether another answer than the right one can be at least as great.

unsat: the bounds of the box, carried through all letters in exact fractions, keep the right answer above all others. sat: in the
damaged networks one transition leads to another state, and the word itself is answered wrongly; the word is checked in exact
fractions too. No instance is written for which neither was shown. `run` asks Marabou each question, and `krohn verify` whether the
network that was unrolled is right on words of every length."""
import argparse
import csv
import fractions
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import time

import numpy as np

LANGUAGES = {"parity": "name:parity", "tomita4": "name:tomita4", "tomita6": "name:tomita6", "s3": "name:S3"}
LENGTHS = (10, 30, 100, 300, 1000)
TIMEOUT = 60
KROHN = os.environ.get("KROHN_COMMAND", "krohn")


class Tracker:
    """The weights of one letter, in integers, and the automaton that they were made from."""

    def __init__(self, folder):
        from safetensors import safe_open

        with safe_open(folder / "parameters.safetensors", "np") as file:
            w = {name: file.get_tensor(name) for name in file.keys()}
            self.facts = file.metadata()
        self.automaton = json.loads(self.facts["automaton"])
        self.hidden, self.input = w["rnn.weight_hh_l0"], w["rnn.weight_ih_l0"]
        self.bias = w["rnn.bias_ih_l0"] + w["rnn.bias_hh_l0"]
        self.head, self.head_bias = w["head.weight"], w["head.bias"]

    def damaged(self, draw):
        """One unit, which says what follows a state and a letter, leads to what another unit leads to."""
        other = Tracker.__new__(Tracker)
        other.__dict__.update(self.__dict__, hidden=self.hidden.copy(), head=self.head.copy())
        unit = draw.randrange(len(self.bias) - 1)
        alike = [u for u in range(len(self.bias) - 1) if (self.head[:, u] != self.head[:, unit]).any()]
        model = draw.choice(alike)
        other.hidden[:, unit], other.head[:, unit] = self.hidden[:, model], self.head[:, model]
        return other

    def bounds(self, word, epsilon):
        """Least and greatest answers in the box, in exact fractions."""
        one = fractions.Fraction(1)
        matrices = [[(j, int(value)) for j, value in enumerate(row) if value] for row in self.hidden]

        def through(rows, bias, least, greatest):
            pairs = []
            for row, b in zip(rows, bias):
                pairs.append((b + sum(v * (least if v > 0 else greatest)[j] for j, v in row),
                              b + sum(v * (greatest if v > 0 else least)[j] for j, v in row)))
            return [low for low, _ in pairs], [high for _, high in pairs]

        least = greatest = [fractions.Fraction(0)] * len(self.bias)
        for letter in word:
            x = [(one - epsilon, one) if a == letter else (0 * one, epsilon) for a in range(self.input.shape[1])]
            given = [(int(b) + sum(int(v) * (x[a][0] if v > 0 else x[a][1]) for a, v in enumerate(row)),
                      int(b) + sum(int(v) * (x[a][1] if v > 0 else x[a][0]) for a, v in enumerate(row)))
                     for row, b in zip(self.input, self.bias)]
            low, _ = through(matrices, [low for low, _ in given], least, greatest)
            _, high = through(matrices, [high for _, high in given], least, greatest)
            least, greatest = [max(0 * one, v) for v in low], [max(0 * one, v) for v in high]
        head = [[(j, int(value)) for j, value in enumerate(row) if value] for row in self.head]
        return through(head, [int(b) for b in self.head_bias], least, greatest)

    def write_krohn(self, folder):
        from safetensors.numpy import save_file

        folder.mkdir(exist_ok=True)
        weights = {"rnn.weight_hh_l0": self.hidden, "rnn.weight_ih_l0": self.input, "rnn.bias_ih_l0": self.bias,
                   "rnn.bias_hh_l0": 0 * self.bias, "head.weight": self.head, "head.bias": self.head_bias}
        save_file(weights, folder / "parameters.safetensors", self.facts)

    def write_onnx(self, path, length):
        import onnx
        from onnx import TensorProto, helper, numpy_helper

        letters = self.input.shape[1]
        parts = [f"x{t}" for t in range(length)]
        nodes, previous = [helper.make_node("Split", ["word"], parts, axis=1, split=[letters] * length)], None
        for t in range(length):
            nodes.append(helper.make_node("Gemm", [f"x{t}", "U", "b"], [f"u{t}"]))
            if previous:
                nodes += [helper.make_node("MatMul", [previous, "W"], [f"w{t}"]), helper.make_node("Add", [f"w{t}", f"u{t}"], [f"s{t}"])]
            nodes.append(helper.make_node("Relu", [f"s{t}" if previous else f"u{t}"], [f"h{t}"]))
            previous = f"h{t}"
        nodes.append(helper.make_node("Gemm", [previous, "H", "c"], ["answers"]))
        constants = {"U": self.input.T, "b": self.bias, "W": self.hidden.T, "H": self.head.T, "c": self.head_bias}
        graph = helper.make_graph(nodes, path.stem, [helper.make_tensor_value_info("word", TensorProto.FLOAT, [1, length * letters])],
                                  [helper.make_tensor_value_info("answers", TensorProto.FLOAT, [1, len(self.head_bias)])],
                                  [numpy_helper.from_array(np.ascontiguousarray(value, dtype=np.float32), name)
                                   for name, value in constants.items()])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 11)], ir_version=7), path)


def vnnlib(word, letters, answers, right, epsilon):
    lines = [f"; the word {' '.join(map(str, word))}", *(f"(declare-const X_{i} Real)" for i in range(len(word) * letters)),
             *(f"(declare-const Y_{i} Real)" for i in range(answers))]
    for i in range(len(word) * letters):
        low, high = (1 - epsilon, 1) if i % letters == word[i // letters] else (0, epsilon)
        lines += [f"(assert (>= X_{i} {float(low)!r}))", f"(assert (<= X_{i} {float(high)!r}))"]
    others = " ".join(f"(and (>= Y_{i} Y_{right}))" for i in range(answers) if i != right)
    return "\n".join([*lines, f"(assert (or {others}))", ""])


def make(folder, seed):
    for part in ("onnx", "vnnlib", "krohn"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    draw, rows = random.Random(seed), []
    for name, language in LANGUAGES.items():
        source = folder / "krohn" / name
        made = subprocess.run([KROHN, "compile", language, "--target", "torch-rnn-relu", "-o", str(source)], capture_output=True, text=True)
        if made.returncode != 0:
            raise SystemExit(f"krohn compile {language}: {made.stderr or made.stdout}")
        exact = Tracker(source)
        transitions, letters = exact.automaton["transitions"], exact.input.shape[1]
        outputs = exact.automaton.get("outputs") or [int(q in exact.automaton["accepting"]) for q in range(len(transitions))]
        for length in LENGTHS:
            if length * len(exact.bias) > 12_000:
                continue
            epsilon = fractions.Fraction(1, 2 ** (4 * length * letters).bit_length())
            kinds = {"unsat": ("exact", exact)}
            for _ in range(200):
                word = [draw.randrange(letters) for _ in range(length)]
                state = exact.automaton["initial"]
                for letter in word:
                    state = transitions[state][letter]
                right, damaged = outputs[state], exact.damaged(draw)
                if "sat" not in kinds:
                    point, _ = damaged.bounds(word, fractions.Fraction(0))
                    if max(v for i, v in enumerate(point) if i != right) < point[right]:
                        continue  # the word does not pass by the damage, or is right by chance
                    kinds["sat"] = ("damaged", damaged)
                low, high = exact.bounds(word, epsilon)
                if max(v for i, v in enumerate(high) if i != right) < low[right]:
                    break
            else:
                continue
            for answer, (kind, tracker) in kinds.items():
                stem = f"{name}_{length}_{kind}"
                tracker.write_onnx(folder / "onnx" / f"{stem}.onnx", length)
                tracker.write_krohn(folder / "krohn" / stem)
                text = vnnlib(word, letters, len(exact.head_bias), right, epsilon)
                (folder / "vnnlib" / f"{stem}.vnnlib").write_text(text)
                rows.append([f"onnx/{stem}.onnx", f"vnnlib/{stem}.vnnlib", TIMEOUT, answer])
    rows.sort(key=lambda row: int(row[0].split("_")[1]))
    with open(folder / "instances.csv", "w", newline="") as file:
        csv.writer(file).writerows(row[:3] for row in rows)
    with open(folder / "answers.csv", "w", newline="") as file:
        csv.writer(file).writerows([row[0], row[1], row[3]] for row in rows)
    print(f"{folder}: {len(rows)} instances; next: python {sys.argv[0]} run {folder}")


def marabou(folder, onnx, property_, timeout):
    """"sat", "unsat", or what else it says."""
    from maraboupy import Marabou

    network = Marabou.read_onnx(str(folder / onnx))
    options = Marabou.createOptions(verbosity=0, timeoutInSeconds=timeout)
    said = network.solve(propertyFilename=str(folder / property_), verbose=False, options=options)
    return said[0] or "unknown"


def one(folder, onnx, property_, timeout):
    print("answer:", marabou(folder, onnx, property_, timeout))


def timed(command, timeout, answer):
    """What `answer` finds in what is printed, and the seconds that it took."""
    started = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        return f"nothing in {timeout} s", timeout
    lines = done.stdout.splitlines()
    said = next((answer(line) for line in lines if answer(line)), "error: " + (done.stderr or "no word").strip().splitlines()[-1][:60])
    return said, time.monotonic() - started


def run(folder, timeout):
    print("| network | letters | right | Marabou | seconds | `krohn verify`, words of every length | seconds |\n|---|---|---|---|---|---|---|")
    wrong = False
    with open(folder / "answers.csv", newline="") as file:
        rows = list(csv.reader(file))
    for onnx, property_, right in rows:
        stem = pathlib.Path(onnx).stem
        name, length, kind = stem.split("_")
        said, took = timed([sys.executable, __file__, "one", str(folder), onnx, property_, "--timeout", str(timeout)], timeout + 10,
                           lambda line: line.removeprefix("answer: ") if line.startswith("answer: ") else "")
        proved, took_krohn = timed([KROHN, "verify", str(folder / "krohn" / stem)], timeout + 10,
                                   lambda line: line.partition(": ")[2] if stem in line and ": " in line else "")
        wrong |= {said, right} == {"sat", "unsat"}
        print(f"| {name}, {kind} | {length} | {right} | {said} | {took:.1f} | {proved} | {took_krohn:.1f} |", flush=True)
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["make", "run", "one"])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("instance", nargs="*")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--timeout", type=int, default=TIMEOUT, help="seconds for each instance")
    options = parser.parse_args()
    if options.what != "one" and shutil.which(KROHN) is None:
        print(f"vnncomp: there is no command {KROHN}; name it in KROHN_COMMAND", file=sys.stderr)
        return 2
    if options.what == "make":
        return make(options.folder, options.seed)
    return (run if options.what == "run" else one)(options.folder, *options.instance, options.timeout)


if __name__ == "__main__":
    sys.exit(main())
