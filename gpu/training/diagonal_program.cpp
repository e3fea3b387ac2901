#include "krohn/gpu/device/device.h"
#include "krohn/gpu/training/diagonal_scan.cuh"
#include "krohn/gpu/training/mixer_program.h"
#include "krohn/groups/base/error.h"

namespace krohn {
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

}  // namespace krohn
