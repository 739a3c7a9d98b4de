// SPDX-License-Identifier: Apache-2.0
// Half types are sums of our own: MPI has none.
#include "plugin/mpi/mpi_types.h"

#include <type_traits>

#include "base/error.h"

namespace mxnet::mpi {
namespace {

template <class T>
void add(void* to, const void* from, int64_t elements) {
  T* sum = static_cast<T*>(to);
  const T* term = static_cast<const T*>(from);
  for (int64_t i = 0; i < elements; ++i) {
    if constexpr (std::is_arithmetic_v<T>) {
      sum[i] = static_cast<T>(sum[i] + term[i]);
    } else {
      sum[i] = T(static_cast<float>(sum[i]) + static_cast<float>(term[i]));
    }
  }
}

template <class T>
void add_for_mpi(void* in, void* in_out, int* count, MPI_Datatype*) {
  add<T>(in_out, in, *count);
}

template <class T>
MPI_Op half_op() {
  static const MPI_Op op = [] {
    MPI_Op made;
    MPI_Op_create(&add_for_mpi<T>, 1, &made);
    return made;
  }();
  return op;
}

template <class T>
MpiSum plain(MPI_Datatype type, MPI_Op op = MPI_SUM) {
  return {type, op, sizeof(T), &add<T>};
}

}  // namespace

MpiSum mpi_sum(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return plain<float>(MPI_FLOAT);
    case DType::kFloat64:
      return plain<double>(MPI_DOUBLE);
    case DType::kFloat16:
      return plain<float16>(MPI_UINT16_T, half_op<float16>());
    case DType::kBFloat16:
      return plain<bfloat16>(MPI_UINT16_T, half_op<bfloat16>());
    case DType::kUInt8:
      return plain<uint8_t>(MPI_UINT8_T);
    case DType::kInt32:
      return plain<int32_t>(MPI_INT32_T);
    case DType::kInt8:
      return plain<int8_t>(MPI_INT8_T);
    case DType::kInt64:
      return plain<int64_t>(MPI_INT64_T);
    case DType::kBool:
      return plain<bool>(MPI_UINT8_T, MPI_LOR);
    case DType::kUnknown:
      break;
  }
  throw Error(ErrorCode::kType, "kvstore", "given an array of unknown type");
}

}  // namespace mxnet::mpi
