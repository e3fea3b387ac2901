// krohn kit — the conformance kit for runtimes.

#include <fmt/format.h>

#include <memory>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/groups/base/error.h"
#include "tools/krohn/models/kit.h"
#include "tools/krohn/verb.h"

namespace krohn {
namespace {

struct KitArguments {
  std::string folder;
  std::uint64_t seed = 1;
};

int kit(KitArguments options) {
  require_output(options.folder, "the models", "FOLDER");
  while (options.folder.size() > 1 && options.folder.ends_with('/')) options.folder.pop_back();
  write_kit(options.folder, options.seed);
  fmt::print("{}: {} and their words; next: python {}/run.py --runtime transformers\n", visible(options.folder),
             counted(kit_models().size(), "model"), visible(options.folder));
  return kDone;
}

}  // namespace

Work add_kit(Verb& verb) {
  const auto options = std::make_shared<KitArguments>();
  verb.add_option("-o,--output", options->folder, "The folder to write");
  add_seed(verb, options->seed);
  return [options] { return kit(*options); };
}

}  // namespace krohn
