// The parts of a verdict of `krohn verify` beside its JSON (command.cpp asks it); tests on random words.

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "krohn/automata/formats/json.h"
#include "krohn/simulate/evaluate/evaluate.h"
#include "tools/krohn/report/json_output.h"
#include "tools/krohn/report/verdict.h"
#include "tools/python/bindings/bindings.h"

namespace krohn::python {
namespace {

using nb::literals::operator""_a;

std::string sampled(const Network& network, const std::string& arithmetic, const std::string& order,
                    std::vector<std::uint64_t> lengths, std::uint64_t words, std::uint64_t seed, nb::object progress) {
  const ProgressListener listener(telling(std::move(progress)));
  const Working working;
  Progress told("testing letters");
  SampleOptions options;
  options.lengths = std::move(lengths);
  options.words = words;
  options.seed = seed;
  options.order = parse_order(order);
  options.progress = [&told](std::uint64_t done, std::uint64_t all) { told.update(done, all); };
  const SampleReport report = sample(network, ArithmeticName::parse(arithmetic), options);
  nlohmann::ordered_json json;
  for (const LengthReport& row : report.lengths)
    json["lengths"].push_back({{"length", row.length},
                               {"words", row.words},
                               {"right_states", row.right_state},
                               {"right_outputs", row.right_output},
                               {"letters", row.letters},
                               {"right_letters", row.right_letters}});
  json["first_error"] = report.failing_at ? nlohmann::ordered_json(*report.failing_at) : nlohmann::ordered_json();
  return json_text(json);
}

}  // namespace

void bind_verify(nb::module_& module) {
  nb::class_<TakenVerdict>(module, "Verdict")
      .def("headline", [](const TakenVerdict& verdict) { return verdict.headline; })
      .def("failing_word",
           [](const TakenVerdict& verdict) -> nb::object {
             if (!verdict.failing_word) return nb::none();
             const Word& word = *verdict.failing_word;
             return nb::cast(owned(std::vector<std::int64_t>(word.begin(), word.end()), {word.size()}));
           })
      .def(
          "save", [](const TakenVerdict& verdict, const std::string& path) { verdict.save(path); }, Unlocked(),
          "path"_a);
  module.def("sample", &sampled, "network"_a, "arithmetic"_a, "order"_a, "lengths"_a, "words"_a, "seed"_a,
             "progress"_a.none());
}

}  // namespace krohn::python
