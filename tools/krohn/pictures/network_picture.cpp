#include "tools/krohn/pictures/pictures.h"

#include <fmt/format.h>

#include "krohn/automata/draw/draw.h"
#include "krohn/groups/base/error.h"
#include "tools/krohn/report/output.h"

namespace krohn {
namespace {

constexpr std::size_t kShownActions = 12;
constexpr std::size_t kShownLayers = 12;
constexpr std::size_t kShownText = 36;

std::string describe_turns(const RotationBlocks& rotation) {
  std::vector<std::string> parts;
  for (const RotationBlocks::Block& block : rotation.blocks) {
    const Turn turn = block.turn.normalised();
    if (block.is_sign)
      parts.push_back(turn.numerator == 0 ? "+1" : "−1");
    else
      parts.push_back(turn.numerator == 0 ? "turn 0" : fmt::format("turn {}/{}", turn.numerator, turn.denominator));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// Labels are counted from 0, as the states of an automaton are where they have no names.
std::string describe_map(const Transformation& map) {
  if (map.is_identity()) return "keep";
  if (const auto constant = map.constant_image()) return fmt::format("set to {}", *constant);
  if (!map.is_permutation()) return fmt::format("[{}]", fmt::join(map.images(), " "));
  std::string cycles;
  for (const auto& cycle : map.to_permutation().cycles()) cycles += fmt::format("({})", fmt::join(cycle, " "));
  return cycles;
}

/// True for e_i − e_j, also doubled: what a product of swaps is made of.
bool swaps_two(const Reflection& reflection) {
  const auto& entries = reflection.entries;
  return (entries.size() == 2 || entries.size() == 4) && entries[0].value == -entries[1].value;
}

/// "swap 0 1" for a key e_0 − e_1, whatever its scale and whether it is doubled; "mirror 1/10" for a line at that turn.
std::string describe_reflection(const Reflection& reflection) {
  if (reflection.entries.empty()) {
    const Turn line = reflection.angle.normalised();
    return fmt::format("mirror {}/{}", line.numerator, line.denominator);
  }
  if (swaps_two(reflection))
    return fmt::format("swap {} {}", reflection.entries[0].position, reflection.entries[1].position);
  return reflection.entries.size() == 1 ? fmt::format("negate {}", reflection.entries[0].position) : "reflection";
}

std::string describe_product(const ReflectionProduct& product) {
  if (product.factors.empty()) return "keep";
  std::vector<std::string> factors;
  for (const Reflection& factor : product.factors) factors.push_back(describe_reflection(factor));
  return fmt::format("{}", fmt::join(factors, ", "));
}

std::string describe_matrix(const Matrix& matrix) {
  if (const auto* map = std::get_if<MapMatrix>(&matrix)) return describe_map(map->map);
  if (const auto* rotation = std::get_if<RotationBlocks>(&matrix)) return describe_turns(*rotation);
  if (const auto* product = std::get_if<ReflectionProduct>(&matrix)) return describe_product(*product);
  return form_name(matrix);
}

/// The coordinate that B sets to 1 from zero, when it is one one-hot column.
std::optional<Eigen::Index> set_coordinate(const Eigen::MatrixXd& b) {
  if (b.cols() != 1) return std::nullopt;
  Eigen::Index row = 0;
  if (b.col(0).maxCoeff(&row) != 1 || b.col(0).cwiseAbs().sum() != 1) return std::nullopt;
  return row;
}

/// The actions of a layer: descriptions with the letters (first layer) that call for them.
std::vector<std::pair<std::string, std::string>> rows_of(const Network& network, std::size_t index) {
  const Layer& layer = network.layers[index];
  std::vector<std::string> callers(layer.transitions.size());
  const Alphabet& alphabet = network.automaton.alphabet();
  if (index == 0)
    for (Letter letter = 0; letter < alphabet.size(); ++letter) {
      std::string& names = callers[layer.wiring.action_of[letter]];
      names += (names.empty() ? "" : " ") + alphabet.name(letter);
    }
  std::vector<std::pair<std::string, std::string>> rows;
  for (std::size_t action = 0; action < layer.transitions.size(); ++action)
    rows.emplace_back(index == 0 ? callers[action] : fmt::format("action {}", action + 1),
                      describe_action(layer.transitions[action]));
  return rows;
}

std::string layer_node(const Network& network, std::size_t index) {
  const Layer& layer = network.layers[index];
  std::string text = fmt::format(
      R"(  layer{0} [label=<<table border="0" cellborder="0" cellspacing="0" cellpadding="3"><tr><td colspan="2"><b>layer {0}</b></td></tr>)",
      index + 1);
  text += fmt::format(
      R"(<tr><td colspan="2">{}{}, {}</td></tr><hr/>)", layer.columns == 1 ? "" : fmt::format("{}×", layer.dimension),
      counted(layer.columns == 1 ? layer.dimension : layer.columns, "number"), counted(layer.labels, "label"));
  const auto rows = rows_of(network, index);
  for (std::size_t i = 0; i < std::min(rows.size(), kShownActions); ++i)
    text += fmt::format(R"(<tr><td align="left">{}</td><td align="left">{}</td></tr>)",
                        html(shortened(rows[i].first, kShownText)), html(shortened(rows[i].second, kShownText)));
  if (rows.size() > kShownActions)
    text += fmt::format(R"(<tr><td colspan="2">… {} more</td></tr>)", rows.size() - kShownActions);
  return text + "</table>>, shape=box, style=\"rounded,filled\", fillcolor=\"#eaf1fb\", color=\"#5b7fb4\"];\n";
}

std::string edges(std::size_t layers, std::size_t all) {
  std::string text = "  letters -> layer1;\n";
  for (std::size_t layer = 1; layer < layers; ++layer)
    text += fmt::format("  layer{} -> layer{} [label=\"letter, labels\"];\n", layer, layer + 1);
  if (layers < all) {
    text += fmt::format("  more [label=\"… {} more layers\", shape=plaintext];\n  layer{} -> more;\n", all - layers,
                        layers);
    return text + "  more -> readout;\n";
  }
  return text + fmt::format("  layer{} -> readout;\n", layers);
}

}  // namespace

std::string describe_action(const Transition& transition) {
  const bool adds = transition.b.size() > 0 && !transition.b.isZero(0);
  if (!std::holds_alternative<ZeroMatrix>(transition.a))
    return describe_matrix(transition.a) + (adds ? ", then add" : "");
  if (!adds) return "set to 0";
  const auto coordinate = set_coordinate(transition.b);
  return coordinate ? fmt::format("set to {}", *coordinate) : "set";
}

std::string network_dot(const Network& network, const std::string& title) {
  std::string text = "digraph network {\n  rankdir=LR;\n  fontname=\"Helvetica,Arial,sans-serif\";\n";
  text +=
      "  node [fontname=\"Helvetica,Arial,sans-serif\", fontsize=12];\n  edge "
      "[fontname=\"Helvetica,Arial,sans-serif\", fontsize=10, "
      "color=\"#555555\"];\n";
  text += fmt::format("  label=<{}>;\n  labelloc=t;\n", html(title));
  text += fmt::format("  letters [label=\"{}\", shape=plaintext];\n", counted(network.automaton.letters(), "letter"));
  const std::size_t shown = std::min(network.layers.size(), kShownLayers);
  for (std::size_t i = 0; i < shown; ++i) text += layer_node(network, i);
  text += fmt::format("  readout [label=\"{}\\n{}\", shape=plaintext];\n", counted(network.automaton.states(), "state"),
                      counted(network.automaton.output_names().size(), "output"));
  if (network.layers.empty()) return text + "  letters -> readout;\n}\n";
  return text + edges(shown, network.layers.size()) + "}\n";
}

}  // namespace krohn
