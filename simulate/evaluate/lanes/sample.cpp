#include "krohn/simulate/evaluate/lanes/sample.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>
#include <variant>

#include "krohn/automata/operations/accepted_words.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/float_environment.h"
#include "krohn/simulate/arithmetic/parallel_for.h"
#include "krohn/simulate/evaluate/lanes/batch.h"
#include "krohn/simulate/words/random_letters.h"

namespace krohn {
namespace {

constexpr std::size_t kPiece = 256;       ///< letters of every word that are made at once, about
constexpr std::size_t kLeastTable = 128;  ///< vectors read small tables whole

bool output_is_right(const Dfa& automaton, State state, State answer) {
  return answer == state || (answer < automaton.states() && automaton.output(answer) == automaton.output(state));
}

}  // namespace

// KLanes random words, read by a network and by its automaton side by side.

/// How kLanes words of one seed fared so far. The words are RandomWord(letters, seed, first), and so on by their
/// streams; they are made on the way, and what is kept does not grow with them.
class LaneWords {
 public:
  /// The automaton must outlive this, and have a letter.
  LaneWords(const Dfa& automaton, std::unique_ptr<LaneEvaluator> network,
            std::optional<InstructionSet> instructions = {})
      : automaton_(automaton),
        network_(std::move(network)),
        kernels_(lane_kernels(instructions.value_or(available_instruction_sets().back()))),
        table_(automaton.table().begin(), automaton.table().end()),
        letters_per_block_(letters_per_block(automaton.letters())) {
    table_.resize(std::max(table_.size(), kLeastTable));
  }

  /// From the beginning, `words` ≤ kLanes words.
  void start(std::uint64_t seed, std::uint64_t first_stream, std::size_t words) {
    network_->reset();
    network_->current(answers_);
    states_.fill(automaton_.initial());
    words_.fill({});
    position_ = 0;
    for (std::size_t word = 0; word < kLanes; ++word) {
      // Lanes without a word read the first one once more.
      keys_[word] = random_key(seed, first_stream + (word < words ? word : 0));
      if (answers_[word] != states_[word]) words_[word].failing_at = 0;
    }
  }

  /// Reads on until `length` letters of every word are read, or `most` of them now.
  void read_to(std::uint64_t length, std::uint64_t most) {
    const std::uint64_t end = std::min(length, position_ + most);
    while (position_ < end) {
      const std::uint64_t block = position_ / letters_per_block_, skip = position_ % letters_per_block_;
      const std::uint64_t blocks = std::max<std::uint64_t>(1, kPiece / letters_per_block_);
      const auto count = static_cast<std::size_t>(std::min(blocks * letters_per_block_ - skip, end - position_));
      letters_.resize(blocks * letters_per_block_ * kLanes);
      read_.resize(letters_.size());
      kernels_.random_letters(keys_.data(), block, blocks, automaton_.letters(), letters_per_block_, letters_.data());
      const Letter* letters = letters_.data() + skip * kLanes;
      network_->run({letters, kLanes, kLanes}, count, read_);
      right_.fill(0);
      LaneComparison comparison;
      comparison.table = table_.data();
      comparison.letter_count = automaton_.letters();
      comparison.entries = static_cast<std::uint32_t>(table_.size());
      comparison.letters = letters;
      comparison.steps = count;
      comparison.answers = read_.data();
      comparison.states = states_.data();
      comparison.right = right_.data();
      comparison.differs = [](void* owner, std::size_t step, std::size_t word, std::uint32_t state,
                              std::uint32_t answer) {
        auto& self = *static_cast<LaneWords*>(owner);
        self.differs(self.position_ + step + 1, word, state, answer);
      };
      comparison.owner = this;
      kernels_.compare(comparison);
      for (std::size_t word = 0; word < kLanes; ++word) words_[word].right_letters += right_[word];
      std::copy_n(read_.data() + (count - 1) * kLanes, kLanes, answers_.begin());
      position_ += count;
    }
  }

  /// Letters read of every word.
  std::uint64_t position() const { return position_; }
  /// Adds one word, as far as it was read, to a row of a report.
  void add_to(LengthReport& report, std::size_t word) const {
    add_word(report, automaton_, {states_[word], answers_[word], position_, words_[word].right_letters});
  }

  /// After how many letters the network was first in another state than the automaton.
  std::optional<std::uint64_t> failing_at(std::size_t word) const { return words_[word].failing_at; }

 private:
  struct WordSoFar {
    std::uint64_t right_letters = 0;
    std::optional<std::uint64_t> failing_at;
  };

  void differs(std::uint64_t position, std::size_t word, State state, State answer) {
    if (!words_[word].failing_at) words_[word].failing_at = position;
    words_[word].right_letters += output_is_right(automaton_, state, answer);
  }

  const Dfa& automaton_;
  std::unique_ptr<LaneEvaluator> network_;
  LaneKernels kernels_;
  std::vector<std::int32_t> table_;
  std::uint32_t letters_per_block_;
  std::array<std::uint64_t, kLanes> keys_{};
  std::array<State, kLanes> states_{}, answers_{};
  std::array<std::uint32_t, kLanes> right_{};
  std::array<WordSoFar, kLanes> words_;
  std::vector<Letter> letters_;
  std::vector<State> read_;
  std::uint64_t position_ = 0;
};

void add_word(LengthReport& row, const Dfa& automaton, const ReadWord& word) {
  ++row.words;
  row.right_state += word.answer == word.state;
  row.right_output += output_is_right(automaton, word.state, word.answer);
  row.letters += word.letters;
  row.right_letters += word.right_letters;
}

struct AcceptedWordStream::Source {
  std::variant<ExactUniformWords, ScaledUniformWords> words;

  static Source of(const Dfa& dfa, std::uint64_t length) {
    constexpr std::uint64_t kExactBytes = 64'000'000;
    try {
      return {ExactUniformWords(dfa, length, kExactBytes)};
    } catch (const LimitError&) {
      return {ScaledUniformWords(dfa, length)};
    }
  }
};

AcceptedWordStream::AcceptedWordStream(const Dfa& dfa, std::uint64_t length, std::uint64_t words, std::uint64_t seed)
    : source_(std::make_unique<const Source>(Source::of(dfa, length))), words_(words), seed_(seed) {}

AcceptedWordStream::~AcceptedWordStream() = default;

bool AcceptedWordStream::next_word() {
  if (next_ == words_) return false;
  std::mt19937_64 random(random_key(seed_, next_++));
  word_ = std::visit([&](const auto& source) { return source.draw(random); }, source_->words);
  given_ = 0;
  return true;
}

std::size_t AcceptedWordStream::read(std::span<Letter> out) {
  const std::size_t count = std::min(out.size(), word_.size() - given_);
  std::copy_n(word_.begin() + static_cast<std::ptrdiff_t>(given_), count, out.begin());
  given_ += count;
  return count;
}

namespace {

constexpr std::size_t kBlock = 4096;
constexpr std::uint64_t kLettersPerReport = std::uint64_t{1} << 18;  ///< tens of milliseconds of a slow network
constexpr std::uint64_t kLeastWordsForLanes = 8;  ///< fewer words run faster one by one, on all threads

/// A network and the automaton reading the same word, and how often they agreed in it so far.
class SideBySide {
 public:
  SideBySide(const Dfa& automaton, std::unique_ptr<Evaluator> network)
      : automaton_(automaton), network_(std::move(network)) {}

  void start_word() {
    network_->reset();
    state_ = automaton_.initial();
    answer_ = network_->current().value_or(kNoState);
    position_ = right_letters_ = 0;
    failing_at_.reset();
    if (!state_is_right()) failing_at_ = 0;
  }

  /// At most kBlock letters.
  void read(std::span<const Letter> letters) {
    network_->run(letters, {states_.data(), letters.size()});
    for (std::size_t t = 0; t < letters.size(); ++t) {
      state_ = automaton_.next(state_, letters[t]);
      answer_ = states_[t];
      right_letters_ += output_is_right(automaton_, state_, answer_);
      if (!state_is_right() && !failing_at_) failing_at_ = position_ + t + 1;
    }
    position_ += letters.size();
  }

  /// Adds the word, as far as it was read, to a row of the report.
  void add_to(LengthReport& report) const {
    add_word(report, automaton_, {state_, answer_, position_, right_letters_});
  }

  std::uint64_t position() const { return position_; }
  std::optional<std::uint64_t> failing_at() const { return failing_at_; }

 private:
  bool state_is_right() const { return answer_ == state_; }

  const Dfa& automaton_;
  std::unique_ptr<Evaluator> network_;
  std::array<State, kBlock> states_{};
  State state_ = 0, answer_ = 0;
  std::uint64_t position_ = 0, right_letters_ = 0;
  std::optional<std::uint64_t> failing_at_;
};

void add(const LengthReport& row, LengthReport& sum) {
  sum.words += row.words;
  sum.right_state += row.right_state;
  sum.right_output += row.right_output;
  sum.letters += row.letters;
  sum.right_letters += row.right_letters;
}

/// The results that all threads write, under a lock.
class SharedReport {
 public:
  SharedReport(std::span<const std::uint64_t> lengths, std::uint64_t letters_in_all,
               const std::function<void(std::uint64_t, std::uint64_t)>& progress)
      : letters_in_all_(letters_in_all), progress_(progress) {
    for (const std::uint64_t length : lengths) report_.lengths.emplace_back().length = length;
  }

  /// False once the progress of any thread has thrown: the others then leave their words.
  bool told(std::uint64_t letters) {
    const std::lock_guard lock(mutex_);
    if (stopped_) return false;
    report_.letters += letters;
    stopped_ = true;  // and stays so when this throws
    if (progress_) progress_(report_.letters, letters_in_all_);
    stopped_ = false;
    return true;
  }

  void add_word(std::uint64_t word, std::optional<std::uint64_t> failing_at, std::span<const LengthReport> rows) {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < rows.size(); ++i) add(rows[i], report_.lengths[i]);
    if (failing_at) note_failure(report_, *failing_at, word);
  }

  const SampleReport& result() const { return report_; }

 private:
  SampleReport report_;
  std::uint64_t letters_in_all_;
  const std::function<void(std::uint64_t, std::uint64_t)>& progress_;
  std::mutex mutex_;
  bool stopped_ = false;
};

/// Reads one random word to the greatest length and reports it at every length on the way.
void sample_word(const RandomWord& word, std::uint64_t index, std::span<const std::uint64_t> lengths, SideBySide& both,
                 SharedReport& shared) {
  std::array<Letter, kBlock> block;
  std::vector<LengthReport> rows(lengths.size());
  std::uint64_t unreported = 0;
  both.start_word();
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    while (both.position() < lengths[i]) {
      const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(kBlock, lengths[i] - both.position()));
      word.fill(both.position(), {block.data(), count});
      both.read({block.data(), count});
      unreported += count;
      if (unreported >= kLettersPerReport && !shared.told(std::exchange(unreported, 0))) return;
    }
    both.add_to(rows[i]);
  }
  shared.told(unreported);
  shared.add_word(index, both.failing_at(), rows);
}

/// The same for up to kLanes words at once.
void sample_words(LaneWords& words, std::uint64_t seed, std::uint64_t first, std::size_t count,
                  std::span<const std::uint64_t> lengths, SharedReport& shared) {
  std::vector<std::vector<LengthReport>> rows(count, std::vector<LengthReport>(lengths.size()));
  words.start(seed, first, count);
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    while (words.position() < lengths[i]) {
      const std::uint64_t before = words.position();
      words.read_to(lengths[i], kLettersPerReport / count);
      if (!shared.told((words.position() - before) * count)) return;
    }
    for (std::size_t word = 0; word < count; ++word) words.add_to(rows[word][i], word);
  }
  for (std::size_t word = 0; word < count; ++word) shared.add_word(first + word, words.failing_at(word), rows[word]);
}

/// Reads one word of a stream to its end; returns its first letters, as many as are kept.
Word read_word(WordStream& words, SideBySide& both, const std::function<void(std::size_t)>& count_letters) {
  Word beginning;
  std::array<Letter, kBlock> block;
  both.start_word();
  for (std::size_t count; (count = words.read(block)) > 0;) {
    both.read({block.data(), count});
    const std::size_t kept = std::min<std::size_t>(count, kPrintableLength - beginning.size());
    beginning.insert(beginning.end(), block.begin(), block.begin() + static_cast<std::ptrdiff_t>(kept));
    count_letters(count);
  }
  return beginning;
}

}  // namespace

SampleReport sample(const Network& network, ArithmeticName arithmetic, const SampleOptions& options) {
  return sample_from(0, network, arithmetic, options);
}

std::vector<std::uint64_t> sample_lengths(const Network& network, const SampleOptions& options) {
  std::vector<std::uint64_t> lengths = options.lengths;
  std::sort(lengths.begin(), lengths.end());
  lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
  if (lengths.empty() || options.words == 0) throw InputError("sampling needs at least one length and one word");
  if (network.automaton.letters() == 0) throw InputError("sampling needs an alphabet of at least one letter");
  return lengths;
}

void note_failure(SampleReport& report, std::uint64_t at, std::uint64_t word) {
  if (report.failing_at && std::tie(*report.failing_at, *report.failing_word_index) <= std::tie(at, word)) return;
  report.failing_at = at;
  report.failing_word_index = word;
  report.failing_word.reset();
}

void keep_failing_word(SampleReport& report, Letter letters, std::uint64_t seed) {
  if (report.failing_at && *report.failing_at <= kPrintableLength)
    report.failing_word = RandomWord(letters, seed, *report.failing_word_index).slice(0, *report.failing_at);
}

void add_report(SampleReport& sum, const SampleReport& part) {
  for (std::size_t i = 0; i < sum.lengths.size(); ++i) add(part.lengths[i], sum.lengths[i]);
  sum.letters += part.letters;
  if (!part.failing_at) return;
  note_failure(sum, *part.failing_at, *part.failing_word_index);
  if (sum.failing_word_index == part.failing_word_index) sum.failing_word = part.failing_word;
}

SampleReport sample_from(std::uint64_t first, const Network& network, ArithmeticName arithmetic,
                         const SampleOptions& options) {
  const FloatEnvironment environment;
  const std::vector<std::uint64_t> lengths = sample_lengths(network, options);
  const Letter letters = network.automaton.letters();
  SharedReport shared(lengths, lengths.back() * options.words, options.progress);
  const bool one_by_one = options.words < kLeastWordsForLanes || !options.order.is_sequential();
  const std::unique_ptr<LaneEvaluator> lanes =
      one_by_one ? nullptr : make_lane_evaluator(network, arithmetic, {options.form, {}});
  if (lanes)
    parallel_workers((options.words + kLanes - 1) / kLanes, options.threads, [&] {
      return [&, words = std::make_shared<LaneWords>(network.automaton, lanes->fresh())](std::size_t block) {
        const std::uint64_t begin = block * kLanes;
        const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(kLanes, options.words - begin));
        sample_words(*words, options.seed, first + begin, count, lengths, shared);
      };
    });
  else
    parallel_workers(
        options.words, options.threads,
        [&, evaluator = std::shared_ptr(make_evaluator(network, arithmetic, options.form, options.order))] {
          return [&, both = std::make_shared<SideBySide>(network.automaton, evaluator->fresh())](std::size_t word) {
            sample_word(RandomWord(letters, options.seed, first + word), first + word, lengths, *both, shared);
          };
        });
  SampleReport report = shared.result();
  keep_failing_word(report, letters, options.seed);
  return report;
}

SampleReport sample_stream(const Network& network, ArithmeticName arithmetic, WordStream& words,
                           const SampleOptions& options) {
  const FloatEnvironment environment;
  SideBySide both(network.automaton, make_evaluator(network, arithmetic, options.form, options.order));
  SampleReport report;
  LengthReport& row = report.lengths.emplace_back();
  std::uint64_t unreported = 0;
  const auto count_letters = [&](std::size_t count) {
    report.letters += count;
    unreported += count;
    if (options.progress && unreported >= kLettersPerReport) options.progress(report.letters, 0);
    if (unreported >= kLettersPerReport) unreported = 0;
  };
  for (std::uint64_t index = 0; words.next_word(); ++index) {
    Word beginning = read_word(words, both, count_letters);
    both.add_to(row);
    row.length = std::max(row.length, both.position());
    const auto failing_at = both.failing_at();
    if (!failing_at || (report.failing_at && *report.failing_at <= *failing_at)) continue;
    report.failing_at = failing_at;
    report.failing_word_index = index;
    report.failing_word.reset();
    if (*failing_at > kPrintableLength) continue;
    beginning.resize(*failing_at);
    report.failing_word = std::move(beginning);
  }
  return report;
}

}  // namespace krohn
