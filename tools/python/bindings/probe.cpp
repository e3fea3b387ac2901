// Which arithmetic a function of Python's has.

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include "krohn/automata/formats/json.h"
#include "krohn/constructions/network/network.h"
#include "krohn/simulate/probe/probe_sums.h"
#include "tools/krohn/report/json_output.h"
#include "tools/krohn/report/plan_table.h"
#include "tools/python/bindings/bindings.h"

namespace krohn::python {
namespace {

using nb::literals::operator""_a;

/// The result, as JSON and in words.
std::pair<std::string, std::string> probe(const nb::callable& dot, const std::string& format, std::uint32_t terms,
                                          std::uint64_t compare) {
  const SumOfProducts sum = [&](std::span<const double> left, std::span<const double> right) {
    const auto given = [](std::span<const double> numbers) {
      return nb::cast(owned(std::vector<double>(numbers.begin(), numbers.end()), {numbers.size()}));
    };
    return nb::cast<double>(dot(given(left), given(right)));
  };
  const SumsSeen seen = probe_sums(parse_precision(format), sum, {.terms = terms, .compare = compare});
  return {json_text(probe_json(seen)), probe_text(seen)};
}

}  // namespace

void bind_probe(nb::module_& module) { module.def("probe", &probe, "dot"_a, "format"_a, "terms"_a, "compare"_a); }

}  // namespace krohn::python
