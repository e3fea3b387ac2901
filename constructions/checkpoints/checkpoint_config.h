// constructions/checkpoints/checkpoint_config.h — config.json of a checkpoint.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "krohn/constructions/checkpoints/checkpoint.h"

namespace krohn {

/// The limit of every width, count and real number of a config.
inline constexpr std::uint32_t kMaxExtent = 1u << 20;

/// Members of one JSON object. Views it.
class ConfigMembers {
 public:
  ConfigMembers(const nlohmann::json& object, std::string where) : object_(object), where_(std::move(where)) {}

  /// True if it is there and not null, which the libraries have for a count, a list or an object that is left out.
  bool has(const char* name) const;
  /// Each throws InputError naming the member when it is of another kind or out of range. A flag, a number or a name
  /// that is null is refused: in Python None is no default, but false, or no limit, or an error.
  std::uint32_t count(const char* name, std::uint32_t standard, std::uint32_t least = 1) const;
  bool flag(const char* name, bool standard) const;
  double real(const char* name, double standard, double least = 0) const;
  std::string text(const char* name, const char* standard) const;
  std::vector<std::string> texts(const char* name) const;
  bool is_empty(const char* name) const { return object_[name].empty(); }

  /// Refuses whatever differs from the one value that the emulation has.
  void require(const char* name, bool supported, const std::string& what) const;
  /// Refuses every member that nobody asked for, that is not known to be harmless in any library, nor in this one.
  void require_no_others(std::span<const std::string_view> harmless) const;
  [[noreturn]] void fail(const char* name, const std::string& what) const;

 private:
  bool is_given(const char* name) const;
  const nlohmann::json& object_;
  std::string where_;
  mutable std::set<std::string, std::less<>> asked_;
};

/// For the norms of Olmo Hybrid's heads, whatever the config says.
inline constexpr double kOlmoOutputEpsilon = 1e-5;

/// The members of config.json. Attention layers are named, though they are silent: the library's caches want one.
std::string format_hybrid_config(const CheckpointConfig& config);

/// `config` has the family, and what all families have. Throws as parse_config. Members of
/// attention layers are let pass.
CheckpointConfig parse_hybrid_config(const ConfigMembers& members, CheckpointConfig config);

/// The text of config.json, with every member that the library reads.
std::string format_config(const CheckpointConfig& config);

/// The inverse, with the library's defaults for members that are absent or null, and without regard to members known
/// not to change the logits. Throws InputError naming the member that is out of range, asks for a layer that krohn does
/// not have, or is not known: what a library added, a checkpoint may depend on.
CheckpointConfig parse_config(std::string_view text, const std::string& where);

}  // namespace krohn
