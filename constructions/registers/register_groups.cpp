#include "krohn/constructions/registers/register_groups.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include "krohn/groups/time_limit.h"

namespace krohn {
namespace {

constexpr std::size_t kMostPoints = 5;
constexpr std::uint64_t kMostTuples = 20'000, kMostElements = 20'000, kMostArrowsOfGroup = 256;

class GroupSearch {
 public:
  GroupSearch(const TrackedStates& tracked, std::uint64_t most_work) : tracked_(tracked), most_work_(most_work) {}

  std::optional<RegisterArrows> run() {
    for (std::size_t points = 1; points <= kMostPoints && !found_; ++points) {
      std::vector<Point> images(points);
      std::iota(images.begin(), images.end(), Point{0});
      std::vector<Transformation> all;
      do {
        all.push_back(Transformation::from_images(images));
      } while (std::ranges::next_permutation(images).found);
      tuples_left_ = kMostTuples;
      choose_next(all);
    }
    return std::move(found_);
  }

 private:
  /// The letters that have a permutation must be right by themselves.
  void choose_next(const std::vector<Transformation>& all) {
    if (!chosen_.empty() && !is_right()) return;
    if (chosen_.size() == tracked_.maps.size()) {
      RegisterArrows arrows = regular();
      if (arrows.size() * arrows[0].size() > kMostArrowsOfGroup) return;
      if (!found_ || arrows[0].size() < (*found_)[0].size()) found_ = std::move(arrows);
      return;
    }
    for (const Transformation& permutation : all) {
      if (tuples_left_ == 0 || work_ >= most_work_) return;
      --tuples_left_;
      chosen_.push_back(permutation);
      choose_next(all);
      chosen_.pop_back();
    }
  }

  bool is_right() {
    std::set<std::pair<Transformation, Transformation>> known;
    std::vector<std::pair<Transformation, Transformation>> todo;
    const auto add = [&](Transformation map, Transformation permutation) {
      work_ += 100 + map.degree();
      if (permutation.is_identity() && !(map * map == map)) return false;
      std::pair pair(std::move(map), std::move(permutation));
      if (known.insert(pair).second) todo.push_back(std::move(pair));
      return true;
    };
    for (std::size_t action = 0; action < chosen_.size(); ++action)
      if (!add(tracked_.maps[action], chosen_[action])) return false;
    while (!todo.empty()) {
      const auto [map, permutation] = std::move(todo.back());
      todo.pop_back();
      TimeLimit::check();
      for (std::size_t action = 0; action < chosen_.size(); ++action)
        if (!add(map * tracked_.maps[action], permutation * chosen_[action])) return false;
      if (known.size() > kMostElements || work_ >= most_work_) return false;
    }
    return true;
  }

  RegisterArrows regular() const {
    std::vector<Transformation> elements{Transformation::identity(chosen_[0].degree())};
    std::map<Transformation, int> number{{elements[0], 0}};
    RegisterArrows arrows(chosen_.size());
    for (std::size_t at = 0; at < elements.size(); ++at)
      for (std::size_t action = 0; action < chosen_.size(); ++action) {
        const Transformation longer = chosen_[action] * elements[at];
        const auto [entry, fresh] = number.emplace(longer, static_cast<int>(elements.size()));
        if (fresh) elements.push_back(longer);
        arrows[action].push_back(entry->second);
      }
    return arrows;
  }

  const TrackedStates& tracked_;
  const std::uint64_t most_work_;
  std::vector<Transformation> chosen_;
  std::optional<RegisterArrows> found_;
  std::uint64_t tuples_left_ = 0, work_ = 0;
};

}  // namespace

std::optional<RegisterArrows> group_of_idempotents(const TrackedStates& tracked, std::uint64_t most_work) {
  return GroupSearch(tracked, most_work).run();
}

RegisterBlock registers_of(const GroupBlock& stops, const RegisterArrows& group) {
  const std::size_t order = group[0].size();
  RegisterBlock block{{}, std::string(order, 0)};
  for (const std::vector<int>& row : group) {
    block.moves.emplace_back();
    for (const int to : row) block.moves.back().push_back({static_cast<std::size_t>(to), false});
  }
  if (stops.tells_element) {
    block.start[0] = 1;
    return block;
  }
  block.moves[stops.one / order][stops.one % order] = {std::nullopt, true};
  if (stops.other / order < group.size()) block.moves[stops.other / order][stops.other % order] = {std::nullopt, false};
  return block;
}

FirstMet::FirstMet(const RegisterArrows& group, const std::vector<Action>& word)
    : when(group.size() * group[0].size() + 1, SIZE_MAX) {
  for (std::size_t i = word.size(); i-- > 0;) {
    const auto at = static_cast<std::size_t>(element);
    std::size_t& first = when[word[i] * group[0].size() + at];
    first = std::min(first, word.size() - i);
    element = group[word[i]][at];
  }
}

}  // namespace krohn
