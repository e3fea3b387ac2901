#include "tools/krohn/report/classification.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "tools/krohn/report/output.h"

namespace krohn {
namespace {

std::string digits_text(const SumsSeen& seen) {
  const std::string factors = seen.left_digits == seen.right_digits ? fmt::format("factors {}", seen.left_digits)
                                                                    : fmt::format("left factors {}, right factors {}",
                                                                                  seen.left_digits, seen.right_digits);
  const std::string products = seen.product_digits ? fmt::format("products {}", *seen.product_digits)
                                                   : "products not rounded before they are added";
  const std::string sums = seen.sum_digits ? fmt::format("sums {}", *seen.sum_digits) : "sums more than can be seen";
  return fmt::format("{}, {}, {}, result {}", factors, products, sums, seen.result_digits);
}

std::string rounding_text(const SumsSeen& seen) {
  std::string text = seen.sum_rounding ? "sums " + to_string(*seen.sum_rounding) : "of sums not seen";
  if (seen.result_rounding) text += "; the result " + to_string(*seen.result_rounding);
  return text;
}

std::string subnormal_text(const SumsSeen& seen) {
  std::vector<std::string> kept, lost;
  const auto add = [&](bool is_kept, const char* what) { (is_kept ? kept : lost).emplace_back(what); };
  add(seen.keeps_subnormal_factors, "factors");
  add(seen.keeps_subnormal_products, "products");
  add(seen.keeps_subnormal_sums, "sums");
  if (lost.empty()) return "kept";
  if (kept.empty()) return "flushed to zero";
  return fmt::format("{} kept, {} flushed to zero", fmt::join(kept, " and "), fmt::join(lost, " and "));
}

std::string certificates_text(const SumsSeen& seen) {
  const ClaimsThatHold claims = claims_that_hold(seen);
  std::vector<std::string> parts;
  if (claims.sequential) parts.push_back("order sequential in " + to_string(*claims.sequential));
  if (!claims.any_order.empty())
    parts.push_back(fmt::format("order any in {}", fmt::join(names_of(claims.any_order), ", ")));
  if (!claims.any_order_normal.empty())
    parts.push_back(fmt::format("order any in {}, where no number is subnormal",
                                fmt::join(names_of(claims.any_order_normal), ", ")));
  return parts.empty() ? "none" : fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace

std::string probe_text(const SumsSeen& seen) {
  const std::string arithmetic =
      seen.arithmetic ? fmt::format("{}, bit for bit on {}", to_string(*seen.arithmetic), counted(seen.compared, "sum"))
      : seen.order && seen.order->is_binary() ? "none of krohn's"
                                              : "none of krohn's, which add two numbers at a time";
  return format_table({{"order", seen.order ? to_string(*seen.order) : "none seen: no tree of rounded sums"},
                       {"digits", digits_text(seen)},
                       {"rounding", rounding_text(seen)},
                       {"subnormal numbers", subnormal_text(seen)},
                       {"arithmetic", arithmetic},
                       {"certificates", certificates_text(seen)}});
}

nlohmann::ordered_json probe_json(const SumsSeen& seen) {
  nlohmann::ordered_json json;
  json["format"] = to_string(seen.format);
  json["terms"] = seen.terms;
  if (seen.order) {
    json["order"] = to_string(*seen.order);
    json["tree"] = nlohmann::ordered_json::array();
    for (const SummationTree::Node& node : seen.order->nodes) json["tree"].push_back(node.children);
  }
  json["left_digits"] = seen.left_digits;
  json["right_digits"] = seen.right_digits;
  if (seen.product_digits) json["product_digits"] = *seen.product_digits;
  if (seen.sum_digits) json["sum_digits"] = *seen.sum_digits;
  json["result_digits"] = seen.result_digits;
  if (seen.sum_rounding) json["sum_rounding"] = to_string(*seen.sum_rounding);
  if (seen.result_rounding) json["result_rounding"] = to_string(*seen.result_rounding);
  json["keeps_subnormal_factors"] = seen.keeps_subnormal_factors;
  json["keeps_subnormal_products"] = seen.keeps_subnormal_products;
  json["keeps_subnormal_sums"] = seen.keeps_subnormal_sums;
  if (seen.arithmetic) json["arithmetic"] = to_string(*seen.arithmetic);
  json["compared"] = seen.compared;
  const ClaimsThatHold claims = claims_that_hold(seen);
  nlohmann::ordered_json held;
  if (claims.sequential) held["sequential"] = to_string(*claims.sequential);
  held["any"] = names_of(claims.any_order);
  held["any_without_subnormal"] = names_of(claims.any_order_normal);
  json["certificates"] = std::move(held);
  return json;
}

}  // namespace krohn
