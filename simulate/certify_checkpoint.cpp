#include "simulate/certify_checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <unordered_map>

#include "groups/error.h"

namespace krohn {
namespace {

constexpr std::uint32_t kNoPair = UINT32_MAX;

/// The search: pairs in breadth-first order, found again by their bytes.
class Search {
 public:
  Search(const Checkpoint& checkpoint, const CheckpointModel& model, const CertifyCheckpointOptions& options)
      : checkpoint_(checkpoint), automaton_(*checkpoint.automaton), model_(model), options_(options) {}

  void run(Certificate& certificate) {
    CheckpointModel::Memory start = model_.start();
    if (checkpoint_.tokens.begin && !is_right(model_.step(*checkpoint_.tokens.begin, start), automaton_.initial()))
      return refute(certificate, {});
    visit(automaton_.initial(), std::move(start), kNoPair, 0);
    std::uint64_t depth = 0;
    for (std::size_t level_begin = 0; level_begin < states_.size(); ++depth) {
      const std::size_t level_end = states_.size();
      for (std::size_t pair = level_begin; pair < level_end; ++pair) {
        for (Letter letter = 0; letter < automaton_.letters(); ++letter)
          if (!extend(static_cast<std::uint32_t>(pair), letter)) {
            Word word = path_to(static_cast<std::uint32_t>(pair));
            word.push_back(letter);
            return refute(certificate, std::move(word));
          }
        if (states_.size() > options_.max_pairs || bytes_ > options_.max_bytes) return stop(certificate, depth);
        if (options_.progress) options_.progress(states_.size());
      }
      level_begin = level_end;
    }
    certificate.claim = Claim::kProved;
    certificate.pairs = states_.size();
    certificate.evidence = fmt::format(
        "breadth-first search ended after {} pairs of automaton state and memory, all answered rightly, no "
        "word needed more than {} letters to reach one",
        states_.size(), depth == 0 ? 0 : depth - 1);
  }

 private:
  bool is_right(const std::vector<float>& logits, State state) const {
    return arg_max(logits) == checkpoint_.tokens.of_state[state];
  }

  bool extend(std::uint32_t pair, Letter letter) {
    CheckpointModel::Memory memory = *memories_[pair];
    const State state = automaton_.next(states_[pair], letter);
    if (!is_right(model_.step(checkpoint_.tokens.of_letter[letter], memory), state)) return false;
    visit(state, std::move(memory), pair, letter);
    return true;
  }

  void visit(State state, CheckpointModel::Memory memory, std::uint32_t parent, Letter letter) {
    std::string key(sizeof(State), '\0');
    std::memcpy(key.data(), &state, sizeof(State));
    for (std::vector<float>* part : {&memory.recurrent, &memory.convolution}) {
      for (float& number : *part) number += 0.f;  // −0 becomes +0
      key.append(reinterpret_cast<const char*>(part->data()), part->size() * sizeof(float));
    }
    bytes_ += 2 * key.size() + 64;
    if (!seen_.emplace(std::move(key), static_cast<std::uint32_t>(states_.size())).second) return;
    states_.push_back(state);
    memories_.push_back(std::make_unique<CheckpointModel::Memory>(std::move(memory)));
    parents_.push_back({parent, letter});
  }

  Word path_to(std::uint32_t pair) const {
    Word word;
    for (; parents_[pair].pair != kNoPair; pair = parents_[pair].pair) word.push_back(parents_[pair].letter);
    std::ranges::reverse(word);
    return word;
  }

  void refute(Certificate& certificate, Word word) const {
    certificate.claim = Claim::kRefuted;
    certificate.shortest = true;
    certificate.pairs = states_.size();
    certificate.evidence = fmt::format("breadth-first search met a wrong answer after {} letters and {} pairs",
                                       word.size(), states_.size());
    certificate.failing_word = std::move(word);
  }

  void stop(Certificate& certificate, std::uint64_t depth) const {
    certificate.claim = Claim::kProvedUpTo;
    certificate.length = depth;
    certificate.pairs = states_.size();
    certificate.limit = fmt::format("{} pairs; --max-pairs raises it", states_.size());
    certificate.evidence =
        fmt::format("all {} pairs that words of up to {} letters reach were answered rightly", states_.size(), depth);
  }

  struct Parent {
    std::uint32_t pair;
    Letter letter;
  };
  const Checkpoint& checkpoint_;
  const Dfa& automaton_;
  const CheckpointModel& model_;
  const CertifyCheckpointOptions& options_;
  std::unordered_map<std::string, std::uint32_t> seen_;
  std::vector<State> states_;
  std::vector<std::unique_ptr<CheckpointModel::Memory>> memories_;
  std::vector<Parent> parents_;
  std::uint64_t bytes_ = 0;
};

}  // namespace

Certificate certify_checkpoint(const Checkpoint& checkpoint, const CheckpointModel& model, Precision precision,
                               const CertifyCheckpointOptions& options) {
  if (!checkpoint.automaton)
    throw InputError(
        "this checkpoint says nothing about the automaton that it should track: put automaton.json and "
        "tokens.json beside its config.json");
  Certificate certificate;
  certificate.arithmetic = precision;
  certificate.method = "closed reachable set";
  Search(checkpoint, model, options).run(certificate);
  return certificate;
}

}  // namespace krohn
