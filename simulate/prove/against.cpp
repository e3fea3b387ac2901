#include "krohn/simulate/prove/self_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "krohn/automata/operations/operations.h"
#include "krohn/simulate/prove/claims/certificate.h"
#include "krohn/simulate/prove/pairs/certify_reader.h"
#include "krohn/simulate/prove/pairs/network_machine.h"

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

/// True if some letter of the word stands for several that the language tells apart.
bool is_split(const Word& word, const AlphabetRefinement& common) {
  return std::ranges::any_of(word,
                             [&](Letter letter) { return std::ranges::count(common.in_a, std::optional(letter)) > 1; });
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

/// True if the run that refuted the network ends with another output than its automaton's, and not in another state
/// alone; false where the run is not kept.
bool gives_wrong_output(const Certificate& certificate, const Dfa& automaton) {
  const auto* const run = std::get_if<FailingRun>(&certificate.proof);
  return run != nullptr && (!run->given || automaton.output(*run->given) != automaton.output(run->expected));
}

/// The network's answer after the word, by name, in the arithmetic and the order of the certificate.
std::string output_of(const Network& network, const Certificate& certificate, const Word& word) {
  const auto evaluator = make_evaluator(network, certificate.arithmetic, certificate.form, certificate.order);
  std::optional<State> state = evaluator->current();
  for (const Letter letter : word) state = evaluator->step(letter);
  if (!state) return in_words(evaluator->missing(), to_string(certificate.arithmetic));
  return network.automaton.output_names()[network.automaton.output(*state)];
}

std::string said_by(const ReadModel& model, const LetterReader::Answer& answer, ArithmeticName arithmetic) {
  if (answer.output == LetterReader::kNoAnswer) return in_words(answer.missing, to_string(arithmetic));
  return model.name_of ? model.name_of(answer.output) : std::to_string(answer.output);
}

/// The language over the model's own letters, its outputs numbered as the model names them; an acceptor rejects words
/// with a letter that it lacks. Nothing where it splits a letter of the model.
std::optional<TrackedAutomaton> tracked_language(const Language& language, const Dfa& own,
                                                 const AlphabetRefinement& common) {
  std::vector<std::optional<Letter>> to_language(own.letters());
  std::vector<bool> is_known(own.letters(), false);
  for (Letter letter = 0; letter < common.merged.size(); ++letter) {
    if (!common.in_a[letter]) continue;
    if (is_known[*common.in_a[letter]]) return std::nullopt;
    is_known[*common.in_a[letter]] = true;
    to_language[*common.in_a[letter]] = common.in_b[letter];
  }
  const Dfa& theirs = language.automaton;
  std::vector<State> table;
  for (State state = 0; state < theirs.states(); ++state)
    for (const auto& letter : to_language) table.push_back(letter ? theirs.next(state, *letter) : theirs.states());
  std::vector<Output> outputs(theirs.outputs().begin(), theirs.outputs().end()), wanted;
  if (!std::ranges::all_of(to_language, [](const auto& letter) { return letter.has_value(); })) {
    table.insert(table.end(), own.letters(), theirs.states());
    outputs.push_back(0);
  }
  for (const Output output : outputs) {
    const auto named = std::ranges::find(own.output_names(), theirs.output_names()[output]);
    wanted.push_back(named == own.output_names().end() ? TrackedAutomaton::kNeverGiven
                                                       : static_cast<Output>(named - own.output_names().begin()));
  }
  return TrackedAutomaton{Dfa::moore(own.alphabet(), std::move(table), theirs.initial(), std::move(outputs),
                                     {theirs.output_names().begin(), theirs.output_names().end()}),
                          std::move(wanted)};
}

/// The automaton with another output of the empty word, and of no other.
Dfa with_output_at_start(const Dfa& dfa, const std::string& output) {
  std::vector<std::string> names(dfa.output_names().begin(), dfa.output_names().end());
  const auto named = static_cast<Output>(std::ranges::find(names, output) - names.begin());
  if (named == names.size()) names.push_back(output);
  std::vector<State> table(dfa.table().begin(), dfa.table().end());
  table.insert(table.end(), dfa.row(dfa.initial()).begin(), dfa.row(dfa.initial()).end());
  std::vector<Output> outputs(dfa.outputs().begin(), dfa.outputs().end());
  outputs.push_back(named);
  return Dfa::moore(dfa.alphabet(), std::move(table), dfa.states(), std::move(outputs), std::move(names));
}

/// True when there is nothing more to say. `is_wrong_answer`: whether what refuted the model without a word is an
/// answer, and not a state alone.
template <class OutputAfter>
bool is_settled(ModelVerdict& verdict, const Dfa& own, const Language& language, const OutputAfter& output_after,
                bool is_wrong_answer) {
  const AlphabetRefinement common = refine(own.alphabet(), language.automaton.alphabet());
  const auto word = distinguishing_word(own, language.automaton);
  if (!word) {
    // The same outputs; but what refuted the model may be a state that the language does not tell from the right one.
    Certificate& certificate = verdict.certificate;
    if (!certificate.is<Refuted>()) return true;
    if (!certificate.failing_word()) return is_wrong_answer;
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
  const ModelVerdict::ForeignWord in_language{common.merged.format_word(*word), word->size()};
  if (!letters) {
    verdict.foreign_word = in_language;
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
  // The model's letters cannot say which word it was where the language tells apart what one of them stands for.
  if (is_split(*letters, common))
    verdict.foreign_word = in_language;
  else
    verdict.certificate.claim = Refuted{letters, /*shortest=*/proved};
  verdict.said = said;
  verdict.wanted = right;
  return true;
}

}  // namespace

void require_comparable(const Dfa& own, const Language& language) {
  const Dfa& theirs = language.automaton;
  const AlphabetRefinement common = refine(own.alphabet(), theirs.alphabet());
  if (own.is_acceptor() && theirs.is_acceptor()) return;
  if (own.letters() != common.merged.size() || theirs.letters() != common.merged.size())
    throw InputError(language.name,
                     fmt::format("its letters are {}, those of the model {}; where they differ, only languages that "
                                 "accept or reject can be compared",
                                 to_string(theirs.alphabet()), to_string(own.alphabet())));
}

std::optional<ReadModel> read_language(const Network& network, const Question& question) {
  const Dfa& own = network.automaton;
  const Dfa& theirs = question.against->automaton;
  const AlphabetRefinement common = refine(own.alphabet(), theirs.alphabet());
  if (!question.how.order.is_sequential() || question.how.any_order || question.how.arithmetic.is_exact() ||
      own.letters() != common.merged.size() || theirs.letters() != common.merged.size())
    return std::nullopt;
  struct Owner {
    std::unique_ptr<LetterReader> reader;
    TrackedAutomaton tracked;
  };
  const auto owner = std::make_shared<const Owner>(
      Owner{network_reader(network, question.how.arithmetic, question.how.form, NetworkReading::kMargins,
                           {own.outputs().begin(), own.outputs().end()}),
            *tracked_language(*question.against, own, common)});
  const auto name_of = [&own](Output output) { return own.output_names()[output]; };
  return ReadModel{.reader = *owner->reader, .tracked = owner->tracked, .name_of = name_of, .owner = owner};
}

bool is_settled_by(const Language& language, ModelVerdict& verdict, const Network& network) {
  const auto said = [&](const Word& word) { return output_of(network, verdict.certificate, word); };
  const Dfa& own = network.automaton;
  if (!is_settled(verdict, own, language, said, gives_wrong_output(verdict.certificate, own))) return false;
  Certificate& certificate = verdict.certificate;
  if (certificate.method != "another language" || !certificate.order.is_sequential() ||
      certificate.arithmetic.is_exact())
    return true;
  if (const auto tracked = tracked_language(language, own, refine(own.alphabet(), language.automaton.alphabet())))
    give_proof(certificate,
               *network_reader(network, certificate.arithmetic, certificate.form, NetworkReading::kPairs,
                               {own.outputs().begin(), own.outputs().end()}),
               *tracked);
  return true;
}

void compare_with_language(ModelVerdict& verdict, const ReadModel& model, const Question& question) {
  const auto said = [&](const Word& word) { return said_after(model, word, verdict.certificate.arithmetic); };
  Language language = *question.against;
  const Dfa& own = model.tracked.automaton;
  // The two are not compared on the empty word where nothing is asked then.
  if (!model.tracked.is_asked(own.initial()))
    language.automaton = with_output_at_start(language.automaton, own.output_names()[own.output(own.initial())]);
  if (!is_settled(verdict, own, language, said, /*is_wrong_answer=*/true))
    throw LimitError(fmt::format(
        "{} and the model's own automaton differ on a word where the model sides with {}: neither is proved; remove "
        "the model's automaton.json, or compile the language again",
        question.against->name, question.against->name));
}

std::string said_after(const ReadModel& model, const Word& word, ArithmeticName arithmetic) {
  ReaderRun run(model.reader, model.tracked);
  for (const Letter letter : word) run.read(letter);
  return said_by(model, run.answer(), arithmetic);
}

void tell_answers(ModelVerdict& verdict, const ReadModel& model, const std::string& name) {
  if (!verdict.certificate.failing_word()) return;
  ReaderRun run(model.reader, model.tracked);
  for (const Letter letter : *verdict.certificate.failing_word()) run.read(letter);
  if (!run.is_wrong())
    throw Contradiction(
        fmt::format("{}: the word that was found is read correctly when it is read again. This is a "
                    "mistake in krohn, not in the model: please report it, with the model",
                    name));
  const Dfa& automaton = model.tracked.automaton;
  verdict.said = said_by(model, run.answer(), verdict.certificate.arithmetic);
  verdict.wanted = automaton.output_names()[automaton.output(run.state())];
}

}  // namespace krohn
