/* SPDX-License-Identifier: Apache-2.0
 * A program of the C ABI as users have it: linked once against the release's library, it runs with
 * ours in that place. It prints what must be the same with both.
 *
 *   relink FOLDER       the folder takes the files that it writes
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mxnet/c_api.h"
#include "mxnet/c_predict_api.h"

#define CALL(call)                                          \
  do {                                                      \
    if ((call) != 0) {                                      \
      fprintf(stderr, "%s\n%s\n", #call, MXGetLastError()); \
      exit(1);                                              \
    }                                                       \
  } while (0)

enum { kCpu = 1, kFloat = 0, kRows = 2, kColumns = 3 };

static NDArrayHandle matrix(const float* numbers, uint32_t rows, uint32_t columns) {
  const uint32_t shape[2] = {rows, columns};
  NDArrayHandle array = NULL;
  CALL(MXNDArrayCreateEx(shape, 2, kCpu, 0, 0, kFloat, &array));
  CALL(MXNDArraySyncCopyFromCPU(array, numbers, (size_t)rows * columns));
  return array;
}

static void print_array(const char* title, NDArrayHandle array) {
  int dims = 0, type = -1;
  const int* shape = NULL;
  CALL(MXNDArrayGetShapeEx(array, &dims, &shape));
  CALL(MXNDArrayGetDType(array, &type));
  size_t count = 1;
  printf("%s: type %d, shape", title, type);
  for (int i = 0; i < dims; ++i) {
    printf(" %d", shape[i]);
    count *= (size_t)shape[i];
  }
  float* numbers = malloc((count + 1) * sizeof *numbers);
  CALL(MXNDArraySyncCopyToCPU(array, numbers, count));
  for (size_t i = 0; i < count; ++i) printf("%s%.5g", i == 0 ? ":" : " ", numbers[i]);
  printf("\n");
  free(numbers);
}

static void print_names(const char* title, uint32_t count, const char** names) {
  printf("%s:", title);
  for (uint32_t i = 0; i < count; ++i) printf(" %s", names[i]);
  printf("\n");
}

static NDArrayHandle invoke(const char* name, int count, NDArrayHandle* inputs, int params,
                            const char** keys, const char** values) {
  OpHandle op = NULL;
  CALL(NNGetOpHandle(name, &op));
  int outputs = 0;
  NDArrayHandle* made = NULL;
  CALL(MXImperativeInvoke(op, count, inputs, &outputs, &made, params, keys, values));
  return made[0];
}

static SymbolHandle node(const char* op_name, const char* name, uint32_t count,
                         SymbolHandle* inputs, uint32_t params, const char** keys,
                         const char** values) {
  OpHandle op = NULL;
  SymbolHandle made = NULL;
  CALL(NNGetOpHandle(op_name, &op));
  CALL(MXSymbolCreateAtomicSymbol(op, params, keys, values, &made));
  CALL(MXSymbolCompose(made, name, count, NULL, inputs));
  return made;
}

static void arrays(const char* folder) {
  const float numbers[6] = {1, -2, 3.5F, 4, 0.25F, -6};
  NDArrayHandle a = matrix(numbers, kRows, kColumns);
  const char* keys[] = {"axis", "keepdims"};
  const char* values[] = {"1", "True"};
  NDArrayHandle sums = invoke("sum", 1, &a, 2, keys, values);
  print_array("sum", sums);
  NDArrayHandle both[2] = {a, sums};
  print_array("broadcast_mul", invoke("broadcast_mul", 2, both, 0, NULL, NULL));
  NDArrayHandle row = NULL;
  CALL(MXNDArraySlice(a, 1, 2, &row));
  print_array("slice", row);

  char path[512];
  snprintf(path, sizeof path, "%s/relink.params", folder);
  const char* names[] = {"first", "second"};
  CALL(MXNDArraySave(path, 2, both, names));
  uint32_t loaded = 0, named = 0;
  NDArrayHandle* handles = NULL;
  const char** titles = NULL;
  CALL(MXNDArrayLoad(path, &loaded, &handles, &named, &titles));
  print_names("loaded", named, titles);
  print_array("loaded", handles[1]);

  const uint32_t request = 1;
  NDArrayHandle gradient = matrix(numbers, kRows, kColumns);
  uint32_t requests[1] = {request};
  CALL(MXAutogradMarkVariables(1, &a, requests, &gradient));
  int before = 0;
  CALL(MXAutogradSetIsRecording(1, &before));
  NDArrayHandle square = invoke("square", 1, &a, 0, NULL, NULL);
  CALL(MXAutogradSetIsRecording(0, &before));
  CALL(MXAutogradBackward(1, &square, NULL, 0));
  print_array("gradient", gradient);
  OpHandle unknown = NULL;
  printf("an unknown operator: %d\n", NNGetOpHandle("no_such_operator", &unknown));
}

static SymbolHandle network(void) {
  SymbolHandle data = NULL;
  CALL(MXSymbolCreateVariable("data", &data));
  const char* keys[] = {"num_hidden"};
  const char* values[] = {"4"};
  SymbolHandle dense = node("FullyConnected", "dense", 1, &data, 1, keys, values);
  const char* act_keys[] = {"act_type"};
  const char* act_values[] = {"relu"};
  SymbolHandle relu = node("Activation", "relu", 1, &dense, 1, act_keys, act_values);
  return node("SoftmaxOutput", "softmax", 1, &relu, 0, NULL, NULL);
}

static void fill(NDArrayHandle array, float start) {
  int dims = 0;
  const int* shape = NULL;
  CALL(MXNDArrayGetShapeEx(array, &dims, &shape));
  size_t count = 1;
  for (int i = 0; i < dims; ++i) count *= (size_t)shape[i];
  float* numbers = malloc(count * sizeof *numbers);
  for (size_t i = 0; i < count; ++i) numbers[i] = start + 0.25F * (float)(i % 5);
  CALL(MXNDArraySyncCopyFromCPU(array, numbers, count));
  free(numbers);
}

static void graphs(const char* folder) {
  SymbolHandle net = network();
  uint32_t count = 0;
  const char** names = NULL;
  CALL(MXSymbolListArguments(net, &count, &names));
  print_names("arguments", count, names);
  CALL(MXSymbolListOutputs(net, &count, &names));
  print_names("outputs", count, names);

  const char* shaped[] = {"data"};
  const uint32_t dims[] = {kRows, kColumns}, index[] = {0, 2};
  uint32_t in_count = 0, out_count = 0, aux_count = 0;
  const int *in_dims = NULL, *out_dims = NULL, *aux_dims = NULL;
  const int **in_shapes = NULL, **out_shapes = NULL, **aux_shapes = NULL;
  int complete = 0;
  const int given[] = {kRows, kColumns};
  CALL(MXSymbolInferShapeEx(net, 1, shaped, index, given, &in_count, &in_dims, &in_shapes,
                            &out_count, &out_dims, &out_shapes, &aux_count, &aux_dims, &aux_shapes,
                            &complete));
  printf("shapes: complete %d, weight %d x %d, output %d x %d\n", complete, in_shapes[1][0],
         in_shapes[1][1], out_shapes[0][0], out_shapes[0][1]);

  NDArrayHandle arguments[4], gradients[4];
  uint32_t requests[4] = {0, 1, 1, 0};
  for (uint32_t i = 0; i < in_count; ++i) {
    uint32_t shape[2];
    for (int d = 0; d < in_dims[i]; ++d) shape[d] = (uint32_t)in_shapes[i][d];
    CALL(MXNDArrayCreateEx(shape, (uint32_t)in_dims[i], kCpu, 0, 0, kFloat, &arguments[i]));
    CALL(MXNDArrayCreateEx(shape, (uint32_t)in_dims[i], kCpu, 0, 0, kFloat, &gradients[i]));
  }
  for (uint32_t i = 0; i < in_count; ++i) fill(arguments[i], i == 3 ? 0 : -0.5F);
  ExecutorHandle executor = NULL;
  CALL(MXExecutorBind(net, kCpu, 0, 4, arguments, gradients, requests, 0, NULL, &executor));
  CALL(MXExecutorForward(executor, 1));
  NDArrayHandle* outputs = NULL;
  CALL(MXExecutorOutputs(executor, &count, &outputs));
  print_array("forward", outputs[0]);
  CALL(MXExecutorBackward(executor, 0, NULL));
  print_array("gradient of the weight", gradients[1]);
  CALL(MXExecutorFree(executor));

  CachedOpHandle cached = NULL;
  int made = 0;
  NDArrayHandle* results = NULL;
  CALL(MXCreateCachedOp(net, &cached));
  CALL(MXInvokeCachedOp(cached, 4, arguments, &made, &results));
  print_array("cached", results[0]);
  CALL(MXFreeCachedOp(cached));

  /* The same from files, by the functions for prediction. */
  char path[512];
  snprintf(path, sizeof path, "%s/relink-0000.params", folder);
  const char* stored[] = {"arg:dense_weight", "arg:dense_bias"};
  CALL(MXNDArraySave(path, 2, arguments + 1, stored));
  FILE* file = fopen(path, "rb");
  static char bytes[4096];
  const size_t size = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  const char* json = NULL;
  CALL(MXSymbolSaveToJSON(net, &json));
  PredictorHandle predictor = NULL;
  CALL(MXPredCreate(json, bytes, (int)size, kCpu, 0, 1, shaped, index, dims, &predictor));
  const float image[6] = {0.5F, 1, -1, 2, 0, 0.125F};
  float probabilities[8];
  CALL(MXPredSetInput(predictor, "data", image, 6));
  CALL(MXPredForward(predictor));
  CALL(MXPredGetOutput(predictor, 0, probabilities, 8));
  printf("predicted:");
  for (int i = 0; i < 8; ++i) printf(" %.5g", probabilities[i]);
  printf("\n");
  CALL(MXPredFree(predictor));
  CALL(MXSymbolFree(net));
}

static void stores_and_records(const char* folder) {
  const float numbers[6] = {1, 2, 3, 4, 5, 6};
  NDArrayHandle pair[2] = {matrix(numbers, 1, 6), matrix(numbers, 1, 6)};
  const int keys[2] = {3, 3};
  KVStoreHandle store = NULL;
  CALL(MXKVStoreCreate("local", &store));
  CALL(MXKVStoreInit(store, 1, keys, pair));
  CALL(MXKVStorePush(store, 2, keys, pair, 0));
  CALL(MXKVStorePull(store, 1, keys, pair, 0));
  print_array("pushed twice", pair[0]);
  CALL(MXKVStoreFree(store));

  char path[512];
  snprintf(path, sizeof path, "%s/relink.rec", folder);
  RecordIOHandle writer = NULL, reader = NULL;
  size_t place = 0, size = 0;
  const char* record = NULL;
  CALL(MXRecordIOWriterCreate(path, &writer));
  CALL(MXRecordIOWriterWriteRecord(writer, "first", 5));
  CALL(MXRecordIOWriterTell(writer, &place));
  CALL(MXRecordIOWriterWriteRecord(writer, "the second", 10));
  CALL(MXRecordIOWriterFree(writer));
  CALL(MXRecordIOReaderCreate(path, &reader));
  CALL(MXRecordIOReaderSeek(reader, place));
  CALL(MXRecordIOReaderReadRecord(reader, &record, &size));
  printf("record at %zu: %.*s\n", place, (int)size, record);
  CALL(MXRecordIOReaderReadRecord(reader, &record, &size));
  printf("after the last: %zu bytes\n", size);
  CALL(MXRecordIOReaderFree(reader));
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "given %d arguments, expected a folder\n", argc - 1);
    return 2;
  }
  arrays(argv[1]);
  graphs(argv[1]);
  stores_and_records(argv[1]);
  CALL(MXNDArrayWaitAll());
  CALL(MXNotifyShutdown());
  return 0;
}
