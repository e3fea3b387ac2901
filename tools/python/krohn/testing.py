"""Trackers in tests and in training loops: `krohn.test` as an assertion, and as numbers for a logger."""

import dataclasses
from typing import Any, Callable, Dict, Mapping, Optional

import numpy as np

from krohn.adapters import in_evaluation
from krohn.automaton import Automaton, Language
from krohn.black_box import UNKNOWN, Asker, BlackBox, Outputs, box_of, says_itself
from krohn.trial import Tester, Trial, test

__all__ = ["HorizonCallback", "assert_same_function", "assert_tracks", "horizon"]


def assert_tracks(model_step: Any, language: Language, *, up_to: int = 1_000, **options: Any) -> Trial:
    """Raises AssertionError with a failing word where `krohn.test` finds one of at most `up_to` letters: repeated parts as
    powers, what the word should give, what the model gives, and the length up to which all words that were tried are right.
    Nothing is said of words that were not tried.

    `model_step` is whatever `krohn.test` takes, and `options` are its own: form="step" and initial for a step function,
    words, empty, short, letters, batch, seed. Returns the trial that passed."""
    __tracebackhide__ = True
    return _asserted(test(model_step, language, length=up_to, **options))


def assert_same_function(
    a: Any,
    b: Any,
    language: Language,
    *,
    up_to: int = 1_000,
    form: Optional[str] = None,
    words: Optional[str] = None,
    initial: Any = None,
    short: int = 20_000,
    letters: int = 500_000,
    batch: Optional[int] = None,
    seed: int = 1,
) -> Trial:
    """Raises AssertionError with a word on which `b` answers otherwise than `a`, found as `assert_tracks` finds one. What `a` says
    is right, whether or not it is the language's answer; the language has the letters and outputs, and its automaton makes the
    words that are tried. `form`, `words`, `initial` and `batch` are those of functions; models of other kinds say them
    themselves. Where one of the two answers whole words alone, so does the other here."""
    __tracebackhide__ = True
    automaton = Automaton.of(language)
    how = {"form": form, "words": words, "initial": initial, "batch": batch}
    askers = []
    for model in (a, b):
        box = box_of(model, names=automaton.output_names, **({} if says_itself(model) else how))
        askers.append(Asker(box, automaton.letters, Outputs(automaton.output_names)))
    if any(asker.box.form == "words" for asker in askers):
        askers = [_of_whole_words(asker) for asker in askers]
    trial = _Beside(askers[0], askers[1], automaton, up_to, letters, seed).run(short)
    return _asserted(dataclasses.replace(trial, language=f"the second model against the first, words of {trial.language}"))


def _asserted(trial: Trial) -> Trial:
    __tracebackhide__ = True
    if not trial:
        raise AssertionError(repr(trial))
    return trial


def _of_whole_words(asker: Asker) -> Asker:
    if asker.box.form == "words":
        return asker
    last = BlackBox(lambda words: asker.ask(words)[:, -1], batch=asker.box.batch)
    return Asker(last, asker.letter_names, asker.outputs)


class _Beside(Tester):
    """A test whose right answers are those of another model."""

    def __init__(self, reference: Asker, *others: Any) -> None:
        super().__init__(*others)
        self.reference = reference

    def _wanted(self, words: np.ndarray) -> np.ndarray:
        wanted = self.reference.ask(words)
        if (wanted == UNKNOWN).any():
            word = self.automaton.in_powers(words[int((wanted == UNKNOWN).any(axis=1).argmax())])
            raise AssertionError(f"the first model gives nothing that is an output on {word}: there is nothing to compare with")
        return wanted


def horizon(model: Any, language: Language, *, up_to: int = 1_000, **options: Any) -> Dict[str, int]:
    """A test's findings while a model is trained, as numbers for a logger:

        right_up_to      no word that was tried fails after so many letters or fewer
        all_right_up_to  every word of so many letters or fewer is right: all were tried
        passed           1: nothing that was tried fails, 0: something does

    A module is asked in evaluation mode and is left in its own. `options` are those of `krohn.test`; by default they are so
    small that a call reads some 50,000 letters, and more only to shorten a word that fails."""
    with in_evaluation(model):
        trial = test(model, language, length=up_to, **{"short": 2_000, "letters": 30_000, **options})
    return {"right_up_to": trial.right_up_to, "all_right_up_to": trial.all_up_to, "passed": int(trial.passed)}


class HorizonCallback:
    """`horizon` every so many steps of training.

        measure = HorizonCallback("name:S5", every=500, log=wandb.log)
        for step, batch in enumerate(batches):
            …
            measure(net, step)             # the dict, also given to `log`; None between

        Trainer(callbacks=[measure.lightning()])

    Names in the dict begin with `prefix`. `of` makes what is asked of what is trained, as in
    of=lambda net: krohn.adapters.module(net.layers, answers=[3, 4]). `log` is called with the dict, and step=; other options are
    those of `horizon`."""

    def __init__(
        self,
        language: Language,
        *,
        every: int = 1_000,
        log: Optional[Callable[..., Any]] = None,
        prefix: str = "krohn/",
        of: Optional[Callable[[Any], Any]] = None,
        **options: Any,
    ) -> None:
        if every < 1:
            raise ValueError(f"every is {every}, not a number of steps")
        self.language, self.every, self.log, self.prefix, self.of = Automaton.of(language), every, log, prefix, of
        self.options: Mapping[str, Any] = options
        self._last: Optional[int] = None

    def __call__(self, model: Any, step: int) -> Optional[Dict[str, int]]:
        if step % self.every or step == self._last:  # of accumulated gradients, several batches are one step
            return None
        self._last = step
        with in_evaluation(model):
            found = horizon(self.of(model) if self.of else model, self.language, **self.options)
        named = {self.prefix + name: value for name, value in found.items()}
        if self.log is not None:
            self.log(named, step=step)
        return named

    def lightning(self) -> Any:
        """A callback for a Trainer of Lightning, which logs what is found. Lightning is imported here and nowhere else."""
        try:
            from lightning.pytorch import Callback
        except ImportError:
            from pytorch_lightning import Callback
        measure = self

        class Measured(Callback):  # type: ignore[misc,valid-type]
            def on_train_batch_end(self, trainer: Any, module: Any, *_: Any) -> None:
                found = measure(module, trainer.global_step)
                if found is not None:
                    module.log_dict({name: float(value) for name, value in found.items()}, on_step=True, on_epoch=False)

        return Measured()
