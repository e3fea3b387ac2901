#include "krohn/gpu/training/device_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "krohn/gpu/device/device.h"
#include "krohn/gpu/operations/operation_words.h"
#include "krohn/gpu/training/linear_model_words.cuh"
#include "krohn/groups/base/float_environment.h"
#include "krohn/simulate/arithmetic/parallel_for.h"
#include "krohn/simulate/learned/model_operations.h"
#include "krohn/simulate/operations/stated_lists.h"
#include "krohn/simulate/tasks/tasks.h"

namespace krohn {
namespace {

constexpr std::size_t kSharedBytes = 48 * 1024;  ///< of a block, granted by every device without asking
/// Numbers of a letter's matrix. A block reads it for one word here, and by operations for all its words: the
/// first-level cache holds some of this size. A judgement, which no device has confirmed yet.
constexpr std::uint64_t kMaxMatrix = std::uint64_t{1} << 14;
/// Products between two looks at the clock and the user: about a tenth of a second of a device.
constexpr std::uint64_t kProductsAtOnce = std::uint64_t{1} << 36;
constexpr std::uint64_t kMaxWordsAtOnce = std::uint64_t{1} << 16, kStateNumbersAtOnce = std::uint64_t{1} << 28;

/// Matrices one after another, each column by column.
std::vector<float> by_columns(const std::vector<float>& numbers, std::size_t rows, std::size_t columns) {
  std::vector<float> turned(numbers.size());
  for (std::size_t at = 0; at < numbers.size(); at += rows * columns)
    transpose(numbers.data() + at, rows, columns, turned.data() + at, rows);
  return turned;
}

class LinearEvaluation {
 public:
  LinearEvaluation(Place place, const LinearModel& view, const SamplePlan& plan, const EvaluateModelOptions& options)
      : place_(place),
        options_(options),
        matrices_(place, by_columns(view.matrices, view.hidden, view.block)),
        additions_(place, view.additions),
        initial_(place, view.initial),
        readout_(place, by_columns(view.readout, view.labels, view.hidden)),
        bias_(place, view.readout_bias),
        before_(place, plan.before),
        after_(place, plan.after),
        next_(place, plan.oracle->table()),
        outputs_(place, plan.oracle->outputs()) {
    job_.view = {view.hidden,       view.block,      view.labels,     matrices_.data(),
                 additions_.data(), initial_.data(), readout_.data(), bias_.data()};
    job_.plan = {plan.letters,
                 before_.data(),
                 after_.data(),
                 plan.before.size(),
                 plan.content,
                 plan.after.size(),
                 plan.place == TargetPlace::kEveryPosition,
                 next_.data(),
                 outputs_.data(),
                 plan.oracle->letters(),
                 plan.oracle->initial(),
                 options.seed};
  }

  ModelAccuracy run(std::uint64_t length) {
    ModelAccuracy result{length, options_.words, 0, 0, 0};
    const std::uint64_t at_once =
        std::clamp<std::uint64_t>(kStateNumbersAtOnce / job_.view.hidden, 1, std::min(kMaxWordsAtOnce, options_.words));
    Buffer<float> states(place_, at_once * job_.view.hidden);
    Buffer<LinearRecord> records(place_, at_once);
    job_.states = states.data();
    job_.records = records.data();
    for (job_.first_word = 0; job_.first_word < options_.words; job_.first_word += at_once) {
      const std::uint64_t words = std::min(at_once, options_.words - job_.first_word);
      read_words(words, records);
      std::vector<LinearRecord> ends(words);
      records.read(ends);
      for (const LinearRecord& end : ends) {
        result.right += end.right;
        result.targets += end.targets;
        result.right_words += end.right == end.targets;
      }
    }
    return result;
  }

 private:
  void read_words(std::uint64_t words, const Buffer<LinearRecord>& records) {
    const std::uint64_t tokens = job_.plan.tokens();
    const std::uint64_t products = std::uint64_t{job_.view.hidden} * (job_.view.block + job_.view.labels) * words;
    const std::uint64_t at_once = std::max<std::uint64_t>(kProductsAtOnce / std::max<std::uint64_t>(products, 1), 1);
    for (job_.begin = 0; job_.begin < tokens; job_.begin = job_.end) {
      job_.end = std::min(job_.begin + at_once, tokens);
      read(words);
      LinearRecord first;
      records.read({&first, 1});  // waits, so that progress is not told in advance
      if (options_.progress) options_.progress(job_.first_word * tokens + job_.end * words, options_.words * tokens);
    }
  }

  void read(std::uint64_t words) const {
#ifdef KROHN_WITH_CUDA
    if (place_ == Place::kDevice) return cuda_read_linear_words(job_, words);
#endif
    constexpr std::uint32_t kThreads = 3;
    std::vector<std::uint32_t> shared(LinearMemory::bytes(job_.view) / sizeof(std::uint32_t));
    for (std::uint64_t word = 0; word < words; ++word)
      job_.read_word(HostThreads{kThreads}, LinearMemory(job_.view, shared.data()), word);
  }

  Place place_;
  const EvaluateModelOptions& options_;
  Buffer<float> matrices_, additions_, initial_, readout_, bias_;
  Buffer<std::uint32_t> before_, after_, next_, outputs_;
  LinearWords job_;
};

/// The model as one linear layer, in the numbers of its list of operations, where it is bilinear.
std::optional<LinearModel> listed_view(const SequenceModel<float>& model) {
  std::optional<LinearModel> view = model.linear_view();
  if (!view) return view;
  const ListedModel listed = listed_model(model, Precision::kFp32);
  if (!listed.added) return std::nullopt;
  StatedLists<float> lists(listed.operations, model.tensors());
  for (Letter letter = 0; letter < view->letters; ++letter) {
    lists.read_token(letter);
    const auto copy = [&](std::uint32_t list, std::vector<float>& to) {
      const std::vector<float>& numbers = lists.values(list);
      if (!to.empty()) std::ranges::copy(numbers, to.begin() + static_cast<std::ptrdiff_t>(letter * numbers.size()));
    };
    copy(listed.list, view->matrices);
    copy(*listed.added, view->additions);
  }
  return view;
}

/// By its operations.
ModelAccuracy evaluate_listed(Place place, const SequenceModel<float>& model, const SamplePlan& plan,
                              std::uint64_t length, const EvaluateModelOptions& options) {
  const Dfa& oracle = *plan.oracle;
  const DrawnTokens tokens{plan, &oracle, {oracle.outputs().begin(), oracle.outputs().end()}, options.seed};
  const WordCounts counts =
      count_answers(place, operations_by_letters(model, options.rescaled), model.tensors(), tokens, options.words,
                    plan.before.size() + plan.content + plan.after.size(), options.progress);
  return {length, options.words, counts.right, counts.due, counts.right_words};
}

}  // namespace

ModelAccuracy evaluate_words(Place place, const SequenceModel<float>& model, const Task& task, std::uint64_t length,
                             const EvaluateModelOptions& options) {
  const FloatEnvironment environment;
  const std::optional<SamplePlan> plan = sample_plan(task, length);
  if (!plan)
    throw NotOnDevice(
        fmt::format("the task {} has no finite automaton, beside which devices read its samples; take "
                    "--device cpu",
                    task.info().name));
  const std::optional<LinearModel> view = options.rescaled ? std::nullopt : listed_view(model);
  if (!view || std::uint64_t{view->hidden} * view->block > kMaxMatrix ||
      LinearMemory::bytes({view->hidden, view->block, view->labels}) > kSharedBytes)
    return evaluate_listed(place, model, *plan, length, options);
  return LinearEvaluation(place, *view, *plan, options).run(length);
}

}  // namespace krohn
