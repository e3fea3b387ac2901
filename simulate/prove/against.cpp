#include "krohn/simulate/prove/against.h"

#include <fmt/format.h>

#include <algorithm>

#include "krohn/automata/operations/equivalence.h"
#include "krohn/simulate/prove/claims/claim_text.h"
#include "krohn/simulate/prove/machine/certify_reader.h"
#include "krohn/simulate/prove/machine/reader_run.h"
#include "krohn/simulate/prove/pairs/network_reader.h"
#include "krohn/simulate/prove/self_check.h"

namespace krohn {
namespace {

/// The word in the model's letters; nothing when it has a letter that the model lacks.
std::optional<Word> in_letters_of_model(const Word& word, const AlphabetRefinement& common) {
  Word letters;
  for (const Letter letter : word) {
    if (!common.in_a[letter]) return std::nullopt;
    letters.push_back(*common.in_a[letter]);
  }
  return letters;
}

/// The language's output after the word, by name: an acceptor rejects a word with a letter that it lacks.
std::string expected_output(const Dfa& expected, const Word& word, const AlphabetRefinement& common) {
  State state = expected.initial();
  for (const Letter letter : word) {
    if (!common.in_b[letter]) return "reject";
    state = expected.next(state, *common.in_b[letter]);
  }
  return expected.output_names()[expected.output(state)];
}

void refute(Certificate& certificate, std::string evidence) {
  certificate.claim = Refuted{};
  certificate.method = "another language";
  certificate.evidence = std::move(evidence);
  certificate.proof = {};
  certificate.limit.clear();
}

/// What the network says after the word, by name, in the arithmetic and the order of the certificate.
std::string output_of(const Network& network, const Certificate& certificate, const Word& word) {
  const auto evaluator = make_evaluator(network, certificate.arithmetic, certificate.form, certificate.order);
  std::optional<State> state = evaluator->current();
  for (const Letter letter : word) state = evaluator->step(letter);
  if (!state) return "nothing";
  return network.automaton.output_names()[network.automaton.output(*state)];
}

/// The language over the model's own letters, its outputs numbered as the model names them.
TrackedAutomaton tracked_language(const Language& language, const Dfa& own, const AlphabetRefinement& common) {
  std::vector<Letter> to_language(own.letters());
  for (Letter letter = 0; letter < common.merged.size(); ++letter)
    to_language[*common.in_a[letter]] = *common.in_b[letter];
  const Dfa& theirs = language.automaton;
  std::vector<State> table;
  for (State state = 0; state < theirs.states(); ++state)
    for (Letter letter = 0; letter < own.letters(); ++letter) table.push_back(theirs.next(state, to_language[letter]));
  std::vector<Output> wanted;
  for (const Output output : theirs.outputs()) {
    const auto named = std::ranges::find(own.output_names(), theirs.output_names()[output]);
    wanted.push_back(named == own.output_names().end() ? TrackedAutomaton::kNeverGiven
                                                       : static_cast<Output>(named - own.output_names().begin()));
  }
  return {
      Dfa::moore(own.alphabet(), std::move(table), theirs.initial(), {theirs.outputs().begin(), theirs.outputs().end()},
                 {theirs.output_names().begin(), theirs.output_names().end()}),
      std::move(wanted)};
}

/// The network's answers are searched against the language itself: where it is not its own automaton, or where it was
/// wrong about states that the language does not tell apart.
void search_against(ModelVerdict& verdict, const Network& network, const Question& question) {
  const std::optional<ReadLanguage> read = read_language(network, question);
  if (!read)
    throw LimitError(fmt::format(
        "{}: the model sides with it against its own automaton, so that its answers have to be searched; take "
        "--order sequential, an arithmetic that rounds, and the model's own letters",
        question.against->name));
  verdict.self_check = {};
  const CertifyOptions& how = question.how;
  if (question.test_only) {
    verdict.certificate = {};
    verdict.certificate.arithmetic = how.arithmetic;
    verdict.certificate.form = how.form;
    return;
  }
  ReaderLimits limits;
  limits.max_pairs = how.max_pairs;
  limits.max_bytes = how.max_bytes;
  limits.max_seconds = how.max_seconds;
  limits.long_letters = how.long_letters;
  limits.seed = how.seed;
  limits.progress = how.progress;
  verdict.certificate = certify_reader(*read->reader, read->tracked, limits);
  verdict.certificate.arithmetic = how.arithmetic;
  verdict.certificate.form = how.form;
  verdict.certificate.evidence += fmt::format("; outputs are compared with those of {}", question.against->name);
  if (verdict.certificate.is<Refuted>()) {
    ReaderRun run(*read->reader, read->tracked);
    for (const Letter letter : *verdict.certificate.failing_word()) run.read(letter);
    const bool is_empty = verdict.certificate.failing_word()->empty();
    const Output said = is_empty ? read->reader->answer_at_start().output : run.answer().output;
    const auto names = network.automaton.output_names();
    verdict.said = said < names.size() ? names[said] : "nothing";
    const Dfa& theirs = read->tracked.automaton;
    verdict.wanted = theirs.output_names()[theirs.output(run.state())];
    return;
  }
  const auto wrong = replay(*read->reader, read->tracked, verdict.certificate, question.replayed_letters,
                            verdict.self_check.replayed_letters);
  if (wrong)
    throw Contradiction(
        fmt::format("{}: {} is read wrongly, against the proof. This is a mistake in krohn, not in the "
                    "model: please report it, with the model",
                    question.name, quoted_word(network.automaton.alphabet(), *wrong)));
}

/// True when there is nothing more to say.
template <class OutputAfter>
bool is_settled(ModelVerdict& verdict, const Dfa& own, const Language& language, const AlphabetRefinement& common,
                const OutputAfter& output_after) {
  const auto word = distinguishing_word(own, language.automaton);
  if (!word) {
    // The same outputs; but what refuted the model may be a state that the language does not tell from the right one.
    Certificate& certificate = verdict.certificate;
    if (!certificate.is<Refuted>() || !certificate.failing_word()) return true;
    const std::string said = output_after(*certificate.failing_word());
    const std::string right = own.output_names()[own.output(own.run(*certificate.failing_word()))];
    if (said == right) return false;
    verdict.said = said;
    verdict.wanted = right;
    return true;
  }
  const std::string shown = quoted_word(common.merged, *word);
  const std::string right = expected_output(language.automaton, *word, common);
  const auto letters = in_letters_of_model(*word, common);
  if (!letters) {
    refute(verdict.certificate,
           fmt::format("{} gives \"{}\" on {}, which the model cannot read", language.name, right, shown));
    return true;
  }
  const std::string said = output_after(*letters);
  if (said == right) return false;
  // A shortest word for the automata is one for the model, if the model is its own automaton.
  const bool proved = verdict.certificate.is<Proved>();
  refute(verdict.certificate,
         fmt::format("{} gives \"{}\" on {}, the model \"{}\"", language.name, right, shown, said));
  verdict.certificate.claim = Refuted{letters, /*shortest=*/proved};
  verdict.said = said;
  verdict.wanted = right;
  return true;
}

}  // namespace

std::optional<ReadLanguage> read_language(const Network& network, const Question& question) {
  const Dfa& own = network.automaton;
  const Dfa& theirs = question.against->automaton;
  const AlphabetRefinement common = refine(own.alphabet(), theirs.alphabet());
  if (!question.how.order.is_sequential() || question.how.arithmetic.is_exact() ||
      own.letters() != common.merged.size() || theirs.letters() != common.merged.size())
    return std::nullopt;
  return ReadLanguage{
      network_reader(network, question.how.arithmetic, question.how.form, {own.outputs().begin(), own.outputs().end()}),
      tracked_language(*question.against, own, common)};
}

void compare_with_language(ModelVerdict& verdict, const Network& network, const Question& question) {
  const AlphabetRefinement common = refine(network.automaton.alphabet(), question.against->automaton.alphabet());
  const auto said = [&](const Word& word) { return output_of(network, verdict.certificate, word); };
  if (!is_settled(verdict, network.automaton, *question.against, common, said))
    search_against(verdict, network, question);
}

void compare_with_language(ModelVerdict& verdict, const ReadModel& model, const Question& question) {
  const Dfa& own = model.tracked.automaton;
  const AlphabetRefinement common = refine(own.alphabet(), question.against->automaton.alphabet());
  const auto said = [&](const Word& word) {
    ReaderRun run(model.reader, model.tracked);
    for (const Letter letter : word) run.read(letter);
    return model.name_of(word.empty() ? model.reader.answer_at_start().output : run.answer().output);
  };
  if (!is_settled(verdict, own, *question.against, common, said))
    throw LimitError(fmt::format(
        "{} and the model's own automaton differ on a word where the model sides with {}: neither is proved; remove "
        "the model's automaton.json, or compile the language again",
        question.against->name, question.against->name));
}

}  // namespace krohn
