#include "tools/krohn/usual_name.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace krohn {

std::string usual_name(const std::string& text) {
  using Pair = std::pair<std::string_view, std::string_view>;
  static constexpr std::array<Pair, 22> kNames = {{{"float64", "fp64"},
                                                   {"f64", "fp64"},
                                                   {"double", "fp64"},
                                                   {"float32", "fp32"},
                                                   {"f32", "fp32"},
                                                   {"float", "fp32"},
                                                   {"single", "fp32"},
                                                   {"float16", "fp16"},
                                                   {"f16", "fp16"},
                                                   {"half", "fp16"},
                                                   {"bfloat16", "bf16"},
                                                   {"bfloat", "bf16"},
                                                   {"tensorfloat32", "tf32"},
                                                   {"pytorch", "torch"},
                                                   {"np", "numpy"},
                                                   {"npz", "numpy"},
                                                   {"fla", "fla-deltanet"},
                                                   {"deltanet", "fla-deltanet"},
                                                   {"deltaproduct", "fla-gated-deltaproduct"},
                                                   {"safetensors", "krohn"},
                                                   {"gpu", "cuda"},
                                                   {"graphviz", "dot"}}};
  std::string lower = text;
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  const auto found = std::ranges::find(kNames, std::string_view(lower), &Pair::first);
  return found == kNames.end() ? lower : std::string(found->second);
}

}  // namespace krohn
