#include "krohn/gpu/training/model_programs.h"

#include "krohn/gpu/device/device.h"
#include "krohn/gpu/training/block_scan.cuh"
#include "krohn/gpu/training/diagonal_scan.cuh"
#include "krohn/gpu/training/reflection_scan.cuh"
#include "krohn/groups/base/error.h"

namespace krohn {

Table by_sources(StepProgram& program, const LayerRows& rows, Table by_tokens, std::uint32_t columns) {
  if (!rows.source.by_letter) return by_tokens;
  const Table result = program.table(rows.count, columns);
  program.letter_sums(RecheckedTerm{by_tokens}, columns, result);
  return result;
}

Table RecordedConvolution::run(StepProgram& program, RowCount rows, Table raw) {
  const Table mixed = program.table(rows, taps_.columns);
  forward_ = {program.batch(), raw, mixed, taps_.value.at, taps_.value.model, taps_.rows, taps_.columns};
  program.each(forward_, rows, taps_.columns);
  return mixed;
}

void RecordedConvolution::run_adjoint(StepProgram& program, RowCount rows, Table by_mixed, Table by_raw) const {
  program.column_sums(TapTerm{forward_, by_mixed}, rows, taps_.rows * taps_.columns, taps_.by);
  program.each(ConvolveAdjoint{forward_, by_mixed, by_raw}, rows, taps_.columns);
}

namespace {

class ReflectionProgram : public MixerProgram {
 public:
  ReflectionProgram(StepProgram& program, const ReflectionShape& shape, const std::string& prefix) : shape_(shape) {
    scan_.heads = shape.heads;
    scan_.keys = shape.keys;
    scan_.values = shape.values;
    scan_.reflections = shape.reflections;
    in_ = program.weights(prefix + "in", shape.width, scan_.columns());
    taps_ = program.weights(prefix + "taps", shape.taps, mixed_columns());
    norm_ = program.weights(prefix + "norm", 1, shape.values);
    out_ = program.weights(prefix + "out", shape.heads * shape.values, shape.width);
  }

  bool needs_own_rows() const override { return shape_.taps > 0; }

  void run(StepProgram& program, const LayerRows& rows, Table x, Table addend, Table y) override {
    const Table raw = program.linear(x, rows.count, in_), ready = program.table(rows.count, scan_.columns());
    const Table mixed = shape_.taps > 0 ? convolution_.emplace(taps_).run(program, rows.count, raw) : raw;
    ready_ = {mixed, raw, ready, mixed_columns(), shape_.negative ? 2.f : 1.f, shape_.plain};
    program.each(ready_, rows.count, scan_.columns());
    unit_rows_ = rows.count;
    unit_rows_.times *= shape_.heads * (1 + shape_.reflections);
    unit_ = {{ready, unit_rows_.times, shape_.keys}, program.table(unit_rows_, 1)};
    program.row_sums(unit_, unit_rows_, shape_.keys);
    scan(program, rows, ready);
    const Table normed = program.table(program.tokens(), shape_.heads * shape_.values);
    read_norm_ = program.rms_norm(scan_.read, program.tokens(), norm_, shape_.heads, normed);
    program.linear(normed, program.tokens(), out_, y, nullptr, addend, rows.source);
  }

  void run_adjoint(StepProgram& program, const LayerRows& rows, Table x, Table by_y, Table by_x) override {
    const Table by_normed = program.table(program.tokens(), shape_.heads * shape_.values);
    program.linear_by_weights(read_norm_.norm.y.table, program.tokens(), out_, by_y);
    program.linear_adjoint(program.tokens(), out_, by_y, by_normed);
    program.rms_norm_adjoint(read_norm_, by_normed, scan_.by_read, false);
    program.teams(ReflectionAdjoint{scan_});
    const Table by_ready = by_sources(program, rows, scan_.by_ready, scan_.columns());
    program.row_sums(UnitNormAdjoint{unit_, {by_ready, unit_.x.groups, shape_.keys}}, unit_rows_, shape_.keys);
    program.each(MakeReadyAdjoint{ready_, by_ready}, rows.count, scan_.columns());
    Table by_raw = by_ready;
    if (convolution_) {
      by_raw = program.table(rows.count, scan_.columns());
      convolution_->run_adjoint(program, rows.count, by_ready, by_raw);
      program.each(CopyNumbers{by_ready.from(mixed_columns()), by_raw.from(mixed_columns())}, rows.count,
                   scan_.columns() - mixed_columns());
    }
    program.linear_by_weights(x, rows.count, in_, by_raw);
    program.linear_adjoint(rows.count, in_, by_raw, by_x);
  }

 private:
  std::uint32_t mixed_columns() const { return scan_.beta_column(0); }

  void scan(StepProgram& program, const LayerRows& rows, Table ready) {
    const std::uint32_t values = shape_.heads * shape_.values;
    scan_.source = rows.source;
    scan_.ready = ready;
    scan_.by_ready = program.table(program.tokens(), scan_.columns());
    scan_.read = program.table(program.tokens(), values);
    scan_.by_read = program.table(program.tokens(), values);
    scan_.lacks = program.table(program.tokens(), values * shape_.reflections);
    scan_.states = program.numbers(scan_.teams() * shape_.keys * shape_.values);
    const std::uint64_t most = ReflectionAdjoint{scan_}.own_numbers();
    if (most > kMaxTeamNumbers) scan_.large = program.numbers(scan_.teams() * most);
    program.teams(ReflectionForward{scan_});
  }

  ReflectionShape shape_;
  ReflectionScan scan_;
  Weights in_, taps_, norm_, out_;
  std::optional<RecordedConvolution> convolution_;
  MakeReady ready_;
  UnitNorm unit_;
  RowCount unit_rows_;
  RecordedNorm read_norm_;
};

}  // namespace

std::unique_ptr<MixerProgram> mixer_program(StepProgram& program, const ReflectionShape& shape,
                                            const std::string& prefix) {
  return std::make_unique<ReflectionProgram>(program, shape, prefix);
}

namespace {

class DiagonalProgram : public MixerProgram {
 public:
  DiagonalProgram(StepProgram& program, const DiagonalShape& shape, const std::string& prefix)
      : shape_(real(shape)),
        in_(program.weights(prefix + "in", shape.width, 2 * shape.channels)),
        taps_(program.weights(prefix + "taps", shape.taps, shape.channels)),
        select_(program.weights(prefix + "select", shape.channels, shape.channels + 2 * shape.states)),
        step_(program.weights(prefix + "step", 1, shape.channels)),
        decay_(program.weights(prefix + "decay", shape.states, shape.channels)),
        skip_(program.weights(prefix + "skip", 1, shape.channels)),
        out_(program.weights(prefix + "out", shape.channels, shape.width)) {}

  bool needs_own_rows() const override { return shape_.taps > 0; }

  void run(StepProgram& program, const LayerRows& rows, Table x, Table addend, Table y) override {
    const std::uint32_t channels = shape_.channels;
    const Table both = program.linear(x, rows.count, in_), input = program.table(rows.count, channels);
    mixed_ = shape_.taps > 0 ? convolution_.emplace(taps_).run(program, rows.count, both) : both;
    program.each(Activate{mixed_, input}, rows.count, channels);
    const Table selected = program.linear(input, rows.count, select_), steps = program.table(rows.count, channels),
                scaled = program.table(rows.count, channels);
    program.each(MakeSteps{selected, input, steps, scaled, step_.value.at, step_.value.model}, rows.count, channels);
    scan_.source = rows.source;
    scan_.channels = channels;
    scan_.states = shape_.states;
    scan_.negative = shape_.negative;
    scan_.fixed = shape_.fixed;
    scan_.decay = decay_.value.at;
    scan_.skip = skip_.value.at;
    scan_.model = decay_.value.model;
    scan_.gate = both.from(channels);
    scan_.input = input;
    scan_.selected = selected;
    scan_.steps = steps;
    scan_.scaled = scaled;
    scan(program);
    program.linear(scan_.gated, program.tokens(), out_, y, nullptr, addend, rows.source);
  }

  void run_adjoint(StepProgram& program, const LayerRows& rows, Table x, Table by_y, Table by_x) override {
    const std::uint32_t channels = shape_.channels;
    program.linear_by_weights(scan_.gated, program.tokens(), out_, by_y);
    program.linear_adjoint(program.tokens(), out_, by_y, scan_.by_gated);
    program.teams(DiagonalScanAdjoint{scan_});
    program.column_sums(RecheckedTerm{scan_.by_shared}, program.words(), shape_.states * channels, decay_.by);
    program.column_sums(RecheckedTerm{scan_.by_shared.from(std::uint64_t{shape_.states} * channels)}, program.words(),
                        channels, skip_.by);
    const Table by_source = by_sources(program, rows, scan_.by_token, scan_.by_columns());
    const Table by_selected = program.table(rows.count, select_.columns), by_input = by_source.from(channels);
    program.each(SelectedAdjoint{by_source, scan_.steps, by_selected, channels, shape_.states, scan_.chunks()},
                 rows.count, select_.columns);
    program.column_sums(RecheckedTerm{by_selected}, rows.count, channels, step_.by);
    program.linear_by_weights(scan_.input, rows.count, select_, by_selected);
    program.linear_adjoint(rows.count, select_, by_selected, by_input, true);
    program.each(ActivateAdjoint{mixed_, by_input}, rows.count, channels);
    const Table by_both = program.table(rows.count, 2 * channels);
    if (convolution_)
      convolution_->run_adjoint(program, rows.count, by_input, by_both);
    else
      program.each(CopyNumbers{by_input, by_both}, rows.count, channels);
    program.each(CopyNumbers{by_source.from(2 * channels), by_both.from(channels)}, rows.count, channels);
    program.linear_by_weights(x, rows.count, in_, by_both);
    program.linear_adjoint(rows.count, in_, by_both, by_x);
  }

 private:
  void scan(StepProgram& program) {
    const RowCount tokens = program.tokens();
    scan_.history = program.table(tokens, shape_.states * shape_.channels);
    scan_.read = program.table(tokens, shape_.channels);
    scan_.gated = program.table(tokens, shape_.channels);
    scan_.by_gated = program.table(tokens, shape_.channels);
    scan_.by_token = program.table(tokens, scan_.by_columns());
    scan_.by_shared = program.table(program.words(), (shape_.states + 1) * shape_.channels);
    const std::uint64_t most = DiagonalScanAdjoint{scan_}.own_numbers();
    if (most > kMaxTeamNumbers) scan_.large = program.numbers(scan_.teams() * most);
    program.teams(DiagonalForward{scan_});
  }

  static const DiagonalShape& real(const DiagonalShape& shape) {
    if (shape.complex)
      throw NotOnDevice("--device",
                        "diagonal models of complex values are trained on the processor; take --device cpu");
    return shape;
  }

  DiagonalShape shape_;
  Weights in_, taps_, select_, step_, decay_, skip_, out_;
  std::optional<RecordedConvolution> convolution_;
  Table mixed_;
  DiagonalScan scan_;
};

}  // namespace

std::unique_ptr<MixerProgram> mixer_program(StepProgram& program, const DiagonalShape& shape,
                                            const std::string& prefix) {
  return std::make_unique<DiagonalProgram>(program, shape, prefix);
}

namespace {

class BlockProgram : public MixerProgram {
 public:
  BlockProgram(StepProgram& program, const BlockShape& shape, const std::string& prefix) : shape_(shape) {
    const std::uint32_t width = shape.width(), hidden = shape.generator;
    generator_in_ = program.weights(prefix + "generator_in", width, hidden);
    generator_out_ = program.weights(prefix + "generator_out", hidden > 0 ? hidden : width, numbers());
    generator_bias_ = program.weights(prefix + "generator_bias", 1, numbers());
    input_ = program.weights(prefix + "input", width, width);
    start_ = program.weights(prefix + "start", 1, width);
  }

  void run(StepProgram& program, const LayerRows& rows, Table x, Table addend, Table y) override {
    generate(program, rows.count, x);
    scan_.source = rows.source;
    scan_.blocks = shape_.blocks;
    scan_.size = shape_.size;
    scan_.matrices = divide_.divided.table;
    scan_.inputs = program.linear(x, rows.count, input_);
    scan_.start = start_.value.at;
    scan_.start_model = start_.value.model;
    const std::uint32_t width = shape_.width();
    scan_.states = program.table(program.tokens(), width);
    scan_.by_states = program.table(program.tokens(), width);
    scan_.by_start = program.table(program.words(), width);
    program.teams(BlockForward{scan_});
    if (addend.at != nullptr)
      program.each(AddToSource{rows.source, addend, scan_.states, y}, program.tokens(), width);
    else
      program.each(CopyNumbers{scan_.states, y}, program.tokens(), width);
  }

  void run_adjoint(StepProgram& program, const LayerRows& rows, Table x, Table by_y, Table by_x) override {
    const std::uint32_t width = shape_.width();
    program.each(CopyNumbers{by_y, scan_.by_states}, program.tokens(), width);
    program.teams(BlockAdjoint{scan_});
    program.column_sums(RecheckedTerm{scan_.by_start}, program.words(), width, start_.by);
    const Table by_inputs = by_sources(program, rows, scan_.by_states, width);
    program.linear_by_weights(x, rows.count, input_, by_inputs);
    program.linear_adjoint(rows.count, input_, by_inputs, by_x);
    const Table by_matrices = program.table(rows.count, numbers());
    const BlockOuter outer{scan_, by_matrices};
    if (rows.source.by_letter)
      program.letter_sums(outer, numbers(), by_matrices);
    else
      program.each(MakeBlockOuter{outer}, program.tokens(), numbers());
    generate_adjoint(program, rows.count, x, by_matrices, by_x);
  }

 private:
  std::uint32_t numbers() const { return shape_.width() * shape_.size; }
  bool has_units() const { return shape_.generator > 0; }

  void generate(StepProgram& program, RowCount rows, Table x) {
    if (has_units()) {
      hidden_ = program.linear(x, rows, generator_in_);
      active_ = program.table(rows, shape_.generator);
      program.each(Activate{hidden_, active_}, rows, shape_.generator);
    } else {
      active_ = x;
    }
    const Table raw = program.table(rows, numbers()), divided = program.table(rows, numbers());
    program.linear(active_, rows, generator_out_, raw, &generator_bias_);
    columns_ = rows;
    columns_.times *= shape_.width();
    divide_ = {{raw, shape_.width(), shape_.size},
               {divided, shape_.width(), shape_.size},
               program.table(columns_, 1),
               static_cast<float>(shape_.norm)};
    program.row_sums(divide_, columns_, shape_.size);
  }

  /// Adds to by_x.
  void generate_adjoint(StepProgram& program, RowCount rows, Table x, Table by_matrices, Table by_x) {
    program.row_sums(DivideColumnsAdjoint{divide_, {by_matrices, shape_.width(), shape_.size}}, columns_, shape_.size);
    program.column_sums(RecheckedTerm{by_matrices}, rows, numbers(), generator_bias_.by);
    program.linear_by_weights(active_, rows, generator_out_, by_matrices);
    if (!has_units()) return program.linear_adjoint(rows, generator_out_, by_matrices, by_x, true);
    const Table by_hidden = program.table(rows, shape_.generator);
    program.linear_adjoint(rows, generator_out_, by_matrices, by_hidden);
    program.each(ActivateAdjoint{hidden_, by_hidden}, rows, shape_.generator);
    program.linear_by_weights(x, rows, generator_in_, by_hidden);
    program.linear_adjoint(rows, generator_in_, by_hidden, by_x, true);
  }

  BlockShape shape_;
  Weights generator_in_, generator_out_, generator_bias_, input_, start_;
  Table hidden_, active_;
  DivideColumns divide_;
  RowCount columns_;
  BlockScanJob scan_;
};

}  // namespace

std::unique_ptr<MixerProgram> mixer_program(StepProgram& program, const BlockShape& shape, const std::string& prefix) {
  return std::make_unique<BlockProgram>(program, shape, prefix);
}

}  // namespace krohn
