"""The verbs of the command as functions: the same answers as the command's, as objects; errors, progress, interrupts."""
import inspect
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from html.parser import HTMLParser
from unittest import mock

import krohn
import numpy as np
from krohn import progress
from krohn.asking import ask

COMMAND = os.environ.get("KROHN_COMMAND")
ABB = "regex:(a|b)*abb"


def silent(**options):
    return {"progress": False, **options}


@unittest.skipUnless(COMMAND, "KROHN_COMMAND does not name the command to compare with")
class SameAnswers(unittest.TestCase):
    def said(self, *arguments):
        done = subprocess.run([COMMAND, *arguments, "--json"], capture_output=True, text=True, check=False)
        return json.loads(done.stdout), done.returncode

    def test_questions_are_answered_as_the_command_answers_them(self):
        asked = {
            ("equal", ABB, "regex:(a*b*)*abb"): 0,
            ("equal", ABB, "regex:(a|b)*bb"): 1,
            ("equal", "name:Z5", "name:Z5"): 0,
            ("included", ABB, "regex:(a|b)*bb"): 0,
            ("included", "regex:(a|b)*bb", ABB): 1,
            ("disjoint", ABB, "regex:(a|b)*a"): 0,
            ("disjoint", ABB, "regex:(a|b)*b"): 1,
            ("empty", "regex:[]"): 0,
            ("empty", ABB): 1,
        }
        for (verb, *languages), status in asked.items():
            with self.subTest(verb=verb, languages=languages):
                answer = getattr(krohn, verb)(*languages)
                self.assertEqual((dict(answer), answer.status), self.said(verb, *languages))
                self.assertEqual(answer.status, status)
                self.assertEqual(bool(answer), status == 0)
                self.assertEqual("word" in answer, status == 1)

    def test_facts_are_those_of_the_command(self):
        same = {
            ("info", ABB): krohn.info(ABB),
            ("elements", "name:tomita3"): krohn.elements("name:tomita3"),
            ("words", ABB, "--length=7"): ask("words", ABB, length=7),
            ("decompose", "name:modarith5", "--primes", "--tables"): krohn.decompose("name:modarith5", primes=True, tables=True),
        }
        for arguments, facts in same.items():
            with self.subTest(arguments=arguments):
                self.assertEqual((dict(facts), facts.status), self.said(*arguments))


class Languages(unittest.TestCase):
    def test_automata_of_this_process_are_operands(self):
        parity = krohn.Automaton.from_table([[0, 1], [1, 0]], letters="ab", accepting=[1])
        self.assertTrue(krohn.equal(parity, "regex:a*b(a*ba*b)*a*"))
        self.assertEqual(krohn.equal(parity, ABB).word, "b")
        self.assertEqual(krohn.equal(parity, ABB).first, "the automaton")  # not the name of a file
        self.assertEqual(krohn.words(parity, length=2), ["ab", "ba"])

    def test_words(self):
        self.assertEqual(krohn.words(ABB, shortest=3), ["abb", "aabb", "babb"])
        drawn = krohn.words(ABB, length=30, random=5, seed=7)
        self.assertEqual([len(word) for word in drawn], [30] * 5)
        self.assertTrue(krohn.Automaton(ABB).accepts(drawn).all())
        self.assertEqual(drawn, krohn.words(ABB, length=30, random=5, seed=7))

    def test_expressions(self):
        made = krohn.combine(f"{ABB} & ~name:parity", alphabet="ab01")
        self.assertTrue(made.accepts("abb"))
        self.assertFalse(made.accepts("ab"))
        with self.assertRaises(krohn.InputError):
            krohn.combine("name:parity &")

    def test_decompositions(self):
        found = krohn.decompose("name:modarith5")
        self.assertTrue(found.proved)
        self.assertEqual(found.arrays()["group"].tolist(), ["Z_4", "Z_5"])
        self.assertEqual(found.complexity.at_most, 2)
        self.assertEqual(len(krohn.decompose("name:S3", primes=True).layers), 2)
        self.assertIn("</svg>", found.picture().svg)


class Trained(unittest.TestCase):
    """One small run, and everything that is done with it."""

    @classmethod
    def setUpClass(cls):
        cls.steps = []
        cls.run_ = krohn.train("parity", model="bilinear:diagonal,hidden=4,inputs=4", length=(2, 10), rates=[1e-2, 1e-3], seeds=2,
                               steps=150, words=16, threads=1, progress=lambda *told: cls.steps.append(told))  # fmt: skip

    def test_a_run_has_what_run_json_has(self):
        run = self.run_
        with open(os.path.join(run, "run.json"), encoding="utf-8") as file:
            self.assertEqual(run.facts, json.load(file))
        self.assertEqual((run.task, run.rates, len(run.runs)), ("parity", [0.01, 0.001], 4))
        columns = run.arrays()
        self.assertEqual(columns["seed"].tolist(), [1, 2, 1, 2])
        self.assertEqual(run.best.validation_loss, columns["validation_loss"].min())
        self.assertEqual(len(krohn.Run(run.folder).runs), 4)
        with self.assertRaises(AttributeError):
            run.no_such_field

    def test_a_run_that_was_never_validated_has_no_loss(self):
        with tempfile.TemporaryDirectory() as folder:
            lost = {"rate": 10.0, "seed": 1, "steps": 7, "state": "diverged", "validation_loss": None, "validation_accuracy": None, "best": False}
            with open(os.path.join(folder, "run.json"), "w", encoding="utf-8") as file:
                json.dump({"task": "parity", "model": "rnn:hidden=2", "runs": [lost]}, file)
            run = krohn.Run(folder)
            columns = run.arrays()
            for name in ("validation_loss", "validation_accuracy", "test_accuracy"):
                self.assertTrue(columns[name][0] != columns[name][0], name)  # NaN
            self.assertEqual(run._repr_html_().count("none"), 2)

    def test_progress_is_told(self):
        self.assertIn("training, steps", {what for what, _, _ in self.steps})
        for what, done, total in self.steps:
            self.assertIsInstance(what, str)
            self.assertLessEqual(done, total)

    def test_folders_live_as_long_as_their_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            kept = os.path.join(folder, "kept")
            run = krohn.train("parity", model="bilinear:diagonal,hidden=2,inputs=2", steps=0, **silent())
            self.assertEqual(run.save(kept).facts, run.facts)
            gone = run.folder
            del run
            self.assertFalse(os.path.exists(gone))
            self.assertTrue(os.path.exists(os.path.join(kept, "parameters.safetensors")))

    def test_evaluations(self):
        found = krohn.evaluate(self.run_, [3, 10], words=50, **silent())
        arrays = found.arrays()
        self.assertEqual(arrays["length"].tolist(), [3, 10])
        self.assertTrue((arrays["low"] <= arrays["accuracy"]).all() and (arrays["accuracy"] <= arrays["high"]).all())
        self.assertEqual(found.picture().svg.count("<circle"), 2)  # a dot for each length
        self.assertEqual(dict(krohn.evaluate(self.run_, [3, 10], words=50, **silent())), dict(found))

    def test_what_was_learned_is_snapped_compared_and_proved(self):
        learned = krohn.extract_model(self.run_, length=8, against="name:parity", **silent())
        self.assertEqual(learned.states, learned.automaton.states)
        self.assertEqual(learned.equal, learned.automaton.equivalent(krohn.Automaton("name:parity")))
        snapped = krohn.snap(krohn.compile("name:Z5", construction="rotation"), against="name:Z5", **silent())
        self.assertTrue(snapped.equal)
        self.assertEqual(snapped.proved, krohn.verify(snapped.network, **silent()).proved)
        self.assertEqual(snapped.output if "output" in snapped else "", "")

    def test_comparisons_have_the_numbers_of_their_plots(self):
        rotation, permutation = (krohn.compile("name:Z5", construction=name) for name in ("rotation", "permutation"))
        found = krohn.compare(rotation, permutation)
        letters = found.arrays()
        self.assertEqual(list(letters), rotation.automaton.letters)
        for letter, arrays in letters.items():
            turns = np.angle(arrays["exact_eigenvalues"]) / (2 * np.pi)
            self.assertTrue(all(np.min(np.abs(arrays["exact_turns"] - turn)) < 1e-9 for turn in turns), letter)
            self.assertTrue(np.allclose(np.abs(arrays["eigenvalues"]), 1))
        self.assertEqual(len(found.planes[0].turns), 5)
        self.assertIn("</svg>", found.picture().svg)

    def test_imports_become_runs(self):
        parity = {  # h <- relu(W x + U h) with units x - s and s - x of s, their own sum
            "rnn.weight_ih_l0": np.array([[0, 1], [0, -1]], np.float32),
            "rnn.weight_hh_l0": np.array([[-1, -1], [1, 1]], np.float32),
            "head.weight": np.array([[0, 0], [1, 1]], np.float32),
            "head.bias": np.array([0, -0.5], np.float32),
        }
        run = krohn.import_model(parity, kind="rnn-relu", against="name:parity")
        self.assertTrue(krohn.verify(run).proved)
        self.assertTrue(krohn.extract_model(run, length=8, **silent()).equal)
        turned = krohn.import_model(parity, kind="rnn-relu", against="name:parity", classes={"accept": 0, "reject": 1})
        self.assertTrue(krohn.verify(turned).refuted)
        with self.assertRaisesRegex(krohn.InputError, "no_such|no such"):
            krohn.import_model({**parity, "no such": np.zeros(3, np.float32)}, kind="rnn-relu", against="name:parity")
        with self.assertRaisesRegex(TypeError, "complex128"):
            krohn.import_model({"a": np.zeros(1, complex)}, kind="rnn-relu", against="name:parity")
        given = os.path.join(os.path.dirname(__file__), "..", "data")
        with self.assertRaises(krohn.InputError) as wrong:
            krohn.import_model(os.path.join(given, "no-such.dot"), kind="gru", against="name:parity")
        self.assertIn("import", str(wrong.exception))
        with self.assertRaises(krohn.InputError) as wrong:
            krohn.import_model(parity, kind="no such", against="name:parity")
        self.assertIn("no such", str(wrong.exception))


class Checked(unittest.TestCase):
    def test_certificates_are_rechecked(self):
        network = krohn.compile(ABB)
        certificate = krohn.verify(network, precision="bf16")
        self.assertTrue(krohn.check(certificate, network))
        self.assertTrue(krohn.check(certificate, network, against=ABB))
        other = krohn.check(certificate, network, against="regex:(a|b)*bb")
        self.assertFalse(other)
        self.assertTrue(other.established)
        self.assertEqual((other.is_language, other.difference), (False, "bb"))
        with self.assertRaises(krohn.InputError):
            krohn.check(certificate, krohn.compile("regex:(a|b)*bb"))

    def test_a_choice_in_any_order_is_proved_in_any_order(self):
        for precision in ("bf16", "fp32"):
            network = krohn.compile("name:S5", any_order=True, precision=precision)
            self.assertTrue(krohn.verify(network, precision=precision, any_order=True).proved)
        with self.assertRaises(krohn.InputError) as wrong:
            krohn.compile("name:Z5", any_order=True, max_dimension=2)
        self.assertIn("no construction is exact in any order of evaluation in fp32", str(wrong.exception))

    def test_reports_step_and_hold_their_data(self):
        found = krohn.report(ABB)
        self.assertEqual((found.verdict.claim, found.subject), ("proved", ABB))
        self.assertTrue(found.html.startswith("<!doctype html>"))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "abb.html")
            found.save(path)
            self.assertEqual(os.path.getsize(path), found.bytes)

    def test_audits(self):
        with tempfile.TemporaryDirectory() as folder:
            krohn.export("name:parity", "fla-deltanet", os.path.join(folder, "model"))
            found = krohn.audit(os.path.join(folder, "model"))
            arrays = found.arrays()
            self.assertEqual(len(arrays["layer"]), found.recurrent_layers)
            self.assertEqual(len(found.by_layer), found.recurrent_layers)
            self.assertTrue((arrays["slowest_rate"] <= arrays["fastest_rate"]).all())


class Names(unittest.TestCase):
    FUNCTIONS = {"verify": krohn.verify, "train": krohn.train, "import": krohn.import_model, "eval": krohn.evaluate,
                 "extract": krohn.extract_model, "snap": krohn.snap, "compare": krohn.compare, "table": krohn.table,
                 "check": krohn.check, "audit": krohn.audit, "report": krohn.report, "equal": krohn.equal,
                 "included": krohn.included, "disjoint": krohn.disjoint, "empty": krohn.empty, "words": krohn.words,
                 "info": krohn.info, "elements": krohn.elements, "decompose": krohn.decompose, "classify": krohn.classify,
                 "compile": krohn.compile}  # fmt: skip
    OWN = {"progress", "forward", "kind"}
    """Of Python alone; `kind` is --as, which is a word of the language."""

    def test_parameters_are_called_as_the_options(self):
        seen = 0
        for verb, function in self.FUNCTIONS.items():
            for name, parameter in inspect.signature(function).parameters.items():
                if parameter.kind is not parameter.KEYWORD_ONLY or name in self.OWN:
                    continue
                with self.subTest(verb=verb, parameter=name):
                    try:  # an option that the verb does not have is said to be none, whatever else is wrong
                        ask(verb, "name:parity", **{name: "1"}, progress=False)
                    except Exception as error:
                        self.assertNotIn("has no option", str(error))
                    seen += 1
        self.assertGreater(seen, 40)

    def test_the_version_is_the_commands(self):
        self.assertRegex(krohn.__version__, r"^\d+\.\d+")
        if COMMAND:
            said = subprocess.run([COMMAND, "--version"], capture_output=True, text=True, check=True).stdout
            self.assertIn(krohn.__version__, said)


class Mistakes(unittest.TestCase):
    def test_errors_speak_of_parameters(self):
        for work, words in (
            (lambda: krohn.decompose("name:S3", method="no such"), "method: there is no \"no such\""),
            (lambda: krohn.decompose("name:S3", no_such=1), "no option \"no_such\""),
            (lambda: krohn.train("parity", model="bilinear:diagonal", rates=[50.0]), "rates: 50"),
            (lambda: krohn.train("parity", model="no such", steps=1), "`krohn train --model list`"),
            (lambda: krohn.words(ABB, random=3), "random needs length"),
        ):
            with self.subTest(words=words), self.assertRaises(krohn.InputError) as wrong:
                work()
            self.assertIn(words, str(wrong.exception))
        with self.assertRaisesRegex(krohn.LimitError, "raise max_elements"):
            krohn.elements("name:S4", max_elements=10)
        with self.assertRaises(krohn.FileError):
            krohn.words("--help")  # an operand is no option

    def test_nothing_is_printed(self):
        program = (f"import krohn; krohn.info({ABB!r}); krohn.report({ABB!r}, progress=False); "
                   "krohn.train('parity', model='bilinear:diagonal', steps=2, progress=False)")  # fmt: skip
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        self.assertEqual((done.stdout, done.stderr), ("", ""))


class Progress(unittest.TestCase):
    def test_what_a_listener_raises_ends_the_work(self):
        def enough(*told):
            raise RuntimeError("enough")

        with self.assertRaisesRegex(RuntimeError, "enough"):
            krohn.train("modadd5", model="bilinear:rotations,hidden=16", steps=100_000, progress=enough)

    def test_bars_follow_the_kinds_of_work(self):
        bars = []

        class Bar:
            def __init__(self, **how):
                self.how, self.n, self.closed = how, 0, False
                bars.append(self)

            def update(self, more):
                self.n += more

            def close(self):
                self.closed = True

        shown = progress.Bars(Bar)
        for told in (("a", 1, 10), ("a", 7, 10), ("b", 3, 0)):
            shown(*told)
        shown.close()
        self.assertEqual([(bar.how["desc"], bar.how["total"], bar.n, bar.closed) for bar in bars],
                         [("a", 10, 7, True), ("b", None, 3, True)])

    def test_bars_of_text_where_there_are_no_widgets(self):
        text, widgets = mock.Mock(name="tqdm"), mock.Mock(name="tqdm.auto")
        for has_widgets in (False, True):
            found = mock.Mock(return_value=object() if has_widgets else None)
            with mock.patch.dict(sys.modules, {"tqdm": text, "tqdm.auto": widgets}), mock.patch("importlib.util.find_spec", found):
                self.assertIs(progress.told(None)._bars._tqdm, widgets.tqdm if has_widgets else text.tqdm)

    def test_bars_of_text_are_shown_in_notebooks(self):
        for kernel, disable in ((object(), False), (None, None)):  # a notebook's kernel; a shell
            shell = mock.Mock(get_ipython=lambda kernel=kernel: mock.Mock(kernel=kernel))
            with mock.patch.dict(sys.modules, {"IPython": shell}):
                bar = mock.Mock(n=0)
                shown = mock.Mock(return_value=bar)
                progress.Bars(shown)("a", 1, 10)
                self.assertIs(shown.call_args.kwargs["disable"], disable)

    def test_without_tqdm_there_is_silence(self):
        with mock.patch.dict(sys.modules, {"tqdm": None, "tqdm.auto": None}), progress.told(None) as tell:
            self.assertIsNone(tell)


@unittest.skipIf(threading.current_thread() is not threading.main_thread(), "signals come to the main thread")
class Interrupts(unittest.TestCase):
    def interrupted(self, work):
        timer = threading.Timer(0.15, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        start = time.monotonic()
        try:
            with self.assertRaises(KeyboardInterrupt):
                work()
        finally:
            timer.cancel()
        self.assertLess(time.monotonic() - start, 5)
        self.assertIs(signal.getsignal(signal.SIGINT), signal.default_int_handler)

    def test_long_work_ends(self):
        endless = 10**15
        network = krohn.compile("name:S3")
        for name, work in {
            "train": lambda: krohn.train("modadd5", model="bilinear:rotations,hidden=16", steps=10**9, threads=1, **silent()),
            "sample": lambda: krohn.sample(network, lengths=[endless], words=1, **silent()),
            "decompose": lambda: krohn.decompose("name:random:m=40,seed=1", method="holonomy", time=1e6, **silent()),
        }.items():
            with self.subTest(name):
                self.interrupted(work)
        self.assertTrue(krohn.verify(network).proved)  # nothing is left of it

    def test_a_handler_of_the_program_is_called(self):
        def handler(*_):
            raise TimeoutError("mine")

        before = signal.signal(signal.SIGINT, handler)
        timer = threading.Timer(0.15, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        try:
            with self.assertRaisesRegex(TimeoutError, "mine"):
                krohn.sample(krohn.compile("name:S3"), lengths=[10**15], words=1, **silent())
        finally:
            timer.cancel()
            signal.signal(signal.SIGINT, before)


class Tags(HTMLParser):
    """The elements that are opened, and those that stay open."""

    VOID = {"br", "meta", "input", "path", "hr", "img"}

    def __init__(self, text):
        super().__init__()
        self.seen, self.open, self.page = [], [], ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        if tag == "iframe":
            self.page = dict(attrs)["srcdoc"]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag, tag


class Shown(unittest.TestCase):
    def test_objects_show_themselves(self):
        network = krohn.compile("name:S3")
        run = krohn.train("parity", model="bilinear:diagonal,hidden=2,inputs=2", steps=1, **silent())
        for shown, has in (
            (krohn.Automaton("regex:[<>]*<"), "svg"),
            (krohn.classify("regex:(aa)*"), "table"),
            (network, "iframe"),
            (krohn.verify(network), "div"),
            (krohn.check(krohn.verify(network), network), "div"),
            (krohn.equal("regex:a<b", "regex:a>b"), "div"),
            (krohn.decompose("name:S3"), "svg"),
            (run, "table"),
            (krohn.evaluate(run, [5], words=5, **silent()), "svg"),
            (krohn.compare(network, network), "svg"),
            (krohn.report(ABB), "iframe"),
        ):
            with self.subTest(shown=repr(shown)):
                tags = Tags(shown._repr_html_())
                self.assertIn(has, tags.seen)
                self.assertEqual(tags.open, [])

    def test_the_page_of_a_network_is_the_reports_own_and_has_its_weights(self):
        network = krohn.compile(ABB, construction="one-hot")
        page = Tags(network._repr_html_()).page
        self.assertEqual(page, network.stepper())
        report = krohn.report(ABB).html
        script = lambda text: text[text.rindex("<script>"):]  # noqa: E731
        self.assertEqual(script(page), script(report))
        data = json.loads(page.split('<script type="application/json" id="data">')[1].split("</script>")[0])
        self.assertEqual(data["stepped"], {"arithmetic": "fp32", "order": "sequential"})
        self.assertIn("bytes", data["network"]["weights"])

    def test_hidden_states_are_the_recurrence(self):
        network = krohn.compile("name:modarith5")
        word = network.automaton.encode("3+4*2")
        layers = network.hidden(word)
        tensors = network.state_dict()
        self.assertEqual([layer.shape[0] for layer in layers], [len(word) + 1] * len(layers))
        first = layers[0]
        self.assertTrue(np.array_equal(first[0], tensors["layers.0.H0"]))
        for t, letter in enumerate(word):
            action = tensors["layers.0.action_of"][letter] if "layers.0.action_of" in tensors else letter
            after = tensors["layers.0.A"][action] @ first[t]
            if "layers.0.B" in tensors:
                after = after + tensors["layers.0.B"][action]
            self.assertTrue(np.array_equal(first[t + 1], after))
        with self.assertRaises(ValueError):
            network.hidden(np.zeros((2, 3), dtype=int))


if __name__ == "__main__":
    unittest.main()
