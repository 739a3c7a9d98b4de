#include <gtest/gtest.h>
#include "storage/storage.h"
TEST(Seed, Compiles) { SUCCEED(); }
