// automata/draw/draw.h — pictures of automata through Graphviz.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "krohn/automata/cascades/cascade.h"
#include "krohn/automata/dfa/alphabet.h"
#include "krohn/automata/dfa/dfa.h"
#include "krohn/automata/monoid/algebra.h"

namespace krohn {

/// The form in which an automaton is drawn.
enum class DrawnView {
  kStates,      ///< a node a state
  kTable,       ///< the transition table: a row a state, with its output below its name where that differs
  kComponents,  ///< a node a strongly connected component
  kCayley,      ///< the states of a group, placed by its symmetry, a colour per generator
  kMatrix,      ///< the transition matrix
};

struct DrawOptions {
  std::string format = "svg";     ///< svg, pdf, png, dot
  std::string engine = "dot";     ///< a Graphviz layout: dot, neato, circo, fdp, sfdp, …
  std::optional<DrawnView> view;  ///< nothing: what suits the automaton
  bool colour_components = true;  ///< fill by strongly connected component
  bool left_to_right = true;
  bool show_sink = false;         ///< a rejecting sink is left out unless asked for
  std::uint64_t max_states = 60;  ///< above: the transition matrix, or the condensed view
  std::string title;
  std::string description;  ///< of the cascade, for who cannot see it; an automaton's is made
};

/// The automaton as DOT text: merged parallel arrows, labels with ranges shortened, a start arrow, double lines for
/// accepting states (outputs written into the node for Moore machines), a colour per strongly connected component that
/// has a cycle. What would be a hairball is drawn otherwise, and `view` says how:
///   a group of 3 to 400 elements in at most 5 generators         its Cayley graph
///   eight states or more with more than six merged arrows each   the transition table, when it fits
///   more than `max_states` states, or arrows for three times that the transition matrix, up to 1,000 states and 6,000
///                                                                arrows; past that one node per strongly connected
///                                                                component, or (past max_states / 4 of them) those
///                                                                nearest to the initial state and a note for the rest
/// The Cayley graph and the matrix give all their nodes a place, and need the engine of `engine_for`.
/// Throws InputError when `options.view` does not suit the automaton.
/// Deterministic: the same automaton gives the same bytes. O(states · letters · log), of Cayley graphs O(states³).
std::string to_drawn_dot(const Dfa& dfa, const DrawOptions& options = {}, DrawnView* view = nullptr);

/// The layout engine for a view: `asked`, but where all nodes have their places "nop", which leaves them there.
std::string engine_for(DrawnView view, const std::string& asked);

/// True if Graphviz has that layout engine here.
bool has_layout_engine(const std::string& engine);

/// The cascade as DOT text: a box per layer with its width, what its bijections generate and the number of its actions,
/// arrows for what it hands on, and one to the state that all labels together stand for. O(layers).
std::string to_drawn_dot(const Cascade& cascade, const DrawOptions& options = {});

/// Lays DOT text out and renders it; format "dot" checks the text and gives it back as it is. Safe to call from several
/// threads, one at a time being served. Throws InputError for an unknown format or engine, naming those that there are,
/// and for text that is not DOT.
std::string render_dot(const std::string& dot, const std::string& format, const std::string& engine);

/// A fill with the line of the same hue.
struct DrawColours {
  std::string_view fill, line;
};

/// Colours for the `index`-th component: Paul Tol's "pale" fills with his "dark" lines, which stay apart for all common
/// kinds of colour blindness and leave black text readable. They repeat after five.
DrawColours component_colours(std::size_t index);

/// For what belongs to no cycle.
inline constexpr DrawColours kPlainColours{"#FFFFFF", "#555555"};
/// For remarks.
inline constexpr DrawColours kNoteColours{"#F4F4F4", "#999999"};

/// The text as a quoted DOT string; line feeds become line breaks.
std::string dot_quoted(std::string_view text);

/// Opens a digraph with the look that all pictures share. The caller closes it with "}\n".
std::string dot_header(const DrawOptions& options);

/// A short text for a set of letters: consecutive characters and numbers as ranges ("a–f, 0–9"), "any" for all of them
/// and "not a" for nearly all where that is shorter, at most about 40 characters, then "… (+12)".
std::string letters_label(const Alphabet& alphabet, std::span<const Letter> letters);

/// Text for an HTML-like label: the special characters as entities, line breaks as <BR/>.
std::string html(std::string_view text);

/// The name of a group for an HTML-like label: "S_5" with its 5 lowered, "Z_2^3" with its 3 raised.
std::string group_html(const std::string& name);

// Pictures of a monoid: its D-classes as egg-boxes, in the terminal and through Graphviz.

struct EggBoxOptions {
  std::uint32_t max_side = 32;      ///< boxes with more rows or columns are written as their numbers
  std::uint32_t max_classes = 200;  ///< D-classes shown; the rest are counted
};

/// One block per D-class, from the identity down: its size, rank, group and a word in it, then a row per R-class and a
/// column per L-class; `*` marks the cells that are groups.
std::string egg_box_text(const Dfa& dfa, const Algebra& algebra, const EggBoxOptions& options = {});

/// The same as DOT text: one table per D-class, which says whether it is regular and how many elements an H-class has,
/// group cells shaded and named, arrows down the covering relation of the
/// J-order. Deterministic. For render_dot.
std::string egg_box_dot(const Dfa& dfa, const Algebra& algebra, const EggBoxOptions& options = {});

}  // namespace krohn
