// simulate/imports/around.h — what stands around a recurrence in a state dict: the embedding of letters below it, and
// the linear read-out above.
#pragma once

#include <vector>

#include "krohn/simulate/imports/import_model.h"
#include "krohn/simulate/imports/state_dict.h"

namespace krohn {

/// Rows for the letters of the task; none without an embedding: then inputs are one-hot.
struct ImportedEmbedding {
  std::uint32_t width = 0;
  std::vector<float> rows;
};

/// The tensor PREFIX.weight of `inputs` columns: that of `options.embedding`, or else the one whose name has "emb" in
/// it.
ImportedEmbedding import_embedding(StateDict& dict, const ImportOptions& options, const Task& task,
                                   std::uint64_t inputs);

/// The inputs of the letters, a row of `width` numbers each: rows of the embedding, or without one a 1 at the letter's
/// own place.
std::vector<float> import_input_rows(StateDict& dict, const ImportOptions& options, const Task& task,
                                     std::uint64_t width);

/// Columns of a first layer for the letters, out of `inputs` of them in each of its rows.
std::vector<float> columns_for_letters(const StateDict& dict, const ImportOptions& options, const Task& task,
                                       const std::vector<float>& weights, std::uint64_t inputs);

/// Weights and biases, a row a label of the task.
struct ImportedHead {
  std::vector<float> weights, bias;
};

/// PREFIX.weight of `hidden` columns and PREFIX.bias, if there is one: those of `options.head`, or else the only matrix
/// that is left.
ImportedHead import_head(StateDict& dict, const ImportOptions& options, const Task& task, std::uint64_t hidden);

}  // namespace krohn
