// krohn draw — a picture of an automaton or of a network.

#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "krohn/automata/cascades/holonomy.h"
#include "krohn/automata/draw/draw.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/groups/base/atomic_file.h"
#include "krohn/groups/base/error.h"
#include "tools/krohn/models/subject.h"
#include "tools/krohn/pictures/pictures.h"
#include "tools/krohn/progress.h"
#include "tools/krohn/verb.h"

namespace krohn {
namespace {

struct DrawArguments {
  std::string subject, output, format, engine = "dot", view = "auto", title;
  std::uint64_t largest = DrawOptions{}.max_states;
  LanguageOptions reading;
  bool minimal = false, sink = false, plain = false, vertical = false, egg_box = false;
};

/// The views of an automaton by name.
constexpr std::pair<const char*, DrawnView> kViews[] = {{"states", DrawnView::kStates},
                                                        {"table", DrawnView::kTable},
                                                        {"matrix", DrawnView::kMatrix},
                                                        {"components", DrawnView::kComponents},
                                                        {"cayley", DrawnView::kCayley}};

constexpr const char* kFormats[] = {"svg", "pdf", "png", "dot"};

/// The value of --to, or else the extension of the file's name.
std::string draw_format(const DrawArguments& options) {
  if (!options.format.empty()) return options.format;
  if (options.output == "-") throw InputError("-o -", "--to svg, pdf, png or dot says what standard output gets");
  const std::size_t dot = options.output.rfind('.');
  const std::string extension = dot == std::string::npos ? "" : options.output.substr(dot + 1);
  for (const char* known : kFormats)
    if (extension == known) return extension;
  throw InputError(options.output, "the name of a picture ends in .svg, .pdf, .png or .dot; or --to says what it is");
}

void write_picture(const std::string& path, const std::string& picture) {
  if (path != "-") return write_file(path, picture);
  std::fwrite(picture.data(), 1, picture.size(), stdout);
}

DrawOptions draw_options(const DrawArguments& options) {
  DrawOptions draw;
  draw.engine = options.engine;
  draw.colour_components = !options.plain;
  draw.left_to_right = !options.vertical;
  draw.show_sink = options.sink;
  draw.max_states = options.largest;
  draw.title = options.title;
  for (const auto& [name, view] : kViews)
    if (options.view == name) draw.view = view;
  return draw;
}

/// A picture before it is laid out, and by what it is.
struct Sketch {
  std::string dot, engine;
};

Sketch automaton_sketch(const DrawArguments& options, const Dfa& dfa) {
  DrawnView view = DrawnView::kStates;
  std::string dot = to_drawn_dot(dfa, draw_options(options), &view);
  const bool is_asked = options.view != "auto" && options.view != "automaton";
  if (view == DrawnView::kMatrix && !is_asked)
    fmt::print(
        stderr,
        "krohn: {} states are too many to draw one by one, or have too many arrows; drawn as the transition matrix "
        "(--view states draws the states, --view components the strongly connected components)\n",
        dfa.states());
  if (view == DrawnView::kTable && !is_asked)
    fmt::print(stderr,
               "krohn: {} states have too many arrows between them for a graph; drawn as a transition table: a row for "
               "each state{}, a column for each letter\n",
               dfa.states(), dfa.is_acceptor() ? "" : ", its output below its name where they differ");
  if (view == DrawnView::kComponents && !is_asked)
    fmt::print(stderr,
               "krohn: {} states are too many to draw one by one, or have too many arrows; drawn as their strongly "
               "connected components (--view states draws the states)\n",
               dfa.states());
  return {std::move(dot), engine_for(view, options.engine)};
}

Sketch sketch_of(const DrawArguments& options, const Subject& subject) {
  const auto automaton = [&] { return options.minimal ? minimise(subject.automaton) : subject.automaton; };
  const bool is_algebra = options.egg_box || options.view == "cascade" || options.view == "chain";
  if (is_algebra || options.minimal) tell_left_out(subject, /*for_programs=*/true);
  if (options.egg_box) {
    const Dfa dfa = canonical(automaton());
    return {egg_box_dot(dfa, analyse(dfa)), options.engine};
  }
  if (options.view == "cascade")
    return {to_drawn_dot(holonomy_decomposition(automaton()), draw_options(options)), options.engine};
  if (options.view == "chain")
    return {to_drawn_dot(chain_decomposition(automaton()), draw_options(options)), options.engine};
  const bool network = options.view == "network" || (options.view == "auto" && subject.network);
  if (!network) return automaton_sketch(options, automaton());
  if (!subject.network)
    throw InputError(subject.name, "only a .safetensors model has a network to draw; `krohn compile` makes one");
  const Provenance& provenance = subject.network->provenance;
  const std::string title =
      options.title.empty()
          ? fmt::format("{}, {}", source_in_words(*subject.network, options.reading), provenance.construction)
          : options.title;
  return {network_dot(*subject.network, title), options.engine};
}

int draw(const DrawArguments& options) {
  require_output(options.output, "the picture", "PICTURE.svg");
  const std::string format = draw_format(options);
  const Sketch sketch = sketch_of(options, load_subject(options.subject, options.reading, stderr));
  if (format == "dot") {
    write_picture(options.output, sketch.dot);
    return kDone;
  }
  const Waiting waiting(fmt::format("laying out {} with {}", options.output, options.engine));
  write_picture(options.output, render_dot(sketch.dot, format, sketch.engine));
  return kDone;
}

}  // namespace

Work add_draw(Verb& verb) {
  const auto options = std::make_shared<DrawArguments>();
  verb.add_option("LANGUAGE", options->subject, "A file, regex:…, name:…, or a .safetensors model").required();
  verb.add_option("-o,--output", options->output, "The picture to write; - is standard output").type_name("FILE");
  verb.add_option("--to", options->format, "The picture's format, instead of its extension")
      .one_of({"svg", "pdf", "png", "dot"});
  verb.add_option("--view", options->view, "What to draw; auto takes the network of a model")
      .one_of(
          {"auto", "automaton", "states", "cayley", "matrix", "table", "components", "cascade", "chain", "network"});
  verb.add_option("--engine", options->engine, "Graphviz layout")
      .one_of({"dot", "neato", "circo", "fdp", "sfdp", "twopi"});
  verb.add_option("--title", options->title, "Written above");
  verb.add_flag("--minimal", options->minimal, "Minimise first");
  verb.add_flag("--eggbox", options->egg_box, "The transition monoid as egg-boxes");
  verb.add_flag("--sink", options->sink, "Show the rejecting sink too");
  verb.add_flag("--plain", options->plain, "No colours");
  verb.add_flag("--vertical", options->vertical, "From top to bottom");
  add_count(verb, "--largest", options->largest, "Most states drawn one by one");
  options->reading.start_is_optional = true;
  add_language_options(verb, options->reading);
  return [options] { return draw(*options); };
}

}  // namespace krohn
