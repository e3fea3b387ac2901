// simulate/learned/extract_automaton.h — the automaton that a network has learned, or was built to be: found by running
// it alone. The transitions of the automaton in the network's file are read nowhere; only the names of its outputs are.
//
// Words up to a stated length define it, first those of a few letters, then twice as long ones. A learner asks the
// network, and its guess is held against the network on all words of a few letters, on random words, on words that go
// from every state it knows by a detour to what tells states apart, and on the powers of all short words, which let
// small errors add up. What disagrees within the length teaches it more. Then: where the reachable states of the
// network under the stated arithmetic are finitely many (simulate/prove/pairs/network_machine.h), the two are compared
// exactly, for words of every length; otherwise longer words of the same kinds show how far the network goes on as that
// automaton.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/constructions/network/network.h"
#include "krohn/simulate/arithmetic/arithmetic_name.h"

namespace krohn {

class ProvingPlace;

// The minimal Moore machine behind a source of answers, learned by asking:
// Angluin's observation table (1987) with the counterexamples of Rivest and Schapire (1993), for outputs of any number.

/// Writes answers[i], what is said after the whole of words[i]; answers.size() == words.size(). Many words come at
/// once, for machines that read many as fast as one. It has to say the same to the same word.
using AnswerOracle = std::function<void(std::span<const Word> words, std::span<Output> answers)>;

class AutomatonLearner {
 public:
  /// Asks about the empty word and every letter at once. Throws LimitError past `max_states`.
  AutomatonLearner(Letter letters, AnswerOracle oracle, std::uint64_t max_states);

  State states() const { return static_cast<State>(access_.size()); }
  /// A word that leads to the state, the empty one to state 0; and suffixes that tell all states apart.
  const Word& access(State state) const { return access_[state]; }
  std::span<const Word> suffixes() const { return suffixes_; }
  /// Words that the oracle was asked about.
  std::uint64_t questions() const { return questions_; }

  State next(State state, Letter letter) const { return table_[std::size_t{state} * letters_ + letter]; }
  State run(std::span<const Letter> word) const;
  Output output(State state) const { return rows_[state][0]; }

  /// The current hypothesis, as an automaton in which no two states are equivalent. `output_names` must cover the
  /// outputs.
  Dfa hypothesis(const Alphabet& alphabet, std::vector<std::string> output_names) const;

  /// `word`: the oracle's last output on it is not that of `run(word)`. Adds at least one state. O(log |word|)
  /// questions and those of a new column, states · letters. Throws LimitError past `max_states`.
  void refine(std::span<const Letter> word);

 private:
  using Row = std::vector<Output>;  ///< after an access word and each suffix

  std::vector<Output> ask(std::span<const Word> words);
  std::vector<Row> rows_of(std::span<const Word> words);
  Word successor(State state, Letter letter) const;
  State add_state(Word access, Row row);
  void close();

  Letter letters_;
  AnswerOracle oracle_;
  std::uint64_t max_states_;
  std::vector<Word> access_, suffixes_;
  std::vector<Row> rows_;            ///< of the states
  std::vector<Row> successor_rows_;  ///< of state · letter
  std::vector<State> table_;
  std::map<Row, State> state_of_row_;
  std::uint64_t questions_ = 0;
};

/// Calls heard(word, t, output) with what is said after the first t letters of words[word]: for each word in order,
/// from t = 0 to its end or until nothing more of it is wanted (false), and for different words from several threads,
/// the caller's among them. It has to say the same to the same word.
using Heard = std::function<bool(std::size_t word, std::size_t t, Output output)>;
using WordsOracle = std::function<void(std::span<const Word> words, const Heard& heard)>;

struct ExtractOptions {
  std::uint64_t length = 64;      ///< letters of the words that define the automaton
  std::uint64_t words = 2000;     ///< random words, and detours, that a guess must agree with
  std::uint64_t beyond = 10'000;  ///< letters of the words that try how far it holds; not beyond `length`: none
  std::uint64_t beyond_words = 16;
  std::uint64_t max_states = 250;
  std::uint64_t max_network_states = std::uint64_t{1} << 16;  ///< reachable ones, for the exact comparison
  std::uint64_t seed = 1;
  std::function<void(std::uint64_t)> progress;  ///< letters read so far; may throw Interrupted
  // The rest changes nothing that is found.
  std::uint64_t at_once = 0;            ///< words that are read side by side; 0: as many as suits
  unsigned threads = 0;                 ///< 0: all
  const ProvingPlace* place = nullptr;  ///< where models with operations are read; null: here
};

/// A word on which a machine says something else than the extracted automaton.
struct Disagreement {
  Word word;
  std::string machine, automaton;  ///< their outputs, by name
};

struct Extraction {
  Dfa automaton;  ///< minimal, in canonical numbering
  std::uint64_t length =
      0;                ///< words up to this length define it: `ExtractOptions::length`, or less where `limit` says why
  std::string limit{};  ///< that longer words tell more states apart than the limit, or that the time was over
  std::uint64_t questions = 0;  ///< words that the learner asked about
  std::uint64_t words = 0,
                letters = 0;    ///< read to test the last guess, up to `length`, where it was not compared exactly
  std::uint64_t all_up_to = 0;  ///< every word of at most so many letters begins one of them
  std::uint64_t refuted_guesses = 0;
  /// The network's reachable states, when they are finitely many and all were compared. Then `beyond` is a shortest
  /// word of all, and where there is none, network and automaton agree on words of every length.
  std::optional<std::uint64_t> network_states{};
  std::uint64_t beyond_words = 0, beyond_letters = 0;  ///< read to try longer words, when they are not
  std::optional<Disagreement> beyond{};                ///< the shortest that was found past `length`

  bool is_exact() const { return network_states && !beyond; }
};

/// Any machine that answers, over the letters of `alphabet`; `output_names` name its answers. `exact` is the same
/// machine as an automaton, where it is known as one. Throws LimitError when words of a few letters already tell more
/// than `max_states` states apart. A TimeLimit (groups/base/time_limit.h) that is over ends it with what is known by
/// then.
Extraction extract_by_asking(const Alphabet& alphabet, std::span<const std::string> output_names,
                             const WordsOracle& machine, const ExtractOptions& options, const Dfa* exact = nullptr);

/// The same automaton without the last output name, when no state has it.
Dfa without_last_output(const Dfa& dfa);

/// The network in that arithmetic. Its outputs are those of its automaton, and "no answer" where it gives none.
Extraction extract_automaton(const Network& network, ArithmeticName arithmetic, const ExtractOptions& options);

}  // namespace krohn
