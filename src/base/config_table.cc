// SPDX-License-Identifier: Apache-2.0
// The process's configuration as text.
#include "base/config_table.h"

#include <nlohmann/json.hpp>

#include "base/config_process.h"
#include "base/config_row.h"

namespace mxnet {

std::string config_to_json() {
  auto table = nlohmann::ordered_json::array();
  config_process().inspect([&](const Config& config) {
    for (const auto& row : config_rows()) {
      const Origin& origin = config.origins[row->index()];
      const Source source = origin.source;
      table.push_back({{"name", row->name},
                       {"section", row->section},
                       {"field", row->field},
                       {"type", row->type()},
                       {"default", row->fallback},
                       {"allowed", row->allowed()},
                       {"when", to_string(row->when)},
                       {"value", row->print(config)},
                       {"source", to_string(source)},
                       {"spelling", source == Source::kEnvironment ? origin.spelling : ""},
                       {"effect", to_string(row->effect.kind)},
                       {"note", row->effect.note},
                       {"doc", row->doc},
                       {"aliases", spellings_of(*row)}});
    }
  });
  // Variables of the system may hold bytes that are no UTF-8.
  return table.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string config_get(std::string_view name) { return config_process().get(name); }

std::optional<std::string> config_variable(std::string_view name) {
  return config_process().variable(name);
}

void config_set(std::string_view name, std::optional<std::string_view> value) {
  config_process().set(name, value);
}

}  // namespace mxnet
