#include "krohn/simulate/closing/close_model.h"

#include <fmt/format.h>

#include "krohn/groups/error.h"
#include "krohn/simulate/closing/close_linear.h"
#include "krohn/simulate/learned/model_operations.h"
#include "krohn/simulate/learned/trained_reader.h"
#include "krohn/simulate/prove/verify.h"
#include "krohn/simulate/tasks/task_automaton.h"

namespace krohn {
namespace {

/// States of a rounded model are about as many as those of its automaton; one with many more is not closed.
constexpr std::uint64_t kMostPairs = 200'000, kLongLetters = 20'000;

Certificate prove(const SequenceModel<float>& model, const Task& task) {
  const auto reader = trained_machine(model, task, Precision::kFp32);
  const TrackedAutomaton tracked = tracked_automaton(task, input_machine(task).automaton);
  ReadModel read{*reader, tracked, [](Output output) { return std::to_string(output); }};
  const TensorFile tensors = model.tensors();
  std::string why;
  if (auto operations = model_operations(model, task, /*is_fp64=*/false, why)) {
    read.operations = std::make_shared<const Operations>(*std::move(operations));
    read.tensors = &tensors;
  }
  Question question;
  question.subject = &read;
  question.name = "the rounded model";
  question.how.max_pairs = kMostPairs;
  question.how.long_letters = kLongLetters;
  return verify(question).certificate;
}

}  // namespace

Closing close_model(const SequenceModel<float>& model, const Task& task) { return close_linear(model, task); }

std::string ProvedClosing::why_not() const {
  if (is_proved()) return "";
  if (closing.model == nullptr) return closing.what;
  if (const auto word = certificate.failing_word())
    return fmt::format("rounded ({}), it is wrong on a word of {} letters", closing.what, word->size());
  return fmt::format("rounded ({}), it is undecided: {}", closing.what, certificate.limit);
}

ProvedClosing close_and_prove(const SequenceModel<float>& model, const Task& task) {
  ProvedClosing result{close_model(model, task), {}};
  if (result.closing.model != nullptr) result.certificate = prove(*result.closing.model, task);
  return result;
}

}  // namespace krohn
