#include <stdexcept>

#include "tools/bench/measure.h"

namespace krohn::bench {

bool has_openfst() { return false; }

RivalResult openfst_minimise(std::uint32_t, std::uint32_t, std::uint32_t,
                             const std::function<std::uint32_t(std::uint32_t, std::uint32_t)>&,
                             const std::function<bool(std::uint32_t)>&) {
  throw std::logic_error("built without OpenFst");
}

RivalResult openfst_letter_from_end(std::uint32_t) { throw std::logic_error("built without OpenFst"); }

}  // namespace krohn::bench
