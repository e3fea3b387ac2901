#include "krohn/constructions/actions/based_action.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <tuple>

#include "krohn/constructions/actions/abelian_structure.h"
#include "krohn/constructions/actions/quotient_actions.h"
#include "krohn/groups/stated_functions.h"

namespace krohn {
namespace {

constexpr std::size_t kMaxCandidates = 48;  ///< quotients that are combined with each other

/// A quotient with the base points that are functions of the state: `tracks[i][label]` is where base point i is. All of
/// them together tell the classes of `kernel` apart.
struct Candidate {
  const QuotientAction* action;
  std::vector<std::vector<Point>> tracks;
  Congruence kernel;
};

/// Component c of the sum is candidates[components[c]]; round r gives column r one track per component, or none.
struct Sum {
  std::vector<std::size_t> components;
  std::vector<std::vector<std::optional<std::size_t>>> rounds;
  std::uint64_t degree = 0;
  std::uint64_t reflections = 0;  ///< the most of any letter
};

class SumSearch {
 public:
  SumSearch(std::vector<Candidate> candidates, Label states, StepBudget& budget)
      : candidates_(std::move(candidates)), states_(states), budget_(budget) {}

  std::optional<Sum> run() {
    if (candidates_.empty()) return std::nullopt;
    for (std::size_t i = 0; i < candidates_.size(); ++i) try_sum({i});
    if (const auto cover = greedy_cover()) try_sum(*cover);
    for (std::size_t i = 0; i < candidates_.size(); ++i)
      for (std::size_t j = i + 1; j < candidates_.size(); ++j) try_sum({i, j});
    return best_;
  }

  const std::vector<Candidate>& candidates() const { return candidates_; }
  bool complete() const { return complete_; }

 private:
  std::uint64_t degree_of(const std::vector<std::size_t>& components) const {
    std::uint64_t degree = 0;
    for (const std::size_t c : components) degree += candidates_[c].action->degree;
    return degree;
  }

  bool spend(std::uint64_t steps) { return complete_ = complete_ && budget_.spend(steps); }

  bool tells_states_apart(const std::vector<std::size_t>& components) {
    Congruence current(states_, 0);
    for (const std::size_t c : components) {
      if (!spend(8 * std::uint64_t{states_})) return false;
      current = meet(current, candidates_[c].kernel);
    }
    return class_count(current) == states_;
  }

  std::uint64_t reflections_of(const std::vector<std::size_t>& components) const {
    std::uint64_t most = 0;
    for (std::size_t letter = 0; letter < candidates_[0].action->maps.size(); ++letter) {
      std::uint64_t reflections = 0;
      for (const std::size_t c : components)
        reflections += candidates_[c].action->maps[letter].to_permutation().reflection_length();
      most = std::max(most, reflections);
    }
    return most;
  }

  /// Whether the sum with that many columns would be the best so far.
  bool improves(const Sum& sum, std::uint64_t columns) const {
    if (sum.degree >= states_ || sum.degree * columns > states_) return false;
    return !best_ || std::tuple{sum.degree, columns, sum.reflections} <
                         std::tuple{best_->degree, std::uint64_t{best_->rounds.size()}, best_->reflections};
  }

  /// The most classes that meeting `current` with one track of the candidate gives, and that track.
  std::optional<std::size_t> best_track(const Candidate& candidate, Congruence& current) {
    std::optional<std::size_t> best;
    Point classes = class_count(current);
    Congruence finest;
    for (std::size_t i = 0; i < candidate.tracks.size(); ++i) {
      if (!spend(8 * std::uint64_t{states_})) break;
      Congruence met = meet(current, candidate.tracks[i]);
      if (class_count(met) <= classes) continue;
      classes = class_count(met);
      best = i;
      finest = std::move(met);
      if (classes == states_) break;
    }
    if (best) current = std::move(finest);
    return best;
  }

  /// Adds columns until the states are told apart, as long as the sum can still be the best.
  void try_sum(std::vector<std::size_t> components) {
    Sum sum{std::move(components), {}, 0, 0};
    sum.degree = degree_of(sum.components);
    if (!improves(sum, 1)) return;
    sum.reflections = reflections_of(sum.components);
    if (!improves(sum, 1) || !tells_states_apart(sum.components)) return;
    Congruence current(states_, 0);
    while (class_count(current) < states_) {
      if (!improves(sum, sum.rounds.size() + 1)) return;
      std::vector<std::optional<std::size_t>> round;
      for (const std::size_t c : sum.components) round.push_back(best_track(candidates_[c], current));
      if (!complete_) return;
      sum.rounds.push_back(std::move(round));
    }
    best_ = std::move(sum);
  }

  /// Candidates that tell the states apart, each chosen for the most classes gained per point; then those that the
  /// later ones made superfluous are dropped.
  std::optional<std::vector<std::size_t>> greedy_cover() {
    std::vector<std::size_t> chosen;
    Congruence current(states_, 0);
    while (class_count(current) < states_) {
      double best_gain = 0;
      std::size_t best = 0;
      for (std::size_t i = 0; i < candidates_.size(); ++i) {
        if (!spend(8 * std::uint64_t{states_})) return std::nullopt;
        const Point classes = class_count(meet(current, candidates_[i].kernel));
        const double gain = stated::log(double(classes) / class_count(current)) / candidates_[i].action->degree;
        if (gain > best_gain) best_gain = gain, best = i;
      }
      if (best_gain == 0) return std::nullopt;
      chosen.push_back(best);
      current = meet(current, candidates_[best].kernel);
    }
    drop_superfluous(chosen);
    return chosen;
  }

  void drop_superfluous(std::vector<std::size_t>& chosen) {
    for (std::size_t i = 0; i < chosen.size();) {
      std::vector<std::size_t> rest = chosen;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
      if (tells_states_apart(rest))
        chosen = std::move(rest);
      else
        ++i;
    }
  }

  std::vector<Candidate> candidates_;
  Label states_;
  StepBudget& budget_;
  bool complete_ = true;
  std::optional<Sum> best_;
};

std::vector<Candidate> make_candidates(const std::vector<QuotientAction>& actions, std::span<const Transformation> maps,
                                       StepBudget& budget) {
  std::vector<Candidate> candidates;
  for (const QuotientAction& action : actions) {
    if (candidates.size() == kMaxCandidates) break;
    Candidate candidate{&action, {}, Congruence(maps[0].degree(), 0)};
    for (Point base = 0; base < action.degree; ++base) {
      if (!budget.spend(std::uint64_t{maps[0].degree()} * (maps.size() + 8))) break;
      auto track = homomorphism(maps, action.maps, base);
      if (!track) continue;
      candidate.kernel = meet(candidate.kernel, *track);
      candidate.tracks.push_back(std::move(*track));
    }
    if (!candidate.tracks.empty()) candidates.push_back(std::move(candidate));
  }
  return candidates;
}

/// The letters side by side on the points of all components.
std::vector<Permutation> sum_letters(const Sum& sum, const std::vector<Candidate>& candidates, std::size_t letters) {
  std::vector<Permutation> result;
  for (std::size_t letter = 0; letter < letters; ++letter) {
    std::vector<Point> images;
    for (const std::size_t c : sum.components) {
      const auto first = static_cast<Point>(images.size());
      for (const Point image : candidates[c].action->maps[letter].images()) images.push_back(first + image);
    }
    result.push_back(Permutation::from_images(std::move(images)));
  }
  return result;
}

BasedAction assemble(const Sum& sum, const std::vector<Candidate>& candidates, const TrackedStates& tracked) {
  BasedAction action;
  for (const std::size_t c : sum.components) action.degrees.push_back(candidates[c].action->degree);
  action.letters = sum_letters(sum, candidates, tracked.maps.size());
  action.columns = static_cast<std::uint32_t>(sum.rounds.size());
  action.images.resize(tracked.count());
  for (std::uint32_t column = 0; column < action.columns; ++column) {
    Point first = 0;
    for (std::size_t c = 0; c < sum.components.size(); first += action.degrees[c++]) {
      const auto track = sum.rounds[column][c];
      if (!track) continue;
      action.column_of.push_back(column);
      const auto& positions = candidates[sum.components[c]].tracks[*track];
      for (Label label = 0; label < tracked.count(); ++label) action.images[label].push_back(first + positions[label]);
    }
  }
  return action;
}

}  // namespace

Point BasedAction::degree() const { return std::accumulate(degrees.begin(), degrees.end(), Point{0}); }

BasedAction natural_action(const Dfa& automaton, const TrackedStates& tracked) {
  BasedAction action;
  action.degrees = {tracked.count()};
  action.letters = permutations_of(automaton, tracked);
  action.column_of = {0};
  for (Label label = 0; label < tracked.count(); ++label) action.images.push_back({label});
  return action;
}

namespace {

bool actions_commute(const TrackedStates& tracked) {
  for (std::size_t a = 0; a < tracked.maps.size(); ++a)
    for (std::size_t b = a + 1; b < tracked.maps.size(); ++b)
      if (tracked.maps[a] * tracked.maps[b] != tracked.maps[b] * tracked.maps[a]) return false;
  return true;
}

/// An abelian group on one cycle for each factor of prime-power order: no faithful action has a smaller degree.
BasedAction sum_of_cycles(const AbelianStructure& primary) {
  BasedAction action;
  for (const std::uint64_t order : primary.orders) action.degrees.push_back(static_cast<Point>(order));
  action.column_of.assign(primary.orders.size(), 0);
  for (const auto& element : primary.of_action) {
    std::vector<Point> images;
    for (std::size_t i = 0; i < element.size(); ++i) {
      const auto first = static_cast<Point>(images.size());
      for (Point j = 0; j < action.degrees[i]; ++j)
        images.push_back(first + static_cast<Point>((j + element[i]) % action.degrees[i]));
    }
    action.letters.push_back(Permutation::from_images(std::move(images)));
  }
  for (const auto& element : primary.of_state) {
    Point first = 0;
    auto& images = action.images.emplace_back();
    for (std::size_t i = 0; i < element.size(); first += action.degrees[i++])
      images.push_back(first + static_cast<Point>(element[i]));
  }
  return action;
}

}  // namespace

BasedAction best_based_action(const Dfa& automaton, const TrackedStates& tracked, std::uint64_t max_steps) {
  BasedAction natural = natural_action(automaton, tracked);
  if (actions_commute(tracked)) {
    BasedAction cycles = sum_of_cycles(primary_structure(abelian_structure(automaton, tracked)));
    return cycles.degree() < natural.degree() ? std::move(cycles) : std::move(natural);
  }
  StepBudget budget{max_steps / 2};
  const QuotientActions quotients = quotient_actions(tracked.maps, budget);
  budget.left += max_steps / 2;  // combining has its own half, so that what was found is used
  SumSearch search(make_candidates(quotients.actions, tracked.maps, budget), tracked.count(), budget);
  const std::optional<Sum> sum = search.run();
  BasedAction action = sum ? assemble(*sum, search.candidates(), tracked) : std::move(natural);
  action.exhaustive = quotients.complete && search.complete();
  return action;
}

}  // namespace krohn
