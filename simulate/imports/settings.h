// simulate/imports/settings.h — what the user says of a model that its tensors do not (`--with heads=4,negative`).
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace krohn {

/// Taken one by one. All functions throw InputError naming the setting.
class Settings {
 public:
  /// `given` must outlive it.
  Settings(const std::map<std::string, double>& given, std::string kind) : given_(given), kind_(std::move(kind)) {}

  /// A number from 1 on. `why` says what the tensors leave open; it is told when the setting is missing.
  std::uint32_t count(const std::string& name, const std::string& why);
  /// A number above 0, or 0 for `none` where that is allowed.
  double real(const std::string& name, double usual, bool may_be_none = false);
  bool flag(const std::string& name);
  /// One that libraries have different defaults for: `why` is told when it is missing.
  bool needed_flag(const std::string& name, const std::string& why);
  /// Throws naming the first that nobody took, and all that somebody did.
  void require_all_taken() const;

 private:
  const double* find(const std::string& name);

  const std::map<std::string, double>& given_;
  std::string kind_;
  std::set<std::string> known_;
};

}  // namespace krohn
