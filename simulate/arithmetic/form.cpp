#include "krohn/simulate/arithmetic/form.h"

#include <fmt/format.h>

#include "krohn/groups/error.h"

namespace krohn {

std::string to_string(Form form) { return form == Form::kStructured ? "structured" : "dense"; }

Form parse_form(std::string_view name) {
  if (name == "structured") return Form::kStructured;
  if (name == "dense") return Form::kDense;
  throw InputError(fmt::format("unknown form \"{}\"; use structured or dense", name));
}

}  // namespace krohn
