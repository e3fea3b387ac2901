#include "krohn/constructions/smallest/plan_sizes.h"

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <set>

#include "krohn/constructions/build/planner.h"
#include "krohn/constructions/network/network.h"

namespace krohn {
namespace {

using Rational = boost::multiprecision::cpp_rational;

constexpr std::size_t kEveryPrecision = 4;
constexpr std::size_t kMostEntries = 4096;  ///< of a system that is solved exactly

/// Whether each of the last columns is a combination of those before the last ones.
bool last_columns_depend(std::vector<std::vector<Rational>> columns, std::size_t questions) {
  std::vector<std::pair<std::size_t, std::size_t>> pivots;  // column, row
  for (std::size_t j = 0; j < columns.size(); ++j) {
    std::vector<Rational>& column = columns[j];
    for (const auto& [earlier, row] : pivots) {
      if (column[row] == 0) continue;
      const Rational times = column[row] / columns[earlier][row];
      for (std::size_t i = 0; i < column.size(); ++i) column[i] -= times * columns[earlier][i];
    }
    const auto pivot = std::ranges::find_if(column, [](const Rational& x) { return x != 0; });
    if (pivot == column.end()) continue;
    if (j + questions >= columns.size()) return false;
    pivots.emplace_back(j, static_cast<std::size_t>(pivot - column.begin()));
  }
  return true;
}

/// H_0 comes with its label, and need not be what the label's codeword is.
bool starts_at_codeword(const Layer& layer) {
  for (std::size_t i = 0; i < codeword_count(layer); ++i)
    if (codeword_label(layer, i) == layer.initial_label && codeword(layer, i) == layer.initial) return true;
  return false;
}

/// Whether what is shown is a linear function of the codewords of the only layer, or of them and 1.
bool reads_linearly(const Network& network, std::span<const std::uint32_t> shown, bool with_constant) {
  const Layer& layer = network.layers[0];
  if (!starts_at_codeword(layer)) return false;
  if (layer.decoder.unit_copies > 0) return true;
  const std::size_t codes = codeword_count(layer), numbers = std::size_t{layer.dimension} * layer.columns;
  const std::set<std::uint32_t> values(shown.begin(), shown.end());
  if (!layer.decoder.book.empty() || codes * (numbers + values.size()) > kMostEntries) return false;
  std::vector<std::vector<Rational>> columns(numbers + with_constant + values.size(), std::vector<Rational>(codes));
  for (std::size_t i = 0; i < codes; ++i) {
    const Eigen::MatrixXd code = codeword(layer, i);
    for (std::size_t k = 0; k < numbers; ++k) columns[k][i] = Rational(code.data()[k]);
    if (with_constant) columns[numbers][i] = 1;
    const State state = network.readout.next.at(0).at(codeword_label(layer, i));
    std::size_t at = numbers + with_constant;
    for (const std::uint32_t value : values) columns[at++][i] = state != kNoContext && shown[state] == value ? 1 : 0;
  }
  return last_columns_depend(std::move(columns), values.size());
}

bool is_identity(const Matrix& matrix) {
  const auto* map = std::get_if<MapMatrix>(&matrix);
  return map != nullptr && map->map.is_identity();
}

bool is_diagonal(const Matrix& matrix) {
  return is_identity(matrix) || std::holds_alternative<DiagonalMatrix>(matrix) ||
         std::holds_alternative<ZeroMatrix>(matrix) || std::holds_alternative<RotationBlocks>(matrix);
}

bool is_in_unit_interval(const Matrix& matrix) {
  const auto* diagonal = std::get_if<DiagonalMatrix>(&matrix);
  return is_identity(matrix) || std::holds_alternative<ZeroMatrix>(matrix) ||
         (diagonal != nullptr && std::ranges::all_of(diagonal->values, [](double x) { return x >= 0 && x <= 1; }));
}

PlanSize size_of_plan(const PlanRow& row, const Network& network, std::span<const std::uint32_t> shown) {
  PlanSize size;
  size.construction = row.construction;
  size.layers = row.layers;
  size.numbers = row.state_numbers;
  size.reflections = row.reflections;
  const bool exact = row.exact_in.size() == kEveryPrecision;
  const bool made_for_a_format = row.construction.starts_with("rotation-locked") ||
                                 row.construction.starts_with("rotation-grid") ||
                                 row.construction == "diagonal-unit-circle";
  size.has_finitely_many_values = row.snap_every == 0 && (exact || !made_for_a_format);
  size.is_diagonal = size.is_in_unit_interval = true;
  for (const Layer& layer : network.layers) {
    size.widest_numbers = std::max(size.widest_numbers, std::uint64_t{layer.dimension} * layer.columns);
    size.widest_labels = std::max(size.widest_labels, std::uint64_t{layer.labels});
    for (const Transition& transition : layer.transitions) {
      size.adds_inputs = size.adds_inputs || (transition.b.size() > 0 && !transition.b.isZero(0));
      size.is_diagonal = size.is_diagonal && is_diagonal(transition.a);
      size.is_in_unit_interval = size.is_in_unit_interval && is_in_unit_interval(transition.a);
    }
  }
  if (network.layers.size() != 1 || !exact) return size;
  size.reads_affinely = reads_linearly(network, shown, true);
  size.reads_linearly = size.reads_affinely && reads_linearly(network, shown, false);
  return size;
}

}  // namespace

std::vector<PlanSize> plan_sizes(const Dfa& automaton, std::span<const std::uint32_t> shown) {
  std::vector<PlanSize> sizes;
  plan(automaton, {},
       [&](const PlanRow& row, const Network& network) { sizes.push_back(size_of_plan(row, network, shown)); });
  return sizes;
}

}  // namespace krohn
