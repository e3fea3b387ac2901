#include "krohn/automata/monoid/stamp.h"

#include <map>

namespace krohn {
namespace {

constexpr std::size_t kMaxPowers = 4096;

/// η(Σ^(i+1)) from η(Σ^i).
std::vector<bool> longer(const TransformationMonoid& monoid, const std::vector<bool>& power) {
  std::vector<bool> next(monoid.size(), false);
  for (TransformationMonoid::Element e = 0; e < monoid.size(); ++e)
    if (power[e])
      for (std::uint32_t g = 0; g < monoid.generators(); ++g) next[monoid.right(e, g)] = true;
  return next;
}

}  // namespace

bool acts_with_cycle(const Transformation& map) {
  Transformation power = map;  // map^(2^k); past n letters only cycles are left
  for (Point length = 1; length < map.degree(); length *= 2) power = power * power;
  return power * map != power;
}

Stamp::Stamp(const TransformationMonoid& monoid) {
  for (TransformationMonoid::Element e = 0; e < monoid.size(); ++e)
    cyclic_.push_back(acts_with_cycle(monoid.element(e)));
  std::vector<bool> current(monoid.size(), false);
  current[0] = true;  // η(Σ⁰)
  std::map<std::vector<bool>, std::size_t> seen;
  while (powers_.size() < kMaxPowers) {
    current = longer(monoid, current);
    const auto [entry, fresh] = seen.try_emplace(current, powers_.size());
    if (fresh) {
      powers_.push_back(current);
      continue;
    }
    // Powers 1 + start, 1 + start + period, … are equal: s is the least multiple of the period that is not before them.
    start_ = entry->second;
    const std::size_t period = powers_.size() - start_;
    for (index_ = period; index_ < start_ + 1;) index_ += period;
    return;
  }
}

std::optional<TransformationMonoid::Element> Stamp::stable_cycle() const {
  const std::size_t period = powers_.size() - start_;
  const std::vector<bool>& stable = powers_[start_ + (index_ - 1 - start_) % period];
  for (std::size_t e = 0; e < stable.size(); ++e)
    if (stable[e] && cyclic_[e]) return static_cast<TransformationMonoid::Element>(e);
  return std::nullopt;
}

/// An element x of η(Σ^kt) with a cycle has powers with that cycle in η(Σ^mt) for arbitrarily large m, so that only the
/// powers that recur matter, and of those only the residues modulo t, which divides their period.
bool Stamp::has_cycle_at_multiples(std::uint64_t t) const {
  for (std::size_t i = start_; i < powers_.size(); ++i) {
    if ((i + 1) % t != 0) continue;
    for (std::size_t e = 0; e < cyclic_.size(); ++e)
      if (powers_[i][e] && cyclic_[e]) return true;
  }
  return false;
}

std::uint64_t Stamp::position_period() const {
  if (index_ == 0) return 0;
  const std::uint64_t period = powers_.size() - start_;
  for (std::uint64_t t = 1; t <= period; ++t)
    if (period % t == 0 && !has_cycle_at_multiples(t)) return t;
  return 0;
}

}  // namespace krohn
