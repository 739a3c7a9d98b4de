// SPDX-License-Identifier: Apache-2.0
// The simulator across fork: parent and child both go on, each with a copy of the devices' memory.
// (A real driver gives the child nothing; the simulator can do better, and data loaders do fork.)
#pragma once

namespace mxnet {

class SimDeviceApi;

// From construction to destruction of an api: its locks are taken before a fork and given back
// after it, so that none is left locked in the child by a thread that is not there.
void watch_forks(SimDeviceApi& api);
void unwatch_forks(SimDeviceApi& api) noexcept;

}  // namespace mxnet
