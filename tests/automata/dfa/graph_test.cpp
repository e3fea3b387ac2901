#include "krohn/automata/dfa/graph.h"

#include <doctest/doctest.h>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/graph_concepts.hpp>
#include <boost/graph/topological_sort.hpp>
#include <boost/graph/transitive_closure.hpp>

#include "krohn/automata/dfa/dfa_graph.h"
#include "krohn/groups/error.h"
#include "tests/automata/random_automata.h"

using namespace krohn;

BOOST_CONCEPT_ASSERT((boost::VertexListGraphConcept<Dfa>));
BOOST_CONCEPT_ASSERT((boost::IncidenceGraphConcept<Dfa>));
BOOST_CONCEPT_ASSERT((boost::AdjacencyGraphConcept<Dfa>));
BOOST_CONCEPT_ASSERT((boost::ReadablePropertyGraphConcept<Dfa, State, boost::vertex_index_t>));

namespace {

/// reach[p][q]: some word leads from p to q. Floyd and Warshall's algorithm, sharing nothing with what it checks.
std::vector<std::vector<bool>> reachability(const Dfa& dfa) {
  const State n = dfa.states();
  std::vector<std::vector<bool>> reach(n, std::vector<bool>(n, false));
  for (State p = 0; p < n; ++p) {
    reach[p][p] = true;
    for (const State q : dfa.row(p)) reach[p][q] = true;
  }
  for (State via = 0; via < n; ++via)
    for (State p = 0; p < n; ++p)
      for (State q = 0; q < n; ++q)
        if (reach[p][via] && reach[via][q]) reach[p][q] = true;
  return reach;
}

Dfa line(State states) {
  std::vector<State> table;
  for (State state = 0; state < states; ++state) table.push_back(std::min(state + 1, states - 1));
  return Dfa::acceptor(first_letters(1), std::move(table), 0, std::vector<bool>(states, true));
}

}  // namespace

TEST_CASE("the graph has a vertex per state and an edge per transition") {
  Dice dice(1);
  const Dfa dfa = random_acceptor(dice, 20, 3);
  CHECK(num_vertices(dfa) == 20);
  State expected = 0;
  for (auto [vertex, end] = vertices(dfa); vertex != end; ++vertex, ++expected) {
    REQUIRE(*vertex == expected);
    REQUIRE(out_degree(*vertex, dfa) == 3);
    Letter letter = 0;
    for (auto [edge, last] = out_edges(*vertex, dfa); edge != last; ++edge, ++letter) {
      CHECK(source(*edge, dfa) == *vertex);
      CHECK(target(*edge, dfa) == dfa.next(*vertex, letter));
      CHECK((*edge).letter == letter);
      CHECK(adjacent_vertices(*vertex, dfa).first[letter] == target(*edge, dfa));
    }
    CHECK(letter == 3);
    CHECK(out_edges(*vertex, dfa).second - out_edges(*vertex, dfa).first == 3);
  }
  CHECK(expected == 20);
}

TEST_CASE("reachability, components and their order agree with Floyd and Warshall") {
  Dice dice(2);
  for (int round = 0; round < 200; ++round) {
    const Dfa dfa = random_acceptor(dice, 1 + dice.below(25), dice.below(3), 1 + dice.below(3));
    const auto reach = reachability(dfa);
    const std::vector<bool> reachable = reachable_states(dfa);
    const Components components = strongly_connected_components(dfa);
    const auto arcs = condensation(dfa, components);
    const ComponentReachability closure(arcs);
    CAPTURE(round);
    REQUIRE(components.count == components.members().size());
    for (State p = 0; p < dfa.states(); ++p) {
      REQUIRE(reachable[p] == reach[dfa.initial()][p]);
      for (State q = 0; q < dfa.states(); ++q) {
        REQUIRE((components.of[p] == components.of[q]) == (reach[p][q] && reach[q][p]));
        REQUIRE(closure.reaches(components.of[p], components.of[q]) == reach[p][q]);
      }
    }
    for (Component from = 0; from < components.count; ++from)
      for (const Component to : arcs[from]) REQUIRE(from < to);
  }
}

TEST_CASE("shortest words are least among the words that lead there") {
  Dice dice(3);
  for (int round = 0; round < 200; ++round) {
    const Dfa dfa = random_acceptor(dice, 1 + dice.below(7), 2);
    std::vector<std::optional<Word>> least(dfa.states());
    for (const Word& word : short_words(2, 7))
      if (!least[dfa.run(word)]) least[dfa.run(word)] = word;
    const ShortestWords words(dfa);
    CAPTURE(round);
    std::size_t reachable = 0;
    for (State state = 0; state < dfa.states(); ++state) {
      REQUIRE(words.to(state) == least[state]);
      reachable += least[state].has_value();
    }
    REQUIRE(words.states().size() == reachable);
    REQUIRE(words.states()[0] == dfa.initial());
  }
}

TEST_CASE("the library's topological sort and transitive closure of the condensation agree") {
  Dice dice(4);
  for (int round = 0; round < 30; ++round) {
    const Dfa dfa = random_acceptor(dice, 2 + dice.below(15), 2);
    const Components components = strongly_connected_components(dfa);
    const auto arcs = condensation(dfa, components);
    boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS> acyclic(components.count), closure;
    for (Component from = 0; from < components.count; ++from)
      for (const Component to : arcs[from]) boost::add_edge(from, to, acyclic);
    std::vector<std::size_t> order;
    CHECK_NOTHROW(boost::topological_sort(acyclic, std::back_inserter(order)));  // throws on a cycle
    CHECK(order.size() == components.count);
    boost::transitive_closure(acyclic, closure);
    const ComponentReachability reachability(arcs);
    for (Component from = 0; from < components.count; ++from)
      for (Component to = 0; to < components.count; ++to)
        if (from != to) REQUIRE(boost::edge(from, to, closure).second == reachability.reaches(from, to));
  }
}

TEST_CASE("a line of a million states overflows no stack") {
  const State states = 1'000'000;
  const Dfa dfa = line(states);
  const Components components = strongly_connected_components(dfa);
  CHECK(components.count == states);
  CHECK(components.of[0] == 0);
  CHECK(components.of[states - 1] == states - 1);
  CHECK(ShortestWords(dfa).to(states - 1)->size() == states - 1);
  CHECK(reachable_states(dfa)[states - 1]);
}

TEST_CASE("a closure that is too large is refused") {
  const Dfa dfa = line(1000);
  const auto arcs = condensation(dfa, strongly_connected_components(dfa));
  CHECK_THROWS_AS(ComponentReachability(arcs, 1000), LimitError);
  CHECK_FALSE(ComponentReachability(arcs).reaches(1, 0));
}
