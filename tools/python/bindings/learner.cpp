// Learning an automaton from a Python function.

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "krohn/groups/base/error.h"
#include "krohn/simulate/learned/extract_automaton.h"
#include "tools/python/bindings/bindings.h"

namespace krohn::python {
namespace {

using nb::literals::operator""_a;

/// Words one behind the other: all letters, and how many belong to each. Python answers with an array of one output
/// each.
AnswerOracle oracle_of(nb::callable ask) {
  return [ask = std::move(ask)](std::span<const Word> words, std::span<Output> answers) {
    std::vector<std::int64_t> letters, lengths;
    for (const Word& word : words) {
      letters.insert(letters.end(), word.begin(), word.end());
      lengths.push_back(static_cast<std::int64_t>(word.size()));
    }
    const std::size_t total = letters.size();
    const auto said = nb::cast<Given<std::int64_t, 1>>(
        ask(owned(std::move(letters), {total}), owned(std::move(lengths), {words.size()})));
    if (said.shape(0) != words.size()) throw InputError("answers", "not one for every word");
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (said.data()[i] < 0 || said.data()[i] >= std::int64_t{UINT32_MAX})
        throw InputError("answers", "answer " + std::to_string(i) + " is " + std::to_string(said.data()[i]));
      answers[i] = static_cast<Output>(said.data()[i]);
    }
  };
}

Dfa hypothesis(const AutomatonLearner& learner, const std::vector<std::string>& letters,
               std::vector<std::string> output_names) {
  return learner.hypothesis(Alphabet::from_names(letters), std::move(output_names));
}

}  // namespace

/// Without the guards of other long work: the time is spent in the Python function, in its own surroundings.
void bind_learner(nb::module_& module) {
  nb::class_<AutomatonLearner>(module, "Learner")
      .def(
          "__init__",
          [](AutomatonLearner* learner, Letter letters, nb::callable ask, std::uint64_t max_states) {
            new (learner) AutomatonLearner(letters, oracle_of(std::move(ask)), max_states);
          },
          "letters"_a, "ask"_a, "max_states"_a)
      .def_prop_ro("states", &AutomatonLearner::states)
      .def_prop_ro("questions", &AutomatonLearner::questions)
      .def("hypothesis", &hypothesis, "letters"_a, "output_names"_a)
      .def(
          "refine",
          [](AutomatonLearner& learner, const Given<std::int64_t, 1>& word) {
            Word letters;
            for (std::size_t t = 0; t < word.size(); ++t) letters.push_back(static_cast<Letter>(word.data()[t]));
            learner.refine(letters);
          },
          "word"_a);
}

}  // namespace krohn::python
