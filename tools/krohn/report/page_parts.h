// tools/krohn/report/page_parts.h — what is embedded in a page, or why it is not: bytes, certificates and pictures.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/simulate/prove/verify.h"

namespace krohn {

/// {"bytes": …} in base64, or {"absent": why}.
nlohmann::ordered_json bytes_or_reason(const std::string& bytes, const std::string& what);

/// {"text": …} as `krohn verify --certificate` would write it, or {"absent": why}.
nlohmann::ordered_json certificate_data(const Certificate& certificate, const Network& network);
/// Of a model that reads letters. `without`: why there is no certificate of it; empty where there is.
nlohmann::ordered_json certificate_data(const Certificate& certificate, const ReadModel& model,
                                        const std::string& without);

/// The picture's own element, without what precedes it in a file; null where it is too large.
nlohmann::ordered_json svg_of(const std::string& dot, const std::string& engine);

/// {"svg": …, "has_states": …} of the states one by one, which the page lights; null where the page draws a table.
nlohmann::ordered_json picture_of(const Dfa& automaton);

}  // namespace krohn
