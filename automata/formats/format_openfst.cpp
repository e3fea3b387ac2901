// The layout is that of fst/fst.cc, fst/vector-fst.h and fst/symbol-table.cc of OpenFst 1.7 and later.
#include "krohn/automata/formats/format_openfst.h"

#include <bit>
#include <cstring>
#include <limits>
#include <vector>

#include "krohn/automata/operations/emptiness.h"
#include "krohn/automata/operations/product.h"

namespace krohn {
namespace {

static_assert(std::endian::native == std::endian::little, "the bytes of numbers are written as they lie in memory");

class Bytes {
 public:
  template <class Number>
  void number(Number value) {
    char raw[sizeof value];
    std::memcpy(raw, &value, sizeof value);
    text_.append(raw, sizeof value);
  }
  void string(const std::string& text) {
    number(static_cast<std::int32_t>(text.size()));
    text_ += text;
  }
  std::string take() && { return std::move(text_); }

 private:
  std::string text_;
};

void add_symbols(Bytes& bytes, const Alphabet& alphabet) {
  constexpr std::int32_t kSymbolTableMagic = 2125658996;
  const std::int64_t size = std::int64_t{alphabet.size()} + 1;
  bytes.number(kSymbolTableMagic);
  bytes.string("letters");
  bytes.number(size);  // the next free number
  bytes.number(size);
  bytes.string("<eps>");
  bytes.number(std::int64_t{0});
  for (Letter letter = 0; letter < alphabet.size(); ++letter) {
    bytes.string(alphabet.name(letter));
    bytes.number(std::int64_t{letter} + 1);
  }
}

}  // namespace

std::string write_openfst(const Dfa& dfa) {
  constexpr std::int32_t kFstMagic = 2125659606, kVersion = 2, kHasInputSymbols = 1, kHasOutputSymbols = 2;
  constexpr std::uint64_t kExpanded = 1, kMutable = 2, kAcceptor = 0x10000;
  require_acceptor(dfa, "OpenFst");
  const std::vector<bool> useful = coaccessible_states(dfa);
  std::vector<std::int32_t> number(dfa.states(), -1);
  std::int32_t states = 0;
  for (State state = 0; state < dfa.states(); ++state)
    if (useful[state]) number[state] = states++;
  std::vector<std::vector<Letter>> arcs(dfa.states());
  std::int64_t arc_count = 0;
  for (State state = 0; state < dfa.states(); ++state)
    for (Letter letter = 0; useful[state] && letter < dfa.letters(); ++letter)
      if (useful[dfa.next(state, letter)]) arcs[state].push_back(letter), ++arc_count;
  Bytes bytes;
  bytes.number(kFstMagic);
  bytes.string("vector");
  bytes.string("standard");
  bytes.number(kVersion);
  bytes.number(std::int32_t{kHasInputSymbols | kHasOutputSymbols});
  bytes.number(std::uint64_t{kExpanded | kMutable | kAcceptor});
  bytes.number(std::int64_t{number[dfa.initial()]});
  bytes.number(std::int64_t{states});
  bytes.number(arc_count);
  add_symbols(bytes, dfa.alphabet());
  add_symbols(bytes, dfa.alphabet());
  for (State state = 0; state < dfa.states(); ++state) {
    if (!useful[state]) continue;
    bytes.number(dfa.accepts(state) ? 0.0F : std::numeric_limits<float>::infinity());
    bytes.number(static_cast<std::int64_t>(arcs[state].size()));
    for (const Letter letter : arcs[state]) {
      bytes.number(static_cast<std::int32_t>(letter + 1));
      bytes.number(static_cast<std::int32_t>(letter + 1));
      bytes.number(0.0F);
      bytes.number(number[dfa.next(state, letter)]);
    }
  }
  return std::move(bytes).take();
}

}  // namespace krohn
