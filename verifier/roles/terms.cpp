// SPDX-License-Identifier: Apache-2.0
#include <verifier/roles/terms.hpp>

#include <algorithm>

#include <contracts/params/work.hpp>

namespace assay::roles {

contracts::Terms terms_for(const contracts::Params& params, contracts::Role role, const OwnerView& owner) {
    contracts::Terms out{.hardware_class = owner.hardware_class};
    if (role != contracts::Role::kVerifier) {
        out.offers = contracts::fingerprints(owner.environment);
        return out;
    }
    out.price = std::min(owner.least_price, params.work_price * contracts::kMostAsked);
    out.memory = owner.is_closed ? 1 : owner.memory;
    return out;
}

}  // namespace assay::roles
