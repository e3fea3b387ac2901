// tools/krohn/models/saved_run.h — a long test on disk: what is tested, and how far it came.
#pragma once

#include <cstdint>
#include <string>

#include "krohn/simulate/run/long_comparison.h"

namespace krohn {

/// What must be the same when a test is gone on with.
struct TestedWords {
  std::string model;  ///< the fingerprint of the model's file
  std::string arithmetic, form;
  std::uint64_t length = 0, words = 1, seed = 1;
};

/// Writes a JSON file, whole or not at all.
void save_run(const std::string& path, const TestedWords& tested, const LongComparisonState& state);

/// Reads it back. Throws InputError naming what differs from `tested`, or what the file lacks.
LongComparisonState load_run(const std::string& path, const TestedWords& tested);

}  // namespace krohn
