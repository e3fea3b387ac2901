#include "krohn/constructions/build/builders.h"
#include "krohn/constructions/build/planner.h"
#include "krohn/constructions/files/network_file.h"
#include "krohn/constructions/files/safetensors.h"
#include "krohn/groups/base/atomic_file.h"
#include "tests/testing.h"

using namespace krohn;

using krohn::test::Scratch;

namespace {

bool same_numbers(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() &&
         (a.size() == 0 || std::memcmp(a.data(), b.data(), sizeof(double) * static_cast<std::size_t>(a.size())) == 0);
}

bool same_numbers(const std::vector<Eigen::MatrixXd>& a, const std::vector<Eigen::MatrixXd>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return same_numbers(x, y); });
}

void check_same(const Layer& a, const Layer& b) {
  CHECK(a.dimension == b.dimension);
  CHECK(a.columns == b.columns);
  CHECK(a.labels == b.labels);
  CHECK(a.initial_label == b.initial_label);
  CHECK(same_numbers(a.initial, b.initial));
  REQUIRE(a.transitions.size() == b.transitions.size());
  for (std::size_t i = 0; i < a.transitions.size(); ++i) {
    CHECK(a.transitions[i].a == b.transitions[i].a);
    CHECK(same_numbers(a.transitions[i].b, b.transitions[i].b));
  }
  CHECK(same_numbers(a.decoder.codewords, b.decoder.codewords));
  CHECK(a.decoder.label_of == b.decoder.label_of);
  CHECK(a.decoder.book == b.decoder.book);
  CHECK(a.decoder.unit_copies == b.decoder.unit_copies);
  CHECK(a.wiring.action_of == b.wiring.action_of);
  CHECK(a.wiring.next == b.wiring.next);
  CHECK(a.book_of_context == b.book_of_context);
}

void check_same(const Network& a, const Network& b) {
  CHECK(a.automaton == b.automaton);
  CHECK(std::equal(a.automaton.state_names().begin(), a.automaton.state_names().end(),
                   b.automaton.state_names().begin(), b.automaton.state_names().end()));
  REQUIRE(a.layers.size() == b.layers.size());
  for (std::size_t k = 0; k < a.layers.size(); ++k) check_same(a.layers[k], b.layers[k]);
  CHECK(a.readout.next == b.readout.next);
  CHECK(a.provenance.construction == b.provenance.construction);
  CHECK(a.provenance.source == b.provenance.source);
  CHECK(a.provenance.theorem == b.provenance.theorem);
  CHECK(a.provenance.note == b.provenance.note);
}

/// Numbers in (−1, 1) that are the same everywhere, so that they can stand in a golden file.
Eigen::MatrixXd random_matrix(std::mt19937& random, Eigen::Index rows, Eigen::Index columns) {
  Eigen::MatrixXd result(rows, columns);
  for (Eigen::Index i = 0; i < rows; ++i)
    for (Eigen::Index j = 0; j < columns; ++j) result(i, j) = static_cast<double>(random()) / 0x1p31 - 1;
  return result;
}

/// One matrix of every form and then some, all 4×4.
std::vector<Matrix> all_forms(std::mt19937& random) {
  const Reflection swap{.entries = {{0, 1}, {2, -1}}, .scale_squared_denominator = 2};
  const Reflection tilted{.plane = 1, .angle = {-3, 7}};
  Reflection half = swap;
  half.beta = 1.0 / 3;
  return {
      MapMatrix{Transformation::from_images({1, 1, 3, 0})},
      MapMatrix{Transformation::identity(4)},
      SignedPermutationMatrix{Permutation::from_images({1, 2, 3, 0}), {1, -1, 1, 1}},
      ReflectionProduct{4, {swap, tilted}},
      ReflectionProduct{4, {}},
      ReflectionProduct{4, {half}},
      RotationBlocks{{{true, {1, 2}}, {false, {1, 5}}, {true, {0, 1}}}},
      RotationBlocks{{{false, {-2, 60}}, {false, {1, 4}}}},
      DiagonalMatrix{{1, -0.0, 0.1, -1}},
      ZeroMatrix{4},
      DenseMatrix{random_matrix(random, 4, 4)},
      BlockDiagonalMatrix{{random_matrix(random, 3, 3), random_matrix(random, 1, 1)}},
      BlockDiagonalMatrix{{random_matrix(random, 2, 2), random_matrix(random, 2, 2)}},
      FactoredMatrix{4, {{0, 1}, {3}, {}}, {{2}, {0, 3}, {1}}, {0, 2}},
      FactoredMatrix{4, {}, {}, {}},
  };
}

/// Two layers that use every part of a network. What they compute does not matter here, only that they are well-formed.
Network everything() {
  std::mt19937 random(5);
  Layer first{.dimension = 4, .columns = 2, .labels = 2};
  first.decoder.codewords = {random_matrix(random, 4, 2), random_matrix(random, 4, 2), random_matrix(random, 4, 2)};
  first.decoder.label_of = {1, 0, 1};
  first.decoder.book = {0, 0, 1};
  first.initial = first.decoder.codewords[1];
  std::vector<Symbol> symbols;
  for (Matrix& a : all_forms(random)) {
    const Letter letter = static_cast<Letter>(first.transitions.size());
    symbols.push_back({letter == 0 ? "[a-cz]" : "SYN+" + std::to_string(letter), {}});
    if (letter == 0) symbols.back().characters = {{U'a', U'c'}, {U'z', U'z'}};
    first.wiring.action_of.push_back(letter);
    first.wiring.next.insert(first.wiring.next.end(), {letter % 2, letter == 3 ? kNoContext : 1});
    first.book_of_context.push_back(letter % 2);
    const bool has_b = letter % 3 == 0;
    first.transitions.push_back({std::move(a), has_b ? Eigen::MatrixXd::Zero(4, 2) : Eigen::MatrixXd()});
    if (letter == 6) first.transitions.back().b(3, 1) = -0.1;
  }
  Layer second = unit_layer(2);
  second.transitions = {{MapMatrix{Transformation::from_images({1, 0})}, {}},
                        {MapMatrix{Transformation::identity(2)}, {}}};
  second.wiring.action_of = {0, 1};
  const std::size_t letters = symbols.size();
  std::vector<State> table;
  for (std::size_t i = 0; i < 3 * letters; ++i) table.push_back(static_cast<State>(i * i % 3));
  Dfa dfa = Dfa::moore(Alphabet::from_symbols(symbols), table, 2, {1, 0, 1}, {"лево", "право \"x\""})
                .with_state_names({"p", "q", "r"});
  return {std::move(dfa), {first, second}, {{{0, 1}, {2, 1, 0, kNoContext}}}, {"test", "regex:ä", "none", "a\nb"}};
}

Dfa random_automaton(unsigned seed, State states, const char* letters) {
  std::mt19937 random(seed);
  const Alphabet alphabet = Alphabet::of_characters(letters);
  std::vector<State> table(states * alphabet.size());
  for (State& target : table) target = static_cast<State>(random() % states);
  return Dfa::acceptor(alphabet, table, static_cast<State>(random() % states), std::vector<bool>(states, true));
}

Network small_cascade(std::optional<KeyStyle> keys = {}) {
  const Dfa dfa = random_automaton(3, 3, "ab");
  return cascade_network(dfa, chain_decomposition(dfa), {keys});
}

Network from_bytes(const std::string& bytes) { return parse_network(std::as_bytes(std::span(bytes)), "f"); }

/// The message with which a changed file is refused.
std::string refusal(const Network& network, const std::function<void(TensorFile&)>& change) {
  TensorFile file = to_tensors(network);
  change(file);
  return test::error_of([&] { from_tensors(file, "f"); });
}

template <class T>
void put(TensorFile& file, const std::string& name, std::size_t index, T value) {
  std::memcpy(file.tensors.at(name).bytes.data() + index * sizeof(T), &value, sizeof(T));
}

void replace(std::string& text, const std::string& from, const std::string& to) {
  REQUIRE(test::contains(text, from));
  text.replace(text.find(from), from.size(), to);
}

}  // namespace

TEST_CASE("every part of a network survives a file, bit for bit") {
  const Network network = everything();
  const TensorFile file = to_tensors(network);
  check_same(from_tensors(file, "f"), network);
  CHECK(to_tensors(from_tensors(file, "f")) == file);
  const Scratch scratch("network-everything");
  const std::string path = (scratch / "everything.safetensors").string();
  save_network(network, path);
  check_same(load_network(path), network);
}

TEST_CASE("the format has not changed: files written before are read, and written again byte for byte") {
  // The dense form of a rotation is rounded from the machine's cosine, so the bytes are compared where all numbers are
  // exact.
  const std::string folder = std::string(KROHN_TEST_DATA) + "/networks/";
  check_same(load_network(folder + "everything.safetensors"), everything());
  const Network cascade = load_network(folder + "cascade.safetensors");
  CHECK(cascade.layers.size() == small_cascade().layers.size());
  CHECK(format_safetensors(to_tensors(cascade)) == read_file(folder + "cascade.safetensors"));
}

TEST_CASE("cascades and one-hot networks survive a file") {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const Dfa dfa = random_automaton(seed, 2 + seed % 7, "abc");
    const Cascade cascade = chain_decomposition(dfa);
    for (const std::optional<KeyStyle> keys :
         {std::optional<KeyStyle>{}, std::optional(KeyStyle::kUnit), std::optional(KeyStyle::kUnnormalised),
          std::optional(KeyStyle::kDoubled)}) {
      const Network network = cascade_network(dfa, cascade, {keys});
      check_same(from_tensors(to_tensors(network), "f"), network);
    }
    check_same(from_tensors(to_tensors(build_one_hot(dfa)), "f"), build_one_hot(dfa));
  }
}

TEST_CASE("whatever the planner can build survives a file") {
  std::vector<State> table;  // the word problem of Z_6 over two generators: nearly everything is possible
  for (State q = 0; q < 6; ++q) table.insert(table.end(), {(q + 1) % 6, (q + 2) % 6});
  const Dfa z6 = Dfa::acceptor(Alphabet::of_characters("ab"), table, 0, {true, false, false, false, false, false});
  const Dfa parity = Dfa::acceptor(Alphabet::of_characters("01"), {0, 1, 1, 0}, 0, {false, true});
  int built = 0;
  for (const Dfa& dfa : {z6, parity, random_automaton(12, 5, "abc")})
    for (const PlanRow& row : plan(dfa, {})) {
      if (!row.possible) continue;
      CAPTURE(row.construction);
      const Network network = build(dfa, BuildOptions{.construction = row.construction, .integers = row.wraps_in});
      check_same(from_tensors(to_tensors(network), "f"), network);
      ++built;
    }
  CHECK(built >= 15);
}

TEST_CASE("an automaton without letters, or with one state") {
  for (const Dfa& dfa :
       {Dfa::acceptor(Alphabet(), {}, 0, {true, false}), Dfa::acceptor(Alphabet::of_characters("a"), {0}, 0, {true})}) {
    const Network network = cascade_network(dfa, chain_decomposition(dfa));
    check_same(from_tensors(to_tensors(network), "f"), network);
  }
}

TEST_CASE("dense forms are those of the structured forms, F32 when that is exact") {
  const Network network = everything();
  const TensorFile file = to_tensors(network);
  const Tensor& a = file.tensors.at("layers.0.A");
  CHECK(a.dtype == "F64");
  CHECK(a.shape == std::vector<std::uint64_t>{15, 4, 4});
  for (std::size_t action = 0; action < 15; ++action)
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) {
        double stored = 0;
        std::memcpy(&stored,
                    a.bytes.data() + 8 * (16 * action + 4 * static_cast<std::size_t>(i) + static_cast<std::size_t>(j)),
                    8);
        CHECK(stored == static_cast<double>(to_dense(network.layers[0].transitions[action].a)(i, j)));
      }
  CHECK(file.tensors.at("layers.1.A").dtype == "F32");
  CHECK(file.tensors.at("layers.0.B").dtype == "F64");
}

TEST_CASE("dense forms are left out when they are large, and may be absent") {
  std::vector<State> table;  // a counter modulo 2001, and a letter that does nothing: 2 · 2001² numbers
  for (State q = 0; q < 2001; ++q) table.insert(table.end(), {(q + 1) % 2001, q});
  const Network network =
      build_one_hot(Dfa::acceptor(Alphabet::of_characters("ab"), table, 0, std::vector<bool>(2001)));
  const TensorFile file = to_tensors(network);
  CHECK_FALSE(file.tensors.contains("layers.0.A"));
  check_same(from_tensors(file, "f"), network);
  CHECK(refusal(everything(), [](TensorFile& f) { f.tensors.erase("layers.0.A"); }) == "no error");
}

TEST_CASE("a dense form that is not the structured one is refused, be it off by one place of one number") {
  const Network network = everything();
  // Action 0 is a map: its entries are exact. Action 6 begins with a sign and turns by a fifth.
  CHECK(test::contains(refusal(network, [](TensorFile& f) { put(f, "layers.0.A", 0, 1e-300); }),
                       "structured form gives 0"));
  const auto cosine = static_cast<double>(Turn{1, 5}.cosine());
  const std::size_t rotated = 6 * 16 + 5;
  CHECK(refusal(network, [&](TensorFile& f) { put(f, "layers.0.A", rotated, cosine); }) == "no error");
  for (const double beside : {std::nextafter(cosine, 0), std::nextafter(cosine, 1)}) {
    const std::string said = refusal(network, [&](TensorFile& f) { put(f, "layers.0.A", rotated, beside); });
    CHECK(test::contains(said, "for action 6, row 1, column 1"));
    CHECK(test::contains(said, "Leave \"layers.0.A\" out"));
  }
}

TEST_CASE("what does not fit is refused with the reason") {
  struct Fault {
    const char* reason;
    std::function<void(TensorFile&)> change;
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Fault faults[] = {
      {"metadata do not say", [](TensorFile& f) { f.metadata.erase("format"); }},
      {"metadata do not say", [](TensorFile& f) { f.metadata["format"] = "pt"; }},
      {"reads version 1", [](TensorFile& f) { f.metadata["version"] = "2"; }},
      {"unknown key \"extra\"", [](TensorFile& f) { f.metadata["extra"] = ""; }},
      {"lack \"automaton\"", [](TensorFile& f) { f.metadata.erase("automaton"); }},
      {"lack \"provenance\"", [](TensorFile& f) { f.metadata.erase("provenance"); }},
      {"not valid JSON", [](TensorFile& f) { f.metadata["provenance"] = "{"; }},
      {"zero byte", [](TensorFile& f) { f.metadata["layers"] += std::string(1, '\0'); }},
      {"expected a JSON object", [](TensorFile& f) { f.metadata["provenance"] = "[]"; }},
      {"the key \"note\" is given twice",
       [](TensorFile& f) { replace(f.metadata["provenance"], "{", R"({"note":"",)"); }},
      {"nested deeper", [](TensorFile& f) { f.metadata["layers"] = std::string(100'000, '['); }},
      {"expected an integer",
       [](TensorFile& f) { replace(f.metadata["automaton"], "\"initial\":2", "\"initial\":-1"); }},
      {"initial state 7", [](TensorFile& f) { replace(f.metadata["automaton"], "\"initial\":2", "\"initial\":7"); }},
      {"two ends", [](TensorFile& f) { replace(f.metadata["automaton"], "[97,99]", "[97]"); }},
      {"missing", [](TensorFile& f) { f.tensors.erase("automaton.table"); }},
      {"missing", [](TensorFile& f) { f.tensors.erase("layers.0.structured.signed.sign"); }},
      {"missing", [](TensorFile& f) { f.tensors.erase("layers.0.B.given"); }},
      {"missing", [](TensorFile& f) { f.tensors.erase("layers.1.H0"); }},
      {"not part of the format", [](TensorFile& f) { f.tensors["layers.2.H0"] = f.tensors["layers.1.H0"]; }},
      {"not part of the format", [](TensorFile& f) { f.tensors["layers.1.next"] = f.tensors["layers.0.next"]; }},
      {"expected U32", [](TensorFile& f) { f.tensors["readout.0"].dtype = "I32"; }},
      {"expected F64", [](TensorFile& f) { f.tensors["layers.1.H0"].dtype = "I32"; }},
      {"has shape [2, 4]",
       [](TensorFile& f) {
         f.tensors["layers.0.H0"].shape = {2, 4};
       }},
      {"has shape [8]", [](TensorFile& f) { f.tensors["layers.0.H0"].shape = {8}; }},
      {"nan at index 1", [nan](TensorFile& f) { put(f, "layers.0.H0", 1, nan); }},
      {"inf at index 0", [](TensorFile& f) { put(f, "layers.0.codewords", 0, HUGE_VAL); }},
      {"goes to 3", [](TensorFile& f) { put(f, "automaton.table", 0, 3U); }},
      {"has output 2", [](TensorFile& f) { put(f, "automaton.outputs", 1, 2U); }},
      {"unknown form", [](TensorFile& f) { replace(f.metadata["layers"], "\"zero\"", "\"null\""); }},
      {"repeat a name", [](TensorFile& f) { replace(f.metadata["layers"], "\"zero\"", "\"map\""); }},
      {"another order",
       [](TensorFile& f) {
         replace(f.metadata["layers"], R"("map","signed-permutation")", R"("signed-permutation","map")");
       }},
      {"increasing ranges", [](TensorFile& f) { replace(f.metadata["automaton"], "[97,99]", "[97,97],[98,99]"); }},
      {"no action a B",
       [](TensorFile& f) {
         for (const char* name : {"layers.0.B", "layers.0.B.given"})
           std::ranges::fill(f.tensors[name].bytes, std::byte{0});
       }},
      {"forms are named", [](TensorFile& f) { put(f, "layers.0.form", 1, std::uint8_t{9}); }},
      {"never uses", [](TensorFile& f) { replace(f.metadata["layers"], R"(["map"])", R"(["map","zero"])"); }},
      {"does not rise", [](TensorFile& f) { put(f, "layers.0.structured.reflections.offsets", 1, UINT64_MAX); }},
      {"does not rise",
       [](TensorFile& f) { put(f, "layers.0.structured.factored.gate.offsets", 0, std::uint64_t{1}); }},
      {"too short", [](TensorFile& f) { put(f, "layers.0.structured.blocks.size", 0, UINT32_MAX); }},
      {"too long", [](TensorFile& f) { put(f, "layers.0.structured.blocks.size", 0, 1U); }},
      {"eigenvalue", [](TensorFile& f) { put(f, "layers.0.structured.reflections.beta", 0, 3.0); }},
      {"a turn of", [](TensorFile& f) { put(f, "layers.0.structured.rotation.turn", 1, std::int64_t{0}); }},
      {"other than 0 and 1", [](TensorFile& f) { put(f, "layers.0.structured.rotation.is_sign", 0, std::uint8_t{2}); }},
      {"sign is 0", [](TensorFile& f) { put(f, "layers.0.structured.signed.sign", 0, std::int8_t{0}); }},
      {"B.given", [](TensorFile& f) { put(f, "layers.0.B.given", 6, std::uint8_t{0}); }},
      {"B.given", [](TensorFile& f) { put(f, "layers.0.B", 8, -0.0); }},  // of action 1, which has none
      {"action 15", [](TensorFile& f) { put(f, "layers.0.action_of", 0, 15U); }},
      {"context 2", [](TensorFile& f) { put(f, "layers.0.next", 0, 2U); }},
      {"code book", [](TensorFile& f) { put(f, "layers.0.book_of_context", 0, 2U); }},
      {"label 2", [](TensorFile& f) { put(f, "layers.0.codewords.label", 0, 2U); }},
      {"readout", [](TensorFile& f) { put(f, "readout.1", 0, 3U); }},
      {"state of 0×1",
       [](TensorFile& f) {
         replace(f.metadata["layers"], "\"columns\":1,\"dimension\":2", "\"columns\":1,\"dimension\":0");
       }},
      {"has shape",
       [](TensorFile& f) { replace(f.metadata["layers"], "\"dimension\":4", "\"dimension\":4294967295"); }},
      {"structured form gives", [](TensorFile& f) { put(f, "layers.1.A", 1, 2.0F); }},
  };
  for (const Fault& fault : faults) {
    CAPTURE(fault.reason);
    const std::string message = refusal(everything(), fault.change);
    CAPTURE(message);
    CHECK(message.rfind("f: ", 0) == 0);
    CHECK(test::contains(message, fault.reason));
  }
}

TEST_CASE("a network whose text is not UTF-8 is not written") {
  Network network = everything();
  network.provenance.source = "regex:\xFF";
  CHECK_THROWS_AS(to_tensors(network), InputError);
  network = everything();
  network.layers[0].labels = 0;
  CHECK_THROWS_AS(to_tensors(network), InputError);
}

TEST_CASE("every truncation of a file is refused") {
  const std::string bytes = format_safetensors(to_tensors(everything()));
  for (std::size_t size = 0; size < bytes.size(); ++size)
    CHECK_THROWS_AS(from_bytes(bytes.substr(0, size)), InputError);
}

TEST_CASE("every damaged byte is refused or gives a network that is well-formed and can be written again") {
  std::mt19937 random(17);
  int refused = 0, accepted = 0;
  for (const Network& network : {small_cascade(), small_cascade(KeyStyle::kDoubled), everything()}) {
    const std::string bytes = format_safetensors(to_tensors(network));
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(static_cast<unsigned char>(damaged[at]) ^ (1 + random() % 255));
      try {
        const Network loaded = from_bytes(damaged);
        CHECK_NOTHROW(validate(loaded));
        check_same(from_tensors(to_tensors(loaded), "f"), loaded);
        ++accepted;
      } catch (const InputError&) {
        ++refused;
      }
    }
  }
  CHECK(refused > 10 * accepted);
  CHECK(accepted > 0);
}

TEST_CASE("an archive describes every tensor and text as NumPy describes arrays") {
  TensorFile file;
  file.tensors.emplace("a.b", make_tensor(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3}));
  file.tensors.emplace("one", make_tensor(std::vector<std::int64_t>{-7}, {}));
  file.tensors.emplace("row", make_tensor(std::vector<std::uint8_t>{1, 2}, {2}));
  file.metadata["text"] = "grün";
  const std::string zip = format_npz(file);
  CHECK(zip == format_npz(file));
  for (const char* described :
       {"'<f4', 'fortran_order': False, 'shape': (2, 3, ), }", "'<i8', 'fortran_order': False, 'shape': (), }",
        "'|u1', 'fortran_order': False, 'shape': (2, ), }", "'|u1', 'fortran_order': False, 'shape': (5, ), }"}) {
    CAPTURE(described);
    const std::size_t at = zip.find(std::string("{'descr': ") + described);
    REQUIRE(at != std::string::npos);
    const std::size_t length = static_cast<std::uint8_t>(zip[at - 2]);  // of what stands before the numbers
    CHECK((10 + length) % 64 == 0);
    CHECK(zip[at + length - 1] == '\n');
  }
}

TEST_CASE("element types that NumPy lacks are refused") {
  TensorFile file;
  file.tensors.emplace("half", Tensor{"BF16", {1}, {std::byte{0}, std::byte{0}}});
  CHECK_THROWS_WITH_AS(format_npz(file), doctest::Contains("BF16"), InputError);
}
