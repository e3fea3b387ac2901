#include "krohn/simulate/imports/settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/groups/error.h"

namespace krohn {

const double* Settings::find(const std::string& name) {
  known_.insert(name);
  const auto found = given_.find(name);
  return found == given_.end() ? nullptr : &found->second;
}

std::uint32_t Settings::count(const std::string& name, const std::string& why) {
  const double* const found = find(name);
  if (found == nullptr) throw InputError("--with", fmt::format("{}: say --with {}=N", why, name));
  if (*found < 1 || *found > 1 << 16 || *found != std::floor(*found))
    throw InputError("--with", fmt::format("{}={} is not a number from 1 to {}", name, *found, 1 << 16));
  return static_cast<std::uint32_t>(*found);
}

double Settings::real(const std::string& name, double usual, bool may_be_none) {
  const double* const found = find(name);
  if (found == nullptr) return usual;
  if (!(*found > 0 || (may_be_none && *found == 0)) || *found > 1e6)
    throw InputError("--with", fmt::format("{}={} is not {}", name, *found,
                                           may_be_none ? "a number above 0, or 0 for none" : "a number above 0"));
  return *found;
}

bool Settings::flag(const std::string& name) {
  const double* const found = find(name);
  if (found != nullptr && *found != 0 && *found != 1)
    throw InputError("--with", fmt::format("{} is so (1) or not (0), and not {}", name, *found));
  return found != nullptr && *found == 1;
}

bool Settings::needed_flag(const std::string& name, const std::string& why) {
  if (find(name) == nullptr) throw InputError("--with", fmt::format("{}: say --with {}=1 or {}=0", why, name, name));
  return flag(name);
}

void Settings::require_all_taken() const {
  for (const auto& [name, value] : given_)
    if (!known_.contains(name))
      throw InputError("--with",
                       fmt::format("{} is no setting of a model of kind {}; {}", in_quotes(name), kind_,
                                   known_.empty() ? "it has none" : fmt::format("it has {}", fmt::join(known_, ", "))));
}

}  // namespace krohn
