// simulate/operations/operations_reader.h — a list of operations as a machine that reads letters: what proofs,
// evaluation and extraction ask of a model, whatever its layers.
//
// The list says what is computed (docs/reference/certificate-file.md, "Operations"); a plan
// (simulate/operations/plan.h) computes it with the same bits, one word or many side by side, by the instruction set at
// hand. Where a number is not finite the list claims nothing, and an answer among logits that are not finite is none.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "krohn/constructions/files/safetensors.h"
#include "krohn/simulate/evaluate/lanes/lane_kernel_table.h"
#include "krohn/simulate/prove/claims/operations.h"
#include "krohn/simulate/run/letter_reader.h"

namespace krohn {

/// Words that are read side by side, each from the start.
class OperationsWords {
 public:
  virtual ~OperationsWords() = default;
  /// Reads letters of every word, position after position, and at the positions where they are `asked` for writes the
  /// answers of all words. A missing one is a tie, or for any other reason Missing::kLogit.
  virtual void read(std::span<const Letter> letters, std::span<const char> asked,
                    std::span<LetterReader::Answer> answers) = 0;
};

/// The memory is the numbers of the format one after another, −0 as +0.
class OperationsReader : public LetterReader {
 public:
  /// Needs the reader alive.
  virtual std::unique_ptr<OperationsWords> words(std::size_t count) const = 0;
  virtual std::vector<double> numbers(const Memory& memory) const = 0;
};

/// Keeps nothing of either. The letters are those of `operations.tokens`. Throws InputError for a tensor that is
/// missing or holds no numbers, and for a set that is not available.
std::unique_ptr<OperationsReader> operations_reader(const Operations& operations, const TensorFile& tensors,
                                                    InstructionSet set = available_instruction_sets().back());

}  // namespace krohn
