// simulate/learned/model_operations.h — a trained model, operation by operation: what simulate/learned/trained_reader.h
// reads it by, and certificates write.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "krohn/simulate/learned/trained_reader.h"
#include "krohn/simulate/models/sequence_model.h"
#include "krohn/simulate/prove/claims/operations.h"
#include "krohn/simulate/tasks/task.h"

namespace krohn {

/// A model's operations, and which of its numbers are recurrent states.
struct ListedModel {
  /// By what a letter multiplies the blocks: the numbers of a list, block after block.
  enum class Action : std::uint8_t {
    kNone,         ///< no matrices
    kMatrices,     ///< of size · size numbers, `row` and `column` apart
    kReflections,  ///< Π (I − β k kᵀ): keys in `list` from `first` on, their β in `more`
    kFactors,      ///< a number for a block of one
    kRotations     ///< the real parts in `list`, the imaginary ones in `more`
  };

  Operations operations;
  std::vector<StatePart> states;
  std::vector<StateBlock> blocks;  ///< of the first layer
  Action action = Action::kNone;
  std::uint32_t list = 0, more = 0;
  std::size_t first = 0, row = 0, column = 0;
  std::optional<std::uint32_t> added;  ///< the list that is added to the one state; where that is all zeros, its scale
                                       ///< tells nothing of the word
  /// Places of the memory with the rows that a convolution looks back at, and the list of each.
  std::vector<std::pair<std::size_t, std::uint32_t>> rows;
};

/// Tensors are named as in the file of the model.
ListedModel listed_model(const SequenceModel<float>& model, const Task& task, Precision format);
/// Without tokens, which are the task's. `rescaled`: another function, where the recurrence is bilinear and adds
/// nothing to the state. From the ninth letter on every state is scaled to the Euclidean norm that it had after the
/// eighth, as Ebrahimi & Memisevic normalise at inference (§2.2): what overflows as trained then goes on. A state of
/// zeros stays.
ListedModel listed_model(const SequenceModel<float>& model, Precision format, bool rescaled = false);
Operations model_operations(const SequenceModel<float>& model, const Task& task, Precision format);

/// The effect of a token on the blocks behind copies of itself, as far back as a convolution looks.
LetterMaps letter_maps(const ListedModel& model, const TensorFile& tensors, Letter token);
/// Every one of so many tokens multiplies the one state by a matrix, and nothing is added.
bool is_homogeneous(const ListedModel& model, const TensorFile& tensors, Letter tokens);

}  // namespace krohn
