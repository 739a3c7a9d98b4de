// SPDX-License-Identifier: Apache-2.0
// What there is: operators by name and handle, and what their arguments are. Front ends make their
// functions of it.
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/leaked.h"
#include "base/lock.h"
#include "c_api/guard.h"
#include "c_api/op_handle.h"
#include "op/late_ops.h"

using namespace mxnet;
using namespace mxnet::c_api;

namespace {

// Arguments of an operator, inputs first, as arrays of C strings that point into its definition.
struct OpArguments {
  explicit OpArguments(const OpDef& op) {
    for (const OpArg& arg : op.args()) add(arg.name, arg.type, arg.doc);
    for (const ParamField& field : op.schema().fields())
      if (field.listed) add(field.name, field.type, field.doc);
  }
  void add(const std::string& name, const std::string& type, const std::string& doc) {
    names.push_back(name.c_str());
    types.push_back(type.c_str());
    docs.push_back(doc.c_str());
  }
  std::vector<const char*> names, types, docs;
};

// Made at the first question, kept for good. Thread-safe.
const OpArguments& arguments_of(const OpDef& op) {
  static Leaked<Mutex> mutex;
  static Leaked<std::unordered_map<const OpDef*, std::unique_ptr<const OpArguments>>> known;
  const MutexLock lock(*mutex);
  std::unique_ptr<const OpArguments>& arguments = (*known)[&op];
  if (!arguments) arguments = std::make_unique<const OpArguments>(op);
  return *arguments;
}

struct AllOps {
  AllOps() : names(Registry::get().names()) {
    for (const std::string& name : names) name_pointers.push_back(name.c_str());
    for (const OpDef* op : Registry::get().ops()) handles.push_back(handle_of(*op));
  }
  const std::vector<std::string> names;
  std::vector<const char*> name_pointers;
  std::vector<void*> handles;
};

// All that is registered, sorted. Lists that went out before an extension was loaded stay good.
const AllOps& all_ops() {
  static Leaked<Mutex> mutex;
  static Leaked<std::map<std::size_t, std::unique_ptr<const AllOps>>> by_count;
  const std::size_t late = late_op_count();
  const MutexLock lock(*mutex);
  std::unique_ptr<const AllOps>& all = (*by_count)[late];
  if (!all) all = std::make_unique<const AllOps>();
  return *all;
}

int list_names(const char* function, uint32_t* out_size, const char*** out_array) {
  return guarded(function, [&] {
    require(out_size, function, "out_size");
    require(out_array, function, "out_array");
    *out_size = static_cast<uint32_t>(all_ops().name_pointers.size());
    *out_array = const_cast<const char**>(all_ops().name_pointers.data());
  });
}

int list_handles(const char* function, uint32_t* out_size, void*** out_array) {
  return guarded(function, [&] {
    require(out_size, function, "out_size");
    require(out_array, function, "out_array");
    *out_size = static_cast<uint32_t>(all_ops().handles.size());
    *out_array = const_cast<void**>(all_ops().handles.data());
  });
}

void give_info(const OpDef& op, const char** name, const char** description, uint32_t* num_args,
               const char*** arg_names, const char*** arg_type_infos,
               const char*** arg_descriptions, const char** return_type) {
  const OpArguments& arguments = arguments_of(op);
  *name = op.name().c_str();
  *description = op.doc().c_str();
  *num_args = static_cast<uint32_t>(arguments.names.size());
  *arg_names = const_cast<const char**>(arguments.names.data());
  *arg_type_infos = const_cast<const char**>(arguments.types.data());
  *arg_descriptions = const_cast<const char**>(arguments.docs.data());
  if (return_type != nullptr) *return_type = "";
}

}  // namespace

int MXListAllOpNames(uint32_t* out_size, const char*** out_array) {
  return list_names("MXListAllOpNames", out_size, out_array);
}

int NNListAllOpNames(nn_uint* out_size, const char*** out_array) {
  return list_names("NNListAllOpNames", out_size, out_array);
}

int MXSymbolListAtomicSymbolCreators(uint32_t* out_size, AtomicSymbolCreator** out_array) {
  return list_handles("MXSymbolListAtomicSymbolCreators", out_size, out_array);
}

int NNListUniqueOps(nn_uint* out_size, OpHandle** out_array) {
  return list_handles("NNListUniqueOps", out_size, out_array);
}

int NNGetOpHandle(const char* op_name, OpHandle* op_out) {
  return guarded([&] {
    require(op_name, "NNGetOpHandle", "op_name");
    require(op_out, "NNGetOpHandle", "op_out");
    *op_out = handle_of(Registry::get().at(op_name));
  });
}

int MXSymbolGetAtomicSymbolName(AtomicSymbolCreator creator, const char** name) {
  return guarded([&] {
    require(name, "MXSymbolGetAtomicSymbolName", "name");
    *name = op_of(creator, "MXSymbolGetAtomicSymbolName").name().c_str();
  });
}

int MXSymbolGetAtomicSymbolInfo(AtomicSymbolCreator creator, const char** name,
                                const char** description, uint32_t* num_args,
                                const char*** arg_names, const char*** arg_type_infos,
                                const char*** arg_descriptions, const char** key_var_num_args,
                                const char** return_type) {
  return guarded([&] {
    for (const void* out :
         {static_cast<const void*>(name), static_cast<const void*>(description),
          static_cast<const void*>(num_args), static_cast<const void*>(arg_names),
          static_cast<const void*>(arg_type_infos), static_cast<const void*>(arg_descriptions),
          static_cast<const void*>(key_var_num_args)})
      require(out, "MXSymbolGetAtomicSymbolInfo", "an out parameter");
    const OpDef& op = op_of(creator, "MXSymbolGetAtomicSymbolInfo");
    give_info(op, name, description, num_args, arg_names, arg_type_infos, arg_descriptions,
              return_type);
    *key_var_num_args = op.key_var_num_args().c_str();
  });
}

int NNGetOpInfo(OpHandle op_handle, const char** real_name, const char** description,
                nn_uint* num_doc_args, const char*** arg_names, const char*** arg_type_infos,
                const char*** arg_descriptions, const char** return_type) {
  return guarded([&] {
    for (const void* out :
         {static_cast<const void*>(real_name), static_cast<const void*>(description),
          static_cast<const void*>(num_doc_args), static_cast<const void*>(arg_names),
          static_cast<const void*>(arg_type_infos), static_cast<const void*>(arg_descriptions)})
      require(out, "NNGetOpInfo", "an out parameter");
    give_info(op_of(op_handle, "NNGetOpInfo"), real_name, description, num_doc_args, arg_names,
              arg_type_infos, arg_descriptions, return_type);
  });
}
