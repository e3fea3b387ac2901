#include "krohn/simulate/train/evaluate_model.h"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <numeric>
#include <optional>

#include "krohn/groups/base/float_environment.h"
#include "krohn/simulate/arithmetic/parallel_for.h"
#include "krohn/simulate/learned/model_operations.h"
#include "krohn/simulate/operations/operations_reader.h"

namespace krohn {
namespace {

/// Words that one reader reads side by side, and positions that it reads at once.
constexpr std::uint32_t kSideBySide = 32, kPositions = 64;

/// By a list of operations.
class ListedReader final : public ModelReader {
 public:
  ListedReader(std::shared_ptr<const OperationsReader> reader, std::uint32_t words)
      : reader_(std::move(reader)), words_(reader_->words(words)) {}

  void read(const TrainingBatch& batch, std::span<TaskLabel> answers) override {
    std::vector<Letter> letters(batch.letters.begin(), batch.letters.end());
    for (std::size_t i = 0; i < letters.size(); ++i)
      if (i / batch.words >= batch.lengths[i % batch.words]) letters[i] = 0;
    std::vector<char> asked(batch.positions, 0);
    for (const auto& target : batch.targets) asked[target.position] = 1;
    said_.resize(letters.size());
    words_->read(letters, asked, said_);
    for (std::size_t i = 0; i < batch.targets.size(); ++i)
      answers[i] = label_of(said_[std::size_t{batch.targets[i].position} * batch.words + batch.targets[i].word]);
  }

 private:
  static TaskLabel label_of(const LetterReader::Answer& answer) {
    if (answer.output != LetterReader::kNoAnswer) return answer.output;
    return answer.missing == LetterReader::Missing::kTie ? kNoAnswer : kNotFinite;
  }

  std::shared_ptr<const OperationsReader> reader_;
  std::unique_ptr<OperationsWords> words_;
  std::vector<LetterReader::Answer> said_;
};

/// Some words of a task, a batch of positions at a time.
class WordGroup {
 public:
  WordGroup(const Task& task, std::uint64_t length, std::uint64_t seed, std::uint64_t first, std::uint32_t words) {
    for (std::uint32_t word = 0; word < words; ++word) streams_.push_back(task.open(length, seed, first + word));
    batch_.words = words;
  }

  /// The next positions; none when every word has ended.
  const TrainingBatch& next() {
    const std::uint32_t words = batch_.words;
    batch_.positions = 0;
    batch_.targets.clear();
    batch_.lengths.assign(words, 0);
    batch_.letters.assign(std::size_t{kPositions} * words, 0);
    for (bool reading = true; reading && batch_.positions < kPositions; batch_.positions += reading) {
      reading = false;
      for (std::uint32_t word = 0; word < words; ++word) {
        const auto token = streams_[word] ? streams_[word]->next() : std::nullopt;
        if (!token) {
          streams_[word].reset();
          continue;
        }
        reading = true;
        ++batch_.lengths[word];
        batch_.letters[std::size_t{batch_.positions} * words + word] = token->letter;
        if (token->target) batch_.targets.push_back({batch_.positions, word, *token->target});
      }
    }
    batch_.letters.resize(std::size_t{batch_.positions} * words);
    return batch_;
  }
  const TrainingBatch& batch() const { return batch_; }

 private:
  std::vector<std::unique_ptr<SampleStream>> streams_;
  TrainingBatch batch_;
};

/// Adds the answers of one group to `result`; `progress` is told of the letters of every batch.
void read_group(WordGroup group, std::uint32_t words, ModelReader& reader, ModelAccuracy& result,
                const std::function<void(std::uint64_t)>& progress) {
  std::vector<std::uint64_t> wrong(words, 0);
  std::vector<TaskLabel> answers;
  while (group.next().positions > 0) {
    const TrainingBatch& batch = group.batch();
    answers.resize(batch.targets.size());
    reader.read(batch, answers);
    for (std::size_t i = 0; i < answers.size(); ++i) {
      const bool right = answers[i] == batch.targets[i].label;
      result.right += right;
      result.not_finite += answers[i] == ModelReader::kNotFinite;
      wrong[batch.targets[i].word] += !right;
    }
    result.targets += answers.size();
    progress(std::accumulate(batch.lengths.begin(), batch.lengths.end(), std::uint64_t{0}));
  }
  for (const std::uint64_t count : wrong) result.right_words += count == 0;
}

}  // namespace

ProportionInterval confidence(double share, std::uint64_t all) {
  if (all == 0) return {};
  const double z = 1.959963984540054, n = static_cast<double>(all);
  const double middle = (share + z * z / (2 * n)) / (1 + z * z / n);
  const double half = z / (1 + z * z / n) * std::sqrt(share * (1 - share) / n + z * z / (4 * n * n));
  return {std::clamp(middle - half, 0.0, share), std::clamp(middle + half, share, 1.0)};  // rounding aside
}

double scaled(double accuracy, double chance) { return chance < 1 ? (accuracy - chance) / (1 - chance) : accuracy; }

std::string reading_of(const SequenceModel<float>& model, bool rescaled) {
  const std::optional<LinearModel> view = rescaled ? model.linear_view() : std::nullopt;
  if (!view || !view->additions.empty()) return "as trained";
  return std::ranges::all_of(view->readout_bias, [&](float c) { return c == view->readout_bias[0]; })
             ? "rescaled, which changes answers by rounding and overflow alone"
             : "rescaled, another function than the trained model, whose read-out has a bias";
}

Operations operations_by_letters(const SequenceModel<float>& model, bool rescaled) {
  Operations operations = listed_model(model, Precision::kFp32, rescaled).operations;
  operations.tokens.resize(model.letters());
  std::iota(operations.tokens.begin(), operations.tokens.end(), 0U);
  return operations;
}

std::function<std::unique_ptr<ModelReader>(std::uint32_t words)> model_readers(const SequenceModel<float>& model,
                                                                               bool rescaled) {
  const std::shared_ptr<const OperationsReader> reader =
      operations_reader(operations_by_letters(model, rescaled), model.tensors());
  return [reader](std::uint32_t words) { return std::make_unique<ListedReader>(reader, words); };
}

ModelAccuracy evaluate_model(const SequenceModel<float>& model, const Task& task, std::uint64_t length,
                             const EvaluateModelOptions& options) {
  const FloatEnvironment environment;
  const auto make_reader = model_readers(model, options.rescaled);
  ModelAccuracy result{length, options.words, 0, 0, 0};
  std::atomic<std::uint64_t> done = 0;
  std::mutex mutex;
  parallel_for((options.words + kSideBySide - 1) / kSideBySide, options.threads, [&](std::size_t group) {
    const std::uint64_t first = group * kSideBySide;
    const auto words = static_cast<std::uint32_t>(std::min<std::uint64_t>(kSideBySide, options.words - first));
    ModelAccuracy part;
    read_group(WordGroup(task, length, options.seed, first, words), words, *make_reader(words), part,
               [&](std::uint64_t letters) {
                 done += letters;
                 if (options.progress && omp_get_thread_num() == 0) options.progress(done, options.words * length);
               });
    const std::lock_guard lock(mutex);
    result.right += part.right;
    result.targets += part.targets;
    result.right_words += part.right_words;
    result.not_finite += part.not_finite;
  });
  return result;
}

}  // namespace krohn
