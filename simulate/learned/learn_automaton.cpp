#include "krohn/simulate/learned/learn_automaton.h"

#include <fmt/format.h>

#include <cassert>
#include <utility>

#include "krohn/groups/error.h"

namespace krohn {

namespace {

Word joined(const Word& word, const Word& suffix) {
  Word both = word;
  both.insert(both.end(), suffix.begin(), suffix.end());
  return both;
}

}  // namespace

AutomatonLearner::AutomatonLearner(Letter letters, AnswerOracle oracle, std::uint64_t max_states)
    : letters_(letters), oracle_(std::move(oracle)), max_states_(max_states), suffixes_{Word{}} {
  add_state({}, rows_of(std::vector<Word>{Word{}}).front());
  close();
}

std::vector<Output> AutomatonLearner::ask(std::span<const Word> words) {
  std::vector<Output> answers(words.size());
  if (!words.empty()) oracle_(words, answers);
  questions_ += words.size();
  return answers;
}

std::vector<AutomatonLearner::Row> AutomatonLearner::rows_of(std::span<const Word> words) {
  std::vector<Word> asked;
  for (const Word& word : words)
    for (const Word& suffix : suffixes_) asked.push_back(joined(word, suffix));
  const std::vector<Output> answers = ask(asked);
  std::vector<Row> rows;
  for (auto row = answers.begin(); row != answers.end(); row += static_cast<std::ptrdiff_t>(suffixes_.size()))
    rows.emplace_back(row, row + static_cast<std::ptrdiff_t>(suffixes_.size()));
  return rows;
}

Word AutomatonLearner::successor(State state, Letter letter) const {
  Word word = access_[state];
  word.push_back(letter);
  return word;
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

/// Fills in transitions until every successor's row is that of a state. What the states known so far lead to is asked
/// about in one go.
void AutomatonLearner::close() {
  for (State state = 0; state < states();) {
    const State known = states();
    std::vector<Word> unknown;
    for (std::size_t at = successor_rows_.size(); at < std::size_t{known} * letters_; ++at)
      unknown.push_back(successor(static_cast<State>(at / letters_), static_cast<Letter>(at % letters_)));
    for (Row& row : rows_of(unknown)) successor_rows_.push_back(std::move(row));
    table_.resize(successor_rows_.size());
    for (; state < known; ++state)
      for (Letter letter = 0; letter < letters_; ++letter) {
        const std::size_t at = std::size_t{state} * letters_ + letter;
        const auto found = state_of_row_.find(successor_rows_[at]);
        table_[at] =
            found != state_of_row_.end() ? found->second : add_state(successor(state, letter), successor_rows_[at]);
      }
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
    const Word rest(word.begin() + static_cast<std::ptrdiff_t>(i), word.end());
    return ask(std::vector<Word>{joined(access_[run(word.first(i))], rest)}).front();
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
  std::vector<Word> column;
  for (const Word& access : access_) column.push_back(joined(access, suffix));
  for (State state = 0; state < states(); ++state)
    for (Letter letter = 0; letter < letters_; ++letter) column.push_back(joined(successor(state, letter), suffix));
  const std::vector<Output> answers = ask(column);
  state_of_row_.clear();
  for (State state = 0; state < states(); ++state) {
    rows_[state].push_back(answers[state]);
    state_of_row_.emplace(rows_[state], state);
  }
  for (std::size_t at = 0; at < successor_rows_.size(); ++at) successor_rows_[at].push_back(answers[states() + at]);
  close();
}

}  // namespace krohn
