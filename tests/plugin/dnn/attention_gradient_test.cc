// SPDX-License-Identifier: Apache-2.0
// What attention in training would be for cuDNN, on GPUs that are only described: forward its one
// operation, which keeps a number for each row of weights; backward a graph of operations, since of
// the one that its header names (SDPA_BWD) cuDNN 9.19 finalizes the operation and no graph. The
// plug-in runs neither yet (docs/cuda.md).
#include <gtest/gtest.h>

#include <utility>

#include "base/config.h"
#include "base/error.h"
#include "plugin/cuda/dnn/convolution.h"
#include "plugin/cuda/dnn/plan_target.h"
#include "plugin/dnn/described_gpus.h"

namespace mxnet::cuda {
namespace {

using Dims = std::vector<int64_t>;

constexpr int64_t kBatch = 8, kHeads = 12;
constexpr int64_t kAlignment = 16;

struct Sizes {
  int64_t queries, keys, size;
  cudnnDataType_t type;
  bool self;
};

// Operations, and what they are made of.
class Operations {
 public:
  Descriptor array(int64_t id, cudnnDataType_t type, const Dims& dims, const Dims& strides) {
    return finalized(tensor(id, type, dims, strides));
  }
  // The vectors `part` of all heads in an interleaved array; `turned`: steps are columns.
  Descriptor vectors(const Sizes& sizes, int64_t id, int64_t steps, int64_t parts, bool turned) {
    const int64_t head = parts * sizes.size, sample = kHeads * head;
    Dims dims{kBatch, kHeads, steps, sizes.size}, strides{sample, head, kBatch * sample, 1};
    if (turned) {
      std::swap(dims[2], dims[3]);
      std::swap(strides[2], strides[3]);
    }
    return array(id, sizes.type, dims, strides);
  }
  Descriptor number(int64_t id) {
    Descriptor result = tensor(id, CUDNN_DATA_FLOAT, {1, 1, 1, 1}, {1, 1, 1, 1});
    result.set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, true);
    return finalized(std::move(result));
  }
  // Never in memory. `turned`: rows lie as columns.
  Descriptor between(const Dims& dims, cudnnDataType_t type = CUDNN_DATA_FLOAT,
                     bool turned = false) {
    const int64_t matrix = dims[2] * dims[3];
    Dims strides{dims[1] * matrix, matrix, dims[3], 1};
    if (turned) strides = {dims[1] * matrix, matrix, 1, dims[2]};
    Descriptor result = tensor(++last_, type, dims, strides);
    result.set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, true);
    return finalized(std::move(result));
  }

  void multiply(const Descriptor& a, const Descriptor& b, const Descriptor& c) {
    Descriptor how(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
    how.set(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_DATA_FLOAT).finalize();
    all_.emplace_back(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR)
        .set(CUDNN_ATTR_OPERATION_MATMUL_DESC, how)
        .set(CUDNN_ATTR_OPERATION_MATMUL_ADESC, a)
        .set(CUDNN_ATTR_OPERATION_MATMUL_BDESC, b)
        .set(CUDNN_ATTR_OPERATION_MATMUL_CDESC, c)
        .finalize();
    kept_.push_back(std::move(how));
  }
  void pointwise(cudnnPointwiseMode_t mode, const Descriptor& x, const Descriptor* b,
                 const Descriptor& y) {
    Descriptor how(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    how.set(CUDNN_ATTR_POINTWISE_MODE, mode)
        .set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_DATA_FLOAT)
        .finalize();
    Descriptor& operation = all_.emplace_back(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    operation.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, how)
        .set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x)
        .set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y);
    if (b != nullptr) operation.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, *b);
    operation.finalize();
    kept_.push_back(std::move(how));
  }
  void sum(const Descriptor& x, const Descriptor& y) {
    const Cudnn& cudnn = Cudnn::get();
    Descriptor how(CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
    const cudnnReduceTensorOp_t add = CUDNN_REDUCE_TENSOR_ADD;
    cudnn.check(cudnn.set_attribute(how.raw(), CUDNN_ATTR_REDUCTION_OPERATOR,
                                    CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, 1, &add),
                "cudnnBackendSetAttribute");
    how.set(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_DATA_FLOAT).finalize();
    all_.emplace_back(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR)
        .set(CUDNN_ATTR_OPERATION_REDUCTION_DESC, how)
        .set(CUDNN_ATTR_OPERATION_REDUCTION_XDESC, x)
        .set(CUDNN_ATTR_OPERATION_REDUCTION_YDESC, y)
        .finalize();
    kept_.push_back(std::move(how));
  }
  void reshape(const Descriptor& x, const Descriptor& y) {
    all_.emplace_back(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR)
        .set(CUDNN_ATTR_OPERATION_RESHAPE_XDESC, x)
        .set(CUDNN_ATTR_OPERATION_RESHAPE_YDESC, y)
        .finalize();
  }
  Descriptor& add(cudnnBackendDescriptorType_t type) { return all_.emplace_back(type); }
  std::vector<Descriptor> take() { return std::move(all_); }

 private:
  static Descriptor tensor(int64_t id, cudnnDataType_t type, const Dims& dims,
                           const Dims& strides) {
    Descriptor result(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    result.set(CUDNN_ATTR_TENSOR_DATA_TYPE, type)
        .set(CUDNN_ATTR_TENSOR_DIMENSIONS, dims)
        .set(CUDNN_ATTR_TENSOR_STRIDES, strides)
        .set(CUDNN_ATTR_TENSOR_UNIQUE_ID, id)
        .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, kAlignment);
    return result;
  }
  static Descriptor finalized(Descriptor descriptor) {
    descriptor.finalize();
    return descriptor;
  }

  std::vector<Descriptor> all_, kept_;
  int64_t last_ = 1000;  // beyond the arrays' names
};

enum Array : int64_t {
  kQuery = 1,
  kKey,
  kValue,
  kResult,
  kStats,
  kScale,
  kDResult,
  kDQuery,
  kDKey,
  kDValue
};

// The arrays that both passes read, and the gradients beside them.
struct Arrays {
  Descriptor query, key, value, key_turned, value_turned, result, stats, scale;
  Descriptor dresult, dquery, dkey, dvalue;
  Arrays(const Sizes& sizes, Operations& of)
      : query(of.vectors(sizes, kQuery, sizes.queries, sizes.self ? 3 : 1, false)),
        key(of_keys(sizes, of, kKey, false)),
        value(of_keys(sizes, of, kValue, false)),
        key_turned(of_keys(sizes, of, kKey, true)),
        value_turned(of_keys(sizes, of, kValue, true)),
        result(of.vectors(sizes, kResult, sizes.queries, 1, false)),
        stats(of.array(kStats, CUDNN_DATA_FLOAT, {kBatch, kHeads, sizes.queries, 1},
                       {kHeads * sizes.queries, sizes.queries, 1, 1})),
        scale(of.number(kScale)),
        dresult(of.vectors(sizes, kDResult, sizes.queries, 1, false)),
        dquery(of.vectors(sizes, kDQuery, sizes.queries, sizes.self ? 3 : 1, false)),
        dkey(of_keys(sizes, of, kDKey, false)),
        dvalue(of_keys(sizes, of, kDValue, false)) {}

 private:
  static Descriptor of_keys(const Sizes& sizes, Operations& of, int64_t id, bool turned) {
    return of.vectors(sizes, id, sizes.keys, sizes.self ? 3 : 2, turned);
  }
};

#if CUDNN_VERSION >= 91300
std::vector<Descriptor> forward(const Sizes& sizes) {
  Operations operations;
  const Arrays of(sizes, operations);
  operations.add(CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR)
      .set(CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC, of.query)
      .set(CUDNN_ATTR_OPERATION_SDPA_FWD_KDESC, of.key)
      .set(CUDNN_ATTR_OPERATION_SDPA_FWD_VDESC, of.value)
      .set(CUDNN_ATTR_OPERATION_SDPA_FWD_ODESC, of.result)
      .set(CUDNN_ATTR_OPERATION_SDPA_FWD_STATSDESC, of.stats)
      .set(CUDNN_ATTR_OPERATION_SDPA_FWD_SCALEDESC, of.scale)
      .finalize();
  return operations.take();
}
#endif

// Weights are made again: w = exp(scale q k^T - stats). Of their gradient, dw = dr v^T, the softmax
// takes what each row has in common, which is the row's sum of dr r.
std::vector<Descriptor> backward(const Sizes& sizes) {
  Operations operations;
  const Arrays of(sizes, operations);
  const Dims vectors{kBatch, kHeads, sizes.queries, sizes.size};
  const Dims matrix{kBatch, kHeads, sizes.queries, sizes.keys};
  const Dims turned{kBatch, kHeads, sizes.keys, sizes.queries};
  const auto step = [&](cudnnPointwiseMode_t mode, const Descriptor& x, const Descriptor* b) {
    Descriptor y = operations.between(matrix);
    operations.pointwise(mode, x, b, y);
    return y;
  };
  const auto turn = [&](const Descriptor& x) {
    Descriptor y = operations.between(turned, sizes.type, true);
    operations.reshape(x, y);
    return y;
  };
  const Descriptor products = operations.between(vectors);
  const Descriptor common = operations.between({kBatch, kHeads, sizes.queries, 1});
  operations.pointwise(CUDNN_POINTWISE_MUL, of.dresult, &of.result, products);
  operations.sum(products, common);
  const Descriptor scores = operations.between(matrix);
  operations.multiply(of.query, of.key_turned, scores);
  const Descriptor scaled = step(CUDNN_POINTWISE_MUL, scores, &of.scale);
  const Descriptor below = step(CUDNN_POINTWISE_SUB, scaled, &of.stats);
  const Descriptor weights = step(CUDNN_POINTWISE_EXP, below, nullptr);
  operations.multiply(turn(weights), of.dresult, of.dvalue);
  const Descriptor dweights = operations.between(matrix);
  operations.multiply(of.dresult, of.value_turned, dweights);
  const Descriptor apart = step(CUDNN_POINTWISE_SUB, dweights, &common);
  const Descriptor dscaled = step(CUDNN_POINTWISE_MUL, apart, &weights);
  const Descriptor dscores = step(CUDNN_POINTWISE_MUL, dscaled, &of.scale);
  operations.multiply(dscores, of.key, of.dquery);
  operations.multiply(turn(dscores), of.query, of.dkey);
  return operations.take();
}

class AttentionInTraining : public OnDescribedGpus {
 protected:
  static EngineOffers offers(const PlanTarget& target, std::vector<Descriptor> operations) {
    return offered_engines(target, std::move(operations), config().cuda);
  }
};

#if CUDNN_VERSION >= 91300
TEST_F(AttentionInTraining, BothPassesHaveEngines) {
  for (const DescribedGpu& gpu : described_gpus()) {
    const PlanTarget target = PlanTarget::described(gpu.json());
    for (const Sizes& sizes : {Sizes{128, 128, 64, CUDNN_DATA_HALF, true},
                               Sizes{128, 128, 128, CUDNN_DATA_BFLOAT16, true},
                               Sizes{7, 77, 64, CUDNN_DATA_HALF, false}}) {
      SCOPED_TRACE(::testing::Message() << gpu.name << " " << sizes.queries << " by " << sizes.keys
                                        << " of " << sizes.size);
      EXPECT_FALSE(offers(target, forward(sizes)).engines.empty());
      EXPECT_FALSE(offers(target, backward(sizes)).engines.empty());
    }
  }
}

TEST_F(AttentionInTraining, AnEngineOfTheGradientIsCompiledIntoAPlan) {
  const PlanTarget target = PlanTarget::described(described_gpus().at(1).json());
  EngineOffers offered = offers(target, backward({128, 128, 64, CUDNN_DATA_HALF, /*self=*/true}));
  ASSERT_FALSE(offered.engines.empty());
  EXPECT_NO_THROW(EnginePlan(target, std::move(offered.engines[0].descriptor)));
}
#endif

#if CUDNN_VERSION >= 91900
// When it does, the graph above may become one operation.
TEST_F(AttentionInTraining, TheGradientAsOneOperationHasNoGraphYet) {
  if (Cudnn::get().version() > 91900) GTEST_SKIP() << "a version of which nothing is known";
  Operations operations;
  const Sizes sizes{128, 128, 64, CUDNN_DATA_HALF, true};
  const Arrays of(sizes, operations);
  operations.add(CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR)
      .set(CUDNN_ATTR_OPERATION_SDPA_BWD_QDESC, of.query)
      .set(CUDNN_ATTR_OPERATION_SDPA_BWD_KDESC, of.key)
      .set(CUDNN_ATTR_OPERATION_SDPA_BWD_VDESC, of.value)
      .set(CUDNN_ATTR_OPERATION_SDPA_BWD_ODESC, of.result)
      .set(CUDNN_ATTR_OPERATION_SDPA_BWD_STATSDESC, of.stats)
      .set(CUDNN_ATTR_OPERATION_SDPA_BWD_SCALEDESC, of.scale)
      .set(CUDNN_ATTR_OPERATION_SDPA_BWD_DODDESC, of.dresult)
      .set(CUDNN_ATTR_OPERATION_SDPA_BWD_DQDESC, of.dquery)
      .set(CUDNN_ATTR_OPERATION_SDPA_BWD_DKDESC, of.dkey)
      .set(CUDNN_ATTR_OPERATION_SDPA_BWD_DVDESC, of.dvalue)
      .finalize();
  const PlanTarget target = PlanTarget::described(described_gpus().at(1).json());
  EXPECT_THROW(offers(target, operations.take()), Error);
}
#endif

}  // namespace
}  // namespace mxnet::cuda
