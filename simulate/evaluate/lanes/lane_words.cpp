#include "krohn/simulate/evaluate/lanes/lane_words.h"

#include <algorithm>
#include <utility>

#include "krohn/simulate/words/random_letters.h"

namespace krohn {
namespace {

constexpr std::size_t kPiece = 256;       ///< letters of every word that are made at once, about
constexpr std::size_t kLeastTable = 128;  ///< vectors read small tables whole

}  // namespace

LaneWords::LaneWords(const Dfa& automaton, std::unique_ptr<LaneEvaluator> network,
                     std::optional<InstructionSet> instructions)
    : automaton_(automaton),
      network_(std::move(network)),
      kernels_(lane_kernels(instructions.value_or(available_instruction_sets().back()))),
      table_(automaton.table().begin(), automaton.table().end()),
      letters_per_block_(letters_per_block(automaton.letters())) {
  table_.resize(std::max(table_.size(), kLeastTable));
}

void LaneWords::start(std::uint64_t seed, std::uint64_t first_stream, std::size_t words) {
  network_->reset();
  network_->current(answers_);
  states_.fill(automaton_.initial());
  words_.fill({});
  position_ = 0;
  for (std::size_t word = 0; word < kLanes; ++word) {
    // Lanes without a word read the first one once more.
    keys_[word] = random_key(seed, first_stream + (word < words ? word : 0));
    if (answers_[word] != states_[word]) words_[word].failing_at = 0;
  }
}

void LaneWords::read_to(std::uint64_t length, std::uint64_t most) {
  const std::uint64_t end = std::min(length, position_ + most);
  while (position_ < end) {
    const std::uint64_t block = position_ / letters_per_block_, skip = position_ % letters_per_block_;
    const std::uint64_t blocks = std::max<std::uint64_t>(1, kPiece / letters_per_block_);
    const auto count = static_cast<std::size_t>(std::min(blocks * letters_per_block_ - skip, end - position_));
    letters_.resize(blocks * letters_per_block_ * kLanes);
    read_.resize(letters_.size());
    kernels_.random_letters(keys_.data(), block, blocks, automaton_.letters(), letters_per_block_, letters_.data());
    const Letter* letters = letters_.data() + skip * kLanes;
    network_->run({letters, kLanes, kLanes}, count, read_);
    right_.fill(0);
    LaneComparison comparison;
    comparison.table = table_.data();
    comparison.letter_count = automaton_.letters();
    comparison.entries = static_cast<std::uint32_t>(table_.size());
    comparison.letters = letters;
    comparison.steps = count;
    comparison.answers = read_.data();
    comparison.states = states_.data();
    comparison.right = right_.data();
    comparison.differs = [](void* owner, std::size_t step, std::size_t word, std::uint32_t state,
                            std::uint32_t answer) {
      auto& self = *static_cast<LaneWords*>(owner);
      self.differs(self.position_ + step + 1, word, state, answer);
    };
    comparison.owner = this;
    kernels_.compare(comparison);
    for (std::size_t word = 0; word < kLanes; ++word) words_[word].right_letters += right_[word];
    std::copy_n(read_.data() + (count - 1) * kLanes, kLanes, answers_.begin());
    position_ += count;
  }
}

void LaneWords::differs(std::uint64_t position, std::size_t word, State state, State answer) {
  if (!words_[word].failing_at) words_[word].failing_at = position;
  words_[word].right_letters += output_is_right(state, answer);
}

bool LaneWords::output_is_right(State state, State answer) const {
  return answer == state || (answer != kNoState && automaton_.output(answer) == automaton_.output(state));
}

void LaneWords::add_to(LengthReport& report, std::size_t word) const {
  ++report.words;
  report.right_state += answers_[word] == states_[word];
  report.right_output += output_is_right(states_[word], answers_[word]);
  report.letters += position_;
  report.right_letters += words_[word].right_letters;
}

}  // namespace krohn
