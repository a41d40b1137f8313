// SPDX-License-Identifier: Apache-2.0
#include <contracts/lifecycle/keys.hpp>

#include <algorithm>

#include <contracts/state/slots.hpp>

namespace assay::contracts {

bool owes_keys(const Task& task) noexcept { return task.secrecy && !task.secrecy->awaited.empty(); }

Height await_keys(Context& context, Task& task, std::span<const AccountId> drawn, std::uint64_t blocks) {
    if (!task.secrecy) {
        return context.height_after(blocks);
    }
    const auto& shared = task.secrecy->shared;
    auto& awaited = task.secrecy->awaited;
    const auto is_known = [&](const AccountId& account) {
        return std::any_of(
                   shared.begin(), shared.end(), [&](const auto& each) { return each.reader.account == account; }
               ) ||
               std::any_of(awaited.begin(), awaited.end(), [&](const auto& each) { return each.account == account; });
    };
    for (const AccountId& account : drawn) {
        if (!is_known(account)) {
            // PRV-3: it stays so, whatever operators are named while a share is under way.
            awaited.push_back({account, find_operator(context.state, account).value_or(account)});
        }
    }
    std::sort(awaited.begin(), awaited.end(), [](const Reader& a, const Reader& b) { return a.account < b.account; });
    return context.height_after(awaited.empty() ? blocks : context.params.share_blocks);
}

void note_reader(Task& task, const AccountId& account) {
    if (task.secrecy) {
        std::erase_if(task.secrecy->awaited, [&](const Reader& each) { return each.account == account; });
    }
}

}  // namespace assay::contracts
