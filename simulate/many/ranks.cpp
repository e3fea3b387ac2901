#include "krohn/simulate/many/ranks.h"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <numeric>

#include "krohn/groups/base/error.h"

namespace krohn {
unsigned OneRank::processors() const { return static_cast<unsigned>(omp_get_max_threads()); }

std::vector<State> OneRank::compose_before(std::span<const State> map) {
  std::vector<State> identity(map.size());
  std::iota(identity.begin(), identity.end(), State{0});
  return identity;
}

void OneRank::abort(int status, const std::string& why) {
  fmt::print(stderr, "krohn: {}\n", why);
  std::fflush(nullptr);
  std::_Exit(status);
}

Share share_of(std::uint64_t begin, std::uint64_t end, unsigned rank, unsigned size) {
  const std::uint64_t each = (end - begin) / size, left = (end - begin) % size;
  const auto start = [&](std::uint64_t r) { return begin + each * r + std::min<std::uint64_t>(r, left); };
  return {start(rank), start(rank + 1)};
}

RankFailure failure_of(const std::exception_ptr& thrown, unsigned rank) {
  using Kind = RankFailure::Kind;
  try {
    std::rethrow_exception(thrown);
  } catch (const InputError& error) {
    return {Kind::kInput, error.what()};
  } catch (const LimitError& error) {
    return {Kind::kLimit, error.what()};
  } catch (const Interrupted& error) {
    return {Kind::kInterrupted, error.what()};
  } catch (const std::bad_alloc&) {
    return {Kind::kLimit, fmt::format("rank {} is out of memory; take more machines", rank)};
  } catch (const std::exception& error) {
    return {Kind::kSystem, error.what()};
  }
}

void throw_again(const RankFailure& failure) {
  switch (failure.kind) {
    case RankFailure::Kind::kInput:
      throw InputError(failure.what);
    case RankFailure::Kind::kLimit:
      throw LimitError(failure.what);
    case RankFailure::Kind::kInterrupted:
      throw Interrupted(failure.what);
    default:
      throw SystemError(failure.what);
  }
}

void together(Ranks& ranks, const std::function<void()>& work) {
  RankFailure failure;
  try {
    work();
  } catch (...) {
    failure = failure_of(std::current_exception(), ranks.rank());
  }
  const std::uint64_t mine[] = {static_cast<std::uint64_t>(failure.kind)};
  const std::vector<std::uint64_t> kinds = ranks.gather(mine);
  const auto first = std::find_if(kinds.begin(), kinds.end(), [](std::uint64_t k) { return k != 0; });
  if (first == kinds.end()) return;
  const auto thrower = static_cast<std::size_t>(first - kinds.begin());
  std::vector<Ranks::Words> to(ranks.size()), from;
  if (thrower == ranks.rank())
    for (Ranks::Words& text : to) text.assign(failure.what.begin(), failure.what.end());
  ranks.exchange(to, from);
  std::string said;
  for (const std::uint32_t letter : from[thrower]) said.push_back(static_cast<char>(letter));
  throw_again({static_cast<RankFailure::Kind>(*first), said});
}

}  // namespace krohn
