"""Layers of other libraries, imported by the command, beside a NumPy replica of their stated arithmetic: every answer along
words, and the shortest word that is refuted, found again by reading all shorter ones."""
import itertools
import json
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import stated_layers

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "check"))
import models  # noqa: E402
import mutate  # noqa: E402

KROHN = os.environ.get("KROHN_COMMAND")
DATA = pathlib.Path(__file__).resolve().parents[1] / "data" / "stock"
FLAGS = {"mamba2": ["--with", "groups=2"], "m2rnn": ["--with", "q-heads=1,k-heads=1"],
         "deltanet": ["--with", "negative=0"],
         "deltaproduct": ["--with", "heads=2,negative"],
         "gated-deltanet": ["--with", "heads=2,negative"]}
LETTERS, NAMES = "abc", ["reject", "accept"]
TYPES = {"F32": np.float32, "F64": np.float64, "I64": np.int64}
# Written by cell_goldens.py.
MODULES = {"gru-sequential": ["--as", "gru", "--modules", "0,1,2,3,4,relu,6"],
           "lstm-blocks": ["--as", "lstm", "--modules", "emb,+blocks.0.norm:blocks.0.rnn,+blocks.1.norm:blocks.1.rnn,norm,head.0,silu,head.3",
                           "--with", "rms-norm,norm-eps=1e-3"],
           "rnn-functions": ["--as", "rnn", "--modules", "rnn,layer-norm,+fc.0:relu,+fc.1:gelu,+fc.2:gelu-tanh,+fc.3:silu,"
                                                         "+fc.4:tanh,+fc.5:sigmoid,out"]}  # fmt: skip


def load(path):
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    return {name: np.frombuffer(data[8 + size + at["data_offsets"][0]:8 + size + at["data_offsets"][1]], TYPES[at["dtype"]])
            .reshape(at["shape"]) for name, at in json.loads(data[8:8 + size]).items() if name != "__metadata__"}


def said(*arguments, **how):
    return subprocess.run([KROHN, *arguments], capture_output=True, text=True, **how).stdout


def imported(folder, tensors, *flags):
    """The run, and what the command reads along words."""
    weights, run = folder / "weights.safetensors", folder / "run"
    bits = {name: ("F32", list(array.shape), array.view(np.uint32).ravel().tolist()) for name, array in tensors.items()}
    weights.write_bytes(models.written({}, bits))
    said("import", weights, "--against", "regex:(a|b|c)*a", *flags, "-o", run, check=True)

    def read(words):
        texts = ["".join(LETTERS[letter] for letter in word) for word in words]
        return [row["trace"] for row in json.loads(said("run", run, *texts, "--trace", "--json"))["words"]]
    return run, read


def answers(kind, tensors, word):
    logits = stated_layers.logits_of(kind, tensors, [word])[0]
    return [NAMES[int(row[1] > row[0])] if row[0] != row[1] else None for row in logits]


def ends_in_a(word):
    return NAMES[int(word[-1] == 0)]


@unittest.skipUnless(KROHN, "KROHN_COMMAND does not name the command")
class ImportedLayers(unittest.TestCase):
    def test_the_command_answers_as_the_stated_arithmetic(self):
        for kind in stated_layers.Model.LAYERS:
            with self.subTest(kind), tempfile.TemporaryDirectory() as name:
                folder, golden = pathlib.Path(name), load(DATA / f"{kind}.safetensors")
                tensors = {each: array for each, array in golden.items() if each not in ("words", "logits32", "stated32")}
                run, read = imported(folder, tensors, "--as", kind, "--classes", "reject=0,accept=1", *FLAGS.get(kind, []))
                words = np.random.default_rng(7).integers(0, 3, size=(4, 25))
                for word, trace in zip(words, read(words)):
                    self.assertEqual([step["model"] and step["model"]["output"] for step in trace], answers(kind, tensors, word))
                certificate = folder / "certificate"
                verdict = json.loads(said("verify", run, "--json", "--certificate", certificate))
                self.judged_alike(folder, certificate.read_text(), (run / "parameters.safetensors").read_bytes())
                word = [LETTERS.index(letter) for letter in verdict["verdict"]["failing_word"]]
                self.assertNotEqual(answers(kind, tensors, word)[-1], ends_in_a(word))
                for length in range(1, min(len(word), 4)):
                    for shorter in itertools.product(range(3), repeat=length):
                        self.assertEqual(answers(kind, tensors, shorter)[-1], ends_in_a(shorter), shorter)

    def test_modules_around_a_cell_answer_as_pytorch_and_are_judged_alike(self):
        for name, flags in MODULES.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as work:
                folder, golden = pathlib.Path(work), load(DATA.parent / "cells" / f"{name}.safetensors")
                tensors = {each: of for each, of in golden.items() if each not in ("words", "logits32", "logits64")}
                run, read = imported(folder, tensors, *flags)
                self.assertEqual([[step["model"]["output"] for step in trace] for trace in read(golden["words"])],
                                 [[NAMES[which] for which in row] for row in golden["logits64"].argmax(-1)])
                for precision in ("fp32", "fp64"):
                    said("verify", run, "--precision", precision, "--certificate", folder / "certificate")
                    self.judged_alike(folder, (folder / "certificate").read_text(), (run / "parameters.safetensors").read_bytes())

    def judged_alike(self, folder, certificate, data):
        """Both checkers establish the certificate; and mutants of it, or of the model, alike: nearly none of them."""
        def established(text, bytes_of_model):
            theirs = mutate.verdict(folder, bytes_of_model, text)
            self.assertIn(theirs, ("established", "not established", "bad input", "undecided"))
            ours = subprocess.run([KROHN, "check", folder / "mutant.json", folder / "mutant.safetensors"], capture_output=True)
            self.assertEqual(ours.returncode == 0, theirs == "established", (ours.stdout, ours.stderr, theirs))
            return theirs == "established"
        self.assertTrue(established(certificate, data))
        r, found = random.Random(5), 0
        for i in range(20):
            mutant = mutate.mutated_model(r, data, certificate, folder) if i % 4 == 0 else (data, mutate.mutated_certificate(r, certificate))
            found += not established(mutant[1], mutant[0])
        self.assertGreater(found, 8)


if __name__ == "__main__":
    unittest.main()
