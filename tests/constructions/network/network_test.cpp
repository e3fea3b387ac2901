#include "krohn/constructions/network/network.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

#include "krohn/constructions/build/builders.h"
#include "krohn/groups/error.h"
#include "tests/constructions/sample_automata.h"
#include "tests/error_of.h"

using namespace krohn;

namespace {

struct Fault {
  const char* message;
  std::function<void(Network&)> make;
};

void check_faults(const Network& sound, const std::vector<Fault>& faults) {
  CHECK_NOTHROW(validate(sound));
  for (const Fault& fault : faults) {
    CAPTURE(fault.message);
    Network broken = sound;
    fault.make(broken);
    CHECK(test::error_of([&] { validate(broken); }) == fault.message);
  }
}

}  // namespace

TEST_CASE("faults of a network with stored codewords are named") {
  const double nan = std::nan("");
  check_faults(
      build_two_layer_reflections(counter(3, {1, 2})),
      {{"layer 1: has 0×1 states and 2 labels; all must be positive", [](Network& n) { n.layers[0].dimension = 0; }},
       {"layer 1, action 0: A is a reflections of dimension 1; the layer has 2",
        [](Network& n) { n.layers[0].dimension = 2; }},
       {"layer 2, action 1, B: is 1×1; it must be 2×1",
        [](Network& n) { n.layers[1].transitions[1].b = Eigen::MatrixXd::Zero(1, 1); }},
       {"layer 2, H_0: holds a number that is not finite", [=](Network& n) { n.layers[1].initial(0, 0) = nan; }},
       {"layer 2: H_0 does not decode to the initial label 1", [](Network& n) { n.layers[1].initial_label = 1; }},
       {"layer 2: initial label 3 of 3", [](Network& n) { n.layers[1].initial_label = 3; }},
       {"layer 2, decoder: 6 codewords for 3 labels, with a table of 5",
        [](Network& n) { n.layers[1].decoder.label_of.pop_back(); }},
       {"layer 2, decoder: label 2 has no codeword",
        [](Network& n) {
          for (Label& label : n.layers[1].decoder.label_of) label = label == 2 ? 1 : label;
        }},
       {"layer 2, decoder: 6 codewords, but 5 are in books", [](Network& n) { n.layers[1].decoder.book.pop_back(); }},
       {"layer 2, decoder: codeword 4 of 6 is in book 2147483648",
        [](Network& n) { n.layers[1].decoder.book[4] = 0x80000000U; }},
       {"layer 2, decoder: book 0 of 2 has no codeword",
        [](Network& n) { std::fill(n.layers[1].decoder.book.begin(), n.layers[1].decoder.book.end(), 1U); }},
       {"layer 1: context 1 calls for action 7 of 1", [](Network& n) { n.layers[0].wiring.action_of[1] = 7; }},
       {"layer 1: the wiring leads to context 9 of 4", [](Network& n) { n.layers[0].wiring.next[2] = 9; }},
       {"layer 1: the wiring has 3 entries instead of 4", [](Network& n) { n.layers[0].wiring.next.pop_back(); }},
       {"layer 2: the wiring has 1 entries instead of 0", [](Network& n) { n.layers[1].wiring.next.push_back(0); }},
       {"layer 2: code book 2 of 2", [](Network& n) { n.layers[1].book_of_context[0] = 2; }},
       {"layer 2: 4 contexts, but 3 name a code book", [](Network& n) { n.layers[1].book_of_context.pop_back(); }},
       {"readout: has 1 levels for 2 layers", [](Network& n) { n.readout.next.pop_back(); }},
       {"readout, level 2: leads to state 3 of 3", [](Network& n) { n.readout.next[1][2] = 3; }},
       {"readout, level 1: leads to node 1 of 1", [](Network& n) { n.readout.next[0][1] = 1; }},
       {"readout: the initial labels lead nowhere", [](Network& n) { n.readout.next[1][0] = kNoContext; }},
       {"readout: the initial labels give state 1; the automaton starts in 0",
        [](Network& n) { n.readout.next[1][0] = 1; }},
       {"layer 1: is wired for 1 letters; the alphabet has 2", [](Network& n) {
          n.layers[0].wiring.action_of.pop_back();
          n.layers[0].wiring.next.resize(2);
        }}});
}

TEST_CASE("faults of a network with unit codewords are named") {
  check_faults(build_one_hot(ends_in_abb()),
               {{"layer 1, decoder: 4 unit codewords in 2 copies do not fit 4×1 states",
                 [](Network& n) { n.layers[0].decoder.unit_copies = 2; }},
                {"layer 1, decoder: unit codewords are not stored, but the decoder holds some",
                 [](Network& n) { n.layers[0].decoder.book.push_back(0); }},
                {"layer 1: H_0 does not decode to the initial label 0",
                 [](Network& n) { n.layers[0].initial.col(0).reverseInPlace(); }},
                {"readout, level 1: has 3 entries; 1 nodes of 4 labels need 4",
                 [](Network& n) { n.readout.next[0].pop_back(); }}});
}

TEST_CASE("unit codewords are what they stand for") {
  const Layer layer = build_permutation(counter(3, {1}), {KeyStyle::kDoubled}).layers[0];
  CHECK(codeword_count(layer) == 3);
  for (Label i = 0; i < 3; ++i) {
    const Eigen::MatrixXd code = codeword(layer, i);
    for (Label j = 0; j < 6; ++j) CHECK(code(j, 0) == (j % 3 == i ? 1 : 0));
    CHECK(codeword_label(layer, i) == i);
    CHECK(codeword_book(layer, i) == 0);
  }
}

TEST_CASE("sizes") {
  const NetworkSize two = size_of(build_two_layer_reflections(counter(7, {0, 1, 2, 3, 4, 5, 6})));
  CHECK(two.layers == 2);
  CHECK(two.state_numbers == 3);
  CHECK(two.reflections_per_token == 2);
  CHECK(two.alphabet_sizes == std::vector<std::size_t>{1, 14});
  const NetworkSize hot = size_of(build_one_hot(ends_in_abb()));
  CHECK(hot.reflections_per_token == -1);
  CHECK(hot.weights == 8);
}
