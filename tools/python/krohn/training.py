"""Models that are trained: made, read in, measured, taken apart."""

import contextlib
import copy
import itertools
import json
import math
import os
import shutil
import struct
import tempfile
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from krohn import _krohn
from krohn.adapters import in_evaluation, logits_of
from krohn.arrays import as_array, as_words, is_module
from krohn.asking import Facts, ask, drawn, facts_of
from krohn.automaton import Automaton, Language
from krohn.network import NUMPY_TYPES, Network
from krohn.picture import Picture, inline, table as html_table
from krohn.progress import Progress

Path = Union[str, "os.PathLike[str]"]
Model = Union[Path, Network]
Arrays = Dict[str, np.ndarray]


class Run:
    """A folder that `train` or `import_model` made. Whatever takes the path of a model takes it too: `verify`, `evaluate`,
    `extract_model`, `snap`, `compare`. `facts` are those of its run.json; `run.task` is `run.facts.task`."""

    _temporary: Optional["tempfile.TemporaryDirectory[str]"] = None
    """The folder, where it is there as long as the run."""
    _imported: Optional[Tuple[Any, Dict[str, Any]]] = None
    """What `import_model` read, and how."""

    def __init__(self, folder: Path) -> None:
        self.folder = os.fspath(folder)
        self._loaded: Dict[str, "_krohn.Run"] = {}
        path = os.path.join(self.folder, "run.json")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                self.facts = facts_of(file.read())
        elif os.path.exists(os.path.join(self.folder, "parameters.safetensors")):
            self.facts = Facts()
        else:
            raise _krohn.InputError(f"{self.folder}: neither run.json nor parameters.safetensors is there")

    def __fspath__(self) -> str:
        return self.folder

    def __getattr__(self, name: str) -> Any:
        if name == "facts":  # not there yet: the constructor failed
            raise AttributeError(name)
        return getattr(self.facts, name)

    @property
    def _model(self) -> "_krohn.Run":
        return self._in("fp32")

    def _in(self, precision: str) -> "_krohn.Run":
        """The model in memory; it is read once for each precision."""
        if precision not in self._loaded:
            self._loaded[precision] = _krohn.Run.load(self.folder, precision)
        return self._loaded[precision]

    @property
    def letters(self) -> List[str]:
        """The inputs of the model: letters of the language, and special tokens of the task."""
        return self._model.letters()

    @property
    def labels(self) -> List[str]:
        """Its answers by name."""
        return self._model.labels()

    @property
    def around(self) -> Tuple[List[int], List[int]]:
        """The special tokens of the task before and after every word; of languages there are none."""
        return self._model.around()

    def logits(self, words: Any, *, precision: str = "fp32") -> Any:
        """The logits after every letter, [length, labels] of one word and [words, length, labels] of words in rows, in the
        arithmetic of `verify`: "fp32", "fp64", of nonlinear cells "bf16". Words are texts or indices of `letters`; a list of
        texts gives a list."""
        if isinstance(words, (list, tuple)) and words and isinstance(words[0], str):
            return [self.logits(word, precision=precision) for word in words]
        model = self._in(precision)
        batch, single = as_words(words, model.encode)
        logits = model.logits(batch)
        return logits[0] if single else logits

    def answers(self, words: Any, *, precision: str = "fp32") -> Any:
        """The indices in `labels` of what the model answers after every letter, −1 where it gives no answer: two logits are
        equally great, or one is not finite. Words are those of `logits`."""
        logits = self.logits(words, precision=precision)
        return [_greatest(each) for each in logits] if isinstance(logits, list) else _greatest(logits)

    @property
    def is_temporary(self) -> bool:
        """Whether the folder is gone with the run."""
        return self._temporary is not None

    @property
    def best(self) -> Optional[Facts]:
        """The run with the least validation loss, whose model it is."""
        return next((run for run in self.facts.get("runs", ()) if run.best), None)

    def arrays(self) -> Arrays:
        """The runs, one for each rate and seed: rate, seed, steps, validation_loss, validation_accuracy, and
        test_accuracy, which is NaN of runs that diverged, as the two before it are where there was no validation."""
        runs = self.facts.get("runs", ())
        names = ("rate", "seed", "steps", "validation_loss", "validation_accuracy")
        columns = {name: np.array([np.nan if run[name] is None else run[name] for run in runs]) for name in names}
        tests = [run["test"]["scaled_accuracy"] if "test" in run else np.nan for run in runs]
        return {**columns, "test_accuracy": np.array(tests)}

    @property
    def network(self) -> Network:
        """Its recurrence with nearest codewords in place of the read-out, where it has one: not the trained model."""
        return Network.load(os.path.join(self.folder, "network.safetensors"))

    def state_dict(self, trained: "Run") -> Dict[str, Any]:
        """The tensors that this run was imported from, with the numbers of a run that was trained from it:

            run = krohn.import_model(net, kind="gru", against=language)
            proved = krohn.train(language, init=run, contract=3, certify=True)
            net.load_state_dict(run.state_dict(proved))

        They are of fp32, as krohn trains them. Numbers that krohn does not read, of letters that the language does not have
        say, stay as they are; what krohn reads and they do not have, the bias of a layer without one, training leaves alone.
        Raises InputError where training moved two numbers apart that are one in the tensors, as in a read-out that shares the
        embedding's weights, and where certify=True rounded a cell to numbers that they do not have."""
        if self._imported is None:
            raise _krohn.InputError(f"{self.folder}: not made by krohn.import_model, which knows the tensors' own names")
        weights, asked = self._imported
        weights = weights.weights if isinstance(weights, _StateDict) else _tensors_of(weights)
        arrays = {name: np.asarray(as_array(tensor), dtype=np.float32) for name, tensor in weights.items()}
        numbers = np.concatenate([array.ravel() for array in arrays.values()])
        if len(numbers) >= 1 << 23:
            raise _krohn.InputError("a state dict of 2^23 numbers or more, whose places fp32 cannot count in halves")
        # A state dict whose numbers are their own places, and a half, shows where each number of the model is from.
        ends = np.cumsum([array.size for array in arrays.values()])
        places = np.split(np.arange(len(numbers), dtype=np.float32) + np.float32(0.5), ends[:-1])
        probe = {name: place.reshape(array.shape) for (name, array), place in zip(arrays.items(), places)}
        before, moved, taken = _tensors_of(self), _tensors_of(trained), np.zeros(len(numbers), dtype=bool)
        with tempfile.TemporaryDirectory(prefix="krohn-") as beside:
            ask("import", _StateDict(probe), output=beside, **{**asked, "expect": None})
            for name, tensor in _tensors_of(Run(beside)).items():
                if name not in moved or moved[name].shape != tensor.shape:
                    raise _krohn.InputError(f"{trained.folder}: no run that was trained from this one")
                own = (tensor % 1 == 0.5) & (0 < tensor) & (tensor < len(numbers))
                if (before[name][~own] != moved[name][~own]).any():
                    raise _krohn.InputError(f"{name}: training moved numbers that the tensors do not have as they are")
                at, values = tensor[own].astype(np.int64), moved[name][own]
                is_apart = (taken[at] & (numbers[at] != values)).any()
                numbers[at], taken[at] = values, True
                if is_apart or (numbers[at] != values).any():
                    raise _krohn.InputError(f"{name}: shares numbers of the tensors, which training has moved apart")
        made = {name: part.reshape(arrays[name].shape) for name, part in zip(arrays, np.split(numbers, ends[:-1]))}
        if not any(type(tensor).__module__.startswith("torch") for tensor in weights.values()):
            return made
        import torch

        return {name: torch.from_numpy(array.copy()) for name, array in made.items()}

    def save(self, folder: Path) -> "Run":
        """A copy. A run that was trained without a folder's name is gone with its object."""
        return Run(shutil.copytree(self.folder, folder))

    def __repr__(self) -> str:
        facts, best = self.facts, self.best
        end = f": validation loss {best.validation_loss:.2g}, accuracy {best.validation_accuracy:.4f}" if best else ""
        return f"<krohn.Run of {facts.get('model', 'a model')} on {facts.get('task', 'a task')}{end}>"

    def _repr_html_(self) -> str:
        rows = [(run.rate, run.seed, f"{run.steps:,}", run.state,
                 "none" if run.validation_loss is None else f"{run.validation_loss:.2g}",
                 "none" if run.validation_accuracy is None else f"{run.validation_accuracy:.4f}",
                 f"{run.test.scaled_accuracy:.4f} at {run.test.length:,} letters" if "test" in run else "",
                 "the model" if run.best else "")
                for run in self.facts.get("runs", ())]  # fmt: skip
        head = ("rate", "seed", "steps", "", "validation loss", "accuracy", "test, scaled", "")
        count = self.facts.get("parameters")
        return html_table(head if rows else (), rows, f"{self!r}"[1:-1] + (f"; {count:,} parameters" if count else ""))


def _greatest(logits: np.ndarray) -> np.ndarray:
    best = logits.argmax(-1)
    is_answer = np.isfinite(logits).all(-1) & ((logits == logits.max(-1, keepdims=True)).sum(-1) == 1)
    return np.where(is_answer, best, -1)


def _in_folder(output: Optional[Path], work: Any) -> Run:
    """The run that `work(folder)` makes, in `output` or in a folder that is there as long as the run."""
    if output is not None:
        work(os.fspath(output))
        return Run(output)
    folder = tempfile.TemporaryDirectory(prefix="krohn-run-")
    work(folder.name)
    run = Run(folder.name)
    run._temporary = folder
    return run


def train(
    task: Language,
    *,
    model: Optional[str] = None,
    output: Optional[Path] = None,
    steps: Optional[int] = None,
    rates: Optional[Sequence[float]] = None,
    seeds: Optional[int] = None,
    seed: Optional[int] = None,
    length: Union[None, int, Tuple[int, int]] = None,
    progress: Progress = None,
    **options: Any,
) -> Run:
    """Trains a model on a task of `tasks()` or on a language, as `krohn train` does, once for every rate and seed; with
    init=run and no model, that run's model is trained further.

    `options` are the command's others (`krohn help train`): words, schedule="cosine", smoothing, contract, init, perturb, clip,
    warmup, weight_decay, patience, threads, … Without `output` the folder is gone with the run. Ctrl-C leaves every
    run's checkpoint in `output`, and the same call goes on from there."""
    lengths = f"{length[0]}..{length[1]}" if isinstance(length, tuple) else length

    def work(folder: str) -> None:
        ask("train", task, model=model, output=folder, steps=steps, rates=list(rates) if rates is not None else None,
            seeds=seeds, seed=seed, length=lengths, progress=progress, **options)  # fmt: skip

    return _in_folder(output, work)


def contract_loss(rnn: Any, inputs: Any, noise: float = 0.1) -> Tuple[Any, Any]:
    """Reads a batch twice by a `torch.nn.RNN`, `GRU` or `LSTM`, with independent noise on its state between the letters, as
    `krohn train --contract` does. Returns the outputs of both readings, those of all words once and then once more, and the
    mean squared distance between the two states. A cell that learns a small distance forgets disturbances, which a proof for
    words of every length needs:

        outputs, distance = krohn.contract_loss(net.rnn, net.embedding(ids))
        loss = cross_entropy(net.head(outputs).flatten(0, 1), labels.repeat(2, 1).flatten()) + 3 * distance

    with [words, letters] in ids and labels, and `batch_first=True`. Let weight and noise grow from 0 over the first third of
    the steps."""
    import torch

    if rnn.bidirectional:
        raise _krohn.InputError("a cell that reads from both ends is no machine that reads letters; take bidirectional=False")
    time, state, outputs, distance = (1 if rnn.batch_first else 0), None, [], 0
    for letter in torch.cat([inputs, inputs], 1 - time).split(1, time):
        if state is not None:
            state = [part + noise * torch.randn_like(part) for part in state]
        output, state = rnn(letter, None if state is None else tuple(state) if len(state) > 1 else state[0])
        state = state if isinstance(state, tuple) else (state,)
        one, other = torch.cat(state, -1).chunk(2, 1)
        outputs.append(output)
        distance = distance + (one - other).square().sum((0, 2)).mean()
    return torch.cat(outputs, time), distance / len(outputs)


def import_model(
    weights: Any,
    *,
    kind: str,
    against: Language,
    output: Optional[Path] = None,
    letters: Optional[Mapping[str, int]] = None,
    classes: Optional[Mapping[str, int]] = None,
    forward: Union[None, bool, Callable[[Any], Any]] = None,
    **options: Any,
) -> Run:
    """A model that was trained elsewhere, by its weights, as `krohn import --as KIND` takes it in: a `torch.nn.Module`, its
    state dict, of PyTorch's tensors or of arrays, or a .safetensors file. docs/verify.md has the kinds and names of tensors.

    Tensors do not show all that a module does. A module's own forward pass is therefore run on some two hundred words, all
    short ones and random ones of up to 40 letters, and InputError names the first on which it and the weights as krohn reads
    them disagree. `forward` is what to run instead, or beside a state dict: a function of an array of ids [words, length] that
    gives logits [words, length, classes]; False, or expect=, a file of words with answers: nothing is run.
    `Certificate.compared_words` says what was compared.

    `against` is the language that it should compute, `letters` and `classes` give numbers of letters and rows of the
    read-out by name; `options` are embedding, head, cell, modules, expect, and with_={"heads": 2} for what tensors do not show.
    The modules around a PyTorch cell are those that the forward pass calls, in its order; what it adds or applies without a
    module (a residual, torch.relu) has to be said: modules=["emb", "+norm1:rnn1", "fc1", "relu", "fc2"]. The run is for
    `verify`, `evaluate`, `extract_model`, …"""
    asked = {"as_": kind, "against": against, "letters": letters, "classes": classes, **options}
    if forward is None or forward is True:
        forward = weights if is_module(weights) else None
    if is_module(weights):
        if forward is weights and kind in ("rnn", "rnn-relu", "gru", "lstm") and asked.get("expect") is None:
            _name_modules(weights, asked)
        weights = weights.state_dict()
    if isinstance(weights, Mapping):
        weights = _StateDict(weights)
    if forward and asked.get("expect") is None:
        with tempfile.TemporaryDirectory(prefix="krohn-") as beside:  # letters are known when the weights have been read
            ask("import", weights, output=beside, **asked)
            asked["expect"] = _Forward(Run(beside), forward, letters)
            return _imported(weights, output, asked)
    return _imported(weights, output, asked)


def _name_modules(net: Any, asked: Dict[str, Any]) -> None:
    """Sets `modules` to those that a forward pass calls, where these are more than an embedding, a recurrence and a read-out, and
    `with_` to what their norms do."""
    import torch

    functions = {"ReLU": "relu", "SiLU": "silu", "Tanh": "tanh", "Sigmoid": "sigmoid"}
    norms = {"LayerNorm": "layer-norm", "RMSNorm": "rms-norm"}
    called: List[Tuple[str, Any]] = []
    leaves = [(name, module) for name, module in net.named_modules() if not any(True for _ in module.children())]
    hooks = [module.register_forward_hook(lambda module, *_, name=name: called.append((name, module))) for name, module in leaves]
    try:
        with _evaluated(net) as forward:
            forward(np.zeros((1, 1), dtype=np.int64))
    finally:
        for hook in hooks:
            hook.remove()
    order, shown = [], {}
    for name, module in called:
        kind = type(module).__name__
        has_weights = any(True for _ in module.parameters())
        if kind in norms:
            epsilon = torch.finfo(torch.float32).eps if module.eps is None else module.eps
            if shown.setdefault("norm-eps", epsilon) != epsilon:
                raise ValueError(f"{name} has eps {epsilon} and a norm before it {shown['norm-eps']}: krohn reads one for all")
            if has_weights and getattr(module, "bias", None) is None:
                shown["rms-norm"] = float(kind == "RMSNorm")
        if has_weights or kind in functions or kind in norms or kind == "GELU":
            word = ("gelu" if module.approximate == "none" else "gelu-tanh") if kind == "GELU" else {**functions, **norms}.get(kind)
            order.append(name if has_weights else word)
    if len(order) > 3 or shown:
        asked["modules"] = asked.get("modules") or order
        asked["with_"] = {**shown, **(asked.get("with_") or {})}


def _imported(weights: Any, output: Optional[Path], asked: Dict[str, Any]) -> Run:
    found = Facts()
    run = _in_folder(output, lambda folder: found.update(ask("import", weights, output=folder, **asked)))
    run.facts = run.facts or Facts({name: found[name] for name in ("model", "task", "parameters", "forward")})
    run._imported = weights, asked
    return run


class _Forward:
    """The answers of a model's own forward pass, as the file of `krohn import --expect`."""

    as_file = ".jsonl", "the forward pass"
    SHORT, RANDOM, LENGTHS = 100, 20, (5, 10, 15, 20, 30, 40)

    def __init__(self, run: Run, forward: Callable[[Any], Any], numbers: Optional[Mapping[str, int]]) -> None:
        self.forward = forward
        self.ids = np.array([(numbers or {}).get(name, letter) for letter, name in enumerate(run.letters)])

    def words(self) -> Iterator[np.ndarray]:
        """Yields words of one length each, letters by number: all of 1, 2, … letters while there are few, and random ones."""
        draw, count = np.random.default_rng(1), 0
        for length in range(1, self.SHORT):
            count += len(self.ids) ** length
            if count > self.SHORT and length > 1:
                break
            yield np.array(list(itertools.product(self.ids.tolist(), repeat=length)), dtype=np.int64)
        for length in self.LENGTHS:
            yield self.ids[draw.integers(0, len(self.ids), size=(self.RANDOM, length))]

    def save(self, path: str) -> None:
        with _evaluated(self.forward) as forward, open(path, "w", encoding="utf-8") as file:
            for words in self.words():
                said = as_array(logits_of(forward(words), *words.shape)).astype(np.float64)
                for word, rows in zip(words.tolist(), said.tolist()):
                    finite = [[number if np.isfinite(number) else None for number in row] for row in rows]
                    file.write(json.dumps({"word": word, "logits": finite}) + "\n")


@contextlib.contextmanager
def _evaluated(forward: Any) -> Iterator[Callable[[np.ndarray], Any]]:
    """Makes a module a function of arrays: without dropout, in arithmetic of at least fp32's digits, as weights are imported."""
    if not is_module(forward):
        yield forward
        return
    import torch

    parameters = list(forward.parameters())
    if any(parameter.element_size() < 4 for parameter in parameters):
        forward = copy.deepcopy(forward).float()
    device = parameters[0].device if parameters else "cpu"
    with in_evaluation(forward):
        yield lambda words: forward(torch.from_numpy(words).to(device))


class _StateDict:
    as_file = ".safetensors", "the state dict"

    def __init__(self, weights: Mapping[str, Any]) -> None:
        self.weights = weights

    def save(self, path: str) -> None:
        _save_state_dict(self.weights, path)


def _save_state_dict(weights: Mapping[str, Any], path: str) -> None:
    """As a file of safetensors: the length of the header, the header, the numbers."""
    types = {numpy_type: name for name, numpy_type in NUMPY_TYPES.items()}
    header: Dict[str, Any] = {}
    data = []
    at = 0
    for name, tensor in weights.items():
        array = np.asarray(as_array(tensor), order="C")
        if array.dtype.str not in types:
            raise TypeError(f"{name} holds {array.dtype}, which a state dict does not")
        header[name] = {"dtype": types[array.dtype.str], "shape": array.shape, "data_offsets": (at, at + array.nbytes)}
        data.append(array.tobytes())
        at += array.nbytes
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(data))


def _tensors_of(file: Union[Path, Run]) -> Dict[str, np.ndarray]:
    """The tensors of a safetensors file, or of a run's model."""
    with open(os.path.join(file.folder, "parameters.safetensors") if isinstance(file, Run) else file, "rb") as opened:
        data = opened.read()
    begin = 8 + struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:begin])
    header.pop("__metadata__", None)
    tensors = {}
    for name, facts in header.items():
        is_bf16 = facts["dtype"] == "BF16"  # which NumPy does not have
        array = np.frombuffer(data, "<u2" if is_bf16 else NUMPY_TYPES[facts["dtype"]], math.prod(facts["shape"]),
                              begin + facts["data_offsets"][0]).reshape(facts["shape"])  # fmt: skip
        tensors[name] = (array.astype("<u4") << 16).view("<f4") if is_bf16 else array
    return tensors


class Evaluation(Facts):
    """How often a model is right, by length: `model`, `task`, `chance`, and `lengths`, a row for each."""

    def arrays(self) -> Arrays:
        """length; accuracy, scaled so that 0 is chance and 1 is perfect, with low and high, its 95 % interval;
        words_right, the share of words that are right throughout."""
        rows = self.lengths
        return {
            "length": np.array([row.length for row in rows]),
            "accuracy": np.array([row.scaled_accuracy for row in rows]),
            "low": np.array([row.low for row in rows]),
            "high": np.array([row.high for row in rows]),
            "words_right": np.array([row.words_right / row.words for row in rows]),
        }

    def picture(self) -> Picture:
        given = self.arrays()
        points = np.stack([given[name].astype(float) for name in ("length", "accuracy", "low", "high")], 1).tolist()
        first, last = self.__dict__.get("trained", (0, 0))
        return Picture(_krohn.accuracy_picture(f"{self.task}: {self.model}", [("", points)], first, last))

    def __repr__(self) -> str:
        told = ", ".join(f"{row.scaled_accuracy:.4f} at {row.length:,}" for row in self.lengths)
        return f"<krohn.Evaluation of {self.model} on {self.task}: scaled accuracy {told}>"

    def _repr_html_(self) -> str:
        rows = [(f"{row.length:,}", f"{row.words:,}", f"{row.scaled_accuracy:.4f}", f"{row.low:.4f} … {row.high:.4f}",
                 f"{row.words_right / row.words:.4f}") for row in self.lengths]  # fmt: skip
        head = ("length", "words", "scaled accuracy", "95 % interval", "whole words right")
        return inline(self.picture().svg) + html_table(head, rows, f"{self.task}: {self.model}, {self.reading}")


def evaluate(
    model: Path,
    lengths: Sequence[int] = (10, 100, 500),
    *,
    words: int = 1000,
    seed: Optional[int] = None,
    progress: Progress = None,
    **options: Any,
) -> Evaluation:
    """Measures a run or a checkpoint on fresh samples of every length, as `krohn eval` does: a test, no proof."""
    found = ask("eval", model, kind=Evaluation, lengths=list(lengths), words=words, seed=seed, progress=progress, **options)
    trained = getattr(model, "facts", {}).get("lengths") if isinstance(model, Run) else None
    if trained:
        found.trained = tuple(trained)
    return found


class Learned(Facts):
    """The automaton that a model follows, `automaton`, and how far: `states`, `exact`, `length`, … `equal`: it is that of
    `against`. `computes`: so does the model for words of every length, or None where words were only sampled."""

    automaton: Automaton

    def __repr__(self) -> str:
        far = "words of every length" if self.exact else f"words of up to {self.length:,} letters"
        held = "equal to" if self.equal else "not equal to"
        left = ", which the model leaves" if self.equal and self.computes is False else ""
        return f"<krohn.Learned: {self.states} states, by {far}; {held} {self.against}{left}>"

    def _repr_html_(self) -> str:
        return self.automaton._repr_html_()


def extract_model(
    model: Model, *, against: Optional[Language] = None, precision: str = "fp32", progress: Progress = None, **options: Any
) -> Learned:
    """The automaton that a network, a run or a checkpoint has learned, as `krohn extract` finds it by running it; `options`
    are length, words, beyond, most, seed, threads, device. For models that krohn cannot run see `extract`."""

    def read(found: Learned, path: str, _: Any) -> None:
        found.automaton = Automaton._of(Automaton(path)._core, "the automaton learned")

    return ask("extract", model, kind=Learned, write=("output", ".json"), read=read, against=against, precision=precision,
               progress=progress, **options)  # fmt: skip


class Snapped(Facts):
    """The nearest exact network, `network`, and what was found on the way: `construction`, `choices`, `letters` with how far
    each moved, `verdict`, and `equal` where it was held against a language."""

    network: Network

    @property
    def proved(self) -> bool:
        """For words of every length."""
        return self.verdict.claim == "proved"

    def __repr__(self) -> str:
        return f"<krohn.Snapped to {self.construction}, {self.states} states: {self.verdict.claim}>"

    def _repr_html_(self) -> str:
        rows = [(row.construction, f"{row.state_numbers:,}", f"{row.explained:.4f}", "exact" if row.exact else "",
                 "taken" if row.construction == self.construction else "") for row in self.choices]  # fmt: skip
        return self.network._repr_html_() + html_table(("construction", "numbers", "explains", "", ""), rows, f"{self!r}"[1:-1])


def snap(
    model: Model,
    *,
    against: Optional[Language] = None,
    construction: Optional[str] = None,
    precision: str = "fp32",
    progress: Progress = None,
    **options: Any,
) -> Snapped:
    """Rounds a trained network or run to the nearest exact construction and proves it, as `krohn snap` does."""

    def read(found: Snapped, path: str, _: Any) -> None:
        found.network = Network.load(path)

    return ask("snap", model, kind=Snapped, write=("output", ".safetensors"), read=read, against=against,
               construction=construction, precision=precision, progress=progress, **options)  # fmt: skip


class Comparison(Facts):
    """The actions of two models' letters, side by side: `letters`, each with `modes`; `planes` where the first is a sum of
    planes; `margins` along a word that the first reads wrongly."""

    def arrays(self) -> Dict[str, Arrays]:
        """Every letter's eigenvalues (complex) with their weights, those of the exact network, and the turns that an
        exact network can have."""
        return {
            row.letter: {
                "eigenvalues": np.array([complex(re, im) for re, im, _ in row.get("eigenvalues", ())], dtype=complex),
                "weights": np.array([weight for _, _, weight in row.get("eigenvalues", ())]),
                "exact_eigenvalues": np.array([complex(re, im) for re, im, _ in row.get("exact_eigenvalues", ())], dtype=complex),
                "exact_turns": np.array(row.get("exact_turns", ())),
            }
            for row in self.get("letters", ())
        }

    def margin_arrays(self) -> Arrays:
        """Along the failing word: length, margin (of the read-out, the least in its stretch) and state_norm."""
        rows = self.get("margins", ())
        return {"length": np.array([row.after for row in rows]), "margin": np.array([row.least_margin for row in rows]),
                "state_norm": np.array([row.state_norm for row in rows])}  # fmt: skip

    def picture(self) -> Picture:
        operands, options = self._asked  # type: ignore[attr-defined]
        return drawn("compare", *operands, option="plot", **options)

    def __repr__(self) -> str:
        return f"<krohn.Comparison of {self.learned} with {self.exact}: {len(self.get('letters', ()))} letters>"

    def _repr_html_(self) -> str:
        rows = [(row.letter, f"{row.spectral_radius:.4f}", f"{row.exact_spectral_radius:.4f}", f"{row.orthogonality_defect:.2g}",
                 f"{max((mode.off for mode in row.get('modes', ())), default=0):.2g}")
                for row in self.get("letters", ())]  # fmt: skip
        head = ("letter", "spectral radius", "exact", "defect", "most off, in turns")
        return inline(self.picture().svg) + html_table(head, rows, f"{self!r}"[1:-1])


def compare(learned: Model, exact: Model, *, weight: float = 0.05, progress: Progress = None, **options: Any) -> Comparison:
    """Angles and eigenvalues of a learned network or run beside those of an exact one, as `krohn compare` prints them."""
    found = ask("compare", learned, exact, kind=Comparison, weight=weight, progress=progress, **options)
    found._asked = (learned, exact), {"weight": weight, **options}
    return found


class Table(Facts):
    """Cells of a paper's table, trained here, each beside the paper's number: `cells`."""

    def arrays(self) -> Dict[str, Arrays]:
        """The curve of every cell: length, accuracy, low, high, words_right."""
        names = {"length": "length", "accuracy": "scaled_accuracy", "low": "low", "high": "high", "words_right": "words_right"}

        def curve(rows: Sequence[Facts]) -> Arrays:
            return {ours: np.array([row[theirs] for row in rows]) for ours, theirs in names.items()}

        return {f"{cell.row}, {cell.column}": curve(cell.lengths) for cell in self.cells}

    def picture(self) -> Picture:
        operands, options = self._asked  # type: ignore[attr-defined]
        return drawn("table", *operands, option="plot", **options)

    def _rows(self) -> Any:
        for cell in self.cells:
            claim = cell.claim + (f", {cell.claim_length:,} letters" if cell.claim_length else "")
            ours = next((at.scaled_accuracy for at in cell.lengths if at.length == cell.paper_length), None)
            paper = f"{cell.paper:.2f}" if isinstance(cell.get("paper"), float) else cell.get("paper", "")
            yield (cell.row, cell.column, paper, f"{cell.paper_length:,}", "" if ours is None else f"{ours:.2f}",
                   f"{cell.holding_runs}/{len(cell.runs)}", claim, cell.snapped)  # fmt: skip

    def __repr__(self) -> str:
        return f"<krohn.Table: {len(self.cells)} cells>"

    def _repr_html_(self) -> str:
        head = ("row", "column", "paper", "at", "ours", "runs that hold", "the model, in fp32", "snaps, proved, to")
        return html_table(head, self._rows())


def table(name: str, folder: Path, *, only: Optional[str] = None, lengths: Optional[Sequence[int]] = None,
          seeds: Optional[int] = None, progress: Progress = None, **options: Any) -> Table:  # fmt: skip
    """Trains a paper's table from scratch, as `krohn table` does. Cells are kept in `folder`; after Ctrl-C the same call
    goes on after those that are there. `options` are scale, recipe, seed, rescaled, as_trained, threads,
    examine_again."""
    asked = {"output": os.fspath(folder), "only": only, "lengths": list(lengths) if lengths is not None else None, "seeds": seeds,
             **options}  # fmt: skip
    found = ask("table", name, kind=Table, progress=progress, **asked)
    found._asked = (name,), {**asked, "examine_again": None}
    return found
