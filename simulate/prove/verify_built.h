// simulate/prove/verify_built.h — proves the promises of a construction for a network that was just built, before
// anybody is told of them, and chooses constructions by such proofs.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "krohn/constructions/build/planner.h"
#include "krohn/constructions/network/network.h"
#include "krohn/simulate/prove/verify.h"

namespace krohn {

/// The promise of a construction: that nothing rounds, in whatever order letters are composed, in some formats; and
/// that rounding keeps it on its codewords, letter after letter, in others.
struct Promise {
  std::span<const Precision> exact_in, locked_in;
};

/// The outcome.
struct KeptPromise {
  std::vector<Precision>
      every_order;  ///< proved for words of every length, letter after letter and in every association
  std::vector<Precision> sequential;     ///< proved for words of every length, letter after letter
  std::vector<Precision> promised_only;  ///< not proved within the limits
  std::string limit;                     ///< which was met there
  std::uint64_t right_up_to = 0;         ///< of a network that promises nothing: letters to which fp64 was searched
};

/// Asks `verify` about every format of the promise; a network that snaps, or whose proof for all
/// orders would take long, is asked letter after letter. A network that
/// promises nothing is searched in fp64, as far as 65,536 pairs go, so that one that computes something else is never
/// handed on. Throws Contradiction when a word is read wrongly.
KeptPromise verify_built(const Network& network, const Promise& promise, const CertifyOptions& limits = {},
                         const std::function<void(std::string_view, std::uint64_t, std::uint64_t)>& progress = {});

/// The integers of an arithmetic that wraps around; nothing for any other.
std::optional<WrappingIntegers> wrapping_integers(const ArithmeticName& arithmetic);

/// The first construction that `certify` proves as `how` says: in integers, in the order of layers and then of
/// numbers; or, with `how.any_order`, in `wishes.precision`, so that no order of evaluation, split, batch, FMA or wider
/// accumulator changes a bit, where the one that `choose` would take is tried first, then the others in the table's
/// order. All are tried for PlanRows::kAll, and no other than one that is wished for. `told` hears of every one that
/// was tried, with the reason against it, or "" for a proof. The network's weights are not rounded yet. Without a
/// chosen row `failure` is an InputError with all reasons. Throws InputError for an arithmetic that `how` does not fit.
Choice choose_by_proof(const Dfa& automaton, BuildOptions wishes, const CertifyOptions& how, PlanRows rows,
                       const std::function<void(const PlanRow& row, const std::string& refusal)>& told = {});

}  // namespace krohn
