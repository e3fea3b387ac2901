// The stages of stacked models: layers of a mixer and an MLP, as simulate/models/stacked_model.cpp has them.

#include <fmt/format.h>

#include "krohn/gpu/training/model_programs.h"
#include "krohn/simulate/models/stacked_model.h"

namespace krohn {
namespace {

class Mlp {
 public:
  Mlp(StepProgram& program, const std::string& prefix, std::uint32_t width, std::uint32_t units)
      : width_(width),
        units_(units),
        norm_(program.weights(prefix + "norm", 1, width)),
        in_(program.weights(prefix + "in", width, 2 * units)),
        out_(program.weights(prefix + "out", units, width)) {}

  /// x + MLP(norm(x)).
  Table run(StepProgram& program, Table x) {
    const RowCount rows = program.tokens();
    const Table normed = program.table(rows, width_), gated = program.table(rows, units_),
                y = program.table(rows, width_);
    recorded_ = program.rms_norm(x, rows, norm_, 1, normed);
    gate_ = {program.linear(normed, rows, in_), gated, units_};
    program.each(gate_, rows, units_);
    program.linear(gated, rows, out_, y, nullptr, x, {program.batch(), false});
    return y;
  }

  /// The gradient by what came out becomes that by x.
  void run_adjoint(StepProgram& program, Table by) {
    const RowCount rows = program.tokens();
    const Table by_gated = program.table(rows, units_), by_hidden = program.table(rows, 2 * units_),
                by_normed = program.table(rows, width_);
    program.linear_by_weights(gate_.y, rows, out_, by);
    program.linear_adjoint(rows, out_, by, by_gated);
    program.each(GateAdjoint{gate_.x, by_gated, by_hidden, units_}, rows, units_);
    program.linear_by_weights(recorded_.norm.y.table, rows, in_, by_hidden);
    program.linear_adjoint(rows, in_, by_hidden, by_normed);
    program.rms_norm_adjoint(recorded_, by_normed, by, true);
  }

 private:
  std::uint32_t width_, units_;
  Weights norm_, in_, out_;
  RecordedNorm recorded_;
  Gate gate_;
};

/// A layer, from what its tokens read to what it hands on.
class LayerProgram {
 public:
  LayerProgram(StepProgram& program, const StackedShape& shape, std::uint32_t index)
      : width_(shape.width()),
        bare_(shape.is_bare()),
        mixer_(std::visit(
            [&](const auto& mixer) { return mixer_program(program, mixer, fmt::format("layer{}.mixer.", index)); },
            shape.mixer)) {
    if (!bare_) norm_ = program.weights(fmt::format("layer{}.norm", index), 1, width_);
    if (shape.mlp > 0) mlp_.emplace(program, fmt::format("layer{}.mlp.", index), width_, shape.mlp);
  }

  bool needs_own_rows() const { return mixer_->needs_own_rows(); }

  Table run(StepProgram& program, const LayerRows& rows, Table x) {
    rows_ = rows;
    normed_ = x;
    if (!bare_) {
      normed_ = program.table(rows.count, width_);
      recorded_ = program.rms_norm(x, rows.count, norm_, 1, normed_);
    }
    const Table middle = program.table(program.tokens(), width_);
    mixer_->run(program, rows, normed_, bare_ ? Table{} : x, middle);
    return mlp_ ? mlp_->run(program, middle) : middle;
  }

  /// From the gradient by what the layer gives, which is used up, to that by its rows.
  Table run_adjoint(StepProgram& program, Table by) {
    if (mlp_) mlp_->run_adjoint(program, by);
    const Table by_normed = program.table(rows_.count, width_);
    mixer_->run_adjoint(program, rows_, normed_, by, by_normed);
    if (bare_) return by_normed;
    const Table by_x = by_sources(program, rows_, by, width_);
    program.rms_norm_adjoint(recorded_, by_normed, by_x, true);
    return by_x;
  }

 private:
  std::uint32_t width_;
  bool bare_;
  std::unique_ptr<MixerProgram> mixer_;
  std::optional<Mlp> mlp_;
  Weights norm_;
  LayerRows rows_;
  Table normed_;
  RecordedNorm recorded_;
};

}  // namespace

void record_stacked_model(StepProgram& program, const StackedShape& shape, std::uint32_t labels) {
  const std::uint32_t width = shape.width();
  const BatchRows& batch = program.batch();
  const Weights embedding = program.weights("embedding", batch.letters, width);
  std::vector<LayerProgram> layers;
  for (std::uint32_t i = 0; i < shape.layers; ++i) layers.emplace_back(program, shape, i);

  // The first layer reads letters, unless tokens are mixed before its recurrence.
  const bool gathered = layers[0].needs_own_rows();
  const LayerRows own{program.tokens(), {batch, false}}, by_letter{program.letters(), {batch, true}};
  Table x = embedding.value;
  if (gathered) {
    x = program.table(program.tokens(), width);
    program.each(TakeLetters{batch, embedding.value, x}, program.tokens(), width);
  }
  for (std::uint32_t i = 0; i < shape.layers; ++i) x = layers[i].run(program, i == 0 && !gathered ? by_letter : own, x);

  const RowCount targets = program.targets();
  const Table seen = program.table(targets, width), by_seen = program.table(targets, width),
              by_y = program.table(program.tokens(), width);
  program.each(TakeTargets{batch, x, seen}, targets, width);
  if (shape.is_bare()) {
    program.read_out(seen, width, labels, by_seen);
  } else {
    const Table normed = program.table(targets, width), by_normed = program.table(targets, width);
    const RecordedNorm norm = program.rms_norm(seen, targets, program.weights("norm", 1, width), 1, normed);
    program.read_out(normed, width, labels, by_normed);
    program.rms_norm_adjoint(norm, by_normed, by_seen, false);
  }
  program.clear(by_y.at, batch.models * by_y.model);
  program.each(PutTargets{batch, by_seen, by_y}, targets, width);

  Table by = by_y;
  for (std::uint32_t i = shape.layers; i-- > 0;) by = layers[i].run_adjoint(program, by);
  if (gathered)
    program.letter_sums(RecheckedTerm{by}, width, embedding.by);
  else
    program.each(CopyNumbers{by, embedding.by}, program.letters(), width);
}

}  // namespace krohn
