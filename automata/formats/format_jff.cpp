#include "krohn/automata/formats/formats.h"

#include <expat.h>
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <numbers>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/groups/base/error.h"

namespace krohn {

namespace {

constexpr std::size_t kDeepestElement = 32;
constexpr char32_t kWidestRange = 4096;

// --- What the file says

struct JffState {
  std::uint64_t id = 0;
  std::string name;
  bool initial = false, final = false;
  std::string position;  ///< "file:line:column", of elements that later checks may complain about
};

struct JffTransition {
  std::string from, to, read;
  std::string position;
};

struct JffFile {
  std::string type, alphabet;
  bool has_alphabet = false;
  std::string unknown;  ///< the first element that no finite automaton has, with its position
  std::vector<JffState> states;
  std::vector<JffTransition> transitions;
};

/// Collects elements from expat's events. An exception must not pass through the C library, so the first error is kept
/// and the parser stopped.
class JffHandler {
 public:
  JffHandler(XML_Parser parser, std::string_view where) : parser_(parser), where_(where) {
    XML_SetUserData(parser, this);
    XML_SetElementHandler(parser, &start, &end);
    XML_SetCharacterDataHandler(parser, &characters);
    XML_SetStartDoctypeDeclHandler(parser, &doctype);
  }

  std::string position() const {
    return fmt::format("{}:{}:{}", where_, XML_GetCurrentLineNumber(parser_), XML_GetCurrentColumnNumber(parser_) + 1);
  }

  /// Empty when all is well.
  const std::string& error() const { return error_; }
  JffFile take() { return std::move(file_); }

 private:
  template <class Body>
  static void guarded(void* self, Body body) {
    auto& handler = *static_cast<JffHandler*>(self);
    if (!handler.error_.empty()) return;
    try {
      body(handler);
    } catch (const std::exception& error) {
      handler.error_ = error.what();
      XML_StopParser(handler.parser_, XML_FALSE);
    }
  }
  static void start(void* self, const XML_Char* name, const XML_Char** attributes) {
    guarded(self, [&](JffHandler& handler) { handler.on_start(name, attributes); });
  }
  static void end(void* self, const XML_Char* name) {
    guarded(self, [&](JffHandler& handler) { handler.on_end(name); });
  }
  static void characters(void* self, const XML_Char* text, int length) {
    guarded(self, [&](JffHandler& handler) { handler.text_.append(text, static_cast<std::size_t>(length)); });
  }
  static void doctype(void* self, const XML_Char*, const XML_Char*, const XML_Char*, int) {
    guarded(self, [](JffHandler& handler) { handler.fail("a document type declaration; remove it"); });
  }

  [[noreturn]] void fail(const std::string& message) const { throw InputError(position(), message); }

  void on_start(std::string_view name, const XML_Char** attributes) {
    if (path_.size() >= kDeepestElement) fail(fmt::format("elements nested deeper than {} levels", kDeepestElement));
    if (path_.empty() && name != "structure")
      fail(fmt::format("the element <{}> is not JFLAP's <structure>", visible(cut_short(name, 60))));
    path_.emplace_back(name);
    text_.clear();
    if (!is_known(name) && file_.unknown.empty())
      file_.unknown = fmt::format("{}: the element <{}>", position(), visible(cut_short(name, 60)));
    if (name == "state") start_state(attributes);
    if (name == "transition") file_.transitions.push_back({"", "", "", position()});
    if (inside("state") && name == "initial") file_.states.back().initial = true;
    if (inside("state") && name == "final") file_.states.back().final = true;
  }

  /// Elements of a finite automaton. Others, such as <push> or <write>, may change what it means.
  static bool is_known(std::string_view name) {
    for (const std::string_view known :
         {"structure", "type", "automaton", "alphabet", "state", "x", "y", "label", "initial", "final", "transition",
          "from", "to", "read", "controlx", "controly", "note", "text"})
      if (name == known) return true;
    return false;
  }

  void start_state(const XML_Char** attributes) {
    JffState state;
    state.position = position();
    bool has_id = false;
    for (; *attributes != nullptr; attributes += 2) {
      const std::string_view key = attributes[0], value = attributes[1];
      if (key == "name") state.name = value;
      if (key != "id") continue;
      const auto id = number_in<std::uint64_t>(value);
      if (!id) fail(fmt::format("the id {} of a state is not a number", in_quotes(value)));
      state.id = *id;
      has_id = true;
    }
    if (!has_id) fail("a state without an id");
    file_.states.push_back(std::move(state));
  }

  void on_end(std::string_view name) {
    path_.pop_back();
    if (name == "type" && path_.size() == 1) file_.type = trimmed(text_, " \t\r\n");
    if (name == "alphabet") {
      file_.alphabet = text_;
      file_.has_alphabet = true;
    }
    if (!path_.empty() && path_.back() == "transition") {
      if (name == "from") file_.transitions.back().from = trimmed(text_, " \t\r\n");
      if (name == "to") file_.transitions.back().to = trimmed(text_, " \t\r\n");
      if (name == "read") file_.transitions.back().read = text_;
    }
    text_.clear();
  }

  bool inside(std::string_view parent) const { return path_.size() >= 2 && path_[path_.size() - 2] == parent; }

  XML_Parser parser_;
  std::string_view where_;
  std::string error_;
  JffFile file_;
  std::vector<std::string> path_;
  std::string text_;
};

JffFile parse_jff(std::string_view text, std::string_view where) {
  const std::unique_ptr<XML_ParserStruct, decltype(&XML_ParserFree)> parser(XML_ParserCreate("UTF-8"), &XML_ParserFree);
  if (parser == nullptr) throw SystemError("no memory for an XML parser");
  JffHandler handler(parser.get(), where);
  constexpr std::size_t kChunk = std::size_t{1} << 30;  // the library counts in int, and begins a cut token anew
  for (std::size_t at = 0;; at += kChunk) {
    const std::string_view chunk = text.substr(at, kChunk);
    const bool last = at + chunk.size() == text.size();
    const auto status = XML_Parse(parser.get(), chunk.data(), static_cast<int>(chunk.size()), last);
    if (!handler.error().empty()) throw InputError(handler.error());
    if (status != XML_STATUS_OK)
      throw InputError(handler.position(),
                       std::string("not well-formed XML: ") + XML_ErrorString(XML_GetErrorCode(parser.get())));
    if (last) return handler.take();
  }
}

// --- What it means

class JffInterpreter {
 public:
  JffInterpreter(JffFile file, std::string_view where, const LanguageOptions& options)
      : file_(std::move(file)), where_(where), epsilons_(options, where) {}

  Draft run() {
    if (file_.type != "fa")
      throw InputError(where_, fmt::format("the type of the structure is {}; only finite automata (fa) can be read",
                                           in_quotes(file_.type)));
    if (!file_.unknown.empty())
      throw InputError(file_.unknown +
                       " is none of a finite automaton's; remove it if it says nothing of the language");
    read_states();
    if (file_.has_alphabet) {
      draft_.alphabet = read_json_alphabet(file_.alphabet, where_);
      for (const Symbol& symbol : draft_.alphabet.symbols()) letters_.intern(symbol.name);
    }
    for (const JffTransition& transition : file_.transitions) read_transition(transition);
    epsilons_.check_letters(letters_.names());
    if (!file_.has_alphabet) draft_.alphabet = alphabet_of_names(letters_.names(), where_);
    return std::move(draft_);
  }

 private:
  void read_states() {
    if (file_.states.empty()) throw InputError(where_, "the automaton has no states");
    bool plain = true;
    for (const JffState& state : file_.states) {
      const State number = draft_.states();
      if (!state_of_.emplace(state.id, number).second)
        throw InputError(state.position, fmt::format("state {} is given twice", state.id));
      if (state.initial && !draft_.initial.empty())
        throw InputError(state.position, fmt::format("a second initial state, {}; an automaton has one", state.id));
      if (state.initial) draft_.initial.push_back(number);
      draft_.outputs.push_back(state.final ? 1 : 0);
      draft_.state_names.push_back(state.name.empty() ? std::to_string(state.id) : state.name);
      plain = plain && draft_.state_names.back() == std::to_string(number);
    }
    if (draft_.initial.empty()) throw InputError(where_, "no state is marked <initial/>");
    named_ = !plain;
    if (plain) draft_.state_names.clear();
  }

  State state(const std::string& id, const JffTransition& transition) const {
    const auto number = number_in<std::uint64_t>(id);
    const auto found = number ? state_of_.find(*number) : state_of_.end();
    if (found == state_of_.end())
      throw InputError(transition.position,
                       fmt::format("a transition names the state {}, which does not exist", in_quotes(id)));
    return found->second;
  }

  void read_transition(const JffTransition& transition) {
    const State source = state(transition.from, transition), target = state(transition.to, transition);
    if (transition.read.empty()) {
      draft_.arcs.push_back({source, kEpsilon, target});
    } else if (file_.has_alphabet) {
      const auto letter = letters_.find(transition.read);
      if (!letter)
        throw InputError(transition.position,
                         fmt::format("the symbol {} is not in the file's alphabet", in_quotes(transition.read)));
      draft_.arcs.push_back({source, *letter, target});
    } else if (is_epsilon(transition.read, transition)) {
      draft_.arcs.push_back({source, kEpsilon, target});
    } else {
      read_characters(decode_utf8(transition.read), source, target, transition);
    }
  }

  bool is_epsilon(const std::string& read, const JffTransition& transition) {
    return epsilons_.contains(read,
                              [&](const std::string& message) { throw InputError(transition.position, message); });
  }

  /// JFLAP's own meaning: "[a-z]" is a range, other strings are paths of one character each.
  void read_characters(const std::u32string& read, State source, State target, const JffTransition& transition) {
    if (read.size() == 5 && read[0] == U'[' && read[2] == U'-' && read[4] == U']')
      return read_range(read[1], read[3], source, target, transition);
    for (std::size_t i = 0; i < read.size(); ++i) {
      const State next = i + 1 == read.size() ? target : add_state();
      const std::string letter = to_utf8(read[i]);
      draft_.arcs.push_back({source, is_epsilon(letter, transition) ? kEpsilon : letters_.intern(letter), next});
      source = next;
    }
  }

  void read_range(char32_t first, char32_t last, State source, State target, const JffTransition& transition) {
    if (first > last || last - first >= kWidestRange)
      throw InputError(transition.position,
                       fmt::format("the range {} is reversed or wider than {}", in_quotes(transition.read),
                                   counted(static_cast<std::uint32_t>(kWidestRange), "character")));
    for (char32_t c = first; c <= last; ++c)
      if (c < kFirstSurrogate || c > kLastSurrogate)
        draft_.arcs.push_back({source, letters_.intern(to_utf8(c)), target});
  }

  /// A state between the characters of one transition.
  State add_state() {
    draft_.outputs.push_back(0);
    if (named_) draft_.state_names.push_back(fmt::format("·{}", draft_.states()));
    return draft_.states() - 1;
  }

  JffFile file_;
  std::string_view where_;
  Draft draft_;
  std::unordered_map<std::uint64_t, State> state_of_;
  NameTable letters_;
  EpsilonNames epsilons_;
  bool named_ = false;
};

// --- Writing

/// Throws on what XML 1.0 has no way to write. Line ends are escaped, since parsers normalise them.
std::string escape_xml(std::string_view text) {
  std::string escaped;
  for (const char32_t c : decode_utf8(text)) {
    if ((c < 0x20 && c != U'\t' && c != U'\n' && c != U'\r') || c == 0xFFFE || c == 0xFFFF)
      throw InputError(fmt::format("XML cannot hold the character U+{:04X} in {}; write JSON instead",
                                   static_cast<std::uint32_t>(c), in_quotes(text)));
    if (c == U'<' || c == U'>' || c == U'&' || c == U'"' || c < 0x20)
      escaped += fmt::format("&#{};", static_cast<std::uint32_t>(c));
    else
      append_utf8(escaped, c);
  }
  return escaped;
}

std::string state_element(const Dfa& dfa, State state) {
  const double angle = 2 * std::numbers::pi * state / dfa.states(), radius = 40.0 + 25.0 * dfa.states();
  return fmt::format("    <state id=\"{}\" name=\"{}\"><x>{:.1f}</x><y>{:.1f}</y>{}{}</state>\n", state,
                     escape_xml(dfa.state_name(state)), radius * (1 - std::cos(angle)) + 40,
                     radius * (1 - std::sin(angle)) + 40, state == dfa.initial() ? "<initial/>" : "",
                     dfa.accepts(state) ? "<final/>" : "");
}

}  // namespace

Draft read_jff(std::string_view text, std::string_view where, const LanguageOptions& options) {
  return JffInterpreter(parse_jff(checked_text(text, where), where), where, options).run();
}

std::string write_jff(const Dfa& dfa) {
  if (!dfa.is_acceptor())
    throw InputError(
        "a JFLAP finite automaton accepts or rejects; this machine has outputs. Write DOT or JSON instead");
  std::vector<std::string> names;
  for (const Symbol& symbol : dfa.alphabet().symbols()) names.push_back(escape_xml(symbol.name));
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n<structure>\n  <type>fa</type>\n  <automaton>\n"
      "    <alphabet>{}</alphabet>\n",
      escape_xml(write_json_alphabet(dfa.alphabet())));
  for (State state = 0; state < dfa.states(); ++state) text += state_element(dfa, state);
  for (State state = 0; state < dfa.states(); ++state)
    for (Letter letter = 0; letter < dfa.letters(); ++letter)
      fmt::format_to(std::back_inserter(text),
                     "    <transition><from>{}</from><to>{}</to><read>{}</read></transition>\n", state,
                     dfa.next(state, letter), names[letter]);
  return text + "  </automaton>\n</structure>\n";
}

}  // namespace krohn
