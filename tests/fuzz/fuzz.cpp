// libFuzzer targets: the function KROHN_FUZZED below, one target for each (CMakeLists.txt), takes any bytes. They are
// refused with an error of ours, or what they say holds together; anything else ends the process.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "krohn/automata/formats/formats.h"
#include "krohn/automata/language.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/automata/syntax/regex.h"
#include "krohn/constructions/build/planner.h"
#include "krohn/constructions/checkpoints/checkpoint_parts.h"
#include "krohn/constructions/files/network_file.h"
#include "krohn/simulate/check/certificate_file.h"
#include "krohn/simulate/check/recheck.h"
#include "krohn/simulate/checkpoints/checkpoint_model.h"
#include "tests/automata/reference_matches.h"

namespace krohn::fuzz {
namespace {

/// Anything but an exception of krohn's own is a finding.
template <class Body>
void only_errors(Body body) {
  try {
    body();
  } catch (const Error&) {
  }
}

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

/// Few states, so that the fuzzer spends its time on the text and not on subsets.
constexpr DeterminiseOptions kFewStates{1000};

Dfa of(const Draft& draft) { return to_dfa(draft, "input", kFewStates); }

/// Ends the process when what was written is not read as the same automaton.
void require_equal(const Dfa& written, const Dfa& read, const std::string& text) {
  if (written == read) return;
  std::fprintf(stderr, "the round trip changed the automaton; it was written as\n%s\n", text.c_str());
  std::abort();
}

void survive_json(const Dfa& dfa) {
  const std::string text = write_json(dfa);
  require_equal(dfa, to_dfa(read_json(text, "again"), "again"), text);
}

}  // namespace

// Files of one format: the automaton survives JSON, which holds every automaton, and what the format's writer does not
// refuse is read again as the same one.

/// AT&T text, optionally followed by a NUL and a symbol table.
void att(std::string_view input) {
  const std::size_t split = input.find('\0');
  AttSymbols symbols;
  if (split != std::string_view::npos) symbols = read_symbol_table(input.substr(split + 1), "symbols");
  const Dfa dfa = of(read_att(input.substr(0, split), "input", split == std::string_view::npos ? nullptr : &symbols));
  survive_json(dfa);
  const std::string text = write_att(dfa);
  const AttSymbols again = read_symbol_table(write_symbol_table(dfa.alphabet()), "symbols again");
  require_equal(dfa, to_dfa(read_att(text, "again", &again), "again"), text);
}

void dot(std::string_view input) {
  for (const bool mealy_as_labels : {false, true})
    only_errors([&] {
      const auto machine = read_dot(input, "input", LanguageOptions{.mealy_as_labels = mealy_as_labels});
      const auto* mealy = std::get_if<Mealy>(&machine);
      const Dfa dfa = mealy != nullptr ? to_moore(*mealy) : of(std::get<Draft>(machine));
      survive_json(dfa);
      const std::string text = write_dot(dfa);
      require_equal(dfa, to_dfa(std::get<Draft>(read_dot(text, "again")), "again"), text);
    });
}

void gap(std::string_view input) {
  const Dfa dfa = of(read_gap(input, "input"));
  if (dfa.has_start()) survive_json(dfa);
  const std::string text = write_gap(dfa);
  require_equal(dfa, to_dfa(read_gap(text, "again"), "again"), text);
}

void jff(std::string_view input) {
  const Dfa dfa = of(read_jff(input, "input"));
  survive_json(dfa);
  const std::string text = write_jff(dfa);
  require_equal(dfa, to_dfa(read_jff(text, "again"), "again"), text);
}

void json(std::string_view input) { survive_json(of(read_json(input, "input"))); }

/// The subset automaton agrees with the nondeterministic one on all short words.
void mata(std::string_view input) {
  const Draft draft = read_mata(input, "input");
  const Dfa dfa = of(draft);
  survive_json(dfa);
  const Nfa nfa = to_nfa(draft, "input");
  if (dfa.letters() == 0 || dfa.letters() > 3) return;
  std::vector<Word> words{{}};
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (nfa.accepts_word(words[i]) != dfa.accepts(dfa.run(words[i]))) std::abort();
    for (Letter letter = 0; letter < dfa.letters() && words[i].size() < 3; ++letter) {
      words.push_back(words[i]);
      words.back().push_back(letter);
    }
  }
}

// As the certificate of one network, which drifts: it reads back as it was, and the re-checker never establishes that
// the network is right in bf16 for words of every length.

/// Fails in bf16 after 249 letters.
const Network& drifting() {
  static const Network network = [] { return build(named_language("Z5"), BuildOptions{.construction = "rotation"}); }();
  return network;
}

void certificate(std::string_view input) {
  const Certificate certificate = parse_certificate(std::string(input), "input", drifting());
  if (parse_certificate(format_certificate(certificate, drifting()), "again", drifting()).claim != certificate.claim)
    std::abort();
  RecheckOptions few{.max_letters = 2000};
  const bool is_false = certificate.is<Proved>() && certificate.arithmetic == Precision::kBf16;
  if (recheck(certificate, drifting(), few).established && is_false) std::abort();
}

// A checkpoint's folder: config.json, automaton.json and tokens.json, each ended by a NUL, then model.safetensors. The
// model runs and answers with as many logits as it has tokens.

/// Larger models are right, and slow.
constexpr std::uint64_t kMaxNumbers = 1 << 16;

void run(const Checkpoint& checkpoint) {
  std::uint64_t numbers = 0;
  for (const auto& [name, tensor] : checkpoint.tensors.tensors) numbers += tensor.elements();
  const CheckpointConfig& c = checkpoint.config;
  if (numbers > kMaxNumbers || std::uint64_t{c.heads} * c.key_dim * c.value_dim * c.layers > kMaxNumbers) return;
  for (const Precision precision : {Precision::kFp32, Precision::kBf16}) {
    const CheckpointModel model(checkpoint, precision);
    CheckpointModel::Memory memory = model.start();
    if (model.step(0, memory).size() != c.vocabulary) std::abort();
    const std::vector<std::uint32_t> tokens{0, c.vocabulary - 1};
    if (model.read_chunk(tokens, memory).size() != tokens.size()) std::abort();
  }
}

void checkpoint(std::string_view input) {
  static const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("krohn-checkpoint-fuzz-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  for (const char* name : {"config.json", "automaton.json", "tokens.json", "model.safetensors"}) {
    const std::size_t end = std::string_view(name) == "model.safetensors" ? input.size() : input.find('\0');
    const std::string_view part = input.substr(0, end);
    input.remove_prefix(std::min(input.size(), part.size() + 1));
    std::filesystem::remove(folder / name);
    if (part.empty() && std::string_view(name) != "config.json") continue;
    std::ofstream(folder / name, std::ios::binary) << part;
  }
  run(load_checkpoint(folder.string()));
}

/// The network is well-formed and survives being written and read. Seeds: tests/data/networks.
void network(std::string_view input) noexcept {
  std::optional<Network> network;
  try {
    network = parse_network(bytes_of(input), "fuzz");
  } catch (const InputError&) {
    return;
  }
  const TensorFile file = to_tensors(*network);
  if (to_tensors(from_tensors(file, "again")) != file) std::abort();
}

/// The container is read, written and read again without a change.
void safetensors(std::string_view input) noexcept {
  try {
    const TensorFile file = parse_safetensors(bytes_of(input), "fuzz");
    const std::string again = format_safetensors(file);
    if (parse_safetensors(bytes_of(again), "again") != file) std::abort();
  } catch (const InputError&) {
  }
}

// A regular expression, with small limits: its automaton agrees with the reference on short words, is minimal, and its
// letters read and write words.

void require(bool holds, const char* what, std::string_view expression) {
  if (holds) return;
  std::cerr << what << ": " << expression << '\n';
  std::abort();
}

/// The first byte chooses an alphabet, or none.
std::optional<Alphabet> alphabet_of(std::uint8_t choice) {
  switch (choice % 5) {
    case 0:
      return parse_alphabet("ab");
    case 1:
      return parse_alphabet("unicode");
    case 2:
      return parse_alphabet("a SYN \"x y\" (1");
    default:
      return std::nullopt;
  }
}

/// Some short words: all of up to two letters when there are few, and longer ones by a fixed rule.
std::vector<Word> short_words(Letter letters) {
  std::vector<Word> words{{}};
  const Letter few = std::min(letters, Letter{6});
  for (Letter a = 0; a < few; ++a) {
    words.push_back({a});
    for (Letter b = 0; b < few; ++b) {
      words.push_back({a, b});
      words.push_back({a, b, a, b, b});
      words.push_back({a, a, b, (a + b) % letters, letters - 1});
    }
  }
  return words;
}

void check(std::string_view expression, const RegexOptions& options) {
  const Dfa dfa = parse_regex(expression, options);
  const RegexTree tree = parse_regex_syntax(expression, options.alphabet, options.max_expression_size);
  const RegexLetters letters = letters_of(tree, options.alphabet);
  require(letters.alphabet == dfa.alphabet(), "another alphabet", expression);
  require(minimise(dfa) == dfa, "not minimal or not canonical", expression);
  for (const Word& word : short_words(dfa.letters())) {
    require(dfa.accepts(dfa.run(word)) == reference_matches(tree, letters, word), "another language", expression);
    require(dfa.alphabet().parse_word(dfa.alphabet().format_word(word)) == word, "word does not round trip",
            expression);
  }
}

void regex(std::string_view input) noexcept {
  if (input.empty()) return;
  RegexOptions options{
      .alphabet = alphabet_of(static_cast<std::uint8_t>(input[0])), .max_states = 300, .max_expression_size = 300};
  try {
    check(input.substr(1), options);
  } catch (const InputError&) {
  } catch (const LimitError&) {
  }
}

}  // namespace krohn::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  krohn::fuzz::only_errors([&] { krohn::fuzz::KROHN_FUZZED({reinterpret_cast<const char*>(data), size}); });
  return 0;
}
