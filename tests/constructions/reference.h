// tests/constructions/reference.h — the obvious evaluator: dense matrices in long double, letter by letter, decoding by
// the nearest codeword. It takes nothing from a network but its dense forms, codewords and tables.
#pragma once

#include "krohn/constructions/network/network.h"
#include "tests/testing.h"

namespace krohn {

inline LongMatrix long_codeword(const Layer& layer, std::size_t i) { return codeword(layer, i).cast<long double>(); }

/// The label of the nearest codeword of the book; nothing on a tie between labels.
inline std::optional<Label> reference_label(const Layer& layer, const LongMatrix& h, std::uint32_t book) {
  long double least = std::numeric_limits<long double>::infinity();
  std::optional<Label> label;
  for (std::size_t i = 0; i < codeword_count(layer); ++i) {
    if (codeword_book(layer, i) != book) continue;
    const long double distance = (h - long_codeword(layer, i)).norm();
    if (distance == least && label != codeword_label(layer, i)) label.reset();
    if (distance < least) least = distance, label = codeword_label(layer, i);
  }
  return label;
}

class ReferenceRun {
 public:
  explicit ReferenceRun(const Network& network) : network_(network) {
    for (const Layer& layer : network.layers) {
      states_.push_back(layer.initial.cast<long double>());
      labels_.push_back(layer.initial_label);
      auto& matrices = matrices_.emplace_back();
      for (const Transition& transition : layer.transitions) matrices.push_back(to_dense(transition.a));
    }
  }

  State state() const {
    Context node = 0;
    for (std::size_t k = 0; k < labels_.size(); ++k)
      node = network_.readout.next[k][std::size_t{node} * network_.layers[k].labels + labels_[k]];
    return node;
  }

  void step(Letter letter) {
    Context context = letter;
    for (std::size_t k = 0; k < network_.layers.size(); ++k) {
      const Layer& layer = network_.layers[k];
      const Action action = layer.wiring.action_of[context];
      states_[k] = (matrices_[k][action] * states_[k]).eval();
      const Eigen::MatrixXd& b = layer.transitions[action].b;
      if (b.size() > 0) states_[k] += b.cast<long double>();
      const std::uint32_t book = layer.book_of_context.empty() ? 0 : layer.book_of_context[context];
      const auto label = reference_label(layer, states_[k], book);
      REQUIRE(label.has_value());
      const Label before = labels_[k];
      labels_[k] = *label;
      if (k + 1 < network_.layers.size()) context = layer.wiring.next[std::size_t{context} * layer.labels + before];
      if (k + 1 < network_.layers.size()) REQUIRE(context != kNoContext);
    }
  }

 private:
  const Network& network_;
  std::vector<LongMatrix> states_;
  std::vector<Label> labels_;
  std::vector<std::vector<LongMatrix>> matrices_;
};

/// The network tracks its automaton along `letters` random letters.
inline void check_random_word(const Network& network, unsigned seed, std::size_t letters) {
  if (network.automaton.letters() == 0) return;
  std::mt19937 engine(seed);
  ReferenceRun run(network);
  State expected = network.automaton.initial();
  CHECK(run.state() == expected);
  for (std::size_t t = 0; t < letters; ++t) {
    const Letter letter = static_cast<Letter>(engine() % network.automaton.letters());
    run.step(letter);
    expected = network.automaton.next(expected, letter);
    if (run.state() != expected) {
      CAPTURE(t);
      CAPTURE(seed);
      FAIL_CHECK("state " << run.state() << " instead of " << expected);
      return;
    }
  }
}

/// The largest |A(σ) c_i + B − c_j| over the codewords and letters of a one-layer network, where c_j is the nearest
/// codeword that stands for the next state; 0 means that the codewords close exactly.
inline long double closure_error(const Network& network) {
  REQUIRE(network.layers.size() == 1);
  const Layer& layer = network.layers[0];
  const auto& states = network.readout.next[0];
  std::vector<LongMatrix> codes;
  for (std::size_t i = 0; i < codeword_count(layer); ++i) codes.push_back(long_codeword(layer, i));
  long double worst = 0;
  for (Letter letter = 0; letter < network.automaton.letters(); ++letter) {
    const Transition& transition = layer.transitions[layer.wiring.action_of[letter]];
    const LongMatrix a = to_dense(transition.a);
    for (std::size_t i = 0; i < codes.size(); ++i) {
      LongMatrix h = a * codes[i];
      if (transition.b.size() > 0) h += transition.b.cast<long double>();
      const State next = network.automaton.next(states[codeword_label(layer, i)], letter);
      long double least = std::numeric_limits<long double>::infinity();
      for (std::size_t j = 0; j < codes.size(); ++j)
        if (states[codeword_label(layer, j)] == next) least = std::min(least, (h - codes[j]).cwiseAbs().maxCoeff());
      worst = std::max(worst, least);
    }
  }
  return worst;
}

}  // namespace krohn
