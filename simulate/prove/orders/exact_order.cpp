#include "krohn/simulate/prove/orders/exact_order.h"

#include <algorithm>
#include <cmath>

#include "krohn/groups/base/time_limit.h"
#include "krohn/simulate/arithmetic/interval.h"

namespace krohn {

double grain_of(double number) {
  int exponent = 0;
  const auto digits = static_cast<std::int64_t>(std::ldexp(std::frexp(number, &exponent), 53));
  return std::ldexp(static_cast<double>(digits & -digits), exponent - 53);
}

double common_grain(double a, double b) { return a == 0 ? b : b == 0 ? a : std::min(a, b); }

UpperBound::UpperBound(double number) : value_(std::isnan(number) ? directed::kInfinity : std::fabs(number)) {}

UpperBound operator+(UpperBound a, UpperBound b) { return UpperBound(add_up(a.value_, b.value_)); }

UpperBound operator*(UpperBound a, UpperBound b) {
  const bool is_zero = a.value_ == 0 || b.value_ == 0;  // of infinitely much, too: there are no numbers to multiply
  return is_zero ? UpperBound() : UpperBound(multiply_up(a.value_, b.value_));
}

void GrainRange::add(double number) {
  most = std::max(most, UpperBound(number));
  if (number != 0 && std::isfinite(number)) grain = common_grain(grain, grain_of(number));
}

GrainRange& GrainRange::operator|=(const GrainRange& other) {
  grain = common_grain(grain, other.grain);
  most = std::max(most, other.most);
  return *this;
}

void StateExtent::add(const std::vector<double>& numbers, std::size_t n) {
  for (std::size_t first = 0; first < numbers.size(); first += n) {
    UpperBound sum;
    for (std::size_t i = first; i < first + n; ++i) {
      entries.add(numbers[i]);
      sum = sum + UpperBound(numbers[i]);
    }
    column_sum = std::max(column_sum, sum);
  }
}

WordMaps::WordMaps(LayerInOrder& layer) : layer_(layer), found_(layer.maps().entries + layer.maps().additions) {}

bool WordMaps::close(const std::function<void(const std::vector<double>&)>& fresh,
                     const std::function<bool()>& may_go_on,
                     const std::function<void(std::size_t, std::uint32_t)>& went) {
  const MapShape& shape = layer_.maps();
  std::vector<double> numbers(shape.entries + shape.additions, 0), next;
  const auto number = [&](const std::vector<double>& map) {
    const RecordSet::Insertion inserted = found_.insert(map.data());
    if (inserted.fresh) fresh(map);
    return inserted.index;
  };
  if (shape.only_moves()) number(numbers);
  for (Action letter = 0; !shape.only_moves() && letter < shape.letters; ++letter) {
    layer_.read_map(letter, numbers);
    letters_.push_back(number(numbers));
  }
  for (std::size_t i = 0; i < count(); ++i) {
    if (!may_go_on()) return false;
    read(i, numbers);
    for (Action letter = 0; letter < shape.letters; ++letter) {
      TimeLimit::check();
      layer_.extend_map(numbers, letter, next);
      const std::uint32_t reached = number(next);
      if (went) went(i, reached);
    }
  }
  return true;
}

}  // namespace krohn
