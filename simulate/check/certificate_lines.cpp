#include "krohn/simulate/check/certificate_lines.h"

#include <map>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/constructions/files/network_file.h"
#include "krohn/simulate/check/sha256.h"

namespace krohn {
namespace {

/// The value that the text names, with the place in the message.
template <class Parse>
auto named(const StrictJson& json, Parse&& parse) {
  try {
    return parse(json.text());
  } catch (const InputError& error) {
    throw InputError(json.place(), error.what());
  }
}

/// The formats that operations round to.
constexpr ArithmeticName kFormatsOfOperations[] = {Precision::kFp64, Precision::kFp32, Precision::kBf16};

/// The lines of a file, one after another, with the step that stands on the next one.
class Lines {
 public:
  Lines(const std::string& text, const std::string& where) : text_(text), where_(where) {
    if (text.starts_with("\xEF\xBB\xBF")) throw InputError(where, "begins with a byte order mark");
    read();
  }

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
    if (std::optional<StrictJson> line = take(step, keys)) return *std::move(line);
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
  Reader(const std::string& text, const std::string& where, const CheckedModel& model)
      : lines_(text, where), model_(model), network_(model.network) {}

  Certificate read() {
    read_claim();
    const bool is_exact = certificate_.arithmetic.is_exact();
    if (is_exact && certificate_.method != kClosedCodewords)
      throw InputError(place_, "certificates of exact arithmetic are of closed codewords");
    const bool is_of_regions = certificate_.method == kClosedRegions;
    const CertificateBits bits(is_exact        ? ArithmeticName(Precision::kFp64)
                               : is_of_regions ? ArithmeticName(Precision::kFp32)
                                               : certificate_.arithmetic);
    bits_ = &bits;
    read_subject();
    constexpr std::string_view kMethodsOfReaders[] = {kReachableSet, kFailingWord, kSampledWords, kClosedRegions};
    if (brings_language_ && std::ranges::find(kMethodsOfReaders, certificate_.method) == std::end(kMethodsOfReaders))
      throw InputError(place_, "this method is of a network's own automaton");
    if (method_is<Proved>(kClosedCodewords, false))
      certificate_.proof = closed_codewords();
    else if (method_is<Proved>(kAnyOrder, true))
      certificate_.proof = any_order();
    else if (method_is<Proved>(kClosedRegions, true))
      certificate_.proof = closed_regions();
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
    version_ = json.has("version") ? json["version"].number() : 0;
    if (version_ < 2 || version_ > 4)
      throw InputError(place_, "of another version; this program reads versions 2, 3 and 4");
    const std::string claim = json.has("claim") ? json["claim"].text() : "";
    constexpr const char* kLength = "length";
    constexpr const char* kShortest = "shortest";
    std::vector<std::string_view> keys{"format", "version", "weights", "arithmetic",
                                       "form",   "order",   "claim",   "method"};
    if (network_ != nullptr) keys.push_back("automaton");
    if (json.has("against")) keys.push_back("against");
    if (claim == to_string(ProvedUpTo{})) keys.push_back(kLength);
    if (claim == to_string(Refuted{})) keys.push_back(kShortest);
    const bool has_operations = json.has("form") && json["form"].text() == kOperationsForm;
    if (has_operations != (network_ == nullptr))
      throw InputError(place_, has_operations ? "the certificate is about a model that is no network; give that one"
                                              : "the certificate is about a network; give its .safetensors file");
    std::vector<const char*> files;
    if (has_operations)
      std::ranges::copy_if(kBoundFiles, std::back_inserter(files), [&](const char* file) { return json.has(file); });
    keys.insert(keys.end(), files.begin(), files.end());
    json.require_keys(keys);
    brings_language_ = json.has("against");
    if (brings_language_ && json["against"].text() != kLanguage)
      throw InputError(json["against"].place(), "expected \"language\"");
    if (has_operations && !brings_language_) throw InputError(place_, "operations are held against a language");
    if (has_operations) weights_ = json["weights"].text();
    for (const char* file : files)
      if (std::string& digest = certificate_.files[file] = json[file].text();
          digest.size() != 64 || digest.find_first_not_of("0123456789abcdef") != std::string::npos)
        throw InputError(json[file].place(), "no SHA-256");
    if (!has_operations) {
      require_hash(json["weights"], hash_of_weights(model_, nullptr), "weights");
      require_hash(json["automaton"], hash_of_automaton(model_), "states");
    }
    certificate_.arithmetic = named(json["arithmetic"], ArithmeticName::parse);
    if (!has_operations) certificate_.form = named(json["form"], parse_form);
    is_any_ = json["order"].text() == "any";
    if (has_operations && !(is_any_ && certificate_.arithmetic == Precision::kFp16) &&
        std::ranges::find(kFormatsOfOperations, certificate_.arithmetic) == std::end(kFormatsOfOperations))
      throw InputError(json["arithmetic"].place(), "operations are in fp64, fp32 or bf16");
    if (is_any_ && certificate_.arithmetic.kind() != ArithmeticName::Kind::kSeparate)
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

  /// The computation and the truth, where the file states them itself.
  void read_subject() {
    if (network_ == nullptr) {
      Operations operations = operations_of([this] { return lines_.next(); }, *bits_);
      operations.format = certificate_.method == kClosedRegions ? Precision::kFp32 : certificate_.arithmetic.storage();
      certificate_.operations = std::make_shared<const Operations>(std::move(operations));
      require_hash(weights_, hash_of_weights(model_, certificate_.operations.get()), place_, "weights");
    }
    if (const std::uint32_t version = version_of(certificate_.operations.get(), certificate_.method);
        version != version_)
      throw InputError(place_, fmt::format("of version {}, and what it lists is of version {}", version_, version));
    if (!brings_language_) return;
    std::span<const std::string> outputs;
    if (network_ != nullptr) outputs = network_->automaton.output_names();
    const StrictJson json = lines_.next();
    certificate_.language = language_of(json, network_ == nullptr ? nullptr : &network_->automaton.alphabet(), outputs);
  }

  static void require_hash(const std::string& stated, const std::string& hash, const std::string& place,
                           const char* what) {
    if (stated != hash)
      throw InputError(place, fmt::format("the certificate is about other {} (SHA-256 \"{}\") than the model's ({}); "
                                          "give the model that it was made for",
                                          what, cut_short(visible(stated), 70), hash));
  }
  static void require_hash(const StrictJson& json, const std::string& hash, const char* what) {
    require_hash(json.text(), hash, json.place(), what);
  }

  std::size_t layers() const { return network_ == nullptr ? 1 : network_->layers.size(); }
  bool has_phase() const { return network_ != nullptr && network_->snap_every > 0; }
  const Alphabet& alphabet() const {
    return certificate_.language ? certificate_.language->automaton.alphabet() : network_->automaton.alphabet();
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
    for (std::size_t k = 0; k < network_->layers.size(); ++k) proof.layers.push_back(table(k));
    proof.by_induction = lines_.take("induction", {"step"}).has_value();
    while (const auto tuple = lines_.take("tuple", {"step", "state", "places", "next"})) {
      if (proof.by_induction) throw InputError(tuple->place(), "a tuple beside an induction");
      proof.tuples.push_back({(*tuple)["state"].number(), (*tuple)["places"].numbers(), (*tuple)["next"].numbers()});
    }
    return proof;
  }

  AnyOrder any_order() {
    AnyOrder proof{closed_codewords(), {}};
    for (std::size_t k = 0; k < network_->layers.size(); ++k) {
      const Layer& layer = network_->layers[k];
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
      std::vector<std::string_view> keys{"step", "state", "bits"};
      if (network_ != nullptr) keys.push_back("labels");
      if (has_depth) keys.push_back("depth");
      if (has_phase()) keys.push_back("phase");
      if (!is_last) keys.push_back("next");
      json.require_keys(keys);
      ReachedPair pair;
      if (has_depth) pair.depth = json["depth"].large_number();
      pair.state = json["state"].number();
      if (network_ != nullptr) pair.labels = json["labels"].numbers();
      if (has_phase()) pair.phase = json["phase"].large_number();
      if (!is_last) pair.next = json["next"].numbers();
      const std::vector<StrictJson> layers = json["bits"].items();
      if (layers.size() != this->layers() || (network_ != nullptr && pair.labels.size() != layers.size()))
        throw InputError(json.place(), "expected the bits and the label of every layer");
      for (std::size_t k = 0; k < layers.size(); ++k)
        pair.numbers.push_back(network_ == nullptr ? bits_->read(layers[k])
                                                   : bits_->read(layers[k], std::size_t{network_->layers[k].dimension} *
                                                                                network_->layers[k].columns));
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

  ClosedRegions closed_regions() {
    if (network_ != nullptr || certificate_.arithmetic == Precision::kFp64)
      throw InputError(place_, "closed regions are of operations in fp32, bf16 or fp16");
    const StrictJson head = lines_.expect("regions", {"step", "start", "letters"});
    ClosedRegions proof{head["start"].number(), head["letters"].number(), {}};
    while (const auto region = lines_.take("region", {"step", "state", "lower", "upper"}))
      proof.list.push_back(
          {(*region)["state"].number(), bits_->read((*region)["lower"]), bits_->read((*region)["upper"])});
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
    if (!answer["given"].is_null()) run.given = given(answer["given"]);
    if (certificate_.is_shortest()) run.shorter = pairs(true);
    certificate_.proof = std::move(run);
  }

  /// A state, or a logit; of a network beside a language, the number of an output that it names.
  std::uint32_t given(const StrictJson& json) const {
    if (network_ == nullptr || !brings_language_) return json.number();
    const std::span<const std::string> outputs = network_->automaton.output_names();
    const auto named = std::ranges::find(outputs, json.text());
    if (named == outputs.end()) throw InputError(json.place(), "the network has no output " + json.quoted());
    return static_cast<std::uint32_t>(named - outputs.begin());
  }

  void add_letters(const StrictJson& json, Word& word) const {
    const Alphabet& alphabet = this->alphabet();
    Word part;
    for (const StrictJson& name : json["letters"].items()) {
      const std::optional<Letter> letter = alphabet.find(name.text());
      if (!letter || alphabet.name(*letter) != name.text())
        throw InputError(name.place(), fmt::format("{} is not a letter of {}", name.quoted(), to_string(alphabet)));
      part.push_back(*letter);
    }
    const std::uint64_t times = json["times"].large_number();
    if (times == 0 || part.empty()) throw InputError(json.place(), "no letters");
    if (times > (kMaxLetters - word.size()) / part.size())
      throw LimitError(fmt::format("{}: a word of more than {} letters", json.place(), kMaxLetters));
    for (std::uint64_t i = 0; i < times; ++i) word.insert(word.end(), part.begin(), part.end());
  }

  void sampled_words() {
    const StrictJson json = lines_.expect("words", {"step", "seed", "words", "length"});
    certificate_.proof =
        SampledWords{json["seed"].large_number(), json["words"].large_number(), json["length"].large_number()};
  }

  static constexpr std::uint64_t kMaxLetters = std::uint64_t{1} << 28;

  Lines lines_;
  const CheckedModel& model_;
  const Network* network_;  ///< or null
  const CertificateBits* bits_ = nullptr;
  std::string place_, weights_;
  std::uint32_t version_ = 0;
  bool is_any_ = false, brings_language_ = false;
  Certificate certificate_;
};

}  // namespace

std::string hash_of_weights(const CheckedModel& model, const Operations* operations) {
  if (model.network != nullptr) return sha256(canonical_weights(*model.network));
  TensorFile named;
  for (const Operation& operation : operations->list) {
    if (operation.what != "tensor") continue;
    const auto found = model.tensors->tensors.find(operation.tensor);
    if (found == model.tensors->tensors.end())
      throw InputError(fmt::format("the model has no tensor \"{}\"; give the model that the certificate was made for",
                                   cut_short(visible(operation.tensor), 70)));
    named.tensors.insert(*found);
  }
  return sha256(format_safetensors(named));
}

std::string hash_of_automaton(const CheckedModel& model) {
  return sha256(canonical_automaton(model.network->automaton));
}

Certificate read_certificate(const std::string& text, const std::string& where, const CheckedModel& model) {
  return Reader(text, where, model).read();
}

namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint32_t kNowhere = UINT32_MAX;  ///< where a letter that cannot stand would lead
constexpr std::size_t kMaxOperations = 100'000;

constexpr const char* kEnd = "answer by";  ///< the last of the operations' steps

constexpr std::uint32_t kVersion = 2, kVersionOfRegions = 4;
constexpr const char* kSinceVersion3[] = {"softplus64", "log sigmoid", "cosine", "sine", "norm"};

/// p, whatever the format of the other numbers is.
const CertificateBits& bits_of_exponents() {
  static const CertificateBits bits{ArithmeticName(Precision::kFp64)};
  return bits;
}

double exponent_of(const StrictJson& json) {
  const double exponent = bits_of_exponents().read(json, 1)[0];
  if (!(exponent >= 1 && exponent <= 1024)) throw InputError(json.place(), "exponents are from 1 to 1,024");
  return exponent;
}

std::uint32_t positive(const StrictJson& json) {
  if (json.number() == 0) throw InputError(json.place(), "sizes begin with 1");
  return json.number();
}

}  // namespace

std::uint32_t version_of(const Operations* operations, const std::string& method) {
  if (method == kClosedRegions) return kVersionOfRegions;
  const auto is_new = [](const Operation& operation) {
    return std::ranges::find(kSinceVersion3, operation.what) != std::end(kSinceVersion3);
  };
  return kVersion + (operations != nullptr && std::ranges::any_of(operations->list, is_new) ? 1 : 0);
}

std::vector<Json> steps_of(const Operations& operations, const CertificateBits& bits) {
  std::vector<Json> steps{{{"step", "operations"},
                           {"tokens", operations.tokens},
                           {"before", operations.before},
                           {"after", operations.after}}};
  for (const Operation& operation : operations.list) {
    Json step{{"step", operation.what}};
    if (operation.what == "tensor") {
      step["name"] = operation.tensor;
    } else if (operation.what == "numbers") {
      step["bits"] = bits.write(operation.numbers);
      step["times"] = operation.size;
    } else if (operation.what == "memory") {
      step["size"] = operation.size;
    } else if (operation.what == "row") {
      step["of"] = operation.of.at(0).list;
      step["size"] = operation.size;
    } else {
      step["shape"] = operation.shape;
      if (operation.terms > 0) step["terms"] = operation.terms;
      if (operation.what == "norm") step["exponent"] = bits_of_exponents().write(operation.numbers);
      step["of"] = Json::array();
      for (const Operation::View& view : operation.of) {
        std::vector<std::uint32_t> numbers{view.list, view.first};
        numbers.insert(numbers.end(), view.strides.begin(), view.strides.end());
        step["of"].push_back(numbers);
      }
    }
    steps.push_back(std::move(step));
  }
  steps.push_back(
      {{"step", kEnd}, {"start", operations.start}, {"keep", operations.keep}, {"logits", operations.logits}});
  return steps;
}

Operations operations_of(const std::function<StrictJson()>& next_line, const CertificateBits& bits) {
  const StrictJson first = next_line();
  if (!first.has("step") || first["step"].text() != "operations")
    throw InputError(first.place(), "expected the step \"operations\"");
  first.require_keys({"step", "tokens", "before", "after"});
  Operations operations{{}, first["tokens"].numbers(), first["before"].numbers(), first["after"].numbers(), {}, {}, 0};
  while (operations.list.size() < kMaxOperations) {
    const StrictJson json = next_line();
    Operation operation{json.has("step") ? json["step"].text() : ""};
    if (operation.what == kEnd) {
      json.require_keys({"step", "start", "keep", "logits"});
      operations.start = json["start"].numbers();
      operations.keep = json["keep"].numbers();
      operations.logits = json["logits"].number();
      return operations;
    }
    if (operation.what == "tensor") {
      json.require_keys({"step", "name"});
      operation.tensor = json["name"].text();
    } else if (operation.what == "numbers") {
      json.require_keys({"step", "bits", "times"});
      operation.numbers = bits.read(json["bits"]);
      operation.size = positive(json["times"]);
      if (operation.numbers.empty()) throw InputError(json["bits"].place(), "no numbers");
    } else if (operation.what == "memory") {
      json.require_keys({"step", "size"});
      operation.size = positive(json["size"]);
    } else if (operation.what == "row") {
      json.require_keys({"step", "of", "size"});
      operation.of = {{json["of"].number(), 0, {}}};
      operation.size = positive(json["size"]);
    } else {
      const bool is_norm = operation.what == "norm", has_terms = is_norm || operation.what == "dot";
      std::vector<std::string_view> keys{"step", "shape", "of"};
      if (has_terms) keys.emplace_back("terms");
      if (is_norm) keys.emplace_back("exponent");
      json.require_keys(keys);
      operation.shape = json["shape"].numbers();
      if (std::ranges::count(operation.shape, 0U) > 0) throw InputError(json["shape"].place(), "sizes begin with 1");
      if (has_terms) operation.terms = positive(json["terms"]);
      if (is_norm) operation.numbers = {exponent_of(json["exponent"])};
      for (const StrictJson& view : json["of"].items()) {
        const std::vector<std::uint32_t> numbers = view.numbers();
        if (numbers.size() < 2) throw InputError(view.place(), "expected a list, a number in it and strides");
        operation.of.push_back({numbers[0], numbers[1], {numbers.begin() + 2, numbers.end()}});
      }
    }
    operations.list.push_back(std::move(operation));
  }
  throw LimitError(fmt::format("{}: more than {} operations", first.place(), kMaxOperations));
}

Json step_of(const TrackedAutomaton& language, std::span<const std::string> outputs) {
  const Dfa& automaton = language.automaton;
  const auto is_dead = [&](State state) { return language.wanted[state] == TrackedAutomaton::kNoSuchWord; };
  Json table = Json::array(), names = Json::array(), logits = Json::array();
  for (State state = 0; state < automaton.states(); ++state) {
    if (is_dead(state)) continue;
    Json row = Json::array();
    for (const State next : automaton.row(state)) row.push_back(is_dead(next) ? kNowhere : next);
    table.push_back(std::move(row));
    const bool is_asked = language.is_asked(state);
    names.push_back(is_asked ? Json(automaton.output_names()[automaton.output(state)]) : Json(nullptr));
    logits.push_back(is_asked ? Json(language.wanted[state]) : Json(nullptr));
  }
  Json step{{"step", kLanguage}, {"letters", automaton.alphabet().names()}, {"table", table}, {"outputs", names}};
  if (outputs.empty()) step["logits"] = logits;
  return step;
}

TrackedAutomaton language_of(const StrictJson& json, const Alphabet* alphabet, std::span<const std::string> outputs) {
  if (!json.has("step") || json["step"].text() != kLanguage)
    throw InputError(json.place(), "expected the step \"language\"");
  if (outputs.empty())
    json.require_keys({"step", "letters", "table", "outputs", "logits"});
  else
    json.require_keys({"step", "letters", "table", "outputs"});
  const std::vector<std::string> letters = json["letters"].texts();
  const Alphabet own = alphabet == nullptr ? Alphabet::from_names(letters) : *alphabet;
  if (letters.size() != own.size()) throw InputError(json["letters"].place(), "these are not the model's letters");
  for (Letter letter = 0; letter < own.size(); ++letter)
    if (own.name(letter) != letters[letter])
      throw InputError(json["letters"].place(), "these are not the model's letters, in its order");
  const std::vector<StrictJson> rows = json["table"].items(), names = json["outputs"].items();
  const auto states = static_cast<State>(rows.size());
  const std::vector<StrictJson> logits = outputs.empty() ? json["logits"].items() : std::vector<StrictJson>{};
  if (states == 0 || names.size() != states || (outputs.empty() && logits.size() != states))
    throw InputError(json.place(), "expected a row and an output for every state");
  std::vector<State> table;
  std::vector<Output> answers, wanted;
  std::vector<std::string> output_names;
  std::map<std::string, Output> known;
  const auto number_of = [&](const std::string& name) {
    const auto [at, fresh] = known.try_emplace(name, static_cast<Output>(output_names.size()));
    if (fresh) output_names.push_back(name);
    return at->second;
  };
  // One logit for two outputs would answer rightly whatever is right.
  std::map<std::uint32_t, std::string> output_of;
  bool has_dead = false;
  for (State state = 0; state < states; ++state) {
    const std::vector<std::uint32_t> row = rows[state].numbers();
    if (row.size() != own.size()) throw InputError(rows[state].place(), "expected a state for every letter");
    for (const State next : row) {
      if (next >= states && next != kNowhere) throw InputError(rows[state].place(), "no such state");
      has_dead = has_dead || next == kNowhere;
      table.push_back(std::min(next, states));
    }
    const bool is_asked = !names[state].is_null();
    if (!outputs.empty() && !is_asked) throw InputError(names[state].place(), "of a network every word is asked about");
    answers.push_back(number_of(is_asked ? names[state].text() : ""));
    wanted.push_back(TrackedAutomaton::kNotAsked);
    if (outputs.empty() && logits[state].is_null() == is_asked)
      throw InputError(logits[state].place(), "expected a logit where there is an output, and only there");
    if (!is_asked) continue;
    if (outputs.empty()) {
      wanted.back() = std::min(logits[state].number(), TrackedAutomaton::kNeverGiven);
      const auto [known, fresh] = output_of.try_emplace(wanted.back(), names[state].text());
      if (wanted.back() != TrackedAutomaton::kNeverGiven && known->second != names[state].text())
        throw InputError(logits[state].place(), "one logit stands for two outputs");
    } else {
      const auto named = std::ranges::find(outputs, names[state].text());
      wanted.back() =
          named == outputs.end() ? TrackedAutomaton::kNeverGiven : static_cast<Output>(named - outputs.begin());
    }
  }
  if (has_dead && !outputs.empty()) throw InputError(json["table"].place(), "of a network every word is asked about");
  if (has_dead) {
    table.insert(table.end(), own.size(), states);
    answers.push_back(number_of(""));
    wanted.push_back(TrackedAutomaton::kNoSuchWord);
  }
  return {Dfa::moore(own, std::move(table), 0, std::move(answers), std::move(output_names)), std::move(wanted)};
}

std::optional<Word> word_against(const TrackedAutomaton& tracked, const Dfa& language, const std::string& name) {
  const Dfa& own = tracked.automaton;
  // The file has names alone: a class goes by its name, unless that is cut short.
  constexpr std::string_view kCutShort = "…";
  std::vector<Letter> to_language;
  for (const Symbol& symbol : own.alphabet().symbols()) {
    const auto letter = language.alphabet().find(symbol.name);
    if (!letter || language.letters() != own.letters() || language.alphabet().name(*letter) != symbol.name ||
        (cardinality(language.alphabet()[*letter].characters) > 1 && symbol.name.find(kCutShort) != std::string::npos))
      throw InputError(name, fmt::format("its letters are {}, those of the certificate {}",
                                         to_string(language.alphabet()), to_string(own.alphabet())));
    to_language.push_back(*letter);
  }
  struct Met {
    State own, theirs;
    std::size_t from;
    Letter by;
  };
  std::vector<Met> met{{own.initial(), language.initial(), 0, 0}};
  std::map<std::pair<State, State>, bool> known{{{own.initial(), language.initial()}, true}};
  for (std::size_t i = 0; i < met.size(); ++i) {
    const Met at = met[i];
    if (tracked.is_asked(at.own) &&
        own.output_names()[own.output(at.own)] != language.output_names()[language.output(at.theirs)]) {
      Word word;
      for (std::size_t back = i; back > 0; back = met[back].from) word.push_back(met[back].by);
      std::ranges::reverse(word);
      return word;
    }
    for (Letter letter = 0; letter < own.letters(); ++letter) {
      const State next = own.next(at.own, letter), theirs = language.next(at.theirs, to_language[letter]);
      if (tracked.wanted[next] == TrackedAutomaton::kNoSuchWord || !known.try_emplace({next, theirs}, true).second)
        continue;
      met.push_back({next, theirs, i, letter});
    }
  }
  return std::nullopt;
}

}  // namespace krohn
