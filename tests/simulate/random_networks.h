// tests/simulate/random_networks.h — networks that no builder made: random small automata with weights that solve them
// well, badly or not at all, from a seed. What bounds claim of them is checked by exhaustive search.
#pragma once

#include <Eigen/Core>

#include "krohn/groups/base/decompositions.h"
#include "krohn/simulate/learned/spectrum.h"
#include "tests/simulate/hand_built.h"
#include "tests/testing.h"

namespace krohn::random_networks {

using namespace hand_built;

/// How the weights of one letter are drawn.
enum class Kind {
  kNoisyPermutation,  ///< the 0/1 matrices of the letters' maps, and noise
  kContracting,       ///< a random matrix of norm below 1, and the B that leads centres to centres as well as it can
  kExpanding,         ///< the same with norm above 1
  kResets,            ///< most letters forget the state: a random matrix of small norm, B the codeword
  kTurned,            ///< a noisy permutation in a random basis: no coordinate means anything, norms may exceed 1
  kRandom,            ///< weights that know nothing of the automaton
};
inline constexpr int kKinds = 6;

inline const char* name_of(Kind kind) {
  constexpr const char* names[] = {"noisy permutation", "contracting", "expanding", "resets", "turned", "random"};
  return names[static_cast<int>(kind)];
}

inline double uniform(std::mt19937_64& random, double low, double high) {
  return low + (high - low) * static_cast<double>(random() >> 11) * 0x1p-53;
}

inline Eigen::MatrixXd noise(std::mt19937_64& random, Eigen::Index rows, Eigen::Index columns, double size) {
  return Eigen::MatrixXd::NullaryExpr(rows, columns, [&] { return uniform(random, -size, size); });
}

inline Eigen::MatrixXd of_norm(Eigen::MatrixXd matrix, double norm) {
  const double greatest = singular_values(matrix)(0);
  return greatest > 0 ? Eigen::MatrixXd(matrix * (norm / greatest)) : matrix;
}

/// A permutation automaton, or one whose letters are arbitrary maps or constants.
inline Dfa draw_automaton(std::mt19937_64& random, Kind kind, State states, Letter letters) {
  std::vector<State> table(std::size_t{states} * letters);
  for (Letter letter = 0; letter < letters; ++letter) {
    std::vector<State> images(states);
    for (State q = 0; q < states; ++q) images[q] = q;
    if (kind == Kind::kNoisyPermutation || kind == Kind::kTurned)
      for (State q = states; q-- > 1;) std::swap(images[q], images[random() % (q + 1)]);
    else if (kind == Kind::kResets && random() % 4 != 0)
      std::fill(images.begin(), images.end(), static_cast<State>(random() % states));
    else
      for (State& image : images) image = static_cast<State>(random() % states);
    for (State q = 0; q < states; ++q) table[std::size_t{q} * letters + letter] = images[q];
  }
  return automaton(letters, std::move(table));
}

inline Eigen::MatrixXd map_matrix(const Dfa& dfa, Letter letter) {
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(dfa.states(), dfa.states());
  for (State q = 0; q < dfa.states(); ++q) matrix(dfa.next(q, letter), q) = 1;
  return matrix;
}

/// The B with A c_q + B ≈ c_{q·σ}, on the average over q.
inline Eigen::MatrixXd fitting_addition(const Dfa& dfa, Letter letter, const Eigen::MatrixXd& a,
                                        const Eigen::MatrixXd& codes) {
  Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(codes.rows(), 1);
  for (State q = 0; q < dfa.states(); ++q) sum += codes.col(dfa.next(q, letter)) - a * codes.col(q);
  return sum / dfa.states();
}

/// A network of one layer with dense weights, one codeword a state. Every draw of `random` is another one.
inline Network draw(std::mt19937_64& random, Kind kind) {
  const auto states = static_cast<State>(2 + random() % 3);
  const auto letters = static_cast<Letter>(1 + random() % 3);
  const Dfa dfa = draw_automaton(random, kind, states, letters);
  const auto n = static_cast<Eigen::Index>(states);
  const double size = std::pow(10.0, uniform(random, -4, -0.7));
  Eigen::MatrixXd codes = Eigen::MatrixXd::Identity(n, n);
  Eigen::MatrixXd basis = codes;
  if (kind == Kind::kTurned) basis = codes + noise(random, n, n, 0.8);
  if (kind == Kind::kContracting || kind == Kind::kExpanding) codes += noise(random, n, n, 0.5);
  const Eigen::MatrixXd back = solution(basis, Eigen::MatrixXd::Identity(basis.rows(), basis.rows()));
  codes = basis * codes;
  std::vector<Matrix> actions;
  std::vector<Eigen::MatrixXd> additions;
  for (Letter letter = 0; letter < letters; ++letter) {
    Eigen::MatrixXd a = map_matrix(dfa, letter), b = Eigen::MatrixXd::Zero(n, 1);
    switch (kind) {
      case Kind::kNoisyPermutation:
      case Kind::kTurned:
        a = basis * a * back + noise(random, n, n, size);
        break;
      case Kind::kContracting:
      case Kind::kExpanding:
        // Part of the map itself, so that states can be told apart at all.
        a = of_norm(a + noise(random, n, n, 0.3),
                    kind == Kind::kExpanding ? uniform(random, 1.0, 1.5) : uniform(random, 0.3, 0.98));
        b = fitting_addition(dfa, letter, a, codes);
        break;
      case Kind::kResets:
        a = of_norm(noise(random, n, n, 1), uniform(random, 0, 0.4));
        b = fitting_addition(dfa, letter, a, codes);
        break;
      case Kind::kRandom:
        a = of_norm(noise(random, n, n, 1), uniform(random, 0.2, 1.3));
        b = noise(random, n, 1, 1);
        break;
    }
    actions.emplace_back(DenseMatrix{a});
    additions.push_back(b);
  }
  std::vector<Eigen::MatrixXd> codewords;
  for (State q = 0; q < states; ++q) codewords.emplace_back(codes.col(q));
  Network network = one_layer(dfa, codewords[0], std::move(actions), codewords);
  for (Letter letter = 0; letter < letters; ++letter) network.layers[0].transitions[letter].b = additions[letter];
  return network;
}

}  // namespace krohn::random_networks
