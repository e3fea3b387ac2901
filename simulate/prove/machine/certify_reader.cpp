#include "krohn/simulate/prove/machine/certify_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "krohn/groups/float_environment.h"
#include "krohn/groups/record_set.h"

namespace krohn {
namespace {

/// The search: pairs in breadth-first order, found again by all that is remembered.
class Search {
 public:
  Search(const LetterReader& machine, const TrackedAutomaton& tracked, const CertifyMachineOptions& options)
      : machine_(machine),
        tracked_(tracked),
        options_(options),
        memory_(machine.start()),
        pairs_(1 + memory_.size()),
        record_(pairs_.words()),
        clock_(options.max_seconds) {}

  void run(Certificate& certificate) {
    const State initial = tracked_.automaton.initial();
    if (tracked_.is_asked(initial) && machine_.answer_at_start().output != tracked_.wanted[initial])
      return refute(certificate, {});
    visit(initial, 0, 0);
    std::uint64_t depth = 0;
    for (RecordSet::Index begin = 0; begin < pairs_.size(); ++depth) {
      const RecordSet::Index end = pairs_.size();
      for (RecordSet::Index pair = begin; pair < end; ++pair) {
        for (Letter letter = 0; letter < machine_.letters(); ++letter)
          if (!extend(pair, letter)) {
            Word word = path_to(pair);
            word.push_back(letter);
            return refute(certificate, std::move(word));
          }
        if (is_full() || clock_.is_over()) return stop(certificate, depth);
        if (options_.progress) options_.progress(steps_);
      }
      begin = end;
    }
    certificate.claim = Claim::kProved;
    certificate.pairs = pairs_.size();
    certificate.evidence = fmt::format(
        "breadth-first search ended after {} pairs of automaton state and memory, all answered rightly, no "
        "word needed more than {} letters to reach one",
        pairs_.size(), depth - 1);
  }

 private:
  struct Parent {
    RecordSet::Index pair;
    Letter letter;
  };

  bool is_full() const {
    return pairs_.size() > options_.max_pairs || steps_ >= options_.max_steps ||
           pairs_.bytes() + parents_.size() * sizeof(Parent) > options_.max_bytes;
  }

  bool extend(RecordSet::Index pair, Letter letter) {
    const RecordSet::Record from = pairs_[pair];
    const State state = tracked_.automaton.next(from[0], letter);
    if (tracked_.wanted[state] == TrackedAutomaton::kNoSuchWord) return true;
    std::copy(from.begin() + 1, from.end(), memory_.begin());
    const LetterReader::Answer answer = machine_.step(letter, memory_, tracked_.is_asked(state));
    ++steps_;
    if (tracked_.is_asked(state) && answer.output != tracked_.wanted[state]) return false;
    visit(state, pair, letter);
    return true;
  }

  void visit(State state, RecordSet::Index parent, Letter letter) {
    record_[0] = state;
    std::ranges::copy(memory_, record_.begin() + 1);
    if (pairs_.insert(record_).fresh) parents_.push_back({parent, letter});
  }

  Word path_to(RecordSet::Index pair) const {
    Word word;
    for (; pair != 0; pair = parents_[pair].pair) word.push_back(parents_[pair].letter);
    std::ranges::reverse(word);
    return word;
  }

  void refute(Certificate& certificate, Word word) const {
    certificate.claim = Claim::kRefuted;
    certificate.shortest = true;
    certificate.pairs = pairs_.size();
    certificate.evidence = fmt::format("breadth-first search met a wrong answer after {} letters and {} pairs",
                                       word.size(), pairs_.size());
    certificate.failing_word = std::move(word);
  }

  void stop(Certificate& certificate, std::uint64_t depth) {
    certificate.claim = Claim::kProvedUpTo;
    certificate.length = depth;
    certificate.pairs = pairs_.size();
    certificate.limit =
        pairs_.size() > options_.max_pairs ? fmt::format("{} pairs; --max-pairs raises it", pairs_.size())
        : steps_ >= options_.max_steps || clock_.is_over() ? fmt::format("{} letters read", steps_)
                                                           : fmt::format("{} bytes of memories", pairs_.bytes());
    certificate.evidence =
        fmt::format("all {} pairs that words of up to {} letters reach were answered rightly", pairs_.size(), depth);
  }

  const LetterReader& machine_;
  const TrackedAutomaton& tracked_;
  const CertifyMachineOptions& options_;
  LetterReader::Memory memory_;
  RecordSet pairs_;
  std::vector<std::uint32_t> record_;
  std::vector<Parent> parents_;
  std::uint64_t steps_ = 0;
  SearchClock clock_;
};

}  // namespace

Certificate certify_machine(const LetterReader& machine, const TrackedAutomaton& tracked,
                            const CertifyMachineOptions& options) {
  const FloatEnvironment environment;
  Certificate certificate;
  certificate.method = "closed reachable set";
  Search(machine, tracked, options).run(certificate);
  if (certificate.claim != Claim::kProvedUpTo || options.long_letters == 0) return certificate;
  std::uint64_t letters = 0;
  std::optional<Word> word = find_failing_word(machine, tracked, options, letters);
  if (!word) {
    certificate.evidence += fmt::format("; so were {} letters of longer words", letters);
    return certificate;
  }
  certificate.claim = Claim::kRefuted;
  certificate.method = "long words";
  certificate.evidence = fmt::format(
      "all words of up to {} letters are right; this is the shortest wrong one found in {} letters of narrow search, "
      "powers of short words and random words",
      certificate.length, letters);
  certificate.failing_word = *std::move(word);
  certificate.shortest = false;
  certificate.limit.clear();
  certificate.length = 0;
  return certificate;
}

}  // namespace krohn
