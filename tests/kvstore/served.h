// SPDX-License-Identifier: Apache-2.0
// A worker's call as its server sees it, without a network between them.
#pragma once
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstring>
#include <exception>
#include <memory>

#include "base/error.h"
#include "kvstore/process_group.h"

namespace mxnet::testing_kvstore {

// The answer, on whatever thread, ends the worker's call; it may come once.
inline kvstore::ServedCall served_as(const kvstore::ServerCall& call, int worker) {
  kvstore::ServedCall served;
  served.worker = worker;
  served.head = call.head;
  served.body = kvstore::ArrivedBytes(
      {static_cast<const char*>(call.body), static_cast<std::size_t>(call.bytes)});
  served.answer = [room = call.room, done = call.done,
                   said = std::make_shared<std::atomic<int>>(0)](kvstore::Answer answer) {
    ASSERT_EQ((*said)++, 0) << "a call was answered twice";
    if (!answer.error.empty())
      return done(std::make_exception_ptr(Error(answer.code, "kvstore", answer.error)));
    void* to = room(answer.bytes);
    if (answer.bytes > 0) std::memcpy(to, answer.data, static_cast<std::size_t>(answer.bytes));
    answer.keep.reset();
    answer.under_way.reset();
    done(nullptr);
  };
  return served;
}

}  // namespace mxnet::testing_kvstore
