// tools/krohn/verb.h — what the verbs of the command have in common. One verb lives in one file, verb_NAME.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "krohn/automata/language.h"
#include "tools/krohn/options.h"
#include "tools/krohn/progress.h"

namespace krohn {

/// Exit statuses of every verb; bad input and usage (2), a proof that a measurement contradicts (4: a mistake in krohn)
/// and interrupts (130) are thrown.
enum ExitStatus : int {
  kDone = 0,
  kRefuted = 1,
  kBadInput = 2,
  kUndecided = 3,
  kContradiction = 4,
  kInterruptedStatus = 130
};

/// The work of the chosen verb once its options are read. Returns the exit status.
using Work = std::function<int()>;

/// The whole command. Parsing it stores the work of the verb that was given in `chosen`. Every verb has --time and
/// --memory, which are kept around its work.
void build_command(CLI::App& app, Work& chosen);

/// The limits of the command line that was parsed last in this thread, with the verb's own where it says nothing. A
/// verb whose limits are meant otherwise, each item of a list for example, takes them over from here and clears them.
VerbLimits& given_limits();
/// The work of its verb as a participle, with its object: "classifying name:S5".
const std::string& given_work();

/// Options that several verbs share, each spelled in one place.
void add_language_options(Verb& verb, LanguageOptions& options);
/// The options that were given, by their names: {"alphabet": "ab", "mealy_as_labels": true}.
nlohmann::ordered_json language_options_json(const LanguageOptions& options);
/// The same as a shell takes them, each after a blank: " --alphabet ab --mealy-as-labels".
std::string language_options_text(const nlohmann::ordered_json& options);
void add_json_flag(Verb& verb, bool& json);
/// Throws InputError where `output` is empty: "nowhere to write the picture: add `-o PICTURE.svg`"; `besides` is
/// another way out.
void require_output(const std::string& output, const std::string& thing, const std::string& example,
                    const std::string& besides = "");
/// --device auto|cpu|cuda.
VerbOption add_device(Verb& verb, std::string& device, const std::string& description);
/// A number of bytes: 1e9, 500M, 8G.
VerbOption add_size(Verb& verb, const std::string& name, std::uint64_t& target, const std::string& description);
VerbOption add_seed(Verb& verb, std::uint64_t& seed);
VerbOption add_threads(Verb& verb, unsigned& threads);
/// An option whose value is a count ("1e8", "10^8").
VerbOption add_count(Verb& verb, const std::string& name, std::uint64_t& target, const std::string& description);
VerbOption add_optional_count(Verb& verb, const std::string& name, std::optional<std::uint64_t>& target,
                              const std::string& description);
/// --precision fp64|fp32|fp16|bf16.
VerbOption add_precision(Verb& verb, std::string& precision, const std::string& description);
/// --precision with the names of simulate/arithmetic/arithmetic_name.h.
VerbOption add_arithmetic(Verb& verb, std::string& arithmetic, const std::string& description);
/// --order with the names of simulate/arithmetic/order.h.
VerbOption add_order(Verb& verb, std::string& order);

}  // namespace krohn
