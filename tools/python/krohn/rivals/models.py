"""The rivals by name: "lstm:hidden=32", "transformer:layers=2,width=64,heads=4", … A model maps tokens [batch, length] to
logits [batch, length, labels] and is causal, so that words that are filled up at the end do not disturb each other."""

from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Optional, Tuple

import torch
from torch import Tensor, nn

from krohn.rivals import fla, published
from krohn.rivals.mixers import LinearAttention, Mamba
from krohn.rivals.rwkv import RWKV4, RWKV7, RWKV4Channels, RWKV7Channels
from krohn.rivals.state_spaces import S4, S4D, LinearRecurrence, LiquidS4


class Recurrent(nn.Module):
    """torch.nn's RNN, LSTM or GRU over one-hot tokens, and a linear read-out. Its state dict is what `krohn import` reads."""

    def __init__(self, cell: Any, tokens: int, labels: int, hidden: int = 32, layers: int = 1):
        super().__init__()
        self.tokens, self.recurrent, self.head = tokens, cell(tokens, hidden, layers, batch_first=True), nn.Linear(hidden, labels)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.head(self.recurrent(nn.functional.one_hot(tokens, self.tokens).to(self.head.weight.dtype))[0])


class FullMatrix(nn.Module):
    """H ← A(token) H from the identity, H divided by its norm where that is above 1, and a linear read-out of all its entries (Grazzi et
    al. 2025, E.2.1, "full matrix simple")."""

    def __init__(self, tokens: int, labels: int, size: int = 8):
        super().__init__()
        self.matrices = nn.Parameter(torch.eye(size) + torch.randn(tokens, size, size) / size)
        self.head = nn.Linear(size * size, labels)

    def forward(self, tokens: Tensor) -> Tensor:
        state = torch.eye(self.matrices.shape[-1], dtype=self.matrices.dtype).expand(tokens.shape[0], -1, -1)
        states = []
        for step in self.matrices[tokens].unbind(1):
            state = step @ state
            states.append(state)
        flat = torch.stack(states, 1).flatten(2)
        return self.head(flat / torch.linalg.vector_norm(flat, dim=-1, keepdim=True).clamp(min=1))


class Block(nn.Module):
    """x + mixer(norm(x)), and where there is a second part x + channels(norm(x))."""

    def __init__(self, width: int, mixer: nn.Module, channels: Any = None):
        super().__init__()
        self.norm, self.mixer = nn.LayerNorm(width), mixer
        self.second_norm, self.channels = (nn.LayerNorm(width), channels) if channels is not None else (None, None)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.mixer(self.norm(x))
        return x if self.channels is None else x + self.channels(self.second_norm(x))


class Gated(nn.Module):
    """A state-space layer, GELU, and a linear map with a gate, as S4's blocks have it."""

    def __init__(self, width: int, layer: nn.Module):
        super().__init__()
        self.layer, self.out = layer, nn.Linear(width, 2 * width)

    def forward(self, x: Tensor) -> Tensor:
        return nn.functional.glu(self.out(nn.functional.gelu(self.layer(x))), -1)


def mlp(width: int) -> nn.Module:
    return nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))


class Stack(nn.Module):
    """Embedding, blocks, a norm, a read-out."""

    def __init__(self, blocks: List[nn.Module], tokens: int, labels: int, width: int):
        super().__init__()
        self.embedding = nn.Embedding(tokens, width)
        self.blocks, self.norm, self.head = nn.Sequential(*blocks), nn.LayerNorm(width), nn.Linear(width, labels)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.head(self.norm(self.blocks(self.embedding(tokens))))


@dataclass(frozen=True)
class Family:
    """One name: where it comes from, its options with their defaults, and how it is built."""

    source: str
    options: Dict[str, int]
    build: Callable[..., nn.Module]
    is_imported: bool = False
    """Whether `krohn import` reads its state dict, so that every verb examines it."""
    library: Optional[Callable[[], Any]] = None
    """Gives the package that the model is built of; raises ValueError where it cannot be used here."""
    is_on_device: bool = False
    """Whether the model is built on a CUDA device."""


def _stacked(block: Callable[..., nn.Module], **more: int) -> Tuple[Dict[str, int], Callable[..., nn.Module]]:
    options = {"layers": 1, "width": 32, **more}

    def build(tokens: int, labels: int, layers: int, width: int, **rest: int) -> nn.Module:
        return Stack([block(width, **rest) for _ in range(layers)], tokens, labels, width)

    return options, build


def _cell(cell: Any) -> Tuple[Dict[str, int], Callable[..., nn.Module]]:
    return {"hidden": 32, "layers": 1}, lambda tokens, labels, **rest: Recurrent(cell, tokens, labels, **rest)


FAMILIES: Dict[str, Family] = {
    "rnn": Family("Elman 1990, torch.nn.RNN", *_cell(nn.RNN), is_imported=True),
    "lstm": Family("Hochreiter & Schmidhuber 1997, torch.nn.LSTM", *_cell(nn.LSTM), is_imported=True),
    "gru": Family("Cho et al. 2014, torch.nn.GRU", *_cell(nn.GRU), is_imported=True),
    "transformer": Family("Radford et al. 2019, transformers' GPT2Model", {"layers": 1, "width": 32, "heads": 4, "positions": 1024},
                          published.gpt2, library=published.transformers),
    "linear-attention": Family("Katharopoulos et al. 2020", *_stacked(
        lambda width, heads: Block(width, LinearAttention(width, heads), mlp(width)), heads=4)),
    "mamba": Family("Gu & Dao 2023", *_stacked(
        lambda width, states, expand, taps, signed: Block(width, Mamba(width, states, expand, taps, bool(signed))),
        states=16, expand=2, taps=4, signed=0)),
    "hf-mamba": Family("Gu & Dao 2023, transformers' MambaModel", {"layers": 1, "width": 32, "states": 16, "expand": 2, "taps": 4},
                       published.mamba, library=published.transformers),
    "mlstm": Family("Beck et al. 2024, xlstm's blocks of mLSTM", {"layers": 1, "width": 32, "heads": 4, "taps": 4, "context": 512},
                    published.xlstm_blocks(is_scalar=False), library=published.xlstm),
    "slstm": Family("Beck et al. 2024, xlstm's blocks of sLSTM", {"layers": 1, "width": 32, "heads": 4, "taps": 4, "context": 512},
                    published.xlstm_blocks(is_scalar=True), library=published.xlstm),
    "s4": Family("Gu, Goel & Ré 2022", *_stacked(lambda width, states: Block(width, Gated(width, S4(width, states))), states=64)),
    "s4d": Family("Gu, Gupta, Goel & Ré 2022", *_stacked(
        lambda width, states: Block(width, Gated(width, S4D(width, states))), states=64)),
    "liquid-s4": Family("Hasani et al. 2023, by Fan et al. 2024 (4)", *_stacked(
        lambda width, states: Block(width, Gated(width, LiquidS4(width, states))), states=64)),
    "lrnn": Family("Fan et al. 2024 (1)", *_stacked(
        lambda width, states: Block(width, Gated(width, LinearRecurrence(width, states))), states=64)),
    "rwkv4": Family("Peng et al. 2023", *_stacked(lambda width: Block(width, RWKV4(width), RWKV4Channels(width)))),
    "rwkv7": Family("Peng et al. 2025", *_stacked(
        lambda width, heads: Block(width, RWKV7(width, heads), RWKV7Channels(width)), heads=4)),
    "full-matrix": Family("Grazzi et al. 2025, E.2.1", {"size": 8}, FullMatrix),
    "deltanet": Family("Yang et al. 2024, flash-linear-attention", *_stacked(
        lambda width, **options: Block(width, fla.delta_net(width, **options), mlp(width)), heads=4, taps=4, signed=0),
        library=fla.layers, is_on_device=True),
    "deltaproduct": Family("Siems et al. 2025, flash-linear-attention", *_stacked(
        lambda width, **options: Block(width, fla.delta_product(width, **options), mlp(width)),
        heads=4, taps=4, signed=0, reflections=2, gated=0), library=fla.layers, is_on_device=True),
}


def parse(name: str) -> Tuple[str, Dict[str, int]]:
    """"mamba:layers=2,signed" ↦ the family and all of its options. Raises ValueError saying what there is."""
    family, _, rest = name.partition(":")
    if family not in FAMILIES:
        raise ValueError(f"{family!r} is no rival; there are {', '.join(FAMILIES)}")
    options = dict(FAMILIES[family].options)
    for part in filter(None, rest.split(",")):
        key, _, value = part.partition("=")
        if key not in options:
            raise ValueError(f"{family} has no option {key!r}; it has {', '.join(options)}")
        if not (value or "1").isdecimal():
            raise ValueError(f"{family}: {key} is a whole number, not {value!r}")
        options[key] = int(value or "1")
        if options[key] < 1 and key in ("layers", "width", "hidden", "size", "heads", "states"):
            raise ValueError(f"{family}: {key} is at least 1")
    if options.get("width", 0) % options.get("heads", 1):
        raise ValueError(f"{family}: {options['heads']} heads do not divide a width of {options['width']}")
    return family, options


def full_name(name: str) -> str:
    """With every option, as run.json has it."""
    family, options = parse(name)
    return family + ":" + ",".join(f"{key}={value}" for key, value in options.items())


def build(name: str, tokens: int, labels: int, seed: int) -> nn.Module:
    """A model with first weights of that seed."""
    family, options = parse(name)
    torch.manual_seed(seed)
    model = FAMILIES[family].build(tokens, labels, **options)
    return model.cuda() if FAMILIES[family].is_on_device else model


def obstacle(name: str) -> str:
    """Why the model cannot be built on this machine; empty where it can."""
    try:
        library = FAMILIES[parse(name)[0]].library
        if library:
            library()
    except ValueError as error:
        return str(error)
    return ""
