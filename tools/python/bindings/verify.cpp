// Proofs and refutations of networks and checkpoints.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "krohn/automata/formats/json.h"
#include "krohn/groups/error.h"
#include "krohn/simulate/check/certificate_file.h"
#include "krohn/simulate/checkpoints/checkpoint_letters.h"
#include "krohn/simulate/evaluate/evaluate.h"
#include "krohn/simulate/learned/trained_reader.h"
#include "krohn/simulate/prove/steps.h"
#include "krohn/simulate/prove/verify.h"
#include "tools/krohn/models/run_folder.h"
#include "tools/krohn/report/json_output.h"
#include "tools/krohn/report/verdict.h"
#include "tools/python/bindings/bindings.h"

namespace krohn::python {
namespace {

using nb::literals::operator""_a;

/// A certificate with what it speaks of.
struct GivenVerdict {
  ModelVerdict verdict;
  Alphabet alphabet;
  std::optional<Network> network;  ///< none: a checkpoint or a trained model
};

/// A language and what it is called.
using Named = std::optional<std::pair<std::string, Dfa>>;

std::optional<Language> language_of(const Named& against) {
  if (!against) return std::nullopt;
  return Language{against->first, against->second};
}

/// Its progress is heard by the listener of this thread.
Question begin_question(const std::string& arithmetic, std::uint64_t max_pairs, double max_seconds) {
  Question question;
  question.how.arithmetic = ArithmeticName::parse(arithmetic);
  question.how.max_pairs = max_pairs;
  question.how.max_seconds = max_seconds;
  question.progress = progress_of_stages();
  return question;
}

GivenVerdict verify(const Network& network, const Named& against, const std::string& arithmetic,
                    const std::string& order, bool dense, std::uint64_t max_pairs, double max_seconds,
                    nb::object progress) {
  const ProgressListener listener(telling(std::move(progress)));
  const Working working;
  Question question = begin_question(arithmetic, max_pairs, max_seconds);
  question.subject = &network;
  question.against = language_of(against);
  question.how.any_order = order == "any";
  if (!question.how.any_order) question.how.order = parse_order(order);
  question.how.form = dense ? Form::kDense : Form::kStructured;
  return {krohn::verify(question), network.automaton.alphabet(), network};
}

/// As `krohn verify FOLDER --against …`: the folder's own automaton counts, and is compared, where it has one.
GivenVerdict verify_checkpoint(const std::string& folder, const Named& against, const std::string& precision,
                               std::uint64_t max_pairs, double max_seconds, nb::object progress) {
  const ProgressListener listener(telling(std::move(progress)));
  const Working working;
  Checkpoint checkpoint = load_checkpoint(folder);
  const bool has_own = checkpoint.automaton.has_value();
  if (!has_own && against) checkpoint = load_checkpoint(folder, against->second);
  const CheckpointModel model(checkpoint, parse_precision(precision));
  const auto reader = checkpoint_reader(checkpoint, model);
  const TrackedAutomaton tracked = tracked_by(checkpoint);
  const ReadModel read{*reader, tracked, [&](Output token) { return output_of_token(checkpoint, token); }};
  Question question = begin_question(precision, max_pairs, max_seconds);
  question.subject = &read;
  question.name = folder;
  if (has_own) question.against = language_of(against);
  return {krohn::verify(question), checkpoint.automaton->alphabet(), std::nullopt};
}

/// As `krohn verify FOLDER`, of a folder of `krohn train` or `krohn import`: against its task's automaton or `against`.
GivenVerdict verify_trained(const std::string& folder, const Named& against, const std::string& precision,
                            std::uint64_t max_pairs, double max_seconds, nb::object progress) {
  const ProgressListener listener(telling(std::move(progress)));
  const Working working;
  const TrainedSubject subject = load_trained_subject(file_of_run(folder), {});
  const Dfa own = input_machine(*subject.task).automaton;
  const auto reader = trained_machine(*subject.trained.model, *subject.task, parse_precision(precision));
  const TrackedAutomaton tracked = tracked_automaton(*subject.task, against ? against->second : own);
  const ReadModel read{*reader, tracked, [&](Output output) { return own.output_names()[output]; }};
  Question question = begin_question(precision, max_pairs, max_seconds);
  question.subject = &read;
  question.name = folder;
  return {krohn::verify(question), own.alphabet(), std::nullopt};
}

std::string facts(const GivenVerdict& verdict) {
  return json_text(verdict_to_json(verdict.verdict.certificate, verdict.alphabet));
}

const Network& network_of(const GivenVerdict& verdict) {
  if (verdict.network) return *verdict.network;
  throw InputError("certificates of checkpoints are not written as files: the format is for krohn's own networks");
}

nb::object failing_word(const GivenVerdict& verdict) {
  const Word* word = verdict.verdict.certificate.failing_word();
  if (!word) return nb::none();
  return nb::cast(owned(std::vector<std::int64_t>(word->begin(), word->end()), {word->size()}));
}

std::string sampled(const Network& network, const std::string& arithmetic, const std::string& order,
                    std::vector<std::uint64_t> lengths, std::uint64_t words, std::uint64_t seed, nb::object progress) {
  const ProgressListener listener(telling(std::move(progress)));
  const Working working;
  Progress told("testing letters");
  SampleOptions options;
  options.lengths = std::move(lengths);
  options.words = words;
  options.seed = seed;
  options.order = parse_order(order);
  options.progress = [&told](std::uint64_t done, std::uint64_t all) { told.update(done, all); };
  const SampleReport report = sample(network, ArithmeticName::parse(arithmetic), options);
  nlohmann::ordered_json json;
  for (const LengthReport& row : report.lengths)
    json["lengths"].push_back({{"length", row.length},
                               {"words", row.words},
                               {"right_states", row.right_state},
                               {"right_outputs", row.right_output},
                               {"letters", row.letters},
                               {"right_letters", row.right_letters}});
  json["first_error"] = report.failing_at ? nlohmann::ordered_json(*report.failing_at) : nlohmann::ordered_json();
  return json_text(json);
}

}  // namespace

void bind_verify(nb::module_& module) {
  const Unlocked unlocked;
  const Standard standard;
  nb::class_<GivenVerdict>(module, "Verdict")
      .def("facts", &facts, standard)
      .def("headline",
           [](const GivenVerdict& verdict) { return claim_in_words(verdict.verdict.certificate, verdict.alphabet); })
      .def("failing_word", &failing_word)
      .def("text",
           [](const GivenVerdict& verdict) {
             const Network& network = network_of(verdict);
             return format_certificate(with_steps(verdict.verdict.certificate, network), network);
           })
      .def(
          "save",
          [](const GivenVerdict& verdict, const std::string& path) {
            const Network& network = network_of(verdict);
            save_certificate(with_steps(verdict.verdict.certificate, network), network, path);
          },
          unlocked, "path"_a);
  module.def("verify", &verify, "network"_a, "against"_a.none(), "arithmetic"_a, "order"_a, "dense"_a, "max_pairs"_a,
             "max_seconds"_a, "progress"_a.none());
  module.def("verify_checkpoint", &verify_checkpoint, "folder"_a, "against"_a.none(), "precision"_a, "max_pairs"_a,
             "max_seconds"_a, "progress"_a.none());
  module.def("verify_trained", &verify_trained, "folder"_a, "against"_a.none(), "precision"_a, "max_pairs"_a,
             "max_seconds"_a, "progress"_a.none());
  module.def("sample", &sampled, "network"_a, "arithmetic"_a, "order"_a, "lengths"_a, "words"_a, "seed"_a,
             "progress"_a.none());
}

}  // namespace krohn::python
