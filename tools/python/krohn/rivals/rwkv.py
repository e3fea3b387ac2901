"""RWKV-4 (Peng et al. 2023) and RWKV-7 (Peng et al. 2025), what they call time mixing and channel mixing: x [batch, length, width] ↦
the same shape, causal."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def before(x: Tensor) -> Tensor:
    """The token before; zero before the first."""
    return F.pad(x, (0, 0, 1, -1))


class RWKV4(nn.Module):
    """Time mixing of RWKV-4 (Peng et al. 2023): σ(r) ∘ (Σ e^{−(t−1−s) w + k_s} v_s + e^{u + k_t} v_t) / (the same without v)."""

    def __init__(self, width: int):
        super().__init__()
        self.mix = nn.Parameter(torch.rand(3, width))
        self.r, self.k, self.v, self.out = (nn.Linear(width, width, bias=False) for _ in range(4))
        self.decay, self.bonus = nn.Parameter(torch.linspace(-5, 3, width)), nn.Parameter(torch.full((width,), math.log(0.3)))

    def forward(self, x: Tensor) -> Tensor:
        last = before(x)
        r, k, v = (part(x * mix + last * (1 - mix)) for part, mix in zip((self.r, self.k, self.v), self.mix))
        w, outputs = torch.exp(self.decay), []
        above = below = torch.zeros_like(k[:, 0])
        most = torch.full_like(above, -1e38)
        for key, value in zip(k.unbind(1), v.unbind(1)):
            greater = torch.maximum(most, self.bonus + key)
            old, new = torch.exp(most - greater), torch.exp(self.bonus + key - greater)
            outputs.append((old * above + new * value) / (old * below + new))
            greater = torch.maximum(most - w, key)
            old, new = torch.exp(most - w - greater), torch.exp(key - greater)
            above, below, most = old * above + new * value, old * below + new, greater
        return self.out(torch.sigmoid(r) * torch.stack(outputs, 1))


class RWKV4Channels(nn.Module):
    """Channel mixing of RWKV-4."""

    def __init__(self, width: int):
        super().__init__()
        self.mix = nn.Parameter(torch.rand(2, width))
        self.r, self.k, self.v = nn.Linear(width, width, bias=False), nn.Linear(width, 4 * width, bias=False), nn.Linear(4 * width, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        last = before(x)
        k, r = (part(x * mix + last * (1 - mix)) for part, mix in zip((self.k, self.r), self.mix))
        return torch.sigmoid(r) * self.v(torch.relu(k) ** 2)


class LowRank(nn.Module):
    """bias + f(x A) B, f in between; A is zero at first."""

    def __init__(self, width: int, rank: int, between: nn.Module, bias: Tensor):
        super().__init__()
        self.down, self.between, self.up = nn.Linear(width, rank, bias=False), between, nn.Linear(rank, width)
        with torch.no_grad():
            self.down.weight.zero_()
            self.up.bias.copy_(bias)

    def forward(self, x: Tensor) -> Tensor:
        return self.up(self.between(self.down(x)))


class RWKV7(nn.Module):
    """Time mixing of RWKV-7: S ← S (diag(w) − κ̂ᵀ (a ∘ κ̂)) + vᵀ k̃ in every head, y = S r, normalised by heads, plus (r · ρ ∘ k̃) v, gated.
    w = exp(−e^(−½) σ(·)) lies in (0.54, 1), a in (0, 1), κ̂ = κ / |κ|, k̃ = k ∘ (1 + (a − 1) ∘ α); all are of the token and the one before.
    The values of a layer are not mixed with those of the first one, which only stacks of several layers would notice."""

    def __init__(self, width: int, heads: int = 4):
        super().__init__()
        self.heads, rank = heads, max(4, width // 4)
        place = torch.arange(width) / max(1, width - 1)
        self.mix = nn.Parameter(1 - place.expand(6, width) ** torch.tensor([0.2, 0.9, 0.7, 0.7, 0.9, 0.2]).unsqueeze(1))
        self.r, self.k, self.v, self.out = (nn.Linear(width, width, bias=False) for _ in range(4))
        self.decay = LowRank(width, rank, nn.Tanh(), 6 * place - 5.5)
        self.rate = LowRank(width, rank, nn.Identity(), torch.zeros(width))
        self.gate = nn.Sequential(nn.Linear(width, rank, bias=False), nn.Sigmoid(), nn.Linear(rank, width, bias=False))
        self.removed, self.replaced = nn.Parameter(torch.full((width,), 0.7)), nn.Parameter(torch.ones(width))  # κ over k; α
        self.bonus = nn.Parameter(torch.zeros(heads, width // heads))  # ρ
        self.norm = nn.GroupNorm(heads, width, eps=1e-5 * width / heads)

    def forward(self, x: Tensor) -> Tensor:
        last = before(x)
        r, w, k, v, a, g = (x + (last - x) * mix for mix in self.mix)
        r, k, v = self.r(r), self.k(k), self.v(v)
        kept = torch.exp(-math.exp(-0.5) * torch.sigmoid(self.decay(w)))
        rate = torch.sigmoid(self.rate(a))
        split = (self.heads, -1)
        removed = F.normalize((k * self.removed).unflatten(-1, split), dim=-1)
        r, kept, k, v, rate = (part.unflatten(-1, split) for part in (r, kept, k * (1 + (rate - 1) * self.replaced), v, rate))
        state, outputs = torch.zeros(*v[:, 0].shape, v.shape[-1], dtype=x.dtype), []
        for read, keep, key, value, remove, put in zip(*(part.unbind(1) for part in (r, kept, k, v, removed, rate * removed))):
            gone = state @ remove.unsqueeze(-1)
            state = state * keep.unsqueeze(-2) - gone * put.unsqueeze(-2) + value.unsqueeze(-1) * key.unsqueeze(-2)
            outputs.append((state @ read.unsqueeze(-1)).squeeze(-1))
        y = self.norm(torch.stack(outputs, 1).flatten(0, 1).flatten(1)).view_as(x)
        y = y + ((r * k * self.bonus).sum(-1, keepdim=True) * v).flatten(2)
        return self.out(self.gate(g) * y)


class RWKV7Channels(nn.Module):
    """Channel mixing of RWKV-7."""

    def __init__(self, width: int):
        super().__init__()
        self.mix = nn.Parameter(1 - (torch.arange(width) / max(1, width - 1)) ** 4)
        self.k, self.v = nn.Linear(width, 4 * width, bias=False), nn.Linear(4 * width, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.v(torch.relu(self.k(x + (before(x) - x) * self.mix)) ** 2)
