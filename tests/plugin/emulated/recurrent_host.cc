// SPDX-License-Identifier: Apache-2.0
// Recurrent layers for the emulated plug-in, in place of cuDNN: the kernels of the plug-in behind a
// library with habits of its own. Its weights are biases first, from the last layer to the first,
// with gaps; it keeps what these kernels keep; backward leaves nothing of that.
#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "plugin/cuda/computed.cuh"
#include "plugin/cuda/dnn/recurrent_runner.h"
#include "plugin/cuda/rnn.cuh"

namespace mxnet::cuda {
namespace {

using recurrent::Extent;

constexpr int64_t kGap = 8;  // elements between the parts of the weights

class HostRunner : public RecurrentRunner {
 public:
  HostRunner(const RecurrentShape& shape, std::vector<WeightPart> parts)
      : shape_(shape), extent_{shape.steps, shape.batch, shape.input} {
    params_.state_size = static_cast<uint32_t>(shape.hidden);
    params_.num_layers = static_cast<uint32_t>(shape.layers);
    params_.bidirectional = shape.directions == 2;
    params_.mode = shape.mode;
    if (shape.out != shape.hidden) params_.projection_size = static_cast<int32_t>(shape.out);
    params_.lstm_state_clip_min = shape.clip_low;
    params_.lstm_state_clip_max = shape.clip_high;
    size_ = rnn::ParamLayout(params_, shape.input).size();
    const auto segment = RecurrentSegment{0, shape};
    own_ = weight_parts(params_, {shape.dtype, shape.steps, shape.batch, shape.input}, segment);
    int64_t end = 0;
    sizes_.places.resize(parts.size());
    for (std::size_t i = parts.size(); i-- > 0; end += parts[i].size + kGap) sizes_.places[i] = end;
    sizes_.weights = static_cast<std::size_t>(end) * dtype_size(shape.dtype);
    sizes_.workspace = sizes_.inference_workspace = 64;
    sizes_.kept =
        static_cast<std::size_t>(rnn::ReserveLayout(params_, shape.steps, shape.batch).size()) *
        (shape.dtype == DType::kFloat64 ? 8 : 4);
  }

  const RecurrentSizes& sizes() const override { return sizes_; }

  void forward(NativeStream* stream, const std::vector<int32_t>& lengths, const RecurrentForward& a,
               KernelContext& context) const override {
    in_computed_type([&](auto zero) {
      using T = decltype(zero);
      Copies<T> copies{*this, stream, context, {}};
      recurrent::ForwardArrays<T> arrays{};
      arrays.data = copies.in(a.x, rows() * shape_.input);
      arrays.params = vector_of<T>(copies, a.weights);
      arrays.state = copies.in(a.hx, hidden());
      arrays.cell = copies.in(a.cx, cells());
      arrays.lengths = lengths_of(lengths, context);
      arrays.out = copies.out(a.y, rows() * shape_.width());
      arrays.state_out = copies.out(a.hy, hidden());
      arrays.cell_out = copies.out(a.cy, cells());
      arrays.reserve = static_cast<T*>(a.kept != nullptr ? a.kept : context.workspace(sizes_.kept));
      recurrent::run_forward(params_, extent_, arrays, stream, context);
      copies.write_back();
    });
  }

  void backward(NativeStream* stream, const std::vector<int32_t>& lengths,
                const RecurrentBackward& a, KernelContext& context) const override {
    in_computed_type([&](auto zero) {
      using T = decltype(zero);
      Copies<T> copies{*this, stream, context, {}};
      recurrent::BackwardArrays<T> arrays{};
      arrays.data = copies.in(a.x, rows() * shape_.input);
      arrays.params = vector_of<T>(copies, a.weights);
      arrays.state = copies.in(a.hx, hidden());
      arrays.cell = copies.in(a.cx, cells());
      arrays.lengths = lengths_of(lengths, context);
      arrays.out = copies.in(a.y, rows() * shape_.width());
      arrays.reserve = static_cast<const T*>(a.kept);
      arrays.dout = copies.in(a.dy, rows() * shape_.width());
      arrays.dstate_out = copies.in(a.dhy, hidden());
      arrays.dcell_out = copies.in(a.dcy, cells());
      arrays.ddata = copies.out(a.dx, rows() * shape_.input);
      if (a.dweights != nullptr) arrays.dparams = context.workspace_of<T>(size_);
      arrays.dstate = copies.out(a.dhx, hidden());
      arrays.dcell = copies.out(a.dcx, cells());
      recurrent::run_backward(params_, extent_, arrays, stream, context);
      copies.write_back();
      each_part([&](int64_t own, int64_t library, int64_t size) {
        if (a.dweights != nullptr)
          copies.convert_part(arrays.dparams + own, a.dweights, library, size);
      });
      std::memset(a.kept, 0xff, sizes_.kept);
    });
  }

 private:
  int64_t rows() const { return shape_.steps * shape_.batch; }
  int64_t hidden() const { return shape_.places() * shape_.batch * shape_.out; }
  int64_t cells() const { return shape_.places() * shape_.batch * shape_.hidden; }

  template <class F>
  void in_computed_type(const F& fn) const {
    if (shape_.dtype == DType::kFloat64)
      fn(0.0);
    else
      fn(0.0f);
  }

  // Arrays of the network's type in the one that is computed in.
  template <class T>
  struct Copies {
    const HostRunner& runner;
    NativeStream* stream;
    KernelContext& context;
    struct Out {
      const T* from;
      void* to;
      int64_t size;
    };
    std::vector<Out> outs;

    void* at(void* array, int64_t place) const {
      return static_cast<char*>(array) +
             place * static_cast<int64_t>(dtype_size(runner.shape_.dtype));
    }
    const T* in(const void* array, int64_t size) const {
      if (array == nullptr) return nullptr;
      T* const to = context.workspace_of<T>(size);
      widen_part(array, 0, to, size);
      return to;
    }
    void widen_part(const void* array, int64_t place, T* to, int64_t size) const {
      const Shape shape{size};
      convert(stream, {at(const_cast<void*>(array), place), &shape, runner.shape_.dtype},
              {to, &shape, dtype_of<T>});
    }
    void convert_part(const T* from, void* array, int64_t place, int64_t size) const {
      const Shape shape{size};
      convert(stream, {const_cast<T*>(from), &shape, dtype_of<T>},
              {at(array, place), &shape, runner.shape_.dtype});
    }
    T* out(void* array, int64_t size) {
      if (array == nullptr) return nullptr;
      if (reinterpret_cast<uintptr_t>(array) % 16 != 0)
        throw Error(ErrorCode::kGeneric, "cudnn", "given a misaligned address");
      T* const from = context.workspace_of<T>(size);
      outs.push_back({from, array, size});
      return from;
    }
    void write_back() const {
      for (const Out& out : outs) convert_part(out.from, out.to, 0, out.size);
    }
  };

  template <class F>
  void each_part(const F& fn) const {
    for (std::size_t i = 0; i < own_.size(); ++i) fn(own_[i].place, sizes_.places[i], own_[i].size);
  }
  // The weights in the operator's order.
  template <class T>
  const T* vector_of(const Copies<T>& copies, const void* weights) const {
    T* const to = copies.context.template workspace_of<T>(size_);
    each_part([&](int64_t own, int64_t library, int64_t size) {
      copies.widen_part(weights, library, to + own, size);
    });
    return to;
  }
  static recurrent::Lengths lengths_of(const std::vector<int32_t>& lengths,
                                       KernelContext& context) {
    if (lengths.empty()) return {};
    auto* const to = context.workspace_of<int32_t>(std::ssize(lengths));
    std::copy(lengths.begin(), lengths.end(), to);
    return {{to, DType::kInt32}};
  }

  const RecurrentShape shape_;
  const Extent extent_;
  rnn::RnnParams params_{};
  int64_t size_ = 0;
  std::vector<WeightPart> own_;
  RecurrentSizes sizes_{};
};

}  // namespace

std::shared_ptr<const RecurrentRunner> recurrent_runner(KernelContext&, const RecurrentShape& shape,
                                                        const std::vector<WeightPart>& parts,
                                                        bool) {
  if (shape.mode == rnn::Mode::kRelu) return nullptr;  // so that the plug-in's own way is seen too
  return std::make_shared<HostRunner>(shape, parts);
}

}  // namespace mxnet::cuda
