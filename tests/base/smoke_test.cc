#include <gtest/gtest.h>
#include "base/config.h"
#include "base/error.h"
TEST(Seed, Defaults) { EXPECT_EQ(mxnet::config().engine.gpu_copy_nthreads, 2); EXPECT_THROW(MX_ASSERT(1 == 2), mxnet::Error); }
