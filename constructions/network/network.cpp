#include "krohn/constructions/network/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "krohn/groups/base/error.h"

namespace krohn {
namespace {

constexpr std::array<std::pair<Precision, std::string_view>, 4> kNames{
    {{Precision::kFp64, "fp64"}, {Precision::kFp32, "fp32"}, {Precision::kFp16, "fp16"}, {Precision::kBf16, "bf16"}}};

}  // namespace

std::string to_string(Precision precision) {
  return std::string(kNames.at(static_cast<std::size_t>(precision)).second);
}

Precision parse_precision(std::string_view name) {
  for (const auto& [precision, known] : kNames)
    if (known == name) return precision;
  throw InputError(fmt::format("unknown precision \"{}\"; use fp64, fp32, fp16 or bf16", name));
}

namespace {

[[noreturn]] void fail(const std::string& where, const std::string& message) { throw InputError(where, message); }

std::string shape(const Eigen::MatrixXd& m) { return fmt::format("{}×{}", m.rows(), m.cols()); }

bool has_shape(const Eigen::MatrixXd& m, const Layer& layer) {
  return m.rows() == Eigen::Index{layer.dimension} && m.cols() == Eigen::Index{layer.columns};
}

void check_state_matrix(const Eigen::MatrixXd& m, const Layer& layer, const std::string& where) {
  if (!has_shape(m, layer))
    fail(where, fmt::format("is {}; it must be {}×{}", shape(m), layer.dimension, layer.columns));
  if (!m.allFinite()) fail(where, "holds a number that is not finite");
}

void check_transitions(const Layer& layer, const std::string& where) {
  for (std::size_t action = 0; action < layer.transitions.size(); ++action) {
    const std::string here = fmt::format("{}, action {}", where, action);
    validate(layer.transitions[action].a, layer.dimension, here);
    const Eigen::MatrixXd& b = layer.transitions[action].b;
    if (b.size() != 0) check_state_matrix(b, layer, here + ", B");
  }
}

void check_unit_decoder(const Layer& layer, const std::string& where) {
  const Decoder& decoder = layer.decoder;
  if (!decoder.codewords.empty() || !decoder.label_of.empty() || !decoder.book.empty())
    fail(where, "unit codewords are not stored, but the decoder holds some");
  if (layer.columns != 1 || std::uint64_t{decoder.unit_copies} * layer.labels != layer.dimension)
    fail(where, fmt::format("{} in {} copies do not fit {}×{} states", counted(layer.labels, "unit codeword"),
                            decoder.unit_copies, layer.dimension, layer.columns));
}

void check_listed_decoder(const Layer& layer, const std::string& where) {
  const Decoder& decoder = layer.decoder;
  const std::size_t count = decoder.codewords.size();
  if (decoder.label_of.empty() ? count != layer.labels : decoder.label_of.size() != count)
    fail(where, fmt::format("{} for {}, with a table of {}", counted(count, "codeword"), counted(layer.labels, "label"),
                            decoder.label_of.size()));
  if (!decoder.book.empty() && decoder.book.size() != count)
    fail(where, fmt::format("{}, but {} are in books", counted(count, "codeword"), decoder.book.size()));
  std::vector<bool> named(layer.labels, false), used_books(count, false);
  std::uint32_t books = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t book = codeword_book(layer, i);
    if (book >= count) fail(where, fmt::format("codeword {} of {} is in book {}", i, count, book));
    used_books[book] = true;
    books = std::max(books, book + 1);
    check_state_matrix(decoder.codewords[i], layer, fmt::format("{}, codeword {}", where, i));
    const Label label = codeword_label(layer, i);
    if (label >= layer.labels)
      fail(where, fmt::format("codeword {} stands for label {} of {}", i, label, layer.labels));
    named[label] = true;
  }
  const auto gap = std::find(used_books.begin(), used_books.begin() + books, false) - used_books.begin();
  if (gap < books) fail(where, fmt::format("book {} of {} has no codeword", gap, books));
  const auto missing = std::find(named.begin(), named.end(), false);
  if (missing != named.end()) fail(where, fmt::format("label {} has no codeword", missing - named.begin()));
}

/// The label of the nearest codeword of book 0. A unit decoder answers without listing its codewords.
Label nearest_label(const Layer& layer, const Eigen::MatrixXd& h) {
  Label best = layer.labels;
  double least = std::numeric_limits<double>::infinity();
  if (layer.decoder.unit_copies > 0) {
    for (Label label = 0; label < layer.labels; ++label) {
      double sum = 0;
      for (Eigen::Index i = label; i < h.rows(); i += layer.labels) sum += h(i, 0);
      if (-sum < least) least = -sum, best = label;
    }
    return best;
  }
  for (std::size_t i = 0; i < layer.decoder.codewords.size(); ++i) {
    if (codeword_book(layer, i) != 0) continue;
    const double distance = (h - layer.decoder.codewords[i]).squaredNorm();
    if (distance < least) least = distance, best = codeword_label(layer, i);
  }
  return best;
}

std::uint32_t book_count(const Layer& layer) {
  const auto& book = layer.decoder.book;
  return book.empty() ? 1 : *std::max_element(book.begin(), book.end()) + 1;
}

void check_decoder(const Layer& layer, const std::string& where) {
  if (layer.decoder.unit_copies > 0)
    check_unit_decoder(layer, where + ", decoder");
  else
    check_listed_decoder(layer, where + ", decoder");
  if (layer.initial_label >= layer.labels)
    fail(where, fmt::format("initial label {} of {}", layer.initial_label, layer.labels));
  check_state_matrix(layer.initial, layer, where + ", H_0");
  if (nearest_label(layer, layer.initial) != layer.initial_label)
    fail(where, fmt::format("H_0 does not decode to the initial label {}", layer.initial_label));
}

void check_wiring(const Layer& layer, const Layer* above, const std::string& where) {
  const std::size_t contexts = layer.wiring.action_of.size();
  for (std::size_t c = 0; c < contexts; ++c)
    if (layer.wiring.action_of[c] >= layer.transitions.size())
      fail(where,
           fmt::format("context {} calls for action {} of {}", c, layer.wiring.action_of[c], layer.transitions.size()));
  const std::size_t expected = above == nullptr ? 0 : contexts * layer.labels;
  if (layer.wiring.next.size() != expected)
    fail(where, fmt::format("the wiring has {} entries instead of {}", layer.wiring.next.size(), expected));
  for (const Context next : layer.wiring.next)
    if (next != kNoContext && next >= above->wiring.action_of.size())
      fail(where, fmt::format("the wiring leads to context {} of {}", next, above->wiring.action_of.size()));
  const auto& books = layer.book_of_context;
  if (!books.empty() && books.size() != contexts)
    fail(where, fmt::format("{} contexts, but {} name a code book", contexts, books.size()));
  for (const std::uint32_t book : books)
    if (book >= book_count(layer)) fail(where, fmt::format("code book {} of {}", book, book_count(layer)));
}

void check_layer(const Network& network, std::size_t k) {
  const Layer& layer = network.layers[k];
  const std::string where = fmt::format("layer {}", k + 1);
  if (layer.dimension == 0 || layer.columns == 0 || layer.labels == 0)
    fail(where, fmt::format("has {}×{} states and {} labels; all must be positive", layer.dimension, layer.columns,
                            layer.labels));
  check_transitions(layer, where);
  check_decoder(layer, where);
  check_wiring(layer, k + 1 < network.layers.size() ? &network.layers[k + 1] : nullptr, where);
}

/// Level by level: the nodes that a level may name are those that the next level has rows for, and at the end the
/// states.
void check_readout(const Network& network) {
  const auto& levels = network.readout.next;
  const std::size_t layers = network.layers.size();
  if (levels.size() != layers) fail("readout", fmt::format("has {} levels for {} layers", levels.size(), layers));
  std::size_t nodes = 1;
  for (std::size_t k = 0; k < layers; ++k) {
    const std::string where = fmt::format("readout, level {}", k + 1);
    if (levels[k].size() != nodes * network.layers[k].labels)
      fail(where,
           fmt::format("has {} entries instead of {}, for {} of {}", levels[k].size(), nodes * network.layers[k].labels,
                       counted(nodes, "node"), counted(network.layers[k].labels, "label")));
    const bool last = k + 1 == layers;
    const std::size_t range = last ? network.automaton.states() : levels[k + 1].size() / network.layers[k + 1].labels;
    for (const Context entry : levels[k])
      if (entry != kNoContext && entry >= range)
        fail(where, fmt::format("leads to {} {} of {}", last ? "state" : "node", entry, range));
    nodes = range;
  }
}

/// Snapping looks for the nearest codeword without a context that would choose the book.
void check_one_book(const Layer& layer, std::size_t k) {
  const auto is_other = [](std::uint32_t book) { return book != 0; };
  if (std::any_of(layer.decoder.book.begin(), layer.decoder.book.end(), is_other) ||
      std::any_of(layer.book_of_context.begin(), layer.book_of_context.end(), is_other))
    fail(fmt::format("layer {}", k + 1), "has several code books; a network that snaps has one for each layer");
}

void check_initial_state(const Network& network) {
  Context node = 0;
  for (std::size_t k = 0; k < network.layers.size(); ++k) {
    const Layer& layer = network.layers[k];
    node = network.readout.next[k][std::size_t{node} * layer.labels + layer.initial_label];
    if (node == kNoContext) fail("readout", "the initial labels lead nowhere");
  }
  if (node != network.automaton.initial())
    fail("readout", fmt::format("the initial labels give state {}; the automaton starts in {}", node,
                                network.automaton.initial()));
}

}  // namespace

std::int64_t reflections_of_layer(const Layer& layer) {
  std::int64_t most = 0;
  for (const Transition& transition : layer.transitions) {
    const std::int64_t count = reflection_count(transition.a);
    if (count < 0) return -1;
    most = std::max(most, count);
  }
  return most;
}

std::size_t codeword_count(const Layer& layer) {
  return layer.decoder.unit_copies > 0 ? layer.labels : layer.decoder.codewords.size();
}

Eigen::MatrixXd codeword(const Layer& layer, std::size_t i) {
  if (layer.decoder.unit_copies == 0) return layer.decoder.codewords[i];
  Eigen::MatrixXd code = Eigen::MatrixXd::Zero(layer.dimension, 1);
  for (std::uint32_t copy = 0; copy < layer.decoder.unit_copies; ++copy)
    code(static_cast<Eigen::Index>(std::size_t{copy} * layer.labels + i), 0) = 1;
  return code;
}

Label codeword_label(const Layer& layer, std::size_t i) {
  return layer.decoder.label_of.empty() ? static_cast<Label>(i) : layer.decoder.label_of[i];
}

std::uint32_t codeword_book(const Layer& layer, std::size_t i) {
  return layer.decoder.book.empty() ? 0 : layer.decoder.book[i];
}

void require_linear(const Network& network, const std::string& what) {
  if (network.snap_every > 0)
    throw InputError(what, fmt::format("the network snaps to its codewords every {} letters, which no linear map does; "
                                       "read it letter after letter",
                                       network.snap_every));
}

void validate(const Network& network) {
  for (std::size_t k = 0; k < network.layers.size(); ++k) {
    check_layer(network, k);
    if (network.snap_every > 0) check_one_book(network.layers[k], k);
  }
  if (!network.layers.empty() && network.layers[0].wiring.action_of.size() != network.automaton.letters())
    fail("layer 1",
         fmt::format("is wired for {}; the alphabet has {}",
                     counted(network.layers[0].wiring.action_of.size(), "letter"), network.automaton.letters()));
  check_readout(network);
  check_initial_state(network);
}

NetworkSize size_of(const Network& network) {
  NetworkSize size;
  size.layers = static_cast<std::uint32_t>(network.layers.size());
  for (const Layer& layer : network.layers) {
    size.state_numbers += std::uint64_t{layer.dimension} * layer.columns;
    const std::int64_t reflections = reflections_of_layer(layer);
    size.reflections_per_token =
        reflections < 0 || size.reflections_per_token < 0 ? -1 : size.reflections_per_token + reflections;
    size.alphabet_sizes.push_back(layer.transitions.size());
    for (const Transition& transition : layer.transitions)
      size.weights += weight_count(transition.a) + static_cast<std::uint64_t>(transition.b.size());
  }
  return size;
}

namespace {

constexpr std::uint64_t kMaxNumbers = std::uint64_t{1} << 24;

}  // namespace

Layer listed_layer(std::vector<Eigen::MatrixXd> codewords) {
  Layer layer;
  layer.dimension = static_cast<std::uint32_t>(codewords[0].rows());
  layer.columns = static_cast<std::uint32_t>(codewords[0].cols());
  layer.labels = static_cast<Label>(codewords.size());
  layer.initial = codewords[0];
  layer.decoder.codewords = std::move(codewords);
  return layer;
}

void require_listable(std::uint64_t count, std::uint64_t dimension, std::uint64_t columns) {
  if (count * dimension * columns > kMaxNumbers)
    throw LimitError(fmt::format("{} of {} × {} numbers are past the limit of 2^24 numbers; one-hot stores none",
                                 counted(count, "codeword"), dimension, columns));
}

void require_dense(std::uint64_t actions, std::uint64_t dimension) {
  if (actions * dimension * dimension > kMaxNumbers)
    throw LimitError(fmt::format("{} dense matrices of {} × {} are past the limit of 2^24 numbers; one-hot stores maps",
                                 actions, dimension, dimension));
}

}  // namespace krohn
