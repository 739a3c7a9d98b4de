/* SPDX-License-Identifier: Apache-2.0
 * What crosses the border between libmxnet.so and an extension library: plain C structures.
 * Programs include lib_api.h, which fills them in; other languages may fill them themselves.
 *
 * - Handshake: the host looks for the function MXExtensionVersion and refuses a library that was
 *   built for another MX_EXT_VERSION before it reads any structure. Then it calls MXExtensionOpen.
 * - Errors: functions return 0, or -1 with a text in `message`. Nothing throws through this border.
 * - Ownership: everything is lent for the time of the call, in both directions. What somebody wants
 *   to keep is copied; tables of an extension (MXExtLibrary) live as long as the process.
 * - Threads: the host calls any function of an extension from any thread, several at a time; the
 *   functions of one state (MXExtOp::create_state) one at a time.
 */
#ifndef MXNET_EXT_ABI_H_
#define MXNET_EXT_ABI_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Changes whenever a structure below does. */
#define MX_EXT_VERSION 1
#define MX_EXT_MAX_DIMS 32

typedef struct {
  char text[1024]; /* ended by NUL; longer texts are cut */
} MXExtMessage;

typedef struct {
  const char* const* keys;
  const char* const* values;
  int32_t count;
} MXExtAttrs;

/* ndim -1 = not known. */
typedef struct {
  int32_t ndim;
  int64_t dims[MX_EXT_MAX_DIMS];
} MXExtShape;

/* Row-major and contiguous: the array's own memory. dtype: 0 float32, 1 float64, 2 float16, 3
 * uint8, 4 int32, 5 int8, 6 int64, 7 bool, 12 bfloat16. dev_type: 1 CPU, 2 GPU. */
typedef struct {
  void* data;
  const int64_t* shape;
  int32_t ndim;
  int32_t dtype;
  int32_t dev_type;
  int32_t dev_id;
} MXExtTensor;

/* One call of a body. `workspace` gives memory on the call's device, aligned to 64 bytes and good
 * until the call ends, or null where there is none. `stream`: a CUDA stream, null on the CPU. */
typedef struct MXExtCall {
  MXExtAttrs attrs;
  const MXExtTensor* inputs;
  const MXExtTensor* outputs;
  int32_t num_inputs;
  int32_t num_outputs;
  int32_t training;
  void* stream;
  void* (*workspace)(const struct MXExtCall* call, size_t bytes);
  void* host;
} MXExtCall;

enum {
  kMXExtForward = 1,     /* has forward */
  kMXExtBackward = 2,    /* has backward: inputs are the outputs' gradients, inputs, outputs */
  kMXExtState = 4,       /* has a state, whose forward and backward it calls */
  kMXExtSubgraph = 8,    /* its nodes carry a part of a network */
  kMXExtInferTypes = 16, /* otherwise all types are one */
  kMXExtInferShapes = 32 /* otherwise a subgraph's, which its network tells */
};

/* Among the attributes of a node that carries a part: the part as the text of a symbol file. */
#define MX_STR_SUBGRAPH_SYM_JSON "subgraph_sym_json"

/* An operator. `self` goes to each function. Types are -1 where they are not known. */
typedef struct MXExtOp {
  const char* name;
  void* self;
  int32_t flags;
  int (*counts)(void* self, const MXExtAttrs* attrs, int32_t* num_inputs, int32_t* num_outputs,
                MXExtMessage* message);
  int (*infer_types)(void* self, const MXExtAttrs* attrs, int32_t* inputs, int32_t num_inputs,
                     int32_t* outputs, int32_t num_outputs, MXExtMessage* message);
  int (*infer_shapes)(void* self, const MXExtAttrs* attrs, MXExtShape* inputs, int32_t num_inputs,
                      MXExtShape* outputs, int32_t num_outputs, MXExtMessage* message);
  /* Inputs that forward writes; at most `capacity`. Null = none. */
  int (*mutated)(void* self, const MXExtAttrs* attrs, int32_t* indices, int32_t capacity,
                 int32_t* count, MXExtMessage* message);
  int (*forward)(void* self, const MXExtCall* call, MXExtMessage* message);
  int (*backward)(void* self, const MXExtCall* call, MXExtMessage* message);
  int (*create_state)(void* self, const MXExtAttrs* attrs, const MXExtTensor* inputs,
                      int32_t num_inputs, void** state, MXExtMessage* message);
  int (*state_forward)(void* state, const MXExtCall* call, MXExtMessage* message);
  int (*state_backward)(void* state, const MXExtCall* call, MXExtMessage* message);
  void (*destroy_state)(void* state);
} MXExtOp;

struct MXExtGraph;

typedef struct {
  int32_t node;
  int32_t output;
} MXExtEntry;

/* A variable has op "null". `tensor`: the value of a parameter, where it is known. `shapes` and
 * `dtypes`: of each of the node's outputs. The host ignores those three in graphs it is given. */
typedef struct {
  const char* op;
  const char* name;
  const MXExtEntry* inputs;
  int32_t num_inputs;
  MXExtAttrs attrs;
  const struct MXExtGraph* const* subgraphs;
  int32_t num_subgraphs;
  const MXExtTensor* tensor;
  const MXExtShape* shapes;
  const int32_t* dtypes;
  int32_t num_outputs;
} MXExtNode;

/* Nodes come after all that they read. */
typedef struct MXExtGraph {
  const MXExtNode* nodes;
  int32_t num_nodes;
  const MXExtEntry* outputs;
  int32_t num_outputs;
} MXExtGraph;

/* What a pass may ask of the host during its call. `accept` takes the new graph; a pass that does
 * not call it leaves the network as it was. `parameter` makes an array that becomes an argument, or
 * an auxiliary state, of the new network; its memory is the array's and is on the CPU. */
typedef struct MXExtRewrite {
  int (*accept)(const struct MXExtRewrite* rewrite, const MXExtGraph* graph, MXExtMessage* message);
  int (*parameter)(const struct MXExtRewrite* rewrite, const char* name, const MXExtShape* shape,
                   int32_t dtype, int32_t auxiliary, MXExtTensor* made, MXExtMessage* message);
  void* host;
} MXExtRewrite;

typedef struct {
  const char* name;
  void* self;
  int (*run)(void* self, const MXExtGraph* graph, const MXExtAttrs* options,
             const MXExtRewrite* rewrite, MXExtMessage* message);
} MXExtPass;

/* Attributes of a part's node; keys and values are copied. */
typedef struct MXExtReview {
  int (*set_attr)(const struct MXExtReview* review, const char* key, const char* value);
  void* host;
} MXExtReview;

enum { kMXExtStays = -2, kMXExtAnyPart = -1 };

/* One way to take parts out of a network, with the operator of the nodes that carry them. `select`
 * gives each node kMXExtStays, kMXExtAnyPart or a number: nodes of one number, or of none, may
 * become one part where they are connected. `review` (null: all are taken) sees each part. */
typedef struct {
  const char* name;
  const char* subgraph_op;
  void* self;
  int (*select)(void* self, const MXExtGraph* graph, const MXExtAttrs* options, int32_t* ids,
                MXExtMessage* message);
  int (*review)(void* self, const MXExtGraph* part, int32_t number, const MXExtAttrs* options,
                int32_t* accepted, const MXExtReview* review, MXExtMessage* message);
} MXExtStrategy;

typedef struct {
  const char* name;
  const MXExtStrategy* strategies; /* applied in order */
  int32_t num_strategies;
} MXExtPartitioner;

typedef struct {
  const MXExtOp* ops;
  const MXExtPass* passes;
  const MXExtPartitioner* partitioners;
  int32_t num_ops;
  int32_t num_passes;
  int32_t num_partitioners;
} MXExtLibrary;

/* What the host offers at any time. `context` is the callee's own. */
typedef struct {
  int32_t mxnet_version; /* 10901: the level of the C ABI */
  /* Symbol files, in both directions; `take` is called once. */
  int (*read_graph)(const char* json, void (*take)(void* context, const MXExtGraph* graph),
                    void* context, MXExtMessage* message);
  int (*write_graph)(const MXExtGraph* graph, void (*take)(void* context, const char* json),
                     void* context, MXExtMessage* message);
} MXExtHost;

/* What an extension exports, by these names. */
typedef int (*MXExtVersionFunc)(void);
typedef int (*MXExtOpenFunc)(const MXExtHost* host, const MXExtLibrary** library,
                             MXExtMessage* message);

#ifdef __cplusplus
}
#endif

#endif /* MXNET_EXT_ABI_H_ */
