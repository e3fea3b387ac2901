#include "krohn/automata/formats/formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "krohn/automata/formats/format_draft.h"
#include "krohn/groups/base/error.h"

namespace krohn {

Mealy Mealy::machine(Alphabet inputs, std::vector<State> table, State initial, std::vector<Output> outputs,
                     std::vector<std::string> output_names, State states) {
  if (states == 0) throw InputError("a Mealy machine needs at least one state");
  if (table.size() != std::size_t{states} * inputs.size() || outputs.size() != table.size())
    throw InputError(fmt::format("{} and {}; {} × {} inputs need {} of each", counted(table.size(), "target"),
                                 counted(outputs.size(), "output"), counted(states, "state"), inputs.size(),
                                 std::size_t{states} * inputs.size()));
  if (initial >= states) throw InputError(fmt::format("initial state {} is outside 0…{}", initial, states - 1));
  for (std::size_t i = 0; i < table.size(); ++i)
    if (table[i] >= states || outputs[i] >= output_names.size())
      throw InputError(fmt::format("state {} on input {} goes to state {} of {} with output {} of {}",
                                   i / inputs.size(), in_quotes(inputs.name(static_cast<Letter>(i % inputs.size()))),
                                   table[i], states, outputs[i], output_names.size()));
  Mealy mealy;
  mealy.inputs_ = std::move(inputs);
  mealy.table_ = std::move(table);
  mealy.outputs_ = std::move(outputs);
  mealy.output_names_ = std::move(output_names);
  mealy.states_ = states;
  mealy.initial_ = initial;
  return mealy;
}

Mealy Mealy::with_state_names(std::vector<std::string> names) && {
  if (!names.empty() && names.size() != states_)
    throw InputError(fmt::format("{} state names for {}", names.size(), counted(states_, "state")));
  state_names_ = std::move(names);
  return std::move(*this);
}

namespace {

/// A state of the Moore machine: where the Mealy machine is, and what it wrote last.
struct Reached {
  State state;
  Output last;
};

/// Numbers the pairs as they are first met.
class ReachedPairs {
 public:
  explicit ReachedPairs(std::size_t outputs) : outputs_(outputs) {}

  State intern(Reached pair) {
    const auto [entry, is_new] =
        numbers_.try_emplace(std::uint64_t{pair.state} * outputs_ + pair.last, static_cast<State>(pairs_.size()));
    if (is_new) pairs_.push_back(pair);
    return entry->second;
  }
  std::size_t size() const { return pairs_.size(); }
  Reached operator[](std::size_t number) const { return pairs_[number]; }

 private:
  std::size_t outputs_;
  std::vector<Reached> pairs_;
  std::unordered_map<std::uint64_t, State> numbers_;
};

/// "s3/RST": the state and what was written on entering it.
std::vector<std::string> pair_names(const Mealy& mealy, const ReachedPairs& pairs,
                                    const std::vector<std::string>& outputs) {
  std::vector<std::string> names;
  if (mealy.state_names().empty()) return names;
  for (std::size_t i = 0; i < pairs.size(); ++i)
    names.push_back(mealy.state_names()[pairs[i].state] + "/" + outputs[pairs[i].last]);
  return names;
}

}  // namespace

Dfa to_moore(const Mealy& mealy, const std::string& initial_output) {
  std::vector<std::string> names = mealy.output_names();
  auto own = std::find(names.begin(), names.end(), initial_output);
  const Output shift = own == names.end() ? 1 : 0;
  if (shift == 1) own = names.insert(names.begin(), initial_output);
  ReachedPairs pairs(names.size());
  pairs.intern({mealy.initial(), static_cast<Output>(own - names.begin())});
  std::vector<State> table;
  for (std::size_t i = 0; i < pairs.size(); ++i)
    for (Letter input = 0; input < mealy.inputs().size(); ++input) {
      const State from = pairs[i].state;
      table.push_back(pairs.intern({mealy.next(from, input), mealy.output(from, input) + shift}));
    }
  std::vector<Output> outputs(pairs.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) outputs[i] = pairs[i].last;
  auto state_names = pair_names(mealy, pairs, names);
  return Dfa::moore(mealy.inputs(), std::move(table), 0, std::move(outputs), std::move(names))
      .with_state_names(std::move(state_names));
}

Mealy to_mealy(const Dfa& dfa) {
  std::vector<Output> outputs;
  outputs.reserve(dfa.table().size());
  for (const State target : dfa.table()) outputs.push_back(dfa.output(target));
  return Mealy::machine(dfa.alphabet(), {dfa.table().begin(), dfa.table().end()}, dfa.initial(), std::move(outputs),
                        {dfa.output_names().begin(), dfa.output_names().end()}, dfa.states())
      .with_state_names({dfa.state_names().begin(), dfa.state_names().end()});
}

}  // namespace krohn
