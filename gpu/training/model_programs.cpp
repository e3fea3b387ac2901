#include "krohn/gpu/training/model_programs.h"

#include <fmt/format.h>

#include <utility>

#include "krohn/gpu/device/device.h"
#include "krohn/gpu/training/block_scan.cuh"
#include "krohn/groups/base/error.h"

namespace krohn {

BilinearPlan plan_of(const BilinearModel<float>& model) {
  const BilinearShape& shape = model.shape();
  BilinearPlan plan;
  plan.letters = model.letters();
  plan.labels = model.labels();
  plan.hidden = shape.hidden;
  plan.block = shape.block_size();
  plan.inputs = shape.inputs;
  plan.rotations = shape.form == BilinearShape::Form::kRotations;
  plan.rank = shape.form == BilinearShape::Form::kFactored ? shape.rank : 0;
  plan.generated = plan.rank > 0 ? plan.rank : plan.rotations ? plan.hidden / 2 : plan.hidden * plan.block;
  plan.bias = shape.bias;
  plan.input_bias = shape.input_bias;
  plan.frozen = shape.frozen;
  std::uint64_t next = 0;
  const auto place = [&next](std::uint64_t numbers) { return std::exchange(next, next + numbers); };
  plan.embedding = place(std::uint64_t{plan.letters} * plan.inputs);
  plan.weights = place(std::uint64_t{plan.inputs} * plan.generated);
  plan.left = place(std::uint64_t{plan.hidden} * plan.rank);
  plan.right = place(std::uint64_t{plan.hidden} * plan.rank);
  plan.bias_at = place(plan.bias ? plan.hidden : 0);
  plan.input_bias_at = place(plan.input_bias ? std::uint64_t{plan.inputs} * plan.hidden : 0);
  plan.initial = place(plan.hidden);
  plan.readout = place(std::uint64_t{plan.labels} * plan.hidden);
  plan.readout_bias = place(plan.labels);
  plan.parameters = next;
  plan.first_trained = model.first_trained();
  if (next != model.parameters().size()) throw Error("a bilinear model's parameters are not laid out as expected");
  return plan;
}

// The stages of bilinear models (gpu/training/bilinear_training.cuh).

namespace {

class BilinearProgram {
 public:
  BilinearProgram(StepProgram& program, const BilinearPlan& plan) : program_(program) {
    const std::uint64_t models = program.batch().models;
    t_.p = plan;
    t_.b = program.batch();
    t_.parameters = program.values();
    t_.gradient = program.gradient();
    t_.given = program.numbers(models * plan.letters * plan.generated);
    t_.by_given = program.numbers(models * plan.letters * plan.generated);
    t_.matrices = program.numbers(models * plan.matrix_numbers());
    t_.by_matrices = program.numbers(models * plan.matrix_numbers());
    t_.columns = program.numbers(models * plan.matrix_numbers());
    t_.additions = program.numbers(models * plan.letters * plan.hidden);
    t_.by_additions = program.numbers(models * plan.letters * plan.hidden);
    t_.states = program.numbers(models * t_.state_numbers());
    t_.by_states = program.numbers(models * t_.state_numbers());
    t_.logits = program.numbers(models * t_.b.most_targets * plan.labels);
    t_.embedding_parts = program.memory<double>(models * plan.letters * plan.inputs * t_.embedding_parts_each());
  }

  void record() {
    run();
    run_adjoint();
  }

 private:
  template <BilinearStage kStage>
  void add(std::uint64_t items) {
    program_.items(BilinearJob<kStage>{t_}, items);
  }

  void run() {
    using enum BilinearStage;
    add<kGiven>(letters() * t_.p.generated);
    add<kMatrix>(letters() * t_.p.hidden * t_.p.block);
    if (t_.p.adds()) add<kAddition>(letters() * t_.p.hidden);
    add<kStart>(models() * t_.b.words * t_.p.hidden);
    program_.teams(BilinearScan<false>{t_});
    add<kLogit>(targets() * t_.p.labels);
    program_.teams(LossJob{t_.b, t_.p.labels, t_.logits, program_.losses()});
  }

  void run_adjoint() {
    using enum BilinearStage;
    add<kByReadout>(models() * t_.p.labels * (t_.p.hidden + 1));
    if (t_.p.frozen) return;
    program_.clear(t_.by_states, models() * t_.state_numbers());
    add<kByStates>(targets() * t_.p.hidden);
    program_.teams(BilinearScan<true>{t_});
    add<kByMatrix>(letters() * t_.p.hidden * t_.p.block);
    if (t_.p.adds()) add<kByAddition>(letters() * t_.p.hidden);
    add<kByGiven>(letters() * t_.p.generated);
    if (t_.p.rank > 0) add<kByFactor>(models() * 2 * t_.p.hidden * t_.p.rank);
    program_.teams(BilinearByWeights{t_});
    program_.teams(BilinearEmbeddingParts{t_});
    add<kByEmbedding>(letters() * t_.p.inputs);
    add<kByVectors>(models() * t_.p.hidden);
  }

  std::uint64_t models() const { return t_.b.models; }
  std::uint64_t letters() const { return models() * t_.p.letters; }
  std::uint64_t targets() const { return models() * t_.b.most_targets; }

  StepProgram& program_;
  BilinearTraining t_;
};

}  // namespace

void record_bilinear_model(StepProgram& program, const BilinearPlan& plan) { BilinearProgram(program, plan).record(); }

// The stages of the dense baseline (simulate/models/dense_model.cpp).

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

void record_model(StepProgram& program, const SequenceModel<float>& model) {
  const std::string name = model.name(), family = name.substr(0, name.find(':'));
  if (!model.fixed().empty())
    throw NotOnDevice("--device", "numbers that the imported module does not have stay as they are on the processor alone; "
                                  "take --device cpu");
  if (const auto* bilinear = dynamic_cast<const BilinearModel<float>*>(&model)) {
    if (bilinear->shape().scale_free)
      throw NotOnDevice("--device", "scale-free models are not trained on a device; take --device cpu");
    return record_bilinear_model(program, plan_of(*bilinear));
  }
  if (family == "dense")
    record_dense_model(program, parse_dense_shape(name), model.labels());
  else if (family == "deltaproduct" || family == "diagonal" || family == "fan")
    record_stacked_model(program, parse_stacked_shape(name), model.labels());
  else
    throw NotOnDevice(
        "--device", fmt::format("models of the family \"{}\" are not trained on a device; take --device cpu", family));
  program.require_all_known();
}

}  // namespace krohn
