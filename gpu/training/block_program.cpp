#include "krohn/gpu/training/block_scan.cuh"
#include "krohn/gpu/training/mixer_program.h"

namespace krohn {
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
