#include "tools/krohn/report/verdict.h"

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/formats/json.h"
#include "krohn/automata/operations/product.h"
#include "krohn/automata/questions/questions.h"
#include "krohn/groups/base/messages.h"
#include "krohn/simulate/prove/claims/certificate.h"
#include "tools/krohn/models/subject.h"
#include "tools/krohn/progress.h"
#include "tools/krohn/report/json_output.h"
#include "tools/krohn/report/table.h"
#include "tools/krohn/verb.h"

namespace krohn {

bool has_file(const Certificate& certificate) {
  return certificate.order.is_sequential() && !std::holds_alternative<std::monostate>(certificate.proof);
}

namespace {
thread_local VerdictTaker* verdict_taker = nullptr;
}  // namespace

VerdictTaker::VerdictTaker() : outer_(verdict_taker) { verdict_taker = this; }
VerdictTaker::~VerdictTaker() { verdict_taker = outer_; }
bool VerdictTaker::is_wanted() { return verdict_taker != nullptr; }
void VerdictTaker::leave(TakenVerdict verdict) { verdict_taker->verdict_ = std::move(verdict); }

nlohmann::ordered_json verdict_to_json(const Certificate& certificate, const Alphabet& alphabet) {
  nlohmann::ordered_json json;
  json["claim"] = to_string(certificate.claim);
  json["arithmetic"] = to_string(certificate.arithmetic);
  json["order"] = certificate.holds_in_any_order() ? "any" : to_string(certificate.order);
  if (certificate.holds_in_every_association()) json["every_association_of_stored_matrices"] = true;
  json["method"] = certificate.method;
  json["evidence"] = certificate.evidence;
  if (certificate.is<ProvedUpTo>()) json["length"] = certificate.length();
  if (const auto word = shortest_word_not_asked(certificate)) json["not_asked"] = alphabet.format_word(*word);
  json["pairs"] = certificate.pairs;
  if (certificate.failing_word()) {
    json["failing_word"] = alphabet.format_word(*certificate.failing_word());
    json["failing_word_length"] = certificate.failing_word()->size();
    json["shortest"] = certificate.is_shortest();
  }
  json["letters_tested"] = certificate.letters_tested;
  if (certificate.letters_tested > 0) json["seed"] = certificate.seed;
  if (!certificate.limit.empty()) json["limit"] = certificate.limit;
  return json;
}

void add_verdict(nlohmann::ordered_json& json, const ModelVerdict& verdict, const Alphabet& alphabet) {
  json["verdict"] = verdict_to_json(verdict.certificate, alphabet);
  if (!verdict.said.empty()) json["answers"] = {{"model", verdict.said}, {"automaton", verdict.wanted}};
  json["self_check"] = {{"letters_replayed", verdict.self_check.replayed_letters},
                        {"certificate_rechecked", verdict.self_check.is_rechecked}};
  if (!verdict.not_tested.empty()) json["not_tested"] = verdict.not_tested;
  if (verdict.through_states)
    json["sampled_through_states"] = {{"letters", verdict.through_states->letters},
                                      {"states", verdict.through_states->states},
                                      {"comparisons", verdict.through_states->comparisons},
                                      {"right", !verdict.through_states->failing_at.has_value()}};
  if (verdict.through_states && !verdict.through_states->by.empty())
    json["sampled_through_states"]["by"] = verdict.through_states->by;
  if (!verdict.sampled) return;
  for (const LengthReport& row : verdict.sampled->lengths)
    json["sampled"].push_back({{"length", row.length},
                               {"words", row.words},
                               {"right_final_outputs", row.right_output},
                               {"letters", row.letters},
                               {"right_letters", row.right_letters}});
}

namespace {

constexpr std::size_t kColumns = 100;

void print_line(const std::string& text) { fmt::print("  {}\n", wrapped(visible(text), kColumns, "    ")); }

/// `is_refuted`: what was proved is that the model computes its own automaton, which is another language than asked
/// for, or that it does so on words shorter than the one that refutes it.
std::string self_check_in_words(const SelfCheck& check, bool is_refuted) {
  std::string text = is_refuted ? "the model computes its own automaton" : "";
  if (is_refuted && check.length > 0) text += fmt::format(" on words of up to {}", counted(check.length, "letter"));
  text += fmt::format("{}re-checked: {}", is_refuted ? "; " : "",
                      check.replayed_letters > 0 ? counted(check.replayed_letters, "letter") + " replayed, all correct"
                                                 : "no letter was replayed");
  if (check.is_rechecked)
    text +=
        is_refuted ? "; that proof re-checked by independent code" : "; the certificate re-checked by independent code";
  if (check.rechecked_length > 0)
    text += fmt::format(" for words of up to {}", counted(check.rechecked_length, "letter"));
  if (!check.not_rechecked.empty()) text += "; the certificate was not re-checked: " + check.not_rechecked;
  return text;
}

void print_random_words(const Question& question, const ModelVerdict& verdict) {
  const std::uint64_t seed = question.random.seed;
  if (const auto& through = verdict.through_states)
    print_line(fmt::format("{} of random words, seed {}, through the {} that the network reaches{}: {}",
                           counted(through->letters, "letter"), seed, counted(through->states, "state"),
                           through->by.empty() ? "" : ", on the device by " + through->by,
                           through->failing_at ? "the last one wrong" : "right after every letter"));
  if (verdict.sampled)
    for (const LengthReport& row : verdict.sampled->lengths)
      fmt::print("  {} of random {}words, seed {}: {} right\n", counted(row.letters, "letter"),
                 question.random.accepted ? "accepted " : "", seed,
                 row.letters == row.right_letters ? "all" : with_thousands(row.right_letters));
  const Certificate& certificate = verdict.certificate;
  if (!verdict.sampled && !verdict.through_states && certificate.letters_tested > 0)
    print_line(fmt::format("{} of random words, seed {}: {}", counted(certificate.letters_tested, "letter"), seed,
                           verdict.has_failed_on_random_words ? "the last one wrong" : "all correct"));
}

}  // namespace

void print_verdict(const std::string& name, const std::vector<std::string>& about, const Question& question,
                   const ModelVerdict& verdict, const Alphabet& alphabet) {
  const Certificate& certificate = verdict.certificate;
  fmt::print("{}: {}\n", visible(name), claim_in_words(certificate, alphabet));
  for (const std::string& line : about) print_line(line);
  if (!certificate.method.empty()) print_line(certificate.method + ": " + certificate.evidence);
  if (!verdict.said.empty() && certificate.method != "another language")
    print_line(verdict.said.starts_with(std::string(kNoAnswerName) + ":")
                   ? fmt::format("there the model gives {}; right is \"{}\"", verdict.said, verdict.wanted)
                   : fmt::format("the model says \"{}\" there, not \"{}\"", verdict.said, verdict.wanted));
  if (!certificate.limit.empty()) print_line("limit met: " + certificate.limit);
  if (verdict.self_check.replayed_letters > 0 || verdict.self_check.is_rechecked)
    print_line(self_check_in_words(verdict.self_check, certificate.is<Refuted>()));
  print_random_words(question, verdict);
}

void print_claim(const std::string& before, const ModelVerdict& verdict, const Alphabet& alphabet) {
  const Certificate& certificate = verdict.certificate;
  print_line(before + claim_in_words(certificate, alphabet));
  if (!certificate.method.empty()) print_line(certificate.method + ": " + certificate.evidence);
}

std::function<void(std::string_view, std::uint64_t, std::uint64_t)> progress_of_stages() {
  struct Stage {
    std::string what;
    std::unique_ptr<Progress> progress;
  };
  return [stage = std::make_shared<Stage>()](std::string_view what, std::uint64_t done, std::uint64_t total) {
    if (!stage->progress || stage->what != what) {
      stage->progress.reset();
      stage->what = what;
      stage->progress = std::make_unique<Progress>(stage->what);
    }
    stage->progress->update(done, total);
  };
}

int exit_status(const Certificate& certificate, std::uint64_t wanted_length) {
  if (certificate.is<Proved>()) return kDone;
  if (certificate.is<Refuted>()) return kRefuted;
  return wanted_length > 0 && wanted_length <= certificate.length() ? kDone : kUndecided;
}

namespace {

struct QuestionArguments {
  std::string first, second;  ///< the second is empty where there is one language only
  LanguageOptions reading;
  QuestionLimits limits;
  bool json = false;
};

/// How a question is put and what its answers are.
struct Wording {
  const char *name, *yes, *no;
};

Wording wording(LanguageQuestion question, bool has_outputs) {
  switch (question) {
    case LanguageQuestion::kEqual:
      return {"equal", has_outputs ? "equal: the same output after every word" : "equal: the same words", "not equal"};
    case LanguageQuestion::kIncluded:
      return {"included", "included: every word of the first is one of the second", "not included"};
    case LanguageQuestion::kDisjoint:
      return {"disjoint", "disjoint: no word is in both", "not disjoint"};
    case LanguageQuestion::kEmpty:
      return {"empty", "empty: no word at all", "not empty"};
  }
  return {};
}

DecidingWord answer_to(LanguageQuestion question, const Automaton& a, const Automaton& b,
                       const QuestionLimits& limits) {
  switch (question) {
    case LanguageQuestion::kEqual:
      return distinguishing_word(a, b, limits);
    case LanguageQuestion::kIncluded:
      return excess_word(a, b, limits);
    case LanguageQuestion::kDisjoint:
      return common_word(a, b, limits);
    case LanguageQuestion::kEmpty:
      break;
  }
  return accepted_word(a, limits);
}

/// The answer of a machine with outputs to the word, over the common letters.
std::string output_of(const Automaton& automaton, const std::vector<std::optional<Letter>>& letters, const Word& word) {
  const Dfa& dfa = std::get<Dfa>(automaton);
  State state = dfa.initial();
  for (const Letter letter : word) state = dfa.next(state, letters[letter].value());
  return dfa.output_names()[dfa.output(state)];
}

bool has_outputs(const Automaton& automaton) {
  const Dfa* dfa = std::get_if<Dfa>(&automaton);
  return dfa != nullptr && !dfa->is_acceptor();
}

/// "; b.dot has no letter \"c\"", where that is so: it rejects all words with one.
std::string lacking(const std::string& name, const Alphabet& merged,
                    const std::vector<std::optional<Letter>>& letters) {
  std::string missing;
  for (Letter letter = 0; letter < letters.size(); ++letter)
    if (!letters[letter]) missing += (missing.empty() ? "" : " ") + merged.name(letter);
  return missing.empty() ? ""
                         : fmt::format("{} has no letter {}, and rejects words with one", name, shortened(missing, 60));
}

int ask(LanguageQuestion question, const QuestionArguments& options) {
  const bool two = question != LanguageQuestion::kEmpty;
  const Automaton a = load_operand(options.first, options.reading);
  const Automaton b = two ? load_operand(options.second, options.reading) : a;
  const AlphabetRefinement common = refine(alphabet_of(a), alphabet_of(b));
  const DecidingWord answer = answer_to(question, a, b, options.limits);
  const bool outputs = has_outputs(a) || has_outputs(b);
  const Wording words = wording(question, outputs);
  if (options.json) {
    Json json{{"question", words.name}, {"first", options.first}};
    if (two) json["second"] = options.second;
    json["answer"] = !answer.word;
    if (answer.word) {
      json["word"] = common.merged.format_word(*answer.word);
      json["word_length"] = answer.word->size();
      if (outputs) {
        json["outputs"] = {output_of(a, common.in_a, *answer.word), output_of(b, common.in_b, *answer.word)};
      } else if (two) {
        json["in_first"] = answer.in_first;
        json["in_second"] = answer.in_second;
      }
    }
    json["pairs"] = answer.pairs;
    print_json(json);
    return answer.word ? kRefuted : kDone;
  }
  std::string text = answer.word ? words.no : words.yes;
  if (answer.word) {
    const std::string word = quoted_word(common.merged, *answer.word);
    const std::string first = visible(options.first), second = visible(options.second);
    if (outputs)
      text += fmt::format(": on {} the outputs are {} of {} and {} of {}", word,
                          in_quotes(output_of(a, common.in_a, *answer.word)), first,
                          in_quotes(output_of(b, common.in_b, *answer.word)), second);
    else if (!two)
      text += fmt::format(": {} is in {}", word, first);
    else if (answer.in_first && answer.in_second)
      text += fmt::format(": {} is in both", word);
    else
      text += fmt::format(": {} is in {} and not in {}", word, answer.in_first ? first : second,
                          answer.in_first ? second : first);
  }
  fmt::print("{}\n", text);
  if (two && !outputs)
    for (const std::string& remark :
         {lacking(options.first, common.merged, common.in_a), lacking(options.second, common.merged, common.in_b)})
      if (!remark.empty()) fmt::print("  {}\n", wrapped(remark, kColumns, "    "));
  return answer.word ? kRefuted : kDone;
}

}  // namespace

void add_question(CLI::App& app, Work& chosen, const std::string& name, LanguageQuestion question) {
  const auto options = std::make_shared<QuestionArguments>();
  Verb verb = add_verb(app, name);
  const std::string kinds = "A file, regex:…, name:…, expr:…, or a .safetensors model";
  verb.add_option("LANGUAGE", options->first, kinds).required();
  if (question != LanguageQuestion::kEmpty) verb.add_option("OTHER", options->second, "The same").required();
  add_count(verb, "--max-pairs", options->limits.max_pairs, "Most pairs of states or subsets to meet");
  add_json_flag(verb, options->json);
  add_language_options(verb, options->reading);
  verb.callback([options, question, &chosen] { chosen = [options, question] { return ask(question, *options); }; });
}

}  // namespace krohn
