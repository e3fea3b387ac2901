// automata/operations/product.h — two automata read side by side over the common refinement of their alphabets.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/groups/base/record_set.h"

namespace krohn {

/// Any construction on acceptors stops here, with a LimitError, unless told otherwise.
inline constexpr std::uint64_t kDefaultMaxStates = 10'000'000;

/// Throws InputError naming `operation` unless the automaton is an acceptor.
void require_acceptor(const Dfa& dfa, const char* operation);

/// An acceptor read over a larger or finer alphabet: a letter that it lacks leads to one more state, a rejecting sink.
class ReadOver {
 public:
  /// `letters[l]` is the letter of `dfa` that stands for letter l, if any does. Keeps a reference to `dfa`.
  ReadOver(const Dfa& dfa, std::vector<std::optional<Letter>> letters) : dfa_(dfa), letters_(std::move(letters)) {}

  State initial() const { return dfa_.initial(); }
  State sink() const { return dfa_.states(); }
  /// The states of the automaton and the sink.
  std::size_t states() const { return std::size_t{dfa_.states()} + 1; }
  State next(State state, Letter letter) const {
    return state == sink() || !letters_[letter] ? sink() : dfa_.next(state, *letters_[letter]);
  }
  bool accepts(State state) const { return state != sink() && dfa_.accepts(state); }

 private:
  const Dfa& dfa_;
  std::vector<std::optional<Letter>> letters_;
};

struct StatePair {
  State a = 0, b = 0;
};

/// Pairs of states, numbered as they are first visited. 12 bytes a pair.
class PairSearch {
 public:
  using Index = RecordSet::Index;

  /// `operation` and `max_pairs` are for the LimitError.
  PairSearch(const char* operation, std::uint64_t max_pairs)
      : pairs_(2), operation_(operation), max_pairs_(max_pairs) {}

  Index size() const { return pairs_.size(); }
  StatePair operator[](Index index) const { return {pairs_[index][0], pairs_[index][1]}; }
  /// Returns the number of the pair. Throws LimitError.
  Index visit(StatePair pair);

 private:
  RecordSet pairs_;
  const char* operation_;
  std::uint64_t max_pairs_;
};

}  // namespace krohn
