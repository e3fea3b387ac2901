// simulate/evaluate/lanes/sample.h — random tests of networks in parts: on words that begin with any number, and
// reports of several parts added up.
#pragma once

#include <cstdint>

#include "krohn/simulate/evaluate/evaluate.h"

namespace krohn {

/// `sample` (simulate/evaluate/evaluate.h) on the words first, first + 1, … instead of 0, 1, ….
SampleReport sample_from(std::uint64_t first, const Network& network, ArithmeticName arithmetic,
                         const SampleOptions& options);

/// Adds the report of other words of the same lengths: what one test of all of them says.
void add_report(SampleReport& sum, const SampleReport& part);

}  // namespace krohn
