// simulate/prove/claims/certificate.h — what is claimed about a network, and the evidence.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "krohn/automata/cascades/cascade.h"
#include "krohn/automata/dfa/alphabet.h"
#include "krohn/automata/dfa/visible_text.h"
#include "krohn/constructions/network/network.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/simulate/arithmetic/arithmetic_name.h"
#include "krohn/simulate/arithmetic/order.h"
#include "krohn/simulate/prove/claims/operations.h"
#include "krohn/simulate/run/letter_reader.h"

namespace krohn {

// ---- Claims

/// For words of every length.
struct Proved {
  /// In every order that multiplies the letters' matrices, as they are stored in the arithmetic, with each other
  /// (simulate/arithmetic/order.h). Of a step that makes no matrix, by its factors, this says nothing.
  bool every_association = false;
  /// However sums are ordered, grouped and fused, in any wider format, in any association but the UT transform
  /// (simulate/prove/certify.h). By closed regions: in any order, and with functions within 8 units; in bf16 and fp16
  /// with sums in fp32 (docs/reference/certificate-file.md, "closed regions").
  bool any_order = false;
  friend bool operator==(const Proved&, const Proved&) = default;
};

/// For words of up to `length` letters; 0: nothing was proved within the limits.
struct ProvedUpTo {
  std::uint64_t length = 0;
  friend bool operator==(const ProvedUpTo&, const ProvedUpTo&) = default;
};

/// By a failing word: this one, or one that the proof or the evidence describes (a random word of 10^6 letters).
struct Refuted {
  std::optional<Word> word = {};
  bool shortest = false;  ///< no shorter word fails
  friend bool operator==(const Refuted&, const Refuted&) = default;
};

/// No disagreement was found, which proves nothing.
struct Sampled {
  friend bool operator==(const Sampled&, const Sampled&) = default;
};

using Claim = std::variant<Sampled, Proved, ProvedUpTo, Refuted>;

/// "proved", "proved up to a length", "refuted", "sampled".
std::string to_string(const Claim& claim);

// ---- Proofs: what a re-checker needs to establish the claim again, one type for each method
// (docs/reference/certificate-file.md)

/// The codewords of one layer that its actions reach from H_0, and where each goes.
struct ClosedTable {
  struct Move {
    Action action = 0;
    std::uint32_t book = 0;  ///< decodes after the action
    friend bool operator==(const Move&, const Move&) = default;
  };
  std::vector<std::uint32_t> codewords;  ///< as the decoder numbers them; the first is H_0
  std::vector<Move> moves;
  std::vector<std::vector<std::uint32_t>> next;  ///< [move][i]: where codewords[i] goes, an index of `codewords`
  friend bool operator==(const ClosedTable&, const ClosedTable&) = default;
};

/// A place of each layer's table, read together as an automaton's state, and by letter which tuple comes next.
struct LabelTuple {
  State state = 0;
  std::vector<std::uint32_t> places, next;
  friend bool operator==(const LabelTuple&, const LabelTuple&) = default;
};

/// The method "closed codewords". The labels so found emulate the automaton by induction over all tuples of labels that
/// the readout decodes, or else on those that words reach (automata/cascades/emulation.h): these are listed by
/// `with_steps` (simulate/prove/self_check.h), the first being the start.
struct ClosedCodewords {
  std::vector<ClosedTable> layers;
  bool by_induction = false;
  std::vector<LabelTuple> tuples = {};
  friend bool operator==(const ClosedCodewords&, const ClosedCodewords&) = default;
};

/// An automaton's state and everything that the network remembers, and by letter which pair comes next.
struct ReachedPair {
  std::uint64_t depth = 0;  ///< letters of some word that reaches it; 0 throughout where the set is closed
  State state = 0;
  std::vector<Label> labels;                 ///< by layer
  std::uint64_t phase = 0;                   ///< letters since the network snapped, of one that snaps
  std::vector<std::vector<double>> numbers;  ///< by layer, column after column, −0 as +0
  /// Empty: the next letter is the last one that is claimed. UINT32_MAX: the letter cannot stand here.
  std::vector<std::uint32_t> next;
  friend bool operator==(const ReachedPair&, const ReachedPair&) = default;
};

/// The method "closed reachable set". Words of at most `depth` letters reach `pairs` pairs (automaton state, all
/// numbers, labels below the last layer). Proved: all words do. Proved up to T: depth = T − 1, and all were expanded.
/// `with_steps` (simulate/prove/self_check.h) lists them, the first being the start.
struct ReachedPairs {
  std::uint64_t pairs = 0, depth = 0;
  std::vector<ReachedPair> list = {};
  friend bool operator==(const ReachedPairs&, const ReachedPairs&) = default;
};

/// The first `letters` letters of RandomWord(letters of the alphabet, seed, stream).
struct RandomBeginning {
  std::uint64_t seed = 0, stream = 0, letters = 0;
  friend bool operator==(const RandomBeginning&, const RandomBeginning&) = default;
};

/// The method "failing word": after `Certificate::failing_word`, or after the random beginning, the automaton is in
/// state `expected` and the readout gives another state or none; beside a language of its own, another answer.
struct FailingRun {
  std::optional<RandomBeginning> random;  ///< when failing_word is not given
  State expected = 0;
  std::optional<std::uint32_t> given;
  std::vector<ReachedPair> shorter = {};  ///< that no shorter word fails, as listed by `with_steps`
  friend bool operator==(const FailingRun&, const FailingRun&) = default;
};

/// The method "sampled": streams 0 … words − 1 of RandomWord(letters of the alphabet, seed), each to `length` letters,
/// were right at every letter.
struct SampledWords {
  std::uint64_t seed = 0, words = 0, length = 0;
  friend bool operator==(const SampledWords&, const SampledWords&) = default;
};

/// The method "linear horizon", of one layer: words stay near the codewords that the table visits for `length` letters,
/// by the inequality of simulate/prove/bounds/bounds.h. `next` says which codeword is nearest, not which one is
/// met.
struct LinearHorizon {
  ClosedTable table;
  std::uint64_t length = 0;
  friend bool operator==(const LinearHorizon&, const LinearHorizon&) = default;
};

/// The maps (A, B) of words of one layer's actions, or, where every action only moves numbers (at most one ±1 in a
/// column), what words add to 0.
struct LayerMaps {
  struct Map {
    std::vector<double> a;            ///< n×n, row-major; empty for moves
    std::vector<double> b;            ///< n×d, column-major; empty where no action of the layer has a B
    std::vector<std::uint32_t> next;  ///< by action
    friend bool operator==(const Map&, const Map&) = default;
  };
  bool only_moves = false;
  std::vector<std::uint32_t> letters;  ///< by action, an index of `maps`; empty for moves
  std::vector<Map> maps;               ///< for moves: the first is 0; empty without B
  friend bool operator==(const LayerMaps&, const LayerMaps&) = default;
};

/// The method "exact in any order": nothing that a word's evaluation computes can round.
struct AnyOrder {
  ClosedCodewords codewords;
  std::vector<LayerMaps> layers;
  friend bool operator==(const AnyOrder&, const AnyOrder&) = default;
};

/// The method "closed regions", of operations: boxes of memories, each beside a state of the automaton. From a region
/// every word's box lies in a region of its state after at most `letters` letters, from the start after at most
/// `start`, and all answers on the way are right, of whatever runtime (docs/reference/certificate-file.md).
struct ClosedRegions {
  struct Region {
    State state = 0;
    std::vector<double> lower, upper;  ///< numbers of fp32
    friend bool operator==(const Region&, const Region&) = default;
  };
  std::uint32_t start = 0, letters = 1;
  std::vector<Region> list;
  friend bool operator==(const ClosedRegions&, const ClosedRegions&) = default;
};

using Proof = std::variant<std::monostate, ClosedCodewords, ReachedPairs, FailingRun, SampledWords, LinearHorizon,
                           AnyOrder, ClosedRegions>;

/// The outcome of a verification, for one arithmetic and one evaluation order.
struct Certificate {
  Claim claim;
  ArithmeticName arithmetic = Precision::kFp32;
  Form form = Form::kStructured;
  Order order{};
  /// The truth of the answers, where that is not the network's own automaton: state 0 first, and
  /// at the end at most one state to which no word leads (language_to_write). Answers are outputs of the network's
  /// automaton, or numbers of logits.
  std::optional<TrackedAutomaton> language = {};
  std::shared_ptr<const Operations> operations = {};  ///< of a model that is no network
  std::map<std::string, std::string> files = {};      ///< its other files: their SHA-256 by name (digests_of_files)
  std::string method;                                 ///< "closed codewords", "closed reachable set", "sampled"
  std::string evidence;                               ///< one sentence: what was checked and how much of it
  Proof proof;                       ///< the same for a re-checker; nothing when the claim cannot be written down
  std::uint64_t pairs = 0;           ///< (state, codeword) or (automaton state, network state) pairs examined
  std::uint64_t letters_tested = 0;  ///< sampled letters, beside a proof too
  std::uint64_t seed = 0;            ///< of the sampled words
  std::string limit;                 ///< the limit that was met, when one was

  template <class C>
  bool is() const {
    return std::holds_alternative<C>(claim);
  }
  /// For ProvedUpTo; 0 for every other claim.
  std::uint64_t length() const;
  /// For Refuted, where it is known letter by letter; else null.
  const Word* failing_word() const;
  bool is_shortest() const;
  bool holds_in_every_association() const;
  bool holds_in_any_order() const;
};

/// A shortest word with letters after which the certificate's language asks nothing, or which cannot stand there;
/// nothing where it asks about all: of such words a proof says nothing. O(states · letters).
std::optional<Word> shortest_word_not_asked(const Certificate& certificate);

/// "proved for words of every length", "refuted: wrong on "abb" (3 letters), and no shorter word fails", …
std::string claim_in_words(const Certificate& certificate, const Alphabet& alphabet);

class ProvingPlace;

struct CertifyOptions {
  ArithmeticName arithmetic = Precision::kFp32;
  Form form = Form::kStructured;
  Order order{};
  bool any_order = false;  ///< only what holds in any order (simulate/prove/certify.h)
  std::uint64_t max_pairs = 20'000'000;
  std::uint64_t max_bytes = std::uint64_t{4} << 30;  ///< of the pairs and their table
  double max_seconds = 0;                       ///< in all; 0: no limit but those around (groups/base/time_limit.h)
  std::function<void(std::uint64_t)> progress;  ///< pairs so far; may throw Interrupted
  /// Letters so far, and of how many, in search of long failing words; may throw Interrupted.
  std::function<void(std::uint64_t, std::uint64_t)> long_progress = {};
  std::uint64_t long_letters = 1'000'000;  ///< read in search of long failing words, where little else is proved
  std::uint64_t seed = 1;                  ///< of random words among them
  const ProvingPlace* place = nullptr;     ///< where long work runs; nullptr: here
};

/// krohn is wrong, whatever the model is. The command exits with status 4.
class Contradiction : public Error {
 public:
  using Error::Error;
};

/// Returns the findings of `search` within a share of the time that is left (groups/base/time_limit.h); nothing once
/// that is over, which says nothing about the network. Another limit that it meets is the caller's to hear of.
template <class Search>
std::invoke_result_t<Search> within_time(double share, Search&& search) {
  const TimeLimit limit = TimeLimit::part(share);
  try {
    return search();
  } catch (const LimitError&) {
    if (!limit.is_over()) throw;
    return std::nullopt;
  }
}

}  // namespace krohn
