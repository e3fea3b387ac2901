// Checkpoints of flash-linear-attention, evaluated on the processor.

#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include <memory>

#include "krohn/automata/formats/json.h"
#include "krohn/groups/error.h"
#include "krohn/groups/interruption.h"
#include "krohn/simulate/checkpoints/checkpoint_model.h"
#include "tools/krohn/report/json_output.h"
#include "tools/python/bindings/bindings.h"

namespace krohn::python {
namespace {

using nb::literals::operator""_a;

/// A folder's weights and tokens, and the model that they make in one precision.
struct LoadedCheckpoint {
  Checkpoint checkpoint;
  CheckpointModel model;
};

std::unique_ptr<LoadedCheckpoint> load(const std::string& folder, const std::string& precision) {
  Checkpoint checkpoint = load_checkpoint(folder);
  CheckpointModel model(checkpoint, parse_precision(precision));
  return std::make_unique<LoadedCheckpoint>(LoadedCheckpoint{std::move(checkpoint), std::move(model)});
}

/// [tokens, vocabulary]
nb::ndarray<nb::numpy, float> logits(const LoadedCheckpoint& loaded, const Given<std::int64_t, 1>& tokens,
                                     bool chunked) {
  const std::size_t vocabulary = loaded.checkpoint.config.vocabulary, count = tokens.shape(0);
  std::vector<std::uint32_t> word;
  for (std::size_t t = 0; t < count; ++t) {
    const std::int64_t token = tokens.data()[t];
    if (token < 0 || token >= static_cast<std::int64_t>(vocabulary))
      throw InputError(fmt::format("token {} is {}, and the vocabulary has {}", t, token, vocabulary));
    word.push_back(static_cast<std::uint32_t>(token));
  }
  std::vector<float> all;
  {
    const Working working;
    CheckpointModel::Memory memory = loaded.model.start();
    const std::size_t step = chunked ? kDeltaChunk : 1;
    for (std::size_t first = 0; first < count; first += step) {
      Interruption::check();
      const std::span<const std::uint32_t> part(word.data() + first, std::min(step, count - first));
      if (!chunked) {
        const std::vector<float> row = loaded.model.step(part[0], memory);
        all.insert(all.end(), row.begin(), row.end());
        continue;
      }
      for (const std::vector<float>& row : loaded.model.read_chunk(part, memory))
        all.insert(all.end(), row.begin(), row.end());
    }
  }
  return owned(std::move(all), {count, vocabulary});
}

std::string facts(const LoadedCheckpoint& loaded) {
  const CheckpointConfig& config = loaded.checkpoint.config;
  return json_text({{"family", traits_of(config.family).model_type},
                    {"layers", config.layers},
                    {"hidden_size", config.hidden_size},
                    {"heads", config.heads},
                    {"key_dim", config.key_dim},
                    {"value_dim", config.value_dim},
                    {"householders", config.householders},
                    {"vocabulary", config.vocabulary}});
}

}  // namespace

void bind_checkpoint(nb::module_& module) {
  const Unlocked unlocked;
  const Standard standard;
  nb::class_<LoadedCheckpoint>(module, "Checkpoint")
      .def_static("load", &load, unlocked, "folder"_a, "precision"_a)
      .def("logits", &logits, "tokens"_a, "chunked"_a)
      .def("facts", &facts, standard);
}

}  // namespace krohn::python
