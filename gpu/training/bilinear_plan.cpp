#include "krohn/gpu/training/model_programs.h"

#include <utility>

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

}  // namespace krohn
