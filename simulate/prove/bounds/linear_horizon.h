// simulate/prove/bounds/linear_horizon.h — the horizon of MATH.md §5 in a form that is checked by one inequality:
// shorter than that of simulate/prove/bounds/bounds.h, and what certificate files hold.
#pragma once

#include <optional>

#include "krohn/constructions/network/network.h"
#include "krohn/simulate/arithmetic/arithmetic_name.h"
#include "krohn/simulate/arithmetic/order.h"
#include "krohn/simulate/prove/claims/certificate.h"

namespace krohn {

/// For a network of one layer whose entries are sums of products (rotations, diagonal, dense and block-diagonal
/// matrices), or whose letters are reflections one after another, in an arithmetic that rounds to one format. With c_i
/// the codewords that the table visits, k the most products of an entry (and one for B), u the unit roundoff,
/// γ_k = k u / (1 − k u), q = 2^(least exponent − digits + 1), all norms Frobenius's:
///   λ = max 1 + ‖AᵀA − I‖/2 ≥ ‖A‖₂,   x = max (λ + γ_k‖A‖ − 1),   r = (1 − 2⁻²⁰) · half the least distance of
///   codewords, ε = max ‖A c_i + B − c_j‖ + γ_k ‖|A||c_i| + |B|‖ + n d k q,   e = ‖H_0 − c_0‖.
/// For reflections I − β v vᵀ with s entries in v: g = max(1, |1 − β‖v‖²|) is the norm of one, δ = γ_1 + γ_{s+3} |β|
/// ‖v‖² what rounding adds to it, x = Π (g + δ) − 1 and ε = ‖A c_i − c_j‖ + (Π (g + δ) − Π g) ‖c_i‖ + d α, with α what
/// underflow adds: at most 4 (s + 1)(1 + ‖v‖)(1 + |β|) q a reflection, passed on by those after it.
/// After t letters the numbers are within (e + t ε)/(1 − t x) of the codeword that the table has reached: proved up to
/// the greatest T with e + T ε ≤ r (1 − T x). Nothing when the form does not fit, the table does not track the
/// automaton, or T is 0.
std::optional<LinearHorizon> linear_horizon(const Network& network, ArithmeticName arithmetic, Form form);

}  // namespace krohn
