// krohn/krohn.h — the whole library. It names every public header, room by room; what these include is installed with
// them, and nothing else is. A program that wants less includes the headers that it uses.
#pragma once

// Errors, groups, transformations
#include "krohn/groups/base/error.h"
#include "krohn/groups/names/named_group.h"
#include "krohn/groups/permutations/permutation.h"
#include "krohn/groups/permutations/permutation_group.h"
#include "krohn/groups/permutations/stabiliser_chain.h"
#include "krohn/groups/representations/orthogonal_representation.h"
#include "krohn/groups/structure/composition.h"
#include "krohn/groups/transformations/green.h"
#include "krohn/groups/transformations/transformation.h"
#include "krohn/groups/transformations/transformation_monoid.h"

// Automata: find_package(krohn COMPONENTS automata)
#include "krohn/automata/cascades/cascade.h"
#include "krohn/automata/dfa/dfa.h"
#include "krohn/automata/dfa/dfa_graph.h"
#include "krohn/automata/monoid/algebra.h"
#include "krohn/automata/operations/accepted_words.h"
#include "krohn/automata/operations/nfa_operations.h"
#include "krohn/automata/operations/operations.h"
#include "krohn/automata/operations/questions.h"
#include "krohn/automata/syntax/expression.h"
#include "krohn/automata/syntax/regex.h"

// Languages as users write them, their files and pictures
#include "krohn/automata/draw/draw.h"
#include "krohn/automata/families/families.h"
#include "krohn/automata/formats/format_file.h"
#include "krohn/automata/language.h"

// Networks
#include "krohn/constructions/build/planner.h"
#include "krohn/constructions/checkpoints/export_checkpoint.h"
#include "krohn/constructions/files/network_file.h"
#include "krohn/constructions/files/safetensors.h"
#include "krohn/constructions/network/exactness.h"
#include "krohn/constructions/network/network.h"

// Words, evaluation, proofs
#include "krohn/simulate/arithmetic/arithmetic_name.h"
#include "krohn/simulate/arithmetic/order.h"
#include "krohn/simulate/check/certificate_file.h"
#include "krohn/simulate/check/recheck.h"
#include "krohn/simulate/checkpoints/checkpoint_letters.h"
#include "krohn/simulate/evaluate/evaluate.h"
#include "krohn/simulate/evaluate/lanes/batch.h"
#include "krohn/simulate/prove/certify.h"
#include "krohn/simulate/prove/pairs/certify_reader.h"
#include "krohn/simulate/prove/verify.h"
#include "krohn/simulate/run/run_dfa.h"
#include "krohn/simulate/words/word.h"

// Training and what training found
#include "krohn/simulate/learned/extract_automaton.h"
#include "krohn/simulate/learned/snap_network.h"
#include "krohn/simulate/learned/spectrum.h"
#include "krohn/simulate/learned/trained_reader.h"
#include "krohn/simulate/models/models.h"
#include "krohn/simulate/tasks/task.h"
#include "krohn/simulate/tasks/tasks.h"
#include "krohn/simulate/train/evaluate_model.h"
#include "krohn/simulate/train/trained_run.h"
#include "krohn/simulate/train/trainer.h"

// Devices
#include "krohn/gpu/device/device.h"
#include "krohn/gpu/networks/device_place.h"
#include "krohn/gpu/training/device_training.h"
