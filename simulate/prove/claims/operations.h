// simulate/prove/claims/operations.h — what a model that is no network does with a token, operation by operation, so
// that a checker needs to know nothing of its layers (docs/reference/certificate-file.md, "Operations").
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "krohn/constructions/network/network.h"
#include "krohn/groups/base/error.h"

namespace krohn {

/// One list of numbers, made of lists before it.
struct Operation {
  /// Numbers of an earlier list: that at `first`, and one stride further along each axis of the result; the last stride
  /// of the terms of `dot` and `norm` is that of the sum.
  struct View {
    std::uint32_t list = 0, first = 0;
    std::vector<std::uint32_t> strides = {};
    friend bool operator==(const View&, const View&) = default;
  };

  std::string what;                       ///< "tensor", "dot", …
  std::string tensor = {};                ///< of "tensor": its name
  std::vector<double> numbers = {};       ///< of "numbers"; of "norm": p, from 1 to 1,024
  std::uint32_t size = 0;                 ///< of "numbers": how often; of "memory" and "row": how many
  std::vector<std::uint32_t> shape = {};  ///< of the result, for everything that is computed
  std::uint32_t terms = 0;                ///< of "dot" and "norm"
  std::vector<View> of = {};              ///< its operands
  friend bool operator==(const Operation&, const Operation&) = default;
};

/// A model that remembers a list of numbers, reads a token at a time, and answers with the greatest of its logits.
struct Operations {
  std::vector<Operation> list;
  std::vector<std::uint32_t> tokens;         ///< by letter
  std::vector<std::uint32_t> before, after;  ///< tokens around every word; after those behind it all is forgotten
  std::vector<std::uint32_t> start, keep;    ///< lists that are remembered before the first token and after each
  std::uint32_t logits = 0;                  ///< the list of them
  Precision format = Precision::kFp32;       ///< the format of every operation's result: fp64, fp32 or bf16
  friend bool operator==(const Operations&, const Operations&) = default;
};

class OperationsBuilder {
 public:
  struct List {
    std::uint32_t number = 0, size = 0;
  };
  using Size = std::size_t;
  using View = Operation::View;

  List tensor(const std::string& name, Size size) { return add({"tensor", name}, size); }
  List numbers(std::vector<double> numbers, Size times = 1) {
    const Size size = fit(numbers.size() * times);
    return add({"numbers", {}, std::move(numbers), narrow(times)}, size);
  }
  List memory(Size size) { return add({"memory", {}, {}, narrow(size)}, size); }
  List row(List of, Size size) { return add({"row", {}, {}, narrow(size), {}, 0, {{of.number, 0, {}}}}, size); }

  static View view(List list, std::vector<Size> strides, Size first = 0) {
    return {list.number, narrow(first), narrow(strides)};
  }
  List make(const char* what, const std::vector<Size>& shape, std::vector<View> of, Size terms = 0) {
    Size size = 1;
    for (const Size extent : shape) size *= extent;
    return add({what, {}, {}, 0, narrow(shape), narrow(terms), std::move(of)}, fit(size));
  }
  /// Number by number; a list of one number beside longer ones stands for as many of it.
  List each(const char* what, List a) { return make(what, {a.size}, {view(a, {1})}); }
  List each(const char* what, List a, List b) {
    const Size size = a.size > b.size ? a.size : b.size;
    return make(what, {size}, {view(a, {a.size == size ? Size{1} : 0}), view(b, {b.size == size ? Size{1} : 0})});
  }
  /// For lists of rows and of columns: every row of a beside its own number of b, or every row beside all numbers of b.
  List by_row(const char* what, List a, List b) {
    return make(what, {b.size, a.size / b.size}, {view(a, {a.size / b.size, 1}), view(b, {1, 0})});
  }
  List by_column(const char* what, List a, List b) {
    return make(what, {a.size / b.size, b.size}, {view(a, {b.size, 1}), view(b, {0, 1})});
  }
  List part(List list, Size first, Size size) { return make("copy", {size}, {view(list, {1}, first)}); }
  /// x W, W with a row for each number of x.
  List product(List x, List weights) { return make("dot", {weights.size / x.size}, through(x, weights), x.size); }
  List product(List x, List weights, List from) {
    std::vector<View> of = through(x, weights);
    of.push_back(view(from, {1}));
    return make("dot", {weights.size / x.size}, std::move(of), x.size);
  }
  /// W x + b, W with a column for each number of x; sums begin with b, or 0.
  List affine(List x, List weights) { return make("dot", {weights.size / x.size}, along(x, weights), x.size); }
  List affine(List x, List weights, List bias) {
    std::vector<View> of = along(x, weights);
    of.push_back(view(bias, {1}));
    return make("dot", {bias.size}, std::move(of), x.size);
  }
  /// The sums of the squares of every `width` numbers.
  List squares(List x, Size width) {
    return make("dot", {x.size / width}, {view(x, {width, 1}), view(x, {width, 1})}, width);
  }
  /// The p-norms of every `width` numbers.
  List norms(List x, Size width, double exponent) {
    const List norm = make("norm", {x.size / width}, {view(x, {width, 1})}, width);
    operations.list.back().numbers = {exponent};
    return norm;
  }
  /// A number as a model holds it, in fp64 or else in fp32.
  List constant(double number) {
    return numbers({operations.format == Precision::kFp64 ? number : static_cast<double>(static_cast<float>(number))});
  }
  /// 1 for every number that is 0, 0 for every one that is greater.
  List is_zero(List x) {
    const double least = operations.format == Precision::kFp64 ? 0x1p-1074 : 0x1p-149;
    return each("subtract", numbers({1}), each("divide", x, each("greater", x, numbers({least}))));
  }
  void start(List list) { operations.start.push_back(list.number); }
  void keep(List list) { operations.keep.push_back(list.number); }

  Operations operations;

 private:
  static Size fit(Size size) {
    if (size > Size{1} << 28)
      throw InputError(
          "a model that computes or remembers a list of more than 2^28 numbers; make its heads, keys or values "
          "smaller");
    return size;
  }
  static std::uint32_t narrow(Size number) { return static_cast<std::uint32_t>(number); }
  static std::vector<std::uint32_t> narrow(const std::vector<Size>& numbers) {
    std::vector<std::uint32_t> result;
    for (const Size number : numbers) result.push_back(narrow(number));
    return result;
  }
  static std::vector<View> through(List x, List weights) {
    return {view(x, {0, 1}), view(weights, {1, weights.size / x.size})};
  }
  static std::vector<View> along(List x, List weights) { return {view(x, {0, 1}), view(weights, {x.size, 1})}; }
  List add(Operation operation, Size size) {
    operations.list.push_back(std::move(operation));
    return {narrow(operations.list.size() - 1), narrow(size)};
  }
};

}  // namespace krohn
