"""GPT-2 and Mamba of transformers, mLSTM and sLSTM of xlstm: whole models as their packages build them, with an embedding and a linear
read-out where the package has none."""

import warnings
from typing import Any, Callable

from torch import Tensor, nn


def package(name: str) -> Any:
    """The module of that name. Raises ValueError with what to install."""
    import importlib

    try:
        with warnings.catch_warnings():  # of kernels for devices that are not here
            warnings.simplefilter("ignore")
            return importlib.import_module(name)
    except ImportError as error:
        raise ValueError(f"this model is {name}'s, which is not installed here ({error}): pip install {name}") from error


def transformers() -> Any:
    return package("transformers")


def xlstm() -> Any:
    return package("xlstm")


class Transformers(nn.Module):
    """A model of transformers without its own read-out."""

    def __init__(self, body: nn.Module, labels: int):
        super().__init__()
        self.body, self.head = body, nn.Linear(body.config.hidden_size, labels)

    def forward(self, tokens: Tensor) -> Tensor:
        positions = getattr(self.body.config, "n_positions", tokens.shape[1])
        if tokens.shape[1] > positions:
            raise ValueError(f"words of {tokens.shape[1]} tokens; the model has {positions} positions")
        return self.head(self.body(input_ids=tokens, use_cache=False)[0])


def gpt2(tokens: int, labels: int, layers: int, width: int, heads: int, positions: int) -> nn.Module:
    """Without dropout, which the papers do not mention for words that never come again."""
    library = transformers()
    config = library.GPT2Config(vocab_size=tokens, n_positions=positions, n_embd=width, n_layer=layers, n_head=heads, resid_pdrop=0.0,
                                embd_pdrop=0.0, attn_pdrop=0.0, bos_token_id=None, eos_token_id=None)  # fmt: skip
    return Transformers(library.GPT2Model(config), labels)


def mamba(tokens: int, labels: int, layers: int, width: int, states: int, expand: int, taps: int) -> nn.Module:
    library = transformers()
    config = library.MambaConfig(vocab_size=tokens, hidden_size=width, state_size=states, num_hidden_layers=layers, expand=expand,
                                 conv_kernel=taps, pad_token_id=None, bos_token_id=None, eos_token_id=None)  # fmt: skip
    return Transformers(library.MambaModel(config), labels)


class XLSTM(nn.Module):
    """xlstm's stack of blocks, whose words have at most `context` tokens."""

    def __init__(self, blocks: nn.Module, tokens: int, labels: int, width: int, context: int):
        super().__init__()
        self.embedding, self.blocks, self.head, self.context = nn.Embedding(tokens, width), blocks, nn.Linear(width, labels), context

    def forward(self, tokens: Tensor) -> Tensor:
        if tokens.shape[1] > self.context:
            raise ValueError(f"words of {tokens.shape[1]} tokens; the model has a context of {self.context}")
        return self.head(self.blocks(self.embedding(tokens)))


def xlstm_blocks(is_scalar: bool) -> Callable[..., nn.Module]:
    """Blocks of sLSTM or of mLSTM alone, in plain PyTorch."""

    def build(tokens: int, labels: int, layers: int, width: int, heads: int, taps: int, context: int) -> nn.Module:
        library = xlstm()
        if is_scalar:
            layer = library.sLSTMLayerConfig(backend="vanilla", num_heads=heads, conv1d_kernel_size=taps)
            kinds = {"slstm_block": library.sLSTMBlockConfig(slstm=layer), "slstm_at": list(range(layers))}
        else:
            layer = library.mLSTMLayerConfig(num_heads=heads, conv1d_kernel_size=taps)
            kinds = {"mlstm_block": library.mLSTMBlockConfig(mlstm=layer)}
        config = library.xLSTMBlockStackConfig(num_blocks=layers, embedding_dim=width, context_length=context, **kinds)
        return XLSTM(library.xLSTMBlockStack(config), tokens, labels, width, context)

    return build
