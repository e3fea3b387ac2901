#include "krohn/simulate/learned/model_report.h"

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "krohn/automata/operations/equivalence.h"
#include "krohn/groups/error.h"
#include "krohn/groups/float_environment.h"
#include "krohn/simulate/learned/extract_automaton.h"
#include "krohn/simulate/learned/snap_network.h"
#include "krohn/simulate/learned/trained_reader.h"
#include "krohn/simulate/prove/machine/reader_run.h"

namespace krohn {
namespace {

constexpr std::uint64_t kMostPairs = 20'000, kMostBytes = std::uint64_t{1} << 29, kLongLetters = 300'000;
constexpr std::uint64_t kExtractLength = 32, kExtractWords = 500;

void record(const Certificate& certificate, ModelFindings& findings) {
  findings.claim = to_string(certificate.claim);
  if (certificate.is<ProvedUpTo>()) findings.claim_length = certificate.length();
  if (certificate.is<Refuted>() && certificate.failing_word())
    findings.claim_length = certificate.failing_word()->size();
}

/// The construction that the learned code is near to, if its proof succeeds.
void snap(const Dfa& learned, const StateCentres& centres, ModelFindings& findings) {
  const SnapResult snapped = snap_network(learned, centres);
  Question question;
  question.subject = &snapped.network;
  question.name = snapped.choices[snapped.chosen].construction;
  question.how.max_pairs = kMostPairs;
  if (verify(question).certificate.is<Proved>()) findings.snapped = snapped.choices[snapped.chosen].construction;
}

void examine(const SequenceModel<float>& model, const Task& task, std::uint64_t least_length, ModelFindings& findings) {
  const auto machine = trained_machine(model, task, Precision::kFp32);
  const Dfa automaton = input_machine(task).automaton;
  const Certificate certificate = table_verdict(*machine, tracked_automaton(task, automaton, least_length));
  record(certificate, findings);
  // A model that is wrong on the first words has learned another automaton, or none.
  if (certificate.is<Refuted>() && certificate.is_shortest()) return;
  ExtractOptions extract;
  extract.length = kExtractLength;
  extract.words = kExtractWords;
  extract.beyond = 0;
  extract.max_states = automaton.states() + std::uint64_t{1};
  const Extraction learned = extract_trained(*machine, task, extract, least_length);
  if (equivalent(learned.automaton, automaton))
    snap(learned.automaton, trained_centres(*machine, task, learned.automaton), findings);
}

}  // namespace

Certificate table_verdict(const TrainedReader& reader, const TrackedAutomaton& tracked,
                          const std::function<void(std::uint64_t)>& progress) {
  const ReadModel model{reader, tracked, [](Output output) { return std::to_string(output); }};
  Question question;
  question.subject = &model;
  question.how.max_pairs = kMostPairs;
  question.how.max_bytes = kMostBytes;
  question.how.long_letters = kLongLetters;
  question.how.progress = progress;
  return verify(question).certificate;
}

ModelFindings examine_model(const SequenceModel<float>& model, const Task& task, std::uint64_t least_length) {
  const FloatEnvironment environment;
  ModelFindings findings;
  try {
    examine(model, task, least_length, findings);
  } catch (const Contradiction&) {
    throw;  // a mistake of krohn's is no property of the model
  } catch (const Error& error) {
    if (findings.claim.empty()) findings.claim = error.what();
  }
  return findings;
}

std::vector<MarginPoint> margins_along(const TrainedReader& reader, const TrackedAutomaton& tracked, const Word& word) {
  std::vector<MarginPoint> points;
  ReaderRun run(reader, tracked);
  std::uint64_t first = 1, next = 2;  // of the stretch, and after it
  for (std::uint64_t t = 1; t <= word.size(); ++t) {
    if (t == next) first = next, next *= 2;
    if (t == word.size()) first = t;
    if (!run.read(word[t - 1])) throw InputError(fmt::format("letter {} of the word cannot stand there", t));
    if (!run.is_asked()) continue;
    const double margin = run.answer().margin;
    const bool is_new = points.empty() || points.back().first != first;
    if (!is_new) points.back().last = t;
    if (!is_new && points.back().margin <= margin) continue;
    double squares = 0;
    for (const std::vector<double>& part : reader.states(run.memory()))
      for (const double x : part) squares += x * x;
    const MarginPoint point{first, t, margin, t, std::sqrt(squares)};
    if (is_new)
      points.push_back(point);
    else
      points.back() = point;
  }
  return points;
}

}  // namespace krohn
