// Networks: compiled, read, made from arrays, run, written.

#include <fmt/format.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "krohn/automata/draw/draw.h"
#include "krohn/automata/formats/json.h"
#include "krohn/constructions/build/planner.h"
#include "krohn/constructions/files/network_file.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/simulate/evaluate/evaluate.h"
#include "krohn/simulate/prove/verify_built.h"
#include "tools/krohn/models/subject.h"
#include "tools/krohn/models/target.h"
#include "tools/krohn/pictures/pictures.h"
#include "tools/krohn/report/classification.h"
#include "tools/krohn/report/output.h"
#include "tools/krohn/report/verdict.h"
#include "tools/python/bindings/bindings.h"

namespace krohn::python {
namespace {

using nb::literals::operator""_a;
using Text = std::optional<std::string>;
using GivenMatrices = Given<double, 3>;
using GivenMatrix = Given<double, 2>;

BuildOptions wishes_of(const Text& construction, const Text& precision, const Text& keys,
                       std::optional<std::int64_t> max_reflections, std::optional<std::uint64_t> max_dimension,
                       bool exact) {
  BuildOptions wishes;
  wishes.construction = construction;
  if (precision) wishes.precision = parse_precision(*precision);
  if (keys) wishes.keys = parse_key_style(*keys);
  wishes.max_reflections = max_reflections;
  wishes.max_dimension = max_dimension;
  wishes.exact = exact;
  return wishes;
}

Network compile(const Dfa& dfa, const std::string& source, const Text& construction, const Text& precision,
                const Text& keys, std::optional<std::int64_t> max_reflections,
                std::optional<std::uint64_t> max_dimension, bool exact, bool any_order, std::uint64_t max_pairs) {
  BuildOptions wishes = wishes_of(construction, precision, keys, max_reflections, max_dimension, exact);
  if (any_order && !wishes.precision) wishes.precision = Precision::kFp32;
  Choice choice;
  CertifyOptions how;
  how.any_order = true;
  how.arithmetic = wishes.precision.value_or(Precision::kFp32);
  how.max_pairs = max_pairs;
  if (any_order) choice = choose_by_proof(dfa, wishes, how, PlanRows::kNeeded);
  if (choice.failure) std::rethrow_exception(choice.failure);
  Network network = any_order ? *std::move(choice.network) : build(dfa, wishes);
  network.provenance.source = source;
  return wishes.precision ? quantise(network, *wishes.precision) : network;
}

std::string plans(const Dfa& dfa, const Text& construction, const Text& precision, const Text& keys,
                  std::optional<std::int64_t> max_reflections, std::optional<std::uint64_t> max_dimension, bool exact) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const PlanRow& row : plan(dfa, wishes_of(construction, precision, keys, max_reflections, max_dimension, exact)))
    rows.push_back(plan_to_json(row));
  return json_text(rows);
}

Eigen::MatrixXd matrix_of(const double* rows, std::size_t height, std::size_t width) {
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return Eigen::Map<const RowMajor>(rows, static_cast<Eigen::Index>(height), static_cast<Eigen::Index>(width));
}

template <class Array>
void require_shape(const char* name, const Array& array, std::initializer_list<std::size_t> shape) {
  std::size_t axis = 0;
  bool fits = true;
  for (const std::size_t extent : shape) fits = fits && array.shape(axis++) == extent;
  if (fits) return;
  std::vector<std::size_t> given;
  for (axis = 0; axis < array.ndim(); ++axis) given.push_back(array.shape(axis));
  throw InputError(
      name, fmt::format("has the shape ({}); it has to be ({})", fmt::join(given, ", "), fmt::join(shape, ", ")));
}

/// Gives a layer dense matrices: A [actions, n, n], B [actions, n, d], H_0 [n, d]. Without B the layer keeps its own.
void set_weights(Layer& layer, std::size_t actions, const GivenMatrices& a, const std::optional<GivenMatrices>& b,
                 const GivenMatrix& initial) {
  const std::size_t n = layer.dimension, d = layer.columns;
  require_shape("A", a, {actions, n, n});
  if (b) require_shape("B", *b, {actions, n, d});
  require_shape("initial", initial, {n, d});
  layer.transitions.resize(actions);
  for (std::size_t action = 0; action < actions; ++action) {
    layer.transitions[action].a = DenseMatrix{matrix_of(a.data() + action * n * n, n, n)};
    if (b) layer.transitions[action].b = matrix_of(b->data() + action * n * d, n, d);
  }
  layer.initial = matrix_of(initial.data(), n, d);
}

/// One layer that reads the letters themselves; codeword i stands for state i.
Network from_arrays(const Dfa& dfa, const GivenMatrices& a, const std::optional<GivenMatrices>& b,
                    const GivenMatrix& initial, const GivenMatrices& codewords) {
  Layer layer;
  layer.dimension = static_cast<std::uint32_t>(initial.shape(0));
  layer.columns = static_cast<std::uint32_t>(initial.shape(1));
  layer.labels = dfa.states();
  layer.initial_label = dfa.initial();
  require_shape("codewords", codewords, {dfa.states(), layer.dimension, layer.columns});
  const std::size_t numbers = initial.size();
  for (State state = 0; state < dfa.states(); ++state)
    layer.decoder.codewords.push_back(matrix_of(codewords.data() + state * numbers, layer.dimension, layer.columns));
  set_weights(layer, dfa.letters(), a, b, initial);
  Readout readout{{{}}};
  for (Letter letter = 0; letter < dfa.letters(); ++letter) layer.wiring.action_of.push_back(letter);
  for (State state = 0; state < dfa.states(); ++state) readout.next[0].push_back(state);
  Network network{dfa, {std::move(layer)}, std::move(readout), {"arrays", {}, {}, "given as arrays"}};
  validate(network);
  return network;
}

Network with_layer(const Network& network, std::size_t k, const GivenMatrices& a, const std::optional<GivenMatrices>& b,
                   const GivenMatrix& initial) {
  if (k >= network.layers.size())
    throw InputError(fmt::format("layer {}: the network has {} of them", k, network.layers.size()));
  Network changed = network;
  set_weights(changed.layers[k], changed.layers[k].transitions.size(), a, b, initial);
  changed.provenance.construction += ", given weights";
  validate(changed);
  return changed;
}

/// name, element type, shape, bytes.
using Part = std::tuple<std::string, std::string, std::vector<std::uint64_t>, nb::bytes>;

std::pair<std::vector<Part>, std::map<std::string, std::string>> tensors(const Network& network) {
  TensorFile file;
  {
    const Working working;
    file = to_tensors(network);
  }
  std::vector<Part> parts;
  for (const auto& [name, tensor] : file.tensors)
    parts.emplace_back(name, tensor.dtype, tensor.shape, nb::bytes(tensor.bytes.data(), tensor.bytes.size()));
  return {std::move(parts), std::move(file.metadata)};
}

constexpr std::int64_t kNothingRead = -1;
constexpr std::size_t kBlock = std::size_t{1} << 12;
constexpr std::size_t kMaxNumbers = std::size_t{1} << 27;

/// The readout after every letter, −1 where there is none.
nb::ndarray<nb::numpy, std::int64_t> run(const Network& network, const GivenWords& words, const std::string& arithmetic,
                                         const std::string& order) {
  const std::size_t count = words.shape(0), length = words.shape(1);
  const std::vector<Letter> letters = letters_of(words, network.automaton.letters());
  std::vector<std::int64_t> states(letters.size());
  {
    const Working working;
    const auto evaluator =
        make_evaluator(network, ArithmeticName::parse(arithmetic), Form::kStructured, parse_order(order));
    std::vector<State> block(kBlock);
    for (std::size_t word = 0; word < count; ++word) {
      evaluator->reset();
      for (std::size_t first = 0; first < length; first += kBlock) {
        Interruption::check();
        const std::size_t letters_now = std::min(kBlock, length - first), start = word * length + first;
        evaluator->run({letters.data() + start, letters_now}, {block.data(), letters_now});
        for (std::size_t i = 0; i < letters_now; ++i)
          states[start + i] = block[i] == kNoState ? kNothingRead : std::int64_t{block[i]};
      }
    }
  }
  return owned(std::move(states), {count, length});
}

/// All numbers of all layers, column by column, before the first letter and after every one.
nb::ndarray<nb::numpy, double> numbers(const Network& network, const GivenWords& word, const std::string& arithmetic,
                                       const std::string& order) {
  if (word.shape(0) != 1) throw InputError("numbers are those of one word");
  const std::size_t length = word.shape(1);
  const std::vector<Letter> letters = letters_of(word, network.automaton.letters());
  std::vector<double> all;
  {
    const Working working;
    const auto evaluator =
        make_evaluator(network, ArithmeticName::parse(arithmetic), Form::kStructured, parse_order(order));
    for (std::size_t t = 0; t <= length; ++t) {
      Interruption::check();
      if (t > 0) evaluator->step(letters[t - 1]);
      const std::vector<double> now = evaluator->numbers();
      if (now.size() * (length + 1) > kMaxNumbers)
        throw LimitError(fmt::format(
            "{} numbers after each of {} letters are too many for an array; take a shorter word", now.size(), length));
      all.insert(all.end(), now.begin(), now.end());
    }
  }
  const std::size_t width = all.size() / (length + 1);
  return owned(std::move(all), {length + 1, width});
}

std::string picture(const Network& network) {
  return render_dot(network_dot(network, source_in_words(network)), "svg", "dot");
}

std::string facts(const Network& network) {
  const NetworkSize size = size_of(network);
  return json_text(
      {{"construction", network.provenance.construction},
       {"source", source_in_words(network)},
       {"theorem", network.provenance.theorem},
       {"note", network.provenance.note},
       {"layers", size.layers},
       {"state_numbers", size.state_numbers},
       {"reflections_per_token",
        size.reflections_per_token < 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(size.reflections_per_token)},
       {"alphabet_sizes", size.alphabet_sizes},
       {"weights", size.weights}});
}

void write(const Network& network, const std::string& target, const std::string& path) {
  check_output_name(target, path);
  write_network(network, target, path);
}

}  // namespace

void bind_network(nb::module_& module) {
  const Unlocked unlocked;
  const Standard standard;
  module.def("plan", &plans, unlocked, "automaton"_a, "construction"_a, "precision"_a, "keys"_a, "max_reflections"_a,
             "max_dimension"_a, "exact"_a);
  module.def("targets", &target_names);
  module.def("target_constructions", &target_constructions, "target"_a);
  module.def("is_checkpoint_target", &is_checkpoint_target, "target"_a);
  module.def("is_cell_target", &is_cell_target, "target"_a);
  module.def(
      "export_checkpoint",
      [](const Dfa& dfa, const std::string& target, const std::string& folder) {
        check_output_name(target, folder);
        save_checkpoint(build_checkpoint(dfa, target), folder);
      },
      unlocked, "automaton"_a, "target"_a, "folder"_a);
  nb::class_<Network>(module, "Network")
      .def_static("compile", &compile, unlocked, "automaton"_a, "source"_a, "construction"_a, "precision"_a, "keys"_a,
                  "max_reflections"_a, "max_dimension"_a, "exact"_a, "any_order"_a, "max_pairs"_a)
      .def_static("load", &load_network, unlocked, "path"_a)
      .def_static("from_arrays", &from_arrays, standard, "automaton"_a, "a"_a, "b"_a.none(), "initial"_a, "codewords"_a)
      .def("with_layer", &with_layer, standard, "layer"_a, "a"_a, "b"_a.none(), "initial"_a)
      .def("automaton", [](const Network& network) { return network.automaton; })
      .def("facts", &facts, standard)
      .def("tensors", &tensors, standard)
      .def("run", &run, "words"_a, "arithmetic"_a, "order"_a)
      .def("numbers", &numbers, "word"_a, "arithmetic"_a, "order"_a)
      .def("write", &write, unlocked, "target"_a, "path"_a)
      .def("svg", &picture, unlocked);
}

// The parts of a verdict of `krohn verify` beside its JSON (command.cpp asks it); tests on random words.

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
