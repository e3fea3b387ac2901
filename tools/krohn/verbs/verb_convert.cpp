// krohn convert — an automaton from one file format to another.

#include <fmt/format.h>

#include <memory>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/formats/format_file.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/groups/base/error.h"
#include "tools/krohn/models/subject.h"
#include "tools/krohn/verb.h"

namespace krohn {
namespace {

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

Work add_convert(Verb& verb) {
  const auto options = std::make_shared<ConvertArguments>();
  verb.add_option("IN", options->in, "A file, regex:…, name:…, expr:…, or a .safetensors model").required();
  verb.add_option("OUT", options->out, "The file to write, - for standard output");
  verb.add_option("-o,--output", options->output, "The same").type_name("FILE");
  verb.add_option("--to", options->to, "Format to write, instead of OUT's extension")
      .one_of(format_names(/*to_write=*/true));
  verb.add_flag("--minimal", options->minimal, "Minimise first");
  add_count(verb, "--longest", options->writing.longest_regex, "Most bytes of a regular expression");
  options->reading.start_is_optional = true;
  add_language_options(verb, options->reading);
  return [options] { return convert(*options); };
}

}  // namespace krohn
