// simulate/learned/model_report.h — what can be said of a trained model beyond its accuracy: a row of a table.
#pragma once

#include <cstdint>
#include <string>

#include "krohn/simulate/models/sequence_model.h"
#include "krohn/simulate/tasks/task.h"

namespace krohn {

struct ModelFindings {
  std::string claim;               ///< "proved", "proved up to a length", "refuted", or why nothing can be
  std::uint64_t claim_length = 0;  ///< letters proved, or of the word that refutes
  std::string snapped;             ///< the construction that it was snapped to and proved; empty: it was not
};

/// In fp32, letter after letter, within limits that suit a table: as the network that the model is
/// (simulate/prove/certify.h), where its task's answers tell states apart, otherwise as the model in the arithmetic of
/// simulate/learned/deterministic_model.h (simulate/learned/trained_reader.h), of which words below `least_length` are
/// not asked: no model promises what is shorter than all that it was trained on.
ModelFindings examine_model(const SequenceModel<float>& model, const Task& task, std::uint64_t least_length = 0);

}  // namespace krohn
