#include "tools/krohn/report/verdict.h"

#include <fmt/format.h>

#include <memory>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/formats/json.h"
#include "tools/krohn/progress.h"
#include "tools/krohn/report/output.h"
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
  if (verdict.foreign_word) {
    json["verdict"]["failing_word"] = verdict.foreign_word->text;
    json["verdict"]["failing_word_length"] = verdict.foreign_word->letters;
  }
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
      fmt::print("  {} of random {}words, seed {}: {} correct\n", counted(row.letters, "letter"),
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

void CheckSummary::add(std::string_view line) {
  const Json found = Json::parse(line, nullptr, false);
  if (!found.is_object() || !found.contains("certificate") || !found.contains("status") ||
      !found["status"].is_number_integer())
    throw InputError("no line of `krohn check`");
  ++certificates_;
  switch (found["status"].get<int>()) {
    case kDone:
      ++established_;
      break;
    case kRefuted:
      ++not_established_;
      break;
    case kUndecided:
      ++open_;
      break;
    default:
      ++unreadable_;
  }
}

int CheckSummary::status() const {
  return unreadable_ > 0 ? kBadInput : not_established_ > 0 ? kRefuted : open_ > 0 ? kUndecided : kDone;
}

std::string CheckSummary::text() const {
  return fmt::format("{}: {} established, {} not established, {} undecided within the limits, {} not read\n",
                     counted(certificates_, "certificate"), with_thousands(established_),
                     with_thousands(not_established_), with_thousands(open_), with_thousands(unreadable_));
}

void ClassSummary::add(std::string_view line) {
  const Json facts = Json::parse(line, nullptr, false);
  if (!facts.is_object() || !facts.contains("subject")) throw InputError("no line of `krohn classify`");
  ++languages_;
  if (facts.contains("error")) {
    ++errors_;
    return;
  }
  for (const char* kind : {"classes", "verdicts"}) {
    if (!facts.contains(kind)) continue;
    const Json& rows = facts[kind];
    for (const auto& [key, row] : rows.items()) {
      const bool listed = rows.is_array(), brief = row.is_string();
      const std::string name =
          !listed ? key : row.value(kind == std::string_view("classes") ? "class" : "property", "");
      // Findings of both are a verdict of the minimal automaton as well as a class.
      if (kind == std::string_view("verdicts") && facts.contains("classes") && is_class_.contains(name)) continue;
      if (kind == std::string_view("classes")) is_class_.insert(name);
      count(name, brief ? row.get<std::string>() : row.value("answer", ""));
    }
  }
}

int ClassSummary::status() const { return errors_ > 0 ? kBadInput : open_ > 0 ? kUndecided : kDone; }

std::string ClassSummary::text() const {
  std::vector<std::vector<std::string>> rows{{"class", "yes", "no", "open"}};
  for (const std::string& name : order_) {
    const auto& [yes, no, unknown] = counts_.at(name);
    rows.push_back({name, with_thousands(yes), with_thousands(no), with_thousands(unknown)});
  }
  return fmt::format("{}{}{}\n", format_table(rows), counted(languages_, "language"),
                     errors_ == 0 ? "" : fmt::format(", {} of them not read", errors_));
}

void ClassSummary::count(const std::string& name, const std::string& answer) {
  const auto [entry, fresh] = counts_.try_emplace(name);
  if (fresh) order_.push_back(name);
  auto& [yes, no, unknown] = entry->second;
  ++(answer == "yes" ? yes : answer == "no" ? no : unknown);
  open_ += answer == "unknown";
}

}  // namespace krohn
