#include "krohn/simulate/learned/learn_automaton.h"

#include <fmt/format.h>

#include <cassert>
#include <utility>

#include "krohn/groups/error.h"

namespace krohn {

AutomatonLearner::AutomatonLearner(Letter letters, OutputOracle oracle, std::uint64_t max_states)
    : letters_(letters), oracle_(std::move(oracle)), max_states_(max_states), suffixes_{Word{}} {
  add_state({}, row_of({}));
  close();
}

Output AutomatonLearner::ask(const Word& word) {
  answers_.resize(word.size() + 1);
  oracle_(word, answers_);
  ++questions_;
  return answers_.back();
}

AutomatonLearner::Row AutomatonLearner::row_of(const Word& word) {
  Row row;
  Word asked;
  for (const Word& suffix : suffixes_) {
    asked = word;
    asked.insert(asked.end(), suffix.begin(), suffix.end());
    row.push_back(ask(asked));
  }
  return row;
}

State AutomatonLearner::add_state(Word access, Row row) {
  if (access_.size() >= max_states_)
    throw LimitError(
        fmt::format("more than {} states were told apart: it follows no automaton of that size on words this long; "
                    "raise the limit, "
                    "or ask about shorter words",
                    max_states_));
  const State state = states();
  state_of_row_.emplace(row, state);
  access_.push_back(std::move(access));
  rows_.push_back(std::move(row));
  return state;
}

/// Fills in transitions until every successor's row is that of a state.
void AutomatonLearner::close() {
  for (State state = 0; state < states(); ++state)
    for (Letter letter = 0; letter < letters_; ++letter) {
      const std::size_t at = std::size_t{state} * letters_ + letter;
      if (at == successor_rows_.size()) {
        Word word = access_[state];
        word.push_back(letter);
        successor_rows_.push_back(row_of(word));
        table_.push_back(0);
      }
      const auto known = state_of_row_.find(successor_rows_[at]);
      if (known != state_of_row_.end()) {
        table_[at] = known->second;
        continue;
      }
      Word word = access_[state];
      word.push_back(letter);
      table_[at] = add_state(std::move(word), successor_rows_[at]);
    }
}

State AutomatonLearner::run(std::span<const Letter> word) const {
  State state = 0;
  for (const Letter letter : word) state = next(state, letter);
  return state;
}

Dfa AutomatonLearner::hypothesis(const Alphabet& alphabet, std::vector<std::string> output_names) const {
  std::vector<Output> outputs;
  for (const Row& row : rows_) outputs.push_back(row[0]);
  return Dfa::moore(alphabet, table_, 0, std::move(outputs), std::move(output_names));
}

void AutomatonLearner::refine(std::span<const Letter> word) {
  // What the oracle says when the first i letters are replaced by the access word of the state that they lead to. The
  // first answer is the oracle's, the last one ours; between two positions it changes.
  const auto answer = [&](std::size_t i) {
    Word asked = access_[run(word.first(i))];
    asked.insert(asked.end(), word.begin() + static_cast<std::ptrdiff_t>(i), word.end());
    return ask(asked);
  };
  std::size_t low = 0, high = word.size();
  const Output first = answer(low);
  assert(first != output(run(word)));
  while (high - low > 1) {
    const std::size_t middle = low + (high - low) / 2;
    (answer(middle) == first ? low : high) = middle;
  }
  const Word suffix(word.begin() + static_cast<std::ptrdiff_t>(high), word.end());
  suffixes_.push_back(suffix);
  const auto extend = [&](Row& row, Word asked) {
    asked.insert(asked.end(), suffix.begin(), suffix.end());
    row.push_back(ask(asked));
  };
  state_of_row_.clear();
  for (State state = 0; state < states(); ++state) {
    extend(rows_[state], access_[state]);
    state_of_row_.emplace(rows_[state], state);
    for (Letter letter = 0; letter < letters_; ++letter) {
      Word asked = access_[state];
      asked.push_back(letter);
      extend(successor_rows_[std::size_t{state} * letters_ + letter], std::move(asked));
    }
  }
  close();
}

}  // namespace krohn
