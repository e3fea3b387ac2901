// simulate/prove/orders/exact_order.h — what the proofs that nothing rounds reckon with: bounds of numbers, the powers
// of two that they are multiples of, and the maps that words make.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "krohn/groups/base/record_set.h"
#include "krohn/simulate/prove/orders/network_in_order.h"

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

/// The maps of all words of a layer, or, where letters only move numbers, what words add to 0, numbered as they are
/// met.
class WordMaps {
 public:
  /// Views the layer, which has maps.
  explicit WordMaps(LayerInOrder& layer);

  std::size_t count() const { return found_.count(); }
  std::uint64_t bytes() const { return found_.bytes(); }
  void read(std::size_t map, std::vector<double>& numbers) const { found_.read(map, numbers); }
  /// The letters' own maps; none where they only move numbers.
  const std::vector<std::uint32_t>& letters() const { return letters_; }

  /// From letter to letter, with every new map told to `fresh`, and to `went` where a letter leads after a map. False
  /// as soon as `may_go_on` says so. If letters round, so do these maps.
  bool close(const std::function<void(const std::vector<double>&)>& fresh, const std::function<bool()>& may_go_on,
             const std::function<void(std::size_t, std::uint32_t)>& went = {});

 private:
  LayerInOrder& layer_;
  NumberSet found_;
  std::vector<std::uint32_t> letters_;
};

}  // namespace krohn
