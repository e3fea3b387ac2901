"""Trained runs from Python: a recurrence written by hand, proved, refuted when it is spoiled, and PyTorch's on the same
tensors."""
import importlib.util
import json
import pathlib
import struct
import tempfile
import unittest

import krohn
import numpy as np


def parity(spoil: float = 0.0) -> "dict[str, np.ndarray]":
    """h <- relu(W x + U h) with units x - s and s - x of s, their own sum: parity of ones, in small integers."""
    return {
        "rnn.weight_ih_l0": np.array([[0, 1], [0, -1]], np.float32),
        "rnn.weight_hh_l0": np.array([[-1, -1], [1, 1 - spoil]], np.float32),
        "head.weight": np.array([[0, 0], [1, 1]], np.float32),
        "head.bias": np.array([0, -0.5], np.float32),
    }


def write_run(folder: pathlib.Path, tensors: "dict[str, np.ndarray]") -> None:
    header = {"__metadata__": {"format": "krohn.model", "version": "1", "task": "name:parity", "letters": "2",
                               "labels": "2", "model": "rnn-relu:layers=1,hidden=2,one-hot,unbiased"}}
    data = b""
    for name, array in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    text = json.dumps(header).encode()
    (folder / "parameters.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)


class Imported(unittest.TestCase):
    def test_a_run_is_proved_or_refuted(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            write_run(folder, parity())
            for precision in ("fp32", "fp64", "bf16"):
                self.assertTrue(krohn.verify(folder, precision=precision).proved, precision)
            self.assertTrue(krohn.verify(folder, against="regex:(0|1)*").refuted)
            with self.assertRaises(ValueError):
                krohn.verify(folder, order="scan")
            write_run(folder, parity(spoil=0.25))  # an odd word forgets its one by zeros: 0.75, 0.5625, 0.42 < 0.5
            certificate = krohn.verify(folder)
            self.assertTrue(certificate.refuted)
            self.assertTrue(certificate.is_shortest)

    @unittest.skipUnless(importlib.util.find_spec("torch"), "PyTorch is not installed")
    def test_pytorch_answers_the_same_on_the_same_tensors(self):
        import torch

        words = np.random.default_rng(5).integers(0, 2, size=(20, 50))
        for spoil in (0.0, 0.25):
            tensors = {name: torch.tensor(array) for name, array in parity(spoil).items()}
            rnn = torch.nn.RNN(2, 2, nonlinearity="relu", bias=False, batch_first=True)
            rnn.load_state_dict({"weight_ih_l0": tensors["rnn.weight_ih_l0"], "weight_hh_l0": tensors["rnn.weight_hh_l0"]})
            with torch.no_grad():
                states = rnn(torch.nn.functional.one_hot(torch.tensor(words), 2).float())[0]
                answers = (states @ tensors["head.weight"].T + tensors["head.bias"]).argmax(-1).numpy()
            self.assertEqual(bool((answers == words.cumsum(1) % 2).all()), spoil == 0.0)


if __name__ == "__main__":
    unittest.main()
