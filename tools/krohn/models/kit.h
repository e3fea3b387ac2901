// tools/krohn/models/kit.h — the conformance kit: models whose every answer is known, in the library's own classes,
// words for them, and programs that run both through a runtime (tools/kit).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "krohn/constructions/checkpoints/checkpoint.h"
#include "krohn/constructions/network/network.h"

namespace krohn {

/// The meaning of a model's tokens, and the automaton of the right answers.
struct KitTracker {
  Dfa automaton;
  std::vector<std::uint32_t> begin;          ///< tokens that begin a word
  std::vector<std::uint32_t> letter_tokens;  ///< letter ↦ token
  std::vector<std::uint32_t> state_tokens;   ///< state ↦ the right answer in it
  std::vector<Letter> as_input;              ///< state ↦ what its token does when it is read; empty: nothing known
  std::uint32_t delay = 0;                   ///< answers are those of so many tokens before
  bool restarts = true;                      ///< a beginning may stand anywhere in a text

  static constexpr std::int64_t kNoAnswer = -1;
  /// The right answer after every token; kNoAnswer while a beginning is being read.
  std::vector<std::int64_t> answers(const std::vector<std::uint32_t>& tokens) const;
};

struct KitModel {
  std::string name, about;
  Checkpoint checkpoint;
  KitTracker tracker;
  bool is_exact_in_bf16 = true;
};

/// A text that is read in one go, and tokens that follow one by one.
struct KitWord {
  std::string name;
  std::vector<std::uint32_t> prompt, then;
};

std::vector<KitModel> kit_models();

/// The same automaton as a linear network, for ONNX Runtime: its letters, and one more that begins a word. None where
/// answers are late, or a beginning is several tokens.
std::optional<Network> kit_network(const KitTracker& tracker);

/// Prompts of b − 1, b, b + 1 and 2b + 1 tokens for b = 64, 128, 256 and 2048, random ones and, where letters fail to
/// commute, ones in which no two neighbours do; prompts that begin again in the middle; and where a letter does
/// nothing, prompts with few others, all followed by 10 tokens; and prompts of 33 and, twice, 65 that 140 follow.
std::vector<KitWord> kit_words(const KitTracker& tracker, std::uint64_t seed);

/// The folder `kit` with run.py and what it needs, and the folder of each model under kit/models. A folder that is
/// there is replaced. Throws SystemError.
void write_kit(const std::string& folder, std::uint64_t seed);

}  // namespace krohn
