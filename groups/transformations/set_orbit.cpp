#include "krohn/groups/transformations/set_orbit.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "krohn/groups/error.h"
#include "krohn/groups/time_limit.h"
#include "krohn/groups/transformations/components.h"

namespace krohn {
namespace {

void add(std::vector<std::uint32_t>& record, Point point) { record[point / 32] |= 1U << (point % 32); }

}  // namespace

SetOrbit SetOrbit::of(std::span<const Transformation> generators, Point degree, Seeds seeds, std::uint64_t max_sets) {
  if (degree == 0) throw InputError("the orbit of sets needs at least one point");
  for (const Transformation& generator : generators)
    if (generator.degree() != degree)
      throw InputError(fmt::format("a generator of degree {} among those of degree {}", generator.degree(), degree));
  SetOrbit orbit(degree, static_cast<std::uint32_t>(generators.size()));
  std::vector<std::uint32_t> record(orbit.sets_.words(), 0);
  for (Point point = 0; point < degree; ++point) add(record, point);
  orbit.sets_.insert(record);
  if (seeds == Seeds::kWholeSetAndSingletons)
    for (Point point = 0; point < degree; ++point) {
      std::fill(record.begin(), record.end(), 0);
      add(record, point);
      orbit.singleton_.push_back(orbit.sets_.insert(record).index);
    }
  orbit.close(generators, max_sets);
  return orbit;
}

void SetOrbit::close(std::span<const Transformation> generators, std::uint64_t max_sets) {
  std::vector<std::uint32_t> record(sets_.words());
  for (Index set = 0; set < sets_.size(); ++set) {
    TimeLimit::check();
    const std::vector<Point> from = members(set);
    cardinality_.push_back(static_cast<Point>(from.size()));
    for (const Transformation& generator : generators) {
      std::fill(record.begin(), record.end(), 0);
      for (const Point point : from) add(record, generator[point]);
      image_.push_back(sets_.insert(record).index);
      if (sets_.size() > max_sets) throw LimitError(fmt::format("more than {} image sets; raise --max-sets", max_sets));
    }
  }
  class_of_ = strong_components(sets_.size(), generators_, image_);
  for (const std::uint32_t number : class_of_) classes_ = std::max(classes_, number + 1);
}

std::vector<Point> SetOrbit::members(Index set) const {
  std::vector<Point> points;
  const RecordSet::Record record = sets_[set];
  for (std::size_t i = 0; i < record.size(); ++i)
    for (std::uint32_t word = record[i]; word != 0; word &= word - 1)
      points.push_back(static_cast<Point>(32 * i) + static_cast<Point>(std::countr_zero(word)));
  return points;
}

bool SetOrbit::is_subset(Index inner, Index outer) const {
  const RecordSet::Record a = sets_[inner], b = sets_[outer];
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i] & ~b[i]) return false;
  return true;
}

std::optional<SetOrbit::Index> SetOrbit::find(std::span<const Point> points) const {
  std::vector<std::uint32_t> record(sets_.words(), 0);
  for (const Point point : points) add(record, point);
  return sets_.find(record);
}

}  // namespace krohn
