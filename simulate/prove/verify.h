// simulate/prove/verify.h — the one road for verdicts: every question about every model is asked here, and answered in
// one way, whoever asks.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "krohn/constructions/files/safetensors.h"
#include "krohn/constructions/network/network.h"
#include "krohn/groups/base/error.h"
#include "krohn/simulate/evaluate/evaluate.h"
#include "krohn/simulate/prove/claims/certificate.h"
#include "krohn/simulate/prove/regions/close_regions.h"
#include "krohn/simulate/run/letter_reader.h"

namespace krohn {

struct RandomTest;
struct ThroughStates;

/// The least letter, counted from 1, at which some random word is answered wrongly, and the number of that word.
struct RandomFailure {
  std::uint64_t at = 0, word = 0;
};

/// Anything that reads letters (a trained model, a language model), and the automaton that it is held against.
struct ReadModel {
  const LetterReader& reader;
  const TrackedAutomaton& tracked;
  /// The names of the reader's answers, for people; empty: their numbers.
  std::function<std::string(Output)> name_of = {};
  /// Its own test on random words (simulate/prove/place.h), where it is not read letter by letter.
  std::function<std::optional<RandomFailure>(const RandomTest&)> first_failure = {};
  /// There is no way to search it exhaustively (chunks of 64 tokens): only random words are read.
  bool is_only_tested = false;
  /// Its operations on the tensors of its file, for certificates; none: it has no file.
  std::shared_ptr<const Operations> operations = {};
  const TensorFile* tensors = nullptr;
  /// krohn::close_regions, of those operations: who has them links it. Null: no regions are looked for.
  decltype(&krohn::close_regions) close_regions = nullptr;
  std::shared_ptr<const void> owner = {};         ///< of all that is viewed; none: somebody else keeps it
  std::map<std::string, std::string> files = {};  ///< Certificate::files
};

/// Words to read beside the proof.
struct RandomTest {
  std::uint64_t length = 0;  ///< 0: none
  std::uint64_t words = 1;
  std::uint64_t seed = 1;
  unsigned threads = 0;   ///< 0: all
  bool accepted = false;  ///< taken from the accepted words
  enum class Through : std::uint8_t { kAuto, kNetwork, kStates } through = Through::kAuto;
  /// Reads them through two automata, the network's and the language's, instead of letter by letter: for runs that are
  /// saved, or made elsewhere. Empty: simulate/run/long_comparison.h here.
  std::function<ThroughStates(const Dfa& machine, const Dfa& automaton)> compare = {};
  bool must_compare = false;  ///< and nothing else will do
};

/// A test through the reachable states of the network (simulate/prove/pairs/network_machine.h).
struct ThroughStates {
  std::uint64_t states = 0;  ///< of the network's automaton
  std::uint64_t letters = 0;
  std::uint64_t comparisons = 0;
  std::optional<std::uint64_t> failing_at;
  std::uint64_t failing_word_index = 0;
  std::string by;  ///< how a device read the words; empty on the processor
};

/// The language that a model has to compute, instead of the automaton that it brings.
struct Language {
  std::string name;
  Dfa automaton;
};

struct ModelVerdict;

struct Question {
  std::variant<const Network*, const ReadModel*> subject;
  std::string name = "the model";  ///< in messages
  CertifyOptions how;              ///< arithmetic, form, order, limits, place
  std::optional<Language> against = {};
  RandomTest random = {};
  bool test_only = false;  ///< prove nothing
  /// Letters of the replay that a proof has to survive (simulate/prove/self_check.h).
  std::uint64_t replayed_letters = 100'000;
  /// Long work that begins, "examining pairs of states", and how far it is; `total` 0: unknown. May throw Interrupted.
  std::function<void(std::string_view what, std::uint64_t done, std::uint64_t total)> progress = {};
  /// The verdict about a network before random words are read, which may take long and be interrupted.
  std::function<void(const ModelVerdict& verdict)> found = {};
};

/// The checks of a verdict before it was given.
struct SelfCheck {
  std::uint64_t length = 0;  ///< the checked claim is about words of up to so many letters; 0: of every length
  std::uint64_t replayed_letters = 0;  ///< of random and aimed words, in the claimed arithmetic and order
  bool is_rechecked = false;           ///< the certificate was established again by simulate/check
  std::uint64_t rechecked_length = 0;  ///< for words of so many letters, where that is less than was proved; 0: all
  std::string not_rechecked;           ///< why not, where a certificate exists
};

struct ModelVerdict {
  Certificate certificate;
  SelfCheck self_check;
  std::optional<SampleReport> sampled;
  std::optional<ThroughStates> through_states;
  bool has_failed_on_random_words = false;  ///< of what reads letters
  std::string not_tested;    ///< the limit that kept random words from being read, beside something that was found
  std::string said, wanted;  ///< by name, after the failing word, where it is known
  /// The failing word in the language's letters, where the model's cannot say it.
  struct ForeignWord {
    std::string text;
    std::size_t letters = 0;
  };
  std::optional<ForeignWord> foreign_word = {};
};

/// Stages, the strongest claim winning: certify (simulate/prove/certify.h), or for what reads letters certify_reader;
/// then the language, if one is named; then random words, which can refute and never prove. A "proved" is given only
/// after it survived simulate/check, where the certificate has a file, and a replay of 10^5 letters in the claimed
/// arithmetic and order. Throws Contradiction when one of these disagrees with the proof, InputError for questions that
/// make no sense, LimitError.
ModelVerdict verify(const Question& question);

}  // namespace krohn
