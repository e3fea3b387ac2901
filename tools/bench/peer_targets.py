#!/usr/bin/env python3
"""Compiles languages for other frameworks and compares what the models say there with the automata, on random words:
the PyTorch module, ONNX Runtime, and the layers of flash-linear-attention with the library's own naive.py.

    pip install torch safetensors onnx onnxruntime numpy transformers flash-linear-attention
    tools/bench/peer_targets.py                                  # 1,000 words of 1 to 2,000 letters, 20 of 100,000
    tools/bench/peer_targets.py --targets fla-gated-deltanet,fla-kda,fla-gdn2 "name:S5 --generators transpositions"
    tools/bench/peer_targets.py --targets onnx --words 50 --long-words 1 --long 10000 name:S5

One line for each language and target: positions that are right, of all. Exit status: 0 when all are, 1 otherwise."""
import argparse
import json
import pathlib
import sys
import tempfile
import time

import numpy as np
from peers import Tracker, krohn

LANGUAGES = ["name:S3", "name:S5", "name:A5", "name:Z60", "name:D4", "name:Q8", *(f"name:tomita{i}" for i in range(1, 8)),
             "name:modarith5", "regex:(a|b)*abb"]
TARGETS = ["torch", "torch-bf16", "onnx", "fla-naive"]
BY_NAME = ["fla-deltanet", "fla-gated-deltanet", "fla-kda", "fla-gdn2"]  # not every language fits them


class Language:
    """A language with its automaton and its words."""

    def __init__(self, name, options):
        self.name, self.options = name, options
        self.folder = pathlib.Path(options.folder) / name.replace(":", "-").replace(" ", "-").replace("(", "").replace("|", "").replace("*", "")
        self.compiled = json.loads(krohn("compile", *name.split(), "--exact", "--json", "--target", "torch", "-o", self.folder))
        arrays = self.folder / "network.npz"
        krohn("compile", *name.split(), "--exact", "--target", "numpy", "-o", arrays)
        with np.load(arrays) as file:
            self.table = file["automaton.table"].astype(np.int64)
            self.outputs = file["automaton.outputs"]
            self.initial = json.loads(bytes(file["metadata.automaton"]))["initial"]

    def batches(self):
        """Words in rows with their lengths: short ones together, long ones together."""
        draw = np.random.default_rng(self.options.seed)
        lengths = draw.integers(1, self.options.longest + 1, self.options.words)
        for rows in (lengths, np.full(self.options.long_words, self.options.long)):
            if len(rows):
                yield draw.integers(0, self.table.shape[1], (len(rows), rows.max())), rows

    def states(self, words):
        states = np.empty_like(words)
        state = np.full(len(words), self.initial)
        for t in range(words.shape[1]):
            state = self.table[state, words[:, t]]
            states[:, t] = state
        return states

    def count(self, answers_of, expected_of=lambda states: states):
        """Right positions, and positions in all, up to each word's length."""
        right = total = 0
        for words, lengths in self.batches():
            inside = np.arange(words.shape[1]) < lengths[:, None]
            same = answers_of(words, lengths) == expected_of(self.states(words))
            right += int((same & inside).sum())
            total += int(inside.sum())
        return right, total


def run_torch(language, dtype):
    import torch

    if dtype == "bfloat16" and "bf16" not in language.compiled["network"]["exact_in"]:
        return None
    sys.path.insert(0, str(language.folder))
    sys.modules.pop("krohn_network", None)
    from krohn_network import ExactLRNN

    sys.path.pop(0)
    module = ExactLRNN.from_file(language.folder / "model.safetensors").to(getattr(torch, dtype))
    with torch.no_grad():
        return language.count(lambda words, _: module(torch.from_numpy(words)).numpy())


def run_onnx(language):
    """At once, and in pieces with the memory that the model gives carried from one to the next: a position that differs is wrong."""
    import onnx
    import onnxruntime

    path = language.folder / "network.onnx"
    krohn("compile", *language.name.split(), "--exact", "--target", "onnx", "-o", path)
    onnx.checker.check_model(onnx.load(path), full_check=True)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3  # that an input has a default is a warning
    session = onnxruntime.InferenceSession(path, options)
    names = [output.name for output in session.get_outputs()]

    def states(words, _):
        whole, outputs = session.run(["states", "outputs"], {"letters": words})
        memory, pieces = {}, []
        for at in range(0, words.shape[1], 1000):
            said = dict(zip(names, session.run(names, {"letters": words[:, at:at + 1000], **memory})))
            memory = {name.removesuffix(".last"): value for name, value in said.items() if name.endswith(".last")}
            pieces.append(said["states"])
        return np.where((np.concatenate(pieces, 1) == whole) & (outputs == language.outputs[whole]), whole, -1)

    return language.count(states)


def run_naive(language, target="fla-gated-deltaproduct"):
    import torch
    from fla_naive import NaiveCheckpoint

    folder = language.folder / "checkpoint"
    krohn("compile", *language.name.split(), "--target", target, "-o", folder)
    tracker = Tracker(folder)
    assert np.array_equal(np.array(tracker.automaton["transitions"]), language.table)
    token_of_state = np.array([tracker.token_of[state] for state in range(len(language.table))])
    token_of_letter = np.array(tracker.letters)
    model = NaiveCheckpoint(folder)

    def answers(words, _):
        begin = np.full((len(words), 1), tracker.begin)
        return model.answers(torch.from_numpy(np.hstack([begin, token_of_letter[words]])))[:, 1:].numpy()

    return language.count(answers, lambda states: token_of_state[states])


RUNS = {"torch": lambda language: run_torch(language, "float32"),
        "torch-bf16": lambda language: run_torch(language, "bfloat16"), "onnx": run_onnx, "fla-naive": run_naive,
        **{target: lambda language, target=target: run_naive(language, target) for target in BY_NAME}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("languages", nargs="*", default=LANGUAGES)
    parser.add_argument("--targets", default=",".join(TARGETS))
    parser.add_argument("--words", type=int, default=1000)
    parser.add_argument("--longest", type=int, default=2000)
    parser.add_argument("--long-words", type=int, default=20)
    parser.add_argument("--long", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    all_right = True
    with tempfile.TemporaryDirectory() as folder:
        options.folder = folder
        print(f"{options.words} words of 1 to {options.longest} letters, {options.long_words} of {options.long}, "
              f"seed {options.seed}")
        for name in options.languages:
            language = Language(name, options)
            for target in options.targets.split(","):
                started = time.monotonic()
                counted = RUNS[target](language)
                if counted is None:
                    print(f"{name:18} {target:11} not claimed: {language.compiled['network']['construction']}")
                    continue
                right, total = counted
                all_right &= right == total
                print(f"{name:18} {target:11} {right:>10,} of {total:>10,} positions right  "
                      f"{time.monotonic() - started:6.0f} s", flush=True)
    sys.exit(0 if all_right else 1)


if __name__ == "__main__":
    main()
