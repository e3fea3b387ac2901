// simulate/models/kernels/training_reflections.h — products of generalized Householder matrices, a chunk of steps at a
// time, forward and adjoint. Included by the translation unit of every instruction set, and nothing else.
//
// A step r of a chunk has a key k_r, a value v_r and β_r; S_0 is the state before the chunk. With G = K Kᵀ (Bischof &
// Van Loan 1987; Yang et al. 2024, §3):
//
//   lack_r = v_r − S_0ᵀ k_r − Σ_{j<r} G_rj u_j,  u_r = β_r lack_r       the steps, by forward substitution
//   o_t    = S_0ᵀ q_t + Σ_{j up to t's last step} (q_t·k_j) u_j,  S ← S_0 + Kᵀ U
//
// and the adjoint solves the transposed system from the last step to the first:
//
//   x_j = Σ_{t from j's token} (q_t·k_j) ō_t + S̄ᵀ k_j − Σ_{r>j} G_rj y_r,  y_r = β_r x_r
//   v̄_r = y_r,  β̄_r = lack_r·x_r,  Ḡ_rj = −y_r·u_j (j < r),  (q̄·k̄)_tj = ō_t·u_j
//
// All of it are products of small matrices, whatever the length, where a state read and written at every token would be
// bound by memory. Where few rows are read by many tokens (letters), products of keys are looked up in a table made
// once, and their gradients are summed in one.
#pragma once

#include "krohn/simulate/models/kernels/training_kernel_table.h"
#include "krohn/simulate/models/kernels/training_tiles.h"

namespace krohn {
namespace {

template <class Real, std::size_t kLanes, std::size_t kRows>
class ReflectionChunks {
 public:
  using V = Vector<Real, kLanes>;

  explicit ReflectionChunks(const Reflections<Real>& run) : run_(run) {
    free_ = run.scratch + (64 - reinterpret_cast<std::uintptr_t>(run.scratch) % 64) % 64 / sizeof(Real);
    const ReflectionExtents extents = reflection_extents(run);
    const std::size_t steps = extents.chunk_steps, tokens = extents.chunk_tokens;
    steps_wide_ = padded(steps), keys_ = padded(run.keys), values_ = padded(run.values);
    shared_ = extents.shared;
    k_ = take(steps * keys_), k_across_ = take(keys_ * steps_wide_), q_ = take(tokens * keys_);
    kk_ = take(steps * steps_wide_), qk_ = take(tokens * steps_wide_);
    u_ = take(steps * values_), state_ = take(run.keys * values_);
    by_o_ = take(tokens * values_), y_ = take(steps * values_), u_across_ = take(values_ * steps_wide_);
    by_qk_ = take(tokens * steps_wide_), by_kk_ = take(steps * steps_wide_);
    by_k_ = take(steps * keys_), by_q_ = take(tokens * keys_);
    by_state_ = take(run.keys * values_), across_ = take(values_ * keys_);
    if (!shared_) return;
    rows_ = run.sources * run.reflections, rows_wide_ = padded(rows_);
    row_k_ = take(rows_ * keys_), row_q_ = take(run.sources * keys_), row_k_across_ = take(keys_ * rows_wide_);
    row_by_k_ = take(rows_ * keys_), row_by_q_ = take(run.sources * keys_);
    row_kk_ = take(rows_ * rows_wide_), row_qk_ = take(run.sources * rows_wide_);
    by_row_kk_ = take(rows_ * rows_wide_), by_row_qk_ = take(run.sources * rows_wide_);
    line_kk_ = take(rows_ * steps_wide_), line_qk_ = take(run.sources * steps_wide_);
    make_tables();
  }

  void forward() {
    std::size_t chunk = 0;
    for (std::size_t word = 0; word < run_.words; ++word) {
      Real* const kept = run_.state == nullptr ? nullptr : run_.state + word * run_.state_row;
      has_state_ = kept != nullptr;
      if (has_state_) copy(kept, run_.values, state_, values_, run_.keys, run_.values);
      for_chunks(word, [&](bool last) {
        if (run_.starts != nullptr) keep_start(chunk++);
        const bool goes_on = !last || kept != nullptr;
        make_products(has_state_ || goes_on);
        solve();
        answer();
        if (goes_on) change_state();
      });
      if (kept != nullptr) copy(state_, values_, kept, run_.values, run_.keys, run_.values);
    }
  }

  void adjoint(const ReflectionsAdjoint<Real>& adjoint) {
    adjoint_ = adjoint;
    if (shared_) {
      clear(by_row_kk_, rows_ * rows_wide_);
      clear(by_row_qk_, run_.sources * rows_wide_);
    }
    std::size_t chunk = reflection_chunks(run_);
    for (std::size_t word = run_.words; word-- > 0;) {
      Real* const kept = adjoint.by_state == nullptr ? nullptr : adjoint.by_state + word * run_.state_row;
      has_by_state_ = kept != nullptr;
      if (has_by_state_) copy(kept, run_.values, by_state_, values_, run_.keys, run_.values);
      for_chunks_down(word, [&](bool first) {
        has_state_ = run_.starts != nullptr && (!first || run_.state != nullptr);
        --chunk;
        if (has_state_)
          copy(run_.starts + chunk * run_.keys * run_.values, run_.values, state_, values_, run_.keys, run_.values);
        const bool goes_on = !first || kept != nullptr;
        make_products(has_state_ || has_by_state_ || goes_on);
        read_back();
        solve_back();
        by_products();
        if (goes_on) change_by_state();
      });
      if (kept != nullptr) copy(by_state_, values_, kept, run_.values, run_.keys, run_.values);
    }
    if (shared_) by_tables();
  }

 private:
  static std::size_t padded(std::size_t count) { return (count + kLanes - 1) / kLanes * kLanes; }
  Real* take(std::size_t count) {
    Real* const here = free_;
    free_ += padded(count);
    return here;
  }
  static void clear(Real* numbers, std::size_t count) { std::memset(numbers, 0, count * sizeof(Real)); }
  /// Rows of `width` numbers; where the target's rows are longer, zeros follow.
  static void copy(const Real* from, std::size_t from_row, Real* to, std::size_t to_row, std::size_t rows,
                   std::size_t width) {
    for (std::size_t r = 0; r < rows; ++r) {
      std::memcpy(to + r * to_row, from + r * from_row, width * sizeof(Real));
      if (to_row > width) clear(to + r * to_row + width, to_row - width);
    }
  }
  static void transpose(const Real* from, std::size_t from_row, Real* to, std::size_t to_row, std::size_t rows,
                        std::size_t columns) {
    for (std::size_t c = 0; c < columns; ++c) {
      Real* const out = to + c * to_row;
      for (std::size_t r = 0; r < rows; ++r) out[r] = from[r * from_row + c];
      clear(out + rows, to_row - rows);
    }
  }
  /// One row of scratch.
  static void gather(const Real* from, std::size_t width, Real* to) {
    for (std::size_t i = 0; i < width; i += kLanes) store(to + i, load_some<V>(from + i, width - i));
  }
  void keep_start(std::size_t chunk) const {
    Real* const start = run_.starts + chunk * run_.keys * run_.values;
    if (has_state_)
      copy(state_, values_, start, run_.values, run_.keys, run_.values);
    else
      clear(start, run_.keys * run_.values);
  }
  static void product(std::size_t rows, std::size_t columns, std::size_t depth, const Factor<Real>& a, const Real* b,
                      std::size_t b_row, Real* c, std::size_t c_row) {
    add_small_product<Real, kLanes, kRows>(rows, columns, depth, a, b, b_row, c, c_row);
  }

  // ── Where a chunk stands ──────────────────────────────────────────────────────────────────────────────────────────

  template <class Body>
  void for_chunks(std::size_t word, const Body& body) {
    const std::size_t end = run_.first[word + 1],
                      length = reflection_chunk(end - run_.first[word], run_.reflections, run_.keys);
    for (std::size_t first = run_.first[word]; first < end; first += length) {
      stand_at(first, end - first < length ? end - first : length);
      body(first + tokens_ == end);
      has_state_ = true;
    }
  }
  template <class Body>
  void for_chunks_down(std::size_t word, const Body& body) {
    const std::size_t begin = run_.first[word], end = run_.first[word + 1],
                      length = reflection_chunk(end - begin, run_.reflections, run_.keys);
    for (std::size_t left = (end - begin + length - 1) / length; left-- > 0;) {
      const std::size_t first = begin + left * length;
      stand_at(first, end - first < length ? end - first : length);
      body(left == 0);
      has_by_state_ = true;
    }
  }

  void stand_at(std::size_t first, std::size_t tokens) {
    first_ = first, tokens_ = tokens, steps_ = tokens * run_.reflections;
    for (std::size_t t = 0, step = 0; t < tokens; ++t)
      for (std::size_t j = 0; j < run_.reflections; ++j, ++step) {
        const std::size_t from = source(t);
        row_at_[step] = from * run_.reflections + j;
        key_at_[step] = from * run_.k_row + j * run_.keys;
        value_at_[step] = from * run_.v_row + j * run_.values;
        beta_at_[step] = from * run_.beta_row + j;
        lack_at_[step] = (first + t) * run_.lacks_row + j * run_.values;
      }
  }

  std::size_t source(std::size_t token) const { return run_.source[first_ + token]; }
  Real beta(std::size_t step) const { return run_.beta[beta_at_[step]]; }
  Real* lack(std::size_t step) const { return run_.lacks + lack_at_[step]; }
  /// For a row of keys, one for every source and reflection.
  std::size_t key_of_row(std::size_t row) const {
    return row / run_.reflections * run_.k_row + row % run_.reflections * run_.keys;
  }
  /// Steps up to a token's last.
  std::size_t seen(std::size_t token) const { return (token + 1) * run_.reflections; }

  // ── Products of keys ──────────────────────────────────────────────────────────────────────────────────────────────

  void make_tables() {
    for (std::size_t row = 0; row < rows_; ++row) gather(run_.k + key_of_row(row), run_.keys, row_k_ + row * keys_);
    for (std::size_t letter = 0; letter < run_.sources; ++letter)
      gather(run_.q + letter * run_.q_row, run_.keys, row_q_ + letter * keys_);
    transpose(row_k_, keys_, row_k_across_, rows_wide_, rows_, run_.keys);
    clear(row_kk_, rows_ * rows_wide_);
    clear(row_qk_, run_.sources * rows_wide_);
    product(rows_, rows_wide_, run_.keys, {row_k_, keys_, 1}, row_k_across_, rows_wide_, row_kk_, rows_wide_);
    product(run_.sources, rows_wide_, run_.keys, {row_q_, keys_, 1}, row_k_across_, rows_wide_, row_qk_, rows_wide_);
  }

  /// G and the products q_t·k_j, of which those that t does not see are 0; and K and Q, where others need them.
  void make_products(bool needs_keys) {
    if (needs_keys || !shared_) {
      for (std::size_t r = 0; r < steps_; ++r) gather(run_.k + key_at_[r], run_.keys, k_ + r * keys_);
      for (std::size_t t = 0; t < tokens_; ++t) gather(run_.q + source(t) * run_.q_row, run_.keys, q_ + t * keys_);
    }
    if (shared_)
      look_up_products();
    else
      multiply_keys();
    for (std::size_t t = 0; t < tokens_; ++t) clear(qk_ + t * steps_wide_ + seen(t), steps_wide_ - seen(t));
  }

  void multiply_keys() {
    transpose(k_, keys_, k_across_, steps_wide_, steps_, run_.keys);
    lower_product(steps_, 1, {k_, keys_, 1}, k_across_, run_.keys, kk_);
    lower_product(tokens_, run_.reflections, {q_, keys_, 1}, k_across_, run_.keys, qk_);
  }

  /// c = a b in the tiles that hold columns below (row + 1) · `slope`; b and c have rows of steps.
  void lower_product(std::size_t rows, std::size_t slope, const Factor<Real>& a, const Real* b, std::size_t depth,
                     Real* c) const {
    by_rows<kRows>(rows, [&](std::size_t row, auto height) {
      constexpr std::size_t kHeight = decltype(height)::count;
      by_columns<kLanes>(padded((row + kHeight) * slope), [&](std::size_t column, auto width) {
        using T = Tile<Real, kLanes, kHeight, decltype(width)::count>;
        T tile = T::zero();
        tile.add({a.at + row * a.row, a.row, a.depth}, b + column, steps_wide_, depth);
        tile.to(c + row * steps_wide_ + column, steps_wide_);
      });
    });
  }

  /// Tokens of one letter have the same row of products.
  void look_up_products() {
    bool made[kMaxSharedRows] = {}, made_q[kMaxSharedRows] = {};
    for (std::size_t r = 0; r < steps_; ++r) {
      const std::size_t row = row_at_[r];
      Real* const line = line_kk_ + row * steps_wide_;
      if (!made[row]) look_up(row_kk_ + row * rows_wide_, line);
      made[row] = true;
      std::memcpy(kk_ + r * steps_wide_, line, steps_wide_ * sizeof(Real));
    }
    for (std::size_t t = 0; t < tokens_; ++t) {
      const std::size_t letter = source(t);
      Real* const line = line_qk_ + letter * steps_wide_;
      if (!made_q[letter]) look_up(row_qk_ + letter * rows_wide_, line);
      made_q[letter] = true;
      std::memcpy(qk_ + t * steps_wide_, line, steps_wide_ * sizeof(Real));
    }
  }
  void look_up(const Real* table, Real* line) const {
    for (std::size_t j = 0; j < steps_; ++j) line[j] = table[row_at_[j]];
    clear(line + steps_, steps_wide_ - steps_);
  }

  // ── Forward ───────────────────────────────────────────────────────────────────────────────────────────────────────

  void solve() {
    by_rows<kRows>(steps_, [&](std::size_t row, auto height) {
      constexpr std::size_t kHeight = decltype(height)::count;
      by_columns<kLanes>(values_, [&](std::size_t column, auto width) {
        constexpr std::size_t kWidth = decltype(width)::count;
        using T = Tile<Real, kLanes, kHeight, kWidth>;
        T tile;
#pragma GCC unroll 16
        for (std::size_t r = 0; r < kHeight; ++r)
#pragma GCC unroll 2
          for (std::size_t v = 0; v < kWidth; ++v)
            tile.part[r][v] = load_value(run_.v + value_at_[row + r], column + v * kLanes);
        if (has_state_) tile.take({k_ + row * keys_, keys_, 1}, state_ + column, values_, run_.keys);
        const Real* const g = kk_ + row * steps_wide_;
        tile.take({g, steps_wide_, 1}, u_ + column, values_, row);
#pragma GCC unroll 16
        for (std::size_t r = 0; r < kHeight; ++r) {
          const Real by = beta(row + r);
#pragma GCC unroll 2
          for (std::size_t v = 0; v < kWidth; ++v) {
            store_value(lack(row + r), column + v * kLanes, tile.part[r][v]);
            const V change = by * tile.part[r][v];
            store(u_ + (row + r) * values_ + column + v * kLanes, change);
#pragma GCC unroll 16
            for (std::size_t later = r + 1; later < kHeight; ++later)
              tile.part[later][v] -= g[later * steps_wide_ + row + r] * change;
          }
        }
      });
    });
  }

  void answer() {
    by_rows<kRows>(tokens_, [&](std::size_t token, auto height) {
      constexpr std::size_t kHeight = decltype(height)::count;
      by_columns<kLanes>(values_, [&](std::size_t column, auto width) {
        constexpr std::size_t kWidth = decltype(width)::count;
        using T = Tile<Real, kLanes, kHeight, kWidth>;
        T tile = T::zero();
        if (has_state_) tile.add({q_ + token * keys_, keys_, 1}, state_ + column, values_, run_.keys);
        tile.add({qk_ + token * steps_wide_, steps_wide_, 1}, u_ + column, values_, seen(token + kHeight - 1));
#pragma GCC unroll 16
        for (std::size_t t = 0; t < kHeight; ++t)
#pragma GCC unroll 2
          for (std::size_t v = 0; v < kWidth; ++v)
            store_value(run_.o + (first_ + token + t) * run_.o_row, column + v * kLanes, tile.part[t][v]);
      });
    });
  }

  void change_state() {
    if (!has_state_) clear(state_, run_.keys * values_);
    product(run_.keys, values_, steps_, {k_, 1, keys_}, u_, values_, state_, values_);
  }

  V load_value(const Real* row, std::size_t column) const { return load_some<V>(row + column, run_.values - column); }
  void store_value(Real* row, std::size_t column, const V& vector) const {
    store_some(row + column, vector, run_.values - column);
  }

  // ── Adjoint ───────────────────────────────────────────────────────────────────────────────────────────────────────

  /// ō, and u with its transpose.
  void read_back() {
    for (std::size_t t = 0; t < tokens_; ++t)
      gather(adjoint_.by_o + (first_ + t) * run_.o_row, run_.values, by_o_ + t * values_);
    for (std::size_t r = 0; r < steps_; ++r) {
      const Real by = beta(r);
      const Real* const from = lack(r);
      for (std::size_t column = 0; column < values_; column += kLanes)
        store(u_ + r * values_ + column, by * load_value(from, column));
    }
    transpose(u_, values_, u_across_, steps_wide_, steps_, run_.values);
  }

  void solve_back() {
    by_rows_down<kRows>(steps_, [&](std::size_t row, auto height) {
      constexpr std::size_t kHeight = decltype(height)::count;
      by_columns<kLanes>(values_, [&](std::size_t column, auto width) {
        constexpr std::size_t kWidth = decltype(width)::count;
        using T = Tile<Real, kLanes, kHeight, kWidth>;
        T tile = T::zero();
        const std::size_t token = row / run_.reflections, below = row + kHeight;
        tile.add({qk_ + token * steps_wide_ + row, 1, steps_wide_}, by_o_ + token * values_ + column, values_,
                 tokens_ - token);
        if (has_by_state_) tile.add({k_ + row * keys_, keys_, 1}, by_state_ + column, values_, run_.keys);
        tile.take({kk_ + below * steps_wide_ + row, 1, steps_wide_}, y_ + below * values_ + column, values_,
                  steps_ - below);
#pragma GCC unroll 16
        for (std::size_t from_end = 1; from_end <= kHeight; ++from_end) {
          const std::size_t r = kHeight - from_end, step = row + r;
          const Real by = beta(step);
          Real* const by_v = adjoint_.by_v + value_at_[step];
          V product{};
#pragma GCC unroll 2
          for (std::size_t v = 0; v < kWidth; ++v) {
            const std::size_t at = column + v * kLanes;
            product += load_value(lack(step), at) * tile.part[r][v];
            const V y = by * tile.part[r][v];
            store(y_ + step * values_ + at, y);
            store_value(by_v, at, load_value(by_v, at) + y);
#pragma GCC unroll 16
            for (std::size_t earlier = 0; earlier < r; ++earlier)
              tile.part[earlier][v] -= kk_[step * steps_wide_ + row + earlier] * y;
          }
          adjoint_.by_beta[beta_at_[step]] += sum_of<Real, kLanes>(product);
        }
      });
    });
  }

  /// From the gradients by products of keys to those by keys.
  void by_products() {
    lower_product(steps_, 1, {y_, values_, 1}, u_across_, run_.values, by_kk_);
    lower_product(tokens_, run_.reflections, {by_o_, values_, 1}, u_across_, run_.values, by_qk_);
    for (std::size_t r = 0; r < steps_; ++r) clear(by_kk_ + r * steps_wide_ + r, steps_wide_ - r);
    for (std::size_t t = 0; t < tokens_; ++t) clear(by_qk_ + t * steps_wide_ + seen(t), steps_wide_ - seen(t));
    const bool own = !shared_ || has_state_ || has_by_state_;
    if (own) clear(by_k_, steps_ * keys_), clear(by_q_, tokens_ * keys_);
    if (shared_)
      sum_by_row();
    else
      multiply_by_keys();
    if (has_state_) {
      transpose(state_, values_, across_, keys_, run_.keys, run_.values);
      product(tokens_, keys_, run_.values, {by_o_, values_, 1}, across_, keys_, by_q_, keys_);
      for (std::size_t i = 0; i < run_.values * keys_; ++i) across_[i] = -across_[i];
      product(steps_, keys_, run_.values, {y_, values_, 1}, across_, keys_, by_k_, keys_);
    }
    if (has_by_state_) {
      transpose(by_state_, values_, across_, keys_, run_.keys, run_.values);
      product(steps_, keys_, run_.values, {u_, values_, 1}, across_, keys_, by_k_, keys_);
    }
    if (!own) return;
    for (std::size_t r = 0; r < steps_; ++r) add_to(adjoint_.by_k + key_at_[r], by_k_ + r * keys_);
    for (std::size_t t = 0; t < tokens_; ++t) add_to(adjoint_.by_q + source(t) * run_.q_row, by_q_ + t * keys_);
  }

  /// by_kk_ holds −Ḡ below the diagonal: k̄ −= (D + Dᵀ) K.
  void multiply_by_keys() {
    product(tokens_, keys_, steps_, {by_qk_, steps_wide_, 1}, k_, keys_, by_q_, keys_);
    by_rows<kRows>(steps_, [&](std::size_t row, auto height) {
      by_columns<kLanes>(keys_, [&](std::size_t column, auto width) {
        using T = Tile<Real, kLanes, decltype(height)::count, decltype(width)::count>;
        const std::size_t token = row / run_.reflections;
        T tile = T::zero();
        tile.take({by_kk_ + row * steps_wide_, steps_wide_, 1}, k_ + column, keys_, row + decltype(height)::count);
        tile.take({by_kk_ + row * steps_wide_ + row, 1, steps_wide_}, k_ + row * keys_ + column, keys_, steps_ - row);
        tile.add({by_qk_ + token * steps_wide_ + row, 1, steps_wide_}, q_ + token * keys_ + column, keys_,
                 tokens_ - token);
        tile.to(by_k_ + row * keys_ + column, keys_);
      });
    });
  }

  /// Adds the gradients by products of keys to those of their letters' products.
  void sum_by_row() {
    bool begun[kMaxSharedRows] = {}, begun_q[kMaxSharedRows] = {};
    for (std::size_t r = 0; r < steps_; ++r) add_line(row_at_[r], by_kk_ + r * steps_wide_, line_kk_, begun);
    for (std::size_t t = 0; t < tokens_; ++t) add_line(source(t), by_qk_ + t * steps_wide_, line_qk_, begun_q);
    for (std::size_t row = 0; row < rows_; ++row)
      if (begun[row])
        for (std::size_t j = 0; j < steps_; ++j)
          by_row_kk_[row * rows_wide_ + row_at_[j]] += line_kk_[row * steps_wide_ + j];
    for (std::size_t letter = 0; letter < run_.sources; ++letter)
      if (begun_q[letter])
        for (std::size_t j = 0; j < steps_; ++j)
          by_row_qk_[letter * rows_wide_ + row_at_[j]] += line_qk_[letter * steps_wide_ + j];
  }
  void add_line(std::size_t row, const Real* from, Real* lines, bool* begun) const {
    Real* const line = lines + row * steps_wide_;
    if (!begun[row])
      std::memcpy(line, from, steps_wide_ * sizeof(Real));
    else
      for (std::size_t j = 0; j < steps_wide_; j += kLanes) store(line + j, load<V>(line + j) + load<V>(from + j));
    begun[row] = true;
  }

  void by_tables() {
    clear(row_by_k_, rows_ * keys_);
    clear(row_by_q_, run_.sources * keys_);
    for (std::size_t i = 0; i < rows_ * rows_wide_; ++i) by_row_kk_[i] = -by_row_kk_[i];
    product(rows_, keys_, rows_, {by_row_kk_, rows_wide_, 1}, row_k_, keys_, row_by_k_, keys_);
    product(rows_, keys_, rows_, {by_row_kk_, 1, rows_wide_}, row_k_, keys_, row_by_k_, keys_);
    product(rows_, keys_, run_.sources, {by_row_qk_, 1, rows_wide_}, row_q_, keys_, row_by_k_, keys_);
    product(run_.sources, keys_, rows_, {by_row_qk_, rows_wide_, 1}, row_k_, keys_, row_by_q_, keys_);
    for (std::size_t row = 0; row < rows_; ++row) add_to(adjoint_.by_k + key_of_row(row), row_by_k_ + row * keys_);
    for (std::size_t letter = 0; letter < run_.sources; ++letter)
      add_to(adjoint_.by_q + letter * run_.q_row, row_by_q_ + letter * keys_);
  }

  void add_to(Real* to, const Real* from) const {
    for (std::size_t i = 0; i < run_.keys; ++i) to[i] += from[i];
  }

  /// S̄_0 = S̄ + Qᵀ Ō − Kᵀ Y.
  void change_by_state() {
    if (!has_by_state_) clear(by_state_, run_.keys * values_);
    product(run_.keys, values_, tokens_, {q_, 1, keys_}, by_o_, values_, by_state_, values_);
    by_rows<kRows>(run_.keys, [&](std::size_t row, auto height) {
      by_columns<kLanes>(values_, [&](std::size_t column, auto width) {
        using T = Tile<Real, kLanes, decltype(height)::count, decltype(width)::count>;
        T tile = T::from(by_state_ + row * values_ + column, values_);
        tile.take({k_ + row, 1, keys_}, y_ + column, values_, steps_);
        tile.to(by_state_ + row * values_ + column, values_);
      });
    });
  }

  const Reflections<Real>& run_;
  ReflectionsAdjoint<Real> adjoint_{};
  Real* free_;
  std::size_t steps_wide_, keys_, values_;  ///< rows of scratch, in whole vectors
  bool shared_;
  std::size_t first_ = 0, tokens_ = 0, steps_ = 0;  ///< of the chunk
  bool has_state_ = false, has_by_state_ = false;   ///< otherwise they are 0
  Real *k_, *k_across_, *q_, *kk_, *qk_, *u_, *state_;
  Real *by_o_, *y_, *u_across_, *by_qk_, *by_kk_, *by_k_, *by_q_, *by_state_, *across_;
  std::size_t rows_ = 0, rows_wide_ = 0;  ///< of keys that tokens share
  Real *row_k_, *row_q_, *row_by_k_, *row_by_q_, *row_k_across_, *row_kk_, *row_qk_;
  Real *by_row_kk_, *by_row_qk_, *line_kk_, *line_qk_;  ///< lines: one letter's tokens in a chunk, summed
  std::size_t row_at_[kMaxChunkSteps], key_at_[kMaxChunkSteps], value_at_[kMaxChunkSteps], beta_at_[kMaxChunkSteps],
      lack_at_[kMaxChunkSteps];
};

}  // namespace
}  // namespace krohn
