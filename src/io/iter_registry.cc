// SPDX-License-Identifier: Apache-2.0
// The list of iterators, and how one is made from texts.
#include "io/iter_registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/log.h"
#include "io/iters.h"

namespace mxnet::io {
namespace {

// What Python's wrapper takes itself and passes on all the same.
bool is_for_the_wrapper(std::string_view key) { return key == "data_name" || key == "label_name"; }

void warn_of_unknown(const IterDef& def, const Attrs& params) {
  for (const auto& [key, value] : params) {
    const auto& fields = def.schema.fields();
    const bool known = std::any_of(fields.begin(), fields.end(),
                                   [&name = key](const ParamField& f) { return f.name == name; });
    if (!known && !is_for_the_wrapper(key)) {
      log(LogLevel::kWarning,
          fmt::format("{}: parameter '{}' = '{}' is not known and has no effect", def.name, key,
                      value));
    }
  }
}

}  // namespace

const std::vector<const IterDef*>& data_iters() {
  static const std::vector<const IterDef*>* const all = [] {
    auto* list = new std::vector<const IterDef*>;
    const auto add = [list](void (*declare)(IterDef&)) {
      auto* def = new IterDef;
      declare(*def);
      list->push_back(def);
    };
    add(declare_csv_iter);
    add(declare_image_det_record_iter);
    add(declare_image_record_int8_iter);
    add(declare_image_record_iter);
    add(declare_image_record_iter_v1);
    add(declare_image_record_uint8_iter);
    add(declare_image_record_uint8_iter_v1);
    add(declare_libsvm_iter);
    add(declare_mnist_iter);
    return list;
  }();
  return *all;
}

std::unique_ptr<DataIter> create_iter(const IterDef& def, const Attrs& params) {
  warn_of_unknown(def, params);
  std::vector<std::pair<std::string_view, std::string_view>> views;
  for (const auto& [key, value] : params) views.emplace_back(key, value);
  return def.create(def.schema.parse(def.name, views).get());
}

}  // namespace mxnet::io
