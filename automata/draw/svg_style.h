// automata/draw/svg_style.h — what pictures on the web need beside their lines: words for who cannot see them, and
// colours for dark pages.
#pragma once

#include <string>

namespace krohn {

/// An SVG of Graphviz's with a title and a description that screen readers read out, and with light lines on dark where
/// the reader's system asks for that. Text that is no such SVG is returned as it is.
std::string with_svg_style(std::string svg, const std::string& title, const std::string& description);

}  // namespace krohn
