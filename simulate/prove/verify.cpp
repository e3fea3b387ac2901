#include "krohn/simulate/prove/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "krohn/groups/base/float_environment.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/simulate/check/certificate_file.h"
#include "krohn/simulate/check/recheck.h"
#include "krohn/simulate/check/recheck_arithmetic.h"
#include "krohn/simulate/evaluate/lanes/sample.h"
#include "krohn/simulate/prove/certify.h"
#include "krohn/simulate/prove/pairs/certify_reader.h"
#include "krohn/simulate/prove/pairs/network_machine.h"
#include "krohn/simulate/prove/place.h"
#include "krohn/simulate/prove/self_check.h"
#include "krohn/simulate/run/long_comparison.h"

namespace krohn {
namespace {

/// The share of the time before what was found is checked and random words are read.
constexpr double kShareOfFinding = 0.85;

std::function<void(std::uint64_t)> told(const Question& question, std::string_view what) {
  if (!question.progress) return {};
  return [&question, what](std::uint64_t done) { question.progress(what, done, 0); };
}

std::function<void(std::uint64_t, std::uint64_t)> told_of(const Question& question, std::string_view what) {
  if (!question.progress) return {};
  return [&question, what](std::uint64_t done, std::uint64_t all) { question.progress(what, done, all); };
}

constexpr std::string_view kLongWords = "searching for a failing word, letters";

bool is_proof(const Certificate& certificate) {
  return certificate.is<Proved>() || (certificate.is<ProvedUpTo>() && certificate.length() > 0);
}

/// Nothing is proved yet.
Certificate untested(const CertifyOptions& how) {
  Certificate certificate;
  certificate.arithmetic = how.arithmetic;
  certificate.form = how.form;
  certificate.order = how.order;
  return certificate;
}

// ---- What a verdict does to itself

[[noreturn]] void contradict(const Question& question, const std::string& what) {
  throw Contradiction(fmt::format(
      "{}: {}, against the proof. This is a mistake in krohn, not in the model: please report it, with the model",
      question.name, what));
}

bool remembers_infinity(const Certificate& certificate) {
  const auto* const reached = std::get_if<ReachedPairs>(&certificate.proof);
  const auto is_finite = [](double number) { return std::isfinite(number); };
  return reached != nullptr && !std::ranges::all_of(reached->list, [&](const ReachedPair& pair) {
           return std::ranges::all_of(
               pair.numbers, [&](const std::vector<double>& list) { return std::ranges::all_of(list, is_finite); });
         });
}

void check_again(ModelVerdict& verdict, const Network& network, const Question& question) {
  const Certificate& certificate = verdict.certificate;
  if (!certificate.order.is_sequential() || std::holds_alternative<std::monostate>(certificate.proof)) return;
  Certificate written = certificate;
  if (certificate.is<ProvedUpTo>()) written.claim = ProvedUpTo{length_in_file(certificate)};
  try {
    written = with_steps(std::move(written), network);
    if (remembers_infinity(written)) {
      verdict.self_check.not_rechecked = "a number that is remembered is not finite, which certificates do not write";
      verdict.certificate.proof = {};
      return;
    }
    const Recheck outcome = recheck(written, network);
    if (!outcome.established) contradict(question, "the re-check of the certificate says: " + outcome.finding);
    verdict.self_check.is_rechecked = true;
    if (length_in_file(certificate) < certificate.length())
      verdict.self_check.rechecked_length = length_in_file(certificate);
  } catch (const LimitError& error) {
    verdict.self_check.not_rechecked = error.what();
  }
}

/// The claimed arithmetic, or for a claim of any order some that differ: by FMA, wider numbers, compositions of
/// letters.
std::vector<Certificate> ways_to_read(const Certificate& certificate) {
  if (!certificate.holds_in_any_order()) return {certificate};
  std::vector<Certificate> ways(5, certificate);
  ways[1].order = parse_order("scan");
  ways[2].order = parse_order("doubling");
  ways[3].arithmetic = ArithmeticName::parse(to_string(certificate.arithmetic) + "+fma");
  ways[4].arithmetic = Precision::kFp64;
  return ways;
}

void replay_built(ModelVerdict& verdict, const Network& network, const Question& question) {
  const std::vector<Certificate> read = ways_to_read(verdict.certificate);
  for (const Certificate& certificate : read) {
    std::uint64_t letters = 0;
    if (const auto wrong = replay(network, certificate, question.replayed_letters / read.size(), letters))
      contradict(question,
                 fmt::format("{} is read wrongly in {}, {}", quoted_word(network.automaton.alphabet(), *wrong),
                             to_string(certificate.arithmetic), to_string(certificate.order)));
    verdict.self_check.replayed_letters += letters;
  }
}

/// The subject of the checks, whatever a language or random words change later.
void remember(ModelVerdict& verdict) {
  verdict.self_check.length = verdict.certificate.is<Proved>() ? 0 : verdict.certificate.length();
}

// ---- Random words

void refute_by_random_word(ModelVerdict& verdict, const Question& question, std::uint64_t at,
                           std::uint64_t word_index) {
  Certificate& certificate = verdict.certificate;
  const std::string which = word_index == 0 ? "" : fmt::format(" (number {})", word_index);
  const std::string what = fmt::format("the random word of seed {}{} is read wrongly after {}", question.random.seed,
                                       which, counted(at, "letter"));
  if (certificate.is<Proved>() || (certificate.is<ProvedUpTo>() && certificate.length() >= at))
    contradict(question, what);
  certificate.claim = Refuted{};
  certificate.method = "sampled";
  certificate.evidence = what;
  certificate.limit.clear();
  certificate.proof = {};
}

/// The states at the end of the word that failed: it is read once more.
FailingRun failing_run(const Network& network, const SampleReport& report, const Question& question) {
  const auto evaluator = make_evaluator(network, question.how.arithmetic, question.how.form);
  const std::uint64_t letters = *report.failing_at, stream = *report.failing_word_index;
  const RandomWord random(network.automaton.letters(), question.random.seed, stream);
  FailingRun run{{}, network.automaton.initial(), evaluator->current()};
  if (!report.failing_word) run.random = {question.random.seed, stream, letters};
  for (std::uint64_t t = 0; t < letters; ++t) {
    const Letter letter = report.failing_word ? (*report.failing_word)[t] : random.at(t);
    run.expected = network.automaton.next(run.expected, letter);
    run.given = evaluator->step(letter);
  }
  return run;
}

/// The same where the network's automaton is known: a word of 10^10 letters is not evaluated.
FailingRun failing_run(const Dfa& machine, const Dfa& automaton, const SampleReport& report, const Question& question) {
  const std::uint64_t letters = *report.failing_at, stream = *report.failing_word_index;
  const RandomWord random(automaton.letters(), question.random.seed, stream);
  const Output given = machine.output(Runner(machine).run(random, 0, letters, machine.initial()));
  FailingRun run{{}, Runner(automaton).run(random, 0, letters, automaton.initial()), std::nullopt};
  if (!report.failing_word) run.random = {question.random.seed, stream, letters};
  if (given < automaton.states()) run.given = given;
  return run;
}

/// `run_of` says how the failing word ends.
void record(ModelVerdict& verdict, const SampleReport& report, const Question& question,
            const std::function<FailingRun()>& run_of) {
  Certificate& certificate = verdict.certificate;
  certificate.letters_tested = report.letters;
  certificate.seed = question.random.seed;
  if (question.test_only && !question.random.accepted && certificate.is<Sampled>() && !report.failing_at)
    certificate.proof = SampledWords{question.random.seed, question.random.words, question.random.length};
  if (!report.failing_at || certificate.is<Refuted>()) return;
  refute_by_random_word(verdict, question, *report.failing_at, report.failing_word_index.value_or(0));
  certificate.claim = Refuted{report.failing_word};
  if (certificate.order.is_sequential() && (report.failing_word || !question.random.accepted))
    certificate.proof = run_of();
}

SampleReport sample_words(const Network& network, const Question& question) {
  const RandomTest& random = question.random;
  SampleOptions options;
  options.lengths = {random.length};
  options.words = random.words;
  options.seed = random.seed;
  options.threads = random.threads;
  options.form = question.how.form;
  options.order = question.how.order;
  options.progress = told_of(question, "testing letters");
  if (!random.accepted) {
    static const ProvingPlace here;
    return (question.how.place ? *question.how.place : here).sample(network, question.how.arithmetic, options);
  }
  AcceptedWordStream words(network.automaton, random.length, random.words, random.seed);
  return sample_stream(network, question.how.arithmetic, words, options);
}

void require_words(Letter letters, const RandomTest& random) {
  if (letters == 0) throw InputError("--length", "there are no words to draw: the alphabet is empty");
  if (random.words == 0) throw InputError("--words", "how many random words? Take at least one");
}

bool must_go_through_states(const RandomTest& random) {
  return random.must_compare || random.through == RandomTest::Through::kStates;
}

/// The cases that are never read through states.
bool evaluates_letters(const Question& question) {
  return question.random.accepted || question.how.arithmetic.is_exact() || !question.how.order.is_sequential() ||
         question.test_only;
}

/// The network as an automaton, where a test through it was asked for or pays; nothing when letters are evaluated.
std::optional<Dfa> automaton_for_test(const Network& network, const Question& question) {
  constexpr std::uint64_t kEvaluatedLetters = 100'000'000;
  const RandomTest& random = question.random;
  const bool is_long = random.words != 0 && random.length > kEvaluatedLetters / random.words;
  const bool is_asked = must_go_through_states(random);
  if (evaluates_letters(question) || random.through == RandomTest::Through::kNetwork || (!is_asked && !is_long))
    return std::nullopt;
  NetworkAutomatonOptions options;
  options.progress = told(question, "finding the network's states");
  auto automaton = network_automaton(network, question.how.arithmetic, question.how.form, options);
  if (!automaton && is_asked)
    throw LimitError(
        fmt::format("the network has more than {} reachable states, or {} between them, so it is "
                    "evaluated letter by letter: leave out --through states, --save and --resume",
                    with_thousands(options.max_states), counted(options.max_transitions, "transition")));
  return automaton;
}

ThroughStates compare_automata(const Dfa& machine, const Network& network, const Question& question) {
  const RandomTest& random = question.random;
  if (random.compare) return random.compare(machine, network.automaton);
  const LongComparison comparison(machine, network.automaton, random.words, random.length, random.seed, random.threads);
  LongComparisonState state = comparison.start();
  while (!comparison.is_done(state)) {
    if (question.progress) question.progress("testing letters", comparison.letters_read(state), comparison.letters());
    comparison.read_piece(state);
  }
  return {machine.states(), comparison.letters_read(state), state.comparisons, state.failing_at, state.word, {}};
}

/// The letters up to the first disagreement, where there was one, and the word that it is in.
SampleReport as_sample(const ThroughStates& through, const Network& network, const Question& question) {
  SampleReport sample;
  sample.letters = through.letters;
  sample.failing_at = through.failing_at;
  if (!through.failing_at) return sample;
  sample.failing_word_index = through.failing_word_index;
  keep_failing_word(sample, network.automaton.letters(), question.random.seed);
  return sample;
}

void test(ModelVerdict& verdict, const Network& network, const Question& question) {
  if (const auto machine = automaton_for_test(network, question)) {
    verdict.through_states = compare_automata(*machine, network, question);
    const SampleReport sample = as_sample(*verdict.through_states, network, question);
    record(verdict, sample, question, [&] { return failing_run(*machine, network.automaton, sample, question); });
  } else {
    verdict.sampled = sample_words(network, question);
    const SampleReport& sample = *verdict.sampled;
    record(verdict, sample, question, [&] { return failing_run(network, sample, question); });
  }
}

/// Random words of the letters that may stand at each place.
void test(ModelVerdict& verdict, const ReadModel& model, const Question& question) {
  const RandomTest& asked = question.random;
  Certificate& certificate = verdict.certificate;
  certificate.seed = asked.seed;
  // Every word begins with the empty one.
  const TrackedAutomaton& tracked = model.tracked;
  const State initial = tracked.automaton.initial();
  if (tracked.is_asked(initial) && model.reader.answer_at_start().output != tracked.wanted[initial]) {
    verdict.has_failed_on_random_words = true;
    if (certificate.is<Refuted>()) return;
    refute_by_random_word(verdict, question, 0, 0);
    certificate.claim = Refuted{Word{}};
    return;
  }
  static const ProvingPlace here;
  const auto told = told_of(question, "testing letters");
  const std::optional<RandomFailure> wrong =
      model.first_failure ? model.first_failure(asked)
                          : (question.how.place ? *question.how.place : here).first_failure(model, asked, told);
  certificate.letters_tested = wrong ? wrong->at : asked.length * asked.words;
  const bool may_all_stand = std::ranges::find(tracked.wanted, TrackedAutomaton::kNoSuchWord) == tracked.wanted.end();
  if (!wrong && certificate.is<Sampled>() && may_all_stand)
    certificate.proof = SampledWords{asked.seed, asked.words, asked.length};
  verdict.has_failed_on_random_words = wrong.has_value();
  if (!wrong || certificate.is<Refuted>()) return;
  refute_by_random_word(verdict, question, wrong->at, wrong->word);
  if (wrong->at <= kPrintableLength)
    certificate.claim = Refuted{drawn_word(tracked, asked.seed, wrong->word, wrong->at)};
}

// ---- The two kinds of subject

/// As many tokens as some seconds suffice for: operations are evaluated one by one.
std::uint64_t tokens_to_recheck(const Operations& operations) {
  constexpr double kProducts = 1e10, kMaxTokens = 20'000;
  double products = 1;
  for (const Operation& operation : operations.list) {
    double numbers = std::max(1U, operation.terms);
    for (const std::uint32_t extent : operation.shape) numbers *= extent;
    products += numbers;
  }
  return static_cast<std::uint64_t>(std::clamp(kProducts / products, 1.0, kMaxTokens));
}

/// The file of what was found of a model whose operations are known, and the proof established again by it.
void give_file(ModelVerdict& verdict, const ReadModel& model, const Question& question) {
  Certificate& certificate = verdict.certificate;
  const bool is_whole = std::holds_alternative<SampledWords>(certificate.proof) ||
                        std::holds_alternative<ClosedRegions>(certificate.proof);
  if (!model.operations || !certificate.order.is_sequential()) {
    certificate.proof = {};
    return;
  }
  certificate.operations = model.operations;
  certificate.files = model.files;
  if (!is_whole) give_proof(certificate, model.reader, model.tracked);
  if (std::holds_alternative<std::monostate>(certificate.proof)) return;
  try {
    const StepLimits few{.max_steps = tokens_to_recheck(*model.operations)};
    const Recheck outcome =
        recheck(with_steps(certificate, model.reader, few), *model.tensors,
                {.max_letters = few.max_steps, .advice = "`krohn check` of its file reads as many as it is told to"});
    // Where a number is not finite, operations say nothing.
    const bool overflows = outcome.finding == kNotFinite;
    if (!outcome.established && is_proof(certificate) && !overflows)
      contradict(question, "the re-check of the certificate says: " + outcome.finding);
    verdict.self_check.is_rechecked = outcome.established && is_proof(certificate);
    if (!outcome.established) certificate.proof = {};
  } catch (const LimitError& error) {
    verdict.self_check.not_rechecked = error.what();
  }
}

Certificate by_regions(const RegionSearch& found, const TrackedAutomaton& tracked) {
  Certificate certificate;
  certificate.claim = Proved{.any_order = true};
  certificate.method = "closed regions";
  certificate.evidence = fmt::format(
      "{} of memories, {}: from each every letter leads into one again{}, and all answers on the way are right",
      counted(found.closed->list.size(), "box", "es"), counted(found.edges, "edge"),
      found.closed->letters == 1 ? "" : fmt::format(", within {} letters", found.closed->letters));
  certificate.language = tracked;
  certificate.proof = *found.closed;
  return certificate;
}

/// Pairs, where there are few; closed regions, which hold in every order; and then all pairs.
Certificate certify_read(const ReadModel& model, const Question& question, const ReaderLimits& limits) {
  constexpr std::uint64_t kFewPairs = 1'000;
  const bool in_any_order = question.how.any_order;
  const bool has_regions = model.operations && model.tensors != nullptr && model.close_regions != nullptr &&
                           question.how.order.is_sequential();
  if (in_any_order && !has_regions) throw InputError("--any-order", "is for models whose operations are known");
  Certificate certificate;
  if (!has_regions) return certify_reader(model.reader, model.tracked, limits);
  if (!in_any_order) {
    ReaderLimits few = limits;
    few.max_pairs = std::min(few.max_pairs, kFewPairs);
    few.long_letters = 0;
    certificate = certify_reader(model.reader, model.tracked, few);
    if (!certificate.is<ProvedUpTo>()) return certificate;
  }
  const TrackedAutomaton tracked = language_to_write(model.tracked);
  const RegionSearch regions = [&] {
    const TimeLimit part = TimeLimit::part(in_any_order ? 1 : 0.5);
    return model.close_regions(*model.operations, *model.tensors, tracked,
                               in_any_order ? question.how.arithmetic.storage() : Precision::kFp32, kRegionWork);
  }();
  if (regions.closed) return by_regions(regions, tracked);
  if (!in_any_order) {
    certificate = certify_reader(model.reader, model.tracked, limits);
  } else {
    certificate.claim = ProvedUpTo{};
    certificate.method = "closed regions";
  }
  if (!certificate.is<ProvedUpTo>()) return certificate;
  if (regions.wrong) {
    certificate.claim = Refuted{regions.wrong};
    certificate.method = "long words";
    certificate.evidence += fmt::format("{}a sampled word of {} is wrong", in_any_order ? "" : "; ",
                                        counted(regions.wrong->size(), "letter"));
    certificate.limit.clear();
  } else {
    certificate.evidence +=
        fmt::format("{}: {}", in_any_order ? "none were found" : "; no closed regions", regions.why_not);
  }
  return certificate;
}

ModelVerdict verify_reader(const ReadModel& model, const Question& question) {
  const CertifyOptions& how = question.how;
  ReaderLimits limits;
  limits.max_pairs = how.max_pairs;
  limits.max_bytes = how.max_bytes;
  limits.long_letters = how.long_letters;
  limits.seed = how.seed;
  limits.progress = how.progress ? how.progress : told(question, "examining pairs of states");
  limits.long_progress = how.long_progress ? how.long_progress : told_of(question, kLongWords);
  if (question.against) require_comparable(model.tracked.automaton, *question.against);
  if (question.random.length > 0) require_words(model.reader.letters(), question.random);
  ModelVerdict verdict;
  if (model.is_only_tested || question.test_only) {
    if (question.random.length == 0)
      throw InputError(model.is_only_tested ? "--order" : "--test-only",
                       "the model is tested on random words: say with --length how many letters");
    verdict.certificate = untested(how);
    verdict.certificate.method = "sampled";
    verdict.certificate.evidence = fmt::format("random words of seed {}", question.random.seed);
  } else {
    const TimeLimit most = TimeLimit::part(kShareOfFinding);
    verdict.certificate = certify_read(model, question, limits);
    verdict.certificate.arithmetic = how.arithmetic;
    verdict.certificate.order = how.order;
  }
  if (is_proof(verdict.certificate)) remember(verdict);
  if (is_proof(verdict.certificate))
    if (const auto wrong = replay(model.reader, model.tracked, verdict.certificate, question.replayed_letters,
                                  verdict.self_check.replayed_letters))
      contradict(question, fmt::format("{} is read wrongly", quoted_word(model.tracked.automaton.alphabet(), *wrong)));
  if (question.against) compare_with_language(verdict, model, question);
  if (question.random.length > 0) test(verdict, model, question);
  if (verdict.certificate.method == "another language") return verdict;
  // A word fails as operations state, in their format, whatever runtimes a proof was to hold.
  if (how.any_order && model.operations && verdict.certificate.is<Refuted>())
    verdict.certificate.arithmetic = model.operations->format;
  tell_answers(verdict, model, question.name);
  verdict.certificate.language = language_to_write(model.tracked);
  give_file(verdict, model, question);
  return verdict;
}

/// Questions that make no sense are refused before anything is proved.
void require_sense(const Network& network, const Question& question) {
  const RandomTest& random = question.random;
  if (question.test_only && random.length == 0) throw InputError("--test-only", "say with --length how many letters");
  if (random.must_compare && random.length == 0)
    throw InputError("--length", "how long are the words whose run is saved? Give it");
  if (question.against) require_comparable(network.automaton, *question.against);
  if (random.length == 0) return;
  require_words(network.automaton.letters(), random);
  if (evaluates_letters(question) && must_go_through_states(random))
    throw InputError(question.test_only                   ? "--test-only"
                     : random.accepted                    ? "--accepted"
                     : question.how.arithmetic.is_exact() ? "--precision"
                                                          : "--order",
                     "this is evaluated letter by letter and cannot be saved; leave out --save, --resume and --through "
                     "states");
  if (random.accepted) const AcceptedWordStream words(network.automaton, random.length, random.words, random.seed);
}

/// The network's answers held against the language itself: where it is not its own automaton, or where it was wrong
/// about states that the language does not tell apart.
ModelVerdict verify_answers(const Network& network, const Question& question) {
  const std::optional<ReadModel> read = read_language(network, question);
  if (!read)
    throw LimitError(
        fmt::format("{}: the model is not its own automaton, so that its answers have to be searched; take "
                    "--order sequential without --any-order, an arithmetic that rounds, and the model's own letters",
                    question.against->name));
  if (must_go_through_states(question.random))
    throw LimitError(
        fmt::format("{}: the model is not its own automaton, so that the run through its states says "
                    "nothing of this language; leave out --save, --resume and --through states",
                    question.against->name));
  Question asked = question;
  asked.against.reset();
  ModelVerdict verdict = verify_reader(*read, asked);
  verdict.certificate.form = question.how.form;
  give_proof(verdict.certificate, read->reader, read->tracked);
  if (is_proof(verdict.certificate)) check_again(verdict, network, question);
  verdict.certificate.evidence += fmt::format("; outputs are compared with those of {}", question.against->name);
  return verdict;
}

ModelVerdict verify_network(const Network& network, const Question& question) {
  require_sense(network, question);
  CertifyOptions how = question.how;
  if (!how.progress) how.progress = told(question, "examining pairs of states");
  if (!how.long_progress) how.long_progress = told_of(question, kLongWords);
  ModelVerdict verdict;
  {
    const TimeLimit most = TimeLimit::part(kShareOfFinding);
    verdict.certificate = question.test_only ? untested(how) : certify(network, how);
  }
  if (is_proof(verdict.certificate)) {
    remember(verdict);
    check_again(verdict, network, question);
    replay_built(verdict, network, question);
  }
  if (question.against && !is_settled_by(*question.against, verdict, network)) return verify_answers(network, question);
  if (question.random.length == 0 || verdict.certificate.method == "another language") return verdict;
  if (question.found) question.found(verdict);
  const bool is_read = question.against && !must_go_through_states(question.random);
  if (const auto read = is_read ? read_language(network, question) : std::nullopt) {
    test(verdict, *read, question);
    if (verdict.certificate.is<Refuted>()) give_proof(verdict.certificate, read->reader, read->tracked);
    if (verdict.said.empty()) tell_answers(verdict, *read, question.name);
    return verdict;
  }
  try {
    test(verdict, network, question);
  } catch (const LimitError& error) {
    if (!is_proof(verdict.certificate) && !verdict.certificate.is<Refuted>()) throw;
    verdict.not_tested = error.what();
  }
  // The states of a random word may be wrong where what the language says is right.
  if (question.against && !is_settled_by(*question.against, verdict, network)) return verify_answers(network, question);
  return verdict;
}

/// Of integers that wrap around, every order is answered by the sequential one (MATH.md §4, Integers).
ModelVerdict verify_in_a_ring(const Question& question) {
  if (const auto* network = std::get_if<const Network*>(&question.subject)) require_linear(**network, "another order");
  Question sequential = question;
  sequential.how.order = {};
  sequential.how.any_order = false;
  ModelVerdict verdict = verify(sequential);
  if (verdict.certificate.is<Proved>()) verdict.certificate.claim = Proved{.any_order = true};
  const int bits = question.how.arithmetic.integer().bits;
  verdict.certificate.evidence +=
      fmt::format("; sums and products modulo 2^{} are a ring's, so that every order gives the same numbers", bits);
  return verdict;
}

}  // namespace

ModelVerdict verify(const Question& question) {
  const FloatEnvironment environment;
  const TimeLimit time(question.how.max_seconds, fmt::format("--time {:g}", question.how.max_seconds));
  const ArithmeticName& in = question.how.arithmetic;
  if (in.is_integer() && !in.integer().saturates && (question.how.any_order || !question.how.order.is_sequential()))
    return verify_in_a_ring(question);
  if (const auto* model = std::get_if<const ReadModel*>(&question.subject)) return verify_reader(**model, question);
  return verify_network(*std::get<const Network*>(question.subject), question);
}

}  // namespace krohn
