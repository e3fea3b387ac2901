#include "krohn/simulate/tasks/task.h"

#include <fmt/format.h>

#include <algorithm>

#include "krohn/groups/base/error.h"
#include "krohn/simulate/words/word.h"

namespace krohn {

std::vector<TaskToken> Task::sample(std::uint64_t length, std::uint64_t seed, std::uint64_t index) const {
  std::vector<TaskToken> tokens;
  const auto stream = open(length, seed, index);
  while (const auto token = stream->next()) tokens.push_back(*token);
  return tokens;
}

void Task::draw(std::uint64_t length, std::uint64_t seed, std::uint64_t index, std::vector<Letter>& letters,
                std::vector<TaskLabel>& due) const {
  const auto stream = open(length, seed, index);
  while (const auto token = stream->next()) {
    letters.push_back(token->letter);
    due.push_back(token->target.value_or(kNoLabel));
  }
}

bool Task::has_length(std::uint64_t length) const {
  return length >= info().least_length && (length - info().least_length) % info().length_step == 0;
}

void Task::check_length(std::uint64_t length) const {
  if (has_length(length)) return;
  const std::string step =
      info().length_step == 1 ? "" : fmt::format(", {}, …", info().least_length + info().length_step);
  throw InputError(fmt::format("task {}: length {} ({}) is not possible; lengths are {}{} and up", info().name, length,
                               info().length_unit, info().least_length, step));
}

namespace {

/// Letters that stand at positions offset, offset + period, … of the input, made from consecutive letters of a word.
class Comb {
 public:
  Comb(std::uint64_t period, std::uint64_t offset) : period_(period), offset_(offset) {}

  /// Calls put(i, letter) for every tooth at position first + i, i < count.
  template <class Put>
  void fill(const RandomWord& word, std::uint64_t first, std::uint64_t count, Put put) const {
    std::uint64_t tooth = first <= offset_ ? 0 : (first - offset_ + period_ - 1) / period_;
    Letter buffer[kBuffer];
    while (tooth * period_ + offset_ < first + count) {
      const std::uint64_t left = (first + count - offset_ - tooth * period_ + period_ - 1) / period_;
      const std::uint64_t here = left < kBuffer ? left : kBuffer;
      word.fill(tooth, {buffer, here});
      for (std::uint64_t k = 0; k < here; ++k) put((tooth + k) * period_ + offset_ - first, buffer[k]);
      tooth += here;
    }
  }

 private:
  static constexpr std::uint64_t kBuffer = 1024;
  std::uint64_t period_, offset_;
};

class Uniform : public TaskContent {
 public:
  explicit Uniform(Letter letters) : letters_(letters) {}
  ContentPlan plan() const override { return {ContentPlan::Kind::kUniform, letters_, 1}; }
  void fill(std::uint64_t seed, std::uint64_t index, std::uint64_t first, std::span<Letter> out) const override {
    RandomWord(letters_, seed, index).fill(first, out);
  }
  bool may_stand(Letter letter, std::uint64_t) const override { return letter < letters_; }

 private:
  Letter letters_;
};

class Alternating : public TaskContent {
 public:
  explicit Alternating(Letter m) : m_(m) {}
  ContentPlan plan() const override { return {ContentPlan::Kind::kAlternating, m_, 2}; }
  void fill(std::uint64_t seed, std::uint64_t index, std::uint64_t first, std::span<Letter> out) const override {
    // Two streams for each sample, so that digits and operators are independent.
    const RandomWord digits(m_, seed, 2 * index), operators(3, seed, 2 * index + 1);
    Comb(2, 0).fill(digits, first, out.size(), [&](std::uint64_t i, Letter letter) { out[i] = letter; });
    Comb(2, 1).fill(operators, first, out.size(), [&](std::uint64_t i, Letter letter) { out[i] = m_ + letter; });
  }
  std::uint64_t period() const override { return 2; }
  bool may_stand(Letter letter, std::uint64_t position) const override {
    return position % 2 == 0 ? letter < m_ : letter >= m_ && letter < m_ + 3;
  }

 private:
  Letter m_;
};

class Spaced : public TaskContent {
 public:
  Spaced(Letter letters, std::uint64_t period) : letters_(letters), period_(period) {}
  ContentPlan plan() const override { return {ContentPlan::Kind::kSpaced, letters_, period_}; }
  void fill(std::uint64_t seed, std::uint64_t index, std::uint64_t first, std::span<Letter> out) const override {
    for (Letter& letter : out) letter = letters_;
    Comb(period_, period_ - 1)
        .fill(RandomWord(letters_, seed, index), first, out.size(),
              [&](std::uint64_t i, Letter letter) { out[i] = letter; });
  }
  std::uint64_t period() const override { return period_; }
  bool may_stand(Letter letter, std::uint64_t position) const override {
    return position % period_ == period_ - 1 ? letter < letters_ : letter == letters_;
  }

 private:
  Letter letters_;
  std::uint64_t period_;
};

}  // namespace

std::unique_ptr<TaskContent> uniform_content(Letter letters) { return std::make_unique<Uniform>(letters); }
std::unique_ptr<TaskContent> alternating_content(Letter m) { return std::make_unique<Alternating>(m); }
std::unique_ptr<TaskContent> spaced_content(Letter letters, std::uint64_t period) {
  return std::make_unique<Spaced>(letters, period);
}

std::uint64_t sample_length(const Task& task, const DatasetOptions& options, std::uint64_t index) {
  const TaskInfo& info = task.info();
  const auto [least, greatest] = options.lengths;
  const std::uint64_t step = info.length_step;
  const std::uint64_t first = least <= info.least_length
                                  ? info.least_length
                                  : info.least_length + (least - info.least_length + step - 1) / step * step;
  if (greatest < first)
    throw InputError(fmt::format("task {} has no length from {} to {}; lengths are {}{} and up", info.name, least,
                                 greatest, info.least_length,
                                 step == 1 ? "" : fmt::format(", {}, …", info.least_length + step)));
  const std::uint64_t choices = (greatest - first) / step + 1;
  if (choices == 1) return first;
  if (choices > UINT32_MAX) throw InputError("a range of lengths holds at most 2^32 − 1 of them");
  // A stream of its own, far from the samples' streams 0, 1, 2, ….
  constexpr std::uint64_t kLengthStream = UINT64_MAX;
  return first + step * RandomWord(static_cast<Letter>(choices), options.seed, kLengthStream).at(index);
}

TrainingBatch draw_batch(const Task& task, LengthRange lengths, std::uint64_t seed, std::uint64_t first_index,
                         std::uint32_t words) {
  constexpr std::uint64_t kMaxLetters = std::uint64_t{1} << 30;
  if (lengths.greatest > kMaxLetters / std::max(words, 1U))
    throw InputError(
        fmt::format("{} words of {} letters are more than the {} of a batch; take shorter words, or fewer at a time",
                    words, lengths.greatest, kMaxLetters));
  DatasetOptions options;
  options.lengths = lengths;
  options.seed = seed;
  std::vector<Letter> letters;    // of all samples
  std::vector<TaskLabel> labels;  // due there, or none
  std::vector<std::size_t> first;
  TrainingBatch batch;
  batch.words = words;
  first.reserve(words), batch.lengths.reserve(words);
  for (std::uint32_t word = 0; word < words; ++word) {
    const std::uint64_t index = first_index + word;
    first.push_back(letters.size());
    task.draw(sample_length(task, options, index), seed, index, letters, labels);
    batch.lengths.push_back(static_cast<std::uint32_t>(letters.size() - first.back()));
    batch.positions = std::max(batch.positions, batch.lengths.back());
  }
  batch.targets.reserve(letters.size());
  batch.letters.assign(std::size_t{batch.positions} * words, 0);
  for (std::uint32_t t = 0; t < batch.positions; ++t)
    for (std::uint32_t word = 0; word < words; ++word) {
      if (t >= batch.lengths[word]) continue;
      batch.letters[std::size_t{t} * words + word] = letters[first[word] + t];
      const TaskLabel label = labels[first[word] + t];
      if (label != Task::kNoLabel) batch.targets.push_back({t, word, label});
    }
  return batch;
}

}  // namespace krohn
