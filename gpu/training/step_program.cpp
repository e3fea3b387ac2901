#include "krohn/gpu/training/step_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "krohn/groups/base/error.h"

namespace krohn {
namespace {

static_assert(sizeof(DeviceTarget) == 4 * sizeof(std::uint32_t));

std::uint32_t rows_of(const TrainingBatch& batch) {
  return std::accumulate(batch.lengths.begin(), batch.lengths.end(), 0U);
}

/// Cuts a list of 32-bit words into pieces; the same way for its writer and for its readers.
template <class Word>
class Pieces {
 public:
  explicit Pieces(Word* next) : next_(next) {}
  Word* take(std::uint64_t words) { return std::exchange(next_, next_ + words); }

 private:
  Word* next_;
};

/// The lists of BatchRows, of a writer or a reader.
template <class Word>
struct Lists {
  Word *targets, *rows, *target_counts, *rates, *kept, *epsilons, *first, *letter, *word_of, *readers, *first_reader;

  Lists(Word* begin, const BatchRows& by) {
    Pieces<Word> pieces(begin);
    const std::uint64_t models = by.models;
    targets = pieces.take(models * by.most_targets * 4);  // first, for its alignment
    rows = pieces.take(models);
    target_counts = pieces.take(models);
    rates = pieces.take(models);
    kept = pieces.take(models);
    epsilons = pieces.take(models);
    first = pieces.take(models * (by.words + 1));
    letter = pieces.take(models * by.most_rows);
    word_of = pieces.take(models * by.most_rows);
    readers = pieces.take(models * by.most_rows);
    first_reader = pieces.take(models * (by.letters + 1));
  }
};

std::uint64_t words_of(const BatchRows& by) {
  return std::uint64_t{by.models} *
         (4 * std::uint64_t{by.most_targets} + 5 + by.words + 1 + 3 * std::uint64_t{by.most_rows} + by.letters + 1);
}

void write_model(const ModelStep& step, std::uint32_t m, const BatchRows& by, const Lists<std::uint32_t>& to) {
  const TrainingBatch& batch = step.batch;
  to.rows[m] = rows_of(batch);
  to.target_counts[m] = static_cast<std::uint32_t>(batch.targets.size());
  to.rates[m] = std::bit_cast<std::uint32_t>(step.rate);
  to.kept[m] = std::bit_cast<std::uint32_t>(step.kept);
  to.epsilons[m] = std::bit_cast<std::uint32_t>(step.epsilon);
  std::uint32_t* const first = to.first + std::uint64_t{m} * (by.words + 1);
  std::uint32_t* const letter = to.letter + std::uint64_t{m} * by.most_rows;
  std::uint32_t* const word_of = to.word_of + std::uint64_t{m} * by.most_rows;
  std::vector<std::uint32_t> counts(by.letters + 1, 0);
  std::uint32_t row = 0;
  for (std::uint32_t word = 0; word < by.words; ++word) {
    first[word] = row;
    for (std::uint32_t t = 0; t < batch.lengths[word]; ++t, ++row) {
      letter[row] = batch.letters[std::size_t{t} * batch.words + word];
      word_of[row] = word;
      ++counts[letter[row] + 1];
    }
  }
  first[by.words] = row;
  std::partial_sum(counts.begin(), counts.end(), counts.begin());
  std::ranges::copy(counts, to.first_reader + std::uint64_t{m} * (by.letters + 1));
  for (std::uint32_t i = 0; i < row; ++i) to.readers[std::uint64_t{m} * by.most_rows + counts[letter[i]]++] = i;
  std::uint32_t* target = to.targets + std::uint64_t{m} * by.most_targets * 4;
  for (const TrainingBatch::Target& from : batch.targets) {
    *target++ = first[from.word] + from.position;
    *target++ = from.word;
    *target++ = from.label;
    *target++ = std::bit_cast<std::uint32_t>(from.smoothing);
  }
}

}  // namespace

BatchQueue::BatchQueue(Place place, std::uint32_t models, std::uint32_t words, std::uint32_t letters,
                       std::uint32_t most_rows, std::uint32_t most_targets)
    : rows_{.models = models, .words = words, .letters = letters, .most_rows = most_rows, .most_targets = most_targets},
      queue_(place, words_of(rows_)) {
  const Lists<const std::uint32_t> lists(queue_.data(), rows_);
  rows_.rows = lists.rows;
  rows_.target_counts = lists.target_counts;
  rows_.rates = reinterpret_cast<const float*>(lists.rates);
  rows_.kept = reinterpret_cast<const float*>(lists.kept);
  rows_.epsilons = reinterpret_cast<const float*>(lists.epsilons);
  rows_.first = lists.first;
  rows_.letter = lists.letter;
  rows_.word_of = lists.word_of;
  rows_.readers = lists.readers;
  rows_.first_reader = lists.first_reader;
  rows_.targets = reinterpret_cast<const DeviceTarget*>(lists.targets);
}

bool BatchQueue::fits(std::span<const ModelStep> steps) const {
  return std::ranges::all_of(steps, [&](const ModelStep& step) {
    return rows_of(step.batch) <= rows_.most_rows && step.batch.targets.size() <= rows_.most_targets;
  });
}

void BatchQueue::send(std::span<const ModelStep> steps) {
  const Lists<std::uint32_t> lists(queue_.next().data(), rows_);
#pragma omp parallel for
  for (std::uint32_t m = 0; m < rows_.models; ++m) write_model(steps[m], m, rows_, lists);
  queue_.send();
}

void require_one_each(std::span<const ModelStep> steps, std::uint32_t models, std::uint32_t words) {
  if (steps.size() != models) throw InputError("a step needs one batch for every model");
  for (const ModelStep& step : steps)
    if (step.batch.words != words) throw InputError("a step's batches need the words that it was made for");
}

BatchRoom room_for(std::span<const ModelStep> steps) {
  BatchRoom room;
  for (const ModelStep& step : steps) {
    room.rows = std::max(room.rows, rows_of(step.batch));
    room.targets = std::max(room.targets, static_cast<std::uint32_t>(step.batch.targets.size()));
  }
  // An eighth more, in multiples of 64: lengths are drawn anew at every step.
  const auto rounded = [](std::uint32_t count) { return (count + count / 8 + 63) / 64 * 64; };
  return {rounded(room.rows), rounded(room.targets)};
}

StepProgram::StepProgram(Place place, const BatchRows& batch, const std::vector<ParameterPart>& parts, float* values,
                         float* gradient, double* losses)
    : place_(place), batch_(batch), values_(values), gradient_(gradient), losses_(losses), graph_(place) {
  for (const ParameterPart& part : parts) {
    std::uint64_t size = 1;
    for (const std::uint64_t extent : part.shape) size *= extent;
    parts_.push_back({part.name, parameters_, size});
    parameters_ += size;
  }
}

Weights StepProgram::weights(const std::string& name, std::uint64_t rows, std::uint64_t columns) {
  const auto found = std::ranges::find(parts_, name, &KnownPart::name);
  if (found == parts_.end() || found->size != rows * columns)
    throw Error(fmt::format("the tensor \"{}\" of a model is not {}×{}, as its training on a device takes it", name,
                            rows, columns));
  found->taken = true;
  const auto row = static_cast<std::uint32_t>(columns);
  return {{values_ + found->begin, parameters_, row},
          {gradient_ + found->begin, parameters_, row},
          static_cast<std::uint32_t>(rows),
          row};
}

void StepProgram::require_all_known() const {
  for (const KnownPart& part : parts_)
    if (!part.taken && part.size > 0)
      throw Error(fmt::format("models with a tensor \"{}\" are not trained on a device; take --device cpu", part.name));
}

Table StepProgram::table(RowCount rows, std::uint32_t columns) {
  const std::uint64_t model = rows.room() * columns;
  return {numbers(batch_.models * model), model, columns};
}

/// Parts of a product are added before the next product writes its own, so all share one list.
float* StepProgram::scratch(std::uint64_t count) {
  if (count > scratch_size_) {
    scratch_ = numbers(count);
    scratch_size_ = count;
  }
  return scratch_;
}

Table StepProgram::linear(Table x, RowCount rows, const Weights& by) {
  const Table y = table(rows, by.columns);
  linear(x, rows, by, y, nullptr);
  return y;
}

void StepProgram::linear(Table x, RowCount rows, const Weights& by, Table y, const Weights* bias, Table addend,
                         const Source& source) {
  ProductJob job;
  job.models = batch_.models;
  job.columns = by.columns;
  job.rows = rows;
  job.depth = {by.rows, nullptr};
  job.a = x;
  job.b = by.value;
  job.c = y;
  if (bias != nullptr) {
    job.bias = bias->value.at;
    job.bias_model = bias->value.model;
  }
  job.addend = addend;
  job.source = source;
  teams(job);
}

void StepProgram::linear_by_weights(Table x, RowCount rows, const Weights& of, Table by_y) {
  ProductJob job;
  job.models = batch_.models;
  job.columns = of.columns;
  job.rows = {of.rows, nullptr};
  job.depth = rows;
  job.a = x;
  job.a_across = true;
  job.b = by_y;
  job.c = of.by;
  if (rows.room() <= kSumPart) return teams(job);
  job.in_parts = true;
  const std::uint64_t model = std::uint64_t{job.parts()} * of.rows * of.columns;
  job.c = {scratch(batch_.models * model), model, of.columns};
  teams(job);
  add_parts({batch_.models, of.rows, of.columns, rows, job.c, of.by});
}

void StepProgram::linear_adjoint(RowCount rows, const Weights& of, Table by_y, Table by_x, bool add) {
  ProductJob job;
  job.models = batch_.models;
  job.columns = of.rows;
  job.rows = rows;
  job.depth = {of.columns, nullptr};
  job.a = by_y;
  job.b = of.value;
  job.b_across = true;
  job.c = by_x;
  job.add = add;
  teams(job);
}

RecordedNorm StepProgram::rms_norm(Table x, RowCount rows, const Weights& gain, std::uint32_t groups, Table y) {
  rows.times *= groups;
  const RmsNorm norm{
      {x, groups, gain.columns}, {y, groups, gain.columns}, gain.value.at, gain.value.model, table(rows, 1)};
  row_sums(norm, rows, gain.columns);
  return {norm, rows, gain};
}

void StepProgram::rms_norm_adjoint(const RecordedNorm& recorded, Table by_y, Table by_x, bool add) {
  const RmsNorm& norm = recorded.norm;
  const Grouped by{by_y, norm.x.groups, norm.x.width}, to{by_x, norm.x.groups, norm.x.width};
  column_sums(GainTerm{norm, by}, recorded.rows, norm.x.width, recorded.gain.by);
  row_sums(RmsNormAdjoint{norm, by, to, add}, recorded.rows, norm.x.width);
}

void StepProgram::read_out(Table normed, std::uint32_t width, std::uint32_t labels, Table by_normed) {
  const Weights readout = weights("readout", width, labels), bias = weights("readout_bias", 1, labels);
  const Table logits = table(targets(), labels);
  linear(normed, targets(), readout, logits, &bias);
  teams(LossJob{batch_, labels, logits.at, losses_});
  linear_by_weights(normed, targets(), readout, logits);
  column_sums(RecheckedTerm{logits}, targets(), labels, bias.by);
  linear_adjoint(targets(), readout, logits, by_normed);
}

}  // namespace krohn
