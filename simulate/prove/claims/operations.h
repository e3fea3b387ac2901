// simulate/prove/claims/operations.h — what a model that is no network does with a token, operation by operation, so
// that a checker needs to know nothing of its layers (docs/reference/certificate-file.md, "Operations").
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "krohn/constructions/network/precision.h"

namespace krohn {

/// One list of numbers, made of lists before it.
struct Operation {
  /// Numbers of an earlier list: that at `first`, and one stride further along each axis of the result; the last stride
  /// of the terms of `dot` and `norm` is that of the sum.
  struct View {
    std::uint32_t list = 0, first = 0;
    std::vector<std::uint32_t> strides = {};
    friend bool operator==(const View&, const View&) = default;
  };

  std::string what;                       ///< "tensor", "dot", …
  std::string tensor = {};                ///< of "tensor": its name
  std::vector<double> numbers = {};       ///< of "numbers"; of "norm": p, from 1 to 1,024
  std::uint32_t size = 0;                 ///< of "numbers": how often; of "memory" and "row": how many
  std::vector<std::uint32_t> shape = {};  ///< of the result, for everything that is computed
  std::uint32_t terms = 0;                ///< of "dot" and "norm"
  std::vector<View> of = {};              ///< what it is computed from
  friend bool operator==(const Operation&, const Operation&) = default;
};

/// A model that remembers a list of numbers, reads a token at a time, and answers with the greatest of its logits.
struct Operations {
  std::vector<Operation> list;
  std::vector<std::uint32_t> tokens;         ///< by letter
  std::vector<std::uint32_t> before, after;  ///< tokens around every word; after those behind it all is forgotten
  std::vector<std::uint32_t> start, keep;    ///< lists that are remembered before the first token and after each
  std::uint32_t logits = 0;                  ///< the list of them
  Precision format = Precision::kFp32;       ///< what every operation rounds to: fp64, fp32 or bf16
  friend bool operator==(const Operations&, const Operations&) = default;
};

}  // namespace krohn
