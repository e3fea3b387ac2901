// Networks in the parameters of other architectures: what is written reads back as the same matrices and is proved;
// what an architecture cannot hold, and hostile files, are refused.

#include "krohn/constructions/files/recurrence_file.h"

#include <doctest/doctest.h>

#include <cmath>

#include "krohn/automata/language.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/constructions/build/planner.h"
#include "krohn/constructions/files/network_file.h"
#include "krohn/constructions/files/tensor_values.h"
#include "krohn/groups/error.h"
#include "krohn/simulate/prove/certify.h"
#include "tests/error_of.h"

using namespace krohn;

namespace {

Network built(const char* language, const std::string& construction) {
  BuildOptions wishes;
  wishes.construction = construction;
  return build(minimise(load_language(language)), wishes);
}

std::vector<float> numbers_of(const TensorFile& file, const std::string& name) {
  const Tensor& tensor = file.tensors.at(name);
  REQUIRE(tensor.dtype == "F32");
  std::vector<float> numbers(tensor.elements());
  std::memcpy(numbers.data(), tensor.bytes.data(), tensor.bytes.size());
  return numbers;
}

std::string claim_of(const Network& network, Precision precision) {
  CertifyOptions options;
  options.arithmetic = precision;
  options.max_pairs = 1000;
  return to_string(certify(network, options).claim);
}

}  // namespace

TEST_CASE("every family gives back the matrices that it was written from, and is proved") {
  struct Fact {
    const char* language;
    const char* construction;
    const char* family;
  };
  for (const Fact& fact : {Fact{"regex:(a|b)*abb", "bilinear", "bilinear"},
                           {"name:modarith5", "factored", "bilinear-cp"},
                           {"name:Z6", "block-diagonal", "bilinear-block"},
                           {"name:Z4", "r2", "bilinear-r2"},
                           {"name:S3", "one-hot", "pd-ssm"},
                           {"name:modarith5", "cascade-holonomy", "pd-ssm"},
                           {"name:Z12", "signed-permutation", "pd-ssm"},
                           {"regex:(a|b)*abb", "diagonal-unit-interval", "mamba"},
                           {"name:tomita3", "diagonal-signed", "mamba"},
                           {"name:Z6", "block-diagonal", "fan"},
                           {"regex:(a|b)*abb", "one-hot", "fan"}}) {
    CAPTURE(fact.language);
    CAPTURE(fact.family);
    const Network network = built(fact.language, fact.construction);
    const TensorFile file = to_recurrence(network, fact.family);
    CHECK(is_recurrence(file));
    const std::string bytes = format_safetensors(file);
    const Network read = from_recurrence(parse_safetensors(std::as_bytes(std::span(bytes)), "file"), "file");
    CHECK(read.automaton == network.automaton);
    REQUIRE(read.layers.size() == network.layers.size());
    for (std::size_t k = 0; k < read.layers.size(); ++k)
      for (std::size_t action = 0; action < read.layers[k].transitions.size(); ++action) {
        const Transition &ours = network.layers[k].transitions[action], &theirs = read.layers[k].transitions[action];
        CHECK(to_dense(theirs.a) == to_dense(ours.a));
        CHECK((theirs.b.size() == 0 || theirs.b.isZero(0)) == (ours.b.size() == 0 || ours.b.isZero(0)));
        if (ours.b.size() != 0) CHECK(theirs.b == ours.b);
      }
    for (const Precision precision : {Precision::kFp32, Precision::kBf16}) CHECK(claim_of(read, precision) == "proved");
  }
}

TEST_CASE("the first choices of a family are constructions that it holds") {
  for (const std::string& family : recurrence_families()) {
    CAPTURE(family);
    const char* language = family == "bilinear-r2" ? "name:Z6" : family == "mamba" ? "name:tomita4" : "name:Z6";
    const Network network = built(language, constructions_for(family).front());
    CHECK(from_recurrence(to_recurrence(network, family), "file").layers.size() == network.layers.size());
  }
}

TEST_CASE("parameters that are not krohn's are computed as the architecture computes them") {
  TensorFile file = to_recurrence(built("name:parity", "one-hot"), "pd-ssm");
  std::vector<float> factors = numbers_of(file, "layers.0.D");
  factors[0] = 0.5f;
  file.tensors.at("layers.0.D") = make_tensor(factors, {2, 2});
  CHECK(to_dense(from_recurrence(file, "file").layers[0].transitions[0].a)(0, 0) == 0.5L);

  file = to_recurrence(built("name:parity", "one-hot"), "fan");  // columns of norm above 1 are divided by it
  std::vector<float> columns = numbers_of(file, "layers.0.V.0");
  for (float& number : columns) number *= 3;
  file.tensors.at("layers.0.V.0") = make_tensor(columns, {2, 2, 2});
  const LongMatrix a = to_dense(from_recurrence(file, "file").layers[0].transitions[0].a);
  CHECK(static_cast<double>(a.cwiseAbs().maxCoeff()) == doctest::Approx(1).epsilon(1e-15));

  file = to_recurrence(built("name:tomita4", "diagonal-unit-interval"), "mamba");
  const std::vector<float> steps(numbers_of(file, "layers.0.dt").size(), 0);  // softplus(0) = ln 2
  file.tensors.at("layers.0.dt") = make_tensor(steps, file.tensors.at("layers.0.dt").shape);
  CHECK(static_cast<double>(to_dense(from_recurrence(file, "file").layers[0].transitions[0].a)(0, 0)) ==
        doctest::Approx(0.5).epsilon(1e-6));
}

TEST_CASE("what an architecture cannot hold is refused with the reason") {
  CHECK_THROWS_WITH_AS(to_recurrence(built("name:Z5", "rotation"), "pd-ssm"), doctest::Contains("rotation"),
                       InputError);
  CHECK_THROWS_WITH_AS(to_recurrence(built("name:S3", "one-hot"), "mamba"), doctest::Contains("diagonal"), InputError);
  CHECK_THROWS_WITH_AS(to_recurrence(built("name:S3", "one-hot"), "stone"), doctest::Contains("not one of"),
                       InputError);
  CHECK_THROWS_WITH_AS(to_recurrence(built("name:S3", "integral-standard"), "fan"), doctest::Contains("norm"),
                       InputError);
}

TEST_CASE("hostile files are refused") {
  const TensorFile good = to_recurrence(built("name:parity", "one-hot"), "pd-ssm");
  const auto refusal = [&](const auto& spoil) {
    TensorFile file = good;
    spoil(file);
    return test::error_of([&] { from_recurrence(file, "file"); });
  };
  CHECK(refusal([](TensorFile&) {}) == "no error");
  CHECK(refusal([](TensorFile& file) { file.metadata["family"] = "rwkv"; }).find("rwkv") != std::string::npos);
  CHECK(refusal([](TensorFile& file) { file.metadata.erase("family"); }).find("family") != std::string::npos);
  CHECK(refusal([](TensorFile& file) { file.metadata["layers"] = "{}"; }) != "no error");
  CHECK(refusal([](TensorFile& file) { file.metadata["layers"] = "[[[[[[[[[[["; }) != "no error");
  CHECK(refusal([](TensorFile& file) { file.tensors.erase("layers.0.D"); }).find("layers.0.D") != std::string::npos);
  CHECK(refusal([](TensorFile& file) {
          file.tensors["layers.0.Q"] = make_tensor(std::vector<float>{1}, {1});
        }).find("layers.0.Q") != std::string::npos);
  CHECK(refusal([](TensorFile& file) {
          file.tensors["layers.0.P"] = make_tensor(std::vector<std::uint32_t>{0, 1, 2, 0}, {2, 2});
        }).find("row 2") != std::string::npos);
  CHECK(refusal([](TensorFile& file) {
          file.tensors["layers.0.D"] = make_tensor(std::vector<float>{1, NAN, 1, 1}, {2, 2});
        }).find("layers.0.D") != std::string::npos);
  CHECK(refusal([](TensorFile& file) {
          file.tensors["layers.0.H0"] = Tensor{"F32", {1u << 30, 0}, {}};
        }) != "no error");
  CHECK(refusal([](TensorFile& file) {
          file.tensors["layers.0.P"] = Tensor{"U32", {1ull << 40, 0}, {}};
        }) != "no error");
}
