// simulate/evaluate/rounded_network.h — a network with its weights rounded to one arithmetic: what evaluation and
// certificates run. One step is one pure function from numbers and labels to numbers and labels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "krohn/constructions/network/network.h"
#include "krohn/simulate/arithmetic/rounded_matrix.h"
#include "krohn/simulate/evaluate/evaluate.h"
#include "krohn/simulate/evaluate/nearest_codeword.h"

namespace krohn {

/// One layer: matrices by action, code books, and views of the network's own wiring.
template <class Arithmetic>
class RoundedLayer {
 public:
  using Number = typename Arithmetic::Number;

  /// An arithmetic that is an object is given as `in`, and the number of the layer for its messages. Throws InputError
  /// for a weight that integers do not have.
  RoundedLayer(const Layer& layer, Form form, const Arithmetic& in = {}, std::size_t number = 0);

  std::size_t size() const { return initial_.size(); }
  const std::vector<Number>& initial() const { return initial_; }
  Label initial_label() const { return initial_label_; }
  Label labels() const { return labels_; }
  std::uint32_t actions() const { return static_cast<std::uint32_t>(matrices_.size()); }
  std::span<const NearestCodeword> books() const { return books_; }

  Action action_of(Context context) const { return action_of_[context]; }
  const RoundedMatrix<Number>& matrix(Action action) const { return matrices_[action]; }
  /// Empty where the action has no B.
  std::span<const Number> addition(Action action) const { return additions_[action]; }
  std::uint32_t book_of(Context context) const { return book_of_.empty() ? 0 : book_of_[context]; }
  Context next(Context context, Label pre) const { return next_[std::size_t{context} * labels_ + pre]; }

  /// `to` = A `from` + B. The two do not overlap.
  void move(Action action, const Number* from, Number* to) const;

  /// The same on loaded numbers, nothing being stored: what one letter computes before it rounds to the storage format.
  void move_sums(Action action, const typename Arithmetic::Sum* from, typename Arithmetic::Sum* to) const {
    apply<Arithmetic>(matrices_[action], dimension_, columns_, from, to, in_);
    const std::vector<Number>& b = additions_[action];
    for (std::size_t i = 0; i < b.size(); ++i) to[i] = in_.add(to[i], in_.load(b[i]));
  }

 private:
  [[no_unique_address]] Arithmetic in_;
  std::uint32_t dimension_, columns_;
  Label labels_, initial_label_;
  std::vector<Number> initial_;
  std::vector<RoundedMatrix<Number>> matrices_;
  std::vector<std::vector<Number>> additions_;  ///< empty: no B
  std::vector<NearestCodeword> books_;
  std::span<const Action> action_of_;
  std::span<const std::uint32_t> book_of_;
  std::span<const Context> next_;
};

/// Immutable and shared by threads; each thread brings its own Scratch. Views the network, which must outlive it.
template <class Arithmetic>
class RoundedNetwork {
 public:
  using Number = typename Arithmetic::Number;

  struct Scratch {
    std::vector<std::vector<NearestCodeword::Hints>> hints;  ///< per layer and book
    std::vector<double> state;
  };

  RoundedNetwork(const Network& network, Form form, const Arithmetic& in = {});

  std::size_t size() const { return size_; }
  std::span<const RoundedLayer<Arithmetic>> layers() const { return layers_; }
  Letter letters() const { return letters_; }
  Scratch make_scratch() const;

  /// All numbers and labels before the first letter.
  void start(Number* numbers, Label* labels) const;

  /// One letter: reads numbers and pre labels, writes numbers and post labels (kNoLabel: did not decode), and returns
  /// the state of the readout or kNoState. A layer whose context is unknown, because a layer below did not decode one
  /// letter before, stays as it is.
  State step(const Number* from, const Label* pre, Letter letter, Number* to, Label* post, Scratch& scratch) const;

  /// K when the network snaps after letters K, 2K, …, otherwise 0. The one who counts the letters calls `snap`.
  std::uint64_t snap_every() const { return snap_every_; }
  /// Every layer that has a label goes on from its nearest codeword, rounded as weights are.
  void snap(Number* numbers, const Label* labels, Scratch& scratch) const;

  /// The readout of the labels. O(layers).
  State read(const Label* labels) const;

  /// The label of layer k's numbers in one of its books.
  Label label_of(std::size_t k, std::uint32_t book, const Number* numbers, Scratch& scratch) const;

 private:
  [[no_unique_address]] Arithmetic in_;
  std::vector<RoundedLayer<Arithmetic>> layers_;
  std::span<const std::vector<Context>> readout_;
  std::size_t size_ = 0;
  Letter letters_;
  std::uint64_t snap_every_;
};

// Instantiated for all arithmetics, and for one that is an object (rounded_operations.h), in
// rounded_network_separate.cpp and rounded_network_others.cpp.

}  // namespace krohn
