// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/common/outbox.hpp>

#include <chrono>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

#include <core/codec/borsh.hpp>
#include <tools/cli/common/session.hpp>

namespace assay::cli {
namespace {

constexpr const char* kSuffix = ".tx";

contracts::Tx decoded(const client::SignedTx& tx) { return *codec::decode<contracts::Tx>(tx.bytes); }

}  // namespace

std::filesystem::path Outbox::file(const client::SignedTx& tx) const {
    return directory_ / (to_hex(tx.hash.view()) + kSuffix);
}

std::vector<client::SignedTx> Outbox::list() const {
    std::vector<client::SignedTx> out;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(directory_, none)) {
        if (entry.path().extension() != kSuffix) {
            continue;
        }
        std::ifstream in(entry.path(), std::ios::binary);
        const auto bytes = from_hex(std::string(std::istreambuf_iterator<char>(in), {}));
        const auto tx = codec::decode<contracts::Tx>(bytes ? *bytes : Bytes{});  // nothing does not decode
        if (!tx) {
            throw Failure(
                kExitConfig, "unsettled",
                entry.path().string() + " is not a transaction in hex. Delete the file and give the command again"
            );
        }
        out.push_back(
            {.sender = tx->body.sender,
             .nonce = tx->body.nonce,
             .fee = tx->body.fee,
             .bytes = *bytes,
             .hash = contracts::tx_hash(*bytes)}
        );
    }
    return out;
}

std::optional<client::SignedTx> Outbox::find(
    const AccountId& sender, const std::optional<AccountId>& owner, const contracts::Action& action
) const {
    for (client::SignedTx& tx : list()) {
        const contracts::TxBody body = decoded(tx).body;
        if (tx.sender == sender && body.owner == owner && codec::encode(body.action) == codec::encode(action)) {
            return std::move(tx);
        }
    }
    return std::nullopt;
}

void Outbox::keep(const client::SignedTx& tx) const {
    std::error_code error;
    std::filesystem::create_directories(directory_, error);
    std::ofstream out(file(tx), std::ios::trunc | std::ios::binary);
    out << to_hex(tx.bytes);
    out.close();
    if (!out) {
        throw Failure(kExitFailure, "cannot_write", "cannot write " + file(tx).string() + "; nothing was sent");
    }
}

void Outbox::settle(const client::SignedTx& tx) const {
    std::error_code none;
    std::filesystem::remove(file(tx), none);
}

void Outbox::forget_old(const AccountId& sender, std::uint64_t nonce) const {
    constexpr std::chrono::hours kAge{1};
    const auto now = std::filesystem::file_time_type::clock::now();
    for (const client::SignedTx& tx : list()) {
        std::error_code gone;
        const auto made = std::filesystem::last_write_time(file(tx), gone);
        if (tx.sender == sender && tx.nonce < nonce && !gone && now - made > kAge) {
            settle(tx);
        }
    }
}

}  // namespace assay::cli
