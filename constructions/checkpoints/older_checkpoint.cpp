#include "krohn/constructions/checkpoints/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "krohn/groups/base/error.h"

namespace krohn {
namespace {

constexpr std::string_view kWeight = ".weight";

/// "model.layers.0.attn.k_projs.2.weight": part 2 of "model.layers.0.attn.k_proj.weight".
struct PartName {
  std::string whole;
  std::uint32_t part = 0;
};

std::optional<PartName> part_name(std::string_view name) {
  for (const std::string_view list : {".k_projs.", ".v_projs.", ".b_projs.", ".k_conv1ds.", ".v_conv1ds."}) {
    const std::size_t at = name.find(list);
    if (at == std::string_view::npos || !name.ends_with(kWeight)) continue;
    const std::size_t first = at + list.size(), last = name.size() - kWeight.size();
    if (first >= last) continue;
    PartName result{std::string(name.substr(0, first - 2)) + std::string(kWeight), 0};
    const auto [end, error] = std::from_chars(name.data() + first, name.data() + last, result.part);
    if (error == std::errc() && end == name.data() + last) return result;
  }
  return std::nullopt;
}

}  // namespace

HouseholderParts join_householders(TensorFile& file, std::uint32_t householders, const std::string& where) {
  std::map<std::string, std::map<std::uint32_t, std::string>> wholes;
  for (const auto& [name, tensor] : file.tensors)
    if (const auto found = part_name(name)) wholes[found->whole][found->part] = name;
  HouseholderParts result;
  for (const auto& [whole, parts] : wholes) {
    if (parts.size() != householders || parts.rbegin()->first + 1 != householders)
      throw InputError(where, fmt::format("\"{}\" is in {} parts up to number {}, and there are {} Householders", whole,
                                          parts.size(), parts.rbegin()->first, householders));
    if (file.tensors.contains(whole))
      throw InputError(where, fmt::format("tensor \"{}\" is there both whole and in parts", whole));
    Tensor joined;
    for (const auto& [part, name] : parts) {
      result[whole].push_back(name);
      Tensor tensor = std::move(file.tensors.extract(name).mapped());
      if (part == 0) {
        joined = std::move(tensor);
        continue;
      }
      const bool is_alike = tensor.dtype == joined.dtype && tensor.shape.size() == joined.shape.size() &&
                            !tensor.shape.empty() && tensor.bytes.size() * part == joined.bytes.size() &&
                            std::equal(tensor.shape.begin() + 1, tensor.shape.end(), joined.shape.begin() + 1);
      if (!is_alike) throw InputError(where, fmt::format("tensor \"{}\" is unlike the parts before it", name));
      joined.shape[0] += tensor.shape[0];
      joined.bytes.insert(joined.bytes.end(), tensor.bytes.begin(), tensor.bytes.end());
    }
    file.tensors.emplace(whole, std::move(joined));
  }
  return result;
}

TensorFile part_householders(TensorFile file, const HouseholderParts& parts) {
  for (const auto& [whole, names] : parts) {
    Tensor joined = std::move(file.tensors.extract(whole).mapped());
    joined.shape[0] /= names.size();
    const std::size_t size = joined.bytes.size() / names.size();
    for (std::size_t part = 0; part < names.size(); ++part) {
      const auto first = joined.bytes.begin() + static_cast<std::ptrdiff_t>(part * size);
      file.tensors[names[part]] = {joined.dtype, joined.shape, {first, first + static_cast<std::ptrdiff_t>(size)}};
    }
  }
  return file;
}

}  // namespace krohn
