// SPDX-License-Identifier: Apache-2.0
#include <contracts/lifecycle/keys.hpp>

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>

#include <contracts/state/slots.hpp>

namespace assay::contracts {

AccountId reader_of(const StateView& view, const AccountId& account) {
    return find_operator(view, account).value_or(account);
}

bool owes_keys(const Task& task) noexcept { return task.secrecy && !task.secrecy->awaited.empty(); }

Height await_keys(Context& context, Task& task, std::span<const AccountId> readers, std::uint64_t blocks) {
    if (!task.secrecy) {
        return context.height_after(blocks);
    }
    const auto can_read = [&](const AccountId& account) {
        const AccountId reader = reader_of(context.state, account);
        const auto& shared = task.secrecy->shared;
        return std::any_of(shared.begin(), shared.end(), [&](const SharedKeys& each) {
            return each.to == account && each.reader == reader;
        });
    };
    std::set<AccountId> awaited(task.secrecy->awaited.begin(), task.secrecy->awaited.end());
    std::copy_if(readers.begin(), readers.end(), std::inserter(awaited, awaited.end()), std::not_fn(can_read));
    task.secrecy->awaited.assign(awaited.begin(), awaited.end());
    return context.height_after(awaited.empty() ? blocks : context.params.share_blocks);
}

void note_reader(Task& task, const AccountId& account) {
    if (task.secrecy) {
        std::erase(task.secrecy->awaited, account);
    }
}

Height renew_keys(Context& context, Task& task) {
    task.secrecy = Secrecy{};
    return context.height_after(context.params.share_blocks);
}

}  // namespace assay::contracts
