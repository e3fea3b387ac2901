// krohn merge — puts the parts of a list together.

#include <fmt/format.h>

#include <filesystem>

#include <memory>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/groups/base/atomic_file.h"
#include "krohn/groups/base/error.h"
#include "krohn/simulate/shards/part_file.h"
#include "tools/krohn/report/output.h"
#include "tools/krohn/shards/list_work.h"
#include "tools/krohn/verb.h"

namespace krohn {
namespace {

struct MergeArguments {
  std::vector<std::string> parts;
  std::string output;
  bool missing = false;
};

int merge(const MergeArguments& options) {
  if (!options.output.empty() && !options.missing) {
    std::error_code error;
    for (const std::string& part : options.parts)
      if (std::filesystem::equivalent(part, options.output, error))
        throw InputError("-o", fmt::format("{} is one of the parts, which are not written over", options.output));
    require_writable(options.output);
  }
  const MergedParts merged = merge_parts(options.parts);
  if (options.missing) {
    fmt::print("{}\n", ranges_of(merged.missing));
    return kDone;
  }
  const std::uint64_t shards = merged.header.shard.count;
  if (!merged.missing.empty())
    throw InputError(fmt::format(
        "{} of {} missing: {}. Run each with --shard I/{}, for I in this list; what one has "
        "already done is kept",
        counted(merged.missing.size(), "shard"), with_thousands(shards), ranges_of(merged.missing), shards));
  const ListSummary summary = summary_of(merged.header.kind, merged.lines);
  if (!options.output.empty()) {
    AtomicFile file(options.output);
    for (const std::string& line : merged.lines) file.write(line + "\n");
    file.commit();
  }
  fmt::print(options.output == "-" ? stderr : stdout, "{}{}: {} of `krohn {}`, all {} whole\n", summary.text,
             options.output.empty() || options.output == "-" ? "parts" : visible(options.output),
             counted(merged.lines.size(), "line"), merged.header.kind, counted(shards, "shard"));
  return summary.status;
}

}  // namespace

Work add_merge(Verb& verb) {
  const auto options = std::make_shared<MergeArguments>();
  verb.add_option("PART", options->parts, "Files that --shard wrote").required();
  verb.add_option("-o,--output", options->output, "The lines of all, in the order of the list; -: standard output")
      .type_name("FILE");
  verb.add_flag("--missing", options->missing, "Print the shards that are missing");
  return [options] { return merge(*options); };
}

}  // namespace krohn
