// tests/simulate/hand_built.h — small networks written out by hand, so that the tests of this floor lean on no builder.
#pragma once

#include "krohn/constructions/network/network.h"
#include "tests/testing.h"

namespace krohn::hand_built {

inline Alphabet numbered_letters(Letter count) {
  std::vector<std::string> names;
  for (Letter letter = 0; letter < count; ++letter) names.push_back(std::to_string(letter));
  return Alphabet::from_names(names);
}

/// All states accept or reject by their parity; the tests look at states.
inline Dfa automaton(Letter letters, std::vector<State> table) {
  const std::size_t states = table.size() / letters;
  std::vector<bool> accepting(states);
  for (std::size_t q = 0; q < states; ++q) accepting[q] = q % 2 == 1;
  return Dfa::acceptor(numbered_letters(letters), std::move(table), 0, accepting);
}

inline Dfa random_automaton(std::mt19937_64& random, State states, Letter letters) {
  std::vector<State> table(std::size_t{states} * letters);
  for (State& target : table) target = static_cast<State>(random() % states);
  return automaton(letters, std::move(table));
}

/// Counts modulo m; letter w adds w.
inline Dfa counter(std::uint32_t m, std::vector<std::uint32_t> added) {
  std::vector<State> table;
  for (State q = 0; q < m; ++q)
    for (const std::uint32_t w : added) table.push_back((q + w) % m);
  return automaton(static_cast<Letter>(added.size()), std::move(table));
}

inline std::vector<std::uint32_t> all_residues(std::uint32_t m) {
  std::vector<std::uint32_t> residues(m);
  for (std::uint32_t w = 0; w < m; ++w) residues[w] = w;
  return residues;
}

/// Letter ↦ action of the same number, one context per letter.
inline Wiring letter_wiring(Letter letters) {
  Wiring wiring;
  for (Letter letter = 0; letter < letters; ++letter) wiring.action_of.push_back(letter);
  return wiring;
}

inline std::vector<Context> identity_readout(Label labels) {
  std::vector<Context> next(labels);
  for (Label label = 0; label < labels; ++label) next[label] = label;
  return next;
}

inline Eigen::MatrixXd unit(std::uint32_t n, std::uint32_t i) {
  Eigen::MatrixXd column = Eigen::MatrixXd::Zero(n, 1);
  column(i, 0) = 1;
  return column;
}

/// A network of one layer whose labels are the automaton's states.
inline Network one_layer(Dfa dfa, Eigen::MatrixXd initial, std::vector<Matrix> actions,
                         std::vector<Eigen::MatrixXd> codewords) {
  Layer layer;
  layer.dimension = static_cast<std::uint32_t>(initial.rows());
  layer.columns = static_cast<std::uint32_t>(initial.cols());
  layer.labels = dfa.states();
  layer.initial_label = dfa.initial();
  layer.initial = std::move(initial);
  for (Matrix& action : actions) layer.transitions.push_back({std::move(action), {}});
  layer.decoder.codewords = std::move(codewords);
  layer.wiring = letter_wiring(dfa.letters());
  const Label labels = layer.labels;
  return {std::move(dfa), {std::move(layer)}, Readout{{identity_readout(labels)}}, {}};
}

/// Counts modulo m in one number: h + w modulo 2^bits, from the least number on, in steps of `step`.
inline Network wrapping_counter(std::uint32_t m, std::vector<std::uint32_t> added, double least, double step) {
  std::vector<Matrix> actions(added.size(), DiagonalMatrix{{1}});
  std::vector<Eigen::MatrixXd> codewords;
  for (std::uint32_t q = 0; q < m; ++q) codewords.emplace_back(Eigen::MatrixXd::Constant(1, 1, least + q * step));
  Network network = one_layer(counter(m, added), codewords[0], std::move(actions), codewords);
  for (std::size_t i = 0; i < added.size(); ++i)
    network.layers[0].transitions[i].b = Eigen::MatrixXd::Constant(1, 1, added[i] * step);
  return network;
}

inline Network one_hot(Dfa dfa) {
  std::vector<Matrix> actions;
  std::vector<Eigen::MatrixXd> codewords;
  for (Letter letter = 0; letter < dfa.letters(); ++letter) actions.emplace_back(MapMatrix{dfa.letter_map(letter)});
  for (State q = 0; q < dfa.states(); ++q) codewords.push_back(unit(dfa.states(), q));
  Eigen::MatrixXd initial = unit(dfa.states(), dfa.initial());
  return one_layer(std::move(dfa), std::move(initial), std::move(actions), std::move(codewords));
}

inline Eigen::MatrixXd point_at(std::int64_t numerator, std::int64_t denominator) {
  const Turn turn = Turn{numerator, denominator}.normalised();
  Eigen::MatrixXd point(2, 1);
  point << static_cast<double>(turn.cosine()), static_cast<double>(turn.sine());
  return point;
}

/// The plane turned by w/m of a full turn.
inline Network rotation(std::uint32_t m, std::vector<std::uint32_t> added) {
  std::vector<Matrix> actions;
  std::vector<Eigen::MatrixXd> codewords;
  for (const std::uint32_t w : added) actions.emplace_back(RotationBlocks{{{false, Turn{w, m}.normalised()}}});
  for (std::uint32_t q = 0; q < m; ++q) codewords.push_back(point_at(q, m));
  return one_layer(counter(m, std::move(added)), point_at(0, m), std::move(actions), std::move(codewords));
}

/// A counter modulo m whose letter turns too far by so many thousandths of a step.
inline Network turning_too_far(std::uint32_t m, std::int64_t thousandths) {
  Network network = rotation(m, {0, 1});
  network.layers[0].transitions[1].a =
      RotationBlocks{{{false, Turn{1000 + thousandths, 1000 * static_cast<std::int64_t>(m)}.normalised()}}};
  return network;
}

/// How the swap of two points is written.
enum class Swap { kMap, kUnit, kUnnormalised, kDoubled };

inline Matrix swap_matrix(std::uint32_t n, std::uint32_t i, std::uint32_t j, Swap style) {
  if (style == Swap::kMap) {
    std::vector<Point> images(n);
    for (Point p = 0; p < n; ++p) images[p] = p == i ? j : p == j ? i : p;
    return MapMatrix{Transformation::from_images(std::move(images))};
  }
  Reflection reflection{.entries = {{i, 1}, {j, -1}}, .beta = style == Swap::kUnnormalised ? 1.0 : 2.0};
  if (style == Swap::kUnit) reflection.scale_squared_denominator = 2;
  if (style == Swap::kDoubled) {
    reflection.entries = {{i, 1}, {j, -1}, {n + i, 1}, {n + j, -1}};
    reflection.scale_squared_denominator = 4;
  }
  return ReflectionProduct{style == Swap::kDoubled ? 2 * n : n, {reflection}};
}

inline std::vector<std::pair<std::uint32_t, std::uint32_t>> all_swaps(std::uint32_t n) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> swaps;
  for (std::uint32_t i = 0; i < n; ++i)
    for (std::uint32_t j = i + 1; j < n; ++j) swaps.emplace_back(i, j);
  return swaps;
}

/// S_n by its transpositions on `columns` base points: 1 column for the automaton on the points, n − 1 for the word
/// problem. A state is the tuple of the images of the base points 0, 1, ….
inline Network symmetric(std::uint32_t n, std::uint32_t columns, Swap style) {
  const auto swaps = all_swaps(n);
  std::vector<std::uint32_t> base(columns);
  for (std::uint32_t b = 0; b < columns; ++b) base[b] = b;
  std::map<std::vector<std::uint32_t>, State> numbers{{base, 0}};
  std::vector<std::vector<std::uint32_t>> tuples{base};
  std::vector<State> table;
  for (std::size_t q = 0; q < tuples.size(); ++q)
    for (const auto& [i, j] : swaps) {
      std::vector<std::uint32_t> image = tuples[q];
      for (std::uint32_t& point : image) point = point == i ? j : point == j ? i : point;
      const auto [found, fresh] = numbers.try_emplace(image, static_cast<State>(tuples.size()));
      if (fresh) tuples.push_back(image);
      table.push_back(found->second);
    }
  const std::uint32_t dimension = style == Swap::kDoubled ? 2 * n : n;
  std::vector<Eigen::MatrixXd> codewords;
  for (const auto& tuple : tuples) {
    Eigen::MatrixXd& codeword = codewords.emplace_back(Eigen::MatrixXd::Zero(dimension, columns));
    for (std::uint32_t b = 0; b < columns; ++b)
      for (std::uint32_t row = tuple[b]; row < dimension; row += n) codeword(row, b) = 1;
  }
  std::vector<Matrix> actions;
  for (const auto& [i, j] : swaps) actions.push_back(swap_matrix(n, i, j, style));
  Eigen::MatrixXd initial = codewords[0];
  return one_layer(automaton(static_cast<Letter>(swaps.size()), std::move(table)), std::move(initial),
                   std::move(actions), std::move(codewords));
}

/// Grazzi Theorem 6: Z_m by one reflection per layer. Layer 1 is the parity of the position, ±1; layer 2 reflects at
/// θ(i, 1) = (1 − 2i)π/m and θ(i, 0) = (2i + 1)π/m, i being what the letter adds; codewords lie at (1 − 2y)π/m after
/// odd and 2yπ/m after even positions, one code book for each.
inline Network two_reflections(std::uint32_t m) {
  Dfa dfa = counter(m, all_residues(m));
  Layer parity;
  parity.dimension = 1;
  parity.labels = 2;
  parity.initial = unit(1, 0);
  parity.transitions = {{Matrix{DiagonalMatrix{{-1}}}, {}}};
  parity.decoder.codewords = {unit(1, 0), -unit(1, 0)};
  parity.wiring.action_of.assign(m, 0);
  for (Letter i = 0; i < m; ++i)
    for (Label even_or_odd = 0; even_or_odd < 2; ++even_or_odd) parity.wiring.next.push_back(2 * i + even_or_odd);
  Layer plane;
  plane.dimension = 2;
  plane.labels = m;
  plane.initial = point_at(0, 1);
  const auto turns = static_cast<std::int64_t>(m);
  for (std::int64_t i = 0; i < turns; ++i)
    for (const std::int64_t theta : {1 - 2 * i, 2 * i + 1}) {
      // The reflection with cos θ, sin θ maps angle φ to θ − φ: its mirror is at θ/2 and its key a quarter turn on.
      Reflection reflection{.angle = Turn{theta + turns, 4 * turns}.normalised()};
      plane.wiring.action_of.push_back(static_cast<Action>(plane.transitions.size()));
      plane.book_of_context.push_back(static_cast<std::uint32_t>(1 - plane.transitions.size() % 2));
      plane.transitions.push_back({Matrix{ReflectionProduct{2, {reflection}}}, {}});
    }
  for (std::uint32_t book = 0; book < 2; ++book)
    for (std::int64_t y = 0; y < turns; ++y) {
      plane.decoder.codewords.push_back(book == 1 ? point_at(1 - 2 * y, 2 * turns) : point_at(2 * y, 2 * turns));
      plane.decoder.label_of.push_back(static_cast<Label>(y));
      plane.decoder.book.push_back(book);
    }
  Readout readout{{std::vector<Context>(2, 0), identity_readout(m)}};
  return {std::move(dfa), {std::move(parity), std::move(plane)}, std::move(readout), {}};
}

/// The cascade network of the automaton that remembers whether an "a" (letter 0) came after the last "b" (letter 1) at
/// an even distance: layer 1 holds a flip-flop, layer 2 toggles where the flip-flop was set. Four states, resets with
/// B.
inline Network flip_flop_toggle() {
  // State 2·x + y; letter 0: x ← 1, y ← y xor x; letter 1: x ← 0, y ← y; letter 2: x stays, y ← y xor x.
  std::vector<State> table;
  for (State q = 0; q < 4; ++q) {
    const State x = q / 2, y = q % 2;
    table.push_back(2 + (y ^ x));
    table.push_back(y);
    table.push_back(2 * x + (y ^ x));
  }
  Dfa dfa = automaton(3, std::move(table));
  const auto swap = Matrix{MapMatrix{Transformation::from_images({1, 0})}};
  const auto stay = Matrix{MapMatrix{Transformation::identity(2)}};
  Layer flip_flop;
  flip_flop.dimension = flip_flop.labels = 2;
  flip_flop.initial = unit(2, 0);
  flip_flop.transitions = {{Matrix{ZeroMatrix{2}}, unit(2, 1)}, {Matrix{ZeroMatrix{2}}, unit(2, 0)}, {stay, {}}};
  flip_flop.decoder.codewords = {unit(2, 0), unit(2, 1)};
  flip_flop.wiring = letter_wiring(3);
  flip_flop.wiring.next = {0, 1, 0, 0, 0, 1};  // context 1 toggles
  Layer toggle;
  toggle.dimension = toggle.labels = 2;
  toggle.initial = unit(2, 0);
  toggle.transitions = {{stay, {}}, {swap, {}}};
  toggle.decoder.codewords = {unit(2, 0), unit(2, 1)};
  toggle.wiring.action_of = {0, 1};
  Readout readout{{{0, 1}, {0, 1, 2, 3}}};
  return {std::move(dfa), {std::move(flip_flop), std::move(toggle)}, std::move(readout), {}};
}

/// The automaton that toggles when the letter before the last one was 1; state 2·(last letter) + toggle. The numbers of
/// layer 1 never move: its label is the code book of the last letter, which only the context knows.
inline Network delayed_toggle() {
  std::vector<State> table;
  for (State q = 0; q < 4; ++q)
    for (State letter = 0; letter < 2; ++letter) table.push_back(2 * letter + ((q % 2) ^ (q / 2)));
  Dfa dfa = automaton(2, std::move(table));
  Layer last_letter;
  last_letter.dimension = 1;
  last_letter.labels = 2;
  last_letter.initial = unit(1, 0);
  last_letter.transitions = {{Matrix{DiagonalMatrix{{1}}}, {}}};
  last_letter.decoder = {{unit(1, 0), unit(1, 0)}, {0, 1}, {0, 1}, 0};
  last_letter.wiring = {{0, 0}, {0, 1, 0, 1}};
  last_letter.book_of_context = {0, 1};
  Layer toggle = flip_flop_toggle().layers[1];
  Readout readout{{{0, 1}, {0, 1, 2, 3}}};
  return {std::move(dfa), {std::move(last_letter), std::move(toggle)}, std::move(readout), {}};
}

}  // namespace krohn::hand_built
