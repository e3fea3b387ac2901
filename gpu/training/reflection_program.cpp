#include "krohn/gpu/training/mixer_program.h"
#include "krohn/gpu/training/reflection_scan.cuh"

namespace krohn {
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

}  // namespace krohn
