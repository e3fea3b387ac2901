// krohn verify — proves a network, or shows a word on which it fails.

#include <fmt/format.h>

#include <memory>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/formats/json.h"
#include "krohn/constructions/checkpoints/checkpoint.h"
#include "krohn/constructions/files/network_file.h"
#include "krohn/gpu/device/device.h"
#include "krohn/gpu/networks/ordered_words.h"
#include "krohn/gpu/networks/pair_search.h"
#include "krohn/gpu/networks/sample_words.h"
#include "krohn/groups/atomic_file.h"
#include "krohn/groups/error.h"
#include "krohn/simulate/check/certificate_file.h"
#include "krohn/simulate/evaluate/evaluate.h"
#include "krohn/simulate/evaluate/lanes/accepted_word.h"
#include "krohn/simulate/prove/certify.h"
#include "krohn/simulate/prove/certify_reachable.h"
#include "krohn/simulate/prove/long_words/wrong_word.h"
#include "krohn/simulate/prove/network_automaton.h"
#include "tools/krohn/against.h"
#include "tools/krohn/checkpoint_verdict.h"
#include "tools/krohn/count.h"
#include "tools/krohn/json_output.h"
#include "tools/krohn/long_test.h"
#include "tools/krohn/on_device.h"
#include "tools/krohn/progress.h"
#include "tools/krohn/run_folder.h"
#include "tools/krohn/subject.h"
#include "tools/krohn/table.h"
#include "tools/krohn/trained_verdict.h"
#include "tools/krohn/verb.h"
#include "tools/krohn/verdict.h"

namespace krohn {
namespace {

constexpr VerbHelp kHelp = {
    "verify", "Prove a network, or refute it by a word",
    "verify MODEL [--against LANGUAGE] [--length N] [--precision fp32] [--order sequential] [--form structured]",
    R"(
krohn verify abb.safetensors --length 1e8
krohn verify s5.safetensors --precision bf16 --certificate s5.cert.json
krohn verify s5.safetensors --precision bf16 --order scan
krohn verify z5.safetensors --against name:Z5 --precision bf16
krohn verify s5.safetensors --length 1e9 --save s5.run.json
)",
    R"(Proves that MODEL computes its automaton for words of every length, in the stated arithmetic, letter after letter; or
shows a shortest word on which it fails; or says how far it came. First the codewords are tried (a proof by induction),
then all reachable pairs of automaton and network states, then bounds for any weights, trained ones too: steps that
contract are proved for every length, others up to the length at which errors could reach the decoder's margin. The
search of pairs goes on to --max-pairs or --time; the strongest claim is printed. Where it is a proof up to fewer than
4096 letters, a million letters of longer words follow, powers of short ones and random ones, and a wrong one refutes.
--order multiplies the letters' matrices as chunked kernels (chunked:64) and parallel scans (scan, doubling) do: where
nothing rounds, the proof holds in every association; where numbers round, each order is proved or refuted by itself.
--against names the language that MODEL has to compute instead of trusting the automaton in the file.
A folder of `krohn train` is the network in it; a model that is none (a non-linear way out, several layers) is read
letter by letter in fp32 or fp64, every operation rounded by itself, and held against the automaton of its task where
the task asks: pairs of automaton state and all that the model remembers are searched, then long words, of which the
shortest wrong one found refutes. --length also runs random words of that length, or
random --accepted words where few are accepted: a test, not a proof. Up to 10^8 letters in all, and in other orders than
the sequential one, the network is evaluated letter by letter; beyond, its reachable states under the stated arithmetic
are found first, bit for bit, and the automaton that they are runs beside the automaton of the language, at the speed of
automata; the output says which (--through chooses). Such a run can be stopped with Ctrl-C when it is saved to a file,
and --resume goes on.
Exit status: 0 proved (with --length: at least so far), 1 refuted, 2 bad input, 3 undecided within the limits.
)"};

constexpr std::size_t kColumns = 100;

struct Options {
  std::string model, against, precision = "fp32", order = "sequential", form = "structured", device = "auto",
                              certificate, through = "auto", save, resume;
  std::uint64_t length = 0, from = 0, words = 1, max_pairs = CertifyOptions{}.max_pairs, seed = 1;
  unsigned threads = 0;
  double seconds = 0;
  LanguageOptions reading;
  bool accepted = false, test_only = false, json = false;
};

/// Nothing is proved yet.
Certificate untested(const Options& options) {
  Certificate certificate;
  certificate.arithmetic = ArithmeticName::parse(options.precision);
  certificate.form = parse_form(options.form);
  certificate.order = parse_order(options.order);
  return certificate;
}

/// A proof up to a few letters says little: errors that it could not bound add up in words of thousands.
void try_long_words(Certificate& certificate, const Network& network) {
  constexpr std::uint64_t kFew = 4096;  // about as far as the long words go
  if (certificate.claim != Claim::kProvedUpTo || certificate.length >= kFew || !certificate.order.is_sequential() ||
      certificate.arithmetic.is_exact())
    return;
  Progress progress("reading long words, letters");
  WrongWordOptions options;
  options.progress = [&progress](std::uint64_t letters) { progress.update(letters); };
  std::uint64_t letters = 0;
  std::optional<WrongWord> wrong = find_wrong_word(network, certificate.arithmetic, certificate.form, options, letters);
  if (!wrong) {
    certificate.evidence += fmt::format("; so were {} letters of longer words", with_thousands(letters));
    return;
  }
  certificate.evidence = fmt::format(
      "all words of up to {} letters are right; this is the shortest wrong one found in {} letters of powers "
      "of short words and random words",
      with_thousands(certificate.length), with_thousands(letters));
  certificate.claim = Claim::kRefuted;
  certificate.method = "long words";
  certificate.failing_word = std::move(wrong->word);
  certificate.shortest = false;
  certificate.proof = wrong->run;
  certificate.length = 0;
  certificate.limit.clear();
}

Certificate prove(const Network& network, const Options& options) {
  Progress progress("examining pairs of states");
  CertifyOptions certify_options;
  certify_options.arithmetic = ArithmeticName::parse(options.precision);
  certify_options.form = parse_form(options.form);
  certify_options.order = parse_order(options.order);
  certify_options.max_pairs = options.max_pairs;
  certify_options.max_seconds = options.seconds;
  certify_options.progress = [&progress](std::uint64_t pairs) { progress.update(pairs); };
  if (wants_cuda(options.device)) {
    certify_options.max_bytes = UINT64_MAX;  // the device's memory is the limit
    certify_options.search_pairs = [&options](const Network& searched, const CertifyOptions& how) {
      return on_device(
          options.device, [&] { return search_pairs(Place::kDevice, searched, how); },
          [&] {
            CertifyOptions here = how;
            here.max_bytes = CertifyOptions{}.max_bytes;
            return certify_reachable_set(searched, here);
          });
    };
  }
  Certificate certificate = certify(network, certify_options);
  progress.update(certificate.pairs);
  try_long_words(certificate, network);
  return certificate;
}

/// A device is worth it for many words side by side, or for one that is read by a scan; `--device cuda` insists.
bool tests_on_device(const Options& options) {
  constexpr std::uint64_t kManyWords = 1024, kManyLetters = 10'000'000;
  if (options.device == "cuda") return wants_cuda(options.device);
  const bool many = options.words >= kManyWords || options.order != "sequential";
  return many && options.length > kManyLetters / std::max<std::uint64_t>(options.words, 1) &&
         wants_cuda(options.device);
}

SampleReport test(const Network& network, const Options& options) {
  Progress progress("testing letters");
  SampleOptions sample_options;
  sample_options.lengths = {options.length};
  sample_options.words = options.words;
  sample_options.seed = options.seed;
  sample_options.threads = options.threads;
  sample_options.form = parse_form(options.form);
  sample_options.order = parse_order(options.order);
  sample_options.progress = [&progress](std::uint64_t done, std::uint64_t all) { progress.update(done, all); };
  if (options.accepted) {
    AcceptedWordStream words(network.automaton, options.length, options.words, options.seed);
    return sample_stream(network, ArithmeticName::parse(options.precision), words, sample_options);
  }
  const ArithmeticName arithmetic = ArithmeticName::parse(options.precision);
  const auto on_processor = [&] { return sample(network, arithmetic, sample_options); };
  if (!tests_on_device(options)) return on_processor();
  return on_device(
      options.device,
      [&] {
        return sample_options.order.is_sequential()
                   ? sample_words(Place::kDevice, network, arithmetic, sample_options)
                   : sample_words_in_order(Place::kDevice, network, arithmetic, sample_options);
      },
      on_processor);
}

/// Reads the word that failed once more, for the states at its end.
FailingRun failing_run(const Network& network, const SampleReport& report, const Options& options) {
  const auto evaluator = make_evaluator(network, ArithmeticName::parse(options.precision), parse_form(options.form));
  const std::uint64_t letters = *report.failing_at, stream = *report.failing_word_index;
  const RandomWord random(network.automaton.letters(), options.seed, stream);
  FailingRun run{{}, network.automaton.initial(), evaluator->current()};
  if (!report.failing_word) run.random = {options.seed, stream, letters};
  for (std::uint64_t t = 0; t < letters; ++t) {
    const Letter letter = report.failing_word ? (*report.failing_word)[t] : random.at(t);
    run.expected = network.automaton.next(run.expected, letter);
    run.given = evaluator->step(letter);
  }
  return run;
}

/// The network as an automaton, where a test through it was asked for or pays; nothing when letters are evaluated.
std::optional<Dfa> machine_for_test(const Network& network, const Options& options) {
  constexpr std::uint64_t kEvaluatedLetters = 100'000'000;
  const bool is_long = options.words != 0 && options.length > kEvaluatedLetters / options.words;
  const bool is_saved = !options.save.empty() || !options.resume.empty();
  if (is_saved && options.length == 0)
    throw InputError("--length", "how long are the words whose run is saved? Give it");
  if (options.length == 0 || network.automaton.letters() == 0) return std::nullopt;
  const ArithmeticName arithmetic = ArithmeticName::parse(options.precision);
  const bool is_by_letters =
      options.accepted || arithmetic.is_exact() || options.order != "sequential" || options.test_only;
  if (is_by_letters && (is_saved || options.through == "states"))
    throw InputError(options.test_only       ? "--test-only"
                     : options.accepted      ? "--accepted"
                     : arithmetic.is_exact() ? "--precision"
                                             : "--order",
                     "this is evaluated letter by letter and cannot be saved; leave out --save, --resume and --through "
                     "states");
  if (is_by_letters || options.through == "network" || (options.through == "auto" && !is_long && !is_saved))
    return std::nullopt;
  Progress progress("finding the network's states");
  ReachableMachineOptions machine_options;
  machine_options.progress = [&progress](std::uint64_t transitions) { progress.update(transitions); };
  auto machine = reachable_machine(network, arithmetic, parse_form(options.form), machine_options);
  if (!machine && (is_saved || options.through == "states"))
    throw LimitError(fmt::format(
        "{}: the network has more than {} reachable states, or {} transitions between them, so "
        "it is evaluated letter by letter: leave out --through states, --save and --resume",
        options.model, with_thousands(machine_options.max_states), with_thousands(machine_options.max_transitions)));
  return machine;
}

LongTestReport test_through_states(const Dfa& machine, const Network& network, const Options& options) {
  TestedWords tested;
  tested.model = fingerprint(read_file(options.model));
  tested.arithmetic = options.precision;
  tested.form = options.form;
  tested.length = options.length;
  tested.words = options.words;
  tested.seed = options.seed;
  LongTestOptions how{options.threads, wants_cuda(options.device), options.save, options.resume};
  const auto run = [&] { return run_long_test(machine, network.automaton, tested, how); };
  if (!how.on_cuda) return run();
  return on_device(options.device, run, [&] {
    how.on_cuda = false;
    return run();
  });
}

/// The letters up to the first disagreement, where there was one, and the word that it is in.
SampleReport as_sample(const LongTestReport& report, const Network& network, const Options& options) {
  SampleReport sample;
  sample.letters = report.letters;
  sample.failing_at = report.end.failing_at;
  if (sample.failing_at) sample.failing_word_index = report.end.word;
  if (sample.failing_at && *sample.failing_at <= kPrintableLength)
    sample.failing_word =
        RandomWord(network.automaton.letters(), options.seed, report.end.word).slice(0, *sample.failing_at);
  return sample;
}

/// Adds the random words to what is known: a disagreement refutes, agreement changes nothing.
void record(Certificate& certificate, const Network& network, const SampleReport& report, const Options& options) {
  certificate.letters_tested = report.letters;
  certificate.seed = options.seed;
  if (options.test_only && !options.accepted)
    certificate.proof = SampledWords{options.seed, options.words, options.length};
  if (!report.failing_at || certificate.claim == Claim::kRefuted) return;
  if (certificate.claim == Claim::kProved || certificate.length >= *report.failing_at)
    throw Error(
        fmt::format("{}: the random word of seed {} disagrees at letter {}, against the proof; please report this",
                    options.model, options.seed, *report.failing_at));
  certificate.claim = Claim::kRefuted;
  certificate.method = "sampled";
  certificate.evidence = fmt::format("the random word of seed {} disagrees at letter {}", options.seed,
                                     with_thousands(*report.failing_at));
  certificate.failing_word = report.failing_word;
  certificate.proof = {};
  if (certificate.order.is_sequential() && (report.failing_word || !options.accepted))
    certificate.proof = failing_run(network, report, options);
}

/// Whether the outcome can be written down for `krohn check`.
bool has_file(const Certificate& certificate) {
  return certificate.order.is_sequential() && !std::holds_alternative<std::monostate>(certificate.proof);
}

nlohmann::ordered_json to_json(const Options& options, const Certificate& certificate, const Network& network,
                               const std::optional<SampleReport>& tested,
                               const std::optional<LongTestReport>& through_states) {
  nlohmann::ordered_json json;
  json["model"] = options.model;
  json["language"] = options.against.empty() ? network.provenance.source : options.against;
  json["construction"] = network.provenance.construction;
  json["form"] = options.form;
  json["device"] = device_name(wants_cuda(options.device));
  json["verdict"] = verdict_to_json(certificate, network.automaton.alphabet());
  if (has_file(certificate))
    json["certificate"] = nlohmann::ordered_json::parse(format_certificate(certificate, network));
  if (through_states)
    json["sampled_through_states"] = {{"length", options.length},
                                      {"words", options.words},
                                      {"letters", through_states->letters},
                                      {"states", through_states->states},
                                      {"comparisons", through_states->end.comparisons},
                                      {"right", !through_states->end.failing_at.has_value()}};
  if (!tested) return json;
  for (const LengthReport& row : tested->lengths)
    json["sampled"].push_back({{"length", row.length},
                               {"words", row.words},
                               {"right_final_outputs", row.right_output},
                               {"letters", row.letters},
                               {"right_letters", row.right_letters}});
  return json;
}

void report(const Options& options, const Certificate& certificate, const Network& network,
            const std::optional<SampleReport>& tested, const std::optional<LongTestReport>& through_states) {
  fmt::print("{}: {}\n", visible(options.model), claim_in_words(certificate, network.automaton.alphabet()));
  fmt::print("  {}, {} weights, {} evaluation{}\n", to_string(certificate.arithmetic), options.form,
             to_string(certificate.order), wants_cuda(options.device) ? ", long work on " + cuda_status() : "");
  const auto line = [](const std::string& text) { fmt::print("  {}\n", wrapped(text, kColumns, "    ")); };
  if (!certificate.method.empty()) line(certificate.method + ": " + certificate.evidence);
  if (!certificate.limit.empty()) line("limit met: " + certificate.limit);
  if (through_states)
    line(
        fmt::format("{} letters of random words, seed {}, through the {} state{} that the network reaches, compared {} "
                    "times: {}",
                    with_thousands(through_states->letters), options.seed, with_thousands(through_states->states),
                    through_states->states == 1 ? "" : "s", with_thousands(through_states->end.comparisons),
                    through_states->end.failing_at ? "wrong" : "all right"));
  if (!tested) return;
  for (const LengthReport& row : tested->lengths)
    fmt::print("  {} letters of random {}words, seed {}: {} right\n", with_thousands(row.letters),
               options.accepted ? "accepted " : "", options.seed,
               row.letters == row.right_letters ? "all" : with_thousands(row.right_letters));
}

CheckpointQuestion question_of(const Options& options) {
  CheckpointQuestion question;
  question.folder = options.model;
  question.against = options.against;
  question.reading = options.reading;
  question.precision = options.precision;
  question.max_pairs = std::min(options.max_pairs, question.max_pairs);
  const Order order = parse_order(options.order);
  question.in_chunks = order == Order{Order::Kind::kChunked, Order::kDefaultChunk};
  if (!question.in_chunks && !order.is_sequential())
    throw InputError("--order", "checkpoints are read token by token, or in the library's chunks of 64 tokens");
  question.length = options.length;
  question.words = options.words;
  question.device = options.device;
  question.seed = options.seed;
  question.json = options.json;
  return question;
}

void write_certificate(const Options& options, const Certificate& certificate, const Network& network) {
  if (options.certificate.empty()) return;
  if (has_file(certificate)) {
    save_certificate(certificate, network, options.certificate);
    if (certificate.claim == Claim::kProvedUpTo && length_in_file(certificate) < certificate.length)
      fmt::print(stderr, "krohn: {} claims the first {} of these letters, by a bound that `krohn check` can follow\n",
                 options.certificate, with_thousands(length_in_file(certificate)));
    return;
  }
  fmt::print(stderr,
             "krohn: {} is not written: certificate files hold closed codewords, closed sets, linear horizons, failing "
             "words of the model's own automaton and samples, not this \"{}\"\n",
             options.certificate, certificate.method);
}

TrainedQuestion trained_question_of(const Options& options) {
  TrainedQuestion question;
  question.file = options.model;
  question.against = options.against;
  question.reading = options.reading;
  question.precision = options.precision;
  if (options.max_pairs != CertifyOptions{}.max_pairs) question.max_pairs = options.max_pairs;
  question.seconds = options.seconds;
  question.least_length = options.from;
  question.length = options.length;
  question.words = options.words;
  question.seed = options.seed;
  question.json = options.json;
  if (!parse_order(options.order).is_sequential())
    throw InputError("--order", "a trained model that is no network is read letter after letter");
  if (options.device == "cuda")
    throw InputError("--device", "a trained model that is no network is verified on the processor; take --device cpu");
  if (!options.certificate.empty())
    throw InputError("--certificate", "certificate files are of networks; of a trained model take --json");
  if (!options.save.empty() || !options.resume.empty() || options.accepted || options.test_only)
    throw InputError(options.model, "a trained model takes none of --save, --resume, --accepted and --test-only");
  return question;
}

int verify(Options options) {
  options.model = file_of_torch_folder(file_of_run(options.model));
  wants_cuda(options.device);  // or say at once that there is none
  if (is_checkpoint_folder(options.model)) {
    if (!options.certificate.empty())
      throw InputError("--certificate", "certificate files are of .safetensors models; of a checkpoint take --json");
    if (options.device == "cuda" && options.length == 0)
      throw InputError("--device",
                       "checkpoints are proved on the processor; a device reads random words: add --length");
    return verify_checkpoint(question_of(options));
  }
  require_model(options.model, "verify");
  if (is_trained_model(options.model)) return verify_trained(trained_question_of(options));
  const Network network = load_network(options.model);
  if (options.test_only && options.length == 0)
    throw InputError("--test-only", "say with --length how many letters to test");
  Certificate certificate = options.test_only ? untested(options) : prove(network, options);
  try_long_words(certificate, network);
  if (!options.against.empty()) compare_with_language(certificate, network, options.against, options.reading);
  std::optional<SampleReport> tested;
  std::optional<LongTestReport> through_states;
  if (const auto machine = machine_for_test(network, options)) {
    through_states = test_through_states(*machine, network, options);
    record(certificate, network, as_sample(*through_states, network, options), options);
  } else if (options.length > 0) {
    tested = test(network, options);
    record(certificate, network, *tested, options);
  }
  write_certificate(options, certificate, network);
  if (options.json)
    print_json(to_json(options, certificate, network, tested, through_states));
  else
    report(options, certificate, network, tested, through_states);
  return exit_status(certificate, options.length);
}

}  // namespace

void add_verify(CLI::App& app, Work& chosen) {
  const auto options = std::make_shared<Options>();
  Verb verb = add_verb(app, kHelp);
  verb.add_option("MODEL", options->model, "A .safetensors file, or a folder of `krohn train`").required();
  verb.add_option("--against", options->against, "The language that MODEL has to compute").type_name("LANGUAGE");
  add_arithmetic(verb, options->precision, "The arithmetic of the proof");
  add_order(verb, options->order);
  verb.add_option("--form", options->form, "Which form of the weights is multiplied with")
      .one_of({"structured", "dense"})
      .show_default();
  add_count(verb, "--max-pairs", options->max_pairs, "Most pairs of states, or products of matrices, to examine");
  verb.add_option("--time", options->seconds, "Most seconds for each search, of pairs and of bounds")
      .type_name("SECONDS")
      .positive();
  add_count(verb, "--from", options->from, "Of a trained model: shorter words of its task are not asked about")
      .show_default("");
  verb.add_option("--certificate", options->certificate, "Write what was found, for `krohn check`").type_name("FILE");
  const std::string sampling = "Testing beside the proof";
  add_count(verb, "--length", options->length, "Also run random words of this length").show_default("").group(sampling);
  add_count(verb, "--words", options->words, "How many").group(sampling);
  verb.add_flag("--test-only", options->test_only, "Prove nothing, only test").group(sampling);
  verb.add_flag("--accepted", options->accepted, "Take them from the accepted words").group(sampling);
  add_seed(verb, options->seed).group(sampling);
  add_threads(verb, options->threads).group(sampling);
  verb.add_option("--through", options->through, "What reads them: the network letter by letter, or its states")
      .one_of({"auto", "network", "states"})
      .show_default()
      .group(sampling);
  verb.add_option("--save", options->save, "Save the run through states here every five seconds")
      .type_name("FILE")
      .group(sampling);
  verb.add_option("--resume", options->resume, "Go on with a saved run, and save it there")
      .type_name("FILE")
      .group(sampling);
  verb.add_option("--device", options->device, "Where networks run")
      .one_of({"auto", "cpu", "cuda"})
      .show_default()
      .group(sampling);
  add_json_flag(verb, options->json);
  add_language_options(verb, options->reading);
  verb.callback([options, &chosen] { chosen = [options] { return verify(*options); }; });
}

}  // namespace krohn
