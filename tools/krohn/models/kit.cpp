#include "tools/krohn/models/kit.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>

#include "kit_files.h"
#include "krohn/automata/formats/json.h"
#include "krohn/automata/language.h"
#include "krohn/constructions/build/planner.h"
#include "krohn/constructions/checkpoints/export_checkpoint.h"
#include "krohn/constructions/files/network_file.h"
#include "krohn/groups/base/atomic_file.h"
#include "krohn/groups/base/random.h"
#include "tools/krohn/report/output.h"

namespace krohn {
namespace {

constexpr std::uint32_t kDecoded = 10, kLongDecoded = 140;  // twice 64, and more

KitTracker tracker_of(const Checkpoint& checkpoint, std::uint32_t delay) {
  const TokenTable& tokens = checkpoint.tokens;
  return {*checkpoint.automaton, {*tokens.begin}, tokens.of_letter, tokens.of_state, tokens.as_input, delay};
}

KitModel model(std::string name, std::string about, const Checkpoint& checkpoint, std::uint32_t delay = 0) {
  return {std::move(name), std::move(about), checkpoint, tracker_of(checkpoint, delay)};
}

Checkpoint olmo(const char* language, const char* generators = nullptr) {
  LanguageOptions options;
  if (generators != nullptr) options.generators = generators;
  return gated_checkpoint(load_language(language, options), CheckpointFamily::kOlmoHybrid);
}

KitModel digits() {
  const DigitsCheckpoint made = digits_checkpoint();
  using Digits = DigitsCheckpoint;
  KitTracker tracker{
      load_language("name:parity"), {}, {Digits::kKeep, Digits::kFlip}, {Digits::kEven, Digits::kOdd}, {1, 1}};
  for (std::uint32_t token = 0; token < Digits::kBeginTokens; ++token) tracker.begin.push_back(token);
  return {"digits", "parity whose state needs 13 binary digits: a state kept in bf16 or fp16 is seen at once",
          made.checkpoint, tracker};
}

/// Letters "tick" and "wait", one that sets the clock to 0, and `fourth`, which leads to `after_fourth` of a state.
KitModel clock(std::string name, std::string about, ClockCheckpoint made, const char* fourth,
               const std::function<State(State)>& after_fourth) {
  using Clock = ClockCheckpoint;
  constexpr State kLast = Clock::kStates - 1;
  const std::vector<std::string> names{"tick", "wait", "set 0", fourth};
  std::vector<State> table;
  for (State state = 0; state <= kLast; ++state)
    table.insert(table.end(), {std::min(state + 1, kLast), state, 0, std::min(after_fourth(state), kLast)});
  KitTracker tracker{
      Dfa::acceptor(Alphabet::from_names(names), std::move(table), kLast, std::vector<bool>(Clock::kStates, false)),
      {Clock::kBegin, Clock::kBegin + 1},
      {Clock::kTick, Clock::kWait, Clock::kSet0, Clock::kFourth},
      {},
      {}};
  for (State state = 0; state <= kLast; ++state) {
    tracker.state_tokens.push_back(Clock::kFirstState + state);
    tracker.as_input.push_back(Clock::as_input(state));
  }
  return {std::move(name), std::move(about), std::move(made.checkpoint), std::move(tracker)};
}

/// Draws letters of a tracker's automaton.
class Letters {
 public:
  Letters(const Dfa& automaton, std::uint64_t seed) : automaton_(automaton), random_(seed) {
    for (Letter letter = 0; letter < automaton.letters(); ++letter) {
      bool keeps_all = true;
      for (State state = 0; state < automaton.states(); ++state) keeps_all &= automaton.next(state, letter) == state;
      (keeps_all ? quiet_ : others_).push_back(letter);
    }
  }

  bool has_quiet() const { return !quiet_.empty() && !others_.empty(); }
  Letter any() { return static_cast<Letter>(random_.below(automaton_.letters())); }
  /// Nearly always one that does nothing.
  Letter rarely() { return random_.below(50) == 0 ? pick(others_) : pick(quiet_); }
  /// One that does not commute with the letter; any where all do.
  Letter against(Letter letter) {
    std::vector<Letter> against;
    for (Letter other = 0; other < automaton_.letters(); ++other)
      if (!commute(letter, other)) against.push_back(other);
    return against.empty() ? any() : pick(against);
  }
  bool all_commute() const {
    for (Letter a = 0; a < automaton_.letters(); ++a)
      for (Letter b = 0; b < a; ++b)
        if (!commute(a, b)) return false;
    return true;
  }

 private:
  Letter pick(const std::vector<Letter>& letters) { return letters[random_.below(letters.size())]; }
  bool commute(Letter a, Letter b) const {
    for (State state = 0; state < automaton_.states(); ++state)
      if (automaton_.next(automaton_.next(state, a), b) != automaton_.next(automaton_.next(state, b), a)) return false;
    return true;
  }

  const Dfa& automaton_;
  Random random_;
  std::vector<Letter> quiet_, others_;
};

std::string tracker_text(const KitModel& model) {
  const KitTracker& tracker = model.tracker;
  const Dfa& automaton = tracker.automaton;
  nlohmann::ordered_json json{{"name", model.name}, {"about", model.about}, {"initial", automaton.initial()}};
  for (State state = 0; state < automaton.states(); ++state) {
    nlohmann::ordered_json row;
    for (Letter letter = 0; letter < automaton.letters(); ++letter) row.push_back(automaton.next(state, letter));
    json["table"].push_back(std::move(row));
  }
  json["letters"] = automaton.alphabet().names();
  json["begin"] = tracker.begin;
  json["letter_tokens"] = tracker.letter_tokens;
  json["state_tokens"] = tracker.state_tokens;
  json["as_input"] = tracker.as_input;
  json["delay"] = tracker.delay;
  json["layers"] = model.checkpoint.config.layers;
  json["formats"] = nlohmann::ordered_json::array({"float32"});
  if (model.is_exact_in_bf16) json["formats"].push_back("bfloat16");
  return json.dump() + "\n";
}

/// Token n is the word "tn": servers that speak of tokens by their texts can load the model.
std::string tokenizer_text(std::uint32_t tokens) {
  nlohmann::ordered_json words;
  for (std::uint32_t token = 0; token < tokens; ++token) words[fmt::format("t{}", token)] = token;
  return nlohmann::ordered_json{{"version", "1.0"},
                                {"added_tokens", nlohmann::ordered_json::array()},
                                {"pre_tokenizer", {{"type", "WhitespaceSplit"}}},
                                {"model", {{"type", "WordLevel"}, {"vocab", words}, {"unk_token", "t0"}}}}
             .dump() +
         "\n";
}

std::string words_text(const KitTracker& tracker, std::uint64_t seed) {
  std::string text;
  for (const KitWord& word : kit_words(tracker, seed)) {
    std::vector<std::uint32_t> all = word.prompt;
    all.insert(all.end(), word.then.begin(), word.then.end());
    text +=
        nlohmann::ordered_json{
            {"name", word.name}, {"prompt", word.prompt}, {"then", word.then}, {"answers", tracker.answers(all)}}
            .dump();
    text += '\n';
  }
  return text;
}

}  // namespace

std::vector<std::int64_t> KitTracker::answers(const std::vector<std::uint32_t>& tokens) const {
  std::vector<std::int64_t> given;
  std::vector<std::optional<State>> states;  // after every token; none: a beginning is being read, or never was
  std::size_t begun = 0;                     // tokens of a beginning
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    const std::uint32_t token = tokens[t];
    std::optional<State> state;
    if (const auto found = std::ranges::find(begin, token); found != begin.end()) {
      const auto place = static_cast<std::size_t>(found - begin.begin());
      begun = place == 0 || place == begun ? place + 1 : 0;
      if (begun == begin.size()) state = automaton.initial();
    } else if (!states.empty() && states.back()) {
      begun = 0;
      const auto letter = std::ranges::find(letter_tokens, token);
      const auto answer = std::ranges::find(state_tokens, token);
      if (letter != letter_tokens.end())
        state = automaton.next(*states.back(), static_cast<Letter>(letter - letter_tokens.begin()));
      else if (answer != state_tokens.end() && !as_input.empty())
        state = automaton.next(*states.back(), as_input[static_cast<std::size_t>(answer - state_tokens.begin())]);
    }
    states.push_back(state);
    // A beginning empties the state at once, however late answers come.
    bool is_known = t >= delay;
    for (std::size_t back = 0; is_known && back < delay; ++back) is_known = tokens[t - back] != begin[0];
    is_known = is_known && states[t - delay].has_value();
    given.push_back(is_known ? std::int64_t{state_tokens[*states[t - delay]]} : kNoAnswer);
  }
  return given;
}

std::vector<KitModel> kit_models() {
  const Checkpoint s5 = olmo("name:S5/adjacent");
  std::vector<KitModel> models;
  models.push_back(model("parity", "the least state there is: one sign", olmo("name:parity")));
  models.push_back(model("s3", "S_3 by three swaps", olmo("name:S3", "transpositions")));
  models.push_back(model("s5", "S_5 by swaps of neighbours: order matters, and an error stays", s5));
  models.push_back(model("s5-late", "the same, three tokens late: a convolution state that is lost or shifted is seen",
                         late_checkpoint(s5), s5.config.convolution_taps - 1));
  models.push_back(digits());
  models.push_back(model("z4", "Z_4 in three layers", olmo("name:Z4")));
  models.back().tracker.restarts =
      false;  // a layer that remembers what was before remembers it of the text before, too
  models.push_back(model(
      "latch", "whether the last a came after the last b; c does nothing: nothing may decay, no β above 1 is needed",
      gated_checkpoint(load_language("regex:(a|b|c)*ac*"), CheckpointFamily::kQwen3Next)));
  models.push_back(model("latch-late", "the same, three tokens late: the convolution's state",
                         late_checkpoint(models.back().checkpoint),
                         models.back().checkpoint.config.convolution_taps - 1));
  const auto to_4 = [](State) { return State{4}; };
  models.push_back(clock("ticks",
                         "ticks since a clock was set, by halving: an update made twice counts twice; 13 binary digits "
                         "are needed",
                         ticks_checkpoint(), "set 4", to_4));
  models.push_back(clock("shares", "the same with a β that bf16 does not have: right where β keeps the digits of fp32",
                         shares_checkpoint(), "set 4", to_4));
  models.back().is_exact_in_bf16 = false;
  models.push_back(clock("fades", "the same by decays of 1/2 and 0.018, with β near 1: products of decays leave fp32",
                         fades_checkpoint(), "plunge", [](State state) { return state + 6; }));
  return models;
}

std::optional<Network> kit_network(const KitTracker& tracker) {
  if (tracker.delay > 0 || tracker.begin.size() != 1) return std::nullopt;
  const Dfa& automaton = tracker.automaton;
  std::vector<State> table;
  for (State state = 0; state < automaton.states(); ++state) {
    table.insert(table.end(), automaton.row(state).begin(), automaton.row(state).end());
    table.push_back(automaton.initial());
  }
  std::vector<std::string> names = automaton.alphabet().names();
  names.emplace_back("begin");
  return build(Dfa::acceptor(Alphabet::from_names(names), std::move(table), automaton.initial(),
                             std::vector<bool>(automaton.states(), false)),
               {});
}

std::vector<KitWord> kit_words(const KitTracker& tracker, std::uint64_t seed) {
  Letters letters(tracker.automaton, seed);
  std::set<std::size_t> lengths;
  for (const std::size_t border : {64, 128, 256, 2048})
    lengths.insert({border - 1, border, border + 1, 2 * border + 1});
  const auto token = [&](Letter letter) { return tracker.letter_tokens[letter]; };
  enum class Kind { kAny, kAgainst, kRarely };
  const auto fill = [&](std::vector<std::uint32_t>& tokens, std::size_t count, Kind kind) {
    Letter last = letters.any();
    while (count-- > 0) {
      last = kind == Kind::kAny ? letters.any() : kind == Kind::kRarely ? letters.rarely() : letters.against(last);
      tokens.push_back(token(last));
    }
  };
  std::vector<KitWord> words;
  const auto add = [&](const std::string& name, std::size_t length, Kind kind, bool restarts,
                       std::uint32_t decoded = kDecoded) {
    KitWord word{name, tracker.begin, {}};
    if (restarts) {
      fill(word.prompt, length / 2 - word.prompt.size(), kind);
      word.prompt.insert(word.prompt.end(), tracker.begin.begin(), tracker.begin.end());
    }
    fill(word.prompt, length - word.prompt.size(), kind);
    fill(word.then, decoded, kind);
    words.push_back(std::move(word));
  };
  std::size_t number = 0;
  for (const std::size_t length : lengths) {
    const bool against = !letters.all_commute() && number++ % 2 == 0;
    add("prompt of " + std::to_string(length), length, against ? Kind::kAgainst : Kind::kAny, false);
  }
  for (const std::size_t length :
       tracker.restarts ? std::vector<std::size_t>{129, 200, 2049} : std::vector<std::size_t>())
    add("begins again in a prompt of " + std::to_string(length), length, Kind::kAny, true);
  if (letters.has_quiet())
    for (const std::size_t length : {257, 2049})
      add("long waits in a prompt of " + std::to_string(length), length, Kind::kRarely, false);
  for (const char* const prompt : {"65", "65, once more", "33"})  // two are of one shape, and the last is alone
    add(fmt::format("{} tokens after a prompt of {}", kLongDecoded, prompt), std::stoul(prompt),
        letters.all_commute() ? Kind::kAny : Kind::kAgainst, false, kLongDecoded);
  return words;
}

void write_kit(const std::string& folder, std::uint64_t seed) {
  // All is made before the first file is written.
  std::vector<std::pair<std::string, std::vector<std::pair<std::string, std::string>>>> folders;
  nlohmann::ordered_json index{{"format", "krohn.kit"}, {"version", 1}, {"seed", seed}};
  for (KitModel& model : kit_models()) {
    index["models"].push_back(model.name);
    model.checkpoint.automaton.reset();  // tracker.json says more
    auto files = checkpoint_files(model.checkpoint);
    files.emplace_back("tracker.json", tracker_text(model));
    files.emplace_back("words.jsonl", words_text(model.tracker, seed));
    files.emplace_back("tokenizer.json", tokenizer_text(model.checkpoint.config.vocabulary));
    files.emplace_back("tokenizer_config.json", "{\"tokenizer_class\": \"PreTrainedTokenizerFast\"}\n");
    if (const auto network = kit_network(model.tracker)) files.emplace_back("model.onnx", format_onnx(*network));
    folders.emplace_back(model.name, std::move(files));
  }
  std::vector<std::pair<std::string, std::string>> files{{"kit.json", index.dump() + "\n"}};
  for (const auto& [name, text] : kKitFiles) files.emplace_back(name, text);
  write_folder(folder, files);
  for (const auto& [name, contents] : folders)
    write_folder((std::filesystem::path(folder) / "models" / name).string(), contents);
}

}  // namespace krohn
