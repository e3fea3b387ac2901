"""krohn.testing: assertions whose messages are true, and measurements during training."""
import importlib.util
import unittest
from unittest import mock

import krohn
import numpy as np
from krohn.testing import HorizonCallback, assert_same_function, assert_tracks, horizon

HAS_TORCH = importlib.util.find_spec("torch") is not None
HAS_LIGHTNING = any(importlib.util.find_spec(name) is not None for name in ("lightning", "pytorch_lightning"))
QUICK = {"short": 200, "letters": 5_000}


def tracker(automaton):
    """The step function that is right."""
    table, outputs = automaton.table, automaton.outputs
    return lambda state, letter: (table[state, letter], outputs[table[state, letter]])


def spoiled(automaton, after):
    """A step function whose state is lost after so many letters."""

    table, outputs, initial = automaton.table, automaton.outputs, automaton.initial

    def step(state, letter):
        read, at = state
        at = initial if read == after else table[at, letter]
        return (read + 1, at), outputs[at]

    return step


def saturating(top):
    return lambda words: np.minimum(words.sum(axis=1), top) % 2


class Assertions(unittest.TestCase):
    def message(self, call):
        with self.assertRaises(AssertionError) as raised:
            call()
        return str(raised.exception)

    def test_what_tracks_passes_in_every_form(self):
        s5 = krohn.Automaton("name:S5")
        trial = assert_tracks(tracker(s5), s5, up_to=10_000, form="step", initial=s5.initial, **QUICK)
        self.assertEqual((trial.passed, trial.right_up_to), (True, 10_000))
        for source in ("name:S3", "regex:(a|b)*abb", "name:tomita3"):
            network = krohn.compile(source)
            for model in (network, krohn.adapters.network(network, precision="fp64")):
                self.assertTrue(assert_tracks(model, source, up_to=60, **QUICK))
                self.assertTrue(krohn.test(model, source, length=60, **QUICK))

    def test_a_failure_names_word_answers_and_the_length_up_to_which_all_is_right(self):
        text = self.message(lambda: assert_tracks(saturating(40), "name:parity", up_to=200, letters=100_000))
        for part in ("name:parity: refuted, a failing word has 41 letters", "word      1^41", "expected  accept",
                     "answered  reject", "Every word of 1 to 13 letters is right",
                     "The words that were read are right up to 40 letters", "a shorter word than this one may fail"):
            self.assertIn(part, text)
        text = self.message(lambda: assert_tracks(saturating(4), "name:parity"))
        self.assertIn("a shortest failing word has 5 letters", text)
        self.assertIn("Every word of 1 to 4 letters is right; no shorter word fails.", text)

    def test_no_word_beyond_up_to_is_read(self):
        s3 = krohn.Automaton("name:S3")
        for after, up_to, passes in ((9, 9, True), (9, 10, False), (500, 500, True), (500, 520, False)):
            step = spoiled(s3, after)
            call = lambda: assert_tracks(step, s3, up_to=up_to, form="step", initial=(0, s3.initial),  # noqa: E731
                                         short=100, letters=20_000)
            if passes:
                self.assertEqual(call().right_up_to, up_to)
            else:
                self.assertIn("refuted", self.message(call))

    def test_right_up_to_is_what_the_words_show(self):
        """Counts every word that was asked, by brute force over the model's own inputs."""
        parity = krohn.Automaton("name:parity")
        for top in (3, 13, 14, 50, 90):
            asked = []

            def model(words):
                asked.extend(tuple(word) for word in words.tolist())
                return saturating(top)(words)

            trial = krohn.test(model, parity, length=100, letters=50_000)
            self.assertFalse(trial)
            wrong = [len(word) for word in asked if min(sum(word), top) % 2 != sum(word) % 2]
            self.assertEqual(trial.right_up_to, min(wrong) - 1)

    def test_two_models_are_the_same_function_or_a_word_tells_them_apart(self):
        s3 = krohn.Automaton("name:S3")
        whole = krohn.BlackBox(lambda words: s3.outputs[s3.run(words)][:, -1])
        network = krohn.compile(s3)
        right = tracker(s3)
        how = {"form": "step", "initial": s3.initial, "up_to": 80, **QUICK}
        for first, second in ((right, right), (right, network), (network, whole), (whole, right)):
            self.assertTrue(assert_same_function(first, second, s3, **how))
        wrong = krohn.BlackBox(spoiled(s3, 30), form="step", initial=(0, s3.initial))
        for first in (right, network, whole):
            for pair in ((first, wrong), (wrong, first)):
                text = self.message(lambda: assert_same_function(*pair, s3, **how))
                self.assertIn("the second model against the first", text)
                self.assertIn("refuted, a failing word has 31 letters", text)
        # The language only says which words are tried: two models that are wrong alike are the same function.
        nothing = lambda words: np.zeros(len(words), dtype=int)  # noqa: E731
        self.assertTrue(assert_same_function(nothing, nothing, s3, up_to=50, **QUICK))
        self.message(lambda: assert_tracks(nothing, s3))

    def test_answers_that_are_no_output_agree_with_nothing(self):
        none = lambda words: [None] * len(words)  # noqa: E731
        text = self.message(lambda: assert_same_function(none, none, "name:parity"))
        self.assertIn("nothing to compare with", text)
        self.assertIn("nothing that is an output",
                      self.message(lambda: assert_same_function(saturating(9), none, "name:parity")))

    def test_what_is_wrong_with_the_question_is_no_failed_assertion(self):
        network = krohn.compile("name:parity")
        for call in (
            lambda: assert_tracks(network, "name:parity", form="words"),
            lambda: assert_tracks(3, "name:parity"),
            lambda: assert_tracks(len, "name:parity", up_to=-1),
            lambda: assert_tracks(network, "name:S3"),
            lambda: HorizonCallback("name:parity", every=0),
        ):
            with self.assertRaises((ValueError, TypeError)):
                call()


class Training(unittest.TestCase):
    def test_a_measurement_says_what_the_trial_found(self):
        s3 = krohn.Automaton("name:S3")
        for after, right, passed in ((0, 0, 0), (2, 2, 0), (70, 70, 0), (100, 100, 1)):
            box = krohn.BlackBox(spoiled(s3, after), form="step", initial=(0, s3.initial))
            found = horizon(box, s3, up_to=100)
            self.assertEqual((found["right_up_to"], found["passed"]), (right, passed))
            self.assertEqual(found["all_right_up_to"], min(right, 4))

    def test_it_measures_every_so_many_steps_and_logs(self):
        logged = []
        measure = HorizonCallback("name:parity", every=3, up_to=40, log=lambda facts, step: logged.append((step, facts)),
                                  of=lambda top: saturating(top))
        returned = [measure(5, step) for step in range(8)]
        self.assertEqual([step for step, facts in enumerate(returned) if facts], [0, 3, 6])
        self.assertEqual(logged, [(step, returned[step]) for step in (0, 3, 6)])
        self.assertEqual(returned[3], {"krohn/right_up_to": 5, "krohn/all_right_up_to": 5, "krohn/passed": 0})
        self.assertIsNone(measure(5, 6))  # the same step once more, of accumulated gradients

    def test_without_lightning_its_callback_says_so(self):
        with mock.patch.dict("sys.modules", {"lightning": None, "lightning.pytorch": None, "pytorch_lightning": None}):
            with self.assertRaises(ImportError):
                HorizonCallback("name:parity").lightning()

    @unittest.skipUnless(HAS_TORCH, "PyTorch is not installed")
    def test_a_module_is_asked_without_dropout_and_goes_on_training(self):
        import torch

        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.drop = torch.nn.Dropout(0.5)
                self.frozen = torch.nn.Dropout(0.5).eval()
                self.scale = torch.nn.Parameter(torch.ones(()))

            def forward(self, ids):
                return self.drop(torch.nn.functional.one_hot(ids.cumsum(1) % 2, 2).float() * self.scale)

        net = Net()
        before = torch.get_rng_state()
        found = HorizonCallback("name:parity", every=2, up_to=50)(net, 4)
        self.assertEqual(found, {"krohn/right_up_to": 50, "krohn/all_right_up_to": 9, "krohn/passed": 1})
        self.assertEqual((net.training, net.drop.training, net.frozen.training), (True, True, False))
        self.assertTrue(torch.equal(before, torch.get_rng_state()))
        self.assertTrue(torch.is_grad_enabled())
        with self.assertWarns(UserWarning):  # as krohn.test does
            self.assertRaises(AssertionError, assert_tracks, net, "name:parity")

    @unittest.skipUnless(HAS_TORCH and HAS_LIGHTNING, "PyTorch or Lightning is not installed")
    def test_lightning_logs_it(self):
        import torch

        try:
            from lightning import pytorch as lightning
        except ImportError:
            import pytorch_lightning as lightning

        class Net(lightning.LightningModule):
            def __init__(self):
                super().__init__()
                self.scale = torch.nn.Parameter(torch.ones(()))

            def forward(self, ids):
                return torch.nn.functional.one_hot(ids.cumsum(1).clamp(max=7) % 2, 2).float() * self.scale

            def training_step(self, batch, _):
                return self(batch).sum()

            def configure_optimizers(self):
                return torch.optim.SGD(self.parameters(), lr=0.0)

        seen = []
        measure = HorizonCallback("name:parity", every=2, up_to=30, log=lambda facts, step: seen.append(step))
        trainer = lightning.Trainer(max_steps=5, accelerator="cpu", logger=False, enable_checkpointing=False,
                                    enable_progress_bar=False, enable_model_summary=False, callbacks=[measure.lightning()])
        trainer.fit(Net(), torch.utils.data.DataLoader(torch.zeros((5, 3), dtype=torch.int64)))
        self.assertEqual(seen, [2, 4])
        self.assertEqual(trainer.callback_metrics["krohn/right_up_to"].item(), 7)
        self.assertEqual(trainer.callback_metrics["krohn/passed"].item(), 0)


if __name__ == "__main__":
    unittest.main()
