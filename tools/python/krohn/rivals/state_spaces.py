"""State-space layers whose transition does not depend on the input: S4, S4D; and Liquid-S4, where it does a little.

Gu, Goel, Ré 2022 (S4), Gu, Gupta, Goel, Ré 2022 (S4D), Hasani et al. 2023 (Liquid-S4). Small and exact: kernels are made of
the recurrence itself, state by state, not of a generating function, so that a kernel of any length is that of the same model.
"""

import math
from typing import Tuple

import torch
from torch import Tensor, nn


def hippo_legs(size: int) -> Tuple[Tensor, Tensor]:
    """HiPPO-LegS: A [size, size] and B [size], in double precision."""
    n = torch.arange(size, dtype=torch.float64)
    a = -torch.tril(torch.sqrt(torch.outer(2 * n + 1, 2 * n + 1)), -1) - torch.diag(n + 1)
    return a, torch.sqrt(2 * n + 1)


def diagonal_plus_low_rank(size: int) -> Tuple[Tensor, Tensor, Tensor]:
    """Λ, P, B [size], complex, with V (diag(Λ) − P P*) V* = A of HiPPO-LegS and V B that of HiPPO-LegS, for a unitary V."""
    a, b = hippo_legs(size)
    p = torch.sqrt(torch.arange(size, dtype=torch.float64) + 0.5)
    normal = a + torch.outer(p, p)  # −½ on the diagonal, skew off it
    real = torch.diagonal(normal).mean()
    imaginary, v = torch.linalg.eigh(-1j * (normal - torch.diag(torch.diagonal(normal))))
    to = v.conj().T
    return real + 1j * imaginary, to @ p.to(v.dtype), to @ b.to(v.dtype)


def causal_convolution(x: Tensor, kernel: Tensor) -> Tensor:
    """x [batch, length, width], kernel [width, length]: y_t = Σ_s kernel_s x_{t−s}, by Fourier transforms of twice the length."""
    length = x.shape[1]
    spectrum = torch.fft.rfft(x.transpose(1, 2), 2 * length) * torch.fft.rfft(kernel, 2 * length)
    return torch.fft.irfft(spectrum, 2 * length)[..., :length].transpose(1, 2)


def log_uniform(shape: Tuple[int, ...], least: float, greatest: float) -> Tensor:
    return torch.rand(shape) * (math.log(greatest) - math.log(least)) + math.log(least)


class S4(nn.Module):
    """One diagonal plus low-rank system a channel: bilinear steps, y = Re(C x) + D u."""

    def __init__(self, width: int, states: int = 64):
        super().__init__()
        eigenvalues, p, b = diagonal_plus_low_rank(states)
        self.log_step = nn.Parameter(log_uniform((width,), 1e-3, 1e-1))
        self.log_decay = nn.Parameter(torch.log(-eigenvalues.real).float().repeat(width, 1))
        self.frequency = nn.Parameter(eigenvalues.imag.float().repeat(width, 1))
        self.p = nn.Parameter(torch.view_as_real(p.to(torch.complex64)).repeat(width, 1, 1))
        self.b = nn.Parameter(torch.view_as_real(b.to(torch.complex64)).repeat(width, 1, 1))
        self.c = nn.Parameter(torch.view_as_real(torch.randn(width, states, dtype=torch.complex64)))
        self.d = nn.Parameter(torch.randn(width))

    def stepping(self):
        """The discrete system of every channel: a function that applies Ā to a state [width, states], and B̄."""
        eigenvalues = torch.complex(-torch.exp(self.log_decay), self.frequency)
        p, b = torch.view_as_complex(self.p), torch.view_as_complex(self.b)
        inverse_step = 2 * torch.exp(-self.log_step).unsqueeze(-1)
        resolvent = 1 / (inverse_step - eigenvalues)  # of the diagonal part; Sherman and Morrison add the rank
        scale = 1 / (1 + (p.conj() * resolvent * p).sum(-1, keepdim=True))

        def backward(x: Tensor) -> Tensor:
            x = resolvent * x
            return x - resolvent * p * scale * (p.conj() * x).sum(-1, keepdim=True)

        def apply(x: Tensor) -> Tensor:
            return backward(inverse_step * x + eigenvalues * x - p * (p.conj() * x).sum(-1, keepdim=True))

        return apply, 2 * backward(b)

    def kernel(self, length: int) -> Tensor:
        """[width, length]: Re(C Āˡ B̄), twice as many powers at every turn."""
        apply, state = self.stepping()
        identity = torch.eye(state.shape[-1], dtype=state.dtype)
        power = apply(identity.unsqueeze(1)).permute(1, 2, 0)  # Ā of every channel, column after column
        states = state.unsqueeze(-1)
        while states.shape[-1] < length:
            states, power = torch.cat([states, power @ states], -1), power @ power
        return (torch.view_as_complex(self.c).unsqueeze(1) @ states[..., :length]).squeeze(1).real

    def forward(self, x: Tensor) -> Tensor:
        return causal_convolution(x, self.kernel(x.shape[1])) + self.d * x


class S4D(nn.Module):
    """One diagonal system a channel, S4D-Lin: exact steps of a held input, y = 2 Re(C x) + D u."""

    def __init__(self, width: int, states: int = 64):
        super().__init__()
        half = states // 2
        self.log_step = nn.Parameter(log_uniform((width,), 1e-3, 1e-1))
        self.log_decay = nn.Parameter(torch.full((width, half), math.log(0.5)))
        self.frequency = nn.Parameter((math.pi * torch.arange(half, dtype=torch.float32)).repeat(width, 1))
        self.c = nn.Parameter(torch.view_as_real(torch.randn(width, half, dtype=torch.complex64)))
        self.d = nn.Parameter(torch.randn(width))

    def system(self) -> Tuple[Tensor, Tensor]:
        """Ā, B̄ [width, states / 2] for B = 1."""
        eigenvalues = torch.complex(-torch.exp(self.log_decay), self.frequency)
        step = torch.exp(eigenvalues * torch.exp(self.log_step).unsqueeze(-1))
        return step, (step - 1) / eigenvalues

    def kernel(self, length: int) -> Tensor:
        step, enters = self.system()
        powers = step.unsqueeze(-1) ** torch.arange(length)
        return 2 * ((torch.view_as_complex(self.c) * enters).unsqueeze(-1) * powers).sum(1).real

    def forward(self, x: Tensor) -> Tensor:
        return causal_convolution(x, self.kernel(x.shape[1])) + self.d * x


class LiquidS4(S4D):
    """x ← (Ā + diag(B̄ u)) x + B̄ u (Fan et al. 2024, equation 4), letter after letter, with the parameters of S4D."""

    def forward(self, x: Tensor) -> Tensor:
        step, enters = self.system()
        state = torch.zeros(x.shape[0], *step.shape, dtype=step.dtype)
        c, outputs = torch.view_as_complex(self.c), []
        for u in x.unbind(1):
            written = enters * u.unsqueeze(-1)
            state = (step + written) * state + written
            outputs.append(2 * (c * state).sum(-1).real)
        return torch.stack(outputs, 1) + self.d * x


class LinearRecurrence(nn.Module):
    """x ← A x + B u, y = C x + D u with one dense A and no care for how it begins but that it is orthogonal: the LRNN of Fan et al. 2024,
    equation 1, "without S4's parameterization"."""

    def __init__(self, width: int, states: int = 64):
        super().__init__()
        self.a, self.b = nn.Parameter(nn.init.orthogonal_(torch.empty(states, states))), nn.Linear(width, states, bias=False)
        self.c, self.d = nn.Linear(states, width, bias=False), nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        written, states = self.b(x), []
        state = torch.zeros_like(written[:, 0])
        for new in written.unbind(1):
            state = state @ self.a.T + new
            states.append(state)
        return self.c(torch.stack(states, 1)) + self.d(x)


def scanned(a: Tensor, b: Tensor) -> Tensor:
    """x_t = a_t x_{t−1} + b_t from x_{−1} = 0, for a […, length, n, n] and b [… , length, n, 1]: neighbours are composed, the half as long
    sequence of pairs is scanned, and every even place is one step behind its pair. Work as of one pass, depth log₂ of the length."""
    length = a.shape[-3]
    if length == 1:
        return b
    even, odd = slice(0, length - length % 2, 2), slice(1, None, 2)
    pairs = scanned(a[..., odd, :, :] @ a[..., even, :, :], a[..., odd, :, :] @ b[..., even, :, :] + b[..., odd, :, :])
    later = slice(2, None, 2)
    ahead = a[..., later, :, :] @ pairs[..., : (length - 1) // 2, :, :] + b[..., later, :, :]
    evens = torch.cat([b[..., :1, :, :], ahead], -3)
    both = torch.stack([evens[..., : length // 2, :, :], pairs], -3).flatten(-4, -3)
    return both if length % 2 == 0 else torch.cat([both, evens[..., -1:, :, :]], -3)


class BlockDiagonal(nn.Module):
    """The recurrence of Fan et al. 2024, equations 5 and 6: `blocks` blocks of the token, columns of p-norm at most 1, by a parallel scan
    or letter after letter. krohn trains the model with it (`fan`); this one is for timing the two ways."""

    def __init__(self, width: int = 64, block: int = 8, blocks: int = 8, norm: float = 1.2):
        super().__init__()
        self.block, self.blocks, self.norm = block, blocks, norm
        self.a, self.b = nn.Linear(width, blocks * block * block), nn.Linear(width, blocks * block)

    def forward(self, x: Tensor, by_scan: bool) -> Tensor:
        a = self.a(x).unflatten(-1, (self.blocks, self.block, self.block)).transpose(1, 2)
        a = a / torch.linalg.vector_norm(a, self.norm, dim=-2, keepdim=True).clamp(min=1)
        b = self.b(x).unflatten(-1, (self.blocks, self.block, 1)).transpose(1, 2)
        if by_scan:
            return scanned(a, b).squeeze(-1).transpose(1, 2).flatten(2)
        state, states = torch.zeros_like(b[:, :, 0]), []
        for step, new in zip(a.unbind(2), b.unbind(2)):
            state = step @ state + new
            states.append(state)
        return torch.stack(states, 1).flatten(2)
