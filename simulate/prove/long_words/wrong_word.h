// simulate/prove/long_words/wrong_word.h — long words on which a network errs, for networks that no search of pairs
// settles: what rounds, or was trained, errs first where small errors add up.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "krohn/constructions/network/network.h"
#include "krohn/simulate/arithmetic/arithmetic_name.h"
#include "krohn/simulate/arithmetic/form.h"
#include "krohn/simulate/prove/claims/certificate.h"

namespace krohn {

struct WrongWordOptions {
  std::uint64_t letters = 1'000'000;  ///< to read
  std::uint64_t seed = 1;
  std::function<void(std::uint64_t)> progress;  ///< letters read so far; may throw Interrupted
};

/// A word and what the network says after it.
struct WrongWord {
  Word word;
  FailingRun run;
};

/// Reads powers v v v … of short words v, and random words, letter after letter: all of them to one length, then to
/// twice that length, until `letters` are read. Gives the shortest wrong beginning found at the first length where
/// there is one; or nothing, which says nothing. `letters_read` counts.
std::optional<WrongWord> find_wrong_word(const Network& network, ArithmeticName arithmetic, Form form,
                                         const WrongWordOptions& options, std::uint64_t& letters_read);

}  // namespace krohn
