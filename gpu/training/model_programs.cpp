#include "krohn/gpu/training/model_programs.h"

#include <fmt/format.h>

#include "krohn/gpu/device/device.h"
#include "krohn/groups/base/error.h"

namespace krohn {

void record_model(StepProgram& program, const SequenceModel<float>& model) {
  const std::string name = model.name(), family = name.substr(0, name.find(':'));
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
