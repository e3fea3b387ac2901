#!/usr/bin/env python3
"""Runs a model that `krohn compile --target onnx` wrote in ONNX Runtime, and compares it with the automaton in the
network that `krohn compile --target numpy` wrote of the same language: read at once, and in pieces, with the memory
that the model gives carried from one to the next.

    pip install onnx onnxruntime numpy
    tools/bench/peer_onnx.py abb.onnx abb.npz [--length 10000]"""
import argparse
import json
import sys

import numpy
import onnx
import onnxruntime

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("model")
parser.add_argument("arrays")
parser.add_argument("--length", type=int, default=10_000)
parser.add_argument("--piece", type=int, default=1000)
parser.add_argument("--batch", type=int, default=4)
parser.add_argument("--seed", type=int, default=1)
options = parser.parse_args()

onnx.checker.check_model(onnx.load(options.model), full_check=True)
arrays = numpy.load(options.arrays)
table, outputs = arrays["automaton.table"], arrays["automaton.outputs"]
words = numpy.random.default_rng(options.seed).integers(0, table.shape[1], (options.batch, options.length))
wishes = onnxruntime.SessionOptions()
wishes.log_severity_level = 3  # that an input has a default is a warning
session = onnxruntime.InferenceSession(options.model, wishes)
names = [output.name for output in session.get_outputs()]
states, answers = session.run(["states", "outputs"], {"letters": words})
memory, pieces = {}, []
for at in range(0, options.length, options.piece):
    said = dict(zip(names, session.run(names, {"letters": words[:, at : at + options.piece], **memory})))
    memory = {name.removesuffix(".last"): value for name, value in said.items() if name.endswith(".last")}
    pieces.append(said["states"])
in_pieces = numpy.concatenate(pieces, axis=1)

right = 0
state = numpy.full(options.batch, json.loads(bytes(arrays["metadata.automaton"]))["initial"])
for position in range(options.length):
    state = table[state, words[:, position]]
    right += int(((states[:, position] == state) & (answers[:, position] == outputs[state])
                  & (in_pieces[:, position] == state)).sum())
print(f"{options.model}: {right} of {words.size} letters right, at once and in pieces, ONNX Runtime {onnxruntime.__version__}")
sys.exit(0 if right == words.size else 1)
