"""Models of PyTorch, and krohn's own networks and runs, as black boxes. PyTorch itself is imported by the model's owner; here it is only
when one is asked."""

import contextlib
import inspect
import warnings
from typing import TYPE_CHECKING, Any, Callable, Iterator, Mapping, Optional, Sequence

import numpy as np

from krohn.arrays import is_module
from krohn.black_box import BlackBox

if TYPE_CHECKING:
    from krohn.network import Network
    from krohn.training import Run


def logits_of(said: Any, words: int, length: int) -> Any:
    """[words, length, classes], out of what modules return: a tensor, something with `logits`, or a tuple with it first."""
    logits = said.logits if hasattr(said, "logits") else said[0] if isinstance(said, (tuple, list)) else said
    if len(logits.shape) != 3 or tuple(logits.shape[:2]) != (words, length):
        raise ValueError(f"logits of the shape {list(logits.shape)} to {words} words of {length} letters; they have to be "
                         f"[words, length, classes], [{words}, {length}, …]")
    return logits


@contextlib.contextmanager
def in_evaluation(model: Any) -> Iterator[None]:
    """A module without dropout and without gradients meanwhile; anything else as it is."""
    if not is_module(model):
        yield
        return
    import torch

    trained = [module for module in model.modules() if module.training]
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        for module in trained:
            module.training = True


def _device_of(model: Any) -> Any:
    """Where its parameters are."""
    return next((parameter.device for parameter in model.parameters()), None) if is_module(model) else None


def _best(logits: Any, answers: Optional[Sequence[int]], outputs: Optional[Sequence[str]]) -> np.ndarray:
    """[words, length]: the greatest logit, of all or of those of the answers; of a single one whether it is above 0. NaN is no
    answer."""
    if answers is not None:
        logits = logits[..., list(answers)]
    classes = logits.shape[-1]
    if classes == 1:
        best = np.where((logits[..., 0] == 0).cpu().numpy(), -1, (logits[..., 0] > 0).cpu().numpy())
    else:
        best = logits.argmax(-1).cpu().numpy()
    if outputs is not None and max(classes, 2) != len(outputs):
        raise ValueError(f"there are {classes} classes of logits for {len(outputs)} outputs ({', '.join(outputs)}): name the ones "
                         "that count with krohn.adapters.module(net, answers=[…], outputs=[…])")
    return np.where(logits.isnan().any(-1).cpu().numpy(), -1, best)


def module(
    module: Callable[..., Any],
    *,
    begin: Sequence[int] = (),
    letters: Optional[Mapping[str, int]] = None,
    outputs: Optional[Sequence[str]] = None,
    answers: Optional[Sequence[int]] = None,
    device: Any = None,
    batch: int = 256,
) -> BlackBox:
    """A `torch.nn.Module` that returns logits for every position: `module(ids)` is [words, length, classes], or has it as
    `logits`, or first in a tuple.

    `begin` are ids that precede every word; their answers are ignored. `letters` gives the ids of
    letters by name (otherwise letter i is i), `outputs` the names of classes (otherwise class i is output i), `answers` the
    only classes whose logits are compared, in the order of `outputs`. A single class, as for binary cross-entropy, says the
    second output where its logit is above 0. The module is asked as it is, without gradients: call `module.eval()` first; a
    module in training mode, where dropout and batch norms act, is asked with a warning."""
    if getattr(module, "training", False):
        warnings.warn("the module is in training mode, in which dropout and batch norms act: call eval() on it first",
                      stacklevel=2)

    def ask(words: np.ndarray) -> np.ndarray:
        import torch

        with torch.no_grad():
            ids = _with_beginning(words, begin, device or _device_of(module))
            return _best(logits_of(module(ids), *ids.shape), answers, outputs)[:, len(begin):]

    return BlackBox(ask, form="positions", letters=letters, outputs=outputs, batch=batch)


CACHES = ("cache", "past_key_values", "cache_params", "state")
"""The names that transformers' classes have for the state that they give and take, by age of the library and kind of model."""


def _name_of_cache(model: Any, wanted: Optional[str]) -> str:
    """An argument that `forward` has: one that it swallows among others would be ignored."""
    takes = [name for name, argument in inspect.signature(getattr(model, "forward", model)).parameters.items()
             if argument.kind is not argument.VAR_KEYWORD]
    if wanted is None:
        wanted = next((name for name in CACHES if name in takes), None)
        if wanted is None:
            raise ValueError(f"forward of {type(model).__name__} takes no cache by the name of {', '.join(CACHES)}; name its "
                             f"argument with cache=; there are {', '.join(takes)}")
    elif wanted not in takes:
        raise ValueError(f"forward of {type(model).__name__} has no argument {wanted!r}, so that a cache would be ignored; it has "
                         f"{', '.join(takes)}")
    return wanted


def causal_model(
    model: Any,
    *,
    letters: Mapping[str, int],
    answers: Mapping[str, int],
    begin: Sequence[int] = (),
    prefill: Optional[int] = None,
    cache: Optional[str] = None,
    batch: int = 64,
) -> BlackBox:
    """A causal language model of Hugging Face's transformers: `letters` and `answers` give the token ids of letters and
    outputs by name, `begin` the tokens before every word. The answer after a letter is the answer token with the
    greatest logit there.

    Without `prefill` a word is read in one call and no state is kept. With it, that many tokens of `begin` and the word are
    read in one call and the others one by one, with the state that the model gives: this is how text is generated, and it
    goes wrong in other ways. The argument that takes the state is found in the signature of `forward` unless `cache` names
    it; before anything is judged, a model that answers as if it had been given none raises ValueError. A model without
    `begin` needs at least one token to begin with, so `prefill` is at least 1."""
    if prefill is not None and prefill < 1:
        raise ValueError("prefill is at least 1: the state comes from the first call")
    name = _name_of_cache(model, cache) if prefill is not None else ""
    is_taken = prefill is None

    def read(ids: Any, **state: Any) -> Any:
        return model(input_ids=ids, use_cache=bool(prefill), **state)

    def stepped(ids: Any) -> Any:
        nonlocal is_taken
        import torch

        steps = range(prefill, ids.shape[1])
        said = read(ids[:, :prefill])
        parts = [said.logits]
        for t in steps:
            if not hasattr(said, name):
                raise ValueError(f"what {type(model).__name__} returns has no {name!r}: name the cache with cache=")
            said = read(ids[:, t : t + 1], **{name: getattr(said, name)})
            parts.append(said.logits)
        logits = torch.cat(parts, 1)
        if not is_taken and len(steps) > 0:
            whole, alone = read(ids).logits[:, prefill:], torch.cat([read(ids[:, t : t + 1]).logits for t in steps], 1)
            if not torch.allclose(whole, alone, atol=1e-3):  # here the past matters
                is_taken = True
                if torch.allclose(logits[:, prefill:], alone):
                    raise ValueError(f"the cache is not taken: given {name!r}, {type(model).__name__} answers as if nothing had "
                                     "been read before, other than in one call; name its argument with cache=")
        return logits

    def ask(words: np.ndarray) -> np.ndarray:
        import torch

        with torch.no_grad():
            ids = _with_beginning(words, begin, getattr(model, "device", None))
            logits = read(ids).logits if prefill is None else stepped(ids)
            return _best(logits_of(logits, *ids.shape), list(answers.values()), None)[:, len(begin):]

    return BlackBox(ask, form="positions", letters=letters, outputs=list(answers), batch=batch)


def network(network: "Network", *, precision: str = "fp32", batch: int = 1024) -> BlackBox:
    """A network, letter by letter in the arithmetic of `verify`: the output of the state that it reads out."""
    automaton = network.automaton
    outputs = np.append(automaton.outputs, -1)  # of a state that is not read out

    def ask(words: np.ndarray) -> np.ndarray:
        return outputs[network.run(words, precision=precision)]

    ids = {name: letter for letter, name in enumerate(automaton.letters)}
    return BlackBox(ask, form="positions", letters=ids, outputs=automaton.output_names, batch=batch)


def run(
    run: "Run", *, outputs: Optional[Sequence[str]] = None, precision: str = "fp32", batch: int = 1024
) -> BlackBox:
    """A run of `train` or `import_model`, letter by letter in the arithmetic of `verify`: for `test`, `extract`, or to compare
    with the model that it was made from. The special tokens of its task are put around every word. `outputs` are names for
    `run.labels`, in their order, where an automaton has others."""
    before, after = run.around
    whole = len(after) > 0  # the answer is due behind the word

    def ask(words: np.ndarray) -> np.ndarray:
        ends = [np.tile(np.array(ids, dtype=np.int64), (len(words), 1)) for ids in (before, after)]
        said = run.answers(np.concatenate([ends[0], words, ends[1]], axis=1), precision=precision)
        return said[:, -1] if whole else said[:, len(before):]

    ids = {name: letter for letter, name in enumerate(run.letters)}
    names = run.labels if outputs is None else list(outputs)
    if len(names) != len(run.labels):
        raise ValueError(f"outputs names {len(names)} of the run's {len(run.labels)} labels ({', '.join(run.labels)})")
    return BlackBox(ask, form="words" if whole else "positions", letters=ids, outputs=names, batch=batch)


def _with_beginning(words: np.ndarray, begin: Sequence[int], device: Any) -> Any:
    import torch

    whole = np.concatenate([np.tile(np.array(begin, dtype=np.int64), (len(words), 1)), words], axis=1)
    return torch.from_numpy(np.ascontiguousarray(whole)).to(device or "cpu")
