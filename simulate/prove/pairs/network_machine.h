// simulate/prove/pairs/network_machine.h — a network in one arithmetic, whatever its numbers, and a machine of labels
// as machines that read letters (simulate/run/letter_reader.h): one search serves them all.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "krohn/automata/cascades/emulation.h"
#include "krohn/automata/dfa/dfa.h"
#include "krohn/constructions/network/network.h"
#include "krohn/simulate/arithmetic/arithmetic_name.h"
#include "krohn/simulate/evaluate/nearest_codeword.h"
#include "krohn/simulate/prove/pairs/pair_search.h"
#include "krohn/simulate/run/letter_reader.h"

namespace krohn {

/// The use of a network's reader.
enum class NetworkReading : std::uint8_t {
  kMargins,  ///< answers have margins, as the search for long failing words asks for them
  kPairs,    ///< a search of pairs: no margins, which may cost more than a letter
  kLabels,   ///< no margins, and the labels of all layers are remembered, for lists of pairs
};

/// The network letter after letter, snaps included. It remembers, of a network that snaps, how many letters ago it did;
/// the labels, of layers below the last, that the numbers do not determine (several code books, or a start that is not
/// labelled as it decodes); and the bit patterns of all numbers, −0 as +0. It answers with the state of the readout,
/// or, where `outputs` gives an output for each of these states, with that; with kNoAnswer where there is none. The
/// margin is how much farther the second nearest codeword is than the nearest, squared, least over the layers; 0 where
/// that would cost more than the letter itself. Used by one thread at a time; views the network, which must outlive it.
class NetworkReader : public LetterReader {
 public:
  /// With kLabels: the labels, the phase and the numbers of the memory.
  virtual void describe(const Memory& memory, ReachedPair& pair) const = 0;
  /// One action of layer k, whatever the memory: from and to numbers of the storage format, as doubles.
  virtual void move(std::size_t k, Action action, const std::vector<double>& from, std::vector<double>& to) const = 0;
  virtual std::span<const NearestCodeword> books(std::size_t k) const = 0;
};

/// Precondition: !arithmetic.is_exact().
std::unique_ptr<NetworkReader> network_reader(const Network& network, ArithmeticName arithmetic, Form form,
                                              NetworkReading reading = NetworkReading::kMargins,
                                              std::vector<Output> outputs = {});

/// The tuples of states of a label machine, a word each. It answers with the state of the readout. Views the machine;
/// used by one thread at a time.
class LabelReader : public LetterReader {
 public:
  LabelReader(const LabelMachine& machine, Letter letters) : machine_(machine), letters_(letters) {}

  Letter letters() const override { return letters_; }
  Memory start() const override;
  Answer answer_at_start() const override { return {decoded(machine_, start()).value_or(kNoAnswer)}; }
  Answer step(Letter letter, Memory& memory, bool asked) const override;

 private:
  const LabelMachine& machine_;
  Letter letters_;
  mutable Memory from_;
};

// The finite automaton that a network is, when its reachable states are
// finitely many: found by evaluation alone, and then as fast to run as any automaton.

struct NetworkAutomatonOptions {
  std::uint64_t max_states = std::uint64_t{1} << 20;
  std::uint64_t max_transitions = std::uint64_t{1} << 24;  ///< states · letters, each one evaluated letter
  std::function<void(std::uint64_t)> progress;             ///< transitions so far; may throw Interrupted
};

/// The states that words lead the network to under the stated arithmetic, letter after letter: all numbers of all
/// layers bit for bit (−0 as +0), the labels that they showed and, of a network that snaps, the letters since it last
/// did. A state's transitions are what one step of the
/// network does to it, so the machine and the network agree on every word, letter by letter, whatever the automaton in
/// the network's file says: that is read nowhere. Output q < n: the readout gives state q of the automaton with n
/// states; output n: it gives none. Nothing when a limit is met. O(states · letters · cost of one step).
std::optional<Dfa> network_automaton(const Network& network, ArithmeticName arithmetic, Form form,
                                     const NetworkAutomatonOptions& options = {});

/// Every state of the network's automaton is asked for.
TrackedAutomaton every_state(const Dfa& automaton);

}  // namespace krohn
