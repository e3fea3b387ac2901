// automata/formats/mealy.h — machines with an output on every arc, and how they are read as automata.
#pragma once

#include <string>
#include <vector>

#include "krohn/automata/dfa/dfa.h"

namespace krohn {

/// A complete deterministic Mealy machine. A value that cannot be invalid, as Dfa.
class Mealy {
 public:
  /// `table[q * inputs.size() + input]` is the target, `outputs[…]` of the same index the output of that arc.
  /// Throws InputError naming the first entry that is out of range. O(states · inputs).
  static Mealy machine(Alphabet inputs, std::vector<State> table, State initial, std::vector<Output> outputs,
                       std::vector<std::string> output_names, State states);

  const Alphabet& inputs() const { return inputs_; }
  State states() const { return states_; }
  State initial() const { return initial_; }
  State next(State state, Letter input) const { return table_[index(state, input)]; }
  Output output(State state, Letter input) const { return outputs_[index(state, input)]; }
  const std::vector<std::string>& output_names() const { return output_names_; }

  /// Empty, or one per state.
  const std::vector<std::string>& state_names() const { return state_names_; }
  /// Throws InputError unless empty or one name per state.
  Mealy with_state_names(std::vector<std::string> names) &&;

 private:
  Mealy() = default;
  std::size_t index(State state, Letter input) const { return std::size_t{state} * inputs_.size() + input; }
  Alphabet inputs_;
  std::vector<State> table_;
  std::vector<Output> outputs_;
  std::vector<std::string> output_names_;
  std::vector<std::string> state_names_;
  State states_ = 0;
  State initial_ = 0;
};

/// The Moore machine over the inputs whose output after a word is the last output symbol that the Mealy machine wrote.
/// Its states are the reachable pairs (state, last output), in breadth-first order. Before any input the output is
/// `initial_output`, which comes first among the output names unless the machine has an output of that name itself.
/// O(states · outputs · inputs).
Dfa to_moore(const Mealy& mealy, const std::string& initial_output = "-");

/// The Mealy machine that writes, on every arc, the output of the state that the arc enters. The output before any
/// input is lost. O(states · inputs).
Mealy to_mealy(const Dfa& dfa);

}  // namespace krohn
