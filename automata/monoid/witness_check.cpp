#include "krohn/automata/monoid/witness_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <ranges>
#include <set>
#include <unordered_set>
#include <utility>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/monoid/properties.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/groups/transformations/transformation_monoid.h"

namespace krohn {

void require_witness(bool checked, std::string_view property) {
  if (!checked) throw Error(fmt::format("the witness against \"{}\" failed its check; please report this", property));
}

Word joined(std::initializer_list<const Word*> words) {
  Word all;
  for (const Word* word : words) all.insert(all.end(), word->begin(), word->end());
  return all;
}

namespace {

constexpr const char* kProperty = "right regular idempotents";
constexpr std::uint64_t kMaxSteps = 300'000'000, kMaxStepsForMargins = 10'000'000;
constexpr std::size_t kMaxLetters = 2'000;  ///< of a word for an idempotent

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
        if ((steps += 2 * dfa_.states()) > (result.found ? kMaxStepsForMargins : kMaxSteps)) return result;
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
      auto power = idempotent_power(monoid.element(element), kMaxLetters / once.size());
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
    const auto ef = idempotent_power(e * f, kMaxLetters), fe = idempotent_power(f * e, kMaxLetters);
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

Verdict right_regular_idempotents(const Dfa& dfa, std::uint64_t max_elements) {
  const CrossingSearch search = crossing_idempotents(dfa, max_elements);
  if (search.found) return decided(kProperty, to_string(*search.found, dfa));
  if (search.is_complete) return decided(kProperty, {});
  return undecided(kProperty, fmt::format("none that cross were found among the idempotents of the first {} of "
                                          "the monoid (--max-elements), and these are not all",
                                          counted(max_elements, "element")));
}

std::string to_string(const CrossingIdempotents& found, const Dfa& dfa) {
  return fmt::format("with e = {} and f = {}, efe and fe differ from state {}{}",
                     quoted_letters(dfa.alphabet(), found.e), quoted_letters(dfa.alphabet(), found.f),
                     dfa.state_name(found.from), found.bars_margins ? ", and so do (ef)ⁿ(fe)ⁿ and (fe)ⁿ" : "");
}

namespace {

using Images = std::vector<State>;

Images then_letter(const Dfa& dfa, const Images& map, Letter letter) {
  Images result(map);
  for (State& image : result) image = dfa.next(image, letter);
  return result;
}

Images letter_then(const Dfa& dfa, Letter letter, const Images& map) {
  Images result(map.size());
  for (State state = 0; state < map.size(); ++state) result[state] = map[dfa.next(state, letter)];
  return result;
}

Images first_then(const Images& f, const Images& g) {
  Images result(f);
  for (State& image : result) image = g[image];
  return result;
}

/// Every map reached from `start` by `extend`, until `found` takes one.
template <class Extend, class Found>
std::optional<bool> search(const Dfa& dfa, Images start, std::size_t max_maps, Extend extend, Found found) {
  std::set<Images> known{start};
  std::vector<Images> queue{std::move(start)};
  for (std::size_t i = 0; i < queue.size(); ++i) {
    if (found(queue[i])) return true;
    for (Letter letter = 0; letter < dfa.letters(); ++letter) {
      Images next = extend(queue[i], letter);
      if (!known.insert(next).second) continue;
      if (known.size() > max_maps) return std::nullopt;
      queue.push_back(std::move(next));
    }
  }
  return false;
}

}  // namespace

std::vector<State> images_of_word(const Dfa& dfa, std::span<const Letter> word) {
  Images images(dfa.states());
  for (State state = 0; state < dfa.states(); ++state) images[state] = dfa.run(word, state);
  return images;
}

std::vector<std::uint64_t> cycle_lengths(std::span<const State> images) {
  std::set<std::uint64_t> lengths;
  std::vector<std::size_t> walk_of(images.size(), 0), step_at(images.size(), 0);
  for (std::size_t start = 0; start < images.size(); ++start) {
    std::size_t state = start, step = 0;
    for (; walk_of[state] == 0; state = images[state]) {
      walk_of[state] = start + 1;
      step_at[state] = step++;
    }
    if (walk_of[state] == start + 1) lengths.insert(step - step_at[state]);
  }
  return {lengths.begin(), lengths.end()};
}

std::uint64_t order_on(const Dfa& dfa, std::span<const Letter> word, std::span<const State> states) {
  Images position(dfa.states(), dfa.states());
  for (std::size_t i = 0; i < states.size(); ++i) position[states[i]] = static_cast<State>(i);
  Images images;
  std::vector<bool> hit(states.size(), false);
  for (const State state : states) {
    const State to = position[dfa.run(word, state)];
    if (to == dfa.states() || hit[to]) return 0;
    hit[to] = true;
    images.push_back(to);
  }
  std::uint64_t order = 1;
  for (const std::uint64_t length : cycle_lengths(images)) {
    const std::uint64_t factor = length / std::gcd(order, length);
    if (factor > std::numeric_limits<std::int64_t>::max() / order) return 0;
    order *= factor;
  }
  return order;
}

bool has_coprime_orders(const Dfa& dfa, std::span<const Letter> u, std::span<const Letter> v,
                        std::span<const State> states) {
  std::vector<Letter> both(u.begin(), u.end());
  both.insert(both.end(), v.begin(), v.end());
  const std::uint64_t a = order_on(dfa, u, states), b = order_on(dfa, v, states), c = order_on(dfa, both, states);
  return a > 1 && b > 1 && c > 1 && std::gcd(a, b) == 1 && std::gcd(a, c) == 1 && std::gcd(b, c) == 1;
}

bool is_idempotent_word(const Dfa& dfa, std::span<const Letter> word) {
  const Images images = images_of_word(dfa, word);
  return first_then(images, images) == images;
}

std::optional<bool> left_multiple(const Dfa& dfa, std::span<const Letter> from, std::span<const Letter> to,
                                  std::size_t max_maps) {
  const Images goal = images_of_word(dfa, to);
  return search(
      dfa, images_of_word(dfa, from), max_maps,
      [&](const Images& map, Letter letter) { return letter_then(dfa, letter, map); },
      [&](const Images& map) { return map == goal; });
}

std::optional<bool> is_regular_word(const Dfa& dfa, std::span<const Letter> word, std::size_t max_maps) {
  const Images x = images_of_word(dfa, word);
  return search(
      dfa, x, max_maps, [&](const Images& map, Letter letter) { return then_letter(dfa, map, letter); },
      [&](const Images& map) { return first_then(map, map) == map && first_then(map, x) == x; });
}

bool never_meet(const Dfa& dfa, State p, State q) {
  const auto reached_from = [&](State start) {
    std::vector<bool> reached(dfa.states());
    reached[start] = true;
    for (std::vector<State> open{start}; !open.empty();) {
      const State state = open.back();
      open.pop_back();
      for (const State next : dfa.row(state))
        if (!reached[next]) reached[next] = true, open.push_back(next);
    }
    return reached;
  };
  const std::vector<bool> from_p = reached_from(p), from_q = reached_from(q);
  const auto is_common = [&](State state) { return from_p[state] && from_q[state]; };
  if (std::ranges::none_of(std::views::iota(State{0}, dfa.states()), is_common)) return true;
  std::unordered_set<std::uint64_t> met;
  std::vector<std::pair<State, State>> open{{p, q}};
  while (!open.empty()) {
    const auto [a, b] = open.back();
    open.pop_back();
    if (a == b) return false;
    for (Letter letter = 0; letter < dfa.letters(); ++letter) {
      const std::pair to(dfa.next(a, letter), dfa.next(b, letter));
      if (met.insert(std::uint64_t{to.first} << 32 | to.second).second) open.push_back(to);
    }
  }
  return true;
}

}  // namespace krohn
