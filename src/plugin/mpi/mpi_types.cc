// SPDX-License-Identifier: Apache-2.0
// Half types are sums of our own: MPI has none.
#include "plugin/mpi/mpi_types.h"

#include "base/error.h"

namespace mxnet::mpi {
namespace {

template <class T>
void add_halves(void* in, void* in_out, int* count, MPI_Datatype*) {
  const T* from = static_cast<const T*>(in);
  T* to = static_cast<T*>(in_out);
  for (int i = 0; i < *count; ++i)
    to[i] = T(static_cast<float>(to[i]) + static_cast<float>(from[i]));
}

template <class T>
MPI_Op half_op() {
  static const MPI_Op op = [] {
    MPI_Op made;
    MPI_Op_create(&add_halves<T>, 1, &made);
    return made;
  }();
  return op;
}

}  // namespace

MpiSum mpi_sum(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return {MPI_FLOAT, MPI_SUM};
    case DType::kFloat64:
      return {MPI_DOUBLE, MPI_SUM};
    case DType::kFloat16:
      return {MPI_UINT16_T, half_op<float16>()};
    case DType::kBFloat16:
      return {MPI_UINT16_T, half_op<bfloat16>()};
    case DType::kUInt8:
      return {MPI_UINT8_T, MPI_SUM};
    case DType::kInt32:
      return {MPI_INT32_T, MPI_SUM};
    case DType::kInt8:
      return {MPI_INT8_T, MPI_SUM};
    case DType::kInt64:
      return {MPI_INT64_T, MPI_SUM};
    case DType::kBool:
      return {MPI_UINT8_T, MPI_LOR};
    case DType::kUnknown:
      break;
  }
  throw Error(ErrorCode::kType, "kvstore", "given an array of unknown type");
}

}  // namespace mxnet::mpi
