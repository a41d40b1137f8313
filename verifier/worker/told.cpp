// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/told.hpp>

#include <system_error>

namespace assay::worker {
namespace {

constexpr std::uint64_t kBytesMax = std::uint64_t{16} << 30U;  // of one task

}  // namespace

std::filesystem::path ToldByTask::directory_of(const contracts::TaskId& task) const {
    return directory_ / to_hex(task.view());
}

std::shared_ptr<group::Ledger> ToldByTask::of(const contracts::TaskId& task) {
    const std::scoped_lock lock(mutex_);
    std::shared_ptr<group::Ledger>& out = ledgers_[task];
    if (out == nullptr) {
        out = std::make_shared<group::Ledger>(directory_of(task), kBytesMax);
    }
    return out;
}

std::shared_ptr<group::Findings> ToldByTask::findings(const contracts::TaskId& task) {
    const std::scoped_lock lock(mutex_);
    std::shared_ptr<group::Findings>& out = findings_[task];
    if (out == nullptr) {
        out = std::make_shared<group::Findings>(directory_of(task));
    }
    return out;
}

void ToldByTask::forget(const contracts::TaskId& task) {
    const std::scoped_lock lock(mutex_);
    ledgers_.erase(task);
    findings_.erase(task);
    std::error_code ignored;  // what cannot be removed takes room, and harms nobody
    std::filesystem::remove_all(directory_of(task), ignored);
}

}  // namespace assay::worker
