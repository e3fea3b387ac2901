// Checkpoints of flash-linear-attention, and runs, evaluated on the processor.

#include <fmt/format.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>

#include "krohn/automata/formats/json.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/simulate/checkpoints/checkpoint_model.h"
#include "krohn/simulate/learned/trained_reader.h"
#include "krohn/simulate/tasks/tasks.h"
#include "tools/krohn/models/run_folder.h"
#include "tools/krohn/report/output.h"
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

/// A run's model, in one precision, with the letters and labels of its task.
struct LoadedRun {
  TrainedSubject subject;
  TrainedLogits logits;
};

std::unique_ptr<LoadedRun> load_run(const std::string& folder, const std::string& precision) {
  TrainedSubject subject = load_trained_subject(file_of_run(folder), {});
  TrainedLogits logits = trained_logits(*subject.trained.model, parse_precision(precision));
  return std::make_unique<LoadedRun>(LoadedRun{std::move(subject), std::move(logits)});
}

/// [words, length, labels]
nb::ndarray<nb::numpy, double> logits_of_run(const LoadedRun& loaded, const GivenWords& words) {
  const std::size_t count = words.shape(0), length = words.shape(1), labels = loaded.subject.task->labels().size();
  const std::vector<Letter> letters = letters_of(words, loaded.subject.task->alphabet().size());
  std::vector<double> all(count * length * labels);
  {
    const Working working;
    for (std::size_t word = 0; word < count; ++word) {
      Interruption::check();
      loaded.logits({letters.data() + word * length, length},
                    std::span(all).subspan(word * length * labels, length * labels));
    }
  }
  return owned(std::move(all), {count, length, labels});
}

/// The special tokens before and after every word.
std::pair<std::vector<Letter>, std::vector<Letter>> around(const LoadedRun& loaded) {
  TaskAutomaton input = input_machine(*loaded.subject.task);
  return {std::move(input.before), std::move(input.after)};
}

}  // namespace

void bind_checkpoint(nb::module_& module) {
  const Unlocked unlocked;
  const Standard standard;
  nb::class_<LoadedCheckpoint>(module, "Checkpoint")
      .def_static("load", &load, unlocked, "folder"_a, "precision"_a)
      .def("logits", &logits, "tokens"_a, "chunked"_a)
      .def("facts", &facts, standard);
  nb::class_<LoadedRun>(module, "Run")
      .def_static("load", &load_run, unlocked, "folder"_a, "precision"_a)
      .def("letters", [](const LoadedRun& run) { return run.subject.task->alphabet().names(); })
      .def("labels",
           [](const LoadedRun& loaded) {
             const auto labels = loaded.subject.task->labels();
             return std::vector<std::string>(labels.begin(), labels.end());
           })
      .def("around", &around, unlocked)
      .def("encode",
           [](const LoadedRun& loaded, const std::string& text) {
             const Word word = loaded.subject.task->alphabet().parse_word(text);
             return owned(std::vector<std::int64_t>(word.begin(), word.end()), {word.size()});
           })
      .def("logits", &logits_of_run, "words"_a);
}

}  // namespace krohn::python
