#include "krohn/simulate/tasks/dataset.h"

#include <fmt/format.h>

#include "krohn/groups/error.h"
#include "krohn/simulate/words/word.h"

namespace krohn {

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

}  // namespace krohn
