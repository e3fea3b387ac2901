#include "krohn/automata/families/families.h"
#include "krohn/automata/language.h"
#include "krohn/groups/base/random.h"
#include "tests/testing.h"

using namespace krohn;

namespace {

std::string read_text(const Dfa& dfa, const std::string& text) {
  return dfa.output_names()[dfa.output(dfa.run(dfa.alphabet().parse_word(text)))];
}

/// Plain recursive descent: expr := term ((+|-) term)*, term := factor (* factor)*, factor := digit | - factor | ( expr
/// ).
class Calculator {
 public:
  Calculator(std::string text, long modulus) : text_(std::move(text)), modulus_(modulus) {}
  /// The value, or −1 when the text is not an expression nested at most `depth` deep.
  long evaluate(int depth) {
    depth_ = depth;
    const long value = expression(0);
    return ok_ && at_ == text_.size() ? value : -1;
  }

 private:
  long wrap(long value) const { return ((value % modulus_) + modulus_) % modulus_; }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  long expression(int depth) {
    long value = term(depth);
    while (ok_ && (peek() == '+' || peek() == '-')) {
      const char sign = text_[at_++];
      const long right = term(depth);
      value = wrap(sign == '+' ? value + right : value - right);
    }
    return value;
  }
  long term(int depth) {
    long value = factor(depth);
    while (ok_ && peek() == '*') {
      ++at_;
      value = wrap(value * factor(depth));
    }
    return value;
  }
  long factor(int depth) {
    const char c = peek();
    ++at_;
    if (c >= '0' && c < '0' + modulus_) return c - '0';
    if (c == '-') return wrap(-factor(depth));
    if (c == '(' && depth < depth_) {
      const long value = expression(depth + 1);
      if (peek() != ')') ok_ = false;
      ++at_;
      return value;
    }
    ok_ = false;
    return 0;
  }
  std::string text_;
  long modulus_;
  int depth_ = 0;
  std::size_t at_ = 0;
  bool ok_ = true;
};

std::string random_expression(long modulus, std::size_t operands, Random& random) {
  std::string text;
  for (std::size_t i = 0; i < operands; ++i) {
    if (i > 0) text += "+-*"[random.below(3)];
    text += static_cast<char>('0' + random.below(static_cast<std::uint64_t>(modulus)));
  }
  return text;
}

long left_to_right(const std::string& text, long modulus) {
  long value = text[0] - '0';
  for (std::size_t i = 1; i < text.size(); i += 2) {
    const long digit = text[i + 1] - '0';
    value = text[i] == '+' ? value + digit : text[i] == '-' ? value - digit : value * digit;
    value = ((value % modulus) + modulus) % modulus;
  }
  return value;
}

}  // namespace

TEST_CASE("arithmetic agrees with calculators") {
  Random random(4);
  for (const long modulus : {2L, 3L, 5L, 10L}) {
    const std::string m = std::to_string(modulus);
    const Dfa fan = named_language("modarith" + m), strict = named_language("modarith" + m + "-strict");
    const Dfa sequential = named_language("ltrarith" + m),
              strict_sequential = named_language("ltrarith" + m + "-strict");
    for (int round = 0; round < 200; ++round) {
      const std::string text = random_expression(modulus, 1 + random.below(20), random);
      CAPTURE(modulus);
      CAPTURE(text);
      const std::string value = std::to_string(Calculator(text, modulus).evaluate(0));
      CHECK(read_text(fan, text) == value);
      CHECK(read_text(strict, text) == value);
      const std::string in_order = std::to_string(left_to_right(text, modulus));
      CHECK(read_text(sequential, text) == in_order);
      CHECK(read_text(strict_sequential, text) == in_order);
      CHECK(read_text(strict, text + "+") == "incomplete");
      CHECK(read_text(strict_sequential, text + "*1" + "-") == "incomplete");
      CHECK(read_text(strict, text + "11+1") == "error");
      CHECK(read_text(strict_sequential, text + "+-1") == "error");
    }
  }
  CHECK(read_text(named_language("modarith5"), "1+2-3*4") == "1");               // Fan §4.1
  CHECK(read_text(named_language("modarith5"), "2-3-3*2") == "3");               // Grazzi E.1.2
  CHECK(read_text(named_language("ltrarith20"), "3 * 9 - 17 + 6 + 12") == "8");  // Ebrahimi B.1
}

TEST_CASE("bracketed arithmetic agrees with a calculator on grammatical and on arbitrary words") {
  CHECK(read_text(named_language("brackets:m=5,depth=3"), "(((3+3)+-1)+-2)-((3-(-3))+((1)+4))") ==
        "2");  // Grazzi E.1.2
  const Dfa dfa = named_language("brackets:m=3,depth=2");
  const std::string characters = "012+-*()";
  Random random(6);
  int values = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    int open = 0;
    bool after_operand = false;
    for (std::uint64_t i = 1 + random.below(14); i > 0; --i) {
      // Usually a letter that fits, so that many words are expressions.
      char letter = characters[random.below(8)];
      if (random.below(20) > 0)
        letter = after_operand ? "+-*)"[random.below(open > 0 ? 4 : 3)] : "012-("[random.below(5)];
      text += letter;
      open += letter == '(' ? 1 : letter == ')' ? -1 : 0;
      after_operand = (letter >= '0' && letter <= '2') || letter == ')';
    }
    const long value = Calculator(text, 3).evaluate(2);
    CAPTURE(text);
    const std::string output = read_text(dfa, text);
    if (value >= 0) {
      ++values;
      CHECK(output == std::to_string(value));
    } else {
      CHECK((output == "incomplete" || output == "error"));
    }
  }
  CHECK(values > 2000);
}
