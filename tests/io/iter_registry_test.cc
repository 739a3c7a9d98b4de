// SPDX-License-Identifier: Apache-2.0
// Names and parameters of the iterators are those of the reference.
#include "io/iter_registry.h"

#include <gtest/gtest.h>

#include <fstream>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "paths.h"

namespace mxnet::io {
namespace {

TEST(DataIters, AreDescribedAsInTheReference) {
  std::ifstream file(test_data("data_iterators.json"));
  const nlohmann::json facts = nlohmann::json::parse(file);
  ASSERT_EQ(facts.size(), data_iters().size());
  for (std::size_t i = 0; i < facts.size(); ++i) {
    const IterDef& def = *data_iters()[i];
    EXPECT_EQ(def.name, facts[i]["name"]);
    EXPECT_FALSE(def.doc.empty());
    std::vector<ParamField> fields = def.schema.fields();
    std::erase_if(fields, [](const ParamField& field) { return !field.listed; });
    const auto& params = facts[i]["params"];
    ASSERT_EQ(fields.size(), params.size()) << def.name;
    for (std::size_t k = 0; k < fields.size(); ++k) {
      EXPECT_EQ(fields[k].name, params[k][0]) << def.name << " " << k;
      EXPECT_EQ(fields[k].type, params[k][1]) << def.name << " " << fields[k].name;
      EXPECT_FALSE(fields[k].doc.empty()) << def.name << " " << fields[k].name;
    }
  }
}

TEST(DataIters, RefuseBadParameters) {
  for (const IterDef* def : data_iters())
    EXPECT_THROW(create_iter(*def, {{"batch_size", "many"}}), Error) << def->name;
}

}  // namespace
}  // namespace mxnet::io
