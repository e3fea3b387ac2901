#include "krohn/groups/transformations/packed_transformations.h"

#include <algorithm>
#include <cassert>

namespace krohn {

TinyTransformations::TinyTransformations(std::span<const Transformation> generators, Point degree)
    : degree_(degree), mask_((1U << (3 * degree)) - 1), address_(std::size_t{1} << (3 * degree), kNone) {
  assert(degree <= kMaxDegree);
  images_.resize(generators.size() * 4096);
  for (std::size_t g = 0; g < generators.size(); ++g)
    for (std::uint32_t chunk = 0; chunk < 4096; ++chunk) {
      std::uint32_t out = 0;
      for (unsigned i = 0; i < 4; ++i) {
        const Point point = (chunk >> (3 * i)) & 7;
        out |= (point < degree ? generators[g][point] : point) << (3 * i);
      }
      images_[g * 4096 + chunk] = static_cast<std::uint16_t>(out);
    }
}

std::uint32_t TinyTransformations::pack(const Transformation& transformation) {
  std::uint32_t packed = 0;
  for (Point point = 0; point < kMaxDegree; ++point)
    packed |= (point < transformation.degree() ? transformation[point] : point) << (3 * point);
  return packed;
}

RecordSet::Insertion TinyTransformations::insert(std::uint32_t packed) {
  std::uint32_t& entry = address_[packed & mask_];
  if (entry != kNone) return {entry, false};
  entry = size();
  packed_.push_back(packed);
  return {entry, true};
}

Transformation TinyTransformations::operator[](std::uint32_t element) const {
  std::vector<Point> images(degree_);
  for (Point point = 0; point < degree_; ++point) images[point] = (packed_[element] >> (3 * point)) & 7;
  return Transformation::from_images(std::move(images));
}

std::optional<std::uint32_t> TinyTransformations::find(const Transformation& transformation) const {
  const std::uint32_t entry = address_[pack(transformation) & mask_];
  return entry == kNone ? std::nullopt : std::optional(entry);
}

WideTransformations::WideTransformations(std::span<const Transformation> generators, Point degree)
    : degree_(degree),
      bits_(bits_for(degree)),
      mask_((1U << bits_for(degree)) - 1),
      records_(std::max<std::size_t>(1, (std::size_t{degree} * bits_for(degree) + 31) / 32)),
      scratch_(records_.words()) {
  for (const Transformation& generator : generators)
    images_.insert(images_.end(), generator.images().begin(), generator.images().end());
}

RecordSet::Insertion WideTransformations::insert(const Transformation& transformation) {
  std::fill(scratch_.begin(), scratch_.end(), 0);
  for (Point point = 0; point < degree_; ++point) put(point, transformation[point]);
  return records_.insert(scratch_);
}

RecordSet::Insertion WideTransformations::insert_product(std::uint32_t element, std::uint32_t generator) {
  const RecordSet::Record record = records_[element];
  const Point* images = images_.data() + std::size_t{generator} * degree_;
  std::fill(scratch_.begin(), scratch_.end(), 0);
  for (Point point = 0; point < degree_; ++point) put(point, images[get(record, point)]);
  return records_.insert(scratch_);
}

Transformation WideTransformations::operator[](std::uint32_t element) const {
  const RecordSet::Record record = records_[element];
  std::vector<Point> images(degree_);
  for (Point point = 0; point < degree_; ++point) images[point] = get(record, point);
  return Transformation::from_images(std::move(images));
}

std::optional<std::uint32_t> WideTransformations::find(const Transformation& transformation) const {
  std::vector<std::uint32_t> record(records_.words(), 0);
  for (Point point = 0; point < degree_; ++point)
    record[point * bits_ / 32] |= transformation[point] << (point * bits_ % 32);
  return records_.find(record);
}

}  // namespace krohn
