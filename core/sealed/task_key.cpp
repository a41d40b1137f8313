// SPDX-License-Identifier: Apache-2.0
#include <core/sealed/task_key.hpp>

#include <algorithm>

namespace assay::sealed {

bool is_well_formed(const TaskKey& key) noexcept { return crypto::lift_x(key.view()).has_value(); }

Result<TaskSecret, crypto::KeyError> TaskSecret::from_bytes(ByteView bytes32) noexcept {
    TRY_ASSIGN(const crypto::SecretKey secret, crypto::SecretKey::from_bytes(bytes32));
    return TaskSecret(secret);
}

TaskKey TaskSecret::key() const noexcept {
    const crypto::CurvePoint point = crypto::public_point(secret_);
    TaskKey out;
    std::copy_n(point.data.begin() + 1, out.data.size(), out.data.begin());
    return out;
}

}  // namespace assay::sealed
