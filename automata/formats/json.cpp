#include "krohn/automata/formats/json.h"

template void nlohmann::json::json_value::destroy(nlohmann::detail::value_t);
template nlohmann::json::json_value::json_value(nlohmann::detail::value_t);
template nlohmann::json::basic_json(const nlohmann::json&);
template nlohmann::json::basic_json(std::initializer_list<nlohmann::detail::json_ref<nlohmann::json>>, bool,
                                    nlohmann::detail::value_t);
template const char* nlohmann::json::type_name() const noexcept;
template std::string nlohmann::json::dump(int, char, bool, nlohmann::detail::error_handler_t) const;
template void nlohmann::detail::serializer<nlohmann::json>::dump(const nlohmann::json&, bool, bool, unsigned, unsigned);

template void nlohmann::ordered_json::json_value::destroy(nlohmann::detail::value_t);
template nlohmann::ordered_json::json_value::json_value(nlohmann::detail::value_t);
template nlohmann::ordered_json::basic_json(const nlohmann::ordered_json&);
template nlohmann::ordered_json::basic_json(std::initializer_list<nlohmann::detail::json_ref<nlohmann::ordered_json>>,
                                            bool, nlohmann::detail::value_t);
template const char* nlohmann::ordered_json::type_name() const noexcept;
template std::string nlohmann::ordered_json::dump(int, char, bool, nlohmann::detail::error_handler_t) const;
template void nlohmann::detail::serializer<nlohmann::ordered_json>::dump(const nlohmann::ordered_json&, bool, bool,
                                                                         unsigned, unsigned);
