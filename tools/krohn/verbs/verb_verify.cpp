// krohn verify — proves a model, or shows a word on which it fails.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "krohn/automata/formats/json.h"
#include "krohn/constructions/checkpoints/checkpoint.h"
#include "krohn/constructions/files/network_file.h"
#include "krohn/gpu/device/device.h"
#include "krohn/gpu/networks/device_place.h"
#include "krohn/groups/base/atomic_file.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/simulate/check/certificate_file.h"
#include "krohn/simulate/prove/verify.h"
#include "krohn/simulate/shards/part_file.h"
#include "tools/krohn/joined_ranks.h"
#include "tools/krohn/models/asked_model.h"
#include "tools/krohn/models/long_test.h"
#include "tools/krohn/models/run_folder.h"
#include "tools/krohn/models/subject.h"
#include "tools/krohn/report/output.h"
#include "tools/krohn/report/verdict.h"
#include "tools/krohn/verb.h"

namespace krohn {
namespace {

struct VerifyArguments {
  ModelOptions asked;
  RandomTest random;
  KeptSearch kept;
  std::string precision, order = "sequential", form = "structured", certificate, through = "auto", save, resume;
  bool test_only = false, json = false;
};

CertifyOptions how_of(const VerifyArguments& options, const ProvingPlace* place) {
  CertifyOptions how = options.asked.how;
  how.arithmetic = ArithmeticName::parse(options.precision);
  how.form = parse_form(options.form);
  how.order = parse_order(options.order);
  if (how.any_order && !how.order.is_sequential())
    throw InputError("--any-order", "covers every order; leave --order out");
  how.max_seconds = given_limits().seconds;
  how.seed = options.random.seed;
  how.place = place;
  return how;
}

TestedWords tested_words(const VerifyArguments& options) {
  TestedWords tested;
  tested.model = digest_of_work({}, {file_of_torch_folder(file_of_run(options.asked.model))});
  tested.arithmetic = options.precision;
  tested.form = options.form;
  tested.length = options.random.length;
  tested.words = options.random.words;
  tested.seed = options.random.seed;
  return tested;
}

/// A run through states that is saved and gone on with.
ThroughStates long_test(const Dfa& machine, const Dfa& automaton, const VerifyArguments& options) {
  const TestedWords tested = tested_words(options);
  LongTestOptions how{options.random.threads, !has_ranks() && wants_cuda(options.asked.device), has_ranks(),
                      options.save, options.resume};
  if (const std::string kept = options.kept.folder + "/words.json"; !options.kept.folder.empty()) {
    if (how.save.empty()) how.save = kept;
    if (how.resume.empty() && std::filesystem::exists(kept)) how.resume = kept;
  }
  const auto run = [&] { return run_long_test(machine, automaton, tested, how); };
  const LongTestReport report = how.on_cuda ? on_device(options.asked.device, run,
                                                        [&] {
                                                          how.on_cuda = false;
                                                          return run();
                                                        })
                                            : run();
  return {report.states, report.letters, report.end.comparisons, report.end.failing_at, report.end.word, report.by};
}

RandomTest random_words(const VerifyArguments& options) {
  RandomTest random = options.random;
  random.through = options.through == "states"    ? RandomTest::Through::kStates
                   : options.through == "network" ? RandomTest::Through::kNetwork
                                                  : RandomTest::Through::kAuto;
  random.must_compare = !options.save.empty() || !options.resume.empty();
  random.compare = [&options](const Dfa& machine, const Dfa& automaton) {
    return long_test(machine, automaton, options);
  };
  return random;
}

/// Why no outcome of the question can be written down for `krohn check`; empty where some can.
std::string why_without_file(const CertifyOptions& how, const AskedModel& model) {
  if (std::string why = model.without_certificate(); !why.empty()) return why;
  if (how.order.is_sequential() || how.arithmetic.is_integer()) return "";
  return "certificate files are of the sequential order, or of any order";
}

/// The same of what was found.
std::string why_without_file(const Certificate& certificate) {
  if (has_file(certificate)) return {};
  return fmt::format("{} by \"{}\" has no file; docs/MATH.md says what has one",
                     certificate.is<Sampled>() ? "an open question" : "what was found", certificate.method);
}

/// With all its steps; why none of them are about shorter words is said.
template <class Subject>
Certificate listed(const Certificate& certificate, const Subject& subject, const std::string& file) {
  constexpr StepLimits kAnything{.max_steps = 100'000'000, .max_bytes = std::uint64_t{4} << 30};
  constexpr StepLimits kBesideWord{.max_steps = 100'000};
  Certificate result = listed_certificate(certificate, subject, kAnything, kBesideWord);
  if (result.is_shortest() != certificate.is_shortest())
    fmt::print(stderr, "krohn: {} shows that the word fails, not that no shorter one does: that takes more than {}\n",
               file, counted(kBesideWord.max_steps, "step"));
  return result;
}

void write_certificate(const std::string& file, const Certificate& certificate, const AskedModel& model) {
  if (const Network* network = model.network())
    save_certificate(listed(certificate, *network, file), *network, file);
  else
    save_certificate(listed(certificate, model.reader()->reader, file), *model.reader()->tensors, file);
  if (certificate.is<ProvedUpTo>() && length_in_file(certificate) < certificate.length())
    fmt::print(stderr, "krohn: {} claims the first {} of these letters, by a bound that `krohn check` can follow\n",
               file, with_thousands(length_in_file(certificate)));
}

/// For a program that asks in this process: the certificate may be written when the work is done.
TakenVerdict taken(const Certificate& certificate, const CertifyOptions& how, std::shared_ptr<AskedModel> model) {
  TakenVerdict taken{claim_in_words(certificate, model->alphabet()), std::nullopt, {}};
  if (const Word* word = certificate.failing_word()) taken.failing_word = *word;
  std::string why = why_without_file(how, *model);
  if (why.empty()) why = why_without_file(certificate);
  taken.save = [why, certificate, model = std::move(model)](const std::string& path) {
    if (!why.empty()) throw InputError("the certificate is not written: " + why);
    write_certificate(path, certificate, *model);
  };
  return taken;
}

void refuse_options_of_networks(const VerifyArguments& options, const CertifyOptions& how, const AskedModel& model) {
  const bool is_network = model.network() != nullptr;
  if (options.asked.how.any_order && !is_network && how.arithmetic != Precision::kFp32 &&
      how.arithmetic != Precision::kBf16 && how.arithmetic != Precision::kFp16)
    throw InputError("--any-order", "for a model that is no network, is about fp32 (leave --precision out), bf16 or fp16");
  if (options.asked.least_length > 0 && is_network)
    throw InputError("--from", "is for trained models, whose tasks may not ask about short words");
  if (const std::string why = why_without_file(how, model); !options.certificate.empty() && !why.empty())
    throw InputError("--certificate", why + "; of this question take --json");
  if (is_network) return;
  if (options.form != "structured") throw InputError("--form", "is for networks; this model has one form");
  if (options.asked.device == "cuda" && options.random.length == 0)
    throw InputError(
        "--device",
        "the proof of this model runs on the processor; a device reads its random words (--length, --words)");
  if (!options.save.empty() || !options.resume.empty() || options.random.accepted || options.through != "auto")
    throw InputError(options.asked.model, "this model takes none of --save, --resume, --accepted and --through");
}

/// Refuses before the proof files that cannot be written or resumed.
void refuse_files(const VerifyArguments& options) {
  for (const std::string& path : {options.certificate, options.save})
    if (!path.empty()) require_writable(path);
  if (!options.kept.folder.empty()) make_folder(options.kept.folder);
  if (!options.resume.empty()) load_run(options.resume, tested_words(options));
}

/// Not for words of every length.
bool is_open(const VerifyArguments& options, const ModelVerdict& verdict) {
  return !options.test_only && !verdict.certificate.is<Proved>() && !verdict.certificate.is<Refuted>();
}

nlohmann::ordered_json verdict_json(const VerifyArguments& options, const AskedModel& model,
                                    const ModelVerdict& verdict) {
  nlohmann::ordered_json json;
  json["model"] = options.asked.model;
  model.about(json);
  add_verdict(json, verdict, model.alphabet());
  if (is_open(options, verdict)) model.about_open(json);
  return json;
}

/// The findings before an interrupt, or the end of the time, if any.
ModelVerdict verdict_on(Question& question, bool& is_interrupted) {
  std::optional<ModelVerdict> found;
  question.found = [&found](const ModelVerdict& verdict) { found = verdict; };
  const auto says_something = [&found] {
    return !has_ranks() && found &&
           (found->certificate.is<Proved>() || found->certificate.length() > 0 || found->certificate.is<Refuted>());
  };
  try {
    return verify(question);
  } catch (const Interrupted&) {
    if (!says_something()) throw;
    Interruption::requested = false;  // what is left is to tell it
    is_interrupted = true;
  } catch (const LimitError& error) {
    if (!says_something()) throw;
    found->not_tested = error.what();
  }
  return *std::move(found);
}

int run_verify(VerifyArguments options) {
  if (options.precision.empty())
    options.precision = is_checkpoint_folder(options.asked.model) ? arithmetic_of_config(options.asked.model) : "fp32";
  const bool insists = options.asked.device == "cuda", is_kept = has_ranks() || !options.kept.folder.empty();
  if (insists && is_kept && !has_ranks())
    throw InputError("--device", "with --checkpoint searches run on processors; leave it out");
  if (insists && is_kept) wants_cuda(options.asked.device);  // whoever has none is told before anything is done
  const bool on_cuda = !is_kept && wants_cuda(options.asked.device);
  const auto here = place_on_ranks(options.kept, insists && !on_cuda);
  const auto note = [](const std::string& why) { fmt::print(stderr, "krohn: on the processor instead: {}\n", why); };
  const DevicePlace device(insists, note, here.get());
  Question question;
  question.how = options.asked.how = how_of(options, on_cuda ? &device : here.get());
  const std::shared_ptr<AskedModel> model = load_asked_model(options.asked);
  refuse_options_of_networks(options, question.how, *model);
  refuse_files(options);
  question.name = options.asked.model;
  question.random = random_words(options);
  question.test_only = options.test_only;
  question.progress = progress_of_stages();
  model->ask_in(question);
  bool is_interrupted = false;
  const ModelVerdict verdict = verdict_on(question, is_interrupted);
  question.progress = {};  // a line of progress is cleared before anything is printed
  if (VerdictTaker::is_wanted()) VerdictTaker::leave(taken(verdict.certificate, question.how, model));
  if (const std::string why = why_without_file(verdict.certificate); !options.certificate.empty() && !why.empty())
    fmt::print(stderr, "krohn: {} is not written: {}\n", options.certificate, why);
  else if (!options.certificate.empty())
    write_certificate(options.certificate, verdict.certificate, *model);
  if (model->network() == nullptr) {
    const bool is_refuted = verdict.certificate.is<Refuted>();
    question.how.any_order = verdict.certificate.holds_in_any_order() || (question.how.any_order && !is_refuted);
    question.how.arithmetic = verdict.certificate.arithmetic;
  }
  if (options.json) {
    print_json(verdict_json(options, *model, verdict));
  } else {
    std::vector<std::string> about = model->about(question);
    if (is_open(options, verdict)) std::ranges::move(model->about_open(), std::back_inserter(about));
    print_verdict(options.asked.model, about, question, verdict, model->alphabet());
  }
  if (is_interrupted) throw Interrupted("interrupted: the random words were not read to the end");
  if (!verdict.not_tested.empty()) fmt::print(stderr, "krohn: {}\n", verdict.not_tested);
  if (!verdict.not_tested.empty() && !verdict.certificate.is<Refuted>()) return kUndecided;
  return exit_status(verdict.certificate, options.random.length);
}

}  // namespace

Work add_verify(Verb& verb) {
  const auto options = std::make_shared<VerifyArguments>();
  verb.add_option("MODEL", options->asked.model, "A .safetensors file, a folder of `krohn train`, or a checkpoint")
      .required();
  verb.add_option("--against", options->asked.against, "The language that MODEL has to compute").type_name("LANGUAGE");
  add_arithmetic(verb, options->precision, "The arithmetic of the proof")
      .show_default("fp32; of a checkpoint whose config says bfloat16, bf16");
  add_order(verb, options->order);
  verb.add_flag(
      "--any-order", options->asked.how.any_order,
      "Prove it for every order, split, batch and association, with or without FMA, in this or a wider format; of a "
      "trained model by closed regions");
  verb.add_option("--form", options->form, "Which form of the weights is multiplied with")
      .one_of({"structured", "dense"});
  add_count(verb, "--max-pairs", options->asked.how.max_pairs,
            "Most pairs of states, or products of matrices, to examine");
  add_count(verb, "--long-letters", options->asked.how.long_letters,
            "Most letters of long words to try where few are proved");
  add_size(verb, "--memory", options->asked.how.max_bytes,
           "Memory of a process for pairs: bytes, or 500M, 8G; the rest goes to disk");
  add_size(verb, "--disk", options->kept.max_disk_bytes, "Most that a process writes to the disk for it; 0: nothing");
  add_count(verb, "--from", options->asked.least_length,
            "Of a trained model whose task answers at the end alone: shorter words are not asked about")
      .show_default("");
  verb.add_option("--expect", options->asked.expect, "Of an imported model: compare it with its own forward pass first")
      .type_name("FILE");
  verb.add_option("--certificate", options->certificate, "Write the verdict, for `krohn check`").type_name("FILE");
  verb.add_option("--checkpoint", options->kept.folder, "Keep long work in this folder, and continue from there")
      .type_name("FOLDER");
  verb.add_option("--checkpoint-every", options->kept.seconds, "Seconds between two commits of a search")
      .type_name("SECONDS")
      .between(0, 1e9);
  verb.begin_group("Testing beside the proof");
  add_count(verb, "--length", options->random.length, "Also run random words of this length").show_default("");
  add_count(verb, "--words", options->random.words, "How many");
  verb.add_flag("--test-only", options->test_only, "Prove nothing, only test");
  verb.add_flag("--accepted", options->random.accepted, "Take them from the accepted words");
  add_seed(verb, options->random.seed);
  add_threads(verb, options->random.threads);
  verb.add_option("--through", options->through, "What reads them: the network letter by letter, or its states")
      .one_of({"auto", "network", "states"});
  verb.add_option("--save", options->save, "Save the run through states here every five seconds").type_name("FILE");
  verb.add_option("--resume", options->resume, "Go on with a saved run, and save it there").type_name("FILE");
  add_device(verb, options->asked.device, "Where networks run");
  verb.begin_group();
  add_json_flag(verb, options->json);
  add_language_options(verb, options->asked.reading);
  return [options] { return run_verify(*options); };
}

}  // namespace krohn
