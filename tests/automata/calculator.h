// tests/automata/calculator.h — arithmetic modulo a number by plain recursive descent on tokens, and from left to
// right.
#pragma once

#include "tests/testing.h"

namespace krohn::test {

using Tokens = std::vector<std::string>;

/// expr := term ((+|-) term)*, term := factor (* factor)*, factor := number | - factor | ( expr ).
class Calculator {
 public:
  Calculator(Tokens tokens, long modulus) : tokens_(std::move(tokens)), modulus_(modulus) {}

  /// The value, or −1 when the tokens are not an expression of residues nested at most `depth` deep.
  long evaluate(int depth = std::numeric_limits<int>::max()) {
    const long value = expression(depth);
    return ok_ && at_ == tokens_.size() ? value : -1;
  }

 private:
  long wrap(long value) const { return ((value % modulus_) + modulus_) % modulus_; }
  bool takes(const std::string& token) {
    const bool is_next = at_ < tokens_.size() && tokens_[at_] == token;
    at_ += is_next ? 1 : 0;
    return is_next;
  }
  long expression(int depth) {
    long value = term(depth);
    while (ok_) {
      if (takes("+"))
        value = wrap(value + term(depth));
      else if (takes("-"))
        value = wrap(value - term(depth));
      else
        break;
    }
    return value;
  }
  long term(int depth) {
    long value = factor(depth);
    while (ok_ && takes("*")) value = wrap(value * factor(depth));
    return value;
  }
  long factor(int depth) {
    if (takes("-")) return wrap(-factor(depth));
    if (depth > 0 && takes("(")) {
      const long value = expression(depth - 1);
      ok_ = takes(")") && ok_;
      return value;
    }
    ok_ = ok_ && at_ < tokens_.size() && std::isdigit(static_cast<unsigned char>(tokens_[at_][0])) != 0 &&
          std::stol(tokens_[at_]) < modulus_;
    return ok_ ? std::stol(tokens_[at_++]) : 0;
  }

  Tokens tokens_;
  long modulus_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

/// Operands and operators in turn, without precedence.
inline long left_to_right(const Tokens& tokens, long modulus) {
  long value = std::stol(tokens[0]);
  for (std::size_t i = 1; i < tokens.size(); i += 2) {
    const long right = std::stol(tokens[i + 1]);
    value = tokens[i] == "+" ? value + right : tokens[i] == "-" ? value - right : value * right;
    value = ((value % modulus) + modulus) % modulus;
  }
  return value;
}

}  // namespace krohn::test
