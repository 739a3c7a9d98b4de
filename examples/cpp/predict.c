/* SPDX-License-Identifier: Apache-2.0
 * Runs a saved network on one batch, in C: what a program does with c_predict_api.h.
 *
 *   predict MODEL EXAMPLE
 *
 * MODEL is the prefix of MODEL-symbol.json and MODEL-0000.params. EXAMPLE is a file of arrays
 * (mx.nd.save): "data" goes in; where there is an "output", what comes out must be that. */
#include <math.h>
#include <mxnet/c_predict_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What this library's functions return is 0, or there is a text. */
static void check(int status, const char* what) {
  if (status == 0) return;
  fprintf(stderr, "%s: %s\n", what, MXGetLastError());
  exit(1);
}

/* A whole file, with a zero behind it. */
static char* read_file(const char* start, const char* end, int* size) {
  char path[4096];
  FILE* file;
  char* bytes;
  long length;
  snprintf(path, sizeof path, "%s%s", start, end);
  file = fopen(path, "rb");
  if (file == NULL || fseek(file, 0, SEEK_END) != 0 || (length = ftell(file)) < 0) {
    fprintf(stderr, "cannot read '%s'\n", path);
    exit(1);
  }
  rewind(file);
  bytes = malloc((size_t)length + 1);
  if (bytes == NULL || fread(bytes, 1, (size_t)length, file) != (size_t)length) {
    fprintf(stderr, "cannot read '%s'\n", path);
    exit(1);
  }
  fclose(file);
  bytes[length] = 0;
  *size = (int)length;
  return bytes;
}

/* An array of the example. */
typedef struct {
  const float* values;
  const uint32_t* shape;
  uint32_t dims, size;
} Tensor;

static Tensor find(NDListHandle list, uint32_t length, const char* name) {
  Tensor found = {NULL, NULL, 0, 1};
  uint32_t i, d;
  for (i = 0; i < length && found.values == NULL; ++i) {
    const char* key;
    Tensor each = {NULL, NULL, 0, 1};
    check(MXNDListGet(list, i, &key, &each.values, &each.shape, &each.dims), "MXNDListGet");
    for (d = 0; d < each.dims; ++d) each.size *= each.shape[d];
    if (strcmp(key, name) == 0) found = each;
  }
  return found;
}

int main(int argc, char** argv) {
  const char* inputs[] = {"data"};
  uint32_t ends[2] = {0, 0}, arrays, size = 1, dims, *shape, i;
  int symbol_size, params_size, example_size;
  char *symbol, *params, *example;
  float *scores, furthest = 0;
  Tensor data, expected;
  NDListHandle list;
  PredictorHandle predictor;

  if (argc != 3) {
    fprintf(stderr, "usage: predict MODEL EXAMPLE\n");
    return 1;
  }
  symbol = read_file(argv[1], "-symbol.json", &symbol_size);
  params = read_file(argv[1], "-0000.params", &params_size);
  example = read_file(argv[2], "", &example_size);
  check(MXNDListCreate(example, example_size, &list, &arrays), "MXNDListCreate");
  data = find(list, arrays, "data");
  if (data.values == NULL) {
    fprintf(stderr, "'%s' has no array named data\n", argv[2]);
    return 1;
  }

  ends[1] = data.dims;
  check(MXPredCreate(symbol, params, params_size, 1, 0, 1, inputs, ends, data.shape, &predictor),
        "MXPredCreate");
  check(MXPredSetInput(predictor, "data", data.values, data.size), "MXPredSetInput");
  check(MXPredForward(predictor), "MXPredForward");
  check(MXPredGetOutputShape(predictor, 0, &shape, &dims), "MXPredGetOutputShape");
  for (i = 0; i < dims; ++i) size *= shape[i];
  scores = malloc(size * sizeof *scores);
  if (scores == NULL) return 1;
  check(MXPredGetOutput(predictor, 0, scores, size), "MXPredGetOutput");
  for (i = 0; i < size; ++i)
    printf("%.6f%c", (double)scores[i], (i + 1) % shape[dims - 1] == 0 ? '\n' : ' ');

  expected = find(list, arrays, "output");
  if (expected.values != NULL) {
    if (expected.size != size) {
      fprintf(stderr, "%u numbers came out, expected %u\n", size, expected.size);
      return 1;
    }
    for (i = 0; i < size; ++i) {
      const float distance = fabsf(scores[i] - expected.values[i]);
      if (distance > furthest || isnan(distance)) furthest = distance;
    }
    printf("furthest from the expected numbers: %g\n", (double)furthest);
  }
  check(MXPredFree(predictor), "MXPredFree");
  check(MXNDListFree(list), "MXNDListFree");
  free(scores);
  free(symbol);
  free(params);
  free(example);
  return furthest <= 1e-5f ? 0 : 1;
}
