"""Trains a rival on a task, measures it by length, and writes a folder as `krohn train` does."""

import hashlib
import json
import math
import os
import time
from dataclasses import asdict, dataclass, field
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import torch
from torch import Tensor, nn

import krohn
from krohn.rivals import models

TEST_SEED = 1_000_003
"""The seed of the test words of `krohn train`."""
VALIDATION_SEED = 1_000_002


@dataclass
class Options:
    """The options that `krohn train` calls by the same names. Raises ValueError naming what is out of range."""

    length: Tuple[int, int] = (3, 40)
    words: int = 64
    steps: int = 2000
    rates: Sequence[float] = (1e-3,)
    seed: int = 1
    schedule: str = "constant"
    warm_up: int = 0
    least_rate: float = 0.0
    weight_decay: float = 0.0
    clip: float = 0.0
    validate_every: int = 500
    validation_words: int = 256
    stop_at: float = 1e-5
    samples: int = 0
    """Train on so many words again and again; 0: on new ones at every step."""
    sample_seed: Optional[int] = None
    """The seed of the words, which all seeds then share."""
    test_lengths: Sequence[int] = (40, 256)
    test_words: int = 100

    def check(self) -> None:
        least = {"words": 1, "steps": 1, "seed": 0, "warm_up": 0, "validate_every": 1, "validation_words": 1, "samples": 0, "test_words": 1}
        for name, value in least.items():
            if not value <= getattr(self, name) < 2**63:
                raise ValueError(f"--{name.replace('_', '-')} {getattr(self, name)}: at least {value}, and below 2^63")
        if self.sample_seed is not None and not 0 <= self.sample_seed < 2**63:
            raise ValueError(f"--sample-seed {self.sample_seed}: at least 0, and below 2^63")
        for name in ("least_rate", "weight_decay"):
            if not 0 <= getattr(self, name) <= 10:
                raise ValueError(f"--{name.replace('_', '-')} {getattr(self, name)}: a number from 0 to 10")
        for name in ("clip", "stop_at"):
            if not 0 <= getattr(self, name) < math.inf:
                raise ValueError(f"--{name.replace('_', '-')} {getattr(self, name)}: a number, at least 0")
        if not self.rates or not all(0 < rate <= 10 for rate in self.rates):
            raise ValueError("--rates: numbers above 0, at most 10")
        if not 1 <= self.length[0] <= self.length[1]:
            raise ValueError(f"--length {self.length[0]}..{self.length[1]}: from 1 up")
        if not self.test_lengths or min(self.test_lengths) < 1:
            raise ValueError("--test-lengths: at least 1")
        if self.warm_up > self.steps:
            raise ValueError(f"--warm-up {self.warm_up}: more than the run's {self.steps} steps")


@dataclass
class Score:
    """The counts of `krohn eval` over words of one length."""

    length: int
    words: int
    seed: int
    answers: int
    right: int
    scaled_accuracy: float
    words_right: int
    reading: str = "as trained"


@dataclass
class Run:
    """One rate and seed."""

    rate: float
    seed: int
    steps: int = 0
    state: str = "finished"
    seconds: float = 0.0
    validation_loss: float = math.inf
    validation_accuracy: float = 0.0
    test: List[Score] = field(default_factory=list)
    best: bool = False


def facts_of(run: Run) -> Dict[str, Any]:
    """For JSON, which has no infinity: a run that diverged before it had a loss has none."""
    return {**asdict(run), "validation_loss": run.validation_loss if math.isfinite(run.validation_loss) else None}


def rate_at(step: int, rate: float, options: Options) -> float:
    """The rate of the step that comes: linear from 0 while it warms up, then constant or a half cosine to the least rate."""
    if step < options.warm_up:
        return rate * (step + 1) / options.warm_up
    if options.schedule == "constant":
        return rate
    done = (step - options.warm_up) / max(1, options.steps - options.warm_up)
    return options.least_rate + (rate - options.least_rate) * (1 + math.cos(math.pi * done)) / 2


def batch_of(task: Any, words: int, length: Any, seed: int, first: int) -> Tuple[Tensor, Tensor, Any]:
    data = krohn.dataset(task, words, length=length, seed=seed, first_index=first)
    longest = int(data.lengths.max())
    return (torch.as_tensor(data.inputs[:, :longest]).long(), torch.as_tensor(data.targets[:, :longest]).long(), data)


def sample_of(task: Any, length: Any, seed: int) -> Tuple[str, Any]:
    """A digest of the task that a model was trained on, which a file's name does not tell, and a few of its words."""
    inputs, targets, data = batch_of(task, 64, length, seed, 0)
    text = json.dumps([list(data.tokens), list(data.labels), inputs.tolist(), targets.tolist()])
    return hashlib.sha256(text.encode()).hexdigest()[:16], data


def logits_of(model: nn.Module, inputs: Tensor) -> Tensor:
    """Computed where the model is, and brought back."""
    return model(inputs.to(next(model.parameters()).device)).cpu()


def measure(model: nn.Module, task: Any, length: int, words: int, seed: int = TEST_SEED, at_once: int = 64) -> Score:
    """The share of right answers between chance, 0, and all, 1; and how many words are right at every answer."""
    model.eval()
    answers = right = words_right = 0
    chance = 0.0
    with torch.no_grad():
        for first in range(0, words, at_once):
            inputs, targets, data = batch_of(task, min(at_once, words - first), length, seed, first)
            chance, asked = data.chance, targets >= 0
            wrong = (logits_of(model, inputs).argmax(-1) != targets) & asked
            answers, right = answers + int(asked.sum()), right + int(asked.sum()) - int(wrong.sum())
            words_right += int((~wrong.any(1)).sum())
    return Score(length, words, seed, answers, right, (right / answers - chance) / (1 - chance), words_right)


def loss_of(model: nn.Module, inputs: Tensor, targets: Tensor) -> Tensor:
    return nn.functional.cross_entropy(logits_of(model, inputs).flatten(0, 1), targets.flatten())


def words_of_step(step: int, options: Options) -> Tuple[int, int]:
    """How many words, and which is the first: as `krohn train` goes through its samples."""
    if not options.samples:
        return options.words, step * options.words
    words = min(options.words, options.samples)
    return words, step % (options.samples // words) * words


def train_one(name: str, task: Any, rate: float, seed: int, options: Options,
              progress: Optional[Callable[[int, float], None]] = None) -> Tuple[nn.Module, Run]:
    """One run. The weights that are kept are those with the least validation loss; it stops where that falls below
    `stop_at`, and is "diverged" where a loss is not finite."""
    began, run = time.process_time(), Run(rate, seed)
    _, _, facts = batch_of(task, 1, options.length, seed, 0)
    of_words = seed if options.sample_seed is None else options.sample_seed
    model = models.build(name, len(facts.tokens), len(facts.labels), seed)
    optimiser = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=options.weight_decay, fused=True)
    seen, answers, _ = batch_of(task, options.validation_words, options.length, VALIDATION_SEED, 0)
    kept = {key: value.clone() for key, value in model.state_dict().items()}
    for step in range(options.steps):
        model.train()
        for group in optimiser.param_groups:
            group["lr"] = rate_at(step, rate, options)
        words, first = words_of_step(step, options)
        inputs, targets, _ = batch_of(task, words, options.length, of_words, first)
        optimiser.zero_grad(set_to_none=True)
        loss = loss_of(model, inputs, targets)
        if not math.isfinite(loss.item()):
            run.state = "diverged"
            break
        loss.backward()
        if options.clip:
            nn.utils.clip_grad_norm_(model.parameters(), options.clip)
        optimiser.step()
        run.steps = step + 1
        if run.steps % options.validate_every == 0 or run.steps == options.steps:
            model.eval()
            with torch.no_grad():
                validation = loss_of(model, seen, answers).item()
            if progress:
                progress(run.steps, validation)
            if validation < run.validation_loss:
                run.validation_loss = validation
                kept = {key: value.clone() for key, value in model.state_dict().items()}
            if validation < options.stop_at:
                run.state = "stopped"
                break
    model.load_state_dict(kept)
    with torch.no_grad():
        right = (logits_of(model, seen).argmax(-1) == answers)[answers >= 0]
    run.validation_accuracy = right.float().mean().item()
    run.test = [measure(model, task, length, options.test_words) for length in options.test_lengths]
    run.seconds = time.process_time() - began
    return model, run


def train(task: Any, model: str, output: str, options: Optional[Options] = None,
          progress: Optional[Callable[[int, float], None]] = None) -> Dict[str, Any]:
    """Trains `model` ("lstm:hidden=64") with every rate on a task of `krohn.tasks()` or a language, keeps the run with the least
    validation loss (test words choose nothing) and writes OUTPUT/model.safetensors and OUTPUT/run.json. Returns the latter."""
    options = options or Options()
    options.check()
    if os.path.exists(output):
        raise FileExistsError(f"{output}: is there already; give another name")
    from safetensors.torch import save_file

    parent = os.path.dirname(os.path.abspath(output))
    while not os.path.exists(parent):
        parent = os.path.dirname(parent)
    if not (os.path.isdir(parent) and os.access(parent, os.W_OK)):
        raise PermissionError(f"{output}: no folder can be made in {parent}")

    longest = max(options.test_lengths)
    sample, words = sample_of(task, options.length, options.seed)
    try:  # what has positions for shorter words alone says so before it is trained
        measure(models.build(model, len(words.tokens), len(words.labels), options.seed), task, longest, 1)
    except (RuntimeError, LookupError) as error:
        raise ValueError(f"--test-lengths {longest}: {model} cannot read such words: {error}") from error
    runs = [train_one(model, task, rate, options.seed, options, progress) for rate in options.rates]
    if not any(math.isfinite(run.validation_loss) for _, run in runs):
        raise ValueError(f"--rates: every run diverged, the first after {runs[0][1].steps} steps; take smaller rates, or --clip 1")
    best = min(range(len(runs)), key=lambda i: runs[i][1].validation_loss)
    runs[best][1].best = True
    family, _ = models.parse(model)
    facts = {
        "schema": 2, "task": str(task), "model": "torch:" + models.full_name(model), "framework": f"torch {torch.__version__}",
        "source": models.FAMILIES[family].source, "parameters": sum(p.numel() for p in runs[best][0].parameters()),
        **{key: value for key, value in asdict(options).items()}, "sample_words": sample, "runs": [facts_of(run) for _, run in runs],
    }  # fmt: skip
    text = json.dumps(facts, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    part = output.rstrip("/") + ".part"  # whole, or not there
    os.makedirs(part, exist_ok=True)
    save_file({key: value.contiguous() for key, value in runs[best][0].state_dict().items()}, os.path.join(part, "model.safetensors"))
    with open(os.path.join(part, "run.json"), "w", encoding="utf-8") as file:
        file.write(text)
    os.rename(part, output)
    return facts


def load(folder: str) -> Tuple[nn.Module, Dict[str, Any]]:
    """The model of a folder that `train` wrote, and its run.json."""
    from safetensors.torch import load_file

    path = os.path.join(folder, "run.json")
    try:
        with open(path, encoding="utf-8") as file:
            facts = json.load(file)
        if not str(facts["model"]).startswith("torch:"):
            raise ValueError("no run of krohn.rivals")
    except (ValueError, LookupError, TypeError) as error:
        raise ValueError(f"{path}: {error}") from error
    name = facts["model"].partition(":")[2]
    sample, data = sample_of(facts["task"], tuple(facts["length"]), facts["seed"])
    if facts.get("sample_words", sample) != sample:
        raise ValueError(f"{path}: the words of {facts['task']} are not those that the model was trained on: has the file changed?")
    model = models.build(name, len(data.tokens), len(data.labels), facts["seed"])
    model.load_state_dict(load_file(os.path.join(folder, "model.safetensors")))
    return model.eval(), facts
