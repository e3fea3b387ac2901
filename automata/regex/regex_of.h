// automata/regex/regex_of.h — automata to regular expressions, short ones, proved equal.
#pragma once

#include <cstdint>
#include <string>

#include "krohn/automata/dfa/dfa.h"

namespace krohn {

struct RegexOfOptions {
  std::uint64_t max_length = 2000;  ///< bytes of the text; LimitError beyond, naming `--longest`
  std::uint64_t orders = 800;       ///< orders of elimination to try at most, all of them where that suffices
  std::uint64_t changes = 4'000;    ///< shorter expressions to test for equality at most
  double seconds = 5;               ///< for both together, as long as there is an expression at all
};

/// A short regular expression of the language, as parse_regex reads it without an alphabet; not a shortest one, which
/// is PSPACE-hard to find. States are eliminated in many orders, of the minimal automaton and of that of the words
/// backwards, and the best result is shortened while some smaller expression made of its own parts has the same minimal
/// automaton. Before it is returned it is parsed again and proved
/// equal to the automaton twice, by automata and by derivatives (regex_derivatives.h; left out past 10^5 pairs).
/// Letters are written as they are: `.` never occurs. Throws InputError unless the automaton is an acceptor.
std::string regex_of(const Dfa& dfa, const RegexOfOptions& options = {});

}  // namespace krohn
