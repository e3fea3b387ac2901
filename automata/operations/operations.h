// automata/operations/operations.h — automata as they came, products, emptiness and equivalence with a shortest word,
// and Boolean operations. The other operations are in nfa_operations.h.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/groups/base/record_set.h"

namespace krohn {

using Automaton = std::variant<Dfa, Nfa>;

const Alphabet& alphabet_of(const Automaton& automaton);
/// The letters over which two automata are compared: `refine(…).merged`.
Alphabet common_alphabet(const Automaton& a, const Automaton& b);

/// Throws InputError for a machine with outputs, naming `operation`, and LimitError past 2^27 arcs.
Nfa to_nfa(const Automaton& automaton, const char* operation);
/// The automaton itself, or its subset construction. Throws LimitError past `max_states` subsets.
Dfa to_dfa(const Automaton& automaton, std::uint64_t max_states);

/// The minimal deterministic automaton where it is found within some multiple of the states; otherwise the automaton
/// itself. Nothing that explodes is tried to its end.
Automaton settled(Nfa nfa);

// The subset construction.

struct DeterminiseOptions {
  std::uint64_t max_states = 10'000'000;  ///< LimitError beyond, naming `--max-states`
};

/// The complete deterministic automaton of the reachable subsets, in BFS order, the empty set as a sink when it is
/// reached. A subset is told apart by its members that matter: those from which acceptance is possible and that read a
/// letter or accept, the rest being passed by ε-moves; all with a member that by its loops accepts every word are one,
/// so that a search does not go on behind its match. O(reachable subsets · arcs) time; a subset takes one word when
/// at most 64 states matter, else one word per occupied block of 32 states. Throws LimitError past `max_states` and
/// past a table of 2^30 entries.
Dfa determinise(const Nfa& nfa, const DeterminiseOptions& options = {});

// Two automata read side by side over the common refinement of their alphabets.

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

// Emptiness and equivalence, each with a shortest word.

// The words that one acceptor accepts: nothing, everything, finitely many words; a
// shortest one.

// All take acceptors and throw InputError on other machines. O(k n).

/// Per state: some word leads from it to acceptance.
std::vector<bool> coaccessible_states(const Dfa& dfa);

/// The length-lexicographically least accepted word.
std::optional<Word> shortest_accepted_word(const Dfa& dfa);

bool is_empty(const Dfa& dfa);
/// Accepts every word over its own alphabet.
bool is_universal(const Dfa& dfa);
/// Accepts finitely many words: no cycle passes through states that are reachable and coaccessible.
bool is_finite(const Dfa& dfa);

// Automata over different alphabets are read over the common refinement, `refine(a.alphabet(), b.alphabet()).merged`:
// an acceptor rejects every word with a letter that it lacks. Words that are returned are over that alphabet, which is
// the common one when the alphabets are equal.

/// A shortest word on which the outputs, compared by name, differ; nothing when the automata are equivalent. Hopcroft
/// and Karp's union–find (1971) in breadth-first order: a pair that earlier pairs imply is skipped, and a word that
/// distinguishes it distinguishes one of those as early, so the first word found is shortest. O(k (m + n) α(m + n)).
/// Throws InputError when one has letters that the other lacks, whatever their order, and not both are acceptors.
std::optional<Word> distinguishing_word(const Dfa& a, const Dfa& b);

/// No word distinguishes them.
bool equivalent(const Dfa& a, const Dfa& b);

// Boolean operations on languages. The others are in nfa_operations.h.

// Every operand is an acceptor (InputError otherwise) and every Dfa that comes back is minimal and canonical. Operands
// over different alphabets are read over the common refinement of the two, which is the alphabet of the result: a
// letter that an operand lacks leads it to rejection. Constructions stop with a LimitError past `max_states` states of
// any automaton on the way.

// Boolean operations: reachable pairs of states, O(k m n) at worst.

Dfa union_of(const Dfa& a, const Dfa& b, std::uint64_t max_states = kDefaultMaxStates);
Dfa intersection_of(const Dfa& a, const Dfa& b, std::uint64_t max_states = kDefaultMaxStates);
/// Accepted by `a` and not by `b`.
Dfa difference_of(const Dfa& a, const Dfa& b, std::uint64_t max_states = kDefaultMaxStates);
Dfa symmetric_difference_of(const Dfa& a, const Dfa& b, std::uint64_t max_states = kDefaultMaxStates);
/// Relative to the words over its own alphabet; see `extend_alphabet` for another.
Dfa complement(const Dfa& dfa);

/// The same automaton with the other states accepting: it accepts the complement.
Dfa with_other_answer(const Dfa& dfa);
/// The same language over `refine(dfa.alphabet(), alphabet).merged`. O(k n log n).
Dfa extend_alphabet(const Dfa& dfa, const Alphabet& alphabet);

}  // namespace krohn
