// automata/formats/formats.h — the formats of files of automata, one after another: a reader from a text to a Draft, a
// writer from an automaton to a text.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "krohn/automata/dfa/alphabet.h"
#include "krohn/automata/dfa/dfa.h"
#include "krohn/automata/formats/format_draft.h"

namespace krohn {

/// A complete deterministic Mealy machine. A value that cannot be invalid, as Dfa.
class Mealy {
 public:
  /// `table[q * inputs.size() + input]` is the target, `outputs[…]` of the same index the output of that arc.
  /// Throws InputError naming the first entry that is out of range. O(states · inputs).
  static Mealy machine(Alphabet inputs, std::vector<State> table, State initial, std::vector<Output> outputs,
                       std::vector<std::string> output_names, State states);

  const Alphabet& inputs() const { return inputs_; }
  State states() const { return states_; }
  State initial() const { return initial_; }
  State next(State state, Letter input) const { return table_[index(state, input)]; }
  Output output(State state, Letter input) const { return outputs_[index(state, input)]; }
  const std::vector<std::string>& output_names() const { return output_names_; }

  /// Empty, or one per state.
  const std::vector<std::string>& state_names() const { return state_names_; }
  /// Throws InputError unless empty or one name per state.
  Mealy with_state_names(std::vector<std::string> names) &&;

 private:
  Mealy() = default;
  std::size_t index(State state, Letter input) const { return std::size_t{state} * inputs_.size() + input; }
  Alphabet inputs_;
  std::vector<State> table_;
  std::vector<Output> outputs_;
  std::vector<std::string> output_names_;
  std::vector<std::string> state_names_;
  State states_ = 0;
  State initial_ = 0;
};

/// The Moore machine over the inputs whose output after a word is the last output symbol that the Mealy machine wrote.
/// Its states are the reachable pairs (state, last output), in breadth-first order. Before any input the output is
/// `initial_output`, which comes first among the output names unless the machine has an output of that name itself.
/// O(states · outputs · inputs).
Dfa to_moore(const Mealy& mealy, const std::string& initial_output = "-");

/// The Mealy machine that writes, on every arc, the output of the state that the arc enters. The output before any
/// input is lost. O(states · inputs).
Mealy to_mealy(const Dfa& dfa);

// AT&T text as OpenFst and MLRegTest write it, with symbol tables.

/// An OpenFst symbol table: a name and a number on each line. Number 0 is ε; the others are the letters, in the order
/// of their numbers.
struct AttSymbols {
  NameTable letters;
  std::vector<std::string> epsilons;  ///< the names of number 0; usually one: "<eps>", "<EPS>"
};

/// Throws InputError with line and column on a line that is not "name number", a name or a number given twice, a number
/// past 2^63 − 1, or a name of the empty word that has another number than 0. Names for any letter at all, which HFST
/// has in every table, are left out.
AttSymbols read_symbol_table(std::string_view text, std::string_view where, const LanguageOptions& options = {});

/// The names of tables with which AT&T text at `path` is read, the first that is there: the same with `.syms`, which
/// krohn writes, `.isyms` or `.osyms`, of which OpenFst's and pyfoma's tools write one for the input and one for the
/// output.
std::vector<std::string> symbol_tables_beside(const std::string& path);

/// Reads an acceptor. Rows are
///     source target label              an arc
///     source target label label        the same, input and output
///     source target label label 0      with a weight, which must be 0 (no weight)
///     state                            a final state, perhaps with the weight 0
/// A row with tabs is divided at tabs, so that a label may be a blank or empty, which is ε; any other row at white
/// space. The source of the first row is initial, a missing arc rejects, a state that no row names does not exist (its
/// number costs nothing). With a table the alphabet is all of its letters, and its number 0 is ε. Without one it is the
/// labels in order of their first appearance, and ε goes by its names (`EpsilonNames`); where all labels are numbers
/// and one is 0, which is ε in OpenFst and a letter elsewhere, `options` must tell. Throws InputError with line and
/// column; a transducer (input ≠ output) and weights are refused. O(n log n).
Draft read_att(std::string_view text, std::string_view where, const AttSymbols* symbols = nullptr,
               const LanguageOptions& options = {});

/// Writes an acceptor, four columns. A class of characters is written by its name and comes back as a token
/// (`with_single_characters` comes before). Reading back without the symbol table gives the same automaton when it is
/// canonical and some letter is not a number. Throws InputError for outputs, an empty alphabet, and names that the
/// format cannot hold (white space, names that `EpsilonNames` knows).
std::string write_att(const Dfa& dfa);

/// The symbol table that goes with `write_att`: `<eps>` 0, then the letters from 1. Throws as `write_att`.
std::string write_symbol_table(const Alphabet& alphabet);

// Graphviz DOT, read through Graphviz' own parser (cgraph).

// The text of DOT: making a file fit for Graphviz' parser, and labels to symbols
// and back.

/// Text for Graphviz' parser, and where its lines are not those of the file.
struct PreparedDot {
  std::string text;
  std::vector<std::size_t> added_lines;  ///< the numbers of the lines that end in a line break of ours, ascending
  /// The line of the file that Graphviz calls `line`.
  std::size_t line_in_file(std::size_t line) const;
};

/// The one graph of the file with comments blanked out. Graphviz' lexer keeps its state between reads (an open string
/// or a second graph would leak into the next file), its stack and memory follow the file's nesting, node sets and
/// names of attributes, and it reads a token anew for every 8 KiB of it: everything of that kind is refused here first,
/// and long strings are broken by escaped line ends, which mean nothing. Throws InputError with line and column. O(n).
PreparedDot prepare_dot(std::string_view text, std::string_view where);

/// The text that Graphviz prints for the label: `\n`, `\l`, `\r` are newlines, `\x` any other character x.
std::string unescape_dot(std::string_view label);
/// The inverse, ready to stand between double quotes.
std::string escape_dot(std::string_view text);

/// The symbols that an unescaped label lists: separated by newlines and by commas outside brackets, without the blanks
/// around them. One single character is itself, even a comma or a blank. Empty when nothing or an empty symbol is
/// listed.
std::vector<std::string> split_dot_label(std::string_view label);

/// The "input/output" symbols of an HTML-like label `input | input<br/>output`, as StateLearner writes a Mealy
/// machine's. Empty when it is no such label: other tags, no output, a slash in an input.
std::vector<std::string> split_html_label(std::string_view label);

/// The symbol of a label of OpenFst's fstdraw: "a", or "a:a" where both tapes are drawn. Nothing for a transducer's arc
/// or a weight, "a:b" or "a/0.5".
std::optional<std::string> split_fst_label(std::string_view label);

/// Name and output of a record's label, "name|output" or "{name|output}", without the blanks around them; nothing when
/// it has no bar.
std::optional<std::pair<std::string, std::string>> split_record(std::string_view label);

/// True when the symbol is, or ends behind a colon in, a number from 0 to 1: "x:0.8", "a/b:1", "0.25". With
/// `has_point`, only when that is written with a decimal point.
bool ends_in_probability(std::string_view symbol, bool has_point);

/// "input/output" at the first slash outside brackets; nothing when there is none or the input is empty.
std::optional<std::pair<std::string, std::string>> split_input_output(std::string_view symbol);

/// Reads a digraph. The conventions (docs/languages.md): a small or shapeless node without arriving arcs whose arcs are
/// unlabelled marks the start; `shape=doublecircle` or `peripheries=2` accepts; a label lists symbols, separated by
/// newlines or by commas outside brackets, ε among them (`EpsilonNames`); when no state accepts and every label is
/// `input/output`, the file is a Mealy machine; `output="…"` on every node, or a record label `name|output`, makes a
/// Moore machine. Labels that all end in a probability are refused. The attributes that `write_dot` adds for exactness
/// (`symbol`, `alphabet`, `outputs`) win over labels. Throws InputError with the line where Graphviz gives one,
/// otherwise naming the node or arc. Thread-safe.
std::variant<Draft, Mealy> read_dot(std::string_view text, std::string_view where, const LanguageOptions& options = {});

/// Writes any automaton, one arc per letter, so that `read_dot` gives back the same automaton: Moore outputs, character
/// classes, any names. For pictures see automata/draw/draw.h.
std::string write_dot(const Dfa& dfa);

/// A Moore machine as AALpy writes one: states are records `{ name | output }`, an acceptor's outputs being reject and
/// accept. Throws InputError for names and outputs that a record cannot hold, and letters that a label cannot.
std::string write_moore_dot(const Dfa& dfa);

/// The pairs as `input/output` labels. Throws InputError when an input's name contains a slash, or a name cannot stand
/// in a label.
std::string write_dot(const Mealy& mealy);

/// Graphviz keeps global state in its parser, its error channel and its layout: whoever calls it holds this.
std::mutex& graphviz_mutex();

// GAP and its packages SgpDec, Semigroups, Automata: how letters move states.

/// GAP statements: the letters' transformations and their semigroup, the group when they all permute the states, and
/// the ends of an acceptor or the outputs, where the automaton has a start. State q is point q + 1.
std::string write_gap(const Dfa& dfa);

/// The generated object: the semigroup, monoid or group of a GAP text, or that of its transformations where it names
/// none.
struct GapSemigroup {
  std::vector<std::string> variables;                                         ///< that hold it in the end
  std::size_t offset = 0;                                                     ///< of the call that made it
  std::vector<std::shared_ptr<const std::vector<std::uint32_t>>> generators;  ///< images from 0; later points are fixed
  std::vector<std::string> names;  ///< the variables of the generators, when each is one; otherwise none
};

struct GapText {
  std::vector<GapSemigroup> semigroups;
  std::vector<std::string> letters, outputs;            ///< of the variables of these names, or none
  std::optional<std::vector<std::uint32_t>> accepting;  ///< points from 1
  std::optional<std::uint64_t> initial;
};

/// Evaluates the statements of the text: assignments; numbers, strings, lists and ranges; `Transformation`,
/// `TransformationNC`, `AsTransformation`, `AsPermutation`, `PermList`, `IdentityTransformation`, permutations in
/// cycles; products, quotients and powers; `List` with a conversion; `Semigroup`, `Monoid` and `Group` of such.
/// Questions about them, such as `Size(S);`, are passed over. Throws InputError with line and column for anything else,
/// and LimitError past 2^28 images.
GapText read_gap_text(std::string_view text, std::string_view where);

/// The transformations that generate the semigroup of a GAP text, as letters, on as many points as the largest has.
/// Letters have the names in `letters`, else those of the variables that hold them, else a, b, …, x27, …. `options`
/// names the semigroup where there are several. Every state is its own output and there is no start, so that nothing is
/// merged or dropped: the automaton stands for the transformations alone. With `accepting := […]` it is an acceptor,
/// with `outputs := ["…", …]` a Moore machine of these, and `initial := n` names the initial state, otherwise the
/// first.
Draft read_gap(std::string_view text, std::string_view where, const LanguageOptions& options = {});

// Finite automata of JFLAP (.jff), read through expat.

/// Reads a structure of type `fa`, of JFLAP 4 to 7. An empty <read/> is ε, and so are its names (`EpsilonNames`); in a
/// file of JFLAP's own, several characters are read one after another and "[a-z]" is any of a range, as JFLAP does it.
/// In a file by `write_jff` an element <alphabet>, which JFLAP passes over, lists the letters, and <read> holds one
/// letter's name. Throws InputError with line and column: XML that is not well-formed, other types of machine, unknown
/// or repeated states, two initial states. Document types are refused, and with them entities that expand without end.
Draft read_jff(std::string_view text, std::string_view where, const LanguageOptions& options = {});

/// Writes an acceptor, its states on a circle. Throws InputError for outputs and for names with characters that XML
/// cannot hold.
std::string write_jff(const Dfa& dfa);

// JSON of this project: every automaton, exactly. The schema is in docs/languages.md.

/// Reads version 1 of the schema. Missing arcs are `null`, several targets a list. `where` names the file in errors.
/// Throws InputError with line and column where the JSON itself is broken, otherwise with the name of the field.
Draft read_json(std::string_view text, std::string_view where);

/// Writes any automaton: Moore outputs, character classes, any names. One line per state.
/// Throws InputError when an output's name is not valid UTF-8.
std::string write_json(const Dfa& dfa);

/// The letters as a JSON array on one line: a string where `Alphabet::from_names` gives the same symbol back, otherwise
/// {"name": …, "characters": [[first, last], …]}. DOT and JFLAP files carry it where names alone do not suffice.
std::string write_json_alphabet(const Alphabet& alphabet);
Alphabet read_json_alphabet(std::string_view text, std::string_view where);

/// A JSON array of strings on one line.
std::string write_json_strings(const std::vector<std::string>& strings);
std::vector<std::string> read_json_strings(std::string_view text, std::string_view where);

// The text format of the library mata (VeriFIT/mata, AUTOMATAFORMAT.md).

// The Boolean formulas of .mata files, and the classes of valuations they
// distinguish.

/// One word, string or operator of a line, and where it was.
struct MataToken {
  enum Kind { kName, kAnd, kOr, kNot, kOpen, kClose };
  Kind kind = kName;
  bool is_quoted = false;
  std::string name;
  std::size_t offset = 0;  ///< of its first byte in the file
};

/// A formula in postfix order, so that neither reading nor evaluating it recurses, however deep its brackets.
struct MataFormula {
  enum Kind { kName, kTrue, kFalse, kAnd, kOr, kNot };
  struct Step {
    Kind kind = kName;
    std::uint32_t name = 0;
  };
  std::vector<Step> steps;
};

/// Reads `! & |` and brackets, binding in that order; `\true` and `\false`. Names become numbers by `number_of`. With
/// `is_list`, names side by side are joined by "or", as in `%Initial q0 q1`.
/// Throws InputError through `fail(offset, message)`, which must not return. O(n).
MataFormula parse_mata_formula(std::span<const MataToken> tokens, bool is_list,
                               const std::function<std::uint32_t(const MataToken&)>& number_of,
                               const std::function<void(std::size_t offset, const std::string& message)>& fail);

/// A set of numbers, or everything but a set of numbers.
struct MataSet {
  std::unordered_set<std::uint32_t> members;
  bool is_complement = false;
  bool contains(std::uint32_t number) const { return members.contains(number) != is_complement; }
};

/// The numbers x at which the formula is true when exactly the name x is true: what a formula over states or symbols
/// says of one state or symbol. `!q0 & !q2` is everything but q0 and q2. O(n log n) for n steps.
MataSet numbers_satisfying(const MataFormula& formula);

/// The coarsest classes of valuations that a list of formulas over bits distinguishes.
struct MataClasses {
  /// One per class: its least valuation over `variables`, `-` where a bit does not matter, and `|…` when the class is
  /// more than that.
  std::vector<std::string> names;
  /// Per formula the classes on which it is true, ascending. Valuations that no formula allows are in no class.
  std::vector<std::vector<Letter>> classes_of;
};

/// Never lists valuations: the formulas become decision diagrams, and their product, taken in pairs of pairs, has one
/// leaf per class. Variable i is bit i from the left in the names. Throws LimitError past 512 variables or 2^22 nodes.
MataClasses distinguish(std::span<const MataFormula> formulas, std::uint32_t variables, std::string_view where);

/// Reads one section, `@NFA-explicit` or `@NFA-bits`, with the keys %Initial, %Final, %Alphabet-…, %States-…,
/// %Epsilon, whose names are the empty word; without it `EpsilonNames` has them. A formula over states says of a state
/// q what it says when only q is true, so that `!q0 & !q2` is every other state; a formula over explicit symbols
/// likewise. In bits, the letters are the coarsest classes of valuations that the transitions distinguish, named by a
/// valuation (most significant bit first, `-` where it does not matter); valuations that no transition reads are not
/// letters, as in mata. Throws InputError with line and column; alternating automata, intervals, transducers and second
/// sections are refused. Throws LimitError past 2^22 nodes of decision diagrams. O(n log n) when explicit.
Draft read_mata(std::string_view text, std::string_view where, const LanguageOptions& options = {});

/// Writes an acceptor as @NFA-explicit, letters and states declared in their order. A class of characters is written by
/// its name and comes back as a token. Throws InputError for outputs.
std::string write_mata(const Dfa& dfa);

// Formats that are written only: HOA, OpenFst, LaTeX.

/// Writes an acceptor as a deterministic Büchi automaton, since the format is about endless words: a word w stands for
/// w followed by steps in which no proposition holds, for ever. There is a proposition for each letter, and in a step
/// that reads a letter its proposition holds alone; words of the automaton are exactly those endless ones. Writing
/// only. Throws InputError for outputs and for names with a quote, a backslash or a control character.
std::string write_hoa(const Dfa& dfa);

/// An acceptor as a VectorFst over the tropical semiring (arc type "standard"), little-endian, with its symbol table
/// for both sides inside: what `fstcompile` makes of write_att and write_symbol_table. States that can reach acceptance
/// only, as OpenFst has no use for a sink; all when there is none. Writing only. Throws InputError for outputs.
std::string write_openfst(const Dfa& dfa);

/// A tikzpicture of the library `automata`, its states on a circle: \usetikzlibrary{automata, arrows.meta,
/// positioning}. Arcs between the same states share a label; outputs stand in the states.
std::string write_tikz(const Dfa& dfa);

/// The transition table as a tabular: a row for each state, → before the initial one, * behind accepting ones, and a
/// column of outputs for machines that have them.
std::string write_latex_table(const Dfa& dfa);

/// Text for LaTeX, with the signs that mean something to it written out.
std::string escape_tex(const std::string& text);

}  // namespace krohn
