#include "krohn/simulate/evaluate/lanes/sample.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <tuple>
#include <utility>

#include "krohn/groups/error.h"
#include "krohn/groups/float_environment.h"
#include "krohn/simulate/arithmetic/parallel_for.h"
#include "krohn/simulate/evaluate/lanes/lane_words.h"

namespace krohn {
namespace {

constexpr std::size_t kBlock = 4096;
constexpr std::uint64_t kLettersPerReport = std::uint64_t{1} << 22;
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
      right_letters_ += output_is_right();
      if (!state_is_right() && !failing_at_) failing_at_ = position_ + t + 1;
    }
    position_ += letters.size();
  }

  /// Adds the word, as far as it was read, to a row of the report.
  void add_to(LengthReport& report) const {
    ++report.words;
    report.right_state += state_is_right();
    report.right_output += output_is_right();
    report.letters += position_;
    report.right_letters += right_letters_;
  }

  std::uint64_t position() const { return position_; }
  std::optional<std::uint64_t> failing_at() const { return failing_at_; }

 private:
  bool state_is_right() const { return answer_ == state_; }
  bool output_is_right() const {
    return state_is_right() || (answer_ != kNoState && automaton_.output(answer_) == automaton_.output(state_));
  }

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

/// Whether a failure at letter `at` of a word is to be reported rather than the one that is.
bool comes_first(std::uint64_t at, std::uint64_t word, const SampleReport& report) {
  return !report.failing_at || std::tie(at, word) < std::tie(*report.failing_at, *report.failing_word_index);
}

/// What all threads write to, under a lock.
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
    if (!failing_at || !comes_first(*failing_at, word, report_)) return;
    report_.failing_at = failing_at;
    report_.failing_word_index = word;
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

std::vector<std::uint64_t> increasing(std::vector<std::uint64_t> lengths) {
  std::sort(lengths.begin(), lengths.end());
  lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
  return lengths;
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

void add_report(SampleReport& sum, const SampleReport& part) {
  for (std::size_t i = 0; i < sum.lengths.size(); ++i) add(part.lengths[i], sum.lengths[i]);
  sum.letters += part.letters;
  if (!part.failing_at || !comes_first(*part.failing_at, *part.failing_word_index, sum)) return;
  sum.failing_at = part.failing_at;
  sum.failing_word_index = part.failing_word_index;
  sum.failing_word = part.failing_word;
}

SampleReport sample_from(std::uint64_t first, const Network& network, ArithmeticName arithmetic,
                         const SampleOptions& options) {
  const FloatEnvironment environment;
  const std::vector<std::uint64_t> lengths = increasing(options.lengths);
  if (lengths.empty() || options.words == 0) throw InputError("sampling needs at least one length and one word");
  if (network.automaton.letters() == 0) throw InputError("sampling needs an alphabet of at least one letter");
  const Letter letters = network.automaton.letters();
  SharedReport shared(lengths, lengths.back() * options.words, options.progress);
  const bool one_by_one = options.words < kLeastWordsForLanes || !options.order.is_sequential();
  const std::unique_ptr<LaneEvaluator> lanes =
      one_by_one ? nullptr : make_lane_evaluator(network, arithmetic, {options.form, {}});
  if (lanes && lanes->is_vectorised())
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
  if (report.failing_at && *report.failing_at <= kPrintableLength)
    report.failing_word = RandomWord(letters, options.seed, *report.failing_word_index).slice(0, *report.failing_at);
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
