"""Models of PyTorch as black boxes. PyTorch itself is imported by the model's owner; here it is only when one is asked."""

from typing import Any, Callable, Mapping, Optional, Sequence

import numpy as np

from krohn.black_box import BlackBox


def _logits(said: Any) -> Any:
    """[words, length, classes], out of what models return: a tensor, something with `logits`, or a tuple with it first."""
    if hasattr(said, "logits"):
        return said.logits
    return said[0] if isinstance(said, (tuple, list)) else said


def _best(logits: Any, answers: Optional[Sequence[int]]) -> np.ndarray:
    """[words, length]: the greatest logit, of all or of those of the answers. NaN is no answer."""
    if logits.dim() != 3:
        raise ValueError(f"logits have {logits.dim()} dimensions, not three: words, length, classes")
    if answers is not None:
        logits = logits[..., list(answers)]
    return np.where(logits.isnan().any(-1).cpu().numpy(), -1, logits.argmax(-1).cpu().numpy())


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

    `begin` are ids that stand before every word; what is said about them is not looked at. `letters` gives the ids of
    letters by name (otherwise letter i is i), `outputs` the names of classes (otherwise class i is output i), `answers` the
    only classes whose logits are compared, in the order of `outputs`. The module is asked as it stands, without
    gradients: call `module.eval()` first, unless dropout is meant to be tested."""

    def ask(words: np.ndarray) -> np.ndarray:
        import torch

        with torch.no_grad():
            ids = _with_beginning(words, begin, device)
            return _best(_logits(module(ids)), answers)[:, len(begin):]

    return BlackBox(ask, form="positions", letters=letters, outputs=outputs, batch=batch)


def causal_model(
    model: Any,
    *,
    letters: Mapping[str, int],
    answers: Mapping[str, int],
    begin: Sequence[int] = (),
    prefill: Optional[int] = None,
    cache: str = "past_key_values",
    batch: int = 64,
) -> BlackBox:
    """A causal language model of Hugging Face's transformers: `letters` and `answers` give the token ids of letters and
    outputs by name, `begin` the tokens before every word. The answer after a letter is the answer token with the
    greatest logit there.

    Without `prefill` a word is read in one call and no state is kept. With it, that many tokens of `begin` and the word are
    read in one call and the others one by one, with the state in the argument `cache` (Mamba calls it "cache_params"):
    this is how text is generated, and it goes wrong in other ways. A model without `begin` needs at least one token to
    begin with, so `prefill` is at least 1."""
    if prefill is not None and prefill < 1:
        raise ValueError("prefill is at least 1: the state comes from the first call")

    def ask(words: np.ndarray) -> np.ndarray:
        import torch

        with torch.no_grad():
            ids = _with_beginning(words, begin, getattr(model, "device", None))
            if prefill is None:
                logits = model(input_ids=ids, use_cache=False).logits
            else:
                said = model(input_ids=ids[:, :prefill], use_cache=True)
                parts = [said.logits]
                for t in range(prefill, ids.shape[1]):
                    said = model(input_ids=ids[:, t : t + 1], use_cache=True, **{cache: getattr(said, cache)})
                    parts.append(said.logits)
                logits = torch.cat(parts, 1)
            return _best(logits, list(answers.values()))[:, len(begin):]

    return BlackBox(ask, form="positions", letters=letters, outputs=list(answers), batch=batch)


def _with_beginning(words: np.ndarray, begin: Sequence[int], device: Any) -> Any:
    import torch

    whole = np.concatenate([np.tile(np.array(begin, dtype=np.int64), (len(words), 1)), words], axis=1)
    return torch.from_numpy(np.ascontiguousarray(whole)).to(device or "cpu")
