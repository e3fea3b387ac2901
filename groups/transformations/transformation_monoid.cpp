#include "krohn/groups/transformations/transformation_monoid.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "krohn/groups/base/error.h"
#include "krohn/groups/base/time_limit.h"

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

namespace {

constexpr std::uint64_t kFew = 100'000;

}  // namespace

TransformationMonoid TransformationMonoid::enumerate(std::span<const Transformation> generators, Point degree,
                                                     const Options& options) {
  if (degree > WideTransformations::kMaxDegree)
    throw InputError(
        fmt::format("transformations of degree {}; the limit is {}", degree, WideTransformations::kMaxDegree));
  if (generators.size() > UINT16_MAX)
    throw InputError(fmt::format("{}; the limit is {}", counted(generators.size(), "generator"), UINT16_MAX));
  for (const Transformation& generator : generators)
    if (generator.degree() != degree)
      throw InputError(fmt::format("a generator of degree {} among those of degree {}", generator.degree(), degree));
  // A table of 8^8 addresses is 64 MB to fill: too much for a few elements.
  const bool by_address = degree <= TinyTransformations::kMaxDegree && (degree <= 6 || options.max_elements > kFew);
  Store store =
      by_address ? Store(TinyTransformations(generators, degree)) : Store(WideTransformations(generators, degree));
  TransformationMonoid monoid(std::move(store), degree, static_cast<std::uint32_t>(generators.size()));
  std::visit([&](auto& elements) { monoid.expand(elements, options); }, monoid.store_);
  return monoid;
}

template <class Elements>
void TransformationMonoid::expand(Elements& elements, const Options& options) {
  constexpr Element kAhead = 16;
  constexpr std::uint64_t kProductsBetweenChecks = 4096;
  std::uint64_t unchecked = kProductsBetweenChecks;
  elements.insert(Transformation::identity(degree_));
  prefix_.push_back(0);
  last_.push_back(0);
  for (Element e = 0; e < elements.size(); ++e) {
    if ((unchecked += generators_) >= kProductsBetweenChecks) {
      unchecked = 0;
      if (!options.ends_with_time) TimeLimit::check();
      if (options.ends_with_time && !TimeLimit::met().empty()) return;
    }
    if (e + kAhead < elements.size())
      for (std::uint32_t g = 0; g < generators_; ++g) elements.prefetch(e + kAhead, g);
    for (std::uint32_t g = 0; g < generators_; ++g) {
      const RecordSet::Insertion product = elements.insert_product(e, g);
      right_.push_back(product.index);
      if (!product.fresh) continue;
      prefix_.push_back(e);
      last_.push_back(static_cast<std::uint16_t>(g));
      if (elements.size() > options.max_elements) return;
      if (options.progress && elements.size() % (1U << 20) == 0) options.progress(elements.size());
    }
  }
  complete_ = true;
}

TransformationMonoid::Element TransformationMonoid::size() const {
  return std::visit([](const auto& elements) { return elements.size(); }, store_);
}

Transformation TransformationMonoid::element(Element e) const {
  return std::visit([&](const auto& elements) { return elements[e]; }, store_);
}

std::optional<TransformationMonoid::Element> TransformationMonoid::find(const Transformation& transformation) const {
  if (transformation.degree() != degree_) return std::nullopt;
  return std::visit([&](const auto& elements) { return elements.find(transformation); }, store_);
}

TransformationMonoid::Word TransformationMonoid::word(Element e) const {
  Word letters;
  for (; e != 0; e = prefix_[e]) letters.push_back(last_[e]);
  std::reverse(letters.begin(), letters.end());
  return letters;
}

TransformationMonoid::Element TransformationMonoid::product(Element e, Element f) const {
  for (const std::uint32_t letter : word(f)) e = right(e, letter);
  return e;
}

std::uint64_t TransformationMonoid::idempotents() const {
  std::uint64_t count = 0;
  for (Element e = 0; e < size(); ++e) count += is_idempotent(e);
  return count;
}

std::uint64_t TransformationMonoid::bytes() const {
  return right_.bytes() + prefix_.bytes() + last_.bytes() +
         std::visit([](const auto& elements) { return elements.bytes(); }, store_);
}

std::vector<Relation> complete_presentation(const TransformationMonoid& monoid) {
  using Element = TransformationMonoid::Element;
  assert(monoid.complete());
  std::vector<Relation> relations;
  for (Element e = 0; e < monoid.size(); ++e) {
    const TransformationMonoid::Word word = monoid.word(e);
    // The element of the word without its first letter; its word is that suffix, as suffixes of least words are least.
    Element suffix = 0;
    for (std::size_t i = 1; i < word.size(); ++i) suffix = monoid.right(suffix, word[i]);
    for (std::uint32_t generator = 0; generator < monoid.generators(); ++generator) {
      const Element product = monoid.right(e, generator);
      TransformationMonoid::Word longer = word;
      longer.push_back(generator);
      if (monoid.word(product) == longer) continue;
      const bool suffix_is_least = word.empty() || monoid.word(monoid.right(suffix, generator)) ==
                                                       TransformationMonoid::Word(longer.begin() + 1, longer.end());
      if (suffix_is_least) relations.push_back({std::move(longer), monoid.word(product)});
    }
  }
  return relations;
}

}  // namespace krohn
