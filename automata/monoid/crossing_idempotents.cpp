#include "krohn/automata/monoid/crossing_idempotents.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "krohn/automata/dfa/shown_word.h"
#include "krohn/automata/monoid/partial_verdicts.h"
#include "krohn/automata/monoid/properties.h"
#include "krohn/automata/monoid/witness_check.h"
#include "krohn/groups/counted.h"
#include "krohn/groups/error.h"
#include "krohn/groups/time_limit.h"
#include "krohn/groups/transformations/transformation_monoid.h"

namespace krohn {
namespace {

constexpr const char* kProperty = "right regular idempotents";
constexpr std::uint64_t kMostSteps = 300'000'000, kMostStepsForMargins = 10'000'000;
constexpr std::size_t kMostLetters = 2'000;  ///< of a word for an idempotent

bool is_idempotent(const Transformation& map) {
  for (const Point image : map.images())
    if (map[image] != image) return false;
  return true;
}

struct Power {
  Transformation map;
  std::uint64_t exponent;
};

/// The idempotent among the powers; nothing past `most`, for an order may be enormous.
std::optional<Power> idempotent_power(const Transformation& map, std::uint64_t most) {
  Power power{map, 1};
  for (; !is_idempotent(power.map); ++power.exponent) {
    if (power.exponent >= most) return std::nullopt;
    power.map = power.map * map;
  }
  return power;
}

struct Idempotent {
  Transformation map;
  Word word;
};

Word joined(std::initializer_list<const Word*> words) {
  Word all;
  for (const Word* word : words) all.insert(all.end(), word->begin(), word->end());
  return all;
}

class Search {
 public:
  Search(const Dfa& dfa, std::uint64_t max_elements, const std::optional<ToldApart>& told_apart)
      : dfa_(dfa), told_apart_(told_apart) {
    collect(max_elements);
  }

  CrossingSearch run() {
    CrossingSearch result;
    std::uint64_t steps = 0;
    // efe ≠ fe at p says that f parts p from e(p), which e leads to one state: the kernel of e alone decides whether
    // there is such a p.
    std::map<std::vector<Point>, std::size_t> first_with_kernel;
    for (std::size_t i = 0; i < idempotents_.size(); ++i) {
      TimeLimit::check();
      first_with_kernel.emplace(kernels_[i], i);
      for (std::size_t j = 0; j <= i; ++j) {
        if ((steps += 2 * dfa_.states()) > (result.found ? kMostStepsForMargins : kMostSteps)) return result;
        for (const auto& [e, f] : {std::pair(i, j), std::pair(j, i)})
          if (told_apart_ || result.found || first_with_kernel.at(kernels_[e]) == e)
            consider(idempotents_[e], idempotents_[f], result);
        if (result.found && result.found->bars_margins) return result;
      }
    }
    result.is_complete = is_complete_;
    return result;
  }

 private:
  void collect(std::uint64_t max_elements) {
    TransformationMonoid::Options options;
    options.max_elements = max_elements;
    const auto monoid = TransformationMonoid::enumerate(letter_maps(dfa_), dfa_.states(), options);
    is_complete_ = monoid.complete();
    std::set<Transformation> known;
    for (TransformationMonoid::Element element = 1; element < monoid.size(); ++element) {
      TimeLimit::check();
      const Word once = monoid.word(element);
      auto power = idempotent_power(monoid.element(element), kMostLetters / once.size());
      if (!power) {
        is_complete_ = is_complete_ && monoid.element(element).is_permutation();  // whose power crosses nothing
        continue;
      }
      if (power->map.is_identity() || !known.insert(power->map).second) continue;
      Word word;
      for (std::uint64_t i = 0; i < power->exponent; ++i) word.insert(word.end(), once.begin(), once.end());
      kernels_.push_back(kernel(power->map));
      idempotents_.push_back({std::move(power->map), std::move(word)});
    }
  }

  /// By state, the first one that is led where it is.
  static std::vector<Point> kernel(const Transformation& map) {
    std::vector<Point> first(map.degree(), map.degree()), kernel;
    for (Point point = 0; point < map.degree(); ++point) {
      Point& representative = first[map[point]];
      representative = std::min(representative, point);
      kernel.push_back(representative);
    }
    return kernel;
  }

  bool differ(State p, State q) const {
    return told_apart_ ? told_apart_->pairs[std::size_t{p} * dfa_.states() + q] : p != q;
  }

  /// Every word of es and fs that is read from the state means something.
  bool means_something(State from, const Transformation& e, const Transformation& f) const {
    if (!told_apart_) return true;
    std::vector<State> reached{from};
    for (std::size_t i = 0; i < reached.size(); ++i) {
      if (told_apart_->is_dead[reached[i]]) return false;
      for (const State next : {e[reached[i]], f[reached[i]]})
        if (!std::ranges::count(reached, next)) reached.push_back(next);
    }
    return true;
  }

  void consider(const Idempotent& first, const Idempotent& second, CrossingSearch& result) const {
    const Transformation &e = first.map, &f = second.map;
    for (State p = 0; p < dfa_.states(); ++p) {
      if (e[f[e[p]]] == e[f[p]] || !differ(e[f[e[p]]], e[f[p]]) || !means_something(p, e, f)) continue;
      const std::optional<State> margin = margin_from(e, f);
      if (result.found && !margin) return;
      result.found = CrossingIdempotents{first.word, second.word, margin.value_or(p), margin.has_value()};
      check(*result.found);
      return;
    }
  }

  /// From where (ef)ⁿ(fe)ⁿ and (fe)ⁿ are told apart, and efe and fe, too.
  std::optional<State> margin_from(const Transformation& e, const Transformation& f) const {
    const auto ef = idempotent_power(e * f, kMostLetters), fe = idempotent_power(f * e, kMostLetters);
    for (State p = 0; ef && fe && p < dfa_.states(); ++p)
      if (differ(fe->map[ef->map[p]], fe->map[p]) && differ(e[f[e[p]]], e[f[p]]) && means_something(p, e, f)) return p;
    return std::nullopt;
  }

  /// A find that fails here is a fault of krohn's, and nothing may be claimed on it.
  void check(const CrossingIdempotents& found) const {
    const bool holds = !found.e.empty() && !found.f.empty() && is_idempotent_word(dfa_, found.e) &&
                       is_idempotent_word(dfa_, found.f) &&
                       differ(dfa_.run(joined({&found.e, &found.f, &found.e}), found.from),
                              dfa_.run(joined({&found.f, &found.e}), found.from));
    if (!holds || (found.bars_margins && !bars_margins_by_words(found)))
      throw Error("idempotents that cross failed their check; please report this");
  }

  /// By where the words lead: (ef)ⁿ and (fe)ⁿ, for the n that makes them idempotent.
  bool bars_margins_by_words(const CrossingIdempotents& found) const {
    const auto power = [&](const Word& word) {
      const std::vector<State> once = images_of_word(dfa_, word);
      std::vector<State> all = once;
      while (!std::ranges::all_of(all, [&](State image) { return all[image] == image; }))
        for (State& image : all) image = once[image];
      return all;
    };
    const std::vector<State> ef = power(joined({&found.e, &found.f})), fe = power(joined({&found.f, &found.e}));
    return differ(fe[ef[found.from]], fe[found.from]);
  }

  const Dfa& dfa_;
  const std::optional<ToldApart>& told_apart_;
  std::vector<Idempotent> idempotents_;
  std::vector<std::vector<Point>> kernels_;
  bool is_complete_ = false;
};

}  // namespace

CrossingSearch crossing_idempotents(const Dfa& dfa, std::uint64_t max_elements,
                                    const std::optional<ToldApart>& told_apart) {
  return Search(dfa, max_elements, told_apart).run();
}

Verdict right_regular_idempotents(const Dfa& dfa, std::uint64_t max_elements) try {
  const CrossingSearch search = crossing_idempotents(dfa, max_elements);
  if (search.found) return decided(kProperty, to_string(*search.found, dfa));
  if (search.is_complete) return decided(kProperty, {});
  return undecided(kProperty, fmt::format("none that cross were found among the idempotents of the first {} of "
                                          "the monoid (--max-elements), and these are not all",
                                          counted(max_elements, "element")));
} catch (const LimitError& error) {  // the time is over
  return undecided(kProperty, error.what());
}

std::string to_string(const CrossingIdempotents& found, const Dfa& dfa) {
  return fmt::format("with e = {} and f = {}, efe and fe differ from state {}{}",
                     quoted_letters(dfa.alphabet(), found.e), quoted_letters(dfa.alphabet(), found.f),
                     dfa.state_name(found.from), found.bars_margins ? ", and so do (ef)ⁿ(fe)ⁿ and (fe)ⁿ" : "");
}

}  // namespace krohn
