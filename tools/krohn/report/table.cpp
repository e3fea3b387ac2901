#include "tools/krohn/report/table.h"

#include <algorithm>
#include <sstream>

#include "krohn/automata/dfa/visible_text.h"

namespace krohn {
namespace {

bool starts_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

std::vector<std::size_t> column_widths(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  return widths;
}

}  // namespace

std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_character));
}

std::string shortened(const std::string& text, std::size_t most) {
  if (width(text) <= most) return text;
  std::size_t end = 0, characters = 0;
  while (end < text.size() && (characters < most || !starts_character(text[end])))
    characters += starts_character(text[end++]) ? 1 : 0;
  return text.substr(0, end) + "…";
}

std::string format_table(const std::vector<std::vector<std::string>>& rows, const std::string& indent) {
  std::vector<std::vector<std::string>> cells = rows;
  for (auto& row : cells)
    for (std::string& cell : row) cell = visible(cell);
  const auto widths = column_widths(cells);
  std::string text;
  for (const auto& row : cells) {
    std::string line = indent;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size()) line.append(widths[i] - width(row[i]) + 2, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

std::string wrapped(const std::string& text, std::size_t columns, const std::string& indent) {
  std::istringstream words(text);
  std::string result, line;
  for (std::string word; words >> word;) {
    word = visible(word);
    if (!line.empty() && width(line) + 1 + width(word) > columns) {
      result += line + '\n';
      line = indent + word;
    } else {
      line += (line.empty() ? "" : " ") + word;
    }
  }
  return result + line;
}

}  // namespace krohn
