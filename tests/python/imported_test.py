"""Trained runs from Python: a recurrence written by hand, proved, refuted when it is spoiled, and PyTorch's on the same
tensors."""
import contextlib
import importlib.util
import json
import pathlib
import struct
import tempfile
import unittest

import krohn
import numpy as np
from krohn.testing import horizon

HAS_TORCH = importlib.util.find_spec("torch") is not None
HAS_TRANSFORMERS = HAS_TORCH and importlib.util.find_spec("transformers") is not None


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

    def test_whatever_the_command_certifies_is_saved(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            write_run(folder, parity())
            krohn.export("name:parity", "fla-deltanet", folder / "checkpoint")
            for model in (folder, folder / "checkpoint", krohn.compile("name:parity")):
                certificate = krohn.verify(model)
                certificate.save(folder / "c")
                self.assertEqual((folder / "c").read_text(encoding="utf-8"), certificate.text())
                self.assertTrue(krohn.check(folder / "c", model))
                self.assertTrue(krohn.check(certificate, model))
            with self.assertRaisesRegex(krohn.InputError, "is not written: .* sequential order"):
                krohn.verify(krohn.compile("name:S3"), order="scan").save(folder / "no")
            with self.assertRaisesRegex(krohn.InputError, "is not written: .* has no file"):
                krohn.verify(krohn.compile("name:Z5", construction="rotation"), precision="exact").save(folder / "no")
            self.assertFalse((folder / "no").exists())

    def test_a_run_answers_words(self):
        run = krohn.import_model(parity(), kind="rnn-relu", against="name:parity")
        words = np.random.default_rng(3).integers(0, 2, size=(200, 30))
        odd = words.cumsum(1) % 2
        self.assertEqual((run.letters, run.labels, run.around), (["0", "1"], ["reject", "accept"], ([], [])))
        for precision in ("fp32", "fp64", "bf16"):
            np.testing.assert_array_equal(run.logits(words, precision=precision), np.stack([0 * odd, odd - 0.5], -1))
            np.testing.assert_array_equal(run.answers(words, precision=precision), odd)
        self.assertEqual(run.answers("0110").tolist(), [0, 1, 0, 0])
        self.assertEqual([answers.tolist() for answers in run.answers(["1", "011"])], [[1], [0, 1, 0]])
        self.assertEqual(run.answers(np.zeros((3, 0), dtype=int)).shape, (3, 0))
        for wrong in ([7], "2", np.zeros((2, 2, 2), dtype=int)):
            with self.assertRaises(ValueError):
                run.logits(wrong)
        with self.assertRaises(krohn.InputError):
            run.logits("01", precision="fp16")
        # Equal logits, and numbers that leave fp32, are no answer.
        tied = krohn.import_model({**parity(), "head.bias": np.zeros(2, np.float32)}, kind="rnn-relu", against="name:parity")
        self.assertEqual(tied.answers("0110").tolist(), [-1, 1, -1, -1])
        grown = {**parity(), "rnn.weight_hh_l0": np.array([[1e30, 0], [0, 0]], np.float32)}
        self.assertEqual(krohn.import_model(grown, kind="rnn-relu", against="name:parity").answers("1000").tolist(), [1, 1, -1, -1])
        layers = {"head.0.weight": np.ones((16, 2), np.float32), "head.0.bias": np.ones(16, np.float32),
                  "head.2.weight": np.ones((2, 16), np.float32)}
        with self.assertRaisesRegex(krohn.InputError, '"head.2.weight" is a matrix above the read-out "head.0.weight"'):
            krohn.import_model({**{name: of for name, of in parity().items() if "head" not in name}, **layers},
                               kind="rnn-relu", against="name:parity")
        self.assertTrue(krohn.test(krohn.adapters.run(run), "name:parity", short=500, length=200, letters=20_000))
        self.assertEqual(krohn.extract(krohn.adapters.run(run), "01", length=8, beyond=50, letters=2000).automaton.states, 2)

    def test_labels_that_are_no_outputs_are_told_before_a_word_is_read(self):
        run = krohn.train("parity", model="bilinear:diagonal", steps=100, threads=1, progress=False)
        self.assertEqual(run.labels, ["0", "1"])
        with self.assertRaisesRegex(ValueError, "answers are 0, 1, .* which has reject, accept: .* outputs="):
            krohn.test(krohn.adapters.run(run), "name:parity")
        with self.assertRaisesRegex(ValueError, r"outputs names 1 of the run's 2 labels \(0, 1\)"):
            krohn.adapters.run(run, outputs=["accept"])
        box = krohn.adapters.run(run, outputs=["reject", "accept"])
        self.assertGreater(horizon(box, "name:parity", up_to=20)["right_up_to"], 5)

    def test_special_tokens_are_put_around_words(self):
        run = krohn.train("S3", model="bilinear:full,hidden=6,inputs=6", steps=2, threads=1, progress=False)
        before, after = run.around
        self.assertTrue(before or after)
        box = krohn.adapters.run(run)
        word = np.array([[0, 1, 2]])
        whole = np.concatenate([[before], word, [after]], axis=1).astype(int)
        said = run.answers(whole)
        expected = said[:, -1] if after else said[:, len(before):]
        np.testing.assert_array_equal(box.f(word), expected)

    def test_weights_are_held_against_a_forward_pass(self):
        def forward(ids, residual=0.0):
            odd = ids.cumsum(1) % 2
            return np.stack([0 * odd, odd - 0.5 + residual * ids], -1)

        common = {"kind": "rnn-relu", "against": "name:parity"}
        run = krohn.import_model(parity(), forward=forward, **common)
        verdict = krohn.verify(run)
        self.assertEqual((verdict.proved, verdict.compared_words), (True, 2 + 4 + 8 + 16 + 32 + 120))
        self.assertEqual(run.facts.forward.compared_words, verdict.compared_words)
        self.assertIn("the same on 182 words", verdict._repr_html_())
        bare = krohn.verify(krohn.import_model(parity(), **common))
        self.assertEqual(bare.compared_words, 0)
        self.assertIn("not compared", bare._repr_html_())
        self.assertIsNone(krohn.verify(krohn.compile("name:parity")).compared_words)
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaises(krohn.InputError) as wrong:
                krohn.import_model(parity(), forward=lambda ids: forward(ids, 0.01), output=folder + "/no", **common)
            self.assertRegex(str(wrong.exception), r'^the forward pass:2: after "1".* its own forward pass says \[0, 0.51\], and the weights')
            self.assertNotIn("/tmp", str(wrong.exception))
            self.assertFalse(pathlib.Path(folder, "no").exists())
        # Letters and rows of the model's own numbers; a row that no answer has.
        other = {"rnn.weight_ih_l0": np.array([[9, 0, 1], [9, 0, -1]], np.float32), "rnn.weight_hh_l0": parity()["rnn.weight_hh_l0"],
                 "head.weight": np.array([[1, 1], [7, 7], [0, 0]], np.float32), "head.bias": np.array([-0.5, 7, 0], np.float32)}
        numbered = {"letters": {"0": 1, "1": 2}, "classes": {"reject": 2, "accept": 0}}
        turned = krohn.import_model(other, forward=lambda ids: np.concatenate([forward(ids - 1)[..., ::-1], ids[..., None]], -1)[..., [0, 2, 1]],
                                    **numbered, **common)  # fmt: skip
        self.assertGreater(krohn.verify(turned).compared_words, 100)
        for said, words in ((lambda ids: ids, "logits of the shape"), (lambda ids: forward(ids)[..., :0], "logits")):
            with self.assertRaisesRegex(ValueError, words):
                krohn.import_model(parity(), forward=said, **common)

    def test_a_state_dict_has_no_path(self):
        wrong = {**parity(), "tok.weight": np.zeros((2, 3), np.float32)}
        with self.assertRaises(krohn.InputError) as said:
            krohn.import_model(wrong, kind="rnn-relu", against="name:parity")
        self.assertRegex(str(said.exception), "^the state dict: tensor \"tok.weight\"")

    @unittest.skipUnless(HAS_TORCH, "PyTorch is not installed")
    def test_modules_are_imported_with_their_own_check(self):
        import torch

        class Tracker(torch.nn.Module):
            def __init__(self, is_residual, is_one=False):
                super().__init__()
                torch.manual_seed(5)
                self.is_residual = is_residual
                self.emb, self.drop = torch.nn.Embedding(2, 6), torch.nn.Dropout(0.5)
                self.rnn, self.head = torch.nn.GRU(6, 6, batch_first=True), torch.nn.Linear(6, 1 if is_one else 2)

            def forward(self, ids):
                inputs = self.emb(ids)
                states = self.drop(self.rnn(inputs)[0])
                return self.head(states + inputs if self.is_residual else states)

        common = {"kind": "gru", "against": "regex:(a|b)*abb"}
        for is_one in (False, True):
            plain = Tracker(False, is_one)
            run = krohn.import_model(plain, **common)
            self.assertTrue(plain.training and plain.drop.training)  # as it was
            self.assertEqual(krohn.verify(run, max_pairs=100, long_letters=0).compared_words, 182)
            with self.assertRaisesRegex(krohn.InputError, 'after "a".* its own forward pass says .* residual'):
                krohn.import_model(Tracker(True, is_one), **common)
            self.assertEqual(krohn.verify(krohn.import_model(Tracker(True, is_one), forward=False, **common), max_pairs=100,
                                          long_letters=0).compared_words, 0)  # fmt: skip
            words = np.random.default_rng(2).integers(0, 2, size=(50, 40))
            with torch.no_grad():
                said = plain.eval()(torch.from_numpy(words))[..., -1].numpy()
            np.testing.assert_allclose(run.logits(words)[..., -1], said, atol=1e-4)
        half = Tracker(False).bfloat16()
        self.assertEqual(krohn.verify(krohn.import_model(half, **common), max_pairs=100, long_letters=0).compared_words, 182)
        for work in (krohn.verify, krohn.evaluate, krohn.extract_model, krohn.snap, krohn.report, krohn.audit,
                     lambda net: krohn.compare(net, net), lambda net: krohn.check("c", net)):  # fmt: skip
            with self.assertRaisesRegex(TypeError, r"Tracker is a model of PyTorch: krohn.import_model\(net"):
                work(plain)
        with self.assertRaisesRegex(TypeError, r"OrderedDict is a model of PyTorch: krohn.import_model\(net"):
            krohn.verify(plain.state_dict())

    @unittest.skipUnless(HAS_TORCH, "PyTorch is not installed")
    def test_norms_heads_and_residuals_are_imported(self):
        import torch
        from torch import nn

        class Net(nn.Module):
            """Embedding, norm, cell, norm, head, or blocks x + cell(norm(x)) of such cells."""

            def __init__(self, cell, activation, *, norm=nn.LayerNorm, blocks=0, bias=True, functional=False):
                super().__init__()
                torch.manual_seed(7)
                self.functional = functional
                self.emb, self.first = nn.Embedding(2, 6), norm(6)
                self.blocks = nn.ModuleList(nn.ModuleDict({"norm": norm(6), "cell": cell(6, 6, batch_first=True)}) for _ in range(blocks))
                self.rnn, self.norm = cell(6, 8, num_layers=2, batch_first=True, bias=bias), norm(8)
                self.head = nn.Sequential(nn.Linear(8, 12, bias=bias), nn.Identity() if functional else activation, nn.Dropout(0.5),
                                          nn.LayerNorm(12, elementwise_affine=False) if norm is nn.LayerNorm else nn.Identity(),
                                          nn.Linear(12, 2))  # fmt: skip
                for parameter in self.parameters():
                    nn.init.normal_(parameter, 1.0 if parameter.dim() == 1 else 0.0, 0.5)

            def forward(self, ids):
                x = self.first(self.emb(ids))
                for block in self.blocks:
                    x = x + block["cell"](block["norm"](x))[0]
                x = self.head[0](self.norm(self.rnn(x)[0]))
                return self.head[1:](torch.relu(x) if self.functional else x)

        words = np.random.default_rng(4).integers(0, 2, size=(1000, 30))

        def compared(run, net):
            with torch.no_grad():
                said = net.eval()(torch.from_numpy(words)).numpy()
            np.testing.assert_allclose(run.logits(words), said, rtol=1e-4, atol=1e-4)

        against = {"against": "regex:(a|b)*abb"}
        if not hasattr(nn, "RMSNorm"):
            self.skipTest("this PyTorch has no RMSNorm")
        small, rms = lambda n: nn.LayerNorm(n, eps=1e-2), lambda n: nn.RMSNorm(n, eps=1e-2)
        for kind, net in (("gru", Net(nn.GRU, nn.ReLU())), ("lstm", Net(nn.LSTM, nn.GELU(), norm=small)),
                          ("rnn", Net(nn.RNN, nn.GELU("tanh"), norm=rms, bias=False)), ("gru", Net(nn.GRU, nn.SiLU())),
                          ("gru", Net(nn.GRU, nn.Tanh())), ("gru", Net(nn.GRU, nn.Sigmoid(), norm=nn.RMSNorm))):  # fmt: skip
            with self.subTest(net=str(net)):
                run = krohn.import_model(net, kind=kind, **against)
                self.assertTrue(net.training)
                compared(run, net)
                self.assertEqual(krohn.verify(run, max_pairs=100, long_letters=0).compared_words, 182)
        # A residual and a function without a module are seen by no hook: the check finds them, and a list says them.
        stack = Net(nn.GRU, nn.ReLU(), blocks=2)
        with self.assertRaisesRegex(krohn.InputError, "its own forward pass says .* residual"):
            krohn.import_model(stack, kind="gru", **against)
        modules = ["emb", "first", "+blocks.0.norm:blocks.0.cell", "+blocks.1.norm:blocks.1.cell", "rnn", "norm", "head.0", "relu",
                   "layer-norm", "head.4"]  # fmt: skip
        compared(krohn.import_model(stack, kind="gru", modules=modules, **against), stack)
        compared(krohn.import_model(stack.state_dict(), kind="gru", modules=modules, **against), stack)
        plain = Net(nn.GRU, nn.ReLU(), functional=True)
        with self.assertRaisesRegex(krohn.InputError, "another activation"):
            krohn.import_model(plain, kind="gru", **against)
        compared(krohn.import_model(plain, kind="gru", modules=modules[:2] + modules[4:], **against), plain)
        with self.assertRaisesRegex(krohn.InputError, "and a verdict would be about another model"):
            krohn.import_model(plain, kind="gru", modules=modules[:2] + modules[4:7] + ["silu"] + modules[8:], **against)
        # Trained further here, the numbers go back where they came from.
        # What a module does not have, the bias of a norm or of a layer, training leaves alone.
        for net, named in ((stack, {"modules": modules}), (Net(nn.RNN, nn.SiLU(), norm=rms, bias=False), {})):
            run = krohn.import_model(net, kind="rnn" if named == {} else "gru", **named, **against)
            further = krohn.train(against["against"], init=run, steps=40, rates=[3e-3], length=(1, 12), threads=1)
            net.load_state_dict(run.state_dict(further))
            compared(further, net)
            self.assertGreater(np.abs(further.logits(words) - run.logits(words)).max(), 0.1)
        plain.norm.eps = 1e-3
        with self.assertRaisesRegex(ValueError, "norm has eps 0.001 and a norm before it 1e-05"):
            krohn.import_model(plain, kind="gru", **against)

    def test_a_trained_cell_among_norms_is_proved(self):
        """Trained in PyTorch to forget (cell_goldens.py): closed regions hold the cell, its norms and its head."""
        weights = pathlib.Path(__file__).resolve().parents[1] / "data" / "cells" / "gru-trained.safetensors"
        modules = ["emb", "norm_in", "rnn", "norm", "head.0", "relu", "head.3"]
        run = krohn.import_model(weights, kind="gru", modules=modules, against="name:parity")
        verdict = krohn.verify(run, any_order=True)
        self.assertTrue(verdict.proved)
        with tempfile.TemporaryDirectory() as folder:
            verdict.save(folder + "/c")
            self.assertTrue(krohn.check(folder + "/c", run))
        self.assertTrue(krohn.verify(run, against="regex:(0|1)*1").refuted)
        # Without a norm, or with another function, it is another model, and no longer right.
        for other in (modules[:3] + ["layer-norm"] + modules[4:5] + ["tanh"] + modules[6:], modules[:5] + ["silu"] + modules[6:]):
            with self.assertRaises(krohn.InputError) if "layer-norm" in other else contextlib.nullcontext():
                moved = krohn.import_model(weights, kind="gru", modules=other, against="name:parity")
                self.assertNotEqual(moved.logits("0110").tolist(), run.logits("0110").tolist())

    def test_a_module_is_trained_to_a_proof_and_its_tensors_go_back(self):
        weights = pathlib.Path(__file__).resolve().parents[1] / "data" / "cells" / "gru-trained.safetensors"
        modules = ["emb", "norm_in", "rnn", "norm", "head.0", "relu", "head.3"]
        run = krohn.import_model(weights, kind="gru", modules=modules, against="regex:(0|1)*1", letters={"0": 1, "1": 0})
        self.assertTrue(krohn.verify(run).refuted)
        proved = krohn.train("regex:(0|1)*1", init=run, contract=3, certify=True, length=(1, 20), rates=[1e-2], clip=1, stop_at=0,
                             steps=2000, threads=1)  # fmt: skip
        self.assertTrue(krohn.verify(proved, any_order=True).proved)
        tensors = run.state_dict(proved)
        again = krohn.import_model(tensors, kind="gru", modules=modules, against="regex:(0|1)*1", letters={"0": 1, "1": 0})
        words = np.random.default_rng(4).integers(0, 2, size=(100, 30))
        np.testing.assert_array_equal(again.logits(words), proved.logits(words))
        # Of a read-out that is the embedding, training makes two.
        shared = {"emb.weight": np.eye(2, dtype=np.float32), "emb.bias": np.zeros(2, np.float32),
                  "rnn.weight_ih_l0": np.ones((2, 2), np.float32), "rnn.weight_hh_l0": np.eye(2, dtype=np.float32)}  # fmt: skip
        run = krohn.import_model(shared, kind="rnn", against="name:parity", embedding="emb", head="emb")
        same = krohn.train("name:parity", init=run, steps=0, threads=1)
        self.assertEqual(sorted(run.state_dict(same)), sorted(shared))
        with self.assertRaisesRegex(krohn.InputError, "shares numbers of the tensors"):
            run.state_dict(krohn.train("name:parity", init=run, steps=10, threads=1))
        with self.assertRaisesRegex(krohn.InputError, "no run that was trained from this one"):
            run.state_dict(proved)
        with self.assertRaisesRegex(krohn.InputError, "not made by krohn.import_model"):
            same.state_dict(same)

    @unittest.skipUnless(HAS_TORCH, "PyTorch is not installed")
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

    @unittest.skipUnless(HAS_TRANSFORMERS, "transformers is not installed")
    def test_layers_that_begin_here_are_their_libraries_own(self):
        import torch
        from safetensors.torch import load_file
        from transformers import Mamba2Config, xLSTMConfig
        from transformers.models.mamba2.modeling_mamba2 import Mamba2Mixer
        from transformers.models.xlstm import modeling_xlstm

        words = np.random.default_rng(6).integers(0, 2, size=(20, 40))
        mamba2 = Mamba2Config(hidden_size=8, num_heads=2, head_dim=8, state_size=16, n_groups=1, num_hidden_layers=1)
        layers = [("mamba2:width=8,bare", Mamba2Mixer(mamba2, 0))]
        if hasattr(modeling_xlstm, "xLSTMLayer"):  # where xlstm is installed, transformers takes its classes
            config = xLSTMConfig(hidden_size=16, embedding_dim=16, num_heads=2, num_hidden_layers=1, num_blocks=1)
            layers.append(("mlstm:width=16,bare", modeling_xlstm.xLSTMLayer(config)))
        for model, mixer in layers:
            run = krohn.train("regex:(a|b)*abb", model=model, rates=[1e-2], length=(1, 20), steps=50, threads=1)
            tensors = load_file(pathlib.Path(run.folder) / "parameters.safetensors")
            own = {name.removeprefix("layers.0.mixer."): of for name, of in tensors.items() if name.startswith("layers.")}
            mixer.load_state_dict(own)  # all of them, and no other
            with torch.no_grad():
                given = mixer(tensors["embedding.weight"][torch.tensor(words)])
                given = given[0] if isinstance(given, tuple) else given
                logits = given @ tensors["head.weight"].T + tensors["head.bias"]
            np.testing.assert_allclose(run.logits(words), logits.numpy(), rtol=1e-4, atol=1e-4)


if __name__ == "__main__":
    unittest.main()
