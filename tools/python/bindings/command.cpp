// The verbs of the command, asked in this process: the same work, options, limits and errors, and the answer as JSON.
// And what the command draws beside them.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "krohn/automata/formats/json.h"
#include "krohn/constructions/network/network.h"
#include "krohn/simulate/probe/probe_sums.h"
#include "tools/krohn/command.h"
#include "tools/krohn/models/kit.h"
#include "tools/krohn/models/subject.h"
#include "tools/krohn/pictures/pictures.h"
#include "tools/krohn/report/classification.h"
#include "tools/krohn/report/output.h"
#include "tools/krohn/report/page_data.h"
#include "tools/python/bindings/bindings.h"

namespace krohn::python {
namespace {

using nb::literals::operator""_a;

/// The exit status, what --json prints, and the verdict, or None where the verb gives none.
std::tuple<int, std::string, std::optional<TakenVerdict>> ask(std::vector<std::string> arguments, nb::object progress) {
  const ProgressListener listener(telling(std::move(progress)));
  const Working working;
  Asked asked = ask_command(std::move(arguments));
  return {asked.status, std::move(asked.json), std::move(asked.verdict)};
}

/// The page of `krohn report` with nothing in it but the stepper.
std::string stepper_page(const Network& network, const std::string& arithmetic) {
  Findings findings{.subject = source_in_words(network), .automaton = network.automaton};
  findings.network = network;
  findings.network->provenance.source = findings.subject;
  findings.arithmetic = arithmetic;
  return page_of(page_data(findings));
}

using Curve = std::pair<std::string, std::vector<std::vector<double>>>;

/// Points are (length, value, low, high).
std::string accuracy_picture(const std::string& title, const std::vector<Curve>& curves, std::uint64_t trained_from,
                             std::uint64_t trained_to) {
  AccuracyPicture picture{title, {}, {trained_from, trained_to}};
  for (const auto& [name, points] : curves) {
    AccuracyCurve curve{name, {}};
    for (const std::vector<double>& point : points)
      curve.points.push_back({static_cast<std::uint64_t>(point.at(0)), point.at(1), point.at(2), point.at(3)});
    picture.curves.push_back(std::move(curve));
  }
  return accuracy_plot(picture).finished();
}

std::vector<std::string> kit(const std::string& folder, std::uint64_t seed) {
  write_kit(folder, seed);
  std::vector<std::string> names;
  for (const KitModel& model : kit_models()) names.push_back(model.name);
  return names;
}

}  // namespace

void bind_command(nb::module_& module) {
  const Unlocked unlocked;
  module.attr("version") = KROHN_VERSION;
  module.def("ask", &ask, "arguments"_a, "progress"_a.none());
  module.def("stepper_page", &stepper_page, unlocked, "network"_a, "arithmetic"_a);
  module.def("accuracy_picture", &accuracy_picture, unlocked, "title"_a, "curves"_a, "trained_from"_a, "trained_to"_a);
  module.def("kit", &kit, unlocked, "folder"_a, "seed"_a);
}

// Which arithmetic a function of Python's has.

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
