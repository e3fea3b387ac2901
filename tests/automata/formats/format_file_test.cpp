#include "krohn/automata/formats/format_file.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <map>

#include "krohn/automata/formats/format_mata.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/groups/atomic_file.h"
#include "krohn/groups/error.h"
#include "tests/automata/formats/format_samples.h"
#include "tests/scratch.h"

using namespace krohn;
using krohn::test::Scratch;
namespace fs = std::filesystem;

namespace {

const std::string data = KROHN_TEST_DATA;

std::string error_of(const std::string& path, const LanguageOptions& options = {}) {
  try {
    read_automaton_file(path, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

bool accepts(const Dfa& dfa, const std::string& word) { return dfa.accepts(dfa.run(dfa.alphabet().parse_word(word))); }

/// Tomita's languages by their definitions.
bool in_tomita(int number, const std::string& word) {
  const auto count = [&](const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = 0; (at = word.find(part, at)) != std::string::npos; ++at) ++found;
    return found;
  };
  std::size_t blocks = 0;
  bool bad_block_pair = false;
  switch (number) {
    case 1:
      return count("0") == 0;
    case 2:
      return word.size() % 2 == 0 && word == [&] {
        std::string alternating;
        while (alternating.size() < word.size()) alternating += "10";
        return alternating;
      }();
    case 3:  // no odd block of 1s is followed by an odd block of 0s
      for (std::size_t i = 0; i < word.size();) {
        std::size_t ones = 0, zeros = 0;
        for (; i < word.size() && word[i] == '1'; ++i) ++ones;
        for (; i < word.size() && word[i] == '0'; ++i) ++zeros;
        bad_block_pair = bad_block_pair || (ones % 2 == 1 && zeros % 2 == 1);
      }
      return !bad_block_pair;
    case 4:
      return count("000") == 0;
    case 5:
      return count("0") % 2 == 0 && count("1") % 2 == 0;
    case 6:
      return (count("0") + 2 * count("1")) % 3 == 0;
    default:  // 0*1*0*1*
      for (std::size_t i = 1; i < word.size(); ++i) blocks += word[i] != word[i - 1];
      return blocks + (!word.empty() && word[0] == '1') <= 3;
  }
}

}  // namespace

/// "An a, then 1,000 letters" repeatedly, from every start: 2,005 states, and a deterministic automaton would need
/// about 2^1000.
const std::string kNoSmallDfa = "b-hand-made-easy-aut1.mata";

TEST_CASE("every file of the corpus loads, and three minimisers agree on its size") {
  // Sizes that are known by construction.
  const std::map<std::string, State> known = {
      {"tomita_1.dot", 2}, {"tomita_2.dot", 4},       {"tomita_3.dot", 5},
      {"tomita_4.dot", 4}, {"tomita_5.dot", 4},       {"tomita_6.dot", 3},
      {"tomita_7.dot", 5}, {"04.04.Zp.2.1.0.att", 2}, {"04.04.Zp.3.1.2.att", 3}};
  int loaded = 0;
  for (const char* folder : {"aalpy", "mata", "mlregtest"})
    for (const auto& entry : fs::directory_iterator(fs::path(data) / folder)) {
      const std::string name = entry.path().filename().string();
      if (name == "alph4.txt") continue;
      CAPTURE(name);
      LanguageOptions options;
      options.max_states = 100'000;
      if (name == kNoSmallDfa) {
        CHECK_THROWS_AS(read_automaton_file(entry.path().string(), options), LimitError);
        ++loaded;
        continue;
      }
      if (entry.path().extension() == ".att") options.symbols = data + "/mlregtest/alph4.txt";
      const Dfa dfa = read_automaton_file(entry.path().string(), options);
      const Dfa minimal = minimise(dfa);
      CHECK(minimal == reference_minimise(dfa));
      if (dfa.is_acceptor()) CHECK(minimal == minimise_brzozowski(minimal));
      if (known.contains(name)) CHECK(minimal.states() == known.at(name));
      ++loaded;
    }
  CHECK(loaded == 29);
}

TEST_CASE("AALpy's files hold Tomita's languages, but for a word of the second and the third") {
  // AALpy's file of the third forgets, after 1 00, that a new block of 1s may be odd: it rejects 100110.
  const Dfa third = read_automaton_file(data + "/aalpy/tomita_3.dot");
  CHECK(in_tomita(3, "100110"));
  CHECK_FALSE(accepts(third, "100110"));
  for (const int number : {1, 2, 4, 5, 6, 7}) {
    CAPTURE(number);
    const unsigned shortest = number == 2 ? 1 : 0;  // AALpy's second rejects the empty word
    const Dfa dfa = read_automaton_file(data + "/aalpy/tomita_" + std::to_string(number) + ".dot");
    for (unsigned length = shortest; length <= 10; ++length)
      for (unsigned bits = 0; bits < (1u << length); ++bits) {
        std::string word;
        for (unsigned i = 0; i < length; ++i) word += (bits >> i & 1) != 0 ? '1' : '0';
        CAPTURE(word);
        CHECK(accepts(dfa, word) == in_tomita(number, word));
      }
  }
}

TEST_CASE("MLRegTest's alphabet is its symbol table's, and a missing arc rejects") {
  LanguageOptions options;
  options.symbols = data + "/mlregtest/alph4.txt";
  const Dfa dfa = read_automaton_file(data + "/mlregtest/04.04.SL.4.1.3.att", options);
  CHECK(dfa.alphabet() == Alphabet::of_characters("abcd"));
  CHECK(accepts(dfa, "bbb"));
  CHECK_FALSE(accepts(dfa, "bbbb"));
  CHECK(accepts(dfa, "aaab"));
  CHECK_FALSE(accepts(dfa, "aaaa"));
  const Dfa mod3 = read_automaton_file(data + "/mlregtest/04.04.Zp.3.1.2.att", options);
  CHECK(accepts(mod3, "acacdc"));
  CHECK_FALSE(accepts(mod3, "acacd"));
}

TEST_CASE("the protocols are Mealy machines: their last output, or their traces") {
  const std::string tls = data + "/aalpy/OpenSSL_1.0.2_server_regular.dot";
  const Dfa dfa = read_automaton_file(tls);
  CHECK(dfa.alphabet().size() == 7);
  CHECK(dfa.output_names()[dfa.output(dfa.initial())] == "-");
  const Word hello = dfa.alphabet().parse_word("ClientHelloRSA ClientKeyExchange ChangeCipherSpec Finished");
  CHECK(dfa.output_names()[dfa.output(dfa.run(hello))] == "ChangeCipherSpec & Finished");
  LanguageOptions labels;
  labels.mealy_as_labels = true;
  const Dfa traces = read_automaton_file(tls, labels);
  CHECK(traces.is_acceptor());
  CHECK(traces.states() == 8);
  const auto fatal = traces.alphabet().find("Finished/Alert Fatal (Unexpected message) & ConnectionClosed");
  REQUIRE(fatal.has_value());
  CHECK_FALSE(traces.accepts(traces.run(Word{*fatal})));  // at first the server says nothing but "ConnectionClosed"

  const Dfa tcp = read_automaton_file(data + "/aalpy/tcp_server_bsd_trans.dot");
  CHECK(tcp.alphabet().size() == 13);
  CHECK(tcp.alphabet().find("ACK+PSH(V,V,1)").has_value());
}

TEST_CASE("bit formulas of the corpus: the subset automaton agrees with the nondeterministic one") {
  for (const auto& entry : fs::directory_iterator(fs::path(data) / "mata")) {
    const std::string path = entry.path().string();
    CAPTURE(path);
    const Draft draft = read_mata(read_file(path), path);
    const Nfa nfa = to_nfa(draft, path);
    if (entry.path().filename() == kNoSmallDfa) {
      CHECK(nfa.states() == 2005);
      CHECK(nfa.size() == 2005 * 2 + 5);  // 2,005 transitions on both classes, 5 on one
      continue;
    }
    const Dfa dfa = to_dfa(draft, path);
    std::mt19937 random(61);
    for (int i = 0; i < 100; ++i) {
      Word word(random() % 12);
      for (Letter& letter : word) letter = static_cast<Letter>(random() % dfa.letters());
      CHECK(dfa.accepts(dfa.run(word)) == nfa.accepts_word(word));
    }
  }
}

TEST_CASE("files come back exactly through every format that is written") {
  const Scratch scratch("format_file");
  for (const Dfa& dfa :
       samples::machines(62, {Alphabet::of_characters("01"), Alphabet::of_characters("abc")}, samples::accepting()))
    for (const char* name : {"x.dot", "x.gv", "x.att", "x.jff", "x.json", "x.JSON"}) {
      CAPTURE(name);
      write_automaton_file(dfa, scratch / name);
      CHECK(read_automaton_file(scratch / name) == dfa);
      fs::copy_file(scratch / name, scratch / "content", fs::copy_options::overwrite_existing);
      if (std::string(name) != "x.att") CHECK(read_automaton_file(scratch / "content") == dfa);
    }
  CHECK(fs::exists(scratch / "x.syms"));
}

TEST_CASE("what cannot be read or written is said in one message") {
  const Scratch scratch("format_file");
  write_file(scratch / "parity.dot", "digraph {}");
  write_file(scratch / "strange", "hello");
  write_file(scratch / "empty", "");
  write_file(scratch / "net.safetensors", "x");
  CHECK(error_of(scratch / "parity").find("did you mean " + (scratch / "parity.dot").string() + "?") !=
        std::string::npos);
  CHECK(
      error_of(scratch / "parity.dto").find("no such file; did you mean " + (scratch / "parity.dot").string() + "?") !=
      std::string::npos);
  CHECK(error_of("/nonexistent/x.dot")
            .find("no such file\nA language is a file, or begins with regex:, search:, name:") != std::string::npos);
  CHECK(error_of(scratch / "strange").find("neither the name nor the content tells the format") != std::string::npos);
  CHECK(error_of(scratch / "empty").find("neither the name nor the content") != std::string::npos);
  CHECK(error_of(scratch / "net.safetensors").find("a network, not an automaton") != std::string::npos);
  CHECK(error_of(data).find("cannot read: Is a directory") != std::string::npos);
  LanguageOptions options;
  options.format = "pdf";
  CHECK(error_of(scratch / "parity.dot", options).find("the format \"pdf\" is not known") != std::string::npos);
  options.format = "att";
  options.symbols = "/nonexistent/table";
  CHECK(error_of(scratch / "parity.dot", options) == "/nonexistent/table: cannot read: No such file or directory");
  LanguageOptions small;
  small.max_states = 3;
  CHECK_THROWS_AS(read_automaton_file(data + "/mata/b-armc-incl-hard-aut1.mata", small), LimitError);
  const Dfa dfa = samples::machines(1, samples::plain_alphabets(), samples::accepting()).front();
  CHECK_THROWS_AS(write_automaton_file(dfa, scratch / "x.unknown"), InputError);
}

TEST_CASE("a sparse file whose table would be huge is refused, not attempted") {
  std::string text;
  for (int i = 0; i < 20'000; ++i)
    text += std::to_string(i) + " " + std::to_string(i + 1) + " s" + std::to_string(i) + "\n";
  CHECK_THROWS_AS(read_automaton(text, "f.att", FileFormat::kAtt), LimitError);
}
