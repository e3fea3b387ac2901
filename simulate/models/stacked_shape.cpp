#include <fmt/format.h>

#include "krohn/simulate/models/model_parts.h"
#include "krohn/simulate/models/stacked_model.h"

namespace krohn {
namespace {

constexpr std::uint32_t kMostLayers = 16, kMostTaps = 16, kMostUnits = 1 << 14;

constexpr char kReflectionGrammar[] =
    "a model of reflections is `deltaproduct:PART,PART,…` with layers=L, width=D, heads=H, keys=N, values=M, "
    "reflections=K (a token), signed (eigenvalues in [−1, 1], not [0, 1]), conv=TAPS, mlp=UNITS, plain (no SiLU)";
constexpr char kDiagonalGrammar[] =
    "a diagonal model is `diagonal:PART,PART,…` with layers=L, width=D, channels=C, states=N, signed (values in "
    "[−1, 1], not [0, 1]), complex (values of modulus at most 1), fixed (values that do not depend on the input), "
    "conv=TAPS, mlp=UNITS";
constexpr char kBlockGrammar[] =
    "Fan et al.'s model is `fan:PART,PART,…` with layers=L, blocks=H, size=B, norm=P, generator=UNITS, mlp=UNITS";

StackedShape reflection_shape(std::string_view text) {
  ModelParts parts(text, kReflectionGrammar);
  ReflectionShape shape;
  StackedShape stacked;
  stacked.layers = parts.count("layers", 1, kMostLayers).value_or(1);
  shape.width = parts.count("width").value_or(shape.width);
  shape.heads = parts.count("heads").value_or(shape.heads);
  const auto keys = parts.count("keys"), values = parts.count("values");
  if ((!keys || !values) && shape.width % shape.heads != 0)
    parts.refuse(fmt::format("{} heads do not divide the width {}; change heads= or width=, or give keys= and values=",
                             shape.heads, shape.width));
  shape.keys = keys.value_or(shape.width / shape.heads);
  shape.values = values.value_or(shape.width / shape.heads);
  shape.reflections = parts.count("reflections", 1, 64).value_or(1);
  shape.taps = parts.count("conv", 0, kMostTaps).value_or(0);
  shape.negative = parts.has("signed");
  shape.plain = parts.has("plain");
  stacked.mlp = parts.count("mlp", 0, kMostUnits).value_or(2 * shape.width);
  parts.require_all_taken();
  stacked.mixer = shape;
  return stacked;
}

StackedShape diagonal_shape(std::string_view text) {
  ModelParts parts(text, kDiagonalGrammar);
  DiagonalShape shape;
  StackedShape stacked;
  stacked.layers = parts.count("layers", 1, kMostLayers).value_or(1);
  shape.width = parts.count("width").value_or(shape.width);
  shape.channels = parts.count("channels").value_or(2 * shape.width);
  shape.states = parts.count("states", 1, 256).value_or(shape.states);
  shape.taps = parts.count("conv", 0, kMostTaps).value_or(shape.taps);
  shape.negative = parts.has("signed");
  shape.fixed = parts.has("fixed");
  shape.complex = parts.has("complex");
  if (shape.complex && shape.negative) parts.refuse("complex values have every argument; leave signed out");
  stacked.mlp = parts.count("mlp", 0, kMostUnits).value_or(0);
  parts.require_all_taken();
  stacked.mixer = shape;
  return stacked;
}

StackedShape block_shape(std::string_view text) {
  ModelParts parts(text, kBlockGrammar);
  BlockShape shape;
  StackedShape stacked;
  stacked.layers = parts.count("layers", 1, kMostLayers).value_or(1);
  shape.blocks = parts.count("blocks", 1, 1024).value_or(shape.blocks);
  shape.size = parts.count("size", 1, 128).value_or(shape.size);
  shape.norm = parts.positive("norm", 16).value_or(shape.norm);
  if (shape.norm < 1) parts.refuse(fmt::format("norm={} is below 1, so no norm", shape.norm));
  shape.generator = parts.count("generator", 0, kMostUnits).value_or(0);
  const auto mlp = parts.count("mlp", 0, kMostUnits);
  if (mlp.value_or(0) > 0 && stacked.layers == 1)
    parts.refuse("one layer is read out as it is; mlp= needs layers=2 or more");
  stacked.mlp = mlp.value_or(stacked.layers == 1 ? 0 : 2 * shape.width());
  parts.require_all_taken();
  stacked.mixer = shape;
  return stacked;
}

std::string parts_of(const ReflectionShape& shape) {
  return fmt::format("width={},heads={},keys={},values={},reflections={}{}{}{}", shape.width, shape.heads, shape.keys,
                     shape.values, shape.reflections, shape.negative ? ",signed" : "",
                     shape.taps > 0 ? fmt::format(",conv={}", shape.taps) : "", shape.plain ? ",plain" : "");
}

std::string parts_of(const DiagonalShape& shape) {
  return fmt::format("width={},channels={},states={},conv={}{}{}{}", shape.width, shape.channels, shape.states,
                     shape.taps, shape.negative ? ",signed" : "", shape.complex ? ",complex" : "",
                     shape.fixed ? ",fixed" : "");
}

std::string parts_of(const BlockShape& shape) {
  return fmt::format("blocks={},size={},norm={}{}", shape.blocks, shape.size, shape.norm,
                     shape.generator > 0 ? fmt::format(",generator={}", shape.generator) : "");
}

}  // namespace

StackedShape parse_stacked_shape(std::string_view text) {
  const std::string_view family = text.substr(0, text.find(':'));
  if (family == "deltaproduct") return reflection_shape(text);
  if (family == "diagonal") return diagonal_shape(text);
  return block_shape(text);
}

std::string to_string(const StackedShape& shape) {
  constexpr const char* kFamilies[] = {"deltaproduct", "diagonal", "fan"};
  static_assert(std::size(kFamilies) == std::variant_size_v<decltype(shape.mixer)>, "every mixer has a name");
  return fmt::format("{}:layers={},{}{}", kFamilies[shape.mixer.index()], shape.layers,
                     std::visit([](const auto& mixer) { return parts_of(mixer); }, shape.mixer),
                     shape.is_bare() ? "" : fmt::format(",mlp={}", shape.mlp));
}

}  // namespace krohn
