#include "krohn/simulate/check/operations_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "krohn/groups/error.h"
#include "krohn/simulate/check/certificate_reader.h"

namespace krohn {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint32_t kNowhere = UINT32_MAX;  ///< where a letter that cannot stand would lead
constexpr std::size_t kMostOperations = 100'000;

constexpr const char* kEnd = "answer by";  ///< the last of the operations' steps

constexpr std::uint32_t kVersion = 2;
constexpr const char* kSinceVersion3[] = {"softplus64", "log sigmoid", "cosine", "sine", "norm"};

/// p, whatever the format of the other numbers is.
const CertificateBits& bits_of_exponents() {
  static const CertificateBits bits{ArithmeticName(Precision::kFp64)};
  return bits;
}

double exponent_of(const StrictJson& json) {
  const double exponent = bits_of_exponents().read(json, 1)[0];
  if (!(exponent >= 1 && exponent <= 1024)) throw InputError(json.place(), "exponents are from 1 to 1,024");
  return exponent;
}

std::uint32_t positive(const StrictJson& json) {
  if (json.number() == 0) throw InputError(json.place(), "sizes begin with 1");
  return json.number();
}

}  // namespace

std::uint32_t version_of(const Operations* operations) {
  const auto is_new = [](const Operation& operation) {
    return std::ranges::find(kSinceVersion3, operation.what) != std::end(kSinceVersion3);
  };
  return kVersion + (operations != nullptr && std::ranges::any_of(operations->list, is_new) ? 1 : 0);
}

std::vector<Json> steps_of(const Operations& operations, const CertificateBits& bits) {
  std::vector<Json> steps{{{"step", "operations"},
                           {"tokens", operations.tokens},
                           {"before", operations.before},
                           {"after", operations.after}}};
  for (const Operation& operation : operations.list) {
    Json step{{"step", operation.what}};
    if (operation.what == "tensor") {
      step["name"] = operation.tensor;
    } else if (operation.what == "numbers") {
      step["bits"] = bits.write(operation.numbers);
      step["times"] = operation.size;
    } else if (operation.what == "memory") {
      step["size"] = operation.size;
    } else if (operation.what == "row") {
      step["of"] = operation.of.at(0).list;
      step["size"] = operation.size;
    } else {
      step["shape"] = operation.shape;
      if (operation.terms > 0) step["terms"] = operation.terms;
      if (operation.what == "norm") step["exponent"] = bits_of_exponents().write(operation.numbers);
      step["of"] = Json::array();
      for (const Operation::View& view : operation.of) {
        std::vector<std::uint32_t> numbers{view.list, view.first};
        numbers.insert(numbers.end(), view.strides.begin(), view.strides.end());
        step["of"].push_back(numbers);
      }
    }
    steps.push_back(std::move(step));
  }
  steps.push_back(
      {{"step", kEnd}, {"start", operations.start}, {"keep", operations.keep}, {"logits", operations.logits}});
  return steps;
}

Operations operations_of(const std::function<StrictJson()>& next_line, const CertificateBits& bits) {
  const StrictJson first = next_line();
  if (!first.has("step") || first["step"].text() != "operations")
    throw InputError(first.place(), "expected the step \"operations\"");
  first.require_keys({"step", "tokens", "before", "after"});
  Operations operations{{}, first["tokens"].numbers(), first["before"].numbers(), first["after"].numbers(), {}, {}, 0};
  while (operations.list.size() < kMostOperations) {
    const StrictJson json = next_line();
    Operation operation{json.has("step") ? json["step"].text() : ""};
    if (operation.what == kEnd) {
      json.require_keys({"step", "start", "keep", "logits"});
      operations.start = json["start"].numbers();
      operations.keep = json["keep"].numbers();
      operations.logits = json["logits"].number();
      return operations;
    }
    if (operation.what == "tensor") {
      json.require_keys({"step", "name"});
      operation.tensor = json["name"].text();
    } else if (operation.what == "numbers") {
      json.require_keys({"step", "bits", "times"});
      operation.numbers = bits.read(json["bits"]);
      operation.size = positive(json["times"]);
      if (operation.numbers.empty()) throw InputError(json["bits"].place(), "no numbers");
    } else if (operation.what == "memory") {
      json.require_keys({"step", "size"});
      operation.size = positive(json["size"]);
    } else if (operation.what == "row") {
      json.require_keys({"step", "of", "size"});
      operation.of = {{json["of"].number(), 0, {}}};
      operation.size = positive(json["size"]);
    } else {
      const bool is_norm = operation.what == "norm", has_terms = is_norm || operation.what == "dot";
      std::vector<std::string_view> keys{"step", "shape", "of"};
      if (has_terms) keys.emplace_back("terms");
      if (is_norm) keys.emplace_back("exponent");
      json.require_keys(keys);
      operation.shape = json["shape"].numbers();
      if (std::ranges::count(operation.shape, 0U) > 0) throw InputError(json["shape"].place(), "sizes begin with 1");
      if (has_terms) operation.terms = positive(json["terms"]);
      if (is_norm) operation.numbers = {exponent_of(json["exponent"])};
      for (const StrictJson& view : json["of"].items()) {
        const std::vector<std::uint32_t> numbers = view.numbers();
        if (numbers.size() < 2) throw InputError(view.place(), "expected a list, a number in it and strides");
        operation.of.push_back({numbers[0], numbers[1], {numbers.begin() + 2, numbers.end()}});
      }
    }
    operations.list.push_back(std::move(operation));
  }
  throw LimitError(fmt::format("{}: more than {} operations", first.place(), kMostOperations));
}

Json step_of(const TrackedAutomaton& language, std::span<const std::string> outputs) {
  const Dfa& automaton = language.automaton;
  const auto is_dead = [&](State state) { return language.wanted[state] == TrackedAutomaton::kNoSuchWord; };
  Json letters = Json::array(), table = Json::array(), names = Json::array(), logits = Json::array();
  for (const Symbol& symbol : automaton.alphabet().symbols()) letters.push_back(symbol.name);
  for (State state = 0; state < automaton.states(); ++state) {
    if (is_dead(state)) continue;
    Json row = Json::array();
    for (const State next : automaton.row(state)) row.push_back(is_dead(next) ? kNowhere : next);
    table.push_back(std::move(row));
    const bool is_asked = language.is_asked(state);
    names.push_back(is_asked ? Json(automaton.output_names()[automaton.output(state)]) : Json(nullptr));
    logits.push_back(is_asked ? Json(language.wanted[state]) : Json(nullptr));
  }
  Json step{{"step", kLanguage}, {"letters", letters}, {"table", table}, {"outputs", names}};
  if (outputs.empty()) step["logits"] = logits;
  return step;
}

TrackedAutomaton language_of(const StrictJson& json, const Alphabet* alphabet, std::span<const std::string> outputs) {
  if (!json.has("step") || json["step"].text() != kLanguage)
    throw InputError(json.place(), "expected the step \"language\"");
  if (outputs.empty())
    json.require_keys({"step", "letters", "table", "outputs", "logits"});
  else
    json.require_keys({"step", "letters", "table", "outputs"});
  const std::vector<std::string> letters = json["letters"].texts();
  const Alphabet own = alphabet == nullptr ? Alphabet::from_names(letters) : *alphabet;
  if (letters.size() != own.size()) throw InputError(json["letters"].place(), "these are not the model's letters");
  for (Letter letter = 0; letter < own.size(); ++letter)
    if (own.name(letter) != letters[letter])
      throw InputError(json["letters"].place(), "these are not the model's letters, in its order");
  const std::vector<StrictJson> rows = json["table"].items(), names = json["outputs"].items();
  const auto states = static_cast<State>(rows.size());
  const std::vector<StrictJson> logits = outputs.empty() ? json["logits"].items() : std::vector<StrictJson>{};
  if (states == 0 || names.size() != states || (outputs.empty() && logits.size() != states))
    throw InputError(json.place(), "expected a row and an output for every state");
  std::vector<State> table;
  std::vector<Output> answers, wanted;
  std::vector<std::string> output_names;
  std::map<std::string, Output> known;
  const auto number_of = [&](const std::string& name) {
    const auto [at, fresh] = known.try_emplace(name, static_cast<Output>(output_names.size()));
    if (fresh) output_names.push_back(name);
    return at->second;
  };
  // One logit for two outputs would answer rightly whatever is right.
  std::map<std::uint32_t, std::string> output_of;
  bool has_dead = false;
  for (State state = 0; state < states; ++state) {
    const std::vector<std::uint32_t> row = rows[state].numbers();
    if (row.size() != own.size()) throw InputError(rows[state].place(), "expected a state for every letter");
    for (const State next : row) {
      if (next >= states && next != kNowhere) throw InputError(rows[state].place(), "no such state");
      has_dead = has_dead || next == kNowhere;
      table.push_back(std::min(next, states));
    }
    const bool is_asked = !names[state].is_null();
    if (!outputs.empty() && !is_asked) throw InputError(names[state].place(), "of a network every word is asked about");
    answers.push_back(number_of(is_asked ? names[state].text() : ""));
    wanted.push_back(TrackedAutomaton::kNotAsked);
    if (outputs.empty() && logits[state].is_null() == is_asked)
      throw InputError(logits[state].place(), "expected a logit where there is an output, and only there");
    if (!is_asked) continue;
    if (outputs.empty()) {
      wanted.back() = std::min(logits[state].number(), TrackedAutomaton::kNeverGiven);
      const auto [known, fresh] = output_of.try_emplace(wanted.back(), names[state].text());
      if (wanted.back() != TrackedAutomaton::kNeverGiven && known->second != names[state].text())
        throw InputError(logits[state].place(), "one logit stands for two outputs");
    } else {
      const auto named = std::ranges::find(outputs, names[state].text());
      wanted.back() =
          named == outputs.end() ? TrackedAutomaton::kNeverGiven : static_cast<Output>(named - outputs.begin());
    }
  }
  if (has_dead && !outputs.empty()) throw InputError(json["table"].place(), "of a network every word is asked about");
  if (has_dead) {
    table.insert(table.end(), own.size(), states);
    answers.push_back(number_of(""));
    wanted.push_back(TrackedAutomaton::kNoSuchWord);
  }
  return {Dfa::moore(own, std::move(table), 0, std::move(answers), std::move(output_names)), std::move(wanted)};
}

std::optional<Word> word_against(const TrackedAutomaton& tracked, const Dfa& language, const std::string& name) {
  const Dfa& own = tracked.automaton;
  // The file has names alone: a class goes by its name, unless that is cut short.
  constexpr std::string_view kCutShort = "…";
  std::vector<Letter> to_language;
  for (const Symbol& symbol : own.alphabet().symbols()) {
    const auto letter = language.alphabet().find(symbol.name);
    if (!letter || language.letters() != own.letters() || language.alphabet().name(*letter) != symbol.name ||
        (cardinality(language.alphabet()[*letter].characters) > 1 && symbol.name.find(kCutShort) != std::string::npos))
      throw InputError(name, fmt::format("its letters are {}, those of the certificate {}",
                                         to_string(language.alphabet()), to_string(own.alphabet())));
    to_language.push_back(*letter);
  }
  struct Met {
    State own, theirs;
    std::size_t from;
    Letter by;
  };
  std::vector<Met> met{{own.initial(), language.initial(), 0, 0}};
  std::map<std::pair<State, State>, bool> known{{{own.initial(), language.initial()}, true}};
  for (std::size_t i = 0; i < met.size(); ++i) {
    const Met at = met[i];
    if (tracked.is_asked(at.own) &&
        own.output_names()[own.output(at.own)] != language.output_names()[language.output(at.theirs)]) {
      Word word;
      for (std::size_t back = i; back > 0; back = met[back].from) word.push_back(met[back].by);
      std::ranges::reverse(word);
      return word;
    }
    for (Letter letter = 0; letter < own.letters(); ++letter) {
      const State next = own.next(at.own, letter), theirs = language.next(at.theirs, to_language[letter]);
      if (tracked.wanted[next] == TrackedAutomaton::kNoSuchWord || !known.try_emplace({next, theirs}, true).second)
        continue;
      met.push_back({next, theirs, i, letter});
    }
  }
  return std::nullopt;
}

}  // namespace krohn
