// SPDX-License-Identifier: Apache-2.0
// What a sparse kernel sees: arrays in their layouts, outputs whose size it decides, and the
// operator's own dense kernel to compute on pieces of them.
#pragma once
#include <span>

#include "ndarray/ndarray.h"
#include "op/kernel.h"

namespace mxnet {

class OpDef;
struct KernelEntry;

// A csr matrix. Inputs are not written through it, nor what make_like() has made; `indptr` always
// has rows + 1 entries.
struct CsrView {
  int64_t rows, columns, stored;
  int64_t* indptr;
  int64_t* indices;
  Tensor values;  // (stored,)
  // Of an input: somebody has seen that columns ascend strictly in each row.
  bool known_ascending = false;
  // Where row i begins and ends among the stored.
  int64_t begin(int64_t row) const { return indptr[row]; }
  int64_t end(int64_t row) const { return indptr[row + 1]; }
};

// The stored rows of a row_sparse array.
struct RowsView {
  int64_t rows, stored;
  int64_t width;   // elements of a row
  int64_t* index;  // of each stored row
  Tensor values;   // (stored,) + shape[1:]
  std::size_t row_bytes() const {
    return static_cast<std::size_t>(width) * dtype_size(values.dtype);
  }
};

// Lives for one run of a kernel, on the thread that runs it; run_dense alone may be called by
// several threads at once.
class SparseContext {
 public:
  // REQUIRES: inside an operation that declared the arrays, all in host memory. `resources` can be
  // used by several threads.
  SparseContext(const OpDef& op, const KernelEntry& dense, const void* params,
                std::span<const NDArray* const> in, std::span<const NDArray> out, bool training,
                KernelResources& resources)
      : op_(op),
        dense_(dense),
        params_(params),
        in_(in),
        out_(out),
        training_(training),
        resources_(resources) {}

  const OpDef& op() const { return op_; }
  int num_in() const { return static_cast<int>(in_.size()); }
  const NDArray& in(int i) const { return *in_[static_cast<std::size_t>(i)]; }
  const NDArray& out(int o) const { return out_[static_cast<std::size_t>(o)]; }

  // REQUIRES: of that layout.
  Tensor dense(int i) const { return tensor(in(i)); }
  Tensor dense_out(int o) const { return tensor(out(o)); }
  CsrView csr(int i) const;
  RowsView rows(int i) const { return rows_view(in(i)); }

  // Output o with room for that many; contents are the kernel's to write, all of them.
  CsrView make_csr(int o, int64_t stored) const;
  RowsView make_rows(int o, int64_t stored) const;
  // Of an output that had room for more, the first `stored` rows or elements.
  void keep(int o, int64_t stored) const;
  // Output o with the indices of sparse input i, of one layout and shape, and room for its values,
  // which are returned. As good or bad as the input, if nobody has looked.
  Tensor make_like(int o, int i) const;

  // A row_sparse input that the operator writes: stores all rows from now on, the missing as zeros.
  RowsView fill_up(int i) const;

  void* workspace(std::size_t bytes) const { return resources_.workspace(bytes); }
  template <class T>
  T* workspace_of(int64_t count) const {
    return static_cast<T*>(workspace(static_cast<std::size_t>(count) * sizeof(T)));
  }

  // The operator's dense kernel on other tensors than the call's.
  void run_dense(std::span<const Tensor> in, std::span<const Tensor> out) const;

 private:
  static Tensor tensor(const NDArray& array) {
    return {array.bytes() == 0 ? nullptr : array.data(), &array.shape(), array.dtype()};
  }
  CsrView csr_view(const NDArray& array) const;
  RowsView rows_view(const NDArray& array) const;
  // Index array `aux` as int64: itself, or converted into scratch memory.
  int64_t* indices_of(const SparseStore& store, int aux) const;

  const OpDef& op_;
  const KernelEntry& dense_;
  const void* params_;
  std::span<const NDArray* const> in_;
  std::span<const NDArray> out_;
  bool training_;
  KernelResources& resources_;
};

}  // namespace mxnet
