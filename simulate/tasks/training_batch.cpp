#include "krohn/simulate/tasks/training_batch.h"

#include <fmt/format.h>

#include <algorithm>

#include "krohn/groups/base/error.h"
#include "krohn/simulate/tasks/task.h"

namespace krohn {

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
