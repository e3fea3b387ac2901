// constructions/network/network.h — the weights of a linear recurrent network and everything needed to read its answer.
#pragma once

#include <Eigen/Core>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "krohn/automata/cascades/cascade.h"
#include "krohn/automata/dfa/dfa.h"
#include "krohn/constructions/network/matrix.h"

namespace krohn {

enum class Precision : std::uint8_t { kFp64, kFp32, kFp16, kBf16 };

/// "fp64", "fp32", "fp16", "bf16".
std::string to_string(Precision precision);

/// Throws InputError listing the names.
Precision parse_precision(std::string_view name);

/// The step of one letter of a layer's own alphabet: H ← A H + B, with A n×n and B n×d.
struct Transition {
  Matrix a;
  /// n×d, or empty (0×0) for zero. Entries are exact in every precision that the construction claims.
  Eigen::MatrixXd b;
};

/// Turns a state H (n×d) into a label: the nearest codeword in fp64 (Frobenius distance), a tie is a failure.
/// `book[i]` restricts codeword i to one code book, used by constructions whose decoder knows more than H (Theorem 6:
/// the parity of the position); empty when there is one book, and book 0 decodes before the first letter. Several
/// codewords may stand for one label (`label_of[i]`, empty when codeword i is label i).
///
/// One-hot codes are not stored, because n codewords of n numbers are too many for 10^4 states: `unit_copies` = c > 0
/// means d = 1, n = c · labels, and codeword i is e_i + e_{labels+i} + … (c ones); the other members are then empty.
/// All codewords have norm √c, so that the nearest one has the greatest sum H_i + H_{labels+i} + … c = 1: unit vectors.
/// c = 2: the doubled coordinates of KeyStyle::kDoubled.
struct Decoder {
  std::vector<Eigen::MatrixXd> codewords;
  std::vector<Label> label_of;
  std::vector<std::uint32_t> book;  ///< per codeword
  std::uint32_t unit_copies = 0;
};

/// One recurrent layer.
struct Layer {
  std::uint32_t dimension = 0;  ///< n, rows of H
  std::uint32_t columns = 1;    ///< d, columns of H
  Label labels = 0;             ///< how many labels the decoder can give
  Label initial_label = 0;
  Eigen::MatrixXd initial;              ///< H_0, n×d
  std::vector<Transition> transitions;  ///< one per action of this layer
  Decoder decoder;
  Wiring wiring;  ///< context ↦ action, (context, pre label) ↦ context of the next layer
  std::vector<std::uint32_t> book_of_context;  ///< which code book decodes after this context; empty: book 0
};

/// How many codewords the decoder has, stored or not.
std::size_t codeword_count(const Layer& layer);

/// Codeword i as an n×d matrix, stored or not. O(n·d).
Eigen::MatrixXd codeword(const Layer& layer, std::size_t i);

/// The label of codeword i, and the book it is in.
Label codeword_label(const Layer& layer, std::size_t i);
std::uint32_t codeword_book(const Layer& layer, std::size_t i);

/// Where the weights come from.
struct Provenance {
  std::string construction;  ///< "one-hot", "permutation", "rotation", "cascade-chain", …; see planner.h
  std::string source;        ///< the language as the user wrote it, "regex:(a|b)*abb"
  std::string theorem;       ///< "Grazzi Thm. 3", "Ebrahimi Prop. 2.2", …
  std::string note;          ///< options that shaped it, in words
};

/// A linear recurrent network over the letters of `automaton.alphabet()`: layers of H_t = A(c_t) H_{t−1} + B(c_t),
/// where the context c_t of layer 1 is the letter and of layer k+1 is given by layer k's wiring. After the last layer
/// the readout turns the post labels into a state of `automaton`, whose output is the network's answer. Plain data;
/// what runs it is in simulate/.
struct Network {
  Dfa automaton;  ///< the oracle
  std::vector<Layer> layers;
  Readout readout;
  Provenance provenance;
  /// K > 0: the network is not linear. After letters K, 2K, 3K, …, every layer that decoded goes on from the codeword
  /// that its H was nearest to, rounded as weights are (MATH.md §5, "Snapping"); layers have one code book each.
  std::uint64_t snap_every = 0;
};

/// Throws InputError when the network snaps, for what works on linear recurrences only; `what` begins the message.
void require_linear(const Network& network, const std::string& what);

/// Checks that all shapes, indices and tables fit each other. Throws InputError naming the layer and the fault. Every
/// function that takes a Network may rely on it; every reader of files calls it.
void validate(const Network& network);

/// Figures of a network for tables and `krohn info`.
struct NetworkSize {
  std::uint32_t layers = 0;
  std::uint64_t state_numbers = 0;          ///< Σ n·d
  std::int64_t reflections_per_token = 0;   ///< max over actions, summed over layers; −1 when a layer has no GH form
  std::vector<std::size_t> alphabet_sizes;  ///< actions per layer
  std::uint64_t weights = 0;                ///< numbers in the structured form
};
NetworkSize size_of(const Network& network);

/// The most reflections per token of one layer, over its actions; −1 when one of them has no GH form.
std::int64_t reflections_of_layer(const Layer& layer);

/// A layer with codeword i for label i and H_0 = codeword 0; transitions are still to be added. All n×d, none empty.
Layer listed_layer(std::vector<Eigen::MatrixXd> codewords);

/// Throws LimitError when `count` codewords of `dimension` × `columns` would take more than 2^24 numbers.
void require_listable(std::uint64_t count, std::uint64_t dimension, std::uint64_t columns);

/// Throws LimitError when `actions` dense matrices of that dimension would take more than 2^24 numbers.
void require_dense(std::uint64_t actions, std::uint64_t dimension);

}  // namespace krohn
