// The conformance kit: its models in the emulation of the library's layers, and the folder that the command writes.

#include "tools/krohn/models/kit.h"
#include "krohn/constructions/checkpoints/export_checkpoint.h"
#include "krohn/constructions/files/safetensors.h"
#include "krohn/simulate/checkpoints/checkpoint_model.h"
#include "tests/tools/shell.h"

using namespace krohn;
using namespace krohn::test;

namespace {

std::vector<std::uint32_t> text_of(const KitWord& word) {
  std::vector<std::uint32_t> text = word.prompt;
  text.insert(text.end(), word.then.begin(), word.then.end());
  return text;
}

/// Where the model first says something else than is expected of it; none where it never does. `change` may change the
/// memory before a token is read.
template <class Change>
std::optional<std::size_t> first_wrong(const CheckpointModel& model, const std::vector<std::uint32_t>& text,
                                       const std::vector<std::int64_t>& answers, const Change& change) {
  CheckpointModel::Memory memory = model.start();
  for (std::size_t t = 0; t < text.size(); ++t) {
    change(t, memory);
    const auto said = arg_max(model.step(text[t], memory));
    if (answers[t] != KitTracker::kNoAnswer && said != static_cast<std::uint32_t>(answers[t])) return t;
  }
  return std::nullopt;
}

constexpr auto kUnchanged = [](std::size_t, CheckpointModel::Memory&) {};

KitModel model_of(const std::string& name) {
  for (KitModel& model : kit_models())
    if (model.name == name) return model;
  throw InputError("no such model");
}

/// To so many binary digits, to nearest; ties do not occur here.
float rounded(float x, int digits) {
  int exponent = 0;
  const float fraction = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, digits)), exponent - digits);
}

}  // namespace

TEST_CASE("all models of the kit answer their words rightly, in fp32 and bf16") {
  for (const KitModel& kit : kit_models()) {
    CAPTURE(kit.name);
    std::size_t judged = 0;
    for (const Precision precision : {Precision::kFp32, Precision::kBf16}) {
      if (precision == Precision::kBf16 && !kit.is_exact_in_bf16) continue;
      const CheckpointModel model(kit.checkpoint, precision);
      for (const KitWord& word : kit_words(kit.tracker, 1)) {
        if (word.prompt.size() > 260) continue;
        CAPTURE(word.name);
        const auto text = text_of(word);
        const auto answers = kit.tracker.answers(text);
        judged += static_cast<std::size_t>(std::ranges::count_if(answers, [](auto answer) { return answer >= 0; }));
        CHECK(!first_wrong(model, text, answers, kUnchanged));
      }
    }
    CHECK(judged > 2000);
    CHECK(kit.is_exact_in_bf16 == (kit.name != "shares"));
  }
}

TEST_CASE("answers are those of the automaton, late by the delay, and none while a word begins") {
  const KitTracker parity = model_of("parity").tracker;
  const std::uint32_t begin = parity.begin.at(0), zero = parity.letter_tokens.at(0), one = parity.letter_tokens.at(1);
  const std::int64_t even = parity.state_tokens.at(0), odd = parity.state_tokens.at(1);
  using Answers = std::vector<std::int64_t>;
  CHECK(parity.answers({begin, one, zero, one, one, begin, one}) == Answers{even, odd, odd, even, odd, even, odd});
  CHECK(parity.answers({one, begin, one}) == Answers{-1, even, odd});
  // A state's token is a letter.
  const Letter read = parity.as_input.at(1);
  CHECK(parity.answers({begin, one, static_cast<std::uint32_t>(odd)}).back() ==
        std::int64_t{parity.state_tokens[parity.automaton.next(1, read)]});

  KitTracker late = parity;
  late.delay = 2;
  CHECK(late.answers({begin, one, zero, one, begin, one, one}) == Answers{-1, -1, even, odd, -1, -1, even});

  const KitTracker digits = model_of("digits").tracker;
  const std::uint32_t flip = DigitsCheckpoint::kFlip;
  CHECK(digits.answers({0, 1, 2, 3, 4, flip, flip}) == Answers{-1, -1, -1, -1, 7, 8, 7});
  CHECK(digits.answers({0, 1, 3, 2, 4, flip}) == Answers{-1, -1, -1, -1, -1, -1});
}

TEST_CASE("words have the lengths that are promised, and neighbours that do not commute") {
  for (const KitModel& kit : kit_models()) {
    CAPTURE(kit.name);
    const std::vector<KitWord> words = kit_words(kit.tracker, 1);
    std::set<std::size_t> lengths;
    for (const KitWord& word : words) {
      lengths.insert(word.prompt.size());
      CHECK(word.then.size() == (word.name.starts_with("140 tokens") ? 140 : 10));
      CHECK(std::equal(kit.tracker.begin.begin(), kit.tracker.begin.end(), word.prompt.begin()));
      CHECK(contains(word.name, std::to_string(word.prompt.size())));
    }
    for (const std::size_t border : {64, 128, 256, 2048})
      for (const std::size_t length : {border - 1, border, border + 1, 2 * border + 1}) CHECK(lengths.contains(length));
    CHECK(kit_words(kit.tracker, 1).front().prompt == words.front().prompt);
    CHECK(kit_words(kit.tracker, 2).at(1).prompt != words.at(1).prompt);
  }
  const KitTracker s5 = model_of("s5").tracker;
  const std::vector<std::uint32_t> first = kit_words(s5, 1).front().prompt;
  for (std::size_t t = 2; t < first.size(); ++t) CHECK(std::abs(int(first[t]) - int(first[t - 1])) == 1);
}

TEST_CASE("the digits' state needs 13 binary digits: it is right with them and wrong with 12") {
  const KitModel kit = model_of("digits");
  for (const Precision precision : {Precision::kFp32, Precision::kBf16}) {
    const CheckpointModel model(kit.checkpoint, precision);
    std::vector<std::uint32_t> text{0, 1, 2, 3, 4};
    for (int t = 0; t < 60; ++t) text.push_back(t % 3 == 0 ? DigitsCheckpoint::kKeep : DigitsCheckpoint::kFlip);
    const auto answers = kit.tracker.answers(text);
    const auto kept_in = [&](int digits) {
      return first_wrong(model, text, answers, [&](std::size_t, CheckpointModel::Memory& memory) {
        for (float& x : memory.recurrent) x = rounded(x, digits);
      });
    };
    CHECK(!kept_in(24));
    CHECK(!kept_in(13));
    CHECK(kept_in(12) == 4);  // the first answer
    CHECK(kept_in(8) == 4);
  }
}

TEST_CASE("the clocks count each tick once, to 7; the one that halves needs 13 binary digits") {
  using Clock = ClockCheckpoint;
  for (const char* const name : {"ticks", "shares", "fades"}) {
    CAPTURE(name);
    const KitModel kit = model_of(name);
    for (const Precision precision : {Precision::kFp32, Precision::kBf16}) {
      if (precision == Precision::kBf16 && !kit.is_exact_in_bf16) continue;
      const CheckpointModel model(kit.checkpoint, precision);
      // Set, then ticks with waits between them, far past the last state.
      std::vector<std::uint32_t> text{Clock::kBegin, Clock::kBegin + 1, Clock::kSet0};
      for (int t = 0; t < 400; ++t) text.insert(text.end(), {Clock::kTick, Clock::kWait});
      CHECK(!first_wrong(model, text, kit.tracker.answers(text), kUnchanged));
      // The fourth letter in every state.
      for (std::size_t ticks = 0; ticks < 9; ++ticks) {
        text.assign({Clock::kBegin, Clock::kBegin + 1, Clock::kSet0});
        text.insert(text.end(), ticks, Clock::kTick);
        text.insert(text.end(), {Clock::kFourth, Clock::kTick, Clock::kWait, Clock::kSet0, Clock::kTick});
        CHECK(!first_wrong(model, text, kit.tracker.answers(text), kUnchanged));
      }
      text = {Clock::kBegin, Clock::kBegin + 1, Clock::kSet0};
      text.insert(text.end(), 9, Clock::kTick);
      const auto answers = kit.tracker.answers(text);
      // Each tick made twice is seen at once, until the count is full.
      for (std::size_t doubled = 3; doubled < 12; ++doubled) {
        const auto wrong = first_wrong(model, text, answers, [&](std::size_t t, auto& memory) {
          if (t == doubled) model.step(Clock::kTick, memory);
        });
        CHECK(wrong == (doubled < 9 ? std::optional(doubled) : std::nullopt));
      }
      const auto kept_in = [&](int digits) {
        return first_wrong(model, text, answers, [&](std::size_t, auto& memory) {
          for (float& x : memory.recurrent) x = rounded(x, digits);
        });
      };
      CHECK(!kept_in(24));
      if (std::string(name) != "ticks") continue;
      CHECK(!kept_in(15));
      CHECK(kept_in(12));
      CHECK(kept_in(8));
    }
  }
}

TEST_CASE("a β that went through bf16, and a decay that is cut off, change an answer at once") {
  using Clock = ClockCheckpoint;
  const auto first_with = [](const char* name, const char* tensor, std::uint32_t input, double logit,
                             std::uint32_t letter) {
    KitModel kit = model_of(name);
    Tensor& weights = kit.checkpoint.tensors.tensors.at(tensor);
    std::vector<float> values = TensorReader(kit.checkpoint.tensors).values<float>(tensor, weights.shape);
    values[input] = static_cast<float>(logit / 4);  // one of 16 coordinates is active: norms make 4 of it
    weights = make_tensor(values, weights.shape);
    const std::vector<std::uint32_t> text{Clock::kBegin, Clock::kBegin + 1, Clock::kSet0, letter};
    return first_wrong(CheckpointModel(kit.checkpoint, Precision::kFp32), text, kit.tracker.answers(text), kUnchanged);
  };
  const auto beta = [&](double value) {
    return first_with("shares", "model.layers.0.attn.b_proj.weight", Clock::kTick, std::log(value / (1 - value)),
                      Clock::kTick);
  };
  CHECK(!beta(0.62245933));  // the logit is 1/2
  CHECK(beta(0.62109375) == 3);
  const auto decay = [&](double logarithm) {
    return first_with("fades", "model.layers.0.attn.a_proj.weight", Clock::kFourth,
                      128 + std::log(std::expm1(-logarithm)), Clock::kFourth);
  };
  CHECK(!decay(-4.018));
  CHECK(decay(-2.5) == 3);
}

TEST_CASE("no answer of the kit is a tie") {
  for (const KitModel& kit : kit_models()) {
    CAPTURE(kit.name);
    const CheckpointModel model(kit.checkpoint, Precision::kFp32);
    float closest = HUGE_VALF;
    for (const KitWord& word : kit_words(kit.tracker, 1)) {
      if (word.prompt.size() > 130) continue;
      const auto text = text_of(word);
      const auto answers = kit.tracker.answers(text);
      CheckpointModel::Memory memory = model.start();
      for (std::size_t t = 0; t < text.size(); ++t) {
        auto logits = model.step(text[t], memory);
        if (answers[t] == KitTracker::kNoAnswer) continue;
        std::ranges::nth_element(logits, logits.begin() + 1, std::greater());
        closest = std::min(closest, logits[0] - logits[1]);
      }
    }
    CHECK(closest > 1e-3F);
  }
}

TEST_CASE("only the late model, and one of several layers, need the convolution's state") {
  for (const char* const name : {"s5", "s5-late", "z4", "parity", "latch", "latch-late", "ticks", "fades"}) {
    CAPTURE(name);
    const KitModel kit = model_of(name);
    const CheckpointModel model(kit.checkpoint, Precision::kFp32);
    std::size_t found = 0;
    for (const KitWord& word : kit_words(kit.tracker, 1)) {
      if (word.prompt.size() > 130) continue;
      const auto text = text_of(word);
      const auto wrong = first_wrong(model, text, kit.tracker.answers(text), [&](std::size_t t, auto& memory) {
        if (t == word.prompt.size()) std::ranges::fill(memory.convolution, 0.0f);
      });
      if (wrong) ++found;
    }
    const bool needs = std::string(name).ends_with("-late") || std::string(name) == "z4";
    CHECK((found > 0) == needs);
  }
  CHECK_THROWS_AS(late_checkpoint(model_of("z4").checkpoint), InputError);
}

TEST_CASE("a network of the kit has the automaton's letters, and begins anew at one more") {
  std::size_t networks = 0;
  for (const KitModel& kit : kit_models()) {
    CAPTURE(kit.name);
    const auto network = kit_network(kit.tracker);
    CHECK(network.has_value() == (kit.tracker.delay == 0 && kit.tracker.begin.size() == 1));
    if (!network) continue;
    ++networks;
    const Dfa& plain = kit.tracker.automaton;
    CHECK(network->automaton.states() == plain.states());
    CHECK(network->automaton.letters() == plain.letters() + 1);
    for (State state = 0; state < plain.states(); ++state) {
      for (Letter letter = 0; letter < plain.letters(); ++letter)
        CHECK(network->automaton.next(state, letter) == plain.next(state, letter));
      CHECK(network->automaton.next(state, plain.letters()) == plain.initial());
    }
  }
  CHECK(networks == 5);
}

TEST_CASE("the command writes the kit, and replaces it whole") {
  const Workplace place("kit");
  place.expect(0, "krohn kit -o kit", {"python kit/run.py"});
  for (const char* const file :
       {"run.py", "README.md", "planted.py", "diagnosis.py", "tracker.py", "ways.py", "openai_runtime.py",
        "transformers_runtime.py", "transformers_faults.py", "onnx_runtime.py", "onnx_faults.py", "llama_runtime.py",
        "llama_faults.py", "llama_gguf.py"})
    CHECK(contents(place / "kit" / file) == contents(std::filesystem::path(KROHN_ROOT "/tools/kit") / file));
  for (const KitModel& kit : kit_models())
    for (const char* const file :
         {"config.json", "model.safetensors", "tracker.json", "words.jsonl", "tokenizer.json", "model.onnx"})
      CHECK(std::filesystem::exists(place / "kit" / "models" / kit.name / file) ==
            (std::string(file) != "model.onnx" || kit_network(kit.tracker).has_value()));
  const std::string words = contents(place / "kit/models/s5/words.jsonl");
  place.expect(0, "krohn kit -o kit --seed 2");
  CHECK(contents(place / "kit/models/s5/words.jsonl") != words);
  place.expect(0, "krohn kit -o kit");
  CHECK(contents(place / "kit/models/s5/words.jsonl") == words);
  place.expect(2, "touch file; krohn kit -o file");
}
