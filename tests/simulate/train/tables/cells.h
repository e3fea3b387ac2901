// tests/simulate/train/tables/cells.h — cells and settings of the papers' tables by name.
#pragma once

#include "krohn/simulate/train/tables/paper_tables.h"
#include "tests/testing.h"

namespace krohn::test {

inline const Experiment& cell_of(const PaperTable& table, const std::string& row, const std::string& column) {
  for (const Experiment& each : table.experiments)
    if (each.row == row && each.column == column) return each;
  throw InputError(fmt::format("{} has no cell {}, {}", table.name, row, column));
}

inline PaperTable paper_scale(const char* name, Recipe recipe = Recipe::kPaper) {
  return paper_table(name, TableScale::kPaper, recipe);
}

/// In hundredths, over the columns of a row.
struct Sums {
  long trained = 0, longer = 0;
};

inline std::map<std::string, Sums> sums_of(const PaperTable& table) {
  std::map<std::string, Sums> sums;
  for (const Experiment& cell : table.experiments) {
    if (cell.paper_trained) sums[cell.row].trained += std::lround(*cell.paper_trained * 100);
    if (cell.paper) sums[cell.row].longer += std::lround(*cell.paper * 100);
  }
  return sums;
}

/// A setting of a cell by name.
inline std::string value(const Experiment& cell, const std::string& name) {
  for (const Setting& each : settings(cell))
    if (each.name == name) return each.value;
  return "";
}

/// The settings that a text names, each with what it is: CHECK(settings_as(cell, text) == text) holds where a text such
/// as "steps=8000; clip=0" is true.
inline std::string settings_as(const Experiment& cell, const std::string& text) {
  std::string found;
  std::istringstream words(text);
  for (std::string word; std::getline(words >> std::ws, word, ';');) {
    const std::string name = word.substr(0, word.find('='));
    found += fmt::format("{}{}={}", found.empty() ? "" : "; ", name, value(cell, name));
  }
  return found;
}

}  // namespace krohn::test
