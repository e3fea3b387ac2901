#include "krohn/simulate/many/ranks.h"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <numeric>

#include "krohn/groups/error.h"

namespace krohn {
namespace {

enum class Thrown : std::uint64_t { kNothing, kInput, kLimit, kSystem, kInterrupted };

[[noreturn]] void throw_again(Thrown kind, const std::string& what) {
  switch (kind) {
    case Thrown::kInput:
      throw InputError(what);
    case Thrown::kLimit:
      throw LimitError(what);
    case Thrown::kInterrupted:
      throw Interrupted(what);
    default:
      throw SystemError(what);
  }
}

}  // namespace

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

void together(Ranks& ranks, const std::function<void()>& work) {
  Thrown kind = Thrown::kNothing;
  std::string what;
  try {
    work();
  } catch (const InputError& error) {
    kind = Thrown::kInput, what = error.what();
  } catch (const LimitError& error) {
    kind = Thrown::kLimit, what = error.what();
  } catch (const Interrupted& error) {
    kind = Thrown::kInterrupted, what = error.what();
  } catch (const std::bad_alloc&) {
    kind = Thrown::kLimit, what = fmt::format("rank {} is out of memory; take more machines", ranks.rank());
  } catch (const std::exception& error) {
    kind = Thrown::kSystem, what = error.what();
  }
  const std::uint64_t mine[] = {static_cast<std::uint64_t>(kind)};
  const std::vector<std::uint64_t> kinds = ranks.gather(mine);
  const auto first = std::find_if(kinds.begin(), kinds.end(), [](std::uint64_t k) { return k != 0; });
  if (first == kinds.end()) return;
  const auto thrower = static_cast<std::size_t>(first - kinds.begin());
  std::vector<Ranks::Words> to(ranks.size()), from;
  if (thrower == ranks.rank())
    for (Ranks::Words& text : to) text.assign(what.begin(), what.end());
  ranks.exchange(to, from);
  const Ranks::Words& text = from[thrower];
  std::string said;
  for (const std::uint32_t letter : text) said.push_back(static_cast<char>(letter));
  throw_again(static_cast<Thrown>(*first), said);
}

}  // namespace krohn
