// tests/simulate/formed_networks.h — networks whose letters have every structured form, alone and mixed, from a seed.
#pragma once

#include "tests/simulate/hand_built.h"
#include "tests/testing.h"

namespace krohn::formed_networks {

using namespace hand_built;

inline Eigen::MatrixXd random_matrix(std::mt19937_64& random, Eigen::Index rows, Eigen::Index columns) {
  std::uniform_real_distribution<double> entry(-1, 1);
  Eigen::MatrixXd matrix(rows, columns);
  for (Eigen::Index i = 0; i < matrix.size(); ++i) matrix(i) = entry(random);
  return matrix;
}

inline Transformation random_map(std::mt19937_64& random, Point n) {
  std::vector<Point> images(n);
  for (Point& image : images) image = static_cast<Point>(random() % n);
  return Transformation::from_images(images);
}

inline Transformation random_bijection(std::mt19937_64& random, Point n) {
  std::vector<Point> images(n);
  for (Point i = 0; i < n; ++i) images[i] = i;
  std::shuffle(images.begin(), images.end(), random);
  return Transformation::from_images(images);
}

/// Factors with few or all coordinates, none, or a key at an angle.
inline ReflectionProduct random_reflections(std::mt19937_64& random, std::uint32_t n) {
  ReflectionProduct product{n, {}};
  for (std::uint64_t f = random() % 4; f-- > 0;) {
    Reflection reflection;
    const bool all = random() % 3 == 0;
    for (std::uint32_t i = 0; i < n; ++i)
      if (all || random() % 3 == 0) reflection.entries.push_back({i, static_cast<std::int32_t>(random() % 2) * 2 - 1});
    if (reflection.entries.empty()) reflection.angle = Turn{static_cast<std::int64_t>(random() % 14), 14}.normalised();
    if (reflection.entries.empty() && n < 2) continue;
    reflection.scale_squared_denominator =
        static_cast<std::int64_t>(std::max(reflection.entries.size(), std::size_t{1}));
    reflection.beta = random() % 2 == 0 ? 2 : 1.3;
    product.factors.push_back(reflection);
  }
  return product;
}

/// One matrix of every structured form in dimension 5, with weights that round.
inline std::vector<Matrix> one_of_each_form(std::mt19937_64& random) {
  Reflection sparse{{{0, 1}, {2, -3}, {4, 2}}, 1, 14, 0, {}, 1.3};
  Reflection angled{{}, 1, 1, 3, Turn{3, 14}, 2};
  FactoredMatrix factored{5, {{0, 1}, {2}, {0, 3, 4}}, {{1, 2, 3}, {0}, {2, 4}}, {0, 2}};
  return {MapMatrix{Transformation::from_images({1, 1, 0, 1, 4})},
          SignedPermutationMatrix{Permutation::from_images({2, 0, 1, 4, 3}), {1, -1, 1, -1, -1}},
          ReflectionProduct{5, {sparse, angled}},
          ReflectionProduct{5, {}},
          RotationBlocks{{{false, Turn{1, 7}}, {true, Turn{1, 2}}, {false, Turn{2, 5}}}},
          DiagonalMatrix{{0.5, -1, 0.3, 1, -0.9}},
          ZeroMatrix{5},
          DenseMatrix{random_matrix(random, 5, 5)},
          BlockDiagonalMatrix{{random_matrix(random, 2, 2), random_matrix(random, 3, 3)}},
          factored};
}

enum class Kind { kMap, kSigned, kReflections, kRotation, kDiagonal, kZero, kDense, kBlocks, kCount };

inline Matrix random_form(std::mt19937_64& random, Kind kind, std::uint32_t n) {
  std::uniform_real_distribution<double> entry(-1, 1);
  switch (kind) {
    case Kind::kMap:
      return MapMatrix{random() % 2 == 0 ? random_map(random, n) : random_bijection(random, n)};
    case Kind::kSigned: {
      const Transformation map = random_bijection(random, n);
      SignedPermutationMatrix matrix{Permutation::from_images({map.images().begin(), map.images().end()}), {}};
      for (std::uint32_t i = 0; i < n; ++i) matrix.sign.push_back(random() % 2 == 0 ? 1 : -1);
      return matrix;
    }
    case Kind::kReflections:
      return random_reflections(random, n);
    case Kind::kRotation: {
      RotationBlocks blocks;
      for (std::uint32_t i = 0; i < n;) {
        const bool is_sign = i + 1 == n || random() % 4 == 0;
        blocks.blocks.push_back({is_sign, (is_sign ? Turn{static_cast<std::int64_t>(random() % 2), 2}
                                                   : Turn{1 + static_cast<std::int64_t>(random() % 6), 7})
                                              .normalised()});
        i += is_sign ? 1 : 2;
      }
      return blocks;
    }
    case Kind::kDiagonal: {
      DiagonalMatrix matrix;
      for (std::uint32_t i = 0; i < n; ++i) matrix.values.push_back(random() % 3 == 0 ? 0 : entry(random));
      return matrix;
    }
    case Kind::kZero:
      return ZeroMatrix{n};
    case Kind::kDense:
      return DenseMatrix{random_matrix(random, n, n)};
    default: {
      if (n == 1) return BlockDiagonalMatrix{{random_matrix(random, 1, 1)}};
      const auto first = static_cast<Eigen::Index>(1 + random() % (n - 1));
      return BlockDiagonalMatrix{{random_matrix(random, first, first), random_matrix(random, n - first, n - first)}};
    }
  }
}

/// A network without a meaning: a letter for each matrix, random codewords, a B at every second letter when `adds`.
inline Network meaningless(std::mt19937_64& random, std::vector<Matrix> actions, std::uint32_t columns, bool adds) {
  const std::uint32_t n = dimension(actions[0]);
  const auto letters = static_cast<Letter>(actions.size());
  std::vector<Eigen::MatrixXd> codewords;
  for (int i = 0; i < 7; ++i) codewords.push_back(random_matrix(random, n, columns));
  const Eigen::MatrixXd initial = codewords[0];
  Network network = one_layer(random_automaton(random, 7, letters), initial, std::move(actions), std::move(codewords));
  for (std::size_t i = 0; adds && i < letters; i += 2)
    network.layers[0].transitions[i].b = random_matrix(random, n, columns);
  return network;
}

/// The same with letters of the given kinds (all when none is named), some with B, and codewords that are random, or
/// zeros and ones.
inline Network random_network(std::uint64_t seed, std::uint32_t n, std::uint32_t columns, Letter letters,
                              std::optional<Kind> kind) {
  std::mt19937_64 random(seed);
  std::vector<Matrix> actions;
  for (Letter a = 0; a < letters; ++a)
    actions.push_back(
        random_form(random, kind.value_or(static_cast<Kind>(random() % static_cast<int>(Kind::kCount))), n));
  Network network = meaningless(random, std::move(actions), columns, false);
  Layer& layer = network.layers[0];
  if (seed % 2 == 0) {
    for (Eigen::MatrixXd& codeword : layer.decoder.codewords)
      for (Eigen::Index i = 0; i < codeword.size(); ++i) codeword(i) = random() % 2 == 0 ? 0 : 1;
    layer.initial = layer.decoder.codewords[0];
  }
  for (Transition& transition : layer.transitions)
    if (std::holds_alternative<ZeroMatrix>(transition.a) ? random() % 5 != 0 : random() % 4 == 0)
      transition.b = random_matrix(random, n, columns);
  return network;
}

/// Networks of every form alone and of all together, in several sizes.
inline std::vector<Network> of_every_form() {
  std::vector<Network> networks;
  std::uint64_t seed = 100;
  for (const std::uint32_t n : {1U, 2U, 5U, 9U})
    for (int kind = 0; kind <= static_cast<int>(Kind::kCount); ++kind) {
      const bool all = kind == static_cast<int>(Kind::kCount);
      const Letter letters = all ? 24 : 1 + static_cast<Letter>(++seed % 5);
      networks.push_back(random_network(seed, n, static_cast<std::uint32_t>(1 + seed % 3), letters,
                                        all ? std::nullopt : std::optional(static_cast<Kind>(kind))));
    }
  return networks;
}

inline std::vector<Network> meaningful_networks() {
  std::mt19937_64 random(17);
  std::vector<Network> networks;
  networks.push_back(one_hot(random_automaton(random, 6, 3)));
  networks.push_back(one_hot(random_automaton(random, 40, 2)));
  networks.push_back(rotation(60, all_residues(60)));
  networks.push_back(rotation(7, all_residues(7)));
  for (const Swap style : {Swap::kMap, Swap::kUnit, Swap::kUnnormalised, Swap::kDoubled})
    for (const std::uint32_t columns : {1, 3}) networks.push_back(symmetric(4, columns, style));
  networks.push_back(two_reflections(5));
  networks.push_back(flip_flop_toggle());
  networks.push_back(delayed_toggle());
  return networks;
}

/// Letter 2 takes the first layer to the middle of its codewords, so that the second one often lacks its context.
inline Network failing_cascade() {
  Network network = flip_flop_toggle();
  network.layers[0].transitions[2] = {Matrix{DiagonalMatrix{{0, 0}}}, {}};
  network.layers[0].transitions[1] = {Matrix{DiagonalMatrix{{-1, 0.5}}}, unit(2, 0)};
  return network;
}

}  // namespace krohn::formed_networks
