#include "krohn/gpu/training/step_program.h"

#include <fmt/format.h>

#include <algorithm>

#include "krohn/groups/base/error.h"

namespace krohn {

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
