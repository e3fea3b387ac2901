"""The token mixers of the rivals: x [batch, length, width] ↦ the same shape, causal. One class a paper, by its equations."""

import math
from typing import Any, Optional, Tuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from krohn import _krohn


def heads_of(x: Tensor, heads: int) -> Tensor:
    """[batch, length, width] ↦ [batch, heads, length, width / heads]."""
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def joined(x: Tensor) -> Tensor:
    return x.transpose(1, 2).flatten(2)


class LinearAttention(nn.Module):
    """φ(q)ᵀ Σ φ(k) vᵀ over φ(q)ᵀ Σ φ(k), φ = 1 + elu (Katharopoulos et al. 2020)."""

    def __init__(self, width: int, heads: int = 4):
        super().__init__()
        self.heads, self.qkv, self.out = heads, nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (heads_of(part, self.heads) for part in self.qkv(x).chunk(3, -1))
        scores = ((1 + F.elu(q)) @ (1 + F.elu(k)).transpose(-1, -2)).tril()
        return self.out(joined(scores @ v / scores.sum(-1, keepdim=True)))


class CausalConvolution(nn.Conv1d):
    """Every channel by itself over the last `taps` tokens."""

    def __init__(self, width: int, taps: int):
        super().__init__(width, width, taps, groups=width, padding=taps - 1)

    def forward(self, x: Tensor) -> Tensor:
        """A product a tap: the library's convolution has no fast derivative for so few taps of one channel each."""
        taps = self.weight.shape[-1]
        padded = F.pad(x, (0, 0, taps - 1, 0))
        shifted = (self.weight[:, 0, tap] * padded[:, tap : tap + x.shape[1]] for tap in range(taps))
        return sum(shifted, self.bias)


class CompiledScan(torch.autograd.Function):
    """x_t = a_t ∘ x_{t−1} + b_t u_tᵀ from x_{−1} = 0 and y_t = c_tᵀ x_t, for a_t = exp(A ∘ Δ_t), or 2 exp(A ∘ Δ_t) − 1; Δ, u [batch,
    length, width], b, c [batch, length, states], A [states, width] ↦ y [batch, length, width]. By krohn's loops: PyTorch would write
    and read every eigenvalue and every gradient by one, and a step of training take twice as long."""

    @staticmethod
    def forward(ctx: Any, delta: Tensor, rates: Tensor, u: Tensor, b: Tensor, c: Tensor, signed: bool) -> Tensor:
        given = tuple(each.contiguous() for each in (delta, rates, u, b, c))
        states, outputs = delta.new_empty(*b.shape, delta.shape[-1]), torch.empty_like(given[0])
        _krohn.selective_scan(*(each.numpy() for each in given), signed, states.numpy(), outputs.numpy())
        ctx.save_for_backward(*given, states)
        ctx.signed = signed
        return outputs

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> Tuple[Optional[Tensor], ...]:
        *given, states = ctx.saved_tensors
        delta, rates, u, b, c = given
        found = tuple(torch.zeros_like(each) for each in given)
        _krohn.selective_scan_adjoint(*(each.numpy() for each in given), ctx.signed, states.numpy(), gradients[0].contiguous().numpy(),
                                      *(each.numpy() for each in found))  # fmt: skip
        return (*found, None)


def recorded_scan(delta: Tensor, rates: Tensor, u: Tensor, b: Tensor, c: Tensor, signed: bool) -> Tensor:
    """The same on any device, letter after letter."""
    powers = torch.exp(delta.unsqueeze(-2) * rates)
    decay, new = 2 * powers - 1 if signed else powers, b.unsqueeze(-1) * u.unsqueeze(-2)
    states = [new[:, 0]]
    for t in range(1, delta.shape[1]):
        states.append(decay[:, t] * states[-1] + new[:, t])
    return (c.unsqueeze(-2) @ torch.stack(states, 1)).squeeze(-2)


def selective_scan(*given: Any) -> Tensor:
    """By the loops where they are compiled for: a processor, and numbers of one kind."""
    kinds = {(each.device.type, each.dtype) for each in given[:-1]}
    return (CompiledScan.apply if kinds in ({("cpu", torch.float32)}, {("cpu", torch.float64)}) else recorded_scan)(*given)


class Mamba(nn.Module):
    """Mamba-1 (Gu & Dao 2023): x ← exp(Δ A) x + Δ B u for every channel, Δ, B and C of the token; `signed`: 2 exp(Δ A) − 1 in
    place of exp(Δ A), eigenvalues in [−1, 1] (Grazzi et al. 2025)."""

    def __init__(self, width: int, states: int = 16, expand: int = 2, taps: int = 4, signed: bool = False):
        super().__init__()
        inner, self.states, self.signed = expand * width, states, signed
        self.rank = math.ceil(width / 16)
        self.in_proj, self.conv1d = nn.Linear(width, 2 * inner, bias=False), CausalConvolution(inner, taps)
        self.x_proj, self.dt_proj = nn.Linear(inner, self.rank + 2 * states, bias=False), nn.Linear(self.rank, inner)
        self.A_log = nn.Parameter(torch.log(torch.arange(1, states + 1, dtype=torch.float32)).repeat(inner, 1))
        self.D, self.out_proj = nn.Parameter(torch.ones(inner)), nn.Linear(inner, width, bias=False)
        step = torch.exp(torch.rand(inner) * math.log(100) + math.log(1e-3)).clamp(min=1e-4)
        with torch.no_grad():  # so that Δ lies between 10⁻³ and 10⁻¹ at first
            self.dt_proj.bias.copy_(step + torch.log(-torch.expm1(-step)))
            nn.init.uniform_(self.dt_proj.weight, -(self.rank**-0.5), self.rank**-0.5)

    def forward(self, x: Tensor) -> Tensor:
        u, gate = self.in_proj(x).chunk(2, -1)
        u = F.silu(self.conv1d(u))
        step, b, c = self.x_proj(u).split([self.rank, self.states, self.states], -1)
        step = F.softplus(self.dt_proj(step))
        outputs = selective_scan(step, -torch.exp(self.A_log).T, step * u, b, c, self.signed)
        return self.out_proj((outputs + self.D * u) * F.silu(gate))
