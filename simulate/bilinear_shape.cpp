#include <fmt/format.h>

#include <charconv>

#include "groups/error.h"
#include "simulate/bilinear_model.h"

namespace krohn {
namespace {

using Form = BilinearShape::Form;

constexpr std::string_view kName = "bilinear";
constexpr std::uint32_t kMaxExtent = 1 << 14;

constexpr char kGrammar[] =
    "a bilinear model is `bilinear:PART,PART,…` with parts full, diagonal, rotations, block=B, rank=R, hidden=H, "
    "inputs=D, bias, input-bias, spread=S, frozen";

std::uint32_t extent(std::string_view part, std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > kMaxExtent)
    throw InputError(fmt::format("model part \"{}\" needs a number from 1 to {}; {}", part, kMaxExtent, kGrammar));
  return value;
}

double positive(std::string_view part, std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value > 0) || value > 100)
    throw InputError(fmt::format("model part \"{}\" needs a number above 0 and at most 100; {}", part, kGrammar));
  return value;
}

void read_part(BilinearShape& shape, std::string_view part) {
  const std::size_t equals = part.find('=');
  const std::string_view key = part.substr(0, equals);
  const std::string_view value = equals == std::string_view::npos ? std::string_view() : part.substr(equals + 1);
  const bool is_plain = equals == std::string_view::npos;
  if (is_plain && key == "full") {
    shape.form = Form::kFull;
  } else if (is_plain && key == "diagonal") {
    shape.form = Form::kBlocks;
    shape.block = 1;
  } else if (is_plain && key == "rotations") {
    shape.form = Form::kRotations;
  } else if (is_plain && key == "bias") {
    shape.bias = true;
  } else if (is_plain && key == "input-bias") {
    shape.input_bias = true;
  } else if (is_plain && key == "frozen") {
    shape.frozen = true;
  } else if (!is_plain && key == "block") {
    shape.form = Form::kBlocks;
    shape.block = extent(part, value);
  } else if (!is_plain && key == "rank") {
    shape.form = Form::kFactored;
    shape.rank = extent(part, value);
  } else if (!is_plain && key == "hidden") {
    shape.hidden = extent(part, value);
  } else if (!is_plain && key == "inputs") {
    shape.inputs = extent(part, value);
  } else if (!is_plain && key == "spread") {
    shape.spread = positive(part, value);
  } else {
    throw InputError(fmt::format("model part \"{}\" is not known; {}", part, kGrammar));
  }
}

}  // namespace

BilinearShape parse_bilinear_shape(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (text.substr(0, colon) != kName) throw InputError(fmt::format("model \"{}\" is not known; {}", text, kGrammar));
  BilinearShape shape;
  std::string_view rest = colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    read_part(shape, rest.substr(0, comma));
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  if (shape.hidden % shape.block_size() != 0)
    throw InputError(fmt::format("model \"{}\": blocks of {} do not divide {} hidden units; change hidden= or block=",
                                 text, shape.block_size(), shape.hidden));
  return shape;
}

std::string to_string(const BilinearShape& shape) {
  std::string text = fmt::format("{}:", kName);
  if (shape.form == Form::kFull) text += "full";
  if (shape.form == Form::kBlocks) text += shape.block == 1 ? "diagonal" : fmt::format("block={}", shape.block);
  if (shape.form == Form::kRotations) text += "rotations";
  if (shape.form == Form::kFactored) text += fmt::format("rank={}", shape.rank);
  text += fmt::format(",hidden={},inputs={}", shape.hidden, shape.inputs);
  if (shape.bias) text += ",bias";
  if (shape.input_bias) text += ",input-bias";
  if (shape.spread > 0) text += fmt::format(",spread={}", shape.spread);
  if (shape.frozen) text += ",frozen";
  return text;
}

}  // namespace krohn
