#include "krohn/groups/transformations/components.h"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/strong_components.hpp>

namespace krohn {

std::vector<std::uint32_t> strong_components(std::uint32_t nodes, std::uint32_t letters,
                                             std::span<const std::uint32_t> table) {
  boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS> graph(nodes);
  for (std::size_t edge = 0; edge < table.size(); ++edge) boost::add_edge(edge / letters, table[edge], graph);
  std::vector<std::uint32_t> component(nodes);
  boost::strong_components(graph,
                           boost::make_iterator_property_map(component.begin(), get(boost::vertex_index, graph)));
  return component;
}

}  // namespace krohn
