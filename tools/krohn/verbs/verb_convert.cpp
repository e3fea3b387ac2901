// krohn convert — an automaton from one file format to another.

#include <fmt/format.h>

#include <memory>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/formats/format_file.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/groups/error.h"
#include "tools/krohn/models/subject.h"
#include "tools/krohn/verb.h"

namespace krohn {
namespace {

constexpr VerbHelp kConvertHelp = {
    "convert", "Convert between automaton formats, and to regular expressions",
    "convert IN OUT [--format FORMAT] [--to FORMAT] [--minimal]",
    R"(
krohn convert tcp.dot tcp.json
krohn convert 'regex:(a|b)*abb' abb.att
krohn convert zp.att -o zp.regex
krohn convert abb.safetensors - --to dot
krohn convert name:S3 - --to gap
)",
    R"(Reads a language or the automaton inside a model, and writes it in the format of OUT's extension or of --to; "-" is
standard output. Nondeterministic input is determinised and completed; --minimal minimises it too.
  dot json             everything; mealy-dot and moore-dot as AALpy writes them
  att mata jff         acceptors; AT&T text takes its symbol table along as a .syms file
  regex                a short regular expression, proved equal to the automaton before it is written; exit status 3
                       when none of at most --longest bytes was found
  gap                  transformations of the states, for GAP with SgpDec or Semigroups
  hoa openfst          for Spot and Owl (a word ends in steps without a letter), and OpenFst's binary files
  tikz latex-table     for LaTeX
Extensions: .dot .gv .json .att .fsm .mata .jff .regex .g .gap .hoa .fst .tikz .tex. docs/formats.md says what each holds.
)"};

struct ConvertArguments {
  std::string in, out, output, to;
  LanguageOptions reading;
  WriteOptions writing;
  bool minimal = false;
};

int convert(const ConvertArguments& options) {
  require_output(options.out + options.output, "the automaton", "FILE");
  if (!options.out.empty() && !options.output.empty())
    throw InputError(fmt::format("convert writes one file, not both {} and {}", options.out, options.output));
  const std::string& out = options.out.empty() ? options.output : options.out;
  std::optional<FileFormat> format;
  if (!options.to.empty()) format = format_of_extension(options.to);
  if (out == "-" && !format) throw InputError("--to", "standard output has no extension: name the format");
  if (!format) format = format_to_write(out);
  const Dfa dfa = load_subject(options.in, options.reading, stderr).automaton;
  if (!dfa.has_start() && format.value_or(FileFormat::kGap) != FileFormat::kGap)
    fmt::print(stderr, "krohn: {}: a semigroup begins in no state of its own; {} says that point 1 is initial\n",
               visible(options.in), visible(out));
  write_automaton_file(options.minimal ? minimise(dfa) : dfa, out, format, options.writing);
  return kDone;
}

}  // namespace

void add_convert(CLI::App& app, Work& chosen) {
  const auto options = std::make_shared<ConvertArguments>();
  Verb verb = add_verb(app, kConvertHelp);
  verb.add_option("IN", options->in, "A file, regex:…, name:…, expr:…, or a .safetensors model").required();
  verb.add_option("OUT", options->out, "The file to write, - for standard output");
  verb.add_option("-o,--output", options->output, "The same").type_name("FILE");
  verb.add_option("--to", options->to, "Format to write, instead of OUT's extension")
      .one_of(format_names(/*to_write=*/true));
  verb.add_flag("--minimal", options->minimal, "Minimise first");
  add_count(verb, "--longest", options->writing.longest_regex, "Most bytes of a regular expression");
  options->reading.start_is_optional = true;
  add_language_options(verb, options->reading);
  verb.callback([options, &chosen] { chosen = [options] { return convert(*options); }; });
}

}  // namespace krohn
