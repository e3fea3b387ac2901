#include <fmt/format.h>

#include "krohn/simulate/models/bilinear_model.h"
#include "krohn/simulate/models/model_parts.h"

namespace krohn {
namespace {

using Form = BilinearShape::Form;

/// First weights far below keep no digits in fp32, and at 1e-46 they are zeros, which training cannot leave.
constexpr double kLeastSpread = 1e-30, kMostSpread = 100;

constexpr char kGrammar[] =
    "a bilinear model is `bilinear:PART,PART,…` with one of full, diagonal, rotations, block=B, rank=R, and hidden=H, "
    "inputs=D, bias, input-bias, spread=S, bias-spread=S, frozen, scale-free";

void read_form(BilinearShape& shape, ModelParts& parts) {
  int forms = parts.has("full");
  if (parts.has("diagonal")) shape.form = Form::kBlocks, ++forms;
  if (parts.has("rotations")) shape.form = Form::kRotations, ++forms;
  if (const auto block = parts.count("block")) shape.form = Form::kBlocks, shape.block = *block, ++forms;
  if (const auto rank = parts.count("rank")) shape.form = Form::kFactored, shape.rank = *rank, ++forms;
  if (forms > 1)
    parts.refuse("its matrices have more than one form; keep one of full, diagonal, rotations, block, rank");
}

}  // namespace

BilinearShape parse_bilinear_shape(std::string_view text) {
  ModelParts parts(text, kGrammar);
  BilinearShape shape;
  read_form(shape, parts);
  shape.hidden = parts.count("hidden").value_or(shape.hidden);
  shape.inputs = parts.count("inputs").value_or(shape.inputs);
  shape.bias = parts.has("bias");
  shape.input_bias = parts.has("input-bias");
  shape.spread = parts.positive("spread", kMostSpread, kLeastSpread).value_or(0);
  shape.bias_spread = parts.positive("bias-spread", kMostSpread, kLeastSpread).value_or(0);
  if (shape.bias_spread > 0 && !shape.bias && !shape.input_bias)
    parts.refuse(
        "bias-spread is the first size of what is added to the state; add bias or input-bias, or leave it out");
  shape.frozen = parts.has("frozen");
  shape.scale_free = parts.has("scale-free");
  if (shape.scale_free && (shape.bias || shape.input_bias))
    parts.refuse("what is added to a state gives it a scale; leave out scale-free, or bias and input-bias");
  parts.require_all_taken();
  if (shape.hidden % shape.block_size() != 0)
    parts.refuse(fmt::format("blocks of {} do not divide {} hidden units; change hidden= or block=", shape.block_size(),
                             shape.hidden));
  return shape;
}

std::string to_string(const BilinearShape& shape) {
  std::string text = "bilinear:";
  if (shape.form == Form::kFull) text += "full";
  if (shape.form == Form::kBlocks) text += shape.block == 1 ? "diagonal" : fmt::format("block={}", shape.block);
  if (shape.form == Form::kRotations) text += "rotations";
  if (shape.form == Form::kFactored) text += fmt::format("rank={}", shape.rank);
  text += fmt::format(",hidden={},inputs={}", shape.hidden, shape.inputs);
  if (shape.bias) text += ",bias";
  if (shape.input_bias) text += ",input-bias";
  if (shape.spread > 0) text += fmt::format(",spread={}", shape.spread);
  if (shape.bias_spread > 0) text += fmt::format(",bias-spread={}", shape.bias_spread);
  if (shape.frozen) text += ",frozen";
  if (shape.scale_free) text += ",scale-free";
  return text;
}

}  // namespace krohn
