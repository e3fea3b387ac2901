// simulate/imports/import_model.h — somebody else's model by its weights: names and shapes of tensors as the library
// writes them that trained it, as a model that every verb about trained models takes. docs/verify.md has the tables.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "krohn/constructions/files/safetensors.h"
#include "krohn/simulate/models/sequence_model.h"
#include "krohn/simulate/tasks/task.h"

namespace krohn {

struct ImportOptions {
  std::string kind = {};                  ///< one of import_kinds
  std::string embedding = {}, head = {};  ///< prefixes: "embed" for embed.weight; empty: found by its name or shape
  std::string cell = {};                  ///< the prefix of weight_ih_l0, or of a layer's names; empty: found
  /// Letter of the task ↦ row of the embedding, or place in a one-hot input; empty: in order.
  std::vector<std::uint32_t> tokens = {};
  /// Label of the task ↦ row of the read-out; empty: in order, and then there are no other rows.
  std::vector<std::uint32_t> classes = {};
  /// The facts that neither names nor shapes of tensors show, by name: heads of a layer, an ε, … (docs/verify.md).
  std::map<std::string, double> settings = {};
  /// All modules in the order of the forward pass, for one with more than an embedding, a recurrence and a linear
  /// read-out: prefixes, and between them names among kStockFunctions, "layer-norm" and "rms-norm" (of no tensors).
  /// "+norm1:rnn1" is added to its input.
  std::vector<std::string> modules = {};
};

std::vector<std::string> import_kinds();

/// Letters are the task's, special tokens included. Only rows and columns are chosen; every number stays what it is. A
/// read-out of a single row, as for binary cross-entropy, answers label 1 where its logit is above 0. Throws InputError
/// naming `where` and the tensor that is missing, of another shape, not understood, or left over. Numbers that the file does
/// not have, a bias of 0 or a gain of 1, are fixed (SequenceModel::fix).
std::unique_ptr<SequenceModel<float>> import_model(const TensorFile& tensors, const ImportOptions& options,
                                                   const Task& task, const std::string& where);

// The comparison of a model's own forward pass on some words, as its owner wrote it down, with its weights as krohn
// reads them: tensors do not show what a module does around its recurrence. docs/verify.md describes the file.

/// Numbers that the model's owner has for letters and answers, by letter and label of the task; empty: in order.
struct ImportedNumbers {
  std::vector<std::uint32_t> tokens = {}, classes = {};
};

/// The words and answers that were compared with the forward pass; 0: none was.
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
