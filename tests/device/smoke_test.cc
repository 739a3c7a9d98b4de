#include <gtest/gtest.h>
#include "device/stream.h"
TEST(Seed, Compiles) { SUCCEED(); }
