#include "krohn/automata/monoid/properties.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <utility>

namespace krohn {
namespace {

struct Implication {
  const char* from;
  const char* to;
};

/// Each also says, the other way round, that no follows from no. S is the image of the non-empty words.
constexpr Implication kImplications[] = {{"nilpotent", "definite"},          // the one idempotent is a zero of S,
                                         {"nilpotent", "reverse definite"},  // from both sides,
                                         {"nilpotent", "J-trivial"},  // so nothing but the identity is above it twice
                                         {"definite", "generalised definite"},  // se = e for all s gives ese = e,
                                         {"reverse definite", "generalised definite"},  // and so does es = e
                                         {"generalised definite", "locally testable"},  // eSe = {e} is a semilattice
                                         {"locally testable", "aperiodic"},  // a group lies in its local monoid
                                         {"J-trivial", "R-trivial"},
                                         {"J-trivial", "L-trivial"},
                                         {"R-trivial", "DA"},
                                         {"L-trivial", "DA"},
                                         {"DA", "aperiodic"},
                                         {"aperiodic", "2-groups only"},
                                         {"aperiodic", "quasi-aperiodic"},
                                         {"2-groups only", "solvable groups"},
                                         {"group", "right regular idempotents"},        // e = 1
                                         {"commutative", "right regular idempotents"},  // efe = fee
                                         {"definite", "right regular idempotents"}};    // se = e

const char* meaning_of(std::string_view property) {
  const auto* found = std::find_if(kProperties.begin(), kProperties.end(),
                                   [&](const Property& candidate) { return property == candidate.name; });
  assert(found != kProperties.end());
  return found->meaning;
}

Verdict* find(std::vector<Verdict>& verdicts, std::string_view property) {
  const auto found = std::find_if(verdicts.begin(), verdicts.end(),
                                  [&](const Verdict& verdict) { return verdict.property == property; });
  return found == verdicts.end() ? nullptr : &*found;
}

/// Moves `answer` from one verdict to the other, when the first has it and the second is open.
bool conclude(const Verdict& from, Verdict& to, Answer answer) {
  if (from.answer != answer || to.answer != Answer::kUnknown) return false;
  to.answer = answer;
  to.witness.clear();
  if (answer == Answer::kNo) {
    const bool drawn = from.witness.starts_with("not ");
    to.witness = drawn ? from.witness : fmt::format("not {}: {}", from.property, from.witness);
  }
  return true;
}

}  // namespace

Verdict decided(std::string_view property, std::string witness) {
  const Answer answer = witness.empty() ? Answer::kYes : Answer::kNo;
  return {std::string(property), meaning_of(property), answer, std::move(witness)};
}

Verdict undecided(std::string_view property, std::string why) {
  return {std::string(property), meaning_of(property), Answer::kUnknown, std::move(why)};
}

void draw_conclusions(std::vector<Verdict>& verdicts) {
  for (bool drawn = true; drawn;) {
    drawn = false;
    for (const auto& [from, to] : kImplications) {
      Verdict *premise = find(verdicts, from), *conclusion = find(verdicts, to);
      if (premise == nullptr || conclusion == nullptr) continue;
      drawn = conclude(*premise, *conclusion, Answer::kYes) || drawn;
      drawn = conclude(*conclusion, *premise, Answer::kNo) || drawn;
    }
    Verdict *r = find(verdicts, "R-trivial"), *l = find(verdicts, "L-trivial"), *j = find(verdicts, "J-trivial");
    if (r != nullptr && l != nullptr && j != nullptr && j->answer == Answer::kUnknown && r->answer == Answer::kYes)
      drawn = conclude(*l, *j, Answer::kYes) || drawn;  // J = D = L ∘ R in finite monoids
  }
}

}  // namespace krohn
