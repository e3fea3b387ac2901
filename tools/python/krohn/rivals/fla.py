"""DeltaNet and DeltaProduct of flash-linear-attention, whose kernels need a CUDA device."""

import warnings
from typing import Any

import torch
from torch import Tensor, nn

LEAST_LENGTH = 65
"""For shorter words fla takes kernels that do not train."""


def layers() -> Any:
    """fla.layers. Raises ValueError with what to do where that cannot work here."""
    try:
        import fla.layers
    except ImportError as error:
        raise ValueError(f"DeltaNet and DeltaProduct of PyTorch are those of flash-linear-attention, which is not installed here ({error}): "
                         "pip install flash-linear-attention; `krohn train --model deltaproduct:…` trains krohn's own")  # fmt: skip
    if not torch.cuda.is_available():
        raise ValueError("flash-linear-attention's kernels need a CUDA device, and PyTorch sees none; "
                         "`krohn train --model deltaproduct:…` trains krohn's own")  # fmt: skip
    return fla.layers


class Mixer(nn.Module):
    """A layer of fla without its caches."""

    def __init__(self, layer: nn.Module):
        super().__init__()
        self.layer = layer

    def forward(self, x: Tensor) -> Tensor:
        padded = nn.functional.pad(x, (0, 0, 0, max(0, LEAST_LENGTH - x.shape[1])))
        return self.layer(padded)[0][:, : x.shape[1]]


def delta_net(width: int, heads: int, taps: int, signed: int) -> Mixer:
    with warnings.catch_warnings():  # it warns where there is no convolution; the paper's word problems have none
        warnings.simplefilter("ignore")
        return Mixer(layers().DeltaNet(hidden_size=width, num_heads=heads, use_short_conv=taps > 0, conv_size=max(taps, 1),
                                       allow_neg_eigval=bool(signed)))  # fmt: skip


def delta_product(width: int, heads: int, taps: int, signed: int, reflections: int, gated: int) -> Mixer:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Mixer(layers().GatedDeltaProduct(hidden_size=width, head_dim=width // heads, num_heads=heads, expand_v=1,
                                                use_short_conv=taps > 0, conv_size=max(taps, 1), use_forget_gate=bool(gated),
                                                allow_neg_eigval=bool(signed), num_householder=reflections))  # fmt: skip
