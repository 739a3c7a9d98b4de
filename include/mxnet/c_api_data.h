/* SPDX-License-Identifier: Apache-2.0
 * The part of the C ABI that reads and writes data sets: RecordIO files and data iterators. It
 * belongs to mxnet/c_api.h, which states the conventions and includes it. */
#ifndef MXNET_C_API_DATA_H_
#define MXNET_C_API_DATA_H_

#include "mxnet/c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- RecordIO files (docs/recordio.md) -------------------------------------------------------- */

/* A reader or a writer; threads use one in turns. Any number of readers may read one file. */
typedef void* RecordIOHandle;

/* Makes the file, or empties it. */
MXNET_DLL int MXRecordIOWriterCreate(const char* uri, RecordIOHandle* out);
/* Writes what is buffered first; when that fails the writer is still open. */
MXNET_DLL int MXRecordIOWriterFree(RecordIOHandle handle);
MXNET_DLL int MXRecordIOWriterWriteRecord(RecordIOHandle handle, const char* buf, size_t size);
/* Where the next record will start. */
MXNET_DLL int MXRecordIOWriterTell(RecordIOHandle handle, size_t* pos);

MXNET_DLL int MXRecordIOReaderCreate(const char* uri, RecordIOHandle* out);
MXNET_DLL int MXRecordIOReaderFree(RecordIOHandle handle);
/* Null and 0 at the end of the file; the bytes are good until this thread reads the next record. */
MXNET_DLL int MXRecordIOReaderReadRecord(RecordIOHandle handle, const char** buf, size_t* size);
/* Positions are those that a writer's or a reader's tell gave. */
MXNET_DLL int MXRecordIOReaderSeek(RecordIOHandle handle, size_t pos);
MXNET_DLL int MXRecordIOReaderTell(RecordIOHandle handle, size_t* pos);

/* --- Data iterators --------------------------------------------------------------------------- */

/* A kind of iterator; lives as long as the process. */
typedef void* DataIterCreator;
/* An iterator; threads use one in turns, and only those of the process that made it. */
typedef void* DataIterHandle;

MXNET_DLL int MXListDataIters(uint32_t* out_size, DataIterCreator** out_array);
/* What comes out lives as long as the process. */
MXNET_DLL int MXDataIterGetIterInfo(DataIterCreator creator, const char** name,
                                    const char** description, uint32_t* num_args,
                                    const char*** arg_names, const char*** arg_type_infos,
                                    const char*** arg_descriptions);
MXNET_DLL int MXDataIterCreateIter(DataIterCreator handle, uint32_t num_param, const char** keys,
                                   const char** vals, DataIterHandle* out);
MXNET_DLL int MXDataIterFree(DataIterHandle handle);
/* Starts the next epoch, or this one anew if its end has not been reached. */
MXNET_DLL int MXDataIterBeforeFirst(DataIterHandle handle);
/* Moves to the next batch; *out is 0 at the end of the epoch. */
MXNET_DLL int MXDataIterNext(DataIterHandle handle, int* out);
/* Of the batch that MXDataIterNext moved to. The arrays are new handles, which the caller frees;
 * they keep their values when the iterator moves on. */
MXNET_DLL int MXDataIterGetData(DataIterHandle handle, NDArrayHandle* out);
MXNET_DLL int MXDataIterGetLabel(DataIterHandle handle, NDArrayHandle* out);
/* How many samples at the end only fill the batch up. */
MXNET_DLL int MXDataIterGetPadNum(DataIterHandle handle, int* pad);
/* The samples' numbers in their source; good until the next call on this thread. */
MXNET_DLL int MXDataIterGetIndex(DataIterHandle handle, uint64_t** out_index, uint64_t* out_size);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* MXNET_C_API_DATA_H_ */
