// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <core/crypto/keys.hpp>
#include <tests/simulation/worker.hpp>

/// Who takes part in a simulated network, and under which parameters.
namespace assay::simulation {

contracts::Params make_params(Events& events, bool in_tolerance);
crypto::SecretKey key_of(int number);
std::vector<Kind> choose_kinds(Events& events, bool in_tolerance);

}  // namespace assay::simulation
