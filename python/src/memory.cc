// SPDX-License-Identifier: Apache-2.0
// Devices and their memory.
#include "check.h"
#include "mxnet/c_api.h"
#include "mxnet/c_api_ext.h"
#include "registrations.h"

namespace py = pybind11;

namespace mxnet::python {
namespace {

py::dict statistics(int dev_type, int dev_id) {
  MXStorageStatistics s{};
  check(MXStorageGetStatistics(dev_type, dev_id, &s, sizeof(s)));
  py::dict all;
  all["in_use"] = s.in_use;
  all["requested"] = s.requested;
  all["cached"] = s.cached;
  all["peak_in_use"] = s.peak_in_use;
  all["peak_footprint"] = s.peak_footprint;
  all["hits"] = s.hits;
  all["misses"] = s.misses;
  all["flushes"] = s.flushes;
  all["system_allocations"] = s.system_allocations;
  return all;
}

}  // namespace

void register_memory(py::module_& module) {
  const auto dev_type = py::arg("dev_type");
  const auto dev_id = py::arg("dev_id");
  module.def("gpu_count", [] {
    int count = 0;
    check_blocking([&] { return MXGetGPUCount(&count); });  // may load a driver
    return count;
  });
  module.def(
      "gpu_memory_info",
      [](int id) {
        uint64_t free_bytes = 0, total = 0;
        check_blocking([&] { return MXGetGPUMemoryInformation64(id, &free_bytes, &total); });
        return py::make_tuple(free_bytes, total);
      },
      dev_id);
  module.def("cpu_memory_info", [] {
    uint64_t free_bytes = 0, total = 0;
    check(MXGetCPUMemoryInformation(&free_bytes, &total));
    return py::make_tuple(free_bytes, total);
  });
  module.def(
      "empty_cache",
      [](int type, int id) { check_blocking([&] { return MXStorageEmptyCache(type, id); }); },
      dev_type, dev_id);
  module.def("storage_statistics", &statistics, dev_type, dev_id);
  module.def(
      "storage_table",
      [](int type, int id) {
        const char* table = nullptr;
        check(MXStorageGetTable(type, id, &table));
        return py::str(table);
      },
      dev_type, dev_id);
  module.def(
      "reset_peak", [](int type, int id) { check(MXStorageResetPeak(type, id)); }, dev_type,
      dev_id);
}

}  // namespace mxnet::python
