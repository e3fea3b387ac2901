// simulate/models/kernels/training_letter_reflections.h — products of generalized Householder matrices whose keys are
// few (LetterReflections), forward and adjoint. Included by the translation unit of every instruction set, and nothing
// else.
//
// With G = K Kᵀ and a row l of K for the step's letter, S = Kᵀ C:
//
//   lack = v_l − Σ_j G_lj C_j,  C_l ← C_l + β_l lack,  o = Σ_j (q·k_j) C_j
//
// and from the last step to the first, C̄ being the gradient by C:
//
//   C̄_j += (q·k_j) ō,  (q̄·k̄)_j = ō·C_j;  x = β_l C̄_l,  β̄_l = C̄_l·lack,  v̄_l = x,  C̄_j −= G_lj x,  Ḡ_lj = −x·C_j
//
// where C is as it was before the step: its row then is remembered. Columns know nothing of each other but for sums at
// the end, so a few go through all words at a time. What words share lies on their paths: the forward takes the last
// word's steps back to where the next one parts from it, the adjoint hands what it has found there on to the word that
// the shared steps belong to.
#pragma once

#include "krohn/simulate/models/kernels/training_kernel_table.h"
#include "krohn/simulate/models/kernels/training_tiles.h"

namespace krohn {
namespace {

/// kRows: rows of C, which are then as long as they are many and fill one vector; 0: any.
template <class Real, std::size_t kLanes, std::size_t kRows>
class ReflectionsByLetter {
 public:
  using V = Vector<Real, kLanes>;

  explicit ReflectionsByLetter(const LetterReflections<Real>& letters)
      : letters_(letters), run_(letters.run), any_rows_(run_.sources * run_.reflections) {
    free_ = run_.scratch + (64 - reinterpret_cast<std::uintptr_t>(run_.scratch) % 64) % 64 / sizeof(Real);
    const std::size_t wide = 2 * kLanes;
    c_ = take(rows() * wide), by_c_ = take(rows() * wide), by_v_ = take(rows() * wide), by_beta_ = take(rows() * wide);
    by_kk_ = take(rows() * rows() * wide), by_qk_ = take(run_.sources * rows() * wide);
    handed_ = take((letters.positions + 1) * rows() * wide), has_handed_ = take(letters.positions + 1);
    kk_ = take(rows() * rows()), qk_ = take(run_.sources * rows());
    for (std::size_t row = 0; row < rows(); ++row)
      for (std::size_t other = 0; other < rows(); ++other) kk_[row * rows() + other] = dot_of(key(row), key(other));
    for (std::size_t letter = 0; letter < run_.sources; ++letter)
      for (std::size_t row = 0; row < rows(); ++row)
        qk_[letter * rows() + row] = dot_of(run_.q + letter * run_.q_row, key(row));
  }

  void forward() {
    by_stripes([&](auto stripe) {
      clear(c_, rows() * stripe.kWide);
      for (std::size_t word = 0; word < run_.words; ++word) {
        const std::size_t shared = letters_.shared[word];
        if (shared == 0)
          clear(c_, rows() * stripe.kWide);
        else
          for (std::size_t at = letters_.length[word - 1]; at-- > shared;) take_back(stripe, token(word - 1, at));
        for (std::size_t at = shared; at < letters_.length[word]; ++at) read(stripe, token(word, at));
      }
    });
  }

  void adjoint(const ReflectionsAdjoint<Real>& adjoint) {
    adjoint_ = adjoint;
    for (std::size_t i = 0; i < rows(); ++i) by_beta_sum_[i] = 0;
    for (std::size_t i = 0; i < rows() * rows(); ++i) by_kk_sum_[i] = 0;
    for (std::size_t i = 0; i < run_.sources * rows(); ++i) by_qk_sum_[i] = 0;
    by_stripes([&](auto stripe) {
      clear(c_, rows() * stripe.kWide);
      clear(by_v_, rows() * stripe.kWide);
      clear(by_beta_, rows() * stripe.kWide);
      clear(by_kk_, rows() * rows() * stripe.kWide);
      clear(by_qk_, run_.sources * rows() * stripe.kWide);
      clear(handed_, (letters_.positions + 1) * rows() * stripe.kWide);
      clear(has_handed_, letters_.positions + 1);
      std::size_t known = 0;  // tokens of the word whose steps C has
      for (std::size_t word = run_.words; word-- > 0;) {
        const std::size_t shared = letters_.shared[word], length = letters_.length[word];
        for (; known < length; ++known) take_again(stripe, token(word, known));
        clear(by_c_, rows() * stripe.kWide);
        for (; known > shared; --known) {
          take_over(stripe, known);
          read_back(stripe, token(word, known - 1));
        }
        hand_on(stripe, shared);
      }
      sum_up(stripe);
    });
    by_tables();
  }

 private:
  /// kVectors vectors of columns, `column` the first; those past the last are 0.
  template <std::size_t kVectors>
  struct Stripe {
    static constexpr std::size_t kWide = kVectors * kLanes;
    struct Row {
      V part[kVectors];
    };
    std::size_t column, values;
    Row load_row(const Real* from) const {
      Row row;
      for (std::size_t v = 0; v < kVectors; ++v)
        row.part[v] = load_some<V>(from + column + v * kLanes, values - column - v * kLanes);
      return row;
    }
    void store_row(Real* to, const Row& row) const {
      for (std::size_t v = 0; v < kVectors; ++v)
        store_some(to + column + v * kLanes, row.part[v], values - column - v * kLanes);
    }
    static Row own(const Real* from) {
      Row row;
      for (std::size_t v = 0; v < kVectors; ++v) row.part[v] = load<V>(from + v * kLanes);
      return row;
    }
    static void keep(Real* to, const Row& row) {
      for (std::size_t v = 0; v < kVectors; ++v) store(to + v * kLanes, row.part[v]);
    }
    static void add(Row& row, Real by, const Row& other) {
      for (std::size_t v = 0; v < kVectors; ++v) row.part[v] += by * other.part[v];
    }
    static void add_products(Real* to, const Row& left, const Row& right) {
      for (std::size_t v = 0; v < kVectors; ++v)
        store(to + v * kLanes, load<V>(to + v * kLanes) + left.part[v] * right.part[v]);
    }
  };

  /// Rows of K and of C.
  std::size_t rows() const { return kRows > 0 ? kRows : any_rows_; }

  template <class Body>
  void by_stripes(const Body& body) const {
    if constexpr (kRows > 0) return body(Stripe<1>{0, kRows});
    const std::size_t values = (run_.values + kLanes - 1) / kLanes * kLanes;
    by_columns<kLanes>(values, [&](std::size_t column, auto width) {
      body(Stripe<decltype(width)::count>{column, run_.values});
    });
  }

  Real* take(std::size_t count) {
    Real* const here = free_;
    free_ += (count + kLanes - 1) / kLanes * kLanes;
    return here;
  }
  static void clear(Real* numbers, std::size_t count) { std::memset(numbers, 0, count * sizeof(Real)); }
  const Real* key(std::size_t row) const {
    return run_.k + row / run_.reflections * run_.k_row + row % run_.reflections * run_.keys;
  }
  Real dot_of(const Real* left, const Real* right) const {
    Real sum = 0;
    for (std::size_t i = 0; i < run_.keys; ++i) sum += left[i] * right[i];
    return sum;
  }
  std::size_t token(std::size_t word, std::size_t position) const {
    return letters_.path[word * letters_.positions + position];
  }
  std::size_t row_of(std::size_t token, std::size_t step) const { return run_.source[token] * run_.reflections + step; }
  Real beta(std::size_t row) const {
    return run_.beta[row / run_.reflections * run_.beta_row + row % run_.reflections];
  }
  Real* lack(std::size_t token, std::size_t step) const {
    return run_.lacks + token * run_.lacks_row + step * run_.values;
  }
  Real* before(std::size_t token, std::size_t step) const {
    return letters_.befores + token * run_.lacks_row + step * run_.values;
  }

  template <class S>
  void read(S stripe, std::size_t token) const {
    for (std::size_t step = 0; step < run_.reflections; ++step) {
      const std::size_t row = row_of(token, step);
      const Real* const g = kk_ + row * rows();
      auto change = stripe.load_row(run_.v + run_.source[token] * run_.v_row + step * run_.values);
      S::add(change, -1, combined<S>(g));
      auto own = S::own(c_ + row * S::kWide);
      stripe.store_row(lack(token, step), change);
      stripe.store_row(before(token, step), own);
      S::add(own, beta(row), change);
      S::keep(c_ + row * S::kWide, own);
    }
    stripe.store_row(run_.o + token * run_.o_row, combined<S>(qk_ + run_.source[token] * rows()));
  }

  /// Σ_j by_j C_j, in two sums that do not wait for each other: steps of a word do.
  template <class S>
  typename S::Row combined(const Real* by) const {
    typename S::Row even{}, odd{};
    std::size_t j = 0;
    for (; j + 2 <= rows(); j += 2) {
      S::add(even, by[j], S::own(c_ + j * S::kWide));
      S::add(odd, by[j + 1], S::own(c_ + (j + 1) * S::kWide));
    }
    if (j < rows()) S::add(even, by[j], S::own(c_ + j * S::kWide));
    S::add(even, 1, odd);
    return even;
  }

  template <class S>
  void take_back(S stripe, std::size_t token) const {
    for (std::size_t step = run_.reflections; step-- > 0;)
      S::keep(c_ + row_of(token, step) * S::kWide, stripe.load_row(before(token, step)));
  }
  template <class S>
  void take_again(S stripe, std::size_t token) const {
    for (std::size_t step = 0; step < run_.reflections; ++step) {
      const std::size_t row = row_of(token, step);
      auto own = stripe.load_row(before(token, step));
      S::add(own, beta(row), stripe.load_row(lack(token, step)));
      S::keep(c_ + row * S::kWide, own);
    }
  }

  template <class S>
  void read_back(S stripe, std::size_t token) {
    const std::size_t letter = run_.source[token];
    const Real* const q = qk_ + letter * rows();
    const auto by_o = stripe.load_row(adjoint_.by_o + token * run_.o_row);
    for (std::size_t step = run_.reflections; step-- > 0;) {
      // The answer stands behind the last step, and is walked through with it.
      const bool last = step + 1 == run_.reflections;
      const std::size_t row = row_of(token, step);
      const Real* const g = kk_ + row * rows();
      auto by = S::own(by_c_ + row * S::kWide);
      if (last) {
        S::add(by, q[row], by_o);
        S::add_products(by_qk_ + (letter * rows() + row) * S::kWide, by_o, S::own(c_ + row * S::kWide));
      }
      S::add_products(by_beta_ + row * S::kWide, by, stripe.load_row(lack(token, step)));
      typename S::Row by_lack{};
      S::add(by_lack, beta(row), by);
      auto sum = S::own(by_v_ + row * S::kWide);
      S::add(sum, 1, by_lack);
      S::keep(by_v_ + row * S::kWide, sum);
      S::keep(c_ + row * S::kWide, stripe.load_row(before(token, step)));
      for (std::size_t j = 0; j < rows(); ++j) {
        const auto own = S::own(c_ + j * S::kWide);
        auto through = S::own(by_c_ + j * S::kWide);
        if (last) {
          S::add(through, q[j], by_o);
          if (j != row) S::add_products(by_qk_ + (letter * rows() + j) * S::kWide, by_o, own);
        }
        S::add(through, -g[j], by_lack);
        S::keep(by_c_ + j * S::kWide, through);
        S::add_products(by_kk_ + (row * rows() + j) * S::kWide, by_lack, own);
      }
    }
  }

  /// The results of words that part here.
  template <class S>
  void take_over(S, std::size_t known) const {
    if (has_handed_[known] == 0) return;
    has_handed_[known] = 0;
    Real* const from = handed_ + known * rows() * S::kWide;
    for (std::size_t i = 0; i < rows() * S::kWide; i += kLanes) {
      store(by_c_ + i, load<V>(by_c_ + i) + load<V>(from + i));
      store(from + i, V{});
    }
  }
  template <class S>
  void hand_on(S, std::size_t shared) const {
    has_handed_[shared] = 1;
    Real* const to = handed_ + shared * rows() * S::kWide;
    for (std::size_t i = 0; i < rows() * S::kWide; i += kLanes) store(to + i, load<V>(to + i) + load<V>(by_c_ + i));
  }

  template <class S>
  static Real total(const Real* from) {
    V sum = load<V>(from);
    for (std::size_t i = kLanes; i < S::kWide; i += kLanes) sum += load<V>(from + i);
    return sum_of<Real, kLanes>(sum);
  }
  template <class S>
  void sum_up(S stripe) {
    for (std::size_t row = 0; row < rows(); ++row) {
      by_beta_sum_[row] += total<S>(by_beta_ + row * S::kWide);
      Real* const by_v = adjoint_.by_v + row / run_.reflections * run_.v_row + row % run_.reflections * run_.values;
      auto sum = stripe.load_row(by_v);
      S::add(sum, 1, S::own(by_v_ + row * S::kWide));
      stripe.store_row(by_v, sum);
    }
    for (std::size_t i = 0; i < rows() * rows(); ++i) by_kk_sum_[i] += total<S>(by_kk_ + i * S::kWide);
    for (std::size_t i = 0; i < run_.sources * rows(); ++i) by_qk_sum_[i] += total<S>(by_qk_ + i * S::kWide);
  }

  /// From the gradients by products of keys, of which by_kk_sum_ has the other sign, to those by keys.
  void by_tables() const {
    for (std::size_t row = 0; row < rows(); ++row) {
      const std::size_t letter = row / run_.reflections, step = row % run_.reflections;
      adjoint_.by_beta[letter * run_.beta_row + step] += by_beta_sum_[row];
      Real* const by_k = adjoint_.by_k + letter * run_.k_row + step * run_.keys;
      for (std::size_t other = 0; other < rows(); ++other) {
        const Real by = by_kk_sum_[row * rows() + other] + by_kk_sum_[other * rows() + row];
        for (std::size_t i = 0; i < run_.keys; ++i) by_k[i] -= by * key(other)[i];
      }
    }
    for (std::size_t letter = 0; letter < run_.sources; ++letter) {
      const Real* const q = run_.q + letter * run_.q_row;
      Real* const by_q = adjoint_.by_q + letter * run_.q_row;
      for (std::size_t row = 0; row < rows(); ++row) {
        const Real by = by_qk_sum_[letter * rows() + row];
        Real* const by_k = adjoint_.by_k + row / run_.reflections * run_.k_row + row % run_.reflections * run_.keys;
        for (std::size_t i = 0; i < run_.keys; ++i) {
          by_q[i] += by * key(row)[i];
          by_k[i] += by * q[i];
        }
      }
    }
  }

  const LetterReflections<Real>& letters_;
  const Reflections<Real>& run_;
  ReflectionsAdjoint<Real> adjoint_{};
  std::size_t any_rows_;
  Real* free_;
  Real *c_, *by_c_, *by_v_, *by_beta_, *by_kk_, *by_qk_;  ///< rows of a stripe
  Real *handed_, *has_handed_;  ///< number of tokens that words share ↦ a gradient by C, and whether there is one
  Real *kk_, *qk_;
  Real by_beta_sum_[kMaxLetterRows], by_kk_sum_[kMaxLetterRows * kMaxLetterRows],
      by_qk_sum_[kMaxLetterRows * kMaxLetterRows];
};

}  // namespace
}  // namespace krohn
