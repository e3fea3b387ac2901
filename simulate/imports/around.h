// simulate/imports/around.h — what stands around a recurrence in a state dict: the embedding of letters below it, and
// the linear read-out above.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "krohn/constructions/files/safetensors.h"
#include "krohn/simulate/imports/import_model.h"

namespace krohn {

/// Taken one by one. All functions throw InputError naming the setting.
class Settings {
 public:
  /// `given` must outlive it.
  Settings(const std::map<std::string, double>& given, std::string kind) : given_(given), kind_(std::move(kind)) {}

  /// A number from 1 on. `why` says what the tensors leave open; it is told when the setting is missing.
  std::uint32_t count(const std::string& name, const std::string& why);
  /// A number above 0, or 0 for `none` where that is allowed.
  double real(const std::string& name, double usual, bool may_be_none = false);
  bool flag(const std::string& name);
  /// One that libraries have different defaults for: `why` is told when it is missing.
  bool needed_flag(const std::string& name, const std::string& why);
  /// Throws naming the first that nobody took, and all that somebody did.
  void require_all_taken() const;

  /// The name of the ε of a layer's own norm: another one where norm-eps is that of the norms that --modules names.
  const char* own_epsilon = "norm-eps";

 private:
  const double* find(const std::string& name);

  const std::map<std::string, double>& given_;
  std::string kind_;
  std::set<std::string> known_;
};

/// The end of a message about tensors that have no place around one recurrence.
inline constexpr const char* kMoreModules =
    "; of a model with more than an embedding, a recurrence and a linear read-out --modules names all, in the order of "
    "its forward pass: --modules emb,norm1,rnn,norm2,head.0,relu,head.2, where the tensors have such names";

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

/// Rows for the letters of the task; none without an embedding: then inputs are one-hot.
struct ImportedEmbedding {
  std::uint32_t width = 0;
  std::vector<float> rows;
};

/// The tensor PREFIX.weight of `inputs` columns: that of `options.embedding`, or else the one whose name has "emb" in
/// it.
ImportedEmbedding import_embedding(StateDict& dict, const ImportOptions& options, const Task& task,
                                   std::uint64_t inputs);

/// The inputs of the letters, a row of `width` numbers each: rows of the embedding, or without one a 1 at the letter's
/// own place.
std::vector<float> import_input_rows(StateDict& dict, const ImportOptions& options, const Task& task,
                                     std::uint64_t width);

/// Columns of a first layer for the letters, out of `inputs` of them in each of its rows.
std::vector<float> columns_for_letters(const StateDict& dict, const ImportOptions& options, const Task& task,
                                       const std::vector<float>& weights, std::uint64_t inputs);

/// Weights and biases, a row a label of the task.
struct ImportedHead {
  std::vector<float> weights, bias;
};

/// PREFIX.weight of `hidden` columns and PREFIX.bias, if there is one: those of `options.head`, or else the only matrix
/// that is left.
ImportedHead import_head(StateDict& dict, const ImportOptions& options, const Task& task, std::uint64_t hidden);

}  // namespace krohn
