// SPDX-License-Identifier: Apache-2.0
#include <tests/model/mirror_team.hpp>

#include <algorithm>

namespace assay::model {

Team team_of(const contracts::Task& record) {
    const contracts::Group& group = record.group.value();
    const auto account = [&](std::uint8_t number) {
        return number == 0 ? record.solver.value() : group.partners.at(number - 1U).account;
    };
    Team out;
    for (const contracts::Partner& partner : group.partners) {
        out.bonds[partner.account] = partner.bond.grains;
    }
    const auto accounts = [&](const auto& numbers) {
        std::vector<AccountId> all(numbers.size());
        std::transform(numbers.begin(), numbers.end(), all.begin(), account);
        return all;
    };
    if (!group.is_together) {
        out.seats = accounts(group.seats);
    }
    const std::uint64_t segments = (record.spec.steps - 1) / record.spec.checkpoint_interval + 1;
    for (std::uint64_t segment = 1; group.is_together && segment <= segments; ++segment) {
        const auto before = std::find_if(group.earlier.begin(), group.earlier.end(), [&](const auto& each) {
            return segment < each.until;
        });
        auto& row = out.rows.emplace_back();
        for (const std::uint8_t number : before == group.earlier.end() ? group.seats : before->seats) {
            row.push_back(number == 0xFF ? std::nullopt : std::optional(account(number)));
        }
    }
    out.latest = group.earlier.empty() ? 0 : group.earlier.back().until;
    for (const std::uint8_t number : group.demanded) {
        ++out.demands[account(number)];
    }
    out.posted_by = accounts(group.posters);
    const std::vector<AccountId> convicted = accounts(group.convicted);
    out.convicted = {convicted.begin(), convicted.end()};
    out.culprits = accounts(group.culprits);
    out.last = group.counted;
    out.together = group.is_together;
    return out;
}

Motion motion_of(const contracts::Proposal& record) {
    return {
        record.proposer,         record.kind,       record.changes,         record.height.value,
        record.protocol_version, record.ends.value, record.effective.value, {record.votes.begin(), record.votes.end()}};
}

std::string name_of(const AccountId& account) { return to_hex(account.view()).substr(0, 8); }

std::optional<Kept> kept_of(const contracts::Task& record) {
    if (!record.keeping) {
        return std::nullopt;
    }
    return Kept{
        .begun = record.keeping->begun_at.value,
        .shown = record.keeping->shows,
        .waits = record.keeping->is_waiting,
        .seed = record.keeping->seed};
}

std::optional<Secret> secret_of(const contracts::Task& record) {
    if (!record.secrecy) {
        return std::nullopt;
    }
    Secret out{.key = record.secrecy->key, .awaited = {}, .shared = record.secrecy->shared};
    for (const contracts::Reader& reader : record.secrecy->awaited) {
        out.awaited[reader.account] = reader.key;
    }
    return out;
}

void read_checkpoint(Task& task, const Bytes& key, const contracts::Checkpoint& record) {
    std::uint32_t index = 0;
    for (std::size_t i = 33; i < 37; ++i) {
        index = (index << 8U) | key[i];
    }
    const std::size_t size = std::max<std::size_t>(task.checkpoints.size(), index + 1);
    task.checkpoints.resize(size);
    task.sealed.resize(size);
    task.checkpoints[index] = record.state_root;
    task.sealed[index] = record.sealed;
}

}  // namespace assay::model
