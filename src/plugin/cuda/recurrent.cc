// SPDX-License-Identifier: Apache-2.0
// From the operator's arrays to those of cuDNN's calls: weights in its order, arrays where it can
// load them, dropout between the calls, and what is kept for the gradient.
#include "plugin/cuda/recurrent.h"

#include <fmt/format.h>

#include <vector>

#include "base/config.h"
#include "base/error.h"
#include "op/rnn/backward_arrays.h"
#include "op/rows/binary_loops.h"
#include "op/run/plugin_random.h"
#include "plugin/cuda/dnn/recurrent_runner.h"
#include "plugin/cuda/host_values.h"
#include "plugin/cuda/primitives.h"
#include "plugin/cuda/recurrent_weights.h"

namespace mxnet::cuda {
namespace {

using rnn::RnnParams;
using Bytes = std::byte;

constexpr uintptr_t kAlignment = 16;  // of arrays that cuDNN loads

// As the first call finds the variable: what forward has left in a reserve is what backward must
// look for.
bool in_order() {
  static const bool as_found = sums_in_order();
  return as_found;
}

// The operator's arrays, whatever their type.
struct RawArrays {
  KernelContext& context;
  const Bytes* in(int i) const { return context.in(i).as<Bytes>(); }
  Bytes* out(int i) const { return context.out(i).as<Bytes>(); }
};
using Gradients = rnn::BackwardArrays<Bytes, const void*>;

// One call of the operator. Used by the thread of the kernel.
class Call {
 public:
  // `reserve`: the operator's. `keeps`: whether backward may come, or has come.
  Call(const RnnParams& params, KernelContext& context, const Tensor& reserve, bool keeps)
      : params_(params),
        keeps_(keeps),
        context_(context),
        stream_(context.stream()->native()),
        extent_{context.in(0).dtype, context.in(0).dim(0), context.in(0).dim(1),
                context.in(0).dim(2)},
        element_(static_cast<int64_t>(dtype_size(extent_.dtype))),
        reserve_at_(reserve.as<Bytes>()) {
    // Nothing is dropped and nobody asks for what is between the layers: they are one call.
    if (!keeps && !context.training()) params_.p = 0;
    read_lengths();
    if (not_for_cudnn(params_, extent_, in_order()) != nullptr) return;
    segments_ = recurrent_segments(params_, extent_);
    std::vector<std::size_t> kept;
    for (const RecurrentSegment& segment : segments_) {
      const std::vector<WeightPart> parts = weight_parts(params_, extent_, segment);
      Runner& runner = runners_.emplace_back();
      runner.cudnn = recurrent_runner(context_, segment.shape, parts, keeps_);
      if (runner.cudnn == nullptr) return;
      runner.weights = weight_runs(parts, runner.cudnn->sizes().places);
      kept.push_back(runner.cudnn->sizes().kept);
    }
    reserve_ = recurrent_reserve(
        segments_, kept, static_cast<std::size_t>(reserve.size()) * dtype_size(reserve.dtype));
  }

  bool possible() const { return reserve_.has_value(); }
  void forward();
  void backward(const Gradients& a);

 private:
  struct Runner {
    std::shared_ptr<const RecurrentRunner> cudnn;
    std::vector<WeightRun> weights;
  };
  // Forward as it was, for a backward pass that finds nothing kept.
  void forward_again(std::size_t i, const RecurrentBackward& of);

  // Of samples, for cuDNN; whoever computes, wrong ones are the CPU's error.
  void read_lengths() {
    if (!params_.use_sequence_length) return;
    const Tensor& given = context_.in(params_.length_input());
    const Tensor copy{context_.workspace_of<int32_t>(given.size()), &given.shape(), DType::kInt32};
    convert(stream_, given, copy);
    lengths_ = host_values(context_, copy.as<int32_t>(), given.size());
    for (std::size_t i = 0; i < lengths_.size(); ++i) {
      if (lengths_[i] >= 0 && lengths_[i] <= extent_.steps) continue;
      throw Error(ErrorCode::kValue, "RNN",
                  fmt::format("sequence_length: given {} for sample {}, expected 0 to {}",
                              lengths_[i], i, extent_.steps));
    }
  }

  Bytes* scratch(int64_t elements) const {
    return context_.workspace_of<Bytes>(elements * element_);
  }
  void copy(const void* from, void* to, int64_t elements) const {
    const Shape shape{elements};
    convert(stream_, {const_cast<void*>(from), &shape, extent_.dtype}, {to, &shape, extent_.dtype});
  }
  void clear(void* to, int64_t elements) const {
    const Shape shape{elements};
    fill(stream_, {to, &shape, extent_.dtype}, 0);
  }
  void scale(const void* x, const void* factors, void* to, int64_t elements) const {
    const Shape shape{elements};
    const auto tensor = [&](const void* data) {
      return Tensor{const_cast<void*>(data), &shape, extent_.dtype};
    };
    binary(stream_, static_cast<int>(BinaryRow::multiply), tensor(x), tensor(factors), tensor(to));
  }

  static bool is_aligned(const void* data) {
    return reinterpret_cast<uintptr_t>(data) % kAlignment == 0;
  }
  // An array where cuDNN can load it: itself, or a copy; null stays null.
  const Bytes* readable(const Bytes* data, int64_t elements) const {
    if (is_aligned(data)) return data;
    Bytes* const aligned = scratch(elements);
    copy(data, aligned, elements);
    return aligned;
  }
  // The same for what is written; settle() brings it home.
  Bytes* writable(Bytes* data, int64_t elements) {
    if (is_aligned(data)) return data;
    Bytes* const aligned = scratch(elements);
    unsettled_.push_back({aligned, data, elements});
    return aligned;
  }
  void settle() {
    for (const Unsettled& array : unsettled_) copy(array.from, array.to, array.elements);
    unsettled_.clear();
  }

  // Arrays of the segment's part of all states; null stays null.
  template <class B>
  B* states_at(B* all, std::size_t i, int64_t units) const {
    if (all == nullptr) return nullptr;
    const int64_t before = segments_[i].first_layer * params_.directions();
    return all + before * extent_.batch * units * element_;
  }
  int64_t num_hidden(const RecurrentShape& shape) const {
    return shape.places() * shape.batch * shape.out;
  }
  int64_t num_cells(const RecurrentShape& shape) const {
    return shape.places() * shape.batch * shape.hidden;
  }
  int64_t num_rows(const RecurrentShape& shape) const {
    return shape.steps * shape.batch * shape.width();
  }
  int64_t num_params() const { return context_.in(1).size(); }

  // The operator's vector as cuDNN wants it: itself where it can be.
  bool takes_vector(std::size_t i) const {
    return is_whole_vector(runners_[i].weights, num_params()) &&
           runners_[i].cudnn->sizes().weights == static_cast<std::size_t>(num_params() * element_);
  }
  const Bytes* packed(std::size_t i, const Bytes* params) const {
    if (takes_vector(i)) return readable(params, num_params());
    Bytes* const to =
        context_.workspace_of<Bytes>(static_cast<int64_t>(runners_[i].cudnn->sizes().weights));
    pack(i, params, to);
    return to;
  }
  void pack(std::size_t i, const Bytes* params, Bytes* to) const {
    for (const WeightRun& run : runners_[i].weights)
      copy(params + run.from * element_, to + run.to * element_, run.size);
  }
  // The same for inference, where the configuration lets them stay from call to call.
  const Bytes* packed_once(std::size_t i, const Bytes* params) {
    if (context_.training() || !config().onednn.rnn_use_weight_cache || takes_vector(i))
      return packed(i, params);
    const auto kept =
        kept_on_device({context_.device().id, params, runners_[i].cudnn->sizes().weights,
                        extent_.dtype, runners_[i].weights},
                       *context_.stream(), [&](Bytes* to) { pack(i, params, to); });
    if (kept == nullptr) return packed(i, params);
    kept_weights_.push_back(kept);
    return kept.get();
  }
  // Zeros that the gradients of weights are added to.
  Bytes* packed_gradients(std::size_t i, Bytes* dparams) {
    const auto bytes = static_cast<int64_t>(runners_[i].cudnn->sizes().weights);
    Bytes* const to =
        takes_vector(i) ? writable(dparams, num_params()) : context_.workspace_of<Bytes>(bytes);
    clear(to, bytes / element_);
    return to;
  }
  void unpack_gradients(std::size_t i, const Bytes* from, Bytes* dparams) const {
    if (takes_vector(i)) return;
    for (const WeightRun& run : runners_[i].weights)
      copy(from + run.to * element_, dparams + run.from * element_, run.size);
  }

  void* workspace(std::size_t i) const {
    const RecurrentSizes& sizes = runners_[i].cudnn->sizes();
    return context_.workspace(keeps_ ? sizes.workspace : sizes.inference_workspace);
  }
  Bytes* kept(std::size_t i) const {
    return reserve_->has_kept ? reserve_at_ + reserve_->segments[i].kept
                              : context_.workspace_of<Bytes>(
                                    static_cast<int64_t>(runners_[i].cudnn->sizes().kept));
  }
  bool is_last(std::size_t i) const { return i + 1 == segments_.size(); }
  // What a segment that is not the last hands up, and the factors behind it.
  Bytes* handed_up(std::size_t i) const { return reserve_at_ + reserve_->segments[i].handed_up; }
  Bytes* factors(std::size_t i) const { return reserve_at_ + reserve_->segments[i].factors; }
  const Bytes* dropped(std::size_t i) const {
    const int64_t elements = num_rows(segments_[i].shape);
    Bytes* const to = scratch(elements);
    scale(handed_up(i), factors(i), to, elements);
    return to;
  }
  void draw_factors(std::size_t i) const {
    const Shape shape{num_rows(segments_[i].shape)};
    const Tensor mask{factors(i), &shape, extent_.dtype};
    if (context_.training())
      keep_mask(stream_, draw_plugin_key(context_.device()), 1 - params_.p, mask, nullptr, nullptr);
    else
      fill(stream_, mask, 1);
  }

  RnnParams params_;
  const bool keeps_;
  KernelContext& context_;
  NativeStream* const stream_;
  const RecurrentExtent extent_;
  const int64_t element_;  // bytes
  Bytes* const reserve_at_;
  std::vector<RecurrentSegment> segments_;
  std::vector<Runner> runners_;
  std::optional<RecurrentReserve> reserve_;
  std::vector<int32_t> lengths_;
  std::vector<std::shared_ptr<const Bytes>> kept_weights_;  // in use by this call
  struct Unsettled {
    const Bytes* from;
    Bytes* to;
    int64_t elements;
  };
  std::vector<Unsettled> unsettled_;
};

void Call::forward() {
  const RawArrays arrays{context_};
  const Bytes* const cells = params_.has_cell() ? arrays.in(3) : nullptr;
  Bytes* const out_states = params_.state_outputs ? arrays.out(1) : nullptr;
  Bytes* const out_cells = params_.state_outputs && params_.has_cell() ? arrays.out(2) : nullptr;
  const Bytes* x = readable(arrays.in(0), extent_.steps * extent_.batch * extent_.input);
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    const RecurrentShape& shape = segments_[i].shape;
    const int64_t hidden = num_hidden(shape), units = num_cells(shape);
    Bytes* const y = is_last(i) ? writable(arrays.out(0), num_rows(shape)) : handed_up(i);
    runners_[i].cudnn->forward(stream_, lengths_,
                               {.x = x,
                                .hx = readable(states_at(arrays.in(2), i, shape.out), hidden),
                                .cx = readable(states_at(cells, i, shape.hidden), units),
                                .weights = packed_once(i, arrays.in(1)),
                                .y = y,
                                .hy = writable(states_at(out_states, i, shape.out), hidden),
                                .cy = writable(states_at(out_cells, i, shape.hidden), units),
                                .workspace = workspace(i),
                                .kept = keeps_ ? kept(i) : nullptr},
                               context_);
    if (is_last(i)) break;
    draw_factors(i);
    x = dropped(i);
  }
  settle();
}

void Call::forward_again(std::size_t i, const RecurrentBackward& of) {
  runners_[i].cudnn->forward(stream_, lengths_,
                             {.x = of.x,
                              .hx = of.hx,
                              .cx = of.cx,
                              .weights = of.weights,
                              .y = scratch(num_rows(segments_[i].shape)),
                              .hy = nullptr,
                              .cy = nullptr,
                              .workspace = of.workspace,
                              .kept = of.kept},
                             context_);
}

void Call::backward(const Gradients& a) {
  const int64_t data_size = extent_.steps * extent_.batch * extent_.input;
  const Bytes* dy = readable(a.dout, num_rows(segments_.back().shape));
  for (std::size_t i = segments_.size(); i-- > 0;) {
    const RecurrentShape& shape = segments_[i].shape;
    const int64_t hidden = num_hidden(shape), units = num_cells(shape);
    const int64_t input = i == 0 ? data_size : num_rows(segments_[i - 1].shape);
    Bytes* const dx = i == 0 && a.ddata != nullptr ? writable(a.ddata, data_size) : scratch(input);
    RecurrentBackward of{
        .x = i == 0 ? readable(a.data, data_size) : dropped(i - 1),
        .hx = readable(states_at(a.state, i, shape.out), hidden),
        .cx = readable(states_at(a.cell, i, shape.hidden), units),
        .weights = packed(i, a.params),
        .y = is_last(i) ? readable(a.out, num_rows(shape)) : handed_up(i),
        .dy = dy,
        .dhy = readable(states_at(a.dstate_out, i, shape.out), hidden),
        .dcy = readable(states_at(a.dcell_out, i, shape.hidden), units),
        .dx = dx,
        .dhx = writable(states_at(a.dstate, i, shape.out), hidden),
        .dcx = writable(states_at(a.dcell, i, shape.hidden), units),
        .dweights = a.dparams == nullptr ? nullptr : packed_gradients(i, a.dparams),
        .workspace = workspace(i),
        .kept = kept(i)};
    if (reserve_->has_kept) {
      // cuDNN writes what it has kept, and the operator's reserve may be asked for once more.
      const std::size_t bytes = runners_[i].cudnn->sizes().kept;
      void* const copy = context_.workspace(bytes);
      const Shape shape_of_bytes{static_cast<int64_t>(bytes)};
      convert(stream_, {of.kept, &shape_of_bytes, DType::kUInt8},
              {copy, &shape_of_bytes, DType::kUInt8});
      of.kept = copy;
    } else {
      forward_again(i, of);
    }
    runners_[i].cudnn->backward(stream_, lengths_, of, context_);
    if (a.dparams != nullptr)
      unpack_gradients(i, static_cast<const Bytes*>(of.dweights), a.dparams);
    if (i > 0) scale(dx, factors(i - 1), dx, input);
    dy = dx;
  }
  settle();
}

}  // namespace

bool forward_by_cudnn(const RnnParams& params, KernelContext& context) {
  const int reserve = context.num_out() - 1;
  Call call(params, context, context.out(reserve), context.is_read(reserve));
  if (!call.possible()) return false;
  call.forward();
  return true;
}

bool backward_by_cudnn(const RnnParams& params, KernelContext& context) {
  const int reserve = params.length_input() + (params.use_sequence_length ? 1 : 0) + 1;
  Call call(params, context, context.in(reserve), true);
  if (!call.possible()) return false;
  NativeStream* const stream = context.stream()->native();
  const auto clear = [&](int i) { fill(stream, context.out(i), 0); };
  RawArrays arrays{context};
  call.backward(
      rnn::backward_arrays<Bytes>(params, static_cast<const void*>(nullptr), arrays, false, clear));
  return true;
}

}  // namespace mxnet::cuda
