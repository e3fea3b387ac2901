// automata/formats/format_att.h — AT&T text as OpenFst and MLRegTest write it, with symbol tables.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "krohn/automata/formats/format_draft.h"

namespace krohn {

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

}  // namespace krohn
