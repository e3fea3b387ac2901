#include "krohn/simulate/imports/around.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/groups/base/error.h"

namespace krohn {

const double* Settings::find(const std::string& name) {
  known_.insert(name);
  const auto found = given_.find(name);
  return found == given_.end() ? nullptr : &found->second;
}

std::uint32_t Settings::count(const std::string& name, const std::string& why) {
  const double* const found = find(name);
  if (found == nullptr) throw InputError("--with", fmt::format("{}: say --with {}=N", why, name));
  if (*found < 1 || *found > 1 << 16 || *found != std::floor(*found))
    throw InputError("--with", fmt::format("{}={} is not a number from 1 to {}", name, *found, 1 << 16));
  return static_cast<std::uint32_t>(*found);
}

double Settings::real(const std::string& name, double usual, bool may_be_none) {
  const double* const found = find(name);
  if (found == nullptr) return usual;
  if (!(*found > 0 || (may_be_none && *found == 0)) || *found > 1e6)
    throw InputError("--with", fmt::format("{}={} is not {}", name, *found,
                                           may_be_none ? "a number above 0, or 0 for none" : "a number above 0"));
  return *found;
}

bool Settings::flag(const std::string& name) {
  const double* const found = find(name);
  if (found != nullptr && *found != 0 && *found != 1)
    throw InputError("--with", fmt::format("{} is so (1) or not (0), and not {}", name, *found));
  return found != nullptr && *found == 1;
}

bool Settings::needed_flag(const std::string& name, const std::string& why) {
  if (find(name) == nullptr) throw InputError("--with", fmt::format("{}: say --with {}=1 or {}=0", why, name, name));
  return flag(name);
}

void Settings::require_all_taken() const {
  for (const auto& [name, value] : given_)
    if (!known_.contains(name))
      throw InputError("--with",
                       fmt::format("{} is no setting of a model of kind {}; {}", in_quotes(name), kind_,
                                   known_.empty() ? "it has none" : fmt::format("it has {}", fmt::join(known_, ", "))));
}

void StateDict::fail(const std::string& why) const { throw InputError(where_, why); }

const Tensor& StateDict::tensor(const std::string& name) const {
  const auto found = file_.tensors.find(name);
  if (found == file_.tensors.end()) fail(fmt::format("it has no tensor {}", in_quotes(name)));
  return found->second;
}

const Shape& StateDict::shape(const std::string& name) const { return tensor(name).shape; }

std::vector<float> StateDict::take(const std::string& name, const Shape& expected) {
  const Tensor& found = tensor(name);
  if (found.shape != expected)
    fail(fmt::format("tensor {} has shape {}, and the others ask for {}", in_quotes(name), shape_text(found.shape),
                     shape_text(expected)));
  const auto numbers = floating_numbers(found);
  if (!numbers) fail(fmt::format("tensor {} holds {}, not floating-point numbers", in_quotes(name), found.dtype));
  std::vector<float> result;
  result.reserve(numbers->size());
  for (const double number : *numbers) {
    if (!std::isfinite(number)) fail(fmt::format("tensor {} holds a number that is not finite", in_quotes(name)));
    result.push_back(static_cast<float>(number));
    if (result.back() != number)
      fail(
          fmt::format("tensor {} holds {}, which fp32 does not have: rounding would make another model. Save it as "
                      "float32 (model.float()) and import that",
                      in_quotes(name), number));
  }
  taken_.insert(name);
  return result;
}

std::vector<std::string> StateDict::left() const {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : file_.tensors)
    if (!taken_.contains(name)) names.push_back(name);
  return names;
}

void StateDict::require_all_taken(const std::string& read_as) const {
  if (const auto names = left(); !names.empty())
    fail(fmt::format(
        "tensor {} of shape {} belongs to nothing in {}: krohn does not ignore tensors it does not understand{}{}",
        in_quotes(names.front()), shape_text(shape(names.front())), read_as,
        names.front().ends_with(".weight") && shape(names.front()).size() == 2
            ? "; an embedding or a read-out of another name is named with --embedding PREFIX or --head PREFIX"
            : "",
        kMoreModules));
}

namespace {

constexpr std::string_view kWeight = ".weight", kOneHot = "the one-hot input";

std::vector<std::string> matrices_left(const StateDict& dict) {
  std::vector<std::string> names = dict.left();
  std::erase_if(names,
                [&](const std::string& name) { return !name.ends_with(kWeight) || dict.shape(name).size() != 2; });
  return names;
}

/// The one-hot inputs that may be an embedding, where no matrix has "emb" in its name.
std::string embeddings_by_width(const StateDict& dict, std::uint64_t inputs) {
  std::vector<std::string> shown, prefixes;
  for (const std::string& name : matrices_left(dict)) {
    if (dict.shape(name)[1] != inputs) continue;
    shown.push_back(fmt::format("{} {}", name, shape_text(dict.shape(name))));
    prefixes.push_back("--embedding " + name.substr(0, name.size() - kWeight.size()));
  }
  if (shown.empty()) return {};
  return fmt::format("{} could be the embedding, with a row of {} for each letter: say {}; without one, ",
                     fmt::join(shown, " or "), counted(inputs, "number"), fmt::join(prefixes, " or "));
}

/// For every letter, below `count`.
std::vector<std::uint32_t> tokens_of(const StateDict& dict, const ImportOptions& options, const Task& task,
                                     std::uint64_t count, std::string_view what) {
  std::vector<std::uint32_t> tokens = options.tokens;
  if (tokens.empty()) {
    if (count != task.alphabet().size())
      dict.fail(fmt::format("{}{} is for {}, and {} has {} ({}): {}",
                            what == kOneHot ? embeddings_by_width(dict, count) : "", what, counted(count, "letter"),
                            task.info().name, task.alphabet().size(), to_string(task.alphabet()),
                            count > task.alphabet().size() ? "say which is which with --letters NAME=NUMBER,…"
                                                           : "take the language that it was trained on"));
    for (std::uint32_t i = 0; i < count; ++i) tokens.push_back(i);
  }
  for (const std::uint32_t token : tokens)
    if (token >= count)
      throw InputError("--letters", fmt::format("there is no number {}: {} of {} is for {}, 0 to {}", token, what,
                                                dict.where(), counted(count, "letter"), count - 1));
  return tokens;
}

bool is_embedding(const std::string& name) {
  std::string small = name;
  std::ranges::transform(small, small.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return small.find("emb") != std::string::npos;
}

std::string only_one(const StateDict& dict, const std::vector<std::string>& names, const char* what,
                     const char* option) {
  if (names.size() > 1)
    dict.fail(fmt::format("{} could be the {}; name it with {} PREFIX", fmt::join(names, " or "), what, option));
  return names.front();
}

std::vector<float> chosen_rows(const std::vector<float>& rows, std::size_t columns,
                               const std::vector<std::uint32_t>& which) {
  std::vector<float> chosen;
  for (const std::uint32_t row : which) {
    const auto first = rows.begin() + static_cast<std::ptrdiff_t>(row * columns);
    chosen.insert(chosen.end(), first, first + static_cast<std::ptrdiff_t>(columns));
  }
  return chosen;
}

}  // namespace

ImportedEmbedding import_embedding(StateDict& dict, const ImportOptions& options, const Task& task,
                                   std::uint64_t inputs) {
  std::string name = options.embedding + std::string(kWeight);
  if (options.embedding.empty()) {
    std::vector<std::string> candidates = matrices_left(dict);
    std::erase_if(candidates, [](const std::string& each) { return !is_embedding(each); });
    if (candidates.empty()) return {};
    name = only_one(dict, candidates, "embedding", "--embedding");
  }
  const Shape& shape = dict.shape(name);
  if (shape.size() != 2 || shape[1] != inputs)
    dict.fail(fmt::format("the embedding {} has shape {}, and the first layer takes {}", in_quotes(name),
                          shape_text(shape), counted(inputs, "input")));
  const auto tokens = tokens_of(dict, options, task, shape[0], "the embedding");
  return {static_cast<std::uint32_t>(inputs),
          chosen_rows(dict.take(name, Shape(shape)), static_cast<std::size_t>(inputs), tokens)};
}

std::vector<float> import_input_rows(StateDict& dict, const ImportOptions& options, const Task& task,
                                     std::uint64_t width) {
  ImportedEmbedding embedding = import_embedding(dict, options, task, width);
  if (embedding.width > 0) return std::move(embedding.rows);
  std::vector<float> rows;
  for (const std::uint32_t token : tokens_of(dict, options, task, width, kOneHot)) {
    rows.resize(rows.size() + width, 0);
    rows[rows.size() - width + token] = 1;
  }
  return rows;
}

std::vector<float> columns_for_letters(const StateDict& dict, const ImportOptions& options, const Task& task,
                                       const std::vector<float>& weights, std::uint64_t inputs) {
  const auto tokens = tokens_of(dict, options, task, inputs, kOneHot);
  std::vector<float> chosen;
  for (std::size_t row = 0; row < weights.size(); row += inputs)
    for (const std::uint32_t token : tokens) chosen.push_back(weights[row + token]);
  return chosen;
}

ImportedHead import_head(StateDict& dict, const ImportOptions& options, const Task& task, std::uint64_t hidden) {
  std::string prefix = options.head;
  if (prefix.empty()) {
    std::vector<std::string> candidates = matrices_left(dict);
    const auto fits = [&](const std::string& name) { return dict.shape(name)[1] == hidden; };
    if (candidates.empty()) dict.fail("no matrix is left for the read-out; a recurrence alone answers nothing");
    if (std::ranges::any_of(candidates, fits)) std::erase_if(candidates, [&](const auto& name) { return !fits(name); });
    prefix = only_one(dict, candidates, "read-out", "--head");
    prefix.resize(prefix.size() - kWeight.size());
  }
  const std::string weight = prefix + std::string(kWeight), bias = prefix + ".bias";
  const Shape shape = dict.shape(weight);
  if (shape.size() != 2 || shape[1] != hidden)
    dict.fail(fmt::format("the read-out {} has shape {}, and the recurrence gives {}", in_quotes(weight),
                          shape_text(shape), counted(hidden, "number")));
  const std::uint64_t labels = task.labels().size();
  ImportedHead head{dict.take(weight, shape), std::vector<float>(shape[0], 0)};
  if (dict.has(bias)) head.bias = dict.take(bias, {shape[0]});
  std::vector<std::uint32_t> classes = options.classes;
  std::uint64_t rows = shape[0];
  if (rows == 1 && labels == 2) {  // one logit, of label 1: the other one's is 0
    head.weights.insert(head.weights.begin(), hidden, 0);
    head.bias.insert(head.bias.begin(), 0);
    rows = 2;
  }
  if (classes.empty()) {
    if (rows != labels) {
      for (const std::string& above : matrices_left(dict))
        if (dict.shape(above)[1] == shape[0])
          dict.fail(
              fmt::format("{} is a matrix above the read-out {}{}", in_quotes(above), in_quotes(weight), kMoreModules));
      dict.fail(fmt::format(
          "the read-out has {}, and {} has {} ({}): say which is which with "
          "--classes ANSWER=NUMBER,…; a class that is left out can then win no word",
          counted(rows, "class", "es"), task.info().name, counted(labels, "answer"), fmt::join(task.labels(), ", ")));
    }
    for (std::uint32_t i = 0; i < rows; ++i) classes.push_back(i);
  }
  for (const std::uint32_t each : classes)
    if (each >= rows)
      throw InputError("--classes", fmt::format("there is no number {}: the read-out of {} has {}, 0 to {}", each,
                                                dict.where(), counted(rows, "class", "es"), rows - 1));
  return {chosen_rows(head.weights, static_cast<std::size_t>(hidden), classes), chosen_rows(head.bias, 1, classes)};
}

}  // namespace krohn
