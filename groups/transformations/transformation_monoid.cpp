#include "krohn/groups/transformations/transformation_monoid.h"

#include <fmt/format.h>

#include <algorithm>

#include "krohn/groups/counted.h"
#include "krohn/groups/error.h"
#include "krohn/groups/time_limit.h"

namespace krohn {
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
  elements.insert(Transformation::identity(degree_));
  prefix_.push_back(0);
  last_.push_back(0);
  for (Element e = 0; e < elements.size(); ++e) {
    if (e % 1024 == 0) {
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

std::uint32_t TransformationMonoid::length(Element e) const {
  std::uint32_t letters = 0;
  for (; e != 0; e = prefix_[e]) ++letters;
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

}  // namespace krohn
