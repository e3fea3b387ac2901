// automata/dfa/dfa_graph.h — a Dfa as a graph of the Boost Graph Library, without a copy: states are vertices, and
// every letter is an edge out of every state, in alphabet order. Models VertexListGraph, IncidenceGraph and
// AdjacencyGraph.
#pragma once

#include <boost/graph/graph_traits.hpp>
#include <boost/graph/properties.hpp>
#include <boost/iterator/counting_iterator.hpp>
#include <boost/iterator/iterator_facade.hpp>
#include <boost/property_map/property_map.hpp>
#include <cstddef>
#include <utility>

#include "krohn/automata/dfa/dfa.h"

namespace krohn {

/// One transition of a Dfa. Two letters with the same source and target are two (parallel) edges.
struct DfaArc {
  State source = 0;
  Letter letter = 0;
  State target = 0;
  friend auto operator<=>(const DfaArc&, const DfaArc&) = default;
};

/// Walks along one row of the table.
class DfaArcIterator
    : public boost::iterator_facade<DfaArcIterator, DfaArc, boost::random_access_traversal_tag, DfaArc> {
 public:
  DfaArcIterator() = default;
  DfaArcIterator(const Dfa& dfa, State source, Letter letter)
      : row_(dfa.row(source).data()), source_(source), letter_(letter) {}

 private:
  friend class boost::iterator_core_access;
  DfaArc dereference() const { return {source_, letter_, row_[letter_]}; }
  bool equal(const DfaArcIterator& other) const { return source_ == other.source_ && letter_ == other.letter_; }
  void increment() { ++letter_; }
  void decrement() { --letter_; }
  void advance(std::ptrdiff_t steps) { letter_ = static_cast<Letter>(letter_ + steps); }
  std::ptrdiff_t distance_to(const DfaArcIterator& other) const {
    return static_cast<std::ptrdiff_t>(other.letter_) - static_cast<std::ptrdiff_t>(letter_);
  }

  const State* row_ = nullptr;
  State source_ = 0;
  Letter letter_ = 0;
};

/// A Dfa as a graph for the algorithms of the library.
struct DfaTraversal : public virtual boost::vertex_list_graph_tag,
                      public virtual boost::incidence_graph_tag,
                      public virtual boost::adjacency_graph_tag {};

inline std::size_t num_vertices(const Dfa& dfa) { return dfa.states(); }

inline std::pair<boost::counting_iterator<State>, boost::counting_iterator<State>> vertices(const Dfa& dfa) {
  return {boost::counting_iterator<State>(0), boost::counting_iterator<State>(dfa.states())};
}

inline Letter out_degree(State, const Dfa& dfa) { return dfa.letters(); }

inline std::pair<DfaArcIterator, DfaArcIterator> out_edges(State state, const Dfa& dfa) {
  return {DfaArcIterator(dfa, state, 0), DfaArcIterator(dfa, state, dfa.letters())};
}

inline std::pair<const State*, const State*> adjacent_vertices(State state, const Dfa& dfa) {
  return {dfa.row(state).data(), dfa.row(state).data() + dfa.letters()};
}

inline State source(const DfaArc& transition, const Dfa&) { return transition.source; }
inline State target(const DfaArc& transition, const Dfa&) { return transition.target; }

inline boost::typed_identity_property_map<State> get(boost::vertex_index_t, const Dfa&) { return {}; }
inline State get(boost::vertex_index_t, const Dfa&, State state) { return state; }

}  // namespace krohn

namespace boost {

template <>
struct graph_traits<krohn::Dfa> {
  using vertex_descriptor = krohn::State;
  using edge_descriptor = krohn::DfaArc;
  using directed_category = directed_tag;
  using edge_parallel_category = allow_parallel_edge_tag;
  using traversal_category = krohn::DfaTraversal;
  using vertex_iterator = counting_iterator<krohn::State>;
  using out_edge_iterator = krohn::DfaArcIterator;
  using adjacency_iterator = const krohn::State*;
  using vertices_size_type = std::size_t;
  using degree_size_type = krohn::Letter;
  using edges_size_type = std::size_t;
  static vertex_descriptor null_vertex() { return UINT32_MAX; }
};

template <>
struct property_map<krohn::Dfa, vertex_index_t> {
  using type = typed_identity_property_map<krohn::State>;
  using const_type = type;
};

}  // namespace boost
