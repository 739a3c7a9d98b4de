// SPDX-License-Identifier: Apache-2.0
// What the generated signatures.cc knows of the reference's ABI.
#pragma once
#include <string>
#include <vector>

extern const std::vector<std::string> kReferenceFunctions;  // all but MXTVMBridge, of no known type
extern const std::vector<std::string> kReferenceFeatures;   // all, in their order
