// simulate/imports/expected_answers.h — what a model's own forward pass says of some words, as its owner wrote it down,
// held against its weights as krohn reads them: tensors do not show what a module does around its recurrence.
// docs/verify.md describes the file.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "krohn/simulate/models/sequence_model.h"
#include "krohn/simulate/tasks/task.h"

namespace krohn {

/// Numbers that the model's owner has for letters and answers, by letter and label of the task; empty: in order.
struct ImportedNumbers {
  std::vector<std::uint32_t> tokens = {}, classes = {};
};

/// How much was held against the forward pass; nothing: it was not.
struct ComparedAnswers {
  std::uint64_t words = 0, answers = 0;
};

/// Two logits agree that differ by no more than this, times the greatest absolute value among those compared, or 1.
inline constexpr double kLogitTolerance = 1e-3;

/// `text` has a word in each line, with answers or logits; `where` names it. The weights are read in fp32. A word is
/// compared up to a difference that its rounding explains. Throws InputError for a line that cannot be read, and for
/// the first word on which the two disagree.
ComparedAnswers compare_with_expected(std::string_view text, const std::string& where,
                                      const SequenceModel<float>& model, const Task& task,
                                      const ImportedNumbers& numbers);

/// Metadata of the file of an imported model, and back.
void store_comparison(std::map<std::string, std::string>& metadata, const ImportedNumbers& numbers,
                      const ComparedAnswers& compared);
ImportedNumbers stored_numbers(const std::map<std::string, std::string>& metadata);
ComparedAnswers stored_comparison(const std::map<std::string, std::string>& metadata);

}  // namespace krohn
