// SPDX-License-Identifier: Apache-2.0
// Data iterators for programs: what there is, and batches of one.
#include "io/data_iter.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/of_thread.h"
#include "c_api/guard.h"
#include "c_api/handle_pool.h"
#include "c_api/ndarray_handle.h"
#include "io/iter_registry.h"
#include "mxnet/c_api.h"

using namespace mxnet;
using namespace mxnet::c_api;

namespace {

// An iterator and its batch of the moment.
struct Open {
  std::unique_ptr<io::DataIter> iter;
  io::Batch batch;
};

using IterPool = HandlePool<Open, Handles::kInTurns>;

IterPool& iters() {
  static constinit IterPool pool("DataIter");
  return pool;
}

const io::Batch& batch_of(const Open& open, const char* function) {
  if (open.batch.data.is_none())
    throw Error(ErrorCode::kValue, function,
                "given an iterator without a batch, expected one whose MXDataIterNext gave 1");
  return open.batch;
}

const io::IterDef& def_of(DataIterCreator creator, const char* function) {
  for (const io::IterDef* def : io::data_iters())
    if (def == creator) return *def;
  throw Error(ErrorCode::kValue, function,
              creator == nullptr ? "given null, expected what MXListDataIters lists"
                                 : "given another address, expected what MXListDataIters lists");
}

// Parameters of an iterator as arrays of C strings that point into its definition.
struct IterArguments {
  explicit IterArguments(const io::IterDef& def) {
    for (const ParamField& field : def.schema.fields()) {
      if (!field.listed) continue;
      names.push_back(field.name.c_str());
      types.push_back(field.type.c_str());
      docs.push_back(field.doc.c_str());
    }
  }
  std::vector<const char*> names, types, docs;
};

const IterArguments& arguments_of(const io::IterDef& def) {
  static const auto* const all = [] {
    auto* list = new std::vector<std::unique_ptr<const IterArguments>>;
    for (const io::IterDef* each : io::data_iters())
      list->push_back(std::make_unique<const IterArguments>(*each));
    return list;
  }();
  const auto& defs = io::data_iters();
  return *(
      *all)[static_cast<std::size_t>(std::find(defs.begin(), defs.end(), &def) - defs.begin())];
}

}  // namespace

int MXListDataIters(uint32_t* out_size, DataIterCreator** out_array) {
  return guarded([&] {
    require(out_size, "MXListDataIters", "out_size");
    require(out_array, "MXListDataIters", "out_array");
    static auto* const creators = [] {
      auto* list = new std::vector<DataIterCreator>;
      for (const io::IterDef* def : io::data_iters())
        list->push_back(const_cast<io::IterDef*>(def));
      return list;
    }();
    *out_size = static_cast<uint32_t>(creators->size());
    *out_array = creators->data();
  });
}

int MXDataIterGetIterInfo(DataIterCreator creator, const char** name, const char** description,
                          uint32_t* num_args, const char*** arg_names, const char*** arg_type_infos,
                          const char*** arg_descriptions) {
  return guarded([&] {
    const io::IterDef& def = def_of(creator, "MXDataIterGetIterInfo");
    for (const void* out :
         {static_cast<const void*>(name), static_cast<const void*>(description),
          static_cast<const void*>(num_args), static_cast<const void*>(arg_names),
          static_cast<const void*>(arg_type_infos), static_cast<const void*>(arg_descriptions)})
      require(out, "MXDataIterGetIterInfo", "an out parameter");
    const IterArguments& arguments = arguments_of(def);
    *name = def.name.c_str();
    *description = def.doc.c_str();
    *num_args = static_cast<uint32_t>(arguments.names.size());
    *arg_names = const_cast<const char**>(arguments.names.data());
    *arg_type_infos = const_cast<const char**>(arguments.types.data());
    *arg_descriptions = const_cast<const char**>(arguments.docs.data());
  });
}

int MXDataIterCreateIter(DataIterCreator handle, uint32_t num_param, const char** keys,
                         const char** vals, DataIterHandle* out) {
  return guarded([&] {
    const char* const function = "MXDataIterCreateIter";
    const io::IterDef& def = def_of(handle, function);
    require(out, function, "out");
    Attrs params;
    for_each_text(function, num_param, keys, vals,
                  [&](const char* key, const char* value) { params.emplace_back(key, value); });
    *out = iters().create({io::create_iter(def, params), {}});
  });
}

int MXDataIterFree(DataIterHandle handle) {
  return guarded([&] { iters().destroy(handle, "MXDataIterFree"); });
}

int MXDataIterBeforeFirst(DataIterHandle handle) {
  return guarded([&] {
    const IterPool::Use open = iters().use(handle, "MXDataIterBeforeFirst");
    open->iter->before_first();
    open->batch = {};
  });
}

int MXDataIterNext(DataIterHandle handle, int* out) {
  return guarded([&] {
    const IterPool::Use open = iters().use(handle, "MXDataIterNext");
    require(out, "MXDataIterNext", "out");
    *out = open->iter->next(&open->batch) ? 1 : 0;
  });
}

int MXDataIterGetData(DataIterHandle handle, NDArrayHandle* out) {
  return guarded([&] {
    const IterPool::Use open = iters().use(handle, "MXDataIterGetData");
    const io::Batch& batch = batch_of(*open, "MXDataIterGetData");
    require(out, "MXDataIterGetData", "out");
    *out = new_handle(batch.data);
  });
}

int MXDataIterGetLabel(DataIterHandle handle, NDArrayHandle* out) {
  return guarded([&] {
    const IterPool::Use open = iters().use(handle, "MXDataIterGetLabel");
    const io::Batch& batch = batch_of(*open, "MXDataIterGetLabel");
    require(out, "MXDataIterGetLabel", "out");
    *out = new_handle(batch.label);
  });
}

int MXDataIterGetPadNum(DataIterHandle handle, int* pad) {
  return guarded([&] {
    const IterPool::Use open = iters().use(handle, "MXDataIterGetPadNum");
    const io::Batch& batch = batch_of(*open, "MXDataIterGetPadNum");
    require(pad, "MXDataIterGetPadNum", "pad");
    *pad = batch.pad;
  });
}

int MXDataIterGetIndex(DataIterHandle handle, uint64_t** out_index, uint64_t* out_size) {
  return guarded([&] {
    const IterPool::Use open = iters().use(handle, "MXDataIterGetIndex");
    const io::Batch& batch = batch_of(*open, "MXDataIterGetIndex");
    require(out_index, "MXDataIterGetIndex", "out_index");
    require(out_size, "MXDataIterGetIndex", "out_size");
    // A copy: another thread may move the iterator on while this one still reads.
    std::vector<uint64_t>& index = of_thread<std::vector<uint64_t>, struct BatchIndex>();
    index = batch.index;
    *out_index = index.data();
    *out_size = index.size();
  });
}
