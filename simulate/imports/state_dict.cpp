#include "krohn/simulate/imports/state_dict.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/groups/error.h"

namespace krohn {
std::string shape_text(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

void StateDict::fail(const std::string& why) const { throw InputError(where_, why); }

const Tensor& StateDict::tensor(const std::string& name) const {
  const auto found = file_.tensors.find(name);
  if (found == file_.tensors.end()) fail(fmt::format("it has no tensor {}", in_quotes(name)));
  return found->second;
}

const Shape& StateDict::shape(const std::string& name) const { return tensor(name).shape; }

std::vector<float> StateDict::take(const std::string& name, const Shape& expected) {
  const Tensor& found = tensor(name);
  if (found.shape != expected)
    fail(fmt::format("tensor {} has shape {}, and the others ask for {}", in_quotes(name), shape_text(found.shape),
                     shape_text(expected)));
  const auto numbers = floating_numbers(found);
  if (!numbers) fail(fmt::format("tensor {} holds {}, not floating-point numbers", in_quotes(name), found.dtype));
  std::vector<float> result;
  result.reserve(numbers->size());
  for (const double number : *numbers) {
    if (!std::isfinite(number)) fail(fmt::format("tensor {} holds a number that is not finite", in_quotes(name)));
    result.push_back(static_cast<float>(number));
    if (result.back() != number)
      fail(
          fmt::format("tensor {} holds {}, which fp32 does not have: rounding would make another model. Save it as "
                      "float32 (model.float()) and import that",
                      in_quotes(name), number));
  }
  taken_.insert(name);
  return result;
}

std::vector<std::string> StateDict::left() const {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : file_.tensors)
    if (!taken_.contains(name)) names.push_back(name);
  return names;
}

void StateDict::require_all_taken(const std::string& read_as) const {
  if (const auto names = left(); !names.empty())
    fail(fmt::format(
        "tensor {} of shape {} belongs to nothing in {}: krohn does not ignore tensors it does not understand{}",
        in_quotes(names.front()), shape_text(shape(names.front())), read_as,
        names.front().ends_with(".weight") && shape(names.front()).size() == 2
            ? "; an embedding or a read-out of another name is named with --embedding PREFIX or --head PREFIX"
            : ""));
}

}  // namespace krohn
