// simulate/evaluate/reflection_chunk.h — a chunk of reflections in the UT/WY form (Bischof & Van Loan 1987; Joffrin
// 2006), as the chunked kernels of DeltaNet and DeltaProduct evaluate it (Yang et al. 2024; flash-linear-attention,
// ops/delta_rule).
//
// The chunk has factors I − β_r k_r k_rᵀ, r = 1 … R, in the order in which they are applied, and H is the state before
// it. Rows of the R×n matrices K, K̂ and W belong to factors. Roundings: *stored* means A::store; a dot product is
// `dot_product` of affine_layer.h.
//
//   K̂_r     = β_r k_r, each product stored.
//   G_rj    = K̂_r · k_j for j < r, over all n coordinates; kept in the accumulator.
//   L       = −G below the diagonal, then solved by rows into T − I, T = (I + tril(diag(β) K Kᵀ, −1))⁻¹:
//             L_rj ← L_rj + Σ_{j < l < r} L_rl L_lj for j = 1 … r − 1, where row r is the one before and the rows above
//             are solved; the sum left to right from its first product, in the accumulator's own arithmetic.
//   T_rj    = L_rj stored, and 1 on the diagonal.
//   W_ri    = Σ_{j ≤ r} T_rj K̂_ji, left to right from j = 1; stored.
//   U_rc    = −(W_r · column c of H), stored.
//   H_t     = H_ic + Σ_{r ≤ r_t} k_ri U_rc, left to right from r = 1 in the accumulator and only then added to H;
//   stored.
//             r_t counts the factors of the first t letters; where it is 0, H_t = H.
//
// Rows depend on the rows above them alone, so a chunk can be read factor by factor, and the state inside it is what a
// kernel's output o = q H + tril(q Kᵀ) U reads with q a unit vector.
#pragma once

#include <type_traits>
#include <vector>

#include "krohn/constructions/network/network.h"
#include "krohn/simulate/arithmetic/apply.h"
#include "krohn/simulate/arithmetic/arithmetic.h"
#include "krohn/simulate/evaluate/affine_layer.h"

namespace krohn {

/// Σ_{j < l < r} row[l] · solved[l][j] added to row[j], for all j < r. `solved` has rows of `step` accumulators. In
/// accumulators of the storage type the products are A's; otherwise they are fp32's.
template <class A>
void solve_row(const typename A::Sum* row, const typename A::Sum* solved, std::size_t step, std::size_t r,
               typename A::Sum* out) {
  using Sum = typename A::Sum;
  using Solver = std::conditional_t<std::is_same_v<Sum, typename A::Number>, A, Fp32>;
  for (std::size_t j = 0; j < r; ++j) {
    out[j] = row[j];
    if (j + 1 >= r) continue;
    Sum sum = Solver::product(row[j + 1], solved[(j + 1) * step + j]);
    for (std::size_t l = j + 2; l < r; ++l) sum = Solver::add_product(sum, row[l], solved[l * step + j]);
    out[j] = A::add(out[j], sum);
  }
}

/// A chunk that grows by factors. All memory is taken when it is made.
template <class A>
class ReflectionChunk {
 public:
  using Number = typename A::Number;
  using Sum = typename A::Sum;
  using Factor = typename RoundedReflections<Number>::Factor;

  /// At most `factors` factors on an n×d state.
  ReflectionChunk(std::size_t dimension, std::size_t columns, std::size_t factors)
      : n_(dimension),
        d_(columns),
        capacity_(factors),
        keys_(factors * n_),
        scaled_(factors * n_),
        solved_(factors * factors),
        row_(factors),
        t_(factors),
        w_(n_),
        u_(d_),
        start_(n_ * d_),
        sums_(n_ * d_) {}

  /// Forgets all factors; the state before the chunk is `h`, n·d numbers by columns.
  void start(const Number* h) {
    size_ = 0;
    std::copy_n(h, start_.size(), start_.begin());
  }

  void append(const Factor& factor) {
    store_key(factor);
    solve();
    find_w();
    add_to_state();
    ++size_;
  }

  /// The state after all factors so far.
  void state(Number* h) const {
    for (std::size_t i = 0; i < start_.size(); ++i)
      h[i] = size_ == 0 ? start_[i] : A::store(A::add(A::load(start_[i]), sums_[i]));
  }

  std::size_t size() const { return size_; }
  /// T_rj, j ≤ r, as stored; and W's last row. For tests.
  Number t(std::size_t r, std::size_t j) const { return r == j ? Number(1) : A::store(solved_[r * capacity_ + j]); }
  const std::vector<Number>& last_w() const { return w_; }

 private:
  void store_key(const Factor& factor) {
    Number* key = keys_.data() + size_ * n_;
    std::fill_n(key, n_, Number(0));
    for (const auto& entry : factor.entries) key[entry.position] = entry.key;
    for (std::size_t i = 0; i < n_; ++i) scaled_[size_ * n_ + i] = A::store(A::product(factor.beta, A::load(key[i])));
  }

  void solve() {
    for (std::size_t j = 0; j < size_; ++j)
      row_[j] = -dot_product<A>(scaled_.data() + size_ * n_, 1, keys_.data() + j * n_, 1, n_);
    Sum* solved = solved_.data() + size_ * capacity_;
    solve_row<A>(row_.data(), solved_.data(), capacity_, size_, solved);
    for (std::size_t j = 0; j < size_; ++j) t_[j] = A::store(solved[j]);
    t_[size_] = Number(1);
  }

  void find_w() {
    for (std::size_t i = 0; i < n_; ++i)
      w_[i] = A::store(dot_product<A>(t_.data(), 1, scaled_.data() + i, n_, size_ + 1));
  }

  void add_to_state() {
    const Number* key = keys_.data() + size_ * n_;
    for (std::size_t c = 0; c < d_; ++c) {
      u_[c] = -A::store(dot_product<A>(w_.data(), 1, start_.data() + c * n_, 1, n_));
      for (std::size_t i = 0; i < n_; ++i) {
        Sum& sum = sums_[c * n_ + i];
        sum = size_ == 0 ? A::product(key[i], A::load(u_[c])) : A::add_product(sum, key[i], A::load(u_[c]));
      }
    }
  }

  std::size_t n_, d_, capacity_, size_ = 0;
  std::vector<Number> keys_, scaled_;  ///< K and K̂, by rows
  std::vector<Sum> solved_;            ///< T − I, by rows of `capacity_`
  std::vector<Sum> row_;
  std::vector<Number> t_, w_, u_, start_;
  std::vector<Sum> sums_;  ///< Σ k_r U_r
};

}  // namespace krohn
