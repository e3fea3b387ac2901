#include "tools/krohn/models/refused_target.h"

#include <algorithm>
#include <iterator>

namespace krohn {
namespace {

struct Refusal {
  std::string_view names;  ///< between blanks
  std::string_view reason;
};

constexpr Refusal kRefusals[] = {
    {" mamba2 ",
     "it is written as one bare layer: the target transformers-mamba2, for automata whose letters keep all states or "
     "take all to one. Its decays lie between 0 and 1 and every number keeps its sign, so that it holds no group, not "
     "even parity; what several layers could hold, qwen3-next holds too"},
    {" gla simple-gla hgrn hgrn2 rwkv6 gsa ",
     "its decays lie between 0 and 1 and every number keeps its sign, so that it holds no group, not even parity; what "
     "it can hold, qwen3-next holds too: take that target"},
    {" kimi-linear qwen3 qwen3.5 qwen3.6 ",
     "its β is at most 1, as in the target qwen3-next, which holds the same languages: take that. fla-kda has a β up "
     "to "
     "2"},
    {" retnet lightning lightning-attention ",
     "its decay is the same for all letters and below 1, so that what it has read fades, and krohn writes states that "
     "stay as they are. Take olmo-hybrid or qwen3-next"},
    {" s4 s4d s5 lru ",
     "its transition is the same for all letters, which only add to the state: over the reals none can reset it, or "
     "swap two states. The target mamba has transitions that letters choose"},
    {" mamba3 ",
     "its state turns, but its decay is below 1, so that what was written fades, and krohn writes states that stay as "
     "they are. Take the target mamba, or pd-ssm"},
    {" rwkv7 ",
     "no eigenvalue of its transitions is below e^-0.6065 - 1 = -0.4548, so that over the reals a flip decays; take "
     "olmo-hybrid or fla-gated-deltanet"},
    {" xlstm mlstm ",
     "it is written as one bare layer: the target transformers-mlstm, for automata whose letters keep all states or "
     "take all to one, exact in fp32 alone. No number changes its sign, so that it holds no group; what several layers "
     "could hold, qwen3-next holds too"},
    {" lstm gru rnn elman ", "PyTorch's cells are the targets torch-rnn, torch-rnn-relu, torch-gru and torch-lstm"},
    {" slstm ", "the layer of the package xlstm is the target xlstm-slstm"},
    {" transformer attention llama gpt2 olmo olmo3 ",
     "attention looks at all tokens before, and no bounded memory decides how it goes on, so that nothing could be "
     "proved of words of every length; take olmo-hybrid, whose attention layers are silent"},
    {" precond-gated-deltanet precond-kda momentum-deltanet log-linear-mamba2 path-attention comba ",
     "krohn does not write this layer yet; fla-gated-deltanet and fla-kda are the nearest"},
    {" aussm ",
     "its eigenvalues are numbers of a circle, which round: of the rotations only those by quarters are exact; take "
     "pd-ssm"}};

}  // namespace

std::string_view refusal_of_target(std::string_view name) {
  if (name.empty() || name.find(' ') != std::string_view::npos) return {};
  const auto found = std::ranges::find_if(kRefusals, [name](const Refusal& refusal) {
    for (std::size_t at = refusal.names.find(name); at != std::string_view::npos; at = refusal.names.find(name, at + 1))
      if (refusal.names[at - 1] == ' ' && refusal.names[at + name.size()] == ' ') return true;
    return false;
  });
  return found == std::end(kRefusals) ? std::string_view() : found->reason;
}

}  // namespace krohn
