// krohn convert — an automaton from one file format to another.

#include <memory>

#include "krohn/automata/formats/format_file.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/groups/error.h"
#include "tools/krohn/models/subject.h"
#include "tools/krohn/verb.h"

namespace krohn {
namespace {

constexpr VerbHelp kConvertHelp = {
    "convert", "Convert between automaton formats", "convert IN OUT [--format FORMAT] [--to FORMAT] [--minimal]",
    R"(
krohn convert tcp.dot tcp.json
krohn convert 'regex:(a|b)*abb' abb.att
krohn convert abb.safetensors - --to dot
)",
    R"(Reads a language or the automaton inside a model, and writes it as .dot, .gv, .att, .jff or .json, by the extension
or --to; "-" is standard output. AT&T text takes its symbol table along as a .syms file. Nondeterministic input is
determinised and completed; --minimal minimises it too.
)"};

struct ConvertArguments {
  std::string in, out, to;
  LanguageOptions reading;
  bool minimal = false;
};

int convert(const ConvertArguments& options) {
  std::optional<FileFormat> format;
  if (!options.to.empty()) format = format_of_extension(options.to);
  if (options.out == "-" && !format) throw InputError("--to", "standard output has no extension: name the format");
  const Dfa dfa = load_subject(options.in, options.reading, stderr).automaton;
  write_automaton_file(options.minimal ? minimise(dfa) : dfa, options.out, format);
  return kDone;
}

}  // namespace

void add_convert(CLI::App& app, Work& chosen) {
  const auto options = std::make_shared<ConvertArguments>();
  Verb verb = add_verb(app, kConvertHelp);
  verb.add_option("IN", options->in, "A file, regex:…, name:…, or a .safetensors model").required();
  verb.add_option("OUT", options->out, "The file to write, - for standard output").required();
  verb.add_option("--to", options->to, "Format to write, instead of OUT's extension")
      .one_of(format_names(/*only_written=*/true));
  verb.add_flag("--minimal", options->minimal, "Minimise first");
  add_language_options(verb, options->reading);
  verb.callback([options, &chosen] { chosen = [options] { return convert(*options); }; });
}

}  // namespace krohn
