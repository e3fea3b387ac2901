#include "krohn/automata/formats/format_att.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <unordered_set>

#include "krohn/groups/error.h"

namespace krohn {

namespace {

constexpr std::string_view kBlank = " \t\r\v\f";
constexpr std::array<std::string_view, 3> kEpsilonNames = {"<eps>", "<EPS>", "<epsilon>"};
constexpr std::size_t kMostFields = 5;

/// The fields of one line, as views into the text, so that an error can tell their column.
struct Row {
  std::array<std::string_view, kMostFields> fields;
  std::size_t count = 0;

  bool is_arc() const { return count >= 3; }
};

/// Cuts lines into fields; knows where every field was.
class RowReader {
 public:
  RowReader(std::string_view text, std::string_view where) : text_(text), rest_(text), where_(where) {}

  /// The next line that is not blank; false at the end.
  bool next(Row& row) {
    while (!rest_.empty()) {
      const std::size_t end = std::min(rest_.find('\n'), rest_.size());
      row = split(rest_.substr(0, end));
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
      if (row.count > 0) return true;
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
      if (row.count == kMostFields) fail(field, "a sixth field; a row is: source target input output weight");
      row.fields[row.count++] = field;
      line.remove_prefix(field.size());
    }
  }

  std::string_view text_, rest_, where_;
};

// --- What the columns mean

bool is_weight(std::string_view field) {
  double weight = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), weight);
  return error == std::errc{} && end == field.data() + field.size();
}

void require_no_weight(const RowReader& reader, std::string_view field) {
  double weight = 1;
  std::from_chars(field.data(), field.data() + field.size(), weight);
  if (!is_weight(field) || weight != 0)
    reader.fail(field, fmt::format("weight {}; a language has no weights. Remove them with "
                                   "`fstmap --map_type=rmweight`",
                                   in_quotes(field)));
}

/// Whether the fourth column is an output (as in MLRegTest) or a weight (as OpenFst writes acceptors): an output when
/// every arc has four columns and the last two agree, or when some arc has five.
bool has_output_column(const std::vector<Row>& rows) {
  const auto arcs_all = [&](auto holds) {
    return std::all_of(rows.begin(), rows.end(), [&](const Row& row) { return !row.is_arc() || holds(row); });
  };
  if (!arcs_all([](const Row& row) { return row.count < 5; })) return true;
  if (arcs_all([](const Row& row) { return row.count == 4 && row.fields[2] == row.fields[3]; })) return true;
  return !arcs_all([](const Row& row) { return row.count == 3 || is_weight(row.fields[3]); });
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
  const auto number = parse_number(field);
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
  const std::uint64_t number = *parse_number(field);
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
  Labels(const RowReader& reader, const std::vector<Row>& rows, const AttSymbols* symbols)
      : reader_(reader), symbols_(symbols) {
    if (symbols == nullptr) {
      epsilons_.insert(kEpsilonNames.begin(), kEpsilonNames.end());
      if (std::all_of(rows.begin(), rows.end(),
                      [](const Row& row) { return !row.is_arc() || parse_number(row.fields[2]); }))
        epsilons_.insert("0");
    } else {
      epsilons_.insert(symbols->epsilons.begin(), symbols->epsilons.end());
    }
  }

  Letter letter(std::string_view label) {
    if (epsilons_.contains(label)) return kEpsilon;
    if (symbols_ == nullptr) return seen_.intern(label);
    const auto found = symbols_->letters.find(label);
    if (!found) reader_.fail(label, fmt::format("the symbol {} is not in the symbol table", in_quotes(label)));
    return *found;
  }

  const std::vector<std::string>& names() const {
    return symbols_ == nullptr ? seen_.names() : symbols_->letters.names();
  }

 private:
  const RowReader& reader_;
  const AttSymbols* symbols_;
  NameTable seen_;
  std::unordered_set<std::string_view> epsilons_;
};

// --- Writing

void require_writable(const Alphabet& alphabet) {
  if (alphabet.size() == 0) throw InputError("AT&T text cannot hold an automaton without letters; write JSON instead");
  for (const Symbol& symbol : alphabet.symbols())
    if (symbol.name.find_first_of(" \t\r\n\v\f") != std::string::npos ||
        std::find(kEpsilonNames.begin(), kEpsilonNames.end(), symbol.name) != kEpsilonNames.end())
      throw InputError(
          fmt::format("AT&T text cannot hold the letter {}: its fields end at white space, and <eps>, <EPS> "
                      "and <epsilon> mean the empty word; write JSON instead",
                      in_quotes(symbol.name)));
}

void append_arcs(std::string& text, const Dfa& dfa, State state) {
  for (Letter letter = 0; letter < dfa.letters(); ++letter) {
    const std::string& name = dfa.alphabet().name(letter);
    fmt::format_to(std::back_inserter(text), "{}\t{}\t{}\t{}\n", state, dfa.next(state, letter), name, name);
  }
}

}  // namespace

AttSymbols read_symbol_table(std::string_view text, std::string_view where) {
  struct Entry {
    std::uint64_t number;
    std::string_view name;
  };
  text = checked_text(text, where);
  RowReader reader(text, where);
  std::vector<Entry> entries;
  AttSymbols table;
  std::unordered_set<std::string_view> names;
  for (Row row; reader.next(row);) {
    if (row.count != 2) reader.fail(row.fields[0], "a line of a symbol table is: name number");
    const auto number = parse_number(row.fields[1]);
    if (!number || *number > INT64_MAX)
      reader.fail(row.fields[1], in_quotes(row.fields[1]) + " is not the number of a symbol");
    if (!names.insert(row.fields[0]).second) reader.fail(row.fields[0], in_quotes(row.fields[0]) + " is given twice");
    if (*number == 0)
      table.epsilons.emplace_back(row.fields[0]);
    else
      entries.push_back({*number, row.fields[0]});
  }
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.number < b.number; });
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (i > 0 && entries[i].number == entries[i - 1].number)
      reader.fail(entries[i].name, fmt::format("number {} is given twice", entries[i].number));
    table.letters.intern(entries[i].name);
  }
  return table;
}

Draft read_att(std::string_view text, std::string_view where, const AttSymbols* symbols) {
  text = checked_text(text, where);
  RowReader reader(text, where);
  std::vector<Row> rows;
  for (Row row; reader.next(row);) rows.push_back(row);
  const std::vector<std::uint64_t> numbers = state_numbers(reader, rows);
  const bool output_column = has_output_column(rows);
  Labels labels(reader, rows, symbols);
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

}  // namespace krohn
