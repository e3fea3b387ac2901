#include "krohn/automata/formats/format_dot.h"

#include <fmt/format.h>

#include <algorithm>

#include "krohn/automata/formats/format_dot_graph.h"
#include "krohn/automata/formats/format_dot_text.h"
#include "krohn/automata/formats/format_json.h"
#include "krohn/groups/counted.h"
#include "krohn/groups/error.h"

namespace krohn {

namespace {

constexpr State kNoState = UINT32_MAX;

// --- What it means

/// An arc between states with the symbols that it bears.
struct LabelledArc {
  const DotArc* arc;
  std::vector<std::string> symbols;
};

class Interpreter {
 public:
  Interpreter(DotFile file, std::string_view where, const LanguageOptions& options)
      : file_(std::move(file)), where_(where), mealy_as_labels_(options.mealy_as_labels), epsilons_(options, where) {}

  std::variant<Draft, Mealy> run() {
    number_states();
    find_initial();
    collect_arcs();
    refuse_probabilities();
    const bool mealy = is_mealy();
    if (mealy && !mealy_as_labels_) return to_mealy();
    return to_draft(mealy);
  }

 private:
  void number_states() {
    states_.assign(file_.nodes.size(), kNoState);
    for (std::size_t i = 0; i < file_.nodes.size(); ++i)
      if (!file_.nodes[i].marks_start()) {
        states_[i] = static_cast<State>(nodes_.size());
        nodes_.push_back(&file_.nodes[i]);
      }
    if (nodes_.empty()) throw InputError(where_, "the graph has no states");
  }

  void find_initial() {
    for (const DotArc& arc : file_.arcs) {
      if (states_[arc.source] != kNoState) continue;
      const State state = states_[arc.target];
      if (initial_ != kNoState && initial_ != state)
        throw InputError(where_, fmt::format("two start states, {} and {}; an automaton has one",
                                             in_quotes(nodes_[initial_]->id), in_quotes(nodes_[state]->id)));
      initial_ = state;
    }
    if (initial_ == kNoState) find_bold_start();
    if (initial_ == kNoState)
      throw InputError(where_, fmt::format("no start state; add the lines  __start0 [label=\"\", shape=none];  and  "
                                           "__start0 -> \"{}\";  to begin there",
                                           escape_dot(visible(cut_short(nodes_.front()->id, 60)))));
  }

  /// OpenFst's fstdraw has no arc to the start: that state is bold, and all others are solid.
  void find_bold_start() {
    State bold = kNoState;
    for (State state = 0; state < nodes_.size(); ++state) {
      const bool is_bold = nodes_[state]->style == "bold";
      if (is_bold ? bold != kNoState : nodes_[state]->style != "solid") return;
      if (is_bold) bold = state;
    }
    initial_ = bold;
    is_fst_ = bold != kNoState;
  }

  std::string fst_label(const std::string& label, const std::string& what) const {
    if (auto symbol = split_fst_label(label)) return *std::move(symbol);
    throw InputError(where_,
                     fmt::format("{} has the label {}, of a transducer or with a weight; a language has neither. "
                                 "Use `fstproject` or `fstmap --map_type=rmweight`",
                                 what, in_quotes(label)));
  }

  std::vector<std::string> symbols_of(const DotArc& arc) const {
    if (!arc.symbol.empty()) return {arc.symbol};
    if (is_fst_) return {fst_label(arc.label, describe(arc))};
    if (!arc.is_html) return split_dot_label(arc.label);
    std::vector<std::string> symbols = split_html_label(arc.label);
    if (symbols.empty())
      throw InputError(where_, fmt::format("{} has an HTML-like label; write plain text", describe(arc)));
    return symbols;
  }

  std::string describe(const DotArc& arc) const {
    return fmt::format("the arc {} -> {}", in_quotes(file_.nodes[arc.source].id),
                       in_quotes(file_.nodes[arc.target].id));
  }

  void collect_arcs() {
    for (const DotNode* node : nodes_)
      if (is_fst_) fst_label(node->label, "the state " + in_quotes(node->id));
    for (const DotArc& arc : file_.arcs) {
      if (states_[arc.source] == kNoState) continue;
      if (arc.unlabelled()) throw InputError(where_, describe(arc) + " has no label; write ε for the empty word");
      std::vector<std::string> symbols = symbols_of(arc);
      if (symbols.empty())
        throw InputError(where_,
                         fmt::format("{} has an empty symbol in its label {}", describe(arc), in_quotes(arc.label)));
      arcs_.push_back({&arc, std::move(symbols)});
    }
  }

  /// A Markov decision process read as an acceptor would be one of the wrong letters, and usually of the empty
  /// language.
  void refuse_probabilities() const {
    bool has_point = false;
    for (const LabelledArc& arc : arcs_) {
      if (!arc.arc->symbol.empty()) return;
      for (const std::string& symbol : arc.symbols) {
        if (!ends_in_probability(symbol, false)) return;
        has_point = has_point || ends_in_probability(symbol, true);
      }
    }
    if (has_point)
      throw InputError(where_, fmt::format("every label ends in a probability, as {} on {}: a Markov chain, decision "
                                           "process or other stochastic automaton, not a language. Where such numbers "
                                           "are parts of letters, give arcs the attribute symbol=\"…\"",
                                           in_quotes(arcs_.front().symbols.front()), describe(*arcs_.front().arc)));
  }

  bool has_outputs_in_states() const {
    return std::any_of(nodes_.begin(), nodes_.end(),
                       [](const DotNode* node) { return !node->output.empty() || node->is_record(); });
  }

  bool is_mealy() const {
    if (!file_.outputs.empty() || arcs_.empty() || has_outputs_in_states()) return false;
    if (std::any_of(nodes_.begin(), nodes_.end(), [](const DotNode* node) { return node->accepting; })) return false;
    return std::all_of(arcs_.begin(), arcs_.end(), [](const LabelledArc& arc) {
      return arc.arc->symbol.empty() &&
             std::all_of(arc.symbols.begin(), arc.symbols.end(),
                         [](const std::string& symbol) { return split_input_output(symbol).has_value(); });
    });
  }

  // --- Acceptors and Moore machines, traces of Mealy machines

  bool is_epsilon(const LabelledArc& arc, const std::string& symbol) {
    return arc.arc->symbol.empty() && epsilons_.contains(symbol, [&](const std::string& message) {
      throw InputError(where_, describe(*arc.arc) + ": " + message);
    });
  }

  void refuse_epsilon(const LabelledArc& arc, const std::string& input) {
    if (is_epsilon(arc, input))
      throw InputError(where_, fmt::format("{} reads the input {}, the empty word; a Mealy machine reads a letter at "
                                           "every step. Where it is a letter, say --no-epsilon",
                                           describe(*arc.arc), in_quotes(input)));
  }

  Draft to_draft(bool traces) {
    Draft draft;
    draft.initial = {initial_};
    draft.state_names = state_names();
    read_outputs(draft, traces);
    NameTable letters;
    const bool declared = !file_.alphabet.empty();
    if (declared) draft.alphabet = read_json_alphabet(file_.alphabet, where_);
    for (const Symbol& symbol : draft.alphabet.symbols()) letters.intern(symbol.name);
    for (const LabelledArc& arc : arcs_)
      for (std::string symbol : arc.symbols) {
        if (traces) {
          const auto pair = *split_input_output(symbol);
          refuse_epsilon(arc, pair.first);
          symbol = pair.first + "/" + pair.second;  // without the blanks that may stand around the slash
        }
        const bool epsilon = is_epsilon(arc, symbol);
        if (declared && !epsilon && !letters.find(symbol))
          throw InputError(where_, fmt::format("{} reads {}, which is not in the graph's alphabet", describe(*arc.arc),
                                               in_quotes(symbol)));
        draft.arcs.push_back(
            {states_[arc.arc->source], epsilon ? kEpsilon : letters.intern(symbol), states_[arc.arc->target]});
      }
    epsilons_.check_letters(letters.names());
    if (!declared) draft.alphabet = alphabet_of_names(letters.names(), where_);
    return draft;
  }

  void read_outputs(Draft& draft, bool traces) const {
    if (!file_.outputs.empty()) return read_listed_outputs(draft);
    const auto count = [&](auto holds) { return std::count_if(nodes_.begin(), nodes_.end(), holds); };
    const auto with_output = count([](const DotNode* node) { return !node->output.empty(); });
    if (with_output > 0) return read_named_outputs(draft, [](const DotNode& node) { return node.output; });
    if (count([](const DotNode* node) { return node->is_record(); }) > 0)
      return read_named_outputs(draft, [](const DotNode& node) {
        return node.is_labelled_as_record() ? split_record(node.label)->second : "";
      });
    for (const DotNode* node : nodes_) draft.outputs.push_back(traces || node->accepting ? 1 : 0);
  }

  /// The outputs in the order in which `write_dot` had them.
  void read_listed_outputs(Draft& draft) const {
    draft.output_names = read_json_strings(file_.outputs, where_);
    NameTable outputs;
    for (const std::string& name : draft.output_names) outputs.intern(name);
    if (outputs.size() != draft.output_names.size()) throw InputError(where_, "the graph's outputs repeat a name");
    for (const DotNode* node : nodes_) {
      const auto output = outputs.find(node->output);
      if (!output)
        throw InputError(where_, fmt::format("the output {} of state {} is not among the graph's outputs",
                                             in_quotes(node->output), in_quotes(node->id)));
      draft.outputs.push_back(*output);
    }
  }

  template <class OutputOf>
  void read_named_outputs(Draft& draft, OutputOf output_of) const {
    NameTable outputs;
    for (const DotNode* node : nodes_) {
      const std::string output = output_of(*node);
      if (output.empty())
        throw InputError(where_, fmt::format("state {} has no output, but others do", in_quotes(node->id)));
      draft.outputs.push_back(outputs.intern(output));
    }
    draft.output_names = outputs.names();
  }

  /// Empty when the names are only the numbers.
  std::vector<std::string> state_names() const {
    std::vector<std::string> names;
    bool plain = true;
    const bool has_records =
        std::any_of(nodes_.begin(), nodes_.end(), [](const DotNode* node) { return node->is_record(); });
    for (const DotNode* node : nodes_) {
      if (has_records && node->is_labelled_as_record()) {
        names.push_back(split_record(node->label)->first);
        plain = plain && names.back() == std::to_string(names.size() - 1);
        continue;
      }
      const std::string suffix = "/" + node->output;
      const bool shows_output =
          suffix.size() > 1 && node->label.size() > suffix.size() && node->label.ends_with(suffix);
      names.push_back(shows_output ? node->label.substr(0, node->label.size() - suffix.size()) : node->label);
      plain = plain && names.back() == std::to_string(names.size() - 1);
    }
    if (plain) names.clear();
    return names;
  }

  // --- Mealy machines

  Mealy to_mealy() {
    NameTable inputs, outputs;
    struct Move {
      State source, target;
      Letter input;
      Output output;
    };
    std::vector<Move> moves;
    for (const LabelledArc& arc : arcs_)
      for (const std::string& symbol : arc.symbols) {
        const auto [input, output] = *split_input_output(symbol);
        refuse_epsilon(arc, input);
        moves.push_back(
            {states_[arc.arc->source], states_[arc.arc->target], inputs.intern(input), outputs.intern(output)});
      }
    if (nodes_.size() * inputs.size() > kMaxMealyEntries)
      throw LimitError(fmt::format("{}: {} × {}; the limit is {} arcs", where_, counted(nodes_.size(), "state"),
                                   counted(inputs.size(), "input"), kMaxMealyEntries));
    std::vector<State> table(nodes_.size() * inputs.size(), kNoState);
    std::vector<Output> written(table.size());
    for (const Move& move : moves) {
      const std::size_t entry = std::size_t{move.source} * inputs.size() + move.input;
      if (table[entry] != kNoState)
        throw InputError(where_,
                         fmt::format("state {} has two arcs on input {}; a Mealy machine is deterministic. To read "
                                     "its arcs as plain letters use --mealy-as-labels",
                                     in_quotes(nodes_[move.source]->id), in_quotes(inputs.names()[move.input])));
      table[entry] = move.target;
      written[entry] = move.output;
    }
    require_complete(table, inputs);
    return Mealy::machine(alphabet_of_names(inputs.names(), where_), std::move(table), initial_, std::move(written),
                          outputs.names(), static_cast<State>(nodes_.size()))
        .with_state_names(state_names());
  }

  void require_complete(const std::vector<State>& table, const NameTable& inputs) const {
    const auto missing = std::find(table.begin(), table.end(), kNoState);
    if (missing == table.end()) return;
    const auto entry = static_cast<std::size_t>(missing - table.begin());
    throw InputError(
        where_,
        fmt::format("state {} has no arc on input {}; a Mealy machine has one on every input. To read "
                    "its arcs as plain letters use --mealy-as-labels",
                    in_quotes(nodes_[entry / inputs.size()]->id), in_quotes(inputs.names()[entry % inputs.size()])));
  }

  static constexpr std::size_t kMaxMealyEntries = std::size_t{1} << 26;

  DotFile file_;
  std::string_view where_;
  bool mealy_as_labels_;
  EpsilonNames epsilons_;
  std::vector<State> states_;          ///< per node; kNoState for start marks
  std::vector<const DotNode*> nodes_;  ///< per state
  std::vector<LabelledArc> arcs_;      ///< between states
  State initial_ = kNoState;
  bool is_fst_ = false;  ///< drawn by OpenFst
};

// --- Writing

/// True when a label that is just this name is read back as exactly this symbol.
bool is_plain_label(const std::string& name) {
  return split_dot_label(name) == std::vector<std::string>{name} && !EpsilonNames::may_be_no_letter(name) &&
         name.find('/') == std::string::npos && !ends_in_probability(name, true);
}

std::string start_lines(State initial) {
  return fmt::format("  __start0 [label=\"\", shape=none];\n  __start0 -> {};\n", initial);
}

std::string state_line(const Dfa& dfa, State state) {
  const std::string name = escape_dot(dfa.state_name(state));
  if (dfa.is_acceptor())
    return fmt::format("  {} [label=\"{}\"{}];\n", state, name, dfa.accepts(state) ? ", shape=doublecircle" : "");
  const std::string output = escape_dot(dfa.output_names()[dfa.output(state)]);
  return fmt::format("  {} [label=\"{}/{}\", output=\"{}\"];\n", state, name, output, output);
}

std::vector<std::string> arc_attributes(const Alphabet& alphabet) {
  std::vector<std::string> attributes;
  for (const Symbol& symbol : alphabet.symbols()) {
    const std::string name = escape_dot(symbol.name);
    attributes.push_back(is_plain_label(symbol.name) ? fmt::format("[label=\"{}\"]", name)
                                                     : fmt::format("[label=\"{}\", symbol=\"{}\"]", name, name));
  }
  return attributes;
}

}  // namespace

std::variant<Draft, Mealy> read_dot(std::string_view text, std::string_view where, const LanguageOptions& options) {
  return Interpreter(read_dot_graph(text, where), where, options).run();
}

std::string write_dot(const Dfa& dfa) {
  std::string text = "digraph automaton {\n  rankdir=LR;\n  node [shape=circle];\n";
  if (!names_suffice(dfa.alphabet()))
    text += fmt::format("  alphabet=\"{}\";\n", escape_dot(write_json_alphabet(dfa.alphabet())));
  if (!dfa.is_acceptor())
    text += fmt::format("  outputs=\"{}\";\n",
                        escape_dot(write_json_strings({dfa.output_names().begin(), dfa.output_names().end()})));
  for (State state = 0; state < dfa.states(); ++state) text += state_line(dfa, state);
  text += start_lines(dfa.initial());  // after the states: Graphviz numbers nodes as they are first named
  const std::vector<std::string> attributes = arc_attributes(dfa.alphabet());
  for (State state = 0; state < dfa.states(); ++state)
    for (Letter letter = 0; letter < dfa.letters(); ++letter)
      fmt::format_to(std::back_inserter(text), "  {} -> {} {};\n", state, dfa.next(state, letter), attributes[letter]);
  return text + "}\n";
}

std::string write_moore_dot(const Dfa& dfa) {
  std::string text = "digraph automaton {\n  rankdir=LR;\n  node [shape=record];\n";
  for (State state = 0; state < dfa.states(); ++state) {
    const std::string name = dfa.state_name(state), output = dfa.output_names()[dfa.output(state)];
    for (const std::string& part : {name, output})
      if (part.find_first_of("{}|<>\\\n") != std::string::npos || split_record("{ " + part + " | x }")->first != part)
        throw InputError(fmt::format("a record of DOT cannot hold {}; write dot instead", in_quotes(part)));
    fmt::format_to(std::back_inserter(text), "  {} [shape=record, label=\"{{ {} | {} }}\"];\n", state, escape_dot(name),
                   escape_dot(output));
  }
  text += start_lines(dfa.initial());
  for (State state = 0; state < dfa.states(); ++state)
    for (Letter letter = 0; letter < dfa.letters(); ++letter) {
      const std::string& name = dfa.alphabet().name(letter);
      if (!is_plain_label(name))
        throw InputError(
            fmt::format("a label of DOT cannot hold the letter {} alone; write dot instead", in_quotes(name)));
      fmt::format_to(std::back_inserter(text), "  {} -> {} [label=\"{}\"];\n", state, dfa.next(state, letter),
                     escape_dot(name));
    }
  return text + "}\n";
}

std::string write_dot(const Mealy& mealy) {
  std::string text = "digraph automaton {\n  rankdir=LR;\n  node [shape=circle];\n";
  for (State state = 0; state < mealy.states(); ++state)
    text += fmt::format("  {} [label=\"{}\"];\n", state,
                        escape_dot(mealy.state_names().empty() ? std::to_string(state) : mealy.state_names()[state]));
  text += start_lines(mealy.initial());
  for (State state = 0; state < mealy.states(); ++state)
    for (Letter input = 0; input < mealy.inputs().size(); ++input) {
      const std::string& name = mealy.inputs().name(input);
      const std::string& output = mealy.output_names()[mealy.output(state, input)];
      const std::string label = name + "/" + output;
      if (split_dot_label(label) != std::vector{label} || EpsilonNames::may_be_no_letter(name) ||
          split_input_output(label) != std::pair(name, output))
        throw InputError(
            fmt::format("a DOT label cannot hold the input {} with the output {}", in_quotes(name), in_quotes(output)));
      fmt::format_to(std::back_inserter(text), "  {} -> {} [label=\"{}\"];\n", state, mealy.next(state, input),
                     escape_dot(label));
    }
  return text + "}\n";
}

}  // namespace krohn
