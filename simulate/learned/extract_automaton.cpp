#include "krohn/simulate/learned/extract_automaton.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cassert>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "krohn/automata/operations/minimise.h"
#include "krohn/automata/operations/operations.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/float_environment.h"
#include "krohn/groups/base/random.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/simulate/arithmetic/parallel_for.h"
#include "krohn/simulate/evaluate/evaluate.h"
#include "krohn/simulate/prove/pairs/network_machine.h"
#include "krohn/simulate/run/letter_reader.h"
#include "krohn/simulate/words/word.h"

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
  // The oracle's answer when the first i letters are replaced by the access word of the state that they lead to. The
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

namespace {

constexpr std::uint64_t kMaxShortWords = 20'000;      ///< of one length, tried one by one
constexpr std::size_t kPiece = 256;                   ///< letters of a word between looks at whether to stop
constexpr std::uint64_t kMaxPowers = 2'000;           ///< words whose powers are tried
constexpr std::uint64_t kLongestDetour = 4;
constexpr std::uint64_t kPowerLetters = 4'000'000;  ///< of all powers past the length

/// The most letters that leave at most `most` words.
std::uint64_t letters_within(Letter letters, std::uint64_t most, std::uint64_t greatest) {
  std::uint64_t count = 0, words = 1;
  while (count < greatest && words * letters <= most) words *= letters, ++count;
  return letters == 0 ? 0 : count;
}

/// Calls `use` with each word of `length` letters.
template <class Use>
void for_each_word(Letter letters, std::uint64_t length, const Use& use) {
  Word word(length, 0);
  while (true) {
    use(word);
    std::size_t at = word.size();
    while (at > 0 && ++word[at - 1] == letters) word[--at] = 0;
    if (at == 0) return;
  }
}

enum class Wanted { kAnyDisagreement, kShortestDisagreement };

/// Holds the learner's guess against the machine: many words at once, and with what comes of them one after another.
class Comparison {
 public:
  Comparison(const WordsOracle& machine, const AutomatonLearner& guess, Wanted wanted, const ExtractOptions& options)
      : machine_(machine),
        guess_(guess),
        wanted_(wanted),
        options_(options),
        at_once_(wanted == Wanted::kAnyDisagreement ? kFirstWords : kMostWords) {}

  void read(Word word) {
    if (found_ && wanted_ == Wanted::kAnyDisagreement) return;
    waiting_letters_ += word.size();
    waiting_.push_back(std::move(word));
    if (waiting_.size() == (options_.at_once > 0 ? options_.at_once : at_once_) || waiting_letters_ >= kMostLetters)
      read_waiting();
  }

  /// Reads what still waits. Letters do not count past those of the shortest disagreement so far, or at all once any is
  /// enough.
  void read_waiting() {
    const std::vector<Word> words = std::exchange(waiting_, {});
    waiting_letters_ = 0;
    at_once_ = std::min(2 * at_once_, kMostWords);
    const auto counts_to = [&](const Word& word) {
      return found_ ? std::min(word.size(), found_->size() - 1) : word.size();
    };
    std::vector<std::size_t> wrong_at(words.size(), SIZE_MAX);
    std::vector<State> states(words.size(), 0);
    std::vector<std::atomic<std::size_t>> wanted_to(words.size());
    for (std::size_t i = 0; i < words.size(); ++i) wanted_to[i] = counts_to(words[i]);
    std::mutex mutex;
    machine_(words, [&](std::size_t i, std::size_t t, Output output) {
      if (t > 0) states[i] = guess_.next(states[i], words[i][t - 1]);
      if (output == guess_.output(states[i])) return t < wanted_to[i];
      wrong_at[i] = t;
      const std::lock_guard lock(mutex);
      const std::size_t enough = wanted_ == Wanted::kAnyDisagreement ? 0 : t - 1;
      for (std::size_t behind = i + 1; behind < words.size(); ++behind)
        wanted_to[behind] = std::min<std::size_t>(wanted_to[behind], enough);
      return false;
    });
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (found_ && wanted_ == Wanted::kAnyDisagreement) return;
      const std::size_t letters = counts_to(words[i]);
      ++words_;
      letters_ += letters;
      if (wrong_at[i] <= letters)
        found_ = Word(words[i].begin(), words[i].begin() + static_cast<std::ptrdiff_t>(wrong_at[i]));
    }
  }

  const std::optional<Word>& found() const { return found_; }
  std::uint64_t words() const { return words_; }
  std::uint64_t letters() const { return letters_; }

 private:
  /// At once: where any disagreement is enough few at first, since little of more would count.
  static constexpr std::size_t kFirstWords = 32, kMostWords = 4096, kMostLetters = std::size_t{1} << 23;

  const WordsOracle& machine_;
  const AutomatonLearner& guess_;
  Wanted wanted_;
  const ExtractOptions& options_;
  std::vector<Word> waiting_;
  std::size_t at_once_, waiting_letters_ = 0;
  std::optional<Word> found_;
  std::uint64_t words_ = 0, letters_ = 0;
};

/// Powers of the words of 1, 2, … letters while they are not too many, up to `length` letters each.
constexpr std::uint64_t kPolled = 1 << 16;  ///< letters made between two looks at the time

void read_powers(Comparison& comparison, Letter letters, std::uint64_t length, std::uint64_t most_letters) {
  const std::uint64_t powers = std::min(kMaxPowers, std::max<std::uint64_t>(letters, most_letters / (length + 1)));
  for (std::uint64_t base = 1; base <= letters_within(letters, powers, 6); ++base)
    for_each_word(letters, base, [&](const Word& word) {
      Word power;
      while (power.size() < length) {
        if (power.size() % kPolled == 0) TimeLimit::check();
        power.push_back(word[power.size() % base]);
      }
      comparison.read(std::move(power));
    });
}

void read_random_words(Comparison& comparison, Letter letters, std::uint64_t length, std::uint64_t words,
                       std::uint64_t seed) {
  for (std::uint64_t i = 0; i < words; ++i) comparison.read(RandomWord(letters, seed, i).slice(0, length));
}

/// From a known state by a few random letters to a suffix that tells states apart.
void read_detours(Comparison& comparison, const AutomatonLearner& guess, Letter letters,
                  const ExtractOptions& options) {
  Random random(options.seed);
  for (std::uint64_t i = 0; i < options.words; ++i) {
    Word word = guess.access(static_cast<State>(random.below(guess.states())));
    for (std::uint64_t left = random.below(kLongestDetour + 1); left > 0; --left)
      word.push_back(static_cast<Letter>(random.below(letters)));
    const Word& suffix = guess.suffixes()[random.below(guess.suffixes().size())];
    word.insert(word.end(), suffix.begin(), suffix.end());
    if (word.size() <= options.length) comparison.read(std::move(word));
  }
}

/// Everything that words up to the length have to say.
Comparison compare_within(const WordsOracle& machine, const AutomatonLearner& guess, Letter letters,
                          const ExtractOptions& options) {
  Comparison comparison(machine, guess, Wanted::kAnyDisagreement, options);
  for_each_word(letters, letters_within(letters, kMaxShortWords, options.length),
                [&](const Word& word) { comparison.read(word); });
  if (letters > 0) {
    read_powers(comparison, letters, options.length, kPowerLetters);
    read_random_words(comparison, letters, options.length, options.words, options.seed);
    read_detours(comparison, guess, letters, options);
  }
  comparison.read_waiting();
  return comparison;
}

/// The machine's answers after whole words.
AnswerOracle last_outputs(const WordsOracle& machine) {
  return [&machine](std::span<const Word> words, std::span<Output> answers) {
    machine(words, [&](std::size_t word, std::size_t, Output output) {
      answers[word] = output;
      return true;
    });
  };
}

/// The same machine, which looks at the time now and then and tells how many letters it has read.
WordsOracle watched(const WordsOracle& machine, const ExtractOptions& options) {
  const auto letters = std::make_shared<std::atomic<std::uint64_t>>(0);
  return [&machine, &options, letters](std::span<const Word> words, const Heard& heard) {
    const auto caller = std::this_thread::get_id();  // whose time it is
    std::atomic<bool> is_over = false;
    const auto look = [&] {
      try {
        Interruption::check(), TimeLimit::check();
        if (options.progress) options.progress(*letters);
      } catch (...) {
        is_over = true;
        throw;
      }
    };
    machine(words, [&](std::size_t word, std::size_t t, Output output) {
      if (t > 0 && (t % kPiece == 0 || t == words[word].size())) {
        *letters += (t - 1) % kPiece + 1;
        if (std::this_thread::get_id() == caller) look();
      }
      return !is_over && heard(word, t, output);
    });
  };
}

/// A learner beside the machine that it asks.
class Extractor {
 public:
  Extractor(const Alphabet& alphabet, std::span<const std::string> output_names, const WordsOracle& machine,
            const ExtractOptions& options, const Dfa* exact)
      : alphabet_(alphabet),
        names_(output_names.begin(), output_names.end()),
        machine_(watched(machine, options)),
        options_(options),
        exact_(exact),
        learner_(alphabet.size(), last_outputs(machine_), options.max_states) {}

  Extraction run() {
    Extraction extraction{learner_.hypothesis(alphabet_, names_)};
    ExtractOptions stage = options_;
    for (stage.length = std::min(kFirstLength, options_.length);; stage.length *= 2) {
      stage.length = std::min(stage.length, options_.length);
      const AutomatonLearner before = learner_;
      const std::uint64_t refuted = extraction.refuted_guesses;
      try {
        learn(stage, extraction);
      } catch (const LimitError& error) {
        if (extraction.length == 0) throw;
        learner_ = before;
        extraction.refuted_guesses = refuted;
        extraction.limit = fmt::format("on words of up to {}, {}", counted(stage.length, "letter"), error.what());
        break;
      }
      extraction.length = stage.length;
      if (stage.length == options_.length) break;
    }
    extraction.automaton = minimise(learner_.hypothesis(alphabet_, names_));
    extraction.questions = learner_.questions();
    try {
      look_beyond(extraction);
    } catch (const LimitError& error) {  // the time is over; what defines the automaton is there
      if (extraction.limit.empty()) extraction.limit = fmt::format("longer words were not all tried: {}", error.what());
    }
    return extraction;
  }

 private:
  static constexpr std::uint64_t kFirstLength = 8;

  /// Until nothing up to the length disagrees.
  void learn(const ExtractOptions& stage, Extraction& extraction) {
    while (true) {
      std::optional<Word> wrong;
      if (exact_ != nullptr) {
        wrong = distinguishing_word(learner_.hypothesis(alphabet_, names_), *exact_);
      } else {
        const Comparison comparison = compare_within(machine_, learner_, alphabet_.size(), stage);
        wrong = comparison.found();
        if (!wrong) extraction.words = comparison.words(), extraction.letters = comparison.letters();
      }
      if (!wrong || wrong->size() > stage.length) break;
      ++extraction.refuted_guesses;
      learner_.refine(*wrong);
    }
    if (exact_ == nullptr) extraction.all_up_to = letters_within(alphabet_.size(), kMaxShortWords, stage.length);
  }

  void look_beyond(Extraction& extraction) {
    std::optional<Word> wrong;
    if (exact_ != nullptr) {
      extraction.network_states = exact_->states();
      wrong = distinguishing_word(extraction.automaton, *exact_);
    } else if (options_.beyond > extraction.length && alphabet_.size() > 0) {
      Comparison farther(machine_, learner_, Wanted::kShortestDisagreement, options_);
      read_powers(farther, alphabet_.size(), options_.beyond, kPowerLetters);
      read_random_words(farther, alphabet_.size(), options_.beyond, options_.beyond_words, options_.seed + 1);
      farther.read_waiting();
      extraction.beyond_words = farther.words();
      extraction.beyond_letters = farther.letters();
      wrong = farther.found();
    }
    if (!wrong) return;
    Output said = 0;
    last_outputs(machine_)({&*wrong, 1}, {&said, 1});
    extraction.beyond = Disagreement{*wrong, names_[said], names_[learner_.output(learner_.run(*wrong))]};
  }

  const Alphabet& alphabet_;
  std::vector<std::string> names_;
  WordsOracle machine_;
  const ExtractOptions& options_;
  const Dfa* exact_;
  AutomatonLearner learner_;
};

}  // namespace

Extraction extract_by_asking(const Alphabet& alphabet, std::span<const std::string> output_names,
                             const WordsOracle& machine, const ExtractOptions& options, const Dfa* exact) {
  const FloatEnvironment environment;
  return Extractor(alphabet, output_names, machine, options, exact).run();
}

namespace {

/// The same automaton with the outputs of a network: states of its automaton become outputs, and what is no state
/// becomes the last one.
Dfa with_outputs(const Dfa& machine, const Dfa& named, const std::vector<std::string>& names) {
  std::vector<Output> outputs;
  for (const Output state : machine.outputs())
    outputs.push_back(state < named.states() ? named.output(state) : static_cast<Output>(names.size() - 1));
  return Dfa::moore(named.alphabet(), {machine.table().begin(), machine.table().end()}, machine.initial(),
                    std::move(outputs), names);
}

}  // namespace

Dfa without_last_output(const Dfa& dfa) {
  const auto last = static_cast<Output>(dfa.output_names().size() - 1);
  if (std::ranges::count(dfa.outputs(), last) > 0) return dfa;
  return Dfa::moore(dfa.alphabet(), {dfa.table().begin(), dfa.table().end()}, dfa.initial(),
                    {dfa.outputs().begin(), dfa.outputs().end()},
                    {dfa.output_names().begin(), dfa.output_names().end() - 1});
}

Extraction extract_automaton(const Network& network, ArithmeticName arithmetic, const ExtractOptions& options) {
  const FloatEnvironment environment;
  const Dfa& named = network.automaton;
  std::vector<std::string> names(named.output_names().begin(), named.output_names().end());
  const auto undecided = static_cast<Output>(names.size());
  names.emplace_back(kNoAnswerName);
  std::optional<Dfa> exact;
  if (!arithmetic.is_exact()) {
    NetworkAutomatonOptions reachable;
    reachable.max_states = options.max_network_states;
    reachable.max_transitions = options.max_network_states * std::max<std::uint64_t>(named.letters(), 1);
    reachable.progress = options.progress;
    if (const auto machine = network_automaton(network, arithmetic, Form::kStructured, reachable))
      exact = minimise(with_outputs(*machine, named, names));
  }
  const auto evaluator = make_evaluator(network, arithmetic);
  const auto output_of = [&](State state) { return state == kNoState ? undecided : named.output(state); };
  const WordsOracle ask = [&](std::span<const Word> words, const Heard& heard) {
    parallel_workers(words.size(), options.threads, [&]() -> Worker {
      const std::shared_ptr<Evaluator> own = evaluator->fresh();
      return [&, own, states = std::vector<State>(kPiece)](std::size_t i) mutable {
        const std::span<const Letter> word = words[i];
        own->reset();
        bool is_wanted = heard(i, 0, output_of(own->current().value_or(kNoState)));
        for (std::size_t t = 0; is_wanted && t < word.size(); ++t) {
          if (t % kPiece == 0) {
            const std::size_t letters = std::min(kPiece, word.size() - t);
            own->run(word.subspan(t, letters), std::span(states).first(letters));
          }
          is_wanted = heard(i, t + 1, output_of(states[t % kPiece]));
        }
      };
    });
  };
  Extraction extraction = extract_by_asking(named.alphabet(), names, ask, options, exact ? &*exact : nullptr);
  extraction.automaton = without_last_output(extraction.automaton);
  return extraction;
}

}  // namespace krohn
