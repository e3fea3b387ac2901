#include "krohn/automata/monoid/witness_check.h"

#include <limits>
#include <numeric>
#include <set>
#include <unordered_set>
#include <utility>

namespace krohn {
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
