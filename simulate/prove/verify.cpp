#include "krohn/simulate/prove/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "krohn/groups/float_environment.h"
#include "krohn/groups/random.h"
#include "krohn/simulate/check/certificate_file.h"
#include "krohn/simulate/check/recheck.h"
#include "krohn/simulate/evaluate/lanes/accepted_word.h"
#include "krohn/simulate/prove/against.h"
#include "krohn/simulate/prove/certify.h"
#include "krohn/simulate/prove/claims/claim_text.h"
#include "krohn/simulate/prove/machine/certify_reader.h"
#include "krohn/simulate/prove/machine/reader_run.h"
#include "krohn/simulate/prove/pairs/network_automaton.h"
#include "krohn/simulate/prove/place.h"
#include "krohn/simulate/prove/self_check.h"
#include "krohn/simulate/run/long_comparison.h"

namespace krohn {
namespace {

std::function<void(std::uint64_t)> told(const Question& question, std::string_view what) {
  if (!question.progress) return {};
  return [&question, what](std::uint64_t done) { question.progress(what, done, 0); };
}

std::function<void(std::uint64_t, std::uint64_t)> told_of(const Question& question, std::string_view what) {
  if (!question.progress) return {};
  return [&question, what](std::uint64_t done, std::uint64_t all) { question.progress(what, done, all); };
}

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

void check_again(ModelVerdict& verdict, const Network& network, const Question& question) {
  const Certificate& certificate = verdict.certificate;
  if (!certificate.order.is_sequential() || std::holds_alternative<std::monostate>(certificate.proof)) return;
  Certificate written = certificate;
  if (certificate.is<ProvedUpTo>()) written.claim = ProvedUpTo{length_in_file(certificate)};
  try {
    const Recheck outcome = recheck(written, network);
    if (!outcome.established) contradict(question, "the re-check of the certificate says: " + outcome.finding);
    verdict.self_check.is_rechecked = true;
    if (written.length() < certificate.length()) verdict.self_check.rechecked_length = written.length();
  } catch (const LimitError& error) {
    verdict.self_check.not_rechecked = error.what();
  }
}

void replay(ModelVerdict& verdict, const Network& network, const Question& question) {
  std::uint64_t& letters = verdict.self_check.replayed_letters;
  if (const auto wrong = replay(network, verdict.certificate, question.replayed_letters, letters))
    contradict(question, fmt::format("{} is read wrongly", quoted_word(network.automaton.alphabet(), *wrong)));
}

// ---- Random words

void refute_by_random_word(ModelVerdict& verdict, const Question& question, std::uint64_t at,
                           std::uint64_t word_index) {
  Certificate& certificate = verdict.certificate;
  const std::string which = word_index == 0 ? "" : fmt::format(" (number {})", word_index);
  const std::string what = fmt::format("the random word of seed {}{} is read wrongly after {} letters",
                                       question.random.seed, which, with_thousands(at));
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

void record(ModelVerdict& verdict, const Network& network, const SampleReport& report, const Question& question) {
  Certificate& certificate = verdict.certificate;
  certificate.letters_tested = report.letters;
  certificate.seed = question.random.seed;
  if (question.test_only && !question.random.accepted && certificate.is<Sampled>() && !report.failing_at)
    certificate.proof = SampledWords{question.random.seed, question.random.words, question.random.length};
  if (!report.failing_at || certificate.is<Refuted>()) return;
  refute_by_random_word(verdict, question, *report.failing_at, report.failing_word_index.value_or(0));
  certificate.claim = Refuted{report.failing_word};
  if (certificate.order.is_sequential() && (report.failing_word || !question.random.accepted))
    certificate.proof = failing_run(network, report, question);
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

/// The network as an automaton, where a test through it was asked for or pays; nothing when letters are evaluated.
std::optional<Dfa> automaton_for_test(const Network& network, const Question& question) {
  constexpr std::uint64_t kEvaluatedLetters = 100'000'000;
  const RandomTest& random = question.random;
  if (network.automaton.letters() == 0) return std::nullopt;
  const bool is_long = random.words != 0 && random.length > kEvaluatedLetters / random.words;
  const bool is_asked = random.must_compare;
  const bool is_by_letters = random.accepted || question.how.arithmetic.is_exact() ||
                             !question.how.order.is_sequential() || question.test_only;
  if (is_by_letters && is_asked)
    throw InputError(question.test_only                   ? "--test-only"
                     : random.accepted                    ? "--accepted"
                     : question.how.arithmetic.is_exact() ? "--precision"
                                                          : "--order",
                     "this is evaluated letter by letter and cannot be saved; leave out --save and --resume");
  if (is_by_letters || (!is_asked && !is_long)) return std::nullopt;
  NetworkAutomatonOptions options;
  options.progress = told(question, "finding the network's states");
  auto automaton = network_automaton(network, question.how.arithmetic, question.how.form, options);
  if (!automaton && is_asked)
    throw LimitError(
        fmt::format("{}: the network has more than {} reachable states, or {} transitions between them, so it is "
                    "evaluated letter by letter: leave out --save and --resume",
                    question.name, with_thousands(options.max_states), with_thousands(options.max_transitions)));
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
  return {machine.states(), comparison.letters_read(state), state.comparisons, state.failing_at, state.word};
}

/// The letters up to the first disagreement, where there was one, and the word that it is in.
SampleReport as_sample(const ThroughStates& through, const Network& network, const Question& question) {
  SampleReport sample;
  sample.letters = through.letters;
  sample.failing_at = through.failing_at;
  if (!through.failing_at) return sample;
  sample.failing_word_index = through.failing_word_index;
  if (*through.failing_at <= kPrintableLength)
    sample.failing_word = RandomWord(network.automaton.letters(), question.random.seed, through.failing_word_index)
                              .slice(0, *through.failing_at);
  return sample;
}

void test(ModelVerdict& verdict, const Network& network, const Question& question) {
  if (const auto automaton = automaton_for_test(network, question)) {
    verdict.through_states = compare_automata(*automaton, network, question);
    record(verdict, network, as_sample(*verdict.through_states, network, question), question);
  } else {
    verdict.sampled = sample_words(network, question);
    record(verdict, network, *verdict.sampled, question);
  }
}

/// Random words of the letters that may stand at each place.
void test(ModelVerdict& verdict, const ReadModel& model, const Question& question) {
  const RandomTest& asked = question.random;
  Certificate& certificate = verdict.certificate;
  certificate.seed = asked.seed;
  if (model.reader.letters() == 0) throw InputError("--length", "there are no words to draw: the alphabet is empty");
  if (model.first_failure) {
    const std::optional<RandomFailure> wrong = model.first_failure(asked);
    certificate.letters_tested = wrong ? wrong->at : asked.length * asked.words;
    verdict.has_failed_on_random_words = wrong.has_value();
    if (wrong && !certificate.is<Refuted>()) refute_by_random_word(verdict, question, wrong->at, wrong->word);
    return;
  }
  Random random(asked.seed);
  constexpr int kTries = 256;  // of random letters that may stand at a place
  for (std::uint64_t i = 0; i < asked.words; ++i) {
    ReaderRun run(model.reader, model.tracked);
    Word word;
    for (std::uint64_t t = 0; t < asked.length; ++t) {
      Letter letter = 0;
      int tries = 0;
      bool is_read = false;
      while (!is_read && tries++ < kTries) {
        letter = static_cast<Letter>(random.below(model.reader.letters()));
        is_read = run.read(letter);
      }
      if (!is_read) break;
      ++certificate.letters_tested;
      if (t < kPrintableLength) word.push_back(letter);
      if (question.progress)
        question.progress("testing letters", certificate.letters_tested, asked.words * asked.length);
      if (!run.is_wrong()) continue;
      verdict.has_failed_on_random_words = true;
      if (certificate.is<Refuted>()) return;
      refute_by_random_word(verdict, question, t + 1, i);
      if (t < kPrintableLength) certificate.claim = Refuted{std::move(word)};
      return;
    }
  }
}

// ---- The two kinds of subject

ModelVerdict verify_network(const Network& network, const Question& question) {
  if (question.test_only && question.random.length == 0)
    throw InputError("--test-only", "say with --length how many letters to test");
  if (question.random.must_compare && question.random.length == 0)
    throw InputError("--length", "how long are the words whose run is saved? Give it");
  CertifyOptions how = question.how;
  if (!how.progress) how.progress = told(question, "examining pairs of states");
  ModelVerdict verdict;
  verdict.certificate = question.test_only ? untested(how) : certify(network, how);
  if (is_proof(verdict.certificate)) {
    check_again(verdict, network, question);
    replay(verdict, network, question);
  }
  if (question.against) {
    Question with_limits = question;
    with_limits.how = how;
    compare_with_language(verdict, network, with_limits);
  }
  if (question.random.length == 0 || verdict.certificate.method == "another language") return verdict;
  const std::optional<ReadLanguage> read = question.against ? read_language(network, question) : std::nullopt;
  if (!read) {
    test(verdict, network, question);
    return verdict;
  }
  const Dfa& own = network.automaton;
  const auto name_of = [&own](Output output) {
    return output < own.output_names().size() ? own.output_names()[output] : std::string("nothing");
  };
  test(verdict, ReadModel{*read->reader, read->tracked, name_of}, question);
  return verdict;
}

/// What model and automaton say at the end of the failing word.
void read_again(ModelVerdict& verdict, const ReadModel& model, const Question& question) {
  if (!verdict.certificate.failing_word() || verdict.certificate.method == "another language") return;
  ReaderRun run(model.reader, model.tracked);
  for (const Letter letter : *verdict.certificate.failing_word()) run.read(letter);
  const bool is_empty = verdict.certificate.failing_word()->empty();
  const Output said = is_empty ? model.reader.answer_at_start().output : run.answer().output;
  const Dfa& automaton = model.tracked.automaton;
  if (said == model.tracked.wanted[run.state()])
    contradict(question, "the word that was found is read correctly when it is read again");
  verdict.said = model.name_of(said);
  verdict.wanted = automaton.output_names()[automaton.output(run.state())];
}

ModelVerdict verify_reader(const ReadModel& model, const Question& question) {
  const CertifyOptions& how = question.how;
  ReaderLimits limits;
  limits.max_pairs = how.max_pairs;
  limits.max_bytes = how.max_bytes;
  limits.max_seconds = how.max_seconds;
  limits.long_letters = how.long_letters;
  limits.seed = how.seed;
  limits.progress = how.progress ? how.progress : told(question, "reading letters");
  ModelVerdict verdict;
  if (model.is_only_tested || question.test_only) {
    if (question.random.length == 0)
      throw InputError(model.is_only_tested ? "--order" : "--test-only",
                       "the model is tested on random words: say with --length how many letters");
    verdict.certificate = untested(how);
    verdict.certificate.method = "sampled";
    verdict.certificate.evidence = fmt::format("random words of seed {}", question.random.seed);
  } else {
    verdict.certificate = certify_reader(model.reader, model.tracked, limits);
    verdict.certificate.arithmetic = how.arithmetic;
    verdict.certificate.order = how.order;
  }
  if (is_proof(verdict.certificate))
    if (const auto wrong = replay(model.reader, model.tracked, verdict.certificate, question.replayed_letters,
                                  verdict.self_check.replayed_letters))
      contradict(question, fmt::format("{} is read wrongly", quoted_word(model.tracked.automaton.alphabet(), *wrong)));
  if (question.against) compare_with_language(verdict, model, question);
  if (question.random.length > 0) test(verdict, model, question);
  read_again(verdict, model, question);
  return verdict;
}

}  // namespace

ModelVerdict verify(const Question& question) {
  const FloatEnvironment environment;
  if (const auto* model = std::get_if<const ReadModel*>(&question.subject)) return verify_reader(**model, question);
  return verify_network(*std::get<const Network*>(question.subject), question);
}

}  // namespace krohn
