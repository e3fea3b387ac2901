// tests/automata/classes/class_brute_force.h — the classes of languages by their definitions. Takes nothing from krohn
// but the automaton's table.
#pragma once

#include <unordered_map>

#include "krohn/automata/dfa/dfa.h"
#include "tests/automata/random_automata.h"
#include "tests/testing.h"

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

/// True if LTT_{k,t} holds, by all signatures (ends and numbers) that words have: words with one signature must lead to
/// one state of a minimal automaton, for signatures are a congruence. Nothing past `max_signatures`.
inline std::optional<bool> is_threshold_testable(const Dfa& dfa, std::uint64_t k, std::uint64_t t,
                                                 std::size_t max_signatures = SIZE_MAX) {
  const Letter letters = dfa.letters();
  std::uint64_t factors = 1;
  for (std::uint64_t i = 0; i < k; ++i) factors *= std::max(letters, Letter{1});
  if (factors > 4096 || t > 250 || letters > 250) return std::nullopt;
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
    const State from = state_of.at(*queue[i]);
    for (Letter c = 0; c < letters; ++c) {
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
          factor = factor * letters + static_cast<unsigned char>(next[1 + ends + at]);
        factor = factor * letters + c;
        char& number = next[1 + 2 * ends + factor];
        if (static_cast<unsigned char>(number) < t) ++number;
        for (std::size_t at = 0; at + 1 < ends; ++at) next[1 + ends + at] = next[1 + ends + at + 1];
        if (ends > 0) next[2 * ends] = letter;
      }
      const State to = dfa.next(from, c);
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

/// The subsequences of at most k letters, after one more letter.
inline std::set<Word> with_letter(const std::set<Word>& subsequences, Letter letter, std::size_t k) {
  std::set<Word> all = subsequences;
  for (Word word : subsequences)
    if (word.size() < k) {
      word.push_back(letter);
      all.insert(std::move(word));
    }
  return all;
}

/// The ends of k−1 letters and the sequences of at most n factors of k letters decide; of one letter, PT_n.
inline bool is_dot_depth_one(const Dfa& dfa, std::size_t k, std::size_t n) {
  using Signature = std::tuple<Word, Word, std::set<Word>>;
  return depends_on(dfa, Signature{{}, {}, {{}}}, [&](Signature signature, Letter letter) {
    auto& [prefix, suffix, sequences] = signature;
    if (prefix.size() < k - 1) prefix.push_back(letter);
    suffix.push_back(letter);
    if (suffix.size() < k) return signature;
    Letter factor = 0;
    for (const Letter each : suffix) factor = factor * dfa.letters() + each;
    sequences = with_letter(sequences, factor, n);
    suffix.erase(suffix.begin());
    return signature;
  });
}

inline bool is_piecewise_testable(const Dfa& dfa, std::size_t k) { return is_dot_depth_one(dfa, 1, k); }

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
  std::set<std::pair<std::set<Word>, State>> seen{{{{}}, dfa.initial()}};
  std::vector<std::pair<std::set<Word>, State>> queue(seen.begin(), seen.end());
  for (std::size_t i = 0; i < queue.size(); ++i)
    for (Letter letter = 0; letter < dfa.letters(); ++letter) {
      std::pair<std::set<Word>, State> next{with_letter(queue[i].first, letter, k), dfa.next(queue[i].second, letter)};
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
