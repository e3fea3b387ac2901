// tests/gpu/samples.h — which random words the tests of the CUDA floor compare.
#pragma once

#include "krohn/simulate/evaluate/evaluate.h"
#include "tests/testing.h"

namespace krohn {

inline SampleOptions sample_of(std::vector<std::uint64_t> lengths, std::uint64_t words, std::uint64_t seed,
                               Form form = Form::kStructured) {
  SampleOptions options;
  options.lengths = std::move(lengths);
  options.words = words;
  options.seed = seed;
  options.form = form;
  return options;
}

}  // namespace krohn
