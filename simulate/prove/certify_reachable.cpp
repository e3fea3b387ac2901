#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "krohn/groups/record_set.h"
#include "krohn/simulate/evaluate/rounded_network.h"
#include "krohn/simulate/prove/certify_reachable.h"
#include "krohn/simulate/prove/claims/pair_claims.h"

namespace krohn {
namespace {

/// The search of certificate 2. A pair is stored as one record: the automaton's state; of a network that snaps, how
/// many letters ago it did; the labels, of layers below the last, that the numbers do not determine (several code
/// books, or a start that is not labelled as it decodes); the bit patterns of all numbers. Pairs are numbered as they
/// are met, so each level of the search is a range of numbers.
template <class Arithmetic>
class ReachableSet {
 public:
  using Number = typename Arithmetic::Number;
  using Bits = typename Arithmetic::Bits;

  ReachableSet(const Network& network, const CertifyOptions& options)
      : automaton_(network.automaton),
        options_(options),
        network_(network, options.form),
        scratch_(network_.make_scratch()),
        from_(network_.size()),
        to_(network_.size()),
        pre_(network_.layers().size()),
        post_(network_.layers().size()),
        phase_words_(network_.snap_every() > 0 ? 1 : 0),
        stored_labels_(labels_to_store()),
        pairs_(1 + phase_words_ + stored_labels_.size() + number_words()) {}

  Certificate run() {
    network_.start(from_.data(), pre_.data());
    note_failure(automaton_.initial(), network_.read(pre_.data()));
    if (failing_.given != failing_.expected) return refuted({});
    record_.resize(pairs_.words());
    pack(automaton_.initial(), 0, from_.data(), pre_.data(), record_.data());
    pairs_.insert(record_);
    parents_.push_back(0);
    std::uint64_t depth = 0;
    for (RecordSet::Index begin = 0; begin < pairs_.size(); ++depth) {
      const RecordSet::Index end = pairs_.size();
      for (RecordSet::Index first = begin; first < end; first += kBlock) {
        if (!expand(first, std::min(end, first + kBlock))) return refuted(failing_word());
        if (depth > 0 && is_late()) return proved_up_to(depth, begin);
      }
      if (full_) return proved_up_to(depth + 1, end);
      begin = end;
    }
    return proved(depth - 1);
  }

 private:
  /// Pairs expanded together, so that the memory that their successors need is asked for in advance.
  static constexpr RecordSet::Index kBlock = 64;

  std::size_t number_words() const {
    return (network_.size() * sizeof(Bits) + sizeof(std::uint32_t) - 1) / sizeof(std::uint32_t);
  }

  bool is_late() {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start_;
    late_ = options_.max_seconds > 0 && spent.count() > options_.max_seconds;
    return late_;
  }

  std::vector<std::size_t> labels_to_store() {
    std::vector<std::size_t> layers;
    network_.start(from_.data(), pre_.data());
    const Number* numbers = from_.data();
    for (std::size_t k = 0; k + 1 < pre_.size(); ++k) {
      if (network_.layers()[k].books().size() > 1 || network_.snap_every() > 0 ||
          network_.label_of(k, 0, numbers, scratch_) != pre_[k])
        layers.push_back(k);
      numbers += network_.layers()[k].size();
    }
    return layers;
  }

  void pack(State state, std::uint32_t phase, const Number* numbers, const Label* labels, std::uint32_t* record) const {
    record[pairs_.words() - 1] = 0;  // the end of the last word may hold no number
    *record++ = state;
    if (phase_words_ > 0) *record++ = phase;
    for (const std::size_t k : stored_labels_) *record++ = labels[k];
    auto* bytes = reinterpret_cast<unsigned char*>(record);
    for (std::size_t i = 0; i < network_.size(); ++i) {
      const Bits bits = state_bits<Arithmetic>(numbers[i]);
      std::memcpy(bytes + i * sizeof(Bits), &bits, sizeof(Bits));
    }
  }

  /// Numbers into from_, pre labels into pre_, letters since the last snap into phase_; returns the automaton's state.
  /// The last layer's label is not needed.
  State unpack(RecordSet::Record record) {
    const std::uint32_t* word = record.data() + 1;
    if (phase_words_ > 0) phase_ = *word++;
    std::memcpy(static_cast<void*>(from_.data()), word + stored_labels_.size(), network_.size() * sizeof(Number));
    std::size_t stored = 0;
    const Number* numbers = from_.data();
    for (std::size_t k = 0; k + 1 < pre_.size(); ++k) {
      const bool is_stored = stored < stored_labels_.size() && stored_labels_[stored] == k;
      pre_[k] = is_stored ? word[stored++] : network_.label_of(k, 0, numbers, scratch_);
      numbers += network_.layers()[k].size();
    }
    return record[0];
  }

  /// From the unpacked pair into to_ and post_, the snap included.
  State read_letter(Letter letter) {
    const State answer = network_.step(from_.data(), pre_.data(), letter, to_.data(), post_.data(), scratch_);
    if (phase_words_ > 0 && next_phase() == 0) network_.snap(to_.data(), post_.data(), scratch_);
    return answer;
  }

  /// Letters since the last snap, one letter later. The search is never deeper than it has pairs, so 32 bits are
  /// enough.
  std::uint32_t next_phase() const {
    return phase_words_ > 0 && phase_ + std::uint64_t{1} == network_.snap_every() ? 0 : phase_ + 1;
  }

  /// All successors of the pairs [first, last). False, with the failing edge noted, when one is read wrongly.
  bool expand(RecordSet::Index first, RecordSet::Index last) {
    successors_.clear();
    hashes_.clear();
    for (RecordSet::Index pair = first; pair < last; ++pair)
      if (!add_successors(pair)) return false;
    for (const std::uint64_t hash : hashes_) pairs_.prefetch_record(hash);
    full_ = full_ || pairs_.bytes() + parents_.size() * sizeof(parents_[0]) > options_.max_bytes;
    for (std::size_t edge = 0; edge < hashes_.size(); ++edge)
      remember({successors_.data() + edge * pairs_.words(), pairs_.words()}, hashes_[edge],
               first + static_cast<RecordSet::Index>(edge / automaton_.letters()));
    report_progress(last);
    return true;
  }

  bool add_successors(RecordSet::Index pair) {
    const State state = unpack(pairs_[pair]);
    for (Letter letter = 0; letter < automaton_.letters(); ++letter) {
      const State answer = read_letter(letter);
      const State right = automaton_.next(state, letter);
      if (answer != right) {
        failing_pair_ = pair;
        failing_letter_ = letter;
        note_failure(right, answer);
        return false;
      }
      successors_.resize(successors_.size() + pairs_.words());
      std::uint32_t* record = successors_.data() + successors_.size() - pairs_.words();
      pack(right, next_phase(), to_.data(), post_.data(), record);
      hashes_.push_back(RecordSet::hash({record, pairs_.words()}));
      pairs_.prefetch_entry(hashes_.back());
    }
    return true;
  }

  void note_failure(State right, State answer) {
    failing_.expected = right;
    failing_.given = answer == kNoState ? std::nullopt : std::optional(answer);
  }

  /// Once a limit is met, the level is checked to its end but nothing new is kept.
  void remember(RecordSet::Record record, std::uint64_t hash, RecordSet::Index parent) {
    if (full_) return;
    if (pairs_.size() >= options_.max_pairs) {
      full_ = !pairs_.find(record);
      return;
    }
    if (pairs_.insert(record, hash).fresh) parents_.push_back(parent);
  }

  void report_progress(RecordSet::Index expanded) {
    if (!options_.progress || expanded < next_report_) return;
    next_report_ = expanded + (1 << 16);
    options_.progress(pairs_.size());
  }

  /// The path to the failing edge. Letters are not stored: each is the first that leads from a pair to the next.
  Word failing_word() {
    Word word{failing_letter_};
    for (RecordSet::Index pair = failing_pair_; pair != 0; pair = parents_[pair])
      word.push_back(letter_between(parents_[pair], pair));
    std::reverse(word.begin(), word.end());
    return word;
  }

  Letter letter_between(RecordSet::Index parent, RecordSet::Index child) {
    const State state = unpack(pairs_[parent]);
    const RecordSet::Record wanted = pairs_[child];
    Letter letter = 0;
    for (;; ++letter) {
      read_letter(letter);
      pack(automaton_.next(state, letter), next_phase(), to_.data(), post_.data(), record_.data());
      if (std::equal(wanted.begin(), wanted.end(), record_.begin())) return letter;
    }
  }

  Certificate proved(std::uint64_t depth) const { return proved_by_pairs(options_, pairs_.size(), depth); }
  Certificate refuted(Word word) const { return refuted_by_pairs(options_, pairs_.size(), std::move(word), failing_); }

  /// All words of fewer than `length` letters reach the first `complete` pairs.
  Certificate proved_up_to(std::uint64_t length, std::uint64_t complete) const {
    const std::string limit = late_ ? fmt::format("{} seconds", options_.max_seconds)
                              : pairs_.size() >= options_.max_pairs
                                  ? fmt::format("{} pairs", options_.max_pairs)
                                  : fmt::format("{} bytes of pairs", options_.max_bytes);
    return proved_up_to_depth(options_, pairs_.size(), length, complete, limit);
  }

  const Dfa& automaton_;
  const CertifyOptions& options_;
  RoundedNetwork<Arithmetic> network_;
  typename RoundedNetwork<Arithmetic>::Scratch scratch_;
  std::vector<Number> from_, to_;
  std::vector<Label> pre_, post_;
  std::size_t phase_words_;
  std::uint32_t phase_ = 0;
  std::vector<std::size_t> stored_labels_;
  RecordSet pairs_;
  std::vector<RecordSet::Index> parents_;
  std::vector<std::uint32_t> record_, successors_;
  std::vector<std::uint64_t> hashes_;
  RecordSet::Index failing_pair_ = 0;
  Letter failing_letter_ = 0;
  FailingRun failing_;
  RecordSet::Index next_report_ = 0;
  bool full_ = false, late_ = false;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

Certificate certify_reachable_set(const Network& network, const CertifyOptions& options) {
  return with_arithmetic(options.arithmetic,
                         [&](auto type) { return ReachableSet<decltype(type)>(network, options).run(); });
}

}  // namespace krohn
