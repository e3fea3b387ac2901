// krohn kit — the conformance kit for runtimes.

#include <fmt/format.h>

#include <memory>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/groups/counted.h"
#include "tools/krohn/models/kit.h"
#include "tools/krohn/verb.h"

namespace krohn {
namespace {

constexpr VerbHelp kKitHelp = {
    "kit", "Write models whose every answer is known, to test runtimes with", "kit -o FOLDER [--seed N]",
    R"(
krohn kit -o kit/
python kit/run.py --runtime transformers
python kit/run.py --runtime transformers --planted
python kit/run.py --runtime onnx
python kit/run.py --runtime llama
)",
    R"(Writes small language models in the stock classes of transformers (Olmo Hybrid, Qwen3-Next), which follow the state
of an automaton exactly: a group, or a memory of one bit. Beside each stand words, at the lengths where runtimes cut, and the
right token at every position. run.py reads them through a runtime (transformers, ONNX Runtime, llama.cpp) in every way that
text is served (whole, in pieces, token by token, in batches, in turns, from a saved state, with drafts that are taken back)
and prints the first wrong token and which fault of the runtime's state explains it: an update lost, doubled or
exchanged, a state reset, emptied, or another word's. FOLDER holds all that is needed, README.md says what the kit cannot see.
)"};

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

void add_kit(CLI::App& app, Work& chosen) {
  const auto options = std::make_shared<KitArguments>();
  Verb verb = add_verb(app, kKitHelp);
  verb.add_option("-o,--output", options->folder, "The folder to write");
  add_seed(verb, options->seed);
  verb.callback([options, &chosen] { chosen = [options] { return kit(*options); }; });
}

}  // namespace krohn
