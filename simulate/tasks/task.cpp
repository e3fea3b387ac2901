#include "krohn/simulate/tasks/task.h"

#include <fmt/format.h>

#include "krohn/groups/error.h"

namespace krohn {

std::vector<TaskToken> Task::sample(std::uint64_t length, std::uint64_t seed, std::uint64_t index) const {
  std::vector<TaskToken> tokens;
  const auto stream = open(length, seed, index);
  while (const auto token = stream->next()) tokens.push_back(*token);
  return tokens;
}

void Task::draw(std::uint64_t length, std::uint64_t seed, std::uint64_t index, std::vector<Letter>& letters,
                std::vector<TaskLabel>& due) const {
  const auto stream = open(length, seed, index);
  while (const auto token = stream->next()) {
    letters.push_back(token->letter);
    due.push_back(token->target.value_or(kNoLabel));
  }
}

bool Task::has_length(std::uint64_t length) const {
  return length >= info().least_length && (length - info().least_length) % info().length_step == 0;
}

void Task::check_length(std::uint64_t length) const {
  if (has_length(length)) return;
  const std::string step =
      info().length_step == 1 ? "" : fmt::format(", {}, …", info().least_length + info().length_step);
  throw InputError(fmt::format("task {}: length {} ({}) is not possible; lengths are {}{} and up", info().name, length,
                               info().length_unit, info().least_length, step));
}

}  // namespace krohn
