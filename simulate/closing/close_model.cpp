#include "krohn/simulate/closing/close_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "krohn/groups/base/error.h"
#include "krohn/groups/base/float_environment.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/simulate/closing/close_linear.h"
#include "krohn/simulate/closing/close_reflections.h"
#include "krohn/simulate/closing/saturate_cells.h"
#include "krohn/simulate/learned/trained_reader.h"
#include "krohn/simulate/models/cell_model.h"
#include "krohn/simulate/models/models.h"
#include "krohn/simulate/models/stacked_model.h"
#include "krohn/simulate/prove/verify.h"
#include "krohn/simulate/tasks/tasks.h"
#include "krohn/simulate/train/optimiser.h"

namespace krohn {
namespace {

bool has_reflections(const SequenceModel<float>& model) { return mixer_of<ReflectionShape>(model) != nullptr; }

/// States of a rounded model are about as many as those of its automaton; one with many more is not closed.
constexpr std::uint64_t kMaxPairs = 200'000, kLongLetters = 20'000;

Certificate prove(const SequenceModel<float>& model, const Task& task, const std::optional<Precision>& any_order_in,
                  const char* name, std::uint64_t most_pairs) {
  const ReadModel read = subject_of(trained_machine(model, task, Precision::kFp32), task);
  Question question;
  question.subject = &read;
  question.name = name;
  question.how.max_pairs = most_pairs;
  question.how.long_letters = kLongLetters;
  if (any_order_in) {
    question.how.any_order = true;
    question.how.arithmetic = *any_order_in;
  }
  return verify(question).certificate;
}

/// A rounded model: letter after letter first, where its pairs are few, and whatever the order once that succeeds.
Certificate prove_rounded(const SequenceModel<float>& model, const Task& task, const TrainOptions& training) {
  Certificate certificate = prove(model, task, {}, "the rounded model", kMaxPairs);
  if (!training.any_order_in || !certificate.is<Proved>()) return certificate;
  return prove(model, task, training.any_order_in, "the rounded model", kMaxPairs);
}

}  // namespace

std::string why_never_rounded(const SequenceModel<float>& model, const Task& task) {
  if (is_cell_model(model)) return why_no_cells_round(model, task);
  return has_reflections(model) ? why_no_reflections_round(model, task) : why_not_linear(model);
}

std::string what_stands_against(const SequenceModel<float>& model, const Task& task) {
  if (!has_reflections(model)) return {};
  return why_no_layer_of_contractions(tracked_automaton(task, input_machine(task).automaton));
}

namespace {

/// Memories behind words of equal endings are the same, bit for bit, once the difference that came before is below the
/// last bit of every number, small ones too: there are then at most about so many pairs of state and memory, and mostly
/// far fewer, as few words shrink differences as little as those that were measured.
double most_expected_pairs(const Contraction& contraction, const Dfa& automaton) {
  constexpr double kLastBit = 1e-12;
  if (!(contraction.after_8 < 1)) return INFINITY;
  const double letters = 8 * std::log(kLastBit) / std::log(contraction.after_8);
  return automaton.states() * std::pow(automaton.letters(), letters);
}

std::string why_open(const Certificate& certificate) {
  if (const auto word = certificate.failing_word())
    return fmt::format("it is wrong on a word of {}", counted(word->size(), "letter"));
  return "it is undecided: " + (certificate.limit.empty() ? certificate.evidence : certificate.limit);
}

}  // namespace

std::string ProvedClosing::why_not() const {
  if (is_proved()) return "";
  const std::string before = as_trained.empty() ? "" : "; " + as_trained;
  if (closing.model == nullptr) return closing.what + before;
  return fmt::format("rounded ({}), {}{}", closing.what, why_open(certificate), before);
}

ProvedClosing prove_as_trained(const SequenceModel<float>& model, const Task& task, const TrainOptions& training) {
  // In pairs, not in seconds: a resumed run does the same.
  constexpr std::uint64_t kFewPairs = 20'000, kManyPairs = 1'000'000;
  const Contraction contraction = measured_contraction(model, task);
  const bool is_promising =
      training.contract > 0 && most_expected_pairs(contraction, input_machine(task).automaton) < 100 * kManyPairs;
  ProvedClosing result;
  result.certificate =
      prove(model, task, training.any_order_in, "the trained model", is_promising ? kManyPairs : kFewPairs);
  if (!result.certificate.is<Proved>()) {
    result.closing.what =
        fmt::format("as trained, {}; of a disturbance {:.2g} is left after 8 letters, {:.2g} after 24",
                    why_open(result.certificate), contraction.after_8, contraction.after_24);
    return result;
  }
  result.closing.what = "as trained, nothing rounded";
  result.closing.model = make_model<float>(model.name(), task, /*seed=*/1);
  std::ranges::copy(model.parameters(), result.closing.model->parameters().begin());
  result.closing.model->fix_as(model);
  return result;
}

namespace {

Closing close_cells(const SequenceModel<float>& model, const Task& task, std::vector<bool>& is_free) {
  Closing closing;
  closing.what = why_no_cells_round(model, task);
  if (!closing.what.empty()) return closing;
  SaturatedUnits units = saturate_cells(model, task);
  closing.kept = closing.by_states = units.kept;
  closing.dropped = units.silenced;
  closing.share = units.share;
  closing.what = units.model == nullptr
                     ? units.why_not
                     : fmt::format("{} of {} to signs, which the trained ones lacked at {:.2g} of the letters",
                                   units.kept, counted(units.kept + units.silenced, "unit"), units.share);
  closing.model = std::move(units.model);
  is_free = std::move(units.is_free);
  return closing;
}

/// Trains what reads the rounded states, until the proof succeeds or cannot.
ProvedClosing proved_behind(Closing closing, const std::vector<bool>& is_free, const Task& task,
                            const TrainOptions& training) {
  constexpr std::uint64_t kMaxSteps = 1000;  // proofs that succeed took a hundred
  ProvedClosing result;
  result.closing = std::move(closing);
  if (result.closing.model == nullptr) return result;
  const auto is_decided = [&] {
    result.certificate = prove_rounded(*result.closing.model, task, training);
    // The read-out does not change which states there are, so that too many stay too many.
    return result.certificate.is<Proved>() || result.certificate.pairs >= kMaxPairs;
  };
  result.closing.readout_steps = refine_readout(*result.closing.model, task, training, is_free, kMaxSteps, is_decided);
  return result;
}

}  // namespace

ProvedClosing close_and_prove(const SequenceModel<float>& model, const Task& task, const TrainOptions& training) {
  ProvedClosing result;
  std::vector<bool> is_free;
  if (model.reads_twice()) {
    const bool is_rounded = is_cell_model(model);
    if (training.contract > 0 || !is_rounded) result = prove_as_trained(model, task, training);
    if (result.is_proved() || !is_rounded) return result;
    ProvedClosing rounded = proved_behind(close_cells(model, task, is_free), is_free, task, training);
    if (rounded.is_proved()) return rounded;
    if (training.contract == 0) result = prove_as_trained(model, task, training);
    if (result.is_proved()) return result;
    rounded.as_trained = std::move(result.closing.what);
    return rounded;
  }
  if (has_reflections(model)) {
    const auto reflections = [&](bool only_simplices) {
      Closing closing = close_reflections(model, task, only_simplices, is_free);
      return proved_behind(std::move(closing), is_free, task, training);
    };
    result = reflections(/*only_simplices=*/false);
    if (result.is_proved() || result.closing.model == nullptr || result.closing.by_states > 0) return result;
    ProvedClosing other = reflections(/*only_simplices=*/true);
    return other.closing.model == nullptr ? std::move(result) : std::move(other);
  }
  result.closing = close_linear(model, task);
  if (result.closing.model != nullptr) result.certificate = prove_rounded(*result.closing.model, task, training);
  return result;
}

std::uint64_t refine_readout(SequenceModel<float>& model, const Task& task, const TrainOptions& options,
                             const std::vector<bool>& is_free, std::uint64_t most,
                             const std::function<bool()>& is_done) {
  constexpr std::uint64_t kAskEvery = 100, kFirstSample = std::uint64_t{1} << 59;  // samples that no other step reads
  const FloatEnvironment environment;
  if (is_done()) return 0;
  OptimiserOptions by = options.optimiser;
  by.schedule = Schedule::kConstant;
  by.warm_up = 0;
  by.weight_decay = 0;
  by.clip = 1;
  AdamW optimiser(model.parameters().size());
  std::vector<float> gradient(model.parameters().size());
  for (std::uint64_t step = 1; step <= most; ++step) {
    Interruption::check();
    TrainingBatch batch = draw_batch(task, options.lengths, options.seed_of_samples(),
                                     kFirstSample + step * options.words, options.words);
    for (TrainingBatch::Target& target : batch.targets) target.smoothing = static_cast<float>(options.smoothing);
    std::ranges::fill(gradient, 0.f);
    const BatchLoss loss = model.loss(batch, gradient);
    // Without a gradient and its memory Adam leaves a parameter alone, to the bit.
    for (std::size_t i = 0; i < gradient.size(); ++i)
      if (!is_free[i]) gradient[i] = 0;
    if (!optimiser.step(by, step, 0, gradient, model.parameters())) return most;
    if (step % kAskEvery == 0 && loss.right == loss.targets && is_done()) return step;
  }
  return most;
}

}  // namespace krohn
