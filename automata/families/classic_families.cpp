#include "krohn/automata/families/families.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "krohn/groups/base/error.h"

namespace krohn {
namespace {

/// Rows {on 0, on 1}, the accepting states as a set; state 0 is initial.
struct SmallAcceptor {
  std::vector<std::array<State, 2>> rows;
  std::vector<bool> accepting;
};

Dfa build(const SmallAcceptor& machine) {
  std::vector<State> table;
  for (const auto& row : machine.rows) table.insert(table.end(), row.begin(), row.end());
  return Dfa::acceptor(Alphabet::of_characters("01"), std::move(table), 0, machine.accepting);
}

/// Letters 2t and 2t+1 open and close kind t.
std::vector<std::string> bracket_names(std::uint64_t types) {
  static constexpr std::array<const char*, 8> kCharacters{"(", ")", "[", "]", "{", "}", "<", ">"};
  std::vector<std::string> names;
  for (std::uint64_t type = 0; type < types; ++type)
    for (std::uint64_t side = 0; side < 2; ++side)
      names.push_back(type < 4 ? kCharacters[2 * type + side] : fmt::format("{}{}", side ? "close" : "open", type + 1));
  return names;
}

}  // namespace

Dfa tomita(std::uint64_t index) {
  switch (index) {
    case 1:
      return build({{{1, 0}, {1, 1}}, {true, false}});
    case 2:
      return build({{{2, 1}, {0, 2}, {2, 2}}, {true, false, false}});
    // 0: no odd run of 1s yet; 1: inside one; afterwards 2: an odd number of 0s in this run, 3: an even number; 4:
    // refuted.
    case 3:
      return build({{{0, 1}, {2, 0}, {3, 4}, {2, 3}, {4, 4}}, {true, true, false, true, false}});
    case 4:
      return build({{{1, 0}, {2, 0}, {3, 0}, {3, 3}}, {true, true, true, false}});
    case 5:
      return build({{{1, 2}, {0, 3}, {3, 0}, {2, 1}}, {true, false, false, false}});
    case 6:
      return build({{{1, 2}, {2, 0}, {0, 1}}, {true, false, false}});
    case 7:
      return build({{{0, 1}, {2, 1}, {2, 3}, {4, 3}, {4, 4}}, {true, true, true, true, false}});
    default:
      throw InputError(fmt::format("tomita{}: Tomita's languages are tomita1 … tomita7", index));
  }
}

Dfa even_pair(std::uint64_t m, const TableLimit& limit) {
  check_table_size(fmt::format("evenpair{}", m), 2 * m + 1, m, limit);
  // 0: nothing read; 1 + 2f + e: the first letter is f, and e says whether the last one equals it.
  return tabulate_acceptor(
      Alphabet::from_names(numerals(m)), 2 * m + 1, 0,
      [](State q, Letter letter) {
        const State first = q == 0 ? letter : (q - 1) / 2;
        return 1 + 2 * first + (letter == first ? 1 : 0);
      },
      [](State q) { return q > 0 && (q - 1) % 2 == 1; });
}

Dfa bounded_dyck(std::uint64_t types, std::uint64_t depth, const TableLimit& limit) {
  // Stacks in base-`types` bijective numeration: 0 is empty, pushing t makes types·s + t + 1. The sink comes last.
  const std::string name = fmt::format("dyck:types={},depth={}", types, depth);
  std::uint64_t stacks = 0;
  for (std::uint64_t level = 0; level <= depth && stacks <= limit.max_states; ++level)
    stacks += std::min(saturating_power(types, level), limit.max_states);
  check_table_size(name, stacks + 1, 2 * types, limit);
  const std::uint64_t sink = stacks;
  return tabulate_acceptor(
      Alphabet::from_names(bracket_names(types)), stacks + 1, 0,
      [&](State q, Letter letter) -> std::uint64_t {
        const std::uint64_t type = letter / 2;
        if (q == sink) return sink;
        if (letter % 2 == 0) return types * q + type + 1 < stacks ? types * q + type + 1 : sink;
        return q > 0 && (q - 1) % types == type ? (q - 1) / types : sink;
      },
      [](State q) { return q == 0; });
}

Dfa parity() {
  return tabulate_acceptor(
      Alphabet::of_characters("01"), 2, 0, [](State q, Letter letter) { return q ^ letter; },
      [](State q) { return q == 1; });
}

Dfa sum_modulo(std::uint64_t m, const TableLimit& limit) {
  check_table_size(fmt::format("sum{}", m), m, m, limit);
  const std::vector<std::string> names = numerals(m);
  return tabulate(
      Alphabet::from_names(names), m, 0, [m](State q, Letter letter) { return (std::uint64_t{q} + letter) % m; },
      [](State q) { return q; }, names);
}

Dfa modular_counter(std::uint64_t m, const TableLimit& limit) {
  check_table_size(fmt::format("counter{}", m), m, 1, limit);
  return tabulate_acceptor(
      Alphabet::of_characters("1"), m, 0, [m](State q, Letter) { return (q + 1) % m; }, [](State q) { return q == 0; });
}

Dfa saturating_counter(std::uint64_t m, const TableLimit& limit) {
  check_table_size(fmt::format("saturating{}", m), m, 2, limit);
  return tabulate(
      Alphabet::of_characters("+-"), m, 0,
      [m](State q, Letter letter) { return letter == 0 ? (q + 1 < m ? q + 1 : q) : (q > 0 ? q - 1 : q); },
      [](State q) { return q; }, numerals(m));
}

namespace {

/// The kinds of letter of the arithmetic alphabets.
enum class Kind : std::uint8_t { kDigit, kPlus, kMinus, kTimes, kOpen, kClose };

Kind kind_of(Letter letter, std::uint64_t m) {
  return letter < m ? Kind::kDigit : static_cast<Kind>(static_cast<std::uint64_t>(Kind::kPlus) + letter - m);
}

/// The sum of the finished terms and the term in progress.
struct Terms {
  std::uint64_t sum = 0, term = 0;
};

/// Digits multiply, + and − finish the term, * waits.
Terms advance(Terms t, Kind kind, std::uint64_t digit, std::uint64_t m) {
  switch (kind) {
    case Kind::kDigit:
      return {t.sum, t.term * digit % m};
    case Kind::kPlus:
      return {(t.sum + t.term) % m, 1 % m};
    case Kind::kMinus:
      return {(t.sum + t.term) % m, m - 1};
    default:
      return t;
  }
}

std::vector<std::string> outcome_names(std::uint64_t m) {
  std::vector<std::string> names = numerals(m);
  names.push_back("incomplete");
  names.push_back("error");
  return names;
}

std::uint64_t apply(Kind operation, std::uint64_t value, std::uint64_t digit, std::uint64_t m) {
  switch (operation) {
    case Kind::kPlus:
      return (value + digit) % m;
    case Kind::kMinus:
      return (value + m - digit) % m;
    default:
      return value * digit % m;
  }
}

/// A stack of terms, the ground first, with the phase: what a state of bracketed arithmetic stands for.
struct Brackets {
  std::vector<Terms> frames;
  bool after_operand = false;
};

/// Numbers the stacks: level by level, within a level by the frames as digits in base m², then by phase.
class BracketStates {
 public:
  BracketStates(std::uint64_t m, std::uint64_t depth) : m_(m), depth_(depth), first_{0} {
    for (std::uint64_t level = 0; level <= depth; ++level)
      first_.push_back(first_.back() + 2 * saturating_power(m, 2 * (level + 1)));
  }

  std::uint64_t error() const { return first_.back(); }

  std::uint64_t number(const Brackets& brackets) const {
    std::uint64_t index = 0;
    for (const Terms& frame : brackets.frames) index = (index * m_ + frame.sum) * m_ + frame.term;
    return first_[brackets.frames.size() - 1] + 2 * index + (brackets.after_operand ? 1 : 0);
  }

  Brackets at(std::uint64_t state) const {
    std::size_t level = 0;
    while (state >= first_[level + 1]) ++level;
    std::uint64_t index = state - first_[level];
    Brackets brackets;
    brackets.after_operand = index % 2 == 1;
    index /= 2;
    brackets.frames.resize(level + 1);
    for (auto frame = brackets.frames.rbegin(); frame != brackets.frames.rend(); ++frame) {
      frame->term = index % m_;
      frame->sum = index / m_ % m_;
      index /= m_ * m_;
    }
    return brackets;
  }

  std::uint64_t next(std::uint64_t state, Letter letter) const {
    if (state == error()) return error();
    Brackets brackets = at(state);
    const Kind kind = kind_of(letter, m_);
    const bool legal =
        brackets.after_operand ? continue_after_operand(brackets, kind) : read_operand(brackets, kind, letter);
    return legal ? number(brackets) : error();
  }

 private:
  bool read_operand(Brackets& brackets, Kind kind, std::uint64_t digit) const {
    Terms& top = brackets.frames.back();
    if (kind == Kind::kMinus) {
      top.term = (m_ - top.term) % m_;
      return true;
    }
    if (kind == Kind::kOpen && brackets.frames.size() <= depth_) {
      brackets.frames.push_back({0, 1 % m_});
      return true;
    }
    if (kind != Kind::kDigit) return false;
    top = advance(top, kind, digit, m_);
    brackets.after_operand = true;
    return true;
  }

  bool continue_after_operand(Brackets& brackets, Kind kind) const {
    if (kind == Kind::kClose && brackets.frames.size() > 1) {
      const Terms inner = brackets.frames.back();
      brackets.frames.pop_back();
      brackets.frames.back() = advance(brackets.frames.back(), Kind::kDigit, (inner.sum + inner.term) % m_, m_);
      return true;
    }
    if (kind != Kind::kPlus && kind != Kind::kMinus && kind != Kind::kTimes) return false;
    brackets.frames.back() = advance(brackets.frames.back(), kind, 0, m_);
    brackets.after_operand = false;
    return true;
  }

  std::uint64_t m_, depth_;
  std::vector<std::uint64_t> first_;  ///< the first state of each level, then the error state
};

std::vector<std::string> arithmetic_letters(std::uint64_t m) {
  std::vector<std::string> names = numerals(m);
  names.insert(names.end(), {"+", "-", "*"});
  return names;
}

/// 2(m² + … + m^(2·depth+2)) + 1, or UINT64_MAX when that does not fit.
std::uint64_t bracket_state_count(std::uint64_t m, std::uint64_t depth) {
  constexpr std::uint64_t kDeep = 64;  // with m = 1 the sum is 2(depth + 1); beyond, it never fits
  if (m == 1) return saturating_product(2, depth + 1) + 1;
  if (depth > kDeep) return UINT64_MAX;
  std::uint64_t count = 1;
  for (std::uint64_t level = 0; level <= depth; ++level) {
    const std::uint64_t stacks = saturating_product(2, saturating_power(m, 2 * (level + 1)));
    if (__builtin_add_overflow(count, stacks, &count)) return UINT64_MAX;
  }
  return count;
}

}  // namespace

Alphabet arithmetic_alphabet(std::uint64_t m) { return Alphabet::from_names(arithmetic_letters(m)); }

Dfa modular_arithmetic(std::uint64_t m, const TableLimit& limit) {
  const std::uint64_t states = saturating_power(m, 2);
  check_table_size(fmt::format("modarith{}", m), states, m + 3, limit);
  return tabulate(
      arithmetic_alphabet(m), states, static_cast<State>(1 % m),
      [m](State q, Letter letter) {
        const Terms t = advance({q / m, q % m}, kind_of(letter, m), letter, m);
        return t.sum * m + t.term;
      },
      [m](State q) { return (q / m + q % m) % m; }, numerals(m));
}

Dfa modular_arithmetic_strict(std::uint64_t m, const TableLimit& limit) {
  const std::uint64_t pairs = saturating_power(m, 2), error = saturating_product(2, pairs);
  check_table_size(fmt::format("modarith{}-strict", m), error == UINT64_MAX ? error : error + 1, m + 3, limit);
  // Pairs that await a digit come first, then those that end with one.
  return tabulate(
      arithmetic_alphabet(m), error + 1, static_cast<State>(1 % m),
      [=](State q, Letter letter) {
        const Kind kind = kind_of(letter, m);
        const bool after_digit = q >= pairs;
        if (q == error || after_digit == (kind == Kind::kDigit)) return error;
        const Terms t = advance({q % pairs / m, q % m}, kind, letter, m);
        return (after_digit ? 0 : pairs) + t.sum * m + t.term;
      },
      [=](State q) { return q == error  ? m + 1
                            : q < pairs ? m
                                        : (q % pairs / m + q % m) % m; }, outcome_names(m));
}

Dfa left_to_right_arithmetic(std::uint64_t m, const TableLimit& limit) {
  check_table_size(fmt::format("ltrarith{}", m), saturating_product(3, m), m + 3, limit);
  return tabulate(
      arithmetic_alphabet(m), 3 * m, 0,
      [m](State q, Letter letter) {
        const Kind kind = kind_of(letter, m), pending = kind_of(static_cast<Letter>(m + q / m), m);
        if (kind == Kind::kDigit) return apply(pending, q % m, letter, m);
        return (letter - m) * m + q % m;
      },
      [m](State q) { return q % m; }, numerals(m));
}

Dfa left_to_right_arithmetic_strict(std::uint64_t m, const TableLimit& limit) {
  const std::uint64_t error = saturating_product(4, m);
  check_table_size(fmt::format("ltrarith{}-strict", m), error == UINT64_MAX ? error : error + 1, m + 3, limit);
  // m·o + v: value v and operator o (+, −, *) awaiting its digit; 3m + v: value v after a digit.
  return tabulate(
      arithmetic_alphabet(m), error + 1, 0,
      [=](State q, Letter letter) {
        const Kind kind = kind_of(letter, m);
        const bool after_digit = q >= 3 * m;
        if (q == error || after_digit == (kind == Kind::kDigit)) return error;
        if (after_digit) return (letter - m) * m + q % m;
        return 3 * m + apply(kind_of(static_cast<Letter>(m + q / m), m), q % m, letter, m);
      },
      [=](State q) { return q == error  ? m + 1
                            : q < 3 * m ? m
                                        : q % m; }, outcome_names(m));
}

Dfa bracketed_arithmetic(std::uint64_t m, std::uint64_t depth, const TableLimit& limit) {
  check_table_size(fmt::format("brackets:m={},depth={}", m, depth), bracket_state_count(m, depth), m + 5, limit);
  std::vector<std::string> letters = arithmetic_letters(m);
  letters.insert(letters.end(), {"(", ")"});
  const BracketStates states(m, depth);
  const auto start = static_cast<State>(states.number({{{0, 1 % m}}, false}));
  return tabulate(
      Alphabet::from_names(letters), states.error() + 1, start,
      [&](State q, Letter letter) { return states.next(q, letter); },
      [&](State q) -> std::uint64_t {
        if (q == states.error()) return m + 1;
        const Brackets brackets = states.at(q);
        if (!brackets.after_operand || brackets.frames.size() > 1) return m;
        return (brackets.frames[0].sum + brackets.frames[0].term) % m;
      },
      outcome_names(m));
}

}  // namespace krohn
