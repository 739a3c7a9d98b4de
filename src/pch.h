// SPDX-License-Identifier: Apache-2.0
// Precompiled once for every folder: headers that most files need. Nothing of the project, so that
// it never goes stale. Files include what they use all the same: the analysis by clang in
// scripts/test goes without this header.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>
