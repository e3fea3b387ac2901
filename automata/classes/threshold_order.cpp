#include "krohn/automata/classes/threshold_order.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "krohn/groups/time_limit.h"

namespace krohn {
namespace {

constexpr std::uint64_t kMaxFactors = 4096;

/// Leads every state to one that no word leaves: words with it have one fate, and their signatures tell.
bool is_fatal(const Dfa& dfa, Letter letter) {
  const State end = dfa.next(0, letter);
  for (State state = 0; state < dfa.states(); ++state)
    if (dfa.next(state, letter) != end) return false;
  for (Letter other = 0; other < dfa.letters(); ++other)
    if (dfa.next(end, other) != end) return false;
  return true;
}

}  // namespace

std::optional<bool> is_threshold_testable(const Dfa& dfa, std::uint64_t k, std::uint64_t t,
                                          std::size_t max_signatures) {
  std::vector<Letter> letters;
  for (Letter letter = 0; letter < dfa.letters(); ++letter)
    if (!is_fatal(dfa, letter)) letters.push_back(letter);
  std::uint64_t factors = 1;
  for (std::uint64_t i = 0; i < k; ++i) factors *= std::max<std::size_t>(letters.size(), 1);
  if (factors > kMaxFactors || t > 250 || letters.size() > 250) return std::nullopt;
  // A signature: the length up to k−1, the first and the last k−1 letters as far as there are, the numbers.
  const std::size_t ends = k - 1;
  const auto length_of = [](const std::string& s) {
    return static_cast<std::size_t>(static_cast<unsigned char>(s[0]));
  };
  std::unordered_map<std::string, State> state_of;
  std::string start(1 + 2 * ends + factors, '\0');
  state_of.emplace(start, dfa.initial());
  std::vector<const std::string*> queue{&state_of.begin()->first};
  for (std::size_t i = 0; i < queue.size(); ++i) {
    if (i % 256 == 0) TimeLimit::check();
    const State from = state_of.at(*queue[i]);
    for (std::size_t c = 0; c < letters.size(); ++c) {
      std::string next = *queue[i];
      const std::size_t length = length_of(next);
      const char letter = static_cast<char>(c);
      if (length < ends) {
        next[1 + length] = letter;
        next[1 + ends + length] = letter;
        next[0] = static_cast<char>(length + 1);
      } else {
        std::size_t factor = 0;
        for (std::size_t at = 0; at < ends; ++at)
          factor = factor * letters.size() + static_cast<unsigned char>(next[1 + ends + at]);
        factor = factor * letters.size() + c;
        char& number = next[1 + 2 * ends + factor];
        if (static_cast<unsigned char>(number) < t) ++number;
        for (std::size_t at = 0; at + 1 < ends; ++at) next[1 + ends + at] = next[1 + ends + at + 1];
        if (ends > 0) next[2 * ends] = letter;
      }
      const State to = dfa.next(from, letters[c]);
      const auto [known, fresh] = state_of.emplace(std::move(next), to);
      if (!fresh) {
        if (known->second != to) return false;
        continue;
      }
      if (state_of.size() > max_signatures) return std::nullopt;
      queue.push_back(&known->first);
    }
  }
  return true;
}

std::optional<ThresholdOrder> threshold_order(const Dfa& dfa, std::uint64_t most_together, std::size_t max_signatures) {
  for (std::uint64_t together = 2; together <= most_together; ++together)
    for (std::uint64_t k = 1; k < together; ++k) {
      const auto holds = is_threshold_testable(dfa, k, together - k, max_signatures);
      if (!holds) return std::nullopt;
      if (*holds) return ThresholdOrder{k, together - k};
    }
  return std::nullopt;
}

}  // namespace krohn
