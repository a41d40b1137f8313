// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

/// Parts of a task.toml that is as small as they come.
namespace assay::cli_test {

inline const std::string kTaskHead = R"(title = "tiny"
steps = 20
checkpoint_interval = 10
reward = "20 ASY"
verification_fee = "500 grains"
training_blocks = 100
)";
inline const std::string kCharModel = R"([model]
kind = "char"
context = 4
embedding = 32
hidden = 8
batch_size = 2
)";
inline const std::string kAdam = R"([optimizer]
kind = "adam"
)";
inline const std::string kTextData = R"([data]
text = "text.txt"
)";
inline const std::string kTinyTask = kTaskHead + kCharModel + kAdam + kTextData;

}  // namespace assay::cli_test
