// A cascade as a chain of boxes: what each layer is, and how much it hands on.
#include <fmt/format.h>

#include <algorithm>

#include "krohn/automata/draw/draw_style.h"
#include "krohn/groups/counted.h"

namespace krohn {

namespace {

/// "3 permutations, 2 resets"; a layer of width 1 has neither.
std::string actions_text(const CascadeLayer& layer) {
  const auto permutations = static_cast<std::size_t>(std::count_if(
      layer.actions.begin(), layer.actions.end(), [](const Transformation& t) { return t.is_permutation(); }));
  const std::size_t resets = layer.actions.size() - permutations;
  if (resets == 0) return counted(permutations, "permutation");
  if (permutations == 0) return counted(resets, "reset");
  return counted(permutations, "permutation") + ", " + counted(resets, "reset");
}

std::string layer_node(std::size_t index, const CascadeLayer& layer, const DrawOptions& options) {
  const bool is_group = !layer.component.empty() && layer.component != "trivial";
  const DrawColours colours = options.colour_components ? component_colours(is_group ? 0 : 1) : kPlainColours;
  const std::string label = fmt::format("layer {}<BR/>{}<BR/>{}<BR/>{}", index + 1, counted(layer.width, "label"),
                                        is_group ? group_html(layer.component) : "resets only", actions_text(layer));
  return fmt::format("  layer{} [label=<{}>, fillcolor=\"{}\", color=\"{}\"];\n", index + 1, label, colours.fill,
                     colours.line);
}

}  // namespace

std::string to_drawn_dot(const Cascade& cascade, const DrawOptions& options) {
  std::string text = dot_header(options);
  text += "  compound=true;\n  node [shape=box, style=\"rounded,filled\", margin=\"0.18,0.1\"];\n";
  text += fmt::format("  letter [shape=plaintext, style=\"\", label={}];\n",
                      dot_quoted("letter\nof " + std::to_string(cascade.alphabet.size())));
  text += "  state [shape=plaintext, style=\"\", label=\"state\"];\n";
  text += fmt::format("  subgraph cluster_layers {{\n  style=rounded; color=\"{}\"; margin=16;\n", kNoteColours.line);
  for (std::size_t i = 0; i < cascade.layers.size(); ++i) text += layer_node(i, cascade.layers[i], options);
  text += "  }\n";
  for (std::size_t i = 1; i < cascade.layers.size(); ++i)
    text += fmt::format("  layer{} -> layer{} [label={}];\n", i, i + 1,
                        dot_quoted(" " + counted(cascade.layers[i].wiring.action_of.size(), "context") + " "));
  if (cascade.layers.empty()) return text + "  letter -> state;\n}\n";
  text += "  letter -> layer1;\n";
  text += fmt::format("  layer{} -> state [ltail=cluster_layers, label=\" all labels \"];\n", cascade.layers.size());
  return text + "}\n";
}

}  // namespace krohn
