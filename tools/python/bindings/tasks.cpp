// The tasks of the literature as arrays.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "krohn/automata/formats/json.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/simulate/learned/extract_automaton.h"
#include "krohn/simulate/tasks/tasks.h"
#include "tools/krohn/models/tasks_written.h"
#include "tools/krohn/report/output.h"
#include "tools/python/bindings/bindings.h"

namespace krohn::python {
namespace {

using nb::literals::operator""_a;

/// At most this many numbers in one array: 2 GB.
constexpr std::uint64_t kMaxNumbers = std::uint64_t{1} << 28;
/// Where no answer is due: what PyTorch's losses ignore by default.
constexpr std::int64_t kNoTarget = -100;

/// Samples in rows, each filled up to the longest.
struct Rows {
  std::vector<std::int64_t> inputs, targets, lengths;
  std::size_t width = 0;
};

Rows draw(const Task& task, const DatasetOptions& options) {
  std::vector<std::vector<TaskToken>> samples;
  Rows rows;
  for (std::uint64_t i = 0; i < options.samples; ++i) {
    Interruption::check();
    const std::uint64_t index = options.first_index + i;
    samples.push_back(task.sample(sample_length(task, options, index), options.seed, index));
    rows.lengths.push_back(static_cast<std::int64_t>(samples.back().size()));
    rows.width = std::max(rows.width, samples.back().size());
    if (rows.width * options.samples > kMaxNumbers)
      throw LimitError("the data set would have more than 2^28 tokens; draw it in parts, by first_index");
  }
  rows.inputs.assign(samples.size() * rows.width, 0);
  rows.targets.assign(samples.size() * rows.width, kNoTarget);
  for (std::size_t row = 0; row < samples.size(); ++row)
    for (std::size_t t = 0; t < samples[row].size(); ++t) {
      rows.inputs[row * rows.width + t] = samples[row][t].letter;
      if (samples[row][t].target) rows.targets[row * rows.width + t] = *samples[row][t].target;
    }
  return rows;
}

/// Samples of the task that `make` makes, without the interpreter's lock.
template <class Make>
nb::tuple dataset(Make&& make, std::uint64_t samples, std::uint64_t least, std::uint64_t greatest, std::uint64_t seed,
                  std::uint64_t first_index) {
  if (samples > kMaxNumbers) throw LimitError("a data set has at most 2^28 samples");
  std::unique_ptr<Task> task;
  Rows rows;
  {
    const Working working;
    task = make();
    DatasetOptions options;
    options.samples = samples;
    options.lengths = {least, greatest};
    options.seed = seed;
    options.first_index = first_index;
    rows = draw(*task, options);
  }
  const std::vector<std::string> labels(task->labels().begin(), task->labels().end());
  const auto count = static_cast<std::size_t>(samples);
  return nb::make_tuple(owned(std::move(rows.inputs), {count, rows.width}),
                        owned(std::move(rows.targets), {count, rows.width}), owned(std::move(rows.lengths), {count}),
                        task->alphabet().names(), labels, task->info().chance);
}

nb::tuple dataset_of_name(const std::string& name, const std::optional<std::string>& generators, std::uint64_t samples,
                          std::uint64_t least, std::uint64_t greatest, std::uint64_t seed, std::uint64_t first_index) {
  const auto make = [&] {
    LanguageOptions reading;
    reading.generators = generators;
    return make_task(name, reading);
  };
  return dataset(make, samples, least, greatest, seed, first_index);
}

nb::tuple dataset_of_automaton(const Dfa& automaton, std::uint64_t samples, std::uint64_t least, std::uint64_t greatest,
                               std::uint64_t seed, std::uint64_t first_index) {
  const auto make = [&] { return language_task("the automaton", automaton); };
  return dataset(make, samples, least, greatest, seed, first_index);
}

}  // namespace

void bind_tasks(nb::module_& module) {
  module.def(
      "tasks", [] { return json_text(task_list()); }, Standard());
  module.def("dataset_of", &dataset_of_automaton, Standard(), "automaton"_a, "samples"_a, "least"_a, "greatest"_a,
             "seed"_a, "first_index"_a);
  module.def("dataset", &dataset_of_name, Standard(), "name"_a, "generators"_a.none(), "samples"_a, "least"_a,
             "greatest"_a, "seed"_a, "first_index"_a);
}

// Learning an automaton from a Python function.

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
