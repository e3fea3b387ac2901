// tests/automata/classes/class_brute_force.h — the classes of languages by their definitions. Takes nothing from krohn
// but the automaton's table.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "tests/automata/random_automata.h"

namespace krohn::brute {

/// A signature of words that is computed letter by letter: what a class lets the answer depend on. The languages of the
/// class are those where no two words with one signature have different answers; searched over all (signature, state).
template <class Signature, class Step>
bool depends_on(const Dfa& dfa, const Signature& start, Step step) {
  std::set<std::pair<Signature, State>> seen{{start, dfa.initial()}};
  std::map<Signature, bool> answer{{start, dfa.accepts(dfa.initial())}};
  std::vector<std::pair<Signature, State>> queue{{start, dfa.initial()}};
  for (std::size_t i = 0; i < queue.size(); ++i)
    for (Letter letter = 0; letter < dfa.letters(); ++letter) {
      const State to = dfa.next(queue[i].second, letter);
      Signature longer = step(queue[i].first, letter);
      const auto [known, fresh] = answer.emplace(longer, dfa.accepts(to));
      if (known->second != dfa.accepts(to)) return false;
      if (seen.emplace(longer, to).second) queue.emplace_back(std::move(longer), to);
    }
  return true;
}

/// The factors of k letters of ⋊w⋉, each counted up to t; of shorter words ⋊w⋉ itself.
struct FactorCounts {
  Word prefix, suffix;  ///< k−1 letters, or the whole word
  std::map<Word, std::size_t> counts;
  auto operator<=>(const FactorCounts&) const = default;
};

inline bool is_locally_threshold_testable(const Dfa& dfa, std::size_t k, std::size_t t) {
  return depends_on(dfa, FactorCounts{}, [&](FactorCounts counts, Letter letter) {
    if (counts.prefix.size() < k - 1) counts.prefix.push_back(letter);
    counts.suffix.push_back(letter);
    if (counts.suffix.size() == k) {
      std::size_t& count = counts.counts[counts.suffix];
      count = std::min(count + 1, t);
      counts.suffix.erase(counts.suffix.begin());
    }
    return counts;
  });
}

inline bool is_piecewise_testable(const Dfa& dfa, std::size_t k) {
  return depends_on(dfa, std::set<Word>{{}}, [&](const std::set<Word>& subsequences, Letter letter) {
    std::set<Word> all = subsequences;
    for (Word word : subsequences)
      if (word.size() < k) {
        word.push_back(letter);
        all.insert(std::move(word));
      }
    return all;
  });
}

/// ⋊w⋉, the ends as two more letters.
inline Word between_ends(const Dfa& dfa, const Word& word) {
  Word all{dfa.letters()};
  all.insert(all.end(), word.begin(), word.end());
  all.push_back(dfa.letters() + 1);
  return all;
}

inline std::set<Word> factors(const Word& word, std::size_t k) {
  std::set<Word> all;
  for (std::size_t from = 0; from < word.size(); ++from)
    for (std::size_t length = 1; length <= k && from + length <= word.size(); ++length)
      all.emplace(word.begin() + static_cast<std::ptrdiff_t>(from),
                  word.begin() + static_cast<std::ptrdiff_t>(from + length));
  return all;
}

/// The factors of at most k letters that accepted words have: a factor lies in an accepted word with at most n−1
/// letters on each side of it, if in any.
inline std::set<Word> permitted_factors(const Dfa& dfa, std::size_t k) {
  std::set<Word> permitted;
  for (const Word& word : short_words(dfa.letters(), k + 2 * (dfa.states() - 1)))
    if (dfa.accepts(dfa.run(word))) permitted.merge(factors(between_ends(dfa, word), k));
  return permitted;
}

/// Every word whose factors are permitted is accepted; by (last k−1 letters, state).
inline bool is_strictly_local(const Dfa& dfa, std::size_t k) {
  const std::set<Word> permitted = permitted_factors(dfa, k);
  const auto all_permitted = [&](const Word& word) {
    for (const Word& factor : factors(word, k))
      if (!permitted.contains(factor)) return false;
    return true;
  };
  const Word start{dfa.letters()};
  if (!all_permitted(start)) return true;  // nothing is permitted, and nothing accepted
  std::set<std::pair<Word, State>> seen{{start, dfa.initial()}};
  std::vector<std::pair<Word, State>> queue{{start, dfa.initial()}};
  for (std::size_t i = 0; i < queue.size(); ++i) {
    Word ended = queue[i].first;
    ended.push_back(dfa.letters() + 1);
    if (all_permitted(ended) && !dfa.accepts(queue[i].second)) return false;
    for (Letter letter = 0; letter < dfa.letters(); ++letter) {
      Word longer = queue[i].first;
      longer.push_back(letter);
      if (!all_permitted(longer)) continue;
      while (longer.size() > std::max<std::size_t>(k, 2) - 1) longer.erase(longer.begin());
      std::pair<Word, State> next{std::move(longer), dfa.next(queue[i].second, letter)};
      if (seen.insert(next).second) queue.push_back(std::move(next));
    }
  }
  return true;
}

/// A word is accepted exactly when its subsequences of at most k letters are those of accepted words; which have them
/// within k + (k+1)(n−1) letters.
inline bool is_strictly_piecewise(const Dfa& dfa, std::size_t k) {
  std::set<Word> permitted;
  const auto longer = [&](const std::set<Word>& subsequences, Letter letter) {
    std::set<Word> all = subsequences;
    for (Word word : subsequences)
      if (word.size() < k) {
        word.push_back(letter);
        all.insert(std::move(word));
      }
    return all;
  };
  std::set<std::pair<std::set<Word>, State>> seen{{{{}}, dfa.initial()}};
  std::vector<std::pair<std::set<Word>, State>> queue(seen.begin(), seen.end());
  for (std::size_t i = 0; i < queue.size(); ++i)
    for (Letter letter = 0; letter < dfa.letters(); ++letter) {
      std::pair<std::set<Word>, State> next{longer(queue[i].first, letter), dfa.next(queue[i].second, letter)};
      if (seen.insert(next).second) queue.push_back(std::move(next));
    }
  for (const auto& [subsequences, state] : queue)
    if (dfa.accepts(state)) permitted.insert(subsequences.begin(), subsequences.end());
  for (const auto& [subsequences, state] : queue)
    if (!dfa.accepts(state) &&
        std::includes(permitted.begin(), permitted.end(), subsequences.begin(), subsequences.end()))
      return false;
  return true;
}

/// After any k letters the answer is the same, whatever came before them.
inline bool is_definite(const Dfa& dfa, std::size_t k) {
  for (const Word& word : short_words(dfa.letters(), k)) {
    if (word.size() < k) continue;
    std::set<bool> answers;
    for (State state = 0; state < dfa.states(); ++state) answers.insert(dfa.accepts(dfa.run(word, state)));
    if (answers.size() > 1) return false;
  }
  return true;
}

/// After the first k letters the answer is the same, whatever comes after them.
inline bool is_reverse_definite(const Dfa& dfa, std::size_t k) {
  for (const Word& word : short_words(dfa.letters(), k)) {
    if (word.size() < k) continue;
    std::set<bool> answers;
    for (const Word& end : short_words(dfa.letters(), dfa.states()))
      answers.insert(dfa.accepts(dfa.run(end, dfa.run(word))));
    if (answers.size() > 1) return false;
  }
  return true;
}

/// Words with the same letters of the tier, in the same order, have the same answer; by the states after w and after
/// its projection.
inline bool is_of_tier(const Dfa& dfa, std::uint32_t tier) {
  std::set<std::pair<State, State>> seen{{dfa.initial(), dfa.initial()}};
  std::vector<std::pair<State, State>> queue(seen.begin(), seen.end());
  for (std::size_t i = 0; i < queue.size(); ++i) {
    if (dfa.accepts(queue[i].first) != dfa.accepts(queue[i].second)) return false;
    for (Letter letter = 0; letter < dfa.letters(); ++letter) {
      const std::pair<State, State> next{dfa.next(queue[i].first, letter), (tier >> letter & 1U) != 0
                                                                               ? dfa.next(queue[i].second, letter)
                                                                               : queue[i].second};
      if (seen.insert(next).second) queue.push_back(next);
    }
  }
  return true;
}

inline Dfa restricted(const Dfa& dfa, std::uint32_t tier) {
  std::vector<std::string> names;
  std::vector<State> table;
  for (Letter letter = 0; letter < dfa.letters(); ++letter)
    if ((tier >> letter & 1U) != 0) names.push_back(dfa.alphabet().name(letter));
  std::vector<bool> accepting;
  for (State state = 0; state < dfa.states(); ++state) {
    accepting.push_back(dfa.accepts(state));
    for (Letter letter = 0; letter < dfa.letters(); ++letter)
      if ((tier >> letter & 1U) != 0) table.push_back(dfa.next(state, letter));
  }
  return Dfa::acceptor(Alphabet::from_names(names), table, dfa.initial(), accepting);
}

inline Dfa complement_of(const Dfa& dfa) {
  std::vector<bool> accepting;
  for (State state = 0; state < dfa.states(); ++state) accepting.push_back(!dfa.accepts(state));
  return Dfa::acceptor(dfa.alphabet(), {dfa.table().begin(), dfa.table().end()}, dfa.initial(), accepting);
}

}  // namespace krohn::brute
