// The stages of bilinear models (gpu/training/bilinear_training.cuh).

#include "krohn/gpu/training/model_programs.h"

namespace krohn {
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

}  // namespace krohn
