// automata/expressions/expression_syntax.h — the syntax tree of an expression over languages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace krohn {

enum class ExpressionOperator : std::uint8_t {
  kLanguage,  ///< text
  kUnion,
  kIntersection,
  kDifference,
  kSymmetricDifference,
  kConcatenation,
  kComplement,
  kStar,
  kPlus,
  kOptional,
  kReverse,
  kShuffle,
  kPrefixes,
  kSuffixes,
  kFactors,
  kSubwords,
  kLeftQuotient,
  kRightQuotient,
  kProject,   ///< text: the letters to keep
  kErase,     ///< text: the letters to strike out
  kOver,      ///< text: letters to add to the alphabet
  kImage,     ///< text: a=xy,b=
  kPreimage,  ///< text: x=ab,y=
};

struct ExpressionNode {
  ExpressionOperator op = ExpressionOperator::kLanguage;
  std::size_t left = 0, right = 0;  ///< operands, which stand before it
  std::string text;
  std::size_t column = 0;  ///< of its first character, from 1
};

/// True for operators with two languages; those with a text beside one language.
bool takes_two_languages(ExpressionOperator op);
bool takes_text(ExpressionOperator op);

/// The nodes, children first; the last one is the whole. Throws InputError "expression:COLUMN: …".
std::vector<ExpressionNode> parse_expression_syntax(std::string_view expression);

[[noreturn]] void fail_in_expression(std::size_t column, std::string_view message);

/// The column in characters, from 1, of a byte of the expression.
std::size_t column_of(std::string_view expression, std::size_t byte);

}  // namespace krohn
