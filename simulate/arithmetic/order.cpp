#include "krohn/simulate/arithmetic/order.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/groups/base/error.h"

namespace krohn {

std::string to_string(Form form) { return form == Form::kStructured ? "structured" : "dense"; }

Form parse_form(std::string_view name) {
  if (name == "structured") return Form::kStructured;
  if (name == "dense") return Form::kDense;
  throw InputError(fmt::format("unknown form \"{}\"; use structured or dense", name));
}

namespace {

constexpr std::string_view kKinds[] = {"sequential", "chunked", "scan", "doubling"};

Order::Kind parse_kind(std::string_view name, std::string_view order) {
  const auto* const kind = std::ranges::find(kKinds, name);
  if (kind == std::end(kKinds))
    throw InputError(order,
                     "no evaluation order of this name; take sequential, chunked, chunked:LETTERS, scan, "
                     "scan:LETTERS, doubling or doubling:LETTERS");
  return static_cast<Order::Kind>(kind - kKinds);
}

std::uint32_t parse_block(std::string_view digits, std::string_view order) {
  const auto block = number_in<std::uint32_t>(digits);
  if (!block || *block == 0 || *block > Order::kMaxBlock)
    throw InputError(
        order, fmt::format("after the colon comes how many letters are taken together, 1 … {}", Order::kMaxBlock));
  return *block;
}

}  // namespace

std::string to_string(Order order) {
  const std::string_view name = kKinds[static_cast<std::size_t>(order.kind)];
  return order.block == 0 ? std::string(name) : fmt::format("{}:{}", name, order.block);
}

Order parse_order(std::string_view name) {
  const std::size_t colon = name.find(':');
  const Order::Kind kind = parse_kind(name.substr(0, colon), name);
  if (colon == std::string_view::npos) return {kind, kind == Order::Kind::kChunked ? Order::kDefaultChunk : 0};
  if (kind == Order::Kind::kSequential) throw InputError(name, "sequential takes no number of letters");
  return {kind, parse_block(name.substr(colon + 1), name)};
}

}  // namespace krohn
