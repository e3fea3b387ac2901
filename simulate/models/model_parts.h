// simulate/models/model_parts.h — reads a model's name, "FAMILY:PART,KEY=VALUE,…".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace krohn {

/// The parts of a name, taken one by one. All functions throw InputError with the part and the family's grammar.
class ModelParts {
 public:
  /// `grammar`: the sentence that says what the family takes. Throws when a part stands twice.
  ModelParts(std::string_view text, std::string grammar);

  std::string_view family() const { return family_; }
  /// Whether the part stands there without a value.
  bool has(std::string_view part);
  /// KEY=N with least ≤ N ≤ greatest, or nothing.
  std::optional<std::uint32_t> count(std::string_view key, std::uint32_t least = 1, std::uint32_t greatest = 1 << 14);
  /// KEY=X with 0 < X and least ≤ X ≤ greatest, or nothing.
  std::optional<double> positive(std::string_view key, double greatest = 100, double least = 0);
  /// Throws naming the first part that nobody took.
  void require_all_taken() const;
  /// Throws with the whole name, what is wrong with it, and no grammar.
  [[noreturn]] void refuse(std::string_view why) const;

 private:
  struct Part {
    std::string_view text, key;
    std::optional<std::string_view> value;
    bool taken = false;
  };
  Part* take(std::string_view key, bool valued);
  [[noreturn]] void refuse(const Part& part, std::string_view needed) const;

  std::string text_, grammar_;
  std::string_view family_;
  std::vector<Part> parts_;
};

}  // namespace krohn
