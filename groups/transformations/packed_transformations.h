// groups/transformations/packed_transformations.h — sets of transformations in few bits a point, and their products
// with fixed generators.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "krohn/groups/blocks.h"
#include "krohn/groups/record_set.h"
#include "krohn/groups/transformations/transformation.h"

namespace krohn {

/// Degree at most 8: three bits a point, 24 in all, found by direct address in a table of 8^degree entries.
class TinyTransformations {
 public:
  static constexpr Point kMaxDegree = 8;

  TinyTransformations(std::span<const Transformation> generators, Point degree);

  std::uint32_t size() const { return static_cast<std::uint32_t>(packed_.size()); }
  Transformation operator[](std::uint32_t element) const;
  std::optional<std::uint32_t> find(const Transformation& transformation) const;
  RecordSet::Insertion insert(const Transformation& transformation) { return insert(pack(transformation)); }
  /// Adds element · generator.
  RecordSet::Insertion insert_product(std::uint32_t element, std::uint32_t generator) {
    return insert(product(packed_[element], generator));
  }
  /// Hints that `insert_product(element, generator)` will come.
  void prefetch(std::uint32_t element, std::uint32_t generator) const {
    __builtin_prefetch(&address_[product(packed_[element], generator) & mask_]);
  }
  std::uint64_t bytes() const { return packed_.bytes() + 4 * address_.size(); }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  static std::uint32_t pack(const Transformation& transformation);
  /// Four points at a time: the images of twelve bits are one look-up.
  std::uint32_t product(std::uint32_t packed, std::uint32_t generator) const {
    const std::uint16_t* table = images_.data() + std::size_t{generator} * 4096;
    return std::uint32_t{table[packed & 4095]} | std::uint32_t{table[packed >> 12]} << 12;
  }
  RecordSet::Insertion insert(std::uint32_t packed);

  Point degree_;
  std::uint32_t mask_;
  std::vector<std::uint16_t> images_;
  std::vector<std::uint32_t> address_;
  Blocks<std::uint32_t> packed_;
};

/// Any degree up to 65,536: four, eight or sixteen bits a point in records of a hash table.
class WideTransformations {
 public:
  static constexpr Point kMaxDegree = 65'536;

  WideTransformations(std::span<const Transformation> generators, Point degree);

  std::uint32_t size() const { return records_.size(); }
  Transformation operator[](std::uint32_t element) const;
  std::optional<std::uint32_t> find(const Transformation& transformation) const;
  RecordSet::Insertion insert(const Transformation& transformation);
  RecordSet::Insertion insert_product(std::uint32_t element, std::uint32_t generator);
  void prefetch(std::uint32_t, std::uint32_t) const {}
  std::uint64_t bytes() const { return records_.bytes(); }

 private:
  static std::uint32_t bits_for(Point degree) { return degree <= 16 ? 4 : degree <= 256 ? 8 : 16; }
  Point get(RecordSet::Record record, Point point) const {
    const std::uint32_t position = point * bits_;
    return (record[position / 32] >> (position % 32)) & mask_;
  }
  void put(Point point, Point image) {
    const std::uint32_t position = point * bits_;
    scratch_[position / 32] |= image << (position % 32);
  }

  Point degree_;
  std::uint32_t bits_, mask_;
  std::vector<Point> images_;
  RecordSet records_;
  std::vector<std::uint32_t> scratch_;
};

}  // namespace krohn
