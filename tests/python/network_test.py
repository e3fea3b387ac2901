"""Networks, certificates and data sets from Python."""
import ctypes
import os
import pathlib
import platform
import sys
import tempfile
import threading
import time
import unittest

import krohn
import numpy as np


class Networks(unittest.TestCase):
    def test_compiled_networks_say_what_their_automata_say(self):
        for name, construction in (("regex:(a|b)*abb", None), ("name:S3", "permutation"), ("name:modarith5", None),
                                   ("name:tomita5", "cascade-holonomy")):
            network = krohn.compile(name, construction=construction)
            words = np.random.default_rng(4).integers(0, len(network.automaton.letters), size=(10, 50))
            np.testing.assert_array_equal(network.run(words), network.automaton.run(words), name)
            self.assertTrue(krohn.verify(network).proved, name)

    def test_arrays_in_are_arrays_out(self):
        network = krohn.compile("name:D4", construction="permutation")
        arrays = network.state_dict()
        self.assertEqual(arrays["layers.0.A"].dtype, np.float32)
        again = network.with_weights({name: arrays[name] for name in ("layers.0.A", "layers.0.H0")})
        self.assertTrue(krohn.verify(again, against="name:D4").proved)
        arrays["layers.0.A"][1] = np.eye(len(arrays["layers.0.H0"]))
        spoiled = network.with_weights({name: arrays[name] for name in ("layers.0.A", "layers.0.H0")})
        certificate = krohn.verify(spoiled)
        self.assertTrue(certificate.refuted)
        np.testing.assert_array_equal(certificate.failing_word, [1])
        self.assertTrue(certificate.is_shortest)
        self.assertIn("refuted", str(certificate))
        self.assertTrue(krohn.verify(network).proved)  # the first network is as it was

    def test_a_cascade_takes_weights_layer_by_layer(self):
        network = krohn.compile("name:tomita4", construction="cascade-holonomy")
        arrays = network.state_dict()
        layers = {name: array for name, array in arrays.items()
                  if name.split(".")[-1] in ("A", "B", "H0") and name.startswith("layers.")}
        self.assertIn("layers.0.B", layers)
        self.assertTrue(krohn.verify(network.with_weights(layers)).proved)
        without_b = {name: array for name, array in layers.items() if not name.endswith(".B")}
        self.assertTrue(krohn.verify(network.with_weights(without_b)).proved)

    def test_weights_of_one_layer_from_anywhere(self):
        automaton = krohn.Automaton("name:Z3")
        turn = 2 * np.pi / 3
        a = np.array([[[np.cos(k * turn), -np.sin(k * turn)], [np.sin(k * turn), np.cos(k * turn)]] for k in range(3)])
        codewords = np.array([[np.cos(k * turn), np.sin(k * turn)] for k in range(3)])
        network = krohn.Network.from_arrays(automaton, a, initial=codewords[0], codewords=codewords)
        certificate = krohn.verify(network, precision="fp32", max_pairs=1000)
        self.assertIn(certificate.claim, ("proved", "proved up to a length"))
        reset = krohn.Automaton("regex:(a|b)*a")
        flip_flop = krohn.Network.from_arrays(reset, np.zeros((2, 2, 2)), np.eye(2)[::-1], initial=[1, 0],
                                              codewords=np.eye(2))
        self.assertTrue(krohn.verify(flip_flop, precision="bf16").proved)

    def test_what_is_wrong_is_refused(self):
        parity = krohn.Automaton("name:parity")
        good = {"a": np.ones((2, 1, 1)), "initial": [1.0], "codewords": [[1.0], [-1.0]]}
        self.assertIsNotNone(krohn.Network.from_arrays(parity, **good))
        for part, value in (
            ("a", np.ones((2, 1, 2))), ("a", np.ones((3, 1, 1))), ("a", np.full((2, 1, 1), np.nan)), ("a", [1.0, 2.0]),
            ("b", np.ones((2, 2, 1))), ("b", np.full((2, 1), np.inf)), ("initial", [1.0, 2.0]), ("initial", []),
            ("initial", 1.0), ("codewords", np.ones((1, 1))), ("codewords", np.ones((2, 2))),
            ("codewords", [[np.nan], [1.0]]),
        ):
            with self.subTest(part=part, value=value), self.assertRaises(ValueError):
                krohn.Network.from_arrays(parity, **{**good, part: value})
        with self.assertRaises(TypeError):
            krohn.Network.from_arrays(parity, **{**good, "a": np.ones((2, 1, 1), dtype=complex)})
        network = krohn.compile("name:parity")
        for call in (
            lambda: krohn.verify(network, precision="fp33"),
            lambda: krohn.verify(network, order="sideways"),
            lambda: krohn.verify(network, against="name:Z3"),
            lambda: network.run([7]),
            lambda: network.with_weights({"layers.9.A": np.ones((2, 1, 1))}),
            lambda: network.with_weights({"layers.0.A": np.ones((2, 1, 1))}),
            lambda: krohn.compile("name:parity", construction="nothing"),
            lambda: krohn.compile("name:parity", keys="golden"),
            lambda: krohn.compile("regex:(a|b)*abb", construction="permutation"),
            lambda: krohn.export(network, "stone", "x"),
            lambda: krohn.export(network, "onnx", "x.npz"),
            lambda: krohn.sample(network, lengths=[]),
        ):
            with self.assertRaises(ValueError):
                call()
        with self.assertRaises(OSError):
            krohn.Network.load("/nowhere/model.safetensors")

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            network = krohn.compile("name:S3", construction="permutation-base-reflections")
            path = os.path.join(folder, "s3.safetensors")
            network.save(path)
            again = krohn.Network.load(path)
            self.assertEqual(again.metadata, network.metadata)
            self.assertTrue(krohn.verify(path).proved)
            certificate = krohn.verify(network)
            certificate.save(os.path.join(folder, "s3.cert.json"))
            with open(os.path.join(folder, "s3.cert.json"), encoding="utf-8") as file:
                self.assertEqual(file.read(), certificate.text())
            krohn.export(network, "numpy", os.path.join(folder, "s3.npz"))
            with np.load(os.path.join(folder, "s3.npz")) as archive:  # which compares every entry's checksum
                found = {name: (array.dtype, array.shape, array.tobytes()) for name, array in archive.items()}
            texts = {f"metadata.{name}": np.frombuffer(text.encode(), np.uint8) for name, text in network.metadata.items()}
            self.assertEqual(found, {name: (array.dtype, array.shape, array.tobytes())
                                     for name, array in {**network.state_dict(), **texts}.items()})
            transpositions = krohn.Automaton("name:S3", generators="transpositions")
            krohn.export(transpositions, "fla-deltanet", os.path.join(folder, "s3"))
            krohn.export("name:parity", "torch-gru", os.path.join(folder, "gru"))
            self.assertTrue(krohn.verify(os.path.join(folder, "gru")).proved)
            self.assertTrue(krohn.verify(os.path.join(folder, "s3"), precision="bf16").proved)
            self.assertIn("<svg", network._repr_svg_())

    def test_data_sets_are_labelled_by_the_automaton(self):
        data = krohn.dataset("tomita5", samples=50, length=(3, 20), seed=5)
        automaton = krohn.Automaton("name:tomita5")
        labels = np.array([data.labels.index(name) for name in automaton.output_names])
        for tokens, targets, length in zip(data.inputs, data.targets, data.lengths):
            states = automaton.run(tokens[:length])
            np.testing.assert_array_equal(targets[:length], labels[automaton.outputs[states]])
            self.assertTrue((targets[length:] == -100).all())
        again = krohn.dataset("tomita5", samples=10, length=(3, 20), seed=5, first_index=40)
        np.testing.assert_array_equal(again.lengths, data.lengths[40:])
        self.assertEqual(len(krohn.dataset("parity", samples=0)), 0)
        self.assertEqual(data.mask.sum(1).tolist(), data.lengths.tolist())
        self.assertTrue((data.targets[~data.mask] == -100).all())
        filled = data.filled(len(data.tokens))
        self.assertEqual((filled == len(data.tokens)).tolist(), (~data.mask).tolist())
        self.assertTrue((filled == data.inputs)[data.mask].all())
        rare = krohn.dataset("regex:(a|b)*abb", samples=400, length=(1, 9), seed=5)
        even = rare.balanced(seed=2)
        last = [each.targets[np.arange(len(each)), each.lengths - 1] for each in (rare, even)]
        self.assertEqual(np.bincount(last[1]).tolist(), [last[0].sum()] * 2)
        self.assertGreater(last[0].sum(), 10)
        rows = {(row.tobytes(), target.tobytes()) for row, target in rare}
        self.assertTrue(all((row.tobytes(), target.tobytes()) in rows for row, target in even))
        self.assertEqual(even.inputs.tolist(), rare.balanced(seed=2).inputs.tolist())
        self.assertNotEqual(even.inputs.tolist(), rare.balanced(seed=3).inputs.tolist())
        self.assertEqual(len(krohn.dataset("parity", samples=0).balanced()), 0)
        self.assertIn("50 samples", repr(data))
        self.assertLess(max(len(repr(each)) for each in (data, krohn.dataset("parity", samples=0))), 200)
        by_name = krohn.dataset("name:tomita5", samples=10, length=(3, 20), seed=5)
        by_automaton = krohn.dataset(krohn.Automaton("name:tomita5"), samples=10, length=(3, 20), seed=5)
        np.testing.assert_array_equal(by_name.inputs, by_automaton.inputs)
        np.testing.assert_array_equal(by_name.targets, by_automaton.targets)
        self.assertRaises(ValueError, krohn.dataset, krohn.Automaton("name:S3"), samples=1, generators="all")
        for call in (lambda: krohn.dataset("nothing", samples=1), lambda: krohn.dataset("S5", samples=1, length=(9, 3))):
            with self.assertRaises(ValueError):
                call()
        with self.assertRaises(krohn.LimitError):
            krohn.dataset("parity", samples=10**9, length=10**6)


class LongWork(unittest.TestCase):
    def test_other_threads_run(self):
        network = krohn.compile("name:Z60", construction="rotation")
        certificates = []
        thread = threading.Thread(target=lambda: certificates.append(krohn.verify(network, max_pairs=60_000)))
        started = time.monotonic()
        thread.start()
        turns = 0
        while thread.is_alive():
            time.sleep(0.002)
            turns += 1
        took = time.monotonic() - started
        self.assertEqual(certificates[0].claim, "proved up to a length")
        self.assertGreater(turns, took / 0.002 / 20)


@unittest.skipUnless(sys.platform == "linux" and platform.machine() == "x86_64", "sets the registers of x86-64")
class ForeignEnvironment(unittest.TestCase):
    """A setting that other libraries of a process may make for its threads, as torch.set_flush_denormal(True) does."""

    MODEL = pathlib.Path(__file__).resolve().parent.parent / "data/findings/subnormal.safetensors"
    UP, FLUSH = 0x4000, 0x8040  # of MXCSR

    def setUp(self):
        self.libm = ctypes.CDLL("libm.so.6")
        self.before = self.environment()
        self.addCleanup(lambda: self.libm.fesetenv(self.before))

    def environment(self):
        """The C library's fenv_t: 28 bytes of the x87, then MXCSR."""
        buffer = ctypes.create_string_buffer(32)
        self.libm.fegetenv(buffer)
        return buffer

    def mxcsr(self):
        return int.from_bytes(self.environment().raw[28:], "little") & ~0x3F

    def set_bits(self, bits):
        changed = ctypes.create_string_buffer(self.before.raw, 32)
        changed[28:32] = (int.from_bytes(self.before.raw[28:], "little") | bits).to_bytes(4, "little")
        self.libm.fesetenv(changed)

    def asked(self):
        """Everything that computes, as values that can be compared."""
        network = krohn.Network.load(self.MODEL)
        rotation = krohn.compile("name:Z5", construction="rotation")
        found = [network.run(np.zeros((1, 3), dtype=np.int64)).tolist(),
                 [weights.tobytes() for weights in rotation.state_dict().values()]]
        for model, precision in ((network, "fp32"), (rotation, "bf16")):
            certificate = krohn.verify(model, precision=precision)
            found.append((certificate.claim, certificate.failing_word.tolist(), str(certificate)))
        return found

    def test_verdicts_are_those_of_a_clean_thread_which_is_left_as_it_was(self):
        wanted = self.asked()
        self.assertEqual(wanted[2][:2], ("refuted", [0]))
        self.assertEqual(len(wanted[3][1]), 249)
        for bits in (self.FLUSH, self.UP, self.FLUSH | self.UP):
            with self.subTest(bits=bits):
                self.set_bits(bits)
                mine = self.mxcsr()
                found = self.asked()
                after = self.mxcsr()
                self.libm.fesetenv(self.before)
                self.assertEqual(found, wanted)
                self.assertEqual(after, mine)
                self.assertEqual(mine & bits, bits)


if __name__ == "__main__":
    unittest.main()
