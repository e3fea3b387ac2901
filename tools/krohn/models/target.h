// tools/krohn/models/target.h — `krohn compile --target …`: models for other frameworks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/constructions/checkpoints/checkpoint.h"
#include "krohn/constructions/network/network.h"

namespace krohn {

/// The values of `--target`. "krohn", the default, is krohn's own file.
std::vector<std::string> target_names();

/// The name of the target that is meant. Throws InputError: with the reason for architectures that krohn does not
/// write, with near names for others.
std::string parse_target(const std::string& text);

/// True for the targets whose weights are not those of a network of krohn's: the models of other
/// libraries.
bool is_checkpoint_target(const std::string& target);

/// True for the targets that are folders, those checkpoints among them.
bool is_folder_target(const std::string& target);

/// The constructions that the target's architecture can hold, the first choice first; empty: any.
std::vector<std::string> target_constructions(const std::string& target);

/// Throws InputError unless `output` is named as the target's files or folders are.
void check_output_name(const std::string& target, const std::string& output);

/// Writes the network for a target that is no checkpoint: one file, or a folder. Whole or not at all.
void write_network(const Network& network, const std::string& target, const std::string& output);

/// The PyTorch module of `--target torch` with the network's weights in it: one file, whose `load()` gives the network.
std::string torch_module(const Network& network);

/// The checkpoint of a target for which `is_checkpoint_target` holds. Throws as
/// constructions/checkpoints/export_checkpoint.h.
Checkpoint build_checkpoint(const Dfa& automaton, const std::string& target);

/// Writes a checkpoint's folder and says, as text or JSON, what is in it. Throws as build_checkpoint.
void compile_checkpoint(const Dfa& automaton, const std::string& language, const std::string& target,
                        const std::string& folder, bool json);

// `krohn compile --target torch-gru` and its kin: PyTorch's nonlinear cells, and single layers of other libraries.

/// "torch-rnn", "torch-rnn-relu", "torch-gru", "torch-lstm"; "xlstm-slstm", "transformers-mamba2",
/// "transformers-mlstm".
const std::vector<std::string>& cell_targets();
bool is_cell_target(const std::string& target);

struct CellCompilation {
  std::string language, target, folder;
  std::uint64_t max_pairs = 0;
  bool json = false;
};

/// Builds the model (simulate/models/cells/cell_network.h, simulate/models/stock/stock_layers.h), proves it in fp32,
/// writes the folder as `krohn train` does and says what is in it. Nothing is written before it is proved. Returns the
/// exit status.
int compile_cell(const Dfa& automaton, const CellCompilation& options);

}  // namespace krohn
