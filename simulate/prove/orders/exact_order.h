// simulate/prove/orders/exact_order.h — what the proofs that nothing rounds reckon with: bounds of numbers, the powers of
// two that they are multiples of, and the maps that words make.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "krohn/groups/base/record_set.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/simulate/evaluate/affine_layer.h"

namespace krohn {

/// A number that is only ever rounded upward, so that it stays a bound of what it was computed for: never negative, and
/// infinite where a NaN or an overflow came in. Sums and products in the format whose limits are in question would
/// round: 2^53 + 1 + 1 is 2^53.
class UpperBound {
 public:
  UpperBound() = default;
  /// |number|; infinite for a NaN.
  explicit UpperBound(double number);

  double value() const { return value_; }
  friend UpperBound operator+(UpperBound a, UpperBound b);
  friend UpperBound operator*(UpperBound a, UpperBound b);
  friend bool operator<(UpperBound a, UpperBound b) { return a.value_ < b.value_; }

 private:
  double value_ = 0;
};

/// The greatest power of two that divides the number; not for 0.
double grain_of(double number);

/// The less of two grains; 0 is the grain of no number.
double common_grain(double a, double b);

/// A set of numbers: all are multiples of `grain`, a power of two, and at most `most` in absolute value. Sums of them
/// are multiples of the grain too, so a sum whose partial sums are within a bound is exact when {grain, bound} fits.
struct GrainRange {
  double grain = 0;  ///< 0 when all numbers are 0
  UpperBound most;

  void add(double number);
  GrainRange& operator|=(const GrainRange& other);
  /// Products of a number of each.
  friend GrainRange operator*(const GrainRange& a, const GrainRange& b) { return {a.grain * b.grain, a.most * b.most}; }
};

/// All states of a layer that words reach, n·d numbers each, as far as the bounds need them.
struct StateExtent {
  GrainRange entries;
  UpperBound column_sum;  ///< most of Σ |h| over a column

  /// Adds a state of n rows.
  void add(const std::vector<double>& numbers, std::size_t n);
};

/// Vectors or maps, found so far, as records of doubles.
class NumberSet {
 public:
  explicit NumberSet(std::size_t size) : size_(size), set_(2 * size + (size == 0 ? 1 : 0)), record_(set_.words()) {}

  std::size_t count() const { return set_.size(); }
  std::uint64_t bytes() const { return set_.bytes(); }

  RecordSet::Insertion insert(const double* numbers) {
    for (std::size_t i = 0; i < size_; ++i) {
      const auto bits = std::bit_cast<std::uint64_t>(numbers[i] + 0.0);  // −0 becomes +0
      record_[2 * i] = static_cast<std::uint32_t>(bits);
      record_[2 * i + 1] = static_cast<std::uint32_t>(bits >> 32);
    }
    return set_.insert(record_);
  }

  void read(std::size_t index, std::vector<double>& numbers) const {
    const RecordSet::Record record = set_[static_cast<RecordSet::Index>(index)];
    numbers.resize(size_);
    for (std::size_t i = 0; i < size_; ++i)
      numbers[i] = std::bit_cast<double>(std::uint64_t{record[2 * i + 1]} << 32 | record[2 * i]);
  }

 private:
  std::size_t size_;
  RecordSet set_;
  std::vector<std::uint32_t> record_;
};

template <class Number>
void to_doubles(const std::vector<Number>& numbers, std::vector<double>& exact) {
  exact.resize(numbers.size());
  std::transform(numbers.begin(), numbers.end(), exact.begin(), [](Number number) { return to_double(number); });
}

/// The maps of all words of a layer, or, where letters only move numbers, what words add to 0, numbered as they are
/// met.
template <class A>
class WordMaps {
 public:
  using Number = typename A::Number;

  explicit WordMaps(const AffineLayer<A>& affine)
      : affine_(affine),
        from_(affine.make_map()),
        to_(from_),
        sums_(affine.make_sums()),
        found_(from_.entries.size() + from_.addition.size()) {}

  std::size_t count() const { return found_.count(); }
  std::uint64_t bytes() const { return found_.bytes(); }
  /// A map: so many entries of A, block after block, then B.
  std::size_t entries() const { return from_.entries.size(); }
  void read(std::size_t map, std::vector<double>& numbers) const { found_.read(map, numbers); }
  /// The letters' own maps; none where they only move numbers.
  const std::vector<std::uint32_t>& letters() const { return letters_; }

  /// From letter to letter, with every new map told to `fresh`, and to `went` where a letter leads after a map. False
  /// as soon as `may_go_on` says so. If letters round, so do these maps.
  template <class Fresh, class MayGoOn, class Went>
  bool close(Fresh&& fresh, MayGoOn&& may_go_on, Went&& went) {
    std::vector<double> numbers, addition;
    const auto number = [&](const typename AffineLayer<A>::Map& map) {
      to_doubles(map.entries, numbers);
      to_doubles(map.addition, addition);
      numbers.insert(numbers.end(), addition.begin(), addition.end());
      const RecordSet::Insertion inserted = found_.insert(numbers.data());
      if (inserted.fresh) fresh(numbers);
      return inserted.index;
    };
    if (affine_.only_moves()) {
      std::ranges::fill(from_.addition, Number(0));
      number(from_);
    } else {
      for (Action letter = 0; letter < affine_.letters(); ++letter) letters_.push_back(number(affine_.letter(letter)));
    }
    for (std::size_t i = 0; i < count(); ++i) {
      if (!may_go_on()) return false;
      read(i, numbers);
      for (std::size_t e = 0; e < entries(); ++e) from_.entries[e] = from_double(numbers[e]);
      for (std::size_t e = 0; e < from_.addition.size(); ++e) from_.addition[e] = from_double(numbers[entries() + e]);
      for (Action letter = 0; letter < affine_.letters(); ++letter) {
        TimeLimit::check();
        if (affine_.only_moves())
          affine_.apply(affine_.letter(letter), from_.addition.data(), to_.addition.data(), sums_);
        else
          affine_.compose(affine_.letter(letter), from_, to_, sums_);
        went(i, number(to_));
      }
    }
    return true;
  }

 private:
  static Number from_double(double number) {
    if constexpr (std::is_floating_point_v<Number>)
      return static_cast<Number>(number);
    else
      return Number(static_cast<float>(number));
  }

  const AffineLayer<A>& affine_;
  typename AffineLayer<A>::Map from_, to_;
  std::vector<typename A::Sum> sums_;
  NumberSet found_;
  std::vector<std::uint32_t> letters_;
};

}  // namespace krohn
