#include "krohn/gpu/training/mixer_program.h"

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

}  // namespace krohn
