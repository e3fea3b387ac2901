#include "tools/krohn/checkpoint_target.h"

#include <fmt/format.h>

#include "constructions/export_checkpoint.h"
#include "tools/krohn/json_output.h"

namespace krohn {
namespace {

constexpr char kDeltaNet[] = "fla-deltanet", kGatedDeltaProduct[] = "fla-gated-deltaproduct";

void report(const Checkpoint& checkpoint, const std::string& language, const std::string& target,
            const std::string& folder) {
  const CheckpointConfig& config = checkpoint.config;
  fmt::print("{}: {} in the weights of {}\n", folder, language, target);
  fmt::print("  hidden size {}, {} head{} of {}×{}, {} Householder{} per token, {} tokens\n", config.hidden_size,
             config.heads, config.heads == 1 ? "" : "s", config.key_dim, config.value_dim, config.householders,
             config.householders == 1 ? "" : "s", config.vocabulary);
  fmt::print("  after token {} and a word, the arg max of the next token is the automaton's state (tokens.json)\n",
             *checkpoint.tokens.begin);
}

}  // namespace

std::vector<std::string> checkpoint_targets() { return {kDeltaNet, kGatedDeltaProduct}; }

void compile_checkpoint(const Dfa& automaton, const std::string& language, const std::string& target,
                        const std::string& folder, bool json) {
  const Checkpoint checkpoint =
      target == kDeltaNet ? delta_net_checkpoint(automaton) : gated_delta_product_checkpoint(automaton);
  save_checkpoint(checkpoint, folder);
  if (!json) return report(checkpoint, language, target, folder);
  const CheckpointConfig& config = checkpoint.config;
  print_json({{"language", language},
              {"target", target},
              {"output", folder},
              {"states", automaton.states()},
              {"letters", automaton.letters()},
              {"hidden_size", config.hidden_size},
              {"heads", config.heads},
              {"key_dim", config.key_dim},
              {"value_dim", config.value_dim},
              {"householders", config.householders},
              {"vocabulary", config.vocabulary},
              {"begin_token", *checkpoint.tokens.begin}});
}

}  // namespace krohn
