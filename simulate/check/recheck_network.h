// simulate/check/recheck_network.h — a network, and a list of operations, evaluated the slow way, for the re-checker of
// certificates alone: every matrix as lists of weights, every codeword looked at. simulate/arithmetic/apply.h and
// docs/reference/network-file.md define what is computed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/constructions/files/safetensors.h"
#include "krohn/constructions/network/network.h"
#include "krohn/simulate/arithmetic/order.h"
#include "krohn/simulate/check/recheck_arithmetic.h"
#include "krohn/simulate/prove/claims/certificate.h"
#include "krohn/simulate/prove/claims/operations.h"

namespace krohn {

using RecheckedNumbers = std::vector<double>;

class RecheckedReader {
 public:
  /// The memory after a word: of a network, per layer its numbers, column after column, and the label that they
  /// were read as, if any; of operations, one list of numbers, and beside it what was answered.
  struct Moment {
    std::vector<RecheckedNumbers> numbers;
    std::vector<std::optional<std::uint32_t>> labels;
    std::uint64_t phase = 0;  ///< letters since the network snapped, of one that snaps
    std::optional<std::uint32_t> said = {};
  };
  virtual ~RecheckedReader() = default;
  virtual Moment start() const = 0;
  virtual Moment step(const Moment& before, Letter letter) const = 0;
  /// A state of the network's automaton, or the number of a logit.
  virtual std::optional<std::uint32_t> read(const Moment& moment) const = 0;
};

/// Views the network, which must outlive it.
class RecheckedNetwork final : public RecheckedReader {
 public:
  /// Throws InputError for an arithmetic that is not known.
  RecheckedNetwork(const Network& network, const std::string& arithmetic, Form form);

  Moment start() const override;
  Moment step(const Moment& before, Letter letter) const override;
  std::optional<std::uint32_t> read(const Moment& moment) const override;

  /// The parts of a step. A codeword is rounded as weights are.
  RecheckedNumbers move(std::size_t layer, Action action, const RecheckedNumbers& from) const;
  std::optional<Label> decode(std::size_t layer, std::uint32_t book, const RecheckedNumbers& numbers) const;
  /// The codeword of the book that is strictly nearest.
  std::optional<std::size_t> nearest(std::size_t layer, std::uint32_t book, const RecheckedNumbers& numbers) const;
  RecheckedNumbers codeword_numbers(std::size_t layer, std::size_t codeword) const;
  RecheckedNumbers rounded(const Eigen::MatrixXd& matrix) const;

  /// The stored weights of an action that sums products row by row; nothing for other forms.
  struct Weights {
    Eigen::MatrixXd a;
    RecheckedNumbers b;        ///< column after column; empty without B
    std::size_t products = 0;  ///< the most in one row
  };
  std::optional<Weights> weights(std::size_t layer, Action action) const;
  /// The stored factors I − β k kᵀ of an action that reflects, the first one applied first; nothing for other forms,
  /// nor beside a B.
  struct Factor {
    std::vector<std::pair<std::uint32_t, double>> key;  ///< coordinates and their entries
    double beta = 0;
  };
  std::optional<std::vector<Factor>> factors(std::size_t layer, Action action) const;
  const DeterministicArithmetic& arithmetic() const { return in_; }

  struct Entry {
    std::uint32_t column;
    double weight;
    bool is_sign;  ///< ± the number itself, no product
  };
  using Row = std::vector<Entry>;
  /// One of three: rows; factors I − β k kᵀ as (k, β); 0/1 terms as (outputs, inputs).
  struct RecheckedMatrix {
    std::vector<Row> rows;
    std::vector<std::pair<Row, double>> reflections;
    std::vector<std::pair<std::vector<std::uint32_t>, std::vector<std::uint32_t>>> terms;
    bool is_rows = false;
  };
  const RecheckedMatrix& matrix(std::size_t layer, Action action) const { return matrices_[layer][action]; }
  /// B, column after column; empty where there is none.
  const RecheckedNumbers& addition(std::size_t layer, Action action) const { return additions_[layer][action]; }

 private:
  struct Prepare;
  /// Book and numbers of a codeword; which it is, or none when several are equal.
  using CodewordOf = std::map<std::pair<std::uint32_t, RecheckedNumbers>, std::optional<std::size_t>>;

  static CodewordOf integer_codewords(const Layer& layer);
  void multiply(const RecheckedMatrix& matrix, const double* x, double* y, std::size_t dimension) const;
  double dot(const Row& row, const double* x) const;

  const Network& network_;
  DeterministicArithmetic in_;
  std::vector<std::vector<RecheckedMatrix>> matrices_;    ///< by layer and action
  std::vector<std::vector<RecheckedNumbers>> additions_;  ///< B by layer and action, empty where there is none
  std::vector<CodewordOf> codeword_of_;                   ///< by layer; empty unless its codewords are integers
};

/// True if A `from` + B is `to`, of every column, exactly: with the entries that the structured form stands for. False
/// where these are irrational.
bool moves_exactly(const Layer& layer, Action action, const std::vector<double>& from, const std::vector<double>& to);

/// Establishes that words of at most `proof.length` letters are read rightly (docs/reference/certificate-file.md,
/// "linear horizon"), or throws NotEstablished. Returns what was found, as a sentence.
std::string check_horizon(const LinearHorizon& proof, const Network& network, const RecheckedNetwork& plain);

// Operations, evaluated one after another (docs/reference/certificate-file.md, "Operations").

/// Views nothing. Throws NotEstablished where an operation makes no sense, here and on the way where a number is not
/// finite.
std::unique_ptr<RecheckedReader> rechecked_operations(const Operations& operations, const TensorFile& tensors);

/// The same with intervals for numbers (docs/reference/certificate-file.md, "closed regions"): the memory is two lists,
/// of lower ends and of upper ones, and what is read is the logit that is the greatest throughout. `also`: fp32, or
/// bf16 or fp16, to which the runtimes may round besides. Throws NotEstablished also where nothing encloses a number.
std::unique_ptr<RecheckedReader> enclosed_operations(const Operations& operations, const TensorFile& tensors,
                                                     Precision also);

}  // namespace krohn
