#include <gtest/gtest.h>
#include "engine/engine.h"
TEST(Seed, Compiles) { SUCCEED(); }
