// gpu/training/step_program.h — the stages of a training step, recorded once from a model's shape: tables for what goes
// up and comes down, and the kernels between them (gpu/device/graph.h).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "krohn/gpu/device/graph.h"
#include "krohn/gpu/training/batch_rows.cuh"
#include "krohn/gpu/training/product_job.cuh"
#include "krohn/gpu/training/row_jobs.cuh"
#include "krohn/gpu/training/training_steps.cuh"
#include "krohn/simulate/models/sequence_model.h"
#include "krohn/simulate/tasks/task.h"

namespace krohn {

/// The inputs of one model's step.
struct ModelStep {
  TrainingBatch batch;
  float rate = 0;         ///< with Adam's corrections for its start
  float kept = 1;         ///< the share of a parameter that weight decay leaves
  float epsilon = 1e-8F;  ///< beside the root of the mean square, as simulate/train/optimiser.h has it
};

/// Takes batches to the place, one copy a step.
class BatchQueue {
 public:
  BatchQueue(Place place, std::uint32_t models, std::uint32_t words, std::uint32_t letters, std::uint32_t most_rows,
             std::uint32_t most_targets);

  /// True if every batch has the room it needs.
  bool fits(std::span<const ModelStep> steps) const;
  /// Sets the content of `rows()` for kernels that are started from now on.
  void send(std::span<const ModelStep> steps);
  const BatchRows& rows() const { return rows_; }

 private:
  BatchRows rows_;
  UploadQueue queue_;
};

/// Throws InputError when there is not a batch of `words` words for every model.
void require_one_each(std::span<const ModelStep> steps, std::uint32_t models, std::uint32_t words);

/// Rows and targets that batches need at most, with room for somewhat longer ones: kernels are recorded for them.
struct BatchRoom {
  std::uint32_t rows = 1, targets = 1;
};
BatchRoom room_for(std::span<const ModelStep> steps);

/// A tensor among the parameters of every model, as a matrix, and its gradient.
struct Weights {
  Table value, by;
  std::uint32_t rows = 0, columns = 0;
  bool is_empty() const { return rows == 0 || columns == 0; }
};

/// A norm on its way up, for its way down.
struct RecordedNorm {
  RmsNorm norm;
  RowCount rows;
  Weights gain;
};

class StepProgram {
 public:
  /// Lists of `values` and `gradient` hold one model's parameters after another. `losses`: [model][target].
  StepProgram(Place place, const BatchRows& batch, const std::vector<ParameterPart>& parts, float* values,
              float* gradient, double* losses);

  const BatchRows& batch() const { return batch_; }
  JobGraph& graph() { return graph_; }

  /// The tensor of that name. Throws Error when there is none, or it is not of that shape.
  Weights weights(const std::string& name, std::uint64_t rows, std::uint64_t columns);
  /// Throws Error when a tensor was never asked for: models have parts that this program does not know.
  void require_all_known() const;

  RowCount letters() const { return {batch_.letters, nullptr}; }
  RowCount tokens() const { return {batch_.most_rows, batch_.rows}; }
  RowCount targets() const { return {batch_.most_targets, batch_.target_counts}; }
  RowCount words() const { return {batch_.words, nullptr}; }

  /// Zeros at first; as long as the program.
  Table table(RowCount rows, std::uint32_t columns);
  float* numbers(std::uint64_t count) { return memory<float>(count); }
  template <class T>
  T* memory(std::uint64_t count) {
    memory_.emplace_back(place_, (count * sizeof(T) + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t));
    return reinterpret_cast<T*>(memory_.back().data());
  }
  /// The parameters of all models, one model after another.
  float* values() const { return values_; }
  float* gradient() const { return gradient_; }
  double* losses() const { return losses_; }

  template <class Op>
  void each(const Op& op, RowCount rows, std::uint32_t columns) {
    const EachNumber<Op> job{op, rows, batch_.models, columns};
    graph_.add(job, job.items());
  }
  template <class Op>
  void row_sums(const Op& op, RowCount rows, std::uint32_t width) {
    const RowSums<Op> job{op, rows, batch_.models, width};
    graph_.add_teams(job, job.teams());
  }
  /// A single row of `to`.
  template <class Term>
  void column_sums(const Term& term, RowCount rows, std::uint32_t columns, Table to) {
    ColumnSums<Term> job{term, batch_, rows, false, columns, to};
    job.in_parts = rows.room() > kSumPart;
    if (!job.in_parts) return teams(job);
    const std::uint64_t model = job.groups() * columns;
    job.to = {scratch(batch_.models * model), model, columns};
    teams(job);
    add_parts({batch_.models, 1, columns, rows, job.to, to});
  }
  /// A row of `to` for every letter, from the tokens that read it.
  template <class Term>
  void letter_sums(const Term& term, std::uint32_t columns, Table to) {
    teams(ColumnSums<Term>{term, batch_, tokens(), true, columns, to});
  }
  template <class Job>
  void teams(const Job& job) {
    graph_.add_teams(job, job.teams());
  }
  template <class Job>
  void items(const Job& job, std::uint64_t count) {
    graph_.add(job, count);
  }
  void clear(float* numbers, std::uint64_t count) { items(ClearJob{numbers}, count); }

  /// y = x W, for `rows` of x.
  Table linear(Table x, RowCount rows, const Weights& by);
  /// With a bias (a single row), or rows of the source to begin with.
  void linear(Table x, RowCount rows, const Weights& by, Table y, const Weights* bias, Table addend = {},
              const Source& source = {});
  /// The gradient by W of y = x W.
  void linear_by_weights(Table x, RowCount rows, const Weights& of, Table by_y);
  /// by_x = by_y Wᵀ, or that added to it.
  void linear_adjoint(RowCount rows, const Weights& of, Table by_y, Table by_x, bool add = false);

  /// Rows are cut into groups as wide as the gain.
  RecordedNorm rms_norm(Table x, RowCount rows, const Weights& gain, std::uint32_t groups, Table y);
  void rms_norm_adjoint(const RecordedNorm& recorded, Table by_y, Table by_x, bool add);

  /// From what targets read to the losses and back: by what they read. `normed`, `by_normed`: a row a target.
  void read_out(Table normed, std::uint32_t width, std::uint32_t labels, Table by_normed);

 private:
  struct KnownPart {
    std::string name;
    std::uint64_t begin = 0, size = 0;
    bool taken = false;
  };
  void add_parts(const AddPartsJob& job) { items(job, job.items()); }
  float* scratch(std::uint64_t count);

  Place place_;
  BatchRows batch_;
  std::vector<KnownPart> parts_;
  std::uint64_t parameters_ = 0;
  float *values_, *gradient_;
  double* losses_;
  std::vector<Buffer<std::uint64_t>> memory_;
  float* scratch_ = nullptr;
  std::uint64_t scratch_size_ = 0;
  JobGraph graph_;
};

}  // namespace krohn
