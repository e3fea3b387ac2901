#include "krohn/automata/formats/formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <unordered_set>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/groups/base/error.h"

namespace krohn {

namespace {

constexpr std::string_view kBlank = " \t\r\v\f";
constexpr std::size_t kMaxFields = 5;

/// The fields of one line, as views into the text, so that an error can tell their column.
struct Row {
  std::array<std::string_view, kMaxFields> fields;
  std::size_t count = 0;

  bool is_arc() const { return count >= 3; }
};

/// A label between tabs: the blanks around it are none of it, unless it is nothing but blanks.
std::string_view trimmed_label(std::string_view field) {
  return trimmed(field, kBlank).empty() ? field : trimmed(field, kBlank);
}

/// Cuts lines into fields; knows where every field was.
class RowReader {
 public:
  RowReader(std::string_view text, std::string_view where) : text_(text), rest_(text), where_(where) {}

  /// The next line that is not blank, cut where `by_tabs(row)` holds at its tabs, otherwise at white space; false at
  /// the end.
  template <class ByTabs>
  bool next(Row& row, ByTabs by_tabs) {
    while (!rest_.empty()) {
      const std::size_t end = std::min(rest_.find('\n'), rest_.size());
      std::string_view line = rest_.substr(0, end);
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
      if (trimmed(line, kBlank).empty()) continue;
      if (line.ends_with('\r')) line.remove_suffix(1);
      row = line.find('\t') == std::string_view::npos ? Row{} : split_at_tabs(line);
      if (row.count == 0 || !by_tabs(row)) row = split(line);
      return true;
    }
    return false;
  }

  [[noreturn]] void fail(std::string_view field, const std::string& message) const {
    throw InputError(position_in(text_, static_cast<std::size_t>(field.data() - text_.data()), where_), message);
  }

 private:
  Row split(std::string_view line) const {
    Row row;
    for (;;) {
      line.remove_prefix(std::min(line.find_first_not_of(kBlank), line.size()));
      if (line.empty()) return row;
      const std::string_view field = line.substr(0, line.find_first_of(kBlank));
      if (row.count == kMaxFields) fail(field, "a sixth field; a row is: source target input output weight");
      row.fields[row.count++] = field;
      line.remove_prefix(field.size());
    }
  }

  /// Nothing where a sixth field is no label: blanks and tabs may both separate.
  Row split_at_tabs(std::string_view line) const {
    for (Row row; row.count < kMaxFields;) {
      const std::size_t end = line.find('\t');
      row.fields[row.count++] = line.substr(0, end);
      if (end == std::string_view::npos) return row;
      line.remove_prefix(end + 1);
    }
    return {};
  }

  std::string_view text_, rest_, where_;
};

/// True if the states, which a row begins with, are whole fields between its tabs.
bool has_states(Row& row) {
  for (std::size_t i = 0; i < row.count; ++i)
    row.fields[i] = i == 2 || i == 3 ? trimmed_label(row.fields[i]) : trimmed(row.fields[i], kBlank);
  const auto is_one = [](std::string_view field) { return field.find_first_of(kBlank) == std::string_view::npos; };
  if (row.count == 2 && row.fields[1].empty()) row.count = 1;  // a weight that is not given
  return is_one(row.fields[0]) && (row.count < 2 || is_one(row.fields[1]));
}

/// The same of a line of a symbol table.
bool has_name_and_number(Row& row) {
  row.fields[0] = trimmed_label(row.fields[0]);
  row.fields[1] = trimmed(row.fields[1], kBlank);
  return row.count == 2 && !row.fields[0].empty();
}

// --- What the columns mean

void require_no_weight(const RowReader& reader, std::string_view field) {
  if (number_in<double>(field) != 0)
    reader.fail(field, fmt::format("weight {}; a language has no weights. Remove them with "
                                   "`fstmap --map_type=rmweight`",
                                   in_quotes(field)));
}

/// True if the fourth column is an output (as in MLRegTest) or a weight (as OpenFst writes acceptors): an output when
/// every arc has four columns and the last two agree, or when some arc has five.
bool has_output_column(const std::vector<Row>& rows) {
  const auto arcs_all = [&](auto holds) {
    return std::all_of(rows.begin(), rows.end(), [&](const Row& row) { return !row.is_arc() || holds(row); });
  };
  if (!arcs_all([](const Row& row) { return row.count < 5; })) return true;
  if (arcs_all([](const Row& row) { return row.count == 4 && row.fields[2] == row.fields[3]; })) return true;
  return !arcs_all([](const Row& row) { return row.count == 3 || number_in<double>(row.fields[3]).has_value(); });
}

void check_output_and_weight(const RowReader& reader, const Row& row, bool output_column) {
  if (row.count == 2) require_no_weight(reader, row.fields[1]);
  if (row.count == 5) require_no_weight(reader, row.fields[4]);
  if (row.count < 4) return;
  if (!output_column) return require_no_weight(reader, row.fields[3]);
  if (row.fields[2] != row.fields[3])
    reader.fail(row.fields[3], fmt::format("a transducer: input {}, output {}. Keep one side with `fstproject`",
                                           in_quotes(row.fields[2]), in_quotes(row.fields[3])));
}

// --- States

std::uint64_t state_number(const RowReader& reader, std::string_view field) {
  const auto number = number_in<std::uint64_t>(field);
  if (!number) reader.fail(field, fmt::format("{} is not the number of a state", in_quotes(field)));
  return *number;
}

/// The numbers of all states that the rows name, ascending: position in this list is the state.
std::vector<std::uint64_t> state_numbers(const RowReader& reader, const std::vector<Row>& rows) {
  std::vector<std::uint64_t> numbers;
  numbers.reserve(2 * rows.size());
  for (const Row& row : rows) {
    numbers.push_back(state_number(reader, row.fields[0]));
    if (row.is_arc()) numbers.push_back(state_number(reader, row.fields[1]));
  }
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

State find_state(const std::vector<std::uint64_t>& numbers, std::string_view field) {
  const std::uint64_t number = *number_in<std::uint64_t>(field);
  if (numbers.back() + 1 == numbers.size()) return static_cast<State>(number);  // no gaps
  return static_cast<State>(std::lower_bound(numbers.begin(), numbers.end(), number) - numbers.begin());
}

/// Names only where the numbers had gaps, so that 0, 1, 2 stay plain numbers.
std::vector<std::string> names_of(const std::vector<std::uint64_t>& numbers) {
  std::vector<std::string> names;
  if (numbers.back() + 1 == numbers.size()) return names;
  for (const std::uint64_t number : numbers) names.push_back(std::to_string(number));
  return names;
}

// --- Labels

/// Labels to letters, by the table or, without one, by first appearance.
class Labels {
 public:
  Labels(const RowReader& reader, const std::vector<Row>& rows, const AttSymbols* symbols, EpsilonNames epsilons)
      : reader_(reader), symbols_(symbols), epsilons_(std::move(epsilons)) {
    if (symbols == nullptr && !epsilons_.are_declared()) refuse_doubtful_zero(rows);
  }

  Letter letter(std::string_view label) {
    if (label.empty()) return kEpsilon;
    if (symbols_ != nullptr && std::ranges::find(symbols_->epsilons, label) != symbols_->epsilons.end())
      return kEpsilon;
    if (epsilons_.contains(label, [&](const std::string& message) { reader_.fail(label, message); })) return kEpsilon;
    if (symbols_ == nullptr) return seen_.intern(label);
    const auto found = symbols_->letters.find(label);
    if (!found) reader_.fail(label, fmt::format("the symbol {} is not in the symbol table", in_quotes(label)));
    return *found;
  }

  const std::vector<std::string>& names() const {
    if (symbols_ != nullptr) return symbols_->letters.names();
    epsilons_.check_letters(seen_.names());
    return seen_.names();
  }

 private:
  void refuse_doubtful_zero(const std::vector<Row>& rows) const {
    const Row* zero = nullptr;
    for (const Row& row : rows) {
      if (!row.is_arc()) continue;
      if (!number_in<std::uint64_t>(row.fields[2])) return;
      if (row.fields[2] == "0" && zero == nullptr) zero = &row;
    }
    if (zero != nullptr)
      reader_.fail(
          zero->fields[2],
          "0 is the empty word where labels are the numbers of OpenFst, and a letter where they are names: say "
          "--epsilon 0 or --no-epsilon, or give the table with --symbols");
  }

  const RowReader& reader_;
  const AttSymbols* symbols_;
  EpsilonNames epsilons_;
  NameTable seen_;
};

// --- Writing

void require_writable(const Alphabet& alphabet) {
  if (alphabet.size() == 0) throw InputError("AT&T text cannot hold an automaton without letters; write JSON instead");
  for (const Symbol& symbol : alphabet.symbols())
    if (symbol.name.find_first_of(" \t\r\n\v\f") != std::string::npos || EpsilonNames::may_be_no_letter(symbol.name))
      throw InputError(fmt::format(
          "AT&T text cannot hold the letter {}: its fields end at white space, and names such as <eps>, @0@ "
          "and ε mean the empty word; write JSON instead",
          in_quotes(symbol.name)));
}

void append_arcs(std::string& text, const Dfa& dfa, State state) {
  for (Letter letter = 0; letter < dfa.letters(); ++letter) {
    const std::string& name = dfa.alphabet().name(letter);
    fmt::format_to(std::back_inserter(text), "{}\t{}\t{}\t{}\n", state, dfa.next(state, letter), name, name);
  }
}

}  // namespace

AttSymbols read_symbol_table(std::string_view text, std::string_view where, const LanguageOptions& options) {
  struct Entry {
    std::uint64_t number;
    std::string_view name;
  };
  text = checked_text(text, where);
  RowReader reader(text, where);
  std::vector<Entry> entries;
  AttSymbols table;
  std::unordered_set<std::string_view> names;
  for (Row row; reader.next(row, has_name_and_number);) {
    if (row.count != 2) reader.fail(row.fields[0], "a line of a symbol table is: name number");
    const auto number = number_in<std::uint64_t>(row.fields[1]);
    if (!number || *number > INT64_MAX)
      reader.fail(row.fields[1], in_quotes(row.fields[1]) + " is not the number of a symbol");
    if (!names.insert(row.fields[0]).second) reader.fail(row.fields[0], in_quotes(row.fields[0]) + " is given twice");
    if (*number == 0 || (options.epsilon && *options.epsilon == row.fields[0]))
      table.epsilons.emplace_back(row.fields[0]);
    else if (options.no_epsilon || !EpsilonNames::is_any_letter(row.fields[0]))
      entries.push_back({*number, row.fields[0]});
  }
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.number < b.number; });
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (i > 0 && entries[i].number == entries[i - 1].number)
      reader.fail(entries[i].name, fmt::format("number {} is given twice", entries[i].number));
    table.letters.intern(entries[i].name);
  }
  EpsilonNames epsilons(options, where);
  for (const Entry& entry : entries)
    if (epsilons.contains(entry.name, [&](const std::string& message) { reader.fail(entry.name, message); }))
      reader.fail(entry.name, fmt::format("{} is a name of the empty word, whose number is 0: say --epsilon {} or "
                                          "--no-epsilon",
                                          in_quotes(entry.name), in_quotes(entry.name)));
  return table;
}

Draft read_att(std::string_view text, std::string_view where, const AttSymbols* symbols,
               const LanguageOptions& options) {
  text = checked_text(text, where);
  RowReader reader(text, where);
  std::vector<Row> rows;
  for (Row row; reader.next(row, has_states);) rows.push_back(row);
  const std::vector<std::uint64_t> numbers = state_numbers(reader, rows);
  const bool output_column = has_output_column(rows);
  Labels labels(reader, rows, symbols, EpsilonNames(options, where));
  Draft draft;
  draft.outputs.resize(numbers.size());
  draft.state_names = names_of(numbers);
  draft.initial = {find_state(numbers, rows.front().fields[0])};
  for (const Row& row : rows) {
    check_output_and_weight(reader, row, output_column);
    const State source = find_state(numbers, row.fields[0]);
    if (row.is_arc())
      draft.arcs.push_back({source, labels.letter(row.fields[2]), find_state(numbers, row.fields[1])});
    else
      draft.outputs[source] = 1;
  }
  draft.alphabet = alphabet_of_names(labels.names(), where);
  return draft;
}

std::string write_att(const Dfa& dfa) {
  if (!dfa.is_acceptor())
    throw InputError("AT&T text holds acceptors only; this machine has outputs. Write DOT or JSON instead");
  require_writable(dfa.alphabet());
  std::string text;
  append_arcs(text, dfa, dfa.initial());  // the first row names the initial state
  for (State state = 0; state < dfa.states(); ++state)
    if (state != dfa.initial()) append_arcs(text, dfa, state);
  for (State state = 0; state < dfa.states(); ++state)
    if (dfa.accepts(state)) fmt::format_to(std::back_inserter(text), "{}\n", state);
  return text;
}

std::string write_symbol_table(const Alphabet& alphabet) {
  require_writable(alphabet);
  std::string text = "<eps>\t0\n";
  for (Letter letter = 0; letter < alphabet.size(); ++letter)
    fmt::format_to(std::back_inserter(text), "{}\t{}\n", alphabet.name(letter), std::uint64_t{letter} + 1);
  return text;
}

std::vector<std::string> symbol_tables_beside(const std::string& path) {
  std::vector<std::string> tables;
  for (const char* extension : {".syms", ".isyms", ".osyms"})
    tables.push_back(std::filesystem::path(path).replace_extension(extension).string());
  return tables;
}

}  // namespace krohn
