// No network that is wrong may ever be proved. Every number and every table entry of small networks is changed in turn;
// what the certificates claim is compared with a search that shares no code with them.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <utility>

#include "krohn/groups/error.h"
#include "krohn/simulate/prove/certify.h"
#include "krohn/simulate/prove/certify_codewords.h"
#include "tests/simulate/hand_built.h"
#include "tests/simulate/prove/judged_claims.h"

using namespace krohn;
using namespace krohn::hand_built;

namespace {

using Visit = std::function<void()>;

/// Gives the number other values, one after another, calls `visit` each time, and puts it back.
void vary(double& number, const Visit& visit) {
  const double was = number;
  for (const double changed : {was + 1, was - 1, -was, std::nextafter(was, 2.0), std::nextafter(was, -2.0), was / 2,
                               was + 0.0078125, was - 0x1p-20}) {
    number = changed;
    visit();
  }
  number = was;
}

void vary(Eigen::MatrixXd& numbers, const Visit& visit) {
  for (Eigen::Index i = 0; i < numbers.size(); ++i) vary(numbers(i), visit);
}

template <class Integer>
void vary_index(Integer& index, std::int64_t end, bool may_be_missing, const Visit& visit) {
  const Integer was = index;
  for (std::int64_t changed = 0; changed < end; ++changed) {
    index = static_cast<Integer>(changed);
    if (index != was) visit();
  }
  if (may_be_missing) {
    index = static_cast<Integer>(kNoContext);
    visit();
  }
  index = was;
}

void vary(Turn& turn, const Visit& visit) {
  const Turn was = turn;
  for (std::int64_t eighth = 0; eighth < 8; ++eighth) {
    turn = Turn{eighth, 8}.normalised();
    if (turn != was) visit();
  }
  turn = was;
}

struct VaryMatrix {
  const Visit& visit;

  void operator()(MapMatrix& matrix) const {
    const MapMatrix was = matrix;
    std::vector<Point> images(was.map.images().begin(), was.map.images().end());
    for (Point& image : images)
      vary_index(image, was.map.degree(), false, [&] {
        matrix.map = Transformation::from_images(images);
        visit();
      });
    matrix = was;
  }
  void operator()(ReflectionProduct& product) const {
    for (Reflection& factor : product.factors) {
      vary(factor.beta, visit);
      vary_index(factor.scale_squared_denominator, 5, false, visit);
      if (factor.entries.empty()) vary(factor.angle, visit);
      for (auto& entry : factor.entries) {
        vary_index(entry.position, product.dimension, false, visit);
        for (const std::int32_t value : {-entry.value, 2 * entry.value}) {
          const std::int32_t was = std::exchange(entry.value, value);
          visit();
          entry.value = was;
        }
      }
    }
  }
  void operator()(RotationBlocks& rotation) const {
    for (auto& block : rotation.blocks) vary(block.turn, visit);
  }
  void operator()(DiagonalMatrix& diagonal) const {
    for (double& value : diagonal.values) vary(value, visit);
  }
  void operator()(DenseMatrix& dense) const { vary(dense.values, visit); }
  template <class Other>
  void operator()(Other&) const {}
};

/// Every single change of every stored number and table entry of one layer.
void vary(Layer& layer, std::size_t contexts_above, const Visit& visit) {
  vary(layer.initial, visit);
  vary_index(layer.initial_label, layer.labels, false, visit);
  for (Eigen::MatrixXd& codeword : layer.decoder.codewords) vary(codeword, visit);
  for (std::size_t i = 1; i < layer.decoder.codewords.size(); ++i) {
    std::swap(layer.decoder.codewords[i - 1], layer.decoder.codewords[i]);
    visit();
    std::swap(layer.decoder.codewords[i - 1], layer.decoder.codewords[i]);
  }
  for (Label& label : layer.decoder.label_of) vary_index(label, layer.labels, false, visit);
  for (std::uint32_t& book : layer.decoder.book) vary_index(book, 2, false, visit);
  for (std::uint32_t& book : layer.book_of_context) vary_index(book, 2, false, visit);
  for (Transition& transition : layer.transitions) {
    std::visit(VaryMatrix{visit}, transition.a);
    const Matrix a = transition.a;
    for (const Transition& other : layer.transitions) {
      if (other.a == a) continue;
      transition.a = other.a;
      visit();
      transition.a = a;
    }
    vary(transition.b, visit);
    const Eigen::MatrixXd b = std::exchange(transition.b, Eigen::MatrixXd::Ones(layer.dimension, layer.columns));
    visit();
    transition.b = {};
    visit();
    transition.b = b;
  }
  for (Action& action : layer.wiring.action_of)
    vary_index(action, static_cast<std::int64_t>(layer.transitions.size()), false, visit);
  for (Context& next : layer.wiring.next) vary_index(next, static_cast<std::int64_t>(contexts_above), true, visit);
}

void vary(Network& network, const Visit& visit) {
  for (std::size_t k = 0; k < network.layers.size(); ++k) {
    const bool last = k + 1 == network.layers.size();
    vary(network.layers[k], last ? 0 : network.layers[k + 1].wiring.action_of.size(), visit);
  }
  for (std::size_t k = 0; k < network.readout.next.size(); ++k) {
    const bool last = k + 1 == network.readout.next.size();
    const std::size_t nodes =
        last ? network.automaton.states() : network.readout.next[k + 1].size() / network.layers[k + 1].labels;
    for (Context& entry : network.readout.next[k]) vary_index(entry, static_cast<std::int64_t>(nodes), true, visit);
  }
}

constexpr std::uint64_t kMaxPairs = 48;

Tally judge_all_changes(Network network, Precision precision, Form form) {
  Tally tally;
  vary(network, [&] {
    try {
      validate(network);
    } catch (const InputError&) {
      return;  // no such network can be loaded
    }
    judge(network, precision, form, kMaxPairs, replayed_search(network, precision, form, kMaxPairs), tally);
  });
  return tally;
}

/// Labels 0 … 3 on a line by a dense integer matrix and B: H ← 1 − H on letter 0, H ← 3 − H on letter 1, reset on 2.
Network dense_with_additions() {
  const auto matrix = [](double a) { return Matrix{DenseMatrix{Eigen::MatrixXd::Constant(1, 1, a)}}; };
  const auto number = [](double b) { return Eigen::MatrixXd(Eigen::MatrixXd::Constant(1, 1, b)); };
  std::vector<State> table;
  for (const int q : {0, 1}) {
    table.push_back(static_cast<State>(1 - q));
    table.push_back(static_cast<State>(q));
    table.push_back(1);
  }
  Network network =
      one_layer(automaton(3, table), number(0), {matrix(-1), matrix(1), matrix(0)}, {number(0), number(1)});
  network.layers[0].transitions[0].b = number(1);
  network.layers[0].transitions[2].b = number(1);
  return network;
}

}  // namespace

TEST_CASE("no change of a stored number or table makes a wrong network proved") {
  std::mt19937_64 random(6);
  const std::vector<Network> networks{one_hot(random_automaton(random, 4, 2)),
                                      symmetric(3, 2, Swap::kUnnormalised),
                                      symmetric(3, 1, Swap::kDoubled),
                                      rotation(4, {1, 2}),
                                      flip_flop_toggle(),
                                      dense_with_additions()};
  for (std::size_t i = 0; i < networks.size(); ++i) {
    CAPTURE(i);
    for (const Precision precision : {Precision::kBf16, Precision::kFp32}) {
      const Form form = precision == Precision::kBf16 ? Form::kStructured : Form::kDense;
      const Tally tally = judge_all_changes(networks[i], precision, form);
      CAPTURE(tally.valid);
      CHECK(tally.proved_by_codewords > 0);  // changes that do not matter, such as an ulp of a codeword
      CHECK(tally.refuted > 0);
      CHECK(tally.valid > 50);
    }
  }
}

TEST_CASE("the same for code books, whose labels the numbers do not tell") {
  const Tally tally = judge_all_changes(two_reflections(2), Precision::kBf16, Form::kStructured);
  CHECK(tally.refuted > 0);
  CHECK(tally.proved_by_search > 0);
  CHECK(tally.proved_by_codewords == 0);
}

TEST_CASE("a wiring that disagrees with the numbers is not believed") {
  // The decoder's labels are exchanged in layer 1 and the tables above left as they were: every codeword still closes.
  Network network = flip_flop_toggle();
  std::swap(network.layers[0].decoder.codewords[0], network.layers[0].decoder.codewords[1]);
  network.layers[0].initial_label = 1;
  CertifyOptions options;
  CHECK_FALSE(certify_closed_codewords(network, options));
  CHECK(certify(network, options).is<Refuted>());
}
