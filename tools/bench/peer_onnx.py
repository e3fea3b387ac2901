#!/usr/bin/env python3
"""Runs a model that `krohn compile --target onnx` wrote in ONNX Runtime, and compares it with the automaton in the
network that `krohn compile --target numpy` wrote of the same language.

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
parser.add_argument("--batch", type=int, default=4)
parser.add_argument("--seed", type=int, default=1)
options = parser.parse_args()

onnx.checker.check_model(onnx.load(options.model), full_check=True)
arrays = numpy.load(options.arrays)
table, outputs = arrays["automaton.table"], arrays["automaton.outputs"]
words = numpy.random.default_rng(options.seed).integers(0, table.shape[1], (options.batch, options.length))
states, answers = onnxruntime.InferenceSession(options.model).run(["states", "outputs"], {"letters": words})

right = 0
state = numpy.full(options.batch, json.loads(bytes(arrays["metadata.automaton"]))["initial"])
for position in range(options.length):
    state = table[state, words[:, position]]
    right += int(((states[:, position] == state) & (answers[:, position] == outputs[state])).sum())
print(f"{options.model}: {right} of {words.size} letters right, ONNX Runtime {onnxruntime.__version__}")
sys.exit(0 if right == words.size else 1)
