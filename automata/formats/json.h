// automata/formats/json.h — nlohmann's JSON, its large functions compiled once: half of a file that reads or writes
// JSON was this library over again. Only those that our files call: the whole classes have thirty times as many.
#pragma once

#include <nlohmann/json.hpp>

extern template void nlohmann::json::json_value::destroy(nlohmann::detail::value_t);
extern template nlohmann::json::json_value::json_value(nlohmann::detail::value_t);
extern template nlohmann::json::basic_json(const nlohmann::json&);
extern template nlohmann::json::basic_json(std::initializer_list<nlohmann::detail::json_ref<nlohmann::json>>, bool,
                                           nlohmann::detail::value_t);
extern template const char* nlohmann::json::type_name() const noexcept;
extern template std::string nlohmann::json::dump(int, char, bool, nlohmann::detail::error_handler_t) const;
extern template void nlohmann::detail::serializer<nlohmann::json>::dump(const nlohmann::json&, bool, bool, unsigned,
                                                                        unsigned);

extern template void nlohmann::ordered_json::json_value::destroy(nlohmann::detail::value_t);
extern template nlohmann::ordered_json::json_value::json_value(nlohmann::detail::value_t);
extern template nlohmann::ordered_json::basic_json(const nlohmann::ordered_json&);
extern template nlohmann::ordered_json::basic_json(
    std::initializer_list<nlohmann::detail::json_ref<nlohmann::ordered_json>>, bool, nlohmann::detail::value_t);
extern template const char* nlohmann::ordered_json::type_name() const noexcept;
extern template std::string nlohmann::ordered_json::dump(int, char, bool, nlohmann::detail::error_handler_t) const;
extern template void nlohmann::detail::serializer<nlohmann::ordered_json>::dump(const nlohmann::ordered_json&, bool,
                                                                                bool, unsigned, unsigned);

namespace krohn {

/// The value of a text that nobody vouches for: of a file, or `is_part`, of a line or a member of one, which `place`
/// names. Throws InputError with the line and column, or the column alone, when it is not JSON, repeats a key in one
/// object, or nests deeper than 8, LimitError past 2^26 values. O(n log n).
nlohmann::json parse_strict_json(std::string_view text, std::string_view place, bool is_part = false);

}  // namespace krohn
