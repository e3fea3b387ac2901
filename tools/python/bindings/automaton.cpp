// Automata, their algebra and their pictures.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/draw/draw.h"
#include "krohn/automata/formats/format_file.h"
#include "krohn/automata/formats/json.h"
#include "krohn/automata/monoid/algebra.h"
#include "krohn/automata/operations/accepted_words.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/automata/operations/nfa_operations.h"
#include "krohn/automata/operations/operations.h"
#include "krohn/automata/operations/questions.h"
#include "krohn/automata/syntax/regex.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/time_limit.h"
#include "tools/krohn/models/subject.h"
#include "tools/krohn/report/classification.h"
#include "tools/krohn/report/output.h"
#include "tools/python/bindings/bindings.h"

namespace krohn::python {
namespace {

using nb::literals::operator""_a;
using Text = std::optional<std::string>;
constexpr std::size_t kBlock = std::size_t{1} << 16;

Dfa load(const std::string& language, const Text& alphabet, const Text& symbols, const Text& format,
         const Text& generators, std::uint64_t max_states) {
  LanguageOptions options;
  options.alphabet = alphabet;
  options.symbols = symbols;
  options.format = format;
  options.generators = generators;
  options.max_states = max_states;
  return load_subject(language, options).automaton;
}

Dfa parse(const std::string& text, const std::string& format) {
  const auto known = format_of_extension(format);
  if (!known) throw InputError("format", "\"" + format + "\" is not one of dot, att, mata, jff, json");
  return read_automaton(text, "text", *known);
}

/// Table entries and outputs, none negative; the automaton checks what they may be at most.
std::vector<std::uint32_t> indices(const std::int64_t* given, std::size_t count, const char* what) {
  std::vector<std::uint32_t> copy(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (given[i] < 0 || given[i] >= std::int64_t{UINT32_MAX})
      throw InputError(what, "entry " + std::to_string(i) + " is " + std::to_string(given[i]));
    copy[i] = static_cast<std::uint32_t>(given[i]);
  }
  return copy;
}

Dfa moore(const Given<std::int64_t, 2>& table, std::int64_t initial, const Given<std::int64_t, 1>& outputs,
          std::vector<std::string> output_names, const std::vector<std::string>& letters) {
  if (table.shape(1) != letters.size())
    throw InputError("table",
                     std::to_string(table.shape(1)) + " columns for " + std::to_string(letters.size()) + " letters");
  if (table.shape(0) != outputs.shape(0))
    throw InputError("outputs",
                     std::to_string(outputs.shape(0)) + " of them for " + std::to_string(table.shape(0)) + " states");
  return Dfa::moore(Alphabet::from_names(letters), indices(table.data(), table.size(), "table"),
                    indices(&initial, 1, "initial").front(), indices(outputs.data(), outputs.size(), "outputs"),
                    std::move(output_names));
}

/// The state after every letter.
nb::ndarray<nb::numpy, std::int64_t> run(const Dfa& dfa, const GivenWords& words) {
  const std::size_t count = words.shape(0), length = words.shape(1);
  const std::vector<Letter> letters = letters_of(words, dfa.letters());
  std::vector<std::int64_t> states(letters.size());
  {
    const Working working;
    for (std::size_t word = 0; word < count; ++word) {
      State state = dfa.initial();
      for (std::size_t t = 0; t < length; ++t) {
        if (t % kBlock == 0) Interruption::check();
        state = dfa.next(state, letters[word * length + t]);
        states[word * length + t] = state;
      }
    }
  }
  return owned(std::move(states), {count, length});
}

std::vector<std::string> names_of(std::span<const std::string> names) { return {names.begin(), names.end()}; }

nb::ndarray<nb::numpy, std::int64_t> table_of(const Dfa& dfa) {
  return owned(std::vector<std::int64_t>(dfa.table().begin(), dfa.table().end()), {dfa.states(), dfa.letters()});
}

nb::ndarray<nb::numpy, std::int64_t> outputs_of(const Dfa& dfa) {
  return owned(std::vector<std::int64_t>(dfa.outputs().begin(), dfa.outputs().end()), {dfa.states()});
}

nb::ndarray<nb::numpy, std::int64_t> parse_word(const Dfa& dfa, const std::string& text) {
  const Word word = dfa.alphabet().parse_word(text);
  return owned(std::vector<std::int64_t>(word.begin(), word.end()), {word.size()});
}

std::string format_word(const Dfa& dfa, const GivenWords& word) {
  return dfa.alphabet().format_word(letters_of(word, dfa.letters()));
}

std::string word_in_powers(const Dfa& dfa, const GivenWords& word) {
  return in_powers(dfa.alphabet(), letters_of(word, dfa.letters()));
}

Text difference_word(const Dfa& a, const Dfa& b) {
  const auto word = distinguishing_word(a, b);
  if (!word) return std::nullopt;
  return refine(a.alphabet(), b.alphabet()).merged.format_word(*word);
}

/// The word of an answer over the letters of both, or nothing.
Text word_of(const DecidingWord& answer, const Dfa& a, const Dfa& b) {
  if (!answer.word) return std::nullopt;
  return common_alphabet(a, b).format_word(*answer.word);
}

Nfa operand(const Dfa& dfa, const char* operation) {
  require_acceptor(dfa, operation);
  return to_nfa(dfa);
}

/// The minimal automaton of an operation on nondeterministic ones.
auto changed(const char* name, Nfa operation(const Nfa& nfa)) {
  return [=](const Dfa& dfa) { return minimal_of(operation(operand(dfa, name)), kDefaultMaxStates); };
}
auto combined(const char* name, Nfa operation(const Nfa& a, const Nfa& b)) {
  return [=](const Dfa& a, const Dfa& b) {
    return minimal_of(operation(operand(a, name), operand(b, name)), kDefaultMaxStates);
  };
}
auto combined(const char* name, Nfa operation(const Nfa& a, const Nfa& b, std::uint64_t max_states)) {
  return [=](const Dfa& a, const Dfa& b) {
    return minimal_of(operation(operand(a, name), operand(b, name), kDefaultMaxStates), kDefaultMaxStates);
  };
}

Dfa projected(const Dfa& dfa, const std::string& letters) {
  return minimal_of(projection(operand(dfa, "projection"), parse_alphabet(letters)), kDefaultMaxStates);
}

/// Decimal digits: counts may have thousands.
std::string count_of_length(const Dfa& dfa, std::uint64_t length) {
  require_acceptor(dfa, "counting");
  const CountingGraph graph(dfa);
  std::vector<Count> counts = graph.counts_of_empty_word();
  for (std::uint64_t i = 0; i < length; ++i) counts = graph.one_letter_more(counts);
  return graph.states() == 0 ? "0" : counts[0].str();
}

std::vector<std::string> shortest_words(const Dfa& dfa, std::size_t count) { return first_accepted_texts(dfa, count); }

std::string picture(const Dfa& dfa, const std::string& title) {
  DrawOptions options;
  options.title = title;
  DrawnView view = DrawnView::kStates;
  const std::string dot = to_drawn_dot(dfa, options, &view);
  return render_dot(dot, "svg", engine_for(view, options.engine));
}

AlgebraOptions algebra_options(std::uint64_t max_elements, std::uint64_t max_classes) {
  AlgebraOptions options;
  options.max_elements = max_elements;
  options.green.max_r_classes = max_classes;
  return options;
}

std::string monoid(const Dfa& dfa, std::uint64_t max_elements, std::uint64_t max_classes) {
  return json_text(algebra_to_json(analyse(dfa, algebra_options(max_elements, max_classes))));
}

std::string egg_box(const Dfa& dfa) { return render_dot(egg_box_dot(dfa, analyse(dfa)), "svg", "dot"); }

}  // namespace

void bind_automaton(nb::module_& module) {
  const Unlocked unlocked;
  nb::class_<Dfa>(module, "Automaton")
      .def_static("load", &load, unlocked, "language"_a, "alphabet"_a = nb::none(), "symbols"_a = nb::none(),
                  "format"_a = nb::none(), "generators"_a = nb::none(), "max_states"_a = 10'000'000)
      .def_static("parse", &parse, unlocked, "text"_a, "format"_a)
      .def_static("moore", &moore, "table"_a, "initial"_a, "outputs"_a, "output_names"_a, "letters"_a)
      .def_prop_ro("states", &Dfa::states)
      .def_prop_ro("initial", &Dfa::initial)
      .def_prop_ro("is_acceptor", &Dfa::is_acceptor)
      .def("letters", [](const Dfa& dfa) { return dfa.alphabet().names(); })
      .def("output_names", [](const Dfa& dfa) { return names_of(dfa.output_names()); })
      .def("state_names", [](const Dfa& dfa) { return names_of(dfa.state_names()); })
      .def("table", &table_of)
      .def("outputs", &outputs_of)
      .def("run", &run, "words"_a)
      .def("parse_word", &parse_word, "text"_a)
      .def("format_word", &format_word, "word"_a)
      .def("in_powers", &word_in_powers, "word"_a)
      .def("minimise", &minimise, unlocked)
      .def("canonical", &canonical, unlocked)
      .def(
          "complement", [](const Dfa& dfa) { return complement(dfa); }, unlocked)
      .def(
          "union", [](const Dfa& a, const Dfa& b) { return union_of(a, b); }, unlocked, "other"_a)
      .def(
          "intersection", [](const Dfa& a, const Dfa& b) { return intersection_of(a, b); }, unlocked, "other"_a)
      .def(
          "difference", [](const Dfa& a, const Dfa& b) { return difference_of(a, b); }, unlocked, "other"_a)
      .def(
          "symmetric_difference", [](const Dfa& a, const Dfa& b) { return symmetric_difference_of(a, b); }, unlocked,
          "other"_a)
      .def("concatenation", combined("concatenation", concatenation), unlocked, "other"_a)
      .def("star", changed("star", star), unlocked)
      .def("plus", changed("plus", plus), unlocked)
      .def("reverse", changed("reversal", reverse), unlocked)
      .def("left_quotient", combined("the left quotient", left_quotient), unlocked, "prefixes"_a)
      .def("right_quotient", combined("the right quotient", right_quotient), unlocked, "suffixes"_a)
      .def("shuffle", combined("shuffle", shuffle), unlocked, "other"_a)
      .def("prefixes", changed("the operation", prefixes), unlocked)
      .def("suffixes", changed("the operation", suffixes), unlocked)
      .def("factors", changed("the operation", factors), unlocked)
      .def("subwords", changed("the operation", subwords), unlocked)
      .def("projection", &projected, unlocked, "letters"_a)
      .def("is_empty", &is_empty, unlocked)
      .def("is_finite", &is_finite, unlocked)
      .def("is_universal", &is_universal, unlocked)
      .def("count", &count_of_length, unlocked, "length"_a)
      .def(
          "excess_word", [](const Dfa& a, const Dfa& b) { return word_of(excess_word(a, b), a, b); }, unlocked,
          "other"_a)
      .def(
          "common_word", [](const Dfa& a, const Dfa& b) { return word_of(common_word(a, b), a, b); }, unlocked,
          "other"_a)
      .def(
          "regex", [](const Dfa& dfa, std::uint64_t longest) { return regex_of(dfa, {.max_length = longest}); },
          unlocked, "longest"_a = 2000)
      .def("distinguishing_word", &difference_word, unlocked, "other"_a)
      .def("shortest_words", &shortest_words, unlocked, "count"_a)
      .def(
          "format",
          [](const Dfa& dfa, const std::string& format) {
            const auto known = format_of_extension(format);
            if (!known) throw InputError("format", "\"" + format + "\" is not one of dot, att, jff, json");
            return write_automaton(dfa, *known);
          },
          unlocked, "format"_a)
      .def(
          "save", [](const Dfa& dfa, const std::string& path) { write_automaton_file(dfa, path); }, unlocked, "path"_a)
      .def("svg", &picture, unlocked, "title"_a)
      .def("egg_box_svg", &egg_box, unlocked)
      .def("monoid", &monoid, unlocked, "max_elements"_a, "max_classes"_a)
      .def(
          "__eq__", [](const Dfa& a, const Dfa& b) { return a == b; }, "other"_a);
}

}  // namespace krohn::python
