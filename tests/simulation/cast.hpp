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
/// Whether there are solvers enough for groups that compute each step together.
bool has_company(const std::vector<Kind>& kinds);
/// The tasks of the network's submitter.
std::vector<Order> plan_orders(Events& events, bool in_tolerance, const std::vector<Kind>& kinds);

}  // namespace assay::simulation
