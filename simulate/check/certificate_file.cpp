#include "krohn/simulate/check/certificate_file.h"

#include <fmt/format.h>

#include "krohn/automata/formats/json.h"
#include "krohn/constructions/files/network_file.h"
#include "krohn/constructions/files/strict_json.h"
#include "krohn/groups/atomic_file.h"
#include "krohn/groups/error.h"
#include "krohn/groups/float_environment.h"
#include "krohn/simulate/check/certificate_bits.h"
#include "krohn/simulate/check/sha256.h"

namespace krohn {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "krohn.certificate";
constexpr std::uint32_t kVersion = 2;

constexpr const char* kClosedCodewords = "closed codewords";
constexpr const char* kReachableSet = "closed reachable set";
constexpr const char* kAnyOrder = "exact in any order";
constexpr const char* kFailingWord = "failing word";
constexpr const char* kSampledWords = "sampled";
constexpr const char* kLinearHorizon = "linear horizon";

// ---- Writing

/// One case per method: the name of the method, and the steps.
class Steps {
 public:
  Steps(const Certificate& certificate, const Network& network)
      : certificate_(certificate), network_(network), bits_(certificate.arithmetic) {}

  std::vector<std::string> take() { return std::move(lines_); }

  const char* operator()(const std::monostate&) {
    throw InputError("this outcome has no proof that a file could hold");
  }

  const char* operator()(const ClosedCodewords& proof) {
    for (std::size_t k = 0; k < proof.layers.size(); ++k) add(proof.layers[k], k);
    if (proof.by_induction) add({{"step", "induction"}});
    if (!proof.by_induction && proof.tuples.empty()) throw InputError("the tuples of the certificate were not listed");
    for (const LabelTuple& tuple : proof.tuples)
      add({{"step", "tuple"}, {"state", tuple.state}, {"places", tuple.places}, {"next", tuple.next}});
    return kClosedCodewords;
  }

  const char* operator()(const AnyOrder& proof) {
    (*this)(proof.codewords);
    for (std::size_t k = 0; k < proof.layers.size(); ++k) {
      const LayerMaps& maps = proof.layers[k];
      if (maps.only_moves)
        add({{"step", "moves"}, {"layer", k}});
      else
        add({{"step", "maps"}, {"layer", k}, {"letters", maps.letters}});
      for (const LayerMaps::Map& map : maps.maps) {
        Json json{{"step", maps.only_moves ? "addition" : "map"}, {"layer", k}};
        if (!maps.only_moves) json["a"] = bits_.write(map.a);
        json["b"] = bits_.write(map.b);
        json["next"] = map.next;
        add(json);
      }
    }
    return kAnyOrder;
  }

  const char* operator()(const ReachedPairs& proof) {
    if (proof.list.empty()) throw InputError("the pairs of the certificate were not listed");
    for (const ReachedPair& pair : proof.list) add(pair, certificate_.is<ProvedUpTo>());
    return kReachableSet;
  }

  const char* operator()(const FailingRun& run) {
    if (run.random)
      add({{"step", "random"},
           {"seed", run.random->seed},
           {"stream", run.random->stream},
           {"letters", run.random->letters}});
    else if (certificate_.failing_word() == nullptr)
      throw InputError("the failing word was too long to keep");
    else
      add_word(*certificate_.failing_word());
    add({{"step", "answer"}, {"expected", run.expected}, {"given", run.given ? Json(*run.given) : Json(nullptr)}});
    if (certificate_.is_shortest() && run.shorter.empty() && !certificate_.failing_word()->empty())
      throw InputError("the pairs of shorter words were not listed");
    for (const ReachedPair& pair : run.shorter) add(pair, true);
    return kFailingWord;
  }

  const char* operator()(const SampledWords& proof) {
    add({{"step", "words"}, {"seed", proof.seed}, {"words", proof.words}, {"length", proof.length}});
    return kSampledWords;
  }

  const char* operator()(const LinearHorizon& proof) {
    add(proof.table, 0);
    return kLinearHorizon;
  }

 private:
  void add(const Json& json) { lines_.push_back(json.dump()); }

  void add(const ClosedTable& table, std::size_t layer) {
    add({{"step", "codewords"}, {"layer", layer}, {"codewords", table.codewords}});
    for (std::size_t move = 0; move < table.moves.size(); ++move)
      add({{"step", "move"},
           {"layer", layer},
           {"action", table.moves[move].action},
           {"book", table.moves[move].book},
           {"next", table.next[move]}});
  }

  void add(const ReachedPair& pair, bool has_depth) {
    Json json{{"step", "pair"}};
    if (has_depth) json["depth"] = pair.depth;
    json["state"] = pair.state;
    json["labels"] = pair.labels;
    if (network_.snap_every > 0) json["phase"] = pair.phase;
    json["bits"] = Json::array();
    for (const auto& numbers : pair.numbers) json["bits"].push_back(bits_.write(numbers));
    if (!pair.next.empty()) json["next"] = pair.next;
    add(json);
  }

  /// The word as powers of its least period, where it has one, and its rest.
  void add_word(const Word& word) {
    std::size_t period = 1;
    const auto repeats = [&] {
      for (std::size_t t = period; t < word.size(); ++t)
        if (word[t] != word[t - period]) return false;
      return true;
    };
    while (period < std::min<std::size_t>(word.size(), 64) && !repeats()) ++period;
    if (!repeats() || word.size() < period) period = word.size();
    if (period == 0) return;
    const std::size_t times = word.size() / period;
    add_letters(std::span(word).first(period), times);
    if (times * period < word.size()) add_letters(std::span(word).subspan(times * period), 1);
  }

  void add_letters(std::span<const Letter> letters, std::uint64_t times) {
    Json names = Json::array();
    for (const Letter letter : letters) names.push_back(network_.automaton.alphabet().name(letter));
    add({{"step", "word"}, {"letters", std::move(names)}, {"times", times}});
  }

  const Certificate& certificate_;
  const Network& network_;
  CertificateBits bits_;
  std::vector<std::string> lines_;
};

Json claim_of(const Certificate& certificate, const Network& network, const char* method) {
  Json json;
  json["format"] = kFormat;
  json["version"] = kVersion;
  json["weights"] = sha256(canonical_weights(network));
  json["automaton"] = sha256(canonical_automaton(network.automaton));
  json["arithmetic"] = to_string(certificate.arithmetic);
  json["form"] = to_string(certificate.form);
  json["order"] = certificate.holds_in_any_order() ? "any" : to_string(certificate.order);
  json["claim"] = to_string(certificate.claim);
  if (certificate.is<ProvedUpTo>()) json["length"] = length_in_file(certificate);
  if (certificate.is<Refuted>()) json["shortest"] = certificate.is_shortest();
  json["method"] = method;
  return json;
}

// ---- Reading

/// What the text names, with the place in the message.
template <class Parse>
auto named(const StrictJson& json, Parse&& parse) {
  try {
    return parse(json.text());
  } catch (const InputError& error) {
    throw InputError(json.place(), error.what());
  }
}

/// The lines of a file, one after another, with the step that stands on the next one.
class Lines {
 public:
  Lines(const std::string& text, const std::string& where) : text_(text), where_(where) { read(); }

  const StrictJson& line() const { return line_; }
  std::string step() const {
    if (!line_.has("step")) throw InputError(line_.place(), "expected a step");
    return line_["step"].text();
  }

  /// The line, when it is such a step with exactly these members.
  std::optional<StrictJson> take(const char* step, std::initializer_list<std::string_view> keys) {
    if (this->step() != step) return std::nullopt;
    line_.require_keys(keys);
    return next();
  }

  StrictJson expect(const char* step, std::initializer_list<std::string_view> keys) {
    if (std::optional<StrictJson> line = take(step, keys)) return *line;
    throw InputError(line_.place(), fmt::format("expected the step \"{}\", not {}", step, line_["step"].quoted()));
  }

  StrictJson next() {
    StrictJson line = line_;
    read();
    return line;
  }

  void end() {
    if (step() != "end") throw InputError(line_.place(), "a step that does not belong here: " + line_["step"].quoted());
    line_.require_keys({"step", "lines"});
    if (line_["lines"].large_number() != number_ - 1)
      throw InputError(line_.place(), fmt::format("{} lines come before this one", number_ - 1));
    if (at_ != text_.size()) throw InputError(line_.place(), "something follows the end");
  }

 private:
  void read() {
    ++number_;
    const std::string place = fmt::format("{}, line {}", where_, number_);
    const std::size_t end = text_.find('\n', at_);
    if (end == std::string::npos) throw InputError(place, "the file breaks off before its end");
    line_ = StrictJson::parse(text_.substr(at_, end - at_), place);
    at_ = end + 1;
  }

  const std::string& text_;
  const std::string& where_;
  std::size_t at_ = 0, number_ = 0;
  StrictJson line_ = StrictJson::parse("null", "");
};

class Reader {
 public:
  Reader(const std::string& text, const std::string& where, const Network& network)
      : lines_(text, where), network_(network) {}

  Certificate read() {
    read_claim();
    const CertificateBits bits(certificate_.arithmetic);
    bits_ = &bits;
    if (method_is<Proved>(kClosedCodewords, false))
      certificate_.proof = closed_codewords();
    else if (method_is<Proved>(kAnyOrder, true))
      certificate_.proof = any_order();
    else if (method_is<Proved>(kReachableSet, false))
      certificate_.proof = reached_pairs(false);
    else if (method_is<ProvedUpTo>(kReachableSet, false))
      certificate_.proof = reached_pairs(true);
    else if (method_is<ProvedUpTo>(kLinearHorizon, false))
      certificate_.proof = LinearHorizon{table(0), certificate_.length()};
    else if (method_is<Refuted>(kFailingWord, false))
      failing_run();
    else if (method_is<Sampled>(kSampledWords, false))
      sampled_words();
    else
      throw InputError(place_, fmt::format("the stated method does not give a claim \"{}\" in this order",
                                           to_string(certificate_.claim)));
    lines_.end();
    return std::move(certificate_);
  }

 private:
  template <class C>
  bool method_is(const char* method, bool any_order) const {
    return certificate_.is<C>() && certificate_.method == method && certificate_.holds_in_any_order() == any_order &&
           is_any_ == any_order;
  }

  void read_claim() {
    const StrictJson json = lines_.line();
    place_ = json.place();
    if (!json.has("format") || json["format"].text() != kFormat) throw InputError(place_, "not a certificate of krohn");
    if (!json.has("version") || json["version"].number() != kVersion)
      throw InputError(place_, fmt::format("of another version; this program reads version {}", kVersion));
    const std::string claim = json.has("claim") ? json["claim"].text() : "";
    constexpr const char* kLength = "length";
    constexpr const char* kShortest = "shortest";
    if (claim == to_string(ProvedUpTo{}))
      json.require_keys(
          {"format", "version", "weights", "automaton", "arithmetic", "form", "order", "claim", kLength, "method"});
    else if (claim == to_string(Refuted{}))
      json.require_keys(
          {"format", "version", "weights", "automaton", "arithmetic", "form", "order", "claim", kShortest, "method"});
    else
      json.require_keys(
          {"format", "version", "weights", "automaton", "arithmetic", "form", "order", "claim", "method"});
    require_hash(json["weights"], sha256(canonical_weights(network_)), "weights");
    require_hash(json["automaton"], sha256(canonical_automaton(network_.automaton)), "states");
    certificate_.arithmetic = named(json["arithmetic"], ArithmeticName::parse);
    if (certificate_.arithmetic.is_exact()) throw InputError(place_, "exact arithmetic has no certificates");
    certificate_.form = named(json["form"], parse_form);
    is_any_ = json["order"].text() == "any";
    if (is_any_ && to_string(certificate_.arithmetic).find_first_of("+/t") != std::string::npos)
      throw InputError(json["arithmetic"].place(), "the order \"any\" is of fp64, fp32, fp16 and bf16");
    if (!is_any_) certificate_.order = named(json["order"], parse_order);
    if (!certificate_.order.is_sequential())
      throw InputError(json["order"].place(), "the orders of certificates are \"sequential\" and \"any\"");
    certificate_.method = json["method"].text();
    if (claim == to_string(Proved{}))
      certificate_.claim = Proved{.any_order = is_any_};
    else if (claim == to_string(ProvedUpTo{}))
      certificate_.claim = ProvedUpTo{json[kLength].large_number()};
    else if (claim == to_string(Refuted{}))
      certificate_.claim = Refuted{{}, json[kShortest].truth()};
    else if (claim != to_string(Sampled{}))
      throw InputError(json["claim"].place(), "unknown claim " + json["claim"].quoted());
    if (certificate_.is<ProvedUpTo>() && certificate_.length() == 0)
      throw InputError(json[kLength].place(), "a length of at least one letter is claimed");
    lines_.next();
  }

  static void require_hash(const StrictJson& json, const std::string& hash, const char* what) {
    if (json.text() != hash)
      throw InputError(json.place(),
                       fmt::format("the certificate is about other {} (SHA-256 {}) than the model's ({}); give the "
                                   "model that it was made for",
                                   what, json.quoted(), hash));
  }

  static void require_layer(const StrictJson& json, std::size_t layer) {
    if (json["layer"].number() != layer) throw InputError(json["layer"].place(), "a step of another layer");
  }

  ClosedTable table(std::size_t layer) {
    const StrictJson json = lines_.expect("codewords", {"step", "layer", "codewords"});
    require_layer(json, layer);
    ClosedTable table{json["codewords"].numbers(), {}, {}};
    while (const auto move = lines_.take("move", {"step", "layer", "action", "book", "next"})) {
      require_layer(*move, layer);
      table.moves.push_back({(*move)["action"].number(), (*move)["book"].number()});
      table.next.push_back((*move)["next"].numbers());
    }
    return table;
  }

  ClosedCodewords closed_codewords() {
    ClosedCodewords proof;
    for (std::size_t k = 0; k < network_.layers.size(); ++k) proof.layers.push_back(table(k));
    proof.by_induction = lines_.take("induction", {"step"}).has_value();
    while (const auto tuple = lines_.take("tuple", {"step", "state", "places", "next"})) {
      if (proof.by_induction) throw InputError(tuple->place(), "a tuple beside an induction");
      proof.tuples.push_back({(*tuple)["state"].number(), (*tuple)["places"].numbers(), (*tuple)["next"].numbers()});
    }
    return proof;
  }

  AnyOrder any_order() {
    AnyOrder proof{closed_codewords(), {}};
    for (std::size_t k = 0; k < network_.layers.size(); ++k) {
      const Layer& layer = network_.layers[k];
      const std::size_t n = layer.dimension, b = n * layer.columns;
      LayerMaps maps;
      if (const auto json = lines_.take("moves", {"step", "layer"})) {
        require_layer(*json, k);
        maps.only_moves = true;
        while (const auto addition = lines_.take("addition", {"step", "layer", "b", "next"})) {
          require_layer(*addition, k);
          maps.maps.push_back({{}, bits_->read((*addition)["b"], b), (*addition)["next"].numbers()});
        }
      } else {
        const StrictJson letters = lines_.expect("maps", {"step", "layer", "letters"});
        require_layer(letters, k);
        maps.letters = letters["letters"].numbers();
        while (const auto map = lines_.take("map", {"step", "layer", "a", "b", "next"})) {
          require_layer(*map, k);
          const bool has_b = !(*map)["b"].text().empty();
          maps.maps.push_back(
              {bits_->read((*map)["a"], n * n), bits_->read((*map)["b"], has_b ? b : 0), (*map)["next"].numbers()});
        }
      }
      proof.layers.push_back(std::move(maps));
    }
    return proof;
  }

  std::vector<ReachedPair> pairs(bool has_depth) {
    std::vector<ReachedPair> pairs;
    while (lines_.step() == "pair") {
      const StrictJson& json = lines_.line();
      const bool is_last = has_depth && !json.has("next");
      std::vector<std::string_view> keys{"step", "state", "labels", "bits"};
      if (has_depth) keys.push_back("depth");
      if (network_.snap_every > 0) keys.push_back("phase");
      if (!is_last) keys.push_back("next");
      json.require_keys(keys);
      ReachedPair pair;
      if (has_depth) pair.depth = json["depth"].large_number();
      pair.state = json["state"].number();
      pair.labels = json["labels"].numbers();
      if (network_.snap_every > 0) pair.phase = json["phase"].large_number();
      if (!is_last) pair.next = json["next"].numbers();
      const std::vector<StrictJson> layers = json["bits"].items();
      if (layers.size() != network_.layers.size() || pair.labels.size() != layers.size())
        throw InputError(json.place(), "expected the bits and the label of every layer");
      for (std::size_t k = 0; k < layers.size(); ++k)
        pair.numbers.push_back(
            bits_->read(layers[k], std::size_t{network_.layers[k].dimension} * network_.layers[k].columns));
      pairs.push_back(std::move(pair));
      lines_.next();
    }
    return pairs;
  }

  ReachedPairs reached_pairs(bool has_depth) {
    ReachedPairs proof;
    proof.list = pairs(has_depth);
    proof.pairs = proof.list.size();
    for (const ReachedPair& pair : proof.list) proof.depth = std::max(proof.depth, pair.depth);
    return proof;
  }

  void failing_run() {
    FailingRun run;
    if (const auto random = lines_.take("random", {"step", "seed", "stream", "letters"})) {
      run.random = {(*random)["seed"].large_number(), (*random)["stream"].large_number(),
                    (*random)["letters"].large_number()};
    } else {
      Word& word = std::get<Refuted>(certificate_.claim).word.emplace();
      while (const auto part = lines_.take("word", {"step", "letters", "times"})) add_letters(*part, word);
    }
    const StrictJson answer = lines_.expect("answer", {"step", "expected", "given"});
    run.expected = answer["expected"].number();
    if (!answer["given"].is_null()) run.given = answer["given"].number();
    if (certificate_.is_shortest()) run.shorter = pairs(true);
    certificate_.proof = std::move(run);
  }

  void add_letters(const StrictJson& json, Word& word) const {
    const Alphabet& alphabet = network_.automaton.alphabet();
    Word part;
    for (const StrictJson& name : json["letters"].items()) {
      const std::optional<Letter> letter = alphabet.find(name.text());
      if (!letter || alphabet.name(*letter) != name.text())
        throw InputError(name.place(), fmt::format("{} is not a letter of {}", name.quoted(), to_string(alphabet)));
      part.push_back(*letter);
    }
    const std::uint64_t times = json["times"].large_number();
    if (times == 0 || part.empty()) throw InputError(json.place(), "no letters");
    if (times > (kMostLetters - word.size()) / part.size())
      throw LimitError(fmt::format("{}: a word of more than {} letters", json.place(), kMostLetters));
    for (std::uint64_t i = 0; i < times; ++i) word.insert(word.end(), part.begin(), part.end());
  }

  void sampled_words() {
    const StrictJson json = lines_.expect("words", {"step", "seed", "words", "length"});
    certificate_.proof =
        SampledWords{json["seed"].large_number(), json["words"].large_number(), json["length"].large_number()};
  }

  static constexpr std::uint64_t kMostLetters = std::uint64_t{1} << 28;

  Lines lines_;
  const Network& network_;
  const CertificateBits* bits_ = nullptr;
  std::string place_;
  bool is_any_ = false;
  Certificate certificate_;
};

}  // namespace

std::uint64_t length_in_file(const Certificate& certificate) {
  const auto* horizon = std::get_if<LinearHorizon>(&certificate.proof);
  return horizon == nullptr ? certificate.length() : horizon->length;
}

std::string format_certificate(const Certificate& certificate, const Network& network) {
  const FloatEnvironment environment;
  if (certificate.arithmetic.is_exact()) throw InputError("exact arithmetic has no certificates");
  Steps steps(certificate, network);
  const char* method = std::visit(steps, certificate.proof);
  const std::vector<std::string> lines = steps.take();
  std::string text = claim_of(certificate, network, method).dump() + "\n";
  for (const std::string& line : lines) text += line + "\n";
  return text + Json({{"step", "end"}, {"lines", lines.size() + 1}}).dump() + "\n";
}

Certificate parse_certificate(const std::string& text, const std::string& where, const Network& network) {
  const FloatEnvironment environment;
  return Reader(text, where, network).read();
}

void save_certificate(const Certificate& certificate, const Network& network, const std::string& path) {
  write_file(path, format_certificate(certificate, network));
}

Certificate load_certificate(const std::string& path, const Network& network) {
  return parse_certificate(read_text_file(path), path, network);
}

}  // namespace krohn
