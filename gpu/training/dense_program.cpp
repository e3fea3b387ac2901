// The stages of the dense baseline (simulate/models/dense_model.cpp).

#include "krohn/gpu/training/block_scan.cuh"
#include "krohn/gpu/training/model_programs.h"

namespace krohn {

void record_dense_model(StepProgram& program, const DenseShape& shape, std::uint32_t labels) {
  const BatchRows& batch = program.batch();
  const std::uint32_t size = shape.size * shape.size;
  const RowCount tokens = program.tokens(), targets = program.targets();
  const Weights matrices = program.weights("matrices", batch.letters, size);
  const DenseScan scan{batch, shape.size, matrices.value, program.table(tokens, size), program.table(tokens, size)};
  program.teams(DenseRun<false>{scan});
  const Table seen = program.table(targets, size), projected = program.table(targets, size),
              by_projected = program.table(targets, size);
  program.each(TakeTargets{batch, scan.states, seen}, targets, size);
  const Project project{seen, projected, program.table(targets, 1)};
  program.row_sums(project, targets, size);
  program.read_out(projected, size, labels, by_projected);
  program.row_sums(ProjectAdjoint{project, by_projected}, targets, size);
  program.clear(scan.by_states.at, batch.models * scan.by_states.model);
  program.each(PutTargets{batch, by_projected, scan.by_states}, targets, size);
  program.teams(DenseRun<true>{scan});
  program.teams(DenseOuter{scan, matrices.by});
}

}  // namespace krohn
