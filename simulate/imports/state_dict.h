// simulate/imports/state_dict.h — the tensors of somebody else's model, taken one by one.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "krohn/constructions/files/safetensors.h"
#include "krohn/constructions/files/tensor_values.h"

namespace krohn {

/// "[3, 4]".
std::string shape_text(const Shape& shape);

/// All functions throw InputError naming the file and the tensor.
class StateDict {
 public:
  /// `file` must outlive it.
  StateDict(const TensorFile& file, std::string where) : file_(file), where_(std::move(where)) {}

  bool has(const std::string& name) const { return file_.tensors.contains(name); }
  const Shape& shape(const std::string& name) const;
  /// F32, F16 and BF16 as they are; F64 where every number is one of fp32. All finite.
  std::vector<float> take(const std::string& name, const Shape& shape);

  /// Names that nobody has taken, in order.
  std::vector<std::string> left() const;
  /// A file must not hold more than is read: throws naming the first tensor left.
  void require_all_taken(const std::string& read_as) const;
  [[noreturn]] void fail(const std::string& why) const;
  const std::string& where() const { return where_; }

 private:
  const Tensor& tensor(const std::string& name) const;

  const TensorFile& file_;
  std::string where_;
  std::set<std::string> taken_;
};

}  // namespace krohn
