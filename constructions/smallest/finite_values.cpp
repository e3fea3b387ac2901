#include "krohn/constructions/smallest/finite_values.h"

#include <algorithm>
#include <map>
#include <optional>

#include "krohn/groups/error.h"
#include "krohn/groups/names/recognise.h"
#include "krohn/groups/representations/least_representation.h"
#include "krohn/groups/structure/abelian_invariants.h"
#include "krohn/groups/structure/series.h"

namespace krohn {
namespace {

constexpr std::uint64_t kMost = 4;
constexpr std::uint64_t kMostCells = 2'000'000;  ///< of an egg-box, for witnesses
constexpr std::uint64_t kMostCharacterised = 20'000;

class Bound {
 public:
  Bound(const Dfa& automaton, const GreenStructure& green) : automaton_(automaton), green_(green) { find_values(); }

  FiniteValuesBound take() {
    FiniteValuesBound result;
    std::uint32_t d = 0;  // of the identity, above all others
    result.numbers = static_cast<std::uint64_t>(value_[d]);
    try {
      Idempotent at = first_idempotent(d);
      result.chain.push_back(power(at));
      while (static_cast<std::uint64_t>(value_[d]) > dimension_[d]) {
        d = best_below_.at(d);
        at = idempotent_below(d, at);
        result.chain.push_back(power(at));
      }
      result.group = group_words(at);
    } catch (const LimitError&) {  // the bound stands without its words
      result.chain.clear();
      while (static_cast<std::uint64_t>(value_[d]) > dimension_[d]) d = best_below_.at(d);
    }
    result.group_dimension = dimension_[d];
    result.group_name = recognised_name(green_.d_classes()[d].group);
    return result;
  }

 private:
  /// A group H-class of an egg-box.
  struct Idempotent {
    std::uint32_t d_class = 0, row = 0, column = 0;
    std::vector<Point> kernel, image;
  };

  void find_values() {
    const auto classes = green_.d_classes();
    std::map<std::vector<Permutation>, std::uint64_t> known;
    for (const DClass& box : classes) {
      const auto [entry, fresh] = known.try_emplace(box.group.generator_values());
      if (fresh && box.regular) entry->second = least_orthogonal_dimension(box.group, box.group_order);
      dimension_.push_back(box.regular ? entry->second : 0);
    }
    std::vector<std::uint32_t> above(classes.size(), 0), order;
    for (const DClass& box : classes)
      for (const std::uint32_t lower : box.below) ++above[lower];
    for (std::uint32_t d = 0; d < classes.size(); ++d)
      if (above[d] == 0) order.push_back(d);
    for (std::size_t i = 0; i < order.size(); ++i)
      for (const std::uint32_t lower : classes[order[i]].below)
        if (--above[lower] == 0) order.push_back(lower);
    value_.assign(classes.size(), -1);
    best_.assign(classes.size(), 0);
    // best_[d]: the class of greatest value among d and all below; value_ is of chains that begin in d.
    for (auto d = order.rbegin(); d != order.rend(); ++d) {
      std::int64_t most = -1;
      for (const std::uint32_t lower : classes[*d].below)
        if (value_[best_[lower]] > most) most = value_[best_[lower]], best_[*d] = best_[lower];
      if (!classes[*d].regular) continue;
      value_[*d] = std::max(static_cast<std::int64_t>(dimension_[*d]), most + 1);
      best_below_.emplace(*d, best_[*d]);
      best_[*d] = *d;
    }
  }

  GreenStructure::EggBox egg_box(std::uint32_t d) const {
    const DClass& box = green_.d_classes()[d];
    if (box.r_classes * box.l_classes > kMostCells) throw LimitError("the egg-box is too large for a witness");
    return green_.egg_box(d);
  }

  template <class Fits>
  Idempotent find(std::uint32_t d, Fits fits) const {
    const GreenStructure::EggBox box = egg_box(d);
    for (std::uint32_t row = 0; row < box.kernels.size(); ++row)
      for (std::uint32_t column = 0; column < box.images.size(); ++column)
        if (box.cells[row][column] && fits(box.kernels[row], box.images[column]))
          return {d, row, column, box.kernels[row], box.images[column]};
    throw Error("an idempotent is missing below another one; please report this");
  }

  Idempotent first_idempotent(std::uint32_t d) const {
    return find(d, [](const auto&, const auto&) { return true; });
  }

  /// f ≤ e: its image lies in that of e, and it merges what e merges.
  Idempotent idempotent_below(std::uint32_t d, const Idempotent& e) const {
    return find(d, [&](const std::vector<Point>& kernel, const std::vector<Point>& image) {
      if (!std::ranges::includes(e.image, image)) return false;
      std::map<Point, Point> merged;
      for (std::size_t q = 0; q < kernel.size(); ++q)
        if (merged.try_emplace(e.kernel[q], kernel[q]).first->second != kernel[q]) return false;
      return true;
    });
  }

  Transformation map_of(const std::vector<Letter>& word) const {
    Transformation map = Transformation::identity(automaton_.states());
    for (const Letter letter : word) map = map * automaton_.letter_map(letter);
    return map;
  }

  /// The H-class is a group: some power of any of its words is the idempotent.
  PowerOfWord power(const Idempotent& e) const {
    PowerOfWord result{green_.cell_word(e.d_class, e.row, e.column), 1};
    const Transformation map = map_of(result.word);
    for (Transformation power = map; !(power * power == power); power = power * map) ++result.exponent;
    return result;
  }

  /// There to the image on which loops are known by c, and back by b: the words cb and cℓb permute the image of e.
  std::vector<std::vector<Letter>> group_words(const Idempotent& e) const {
    if (green_.d_classes()[e.d_class].group_order == 1) return {};
    const GreenStructure::EggBox box = egg_box(e.d_class);
    const auto column =
        static_cast<std::uint32_t>(std::ranges::find(box.images, green_.image_of(e.d_class)) - box.images.begin());
    std::uint32_t row = 0;
    while (!box.cells[row][column]) ++row;
    const std::vector<Letter> there = green_.cell_word(e.d_class, e.row, column);
    const std::vector<Letter> back = green_.cell_word(e.d_class, row, e.column);
    std::vector<std::vector<Letter>> words;
    const auto add = [&](const std::vector<Letter>& loop) {
      std::vector<Letter> word = there;
      word.insert(word.end(), loop.begin(), loop.end());
      word.insert(word.end(), back.begin(), back.end());
      words.push_back(std::move(word));
    };
    add({});
    for (const GreenStructure::Loop& loop : green_.loops(e.d_class)) add(loop.word);
    return words;
  }

  const Dfa& automaton_;
  const GreenStructure& green_;
  std::vector<std::uint64_t> dimension_;  ///< by D-class: what its group needs
  std::vector<std::int64_t> value_;       ///< by D-class: the most that a chain from there on says; −1: not regular
  std::vector<std::uint32_t> best_;
  std::map<std::uint32_t, std::uint32_t> best_below_;
};

}  // namespace

std::uint64_t least_orthogonal_dimension(const PermutationGroup& group, const Integer& order) {
  if (order <= 2) return order == 1 ? 0 : 1;
  if (is_abelian(group)) return std::min(kMost, least_faithful_dimension(abelian_invariants(group)));
  if (order <= kMostCharacterised) try {
      return std::min(kMost, least_faithful_dimension(CharacterTable::of(group)).value);
    } catch (const LimitError&) {  // too many classes, as large dihedral groups have
    }
  return order > 120 && !is_solvable(group) ? kMost : 2;
}

FiniteValuesBound finite_values_bound(const Dfa& automaton, const GreenStructure& green) {
  return Bound(automaton, green).take();
}

}  // namespace krohn
