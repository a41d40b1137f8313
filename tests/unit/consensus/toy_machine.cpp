// SPDX-License-Identifier: Apache-2.0
#include <tests/unit/consensus/toy_machine.hpp>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include <unistd.h>

#include <core/base/assert.hpp>
#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>
#include <contracts/state/tx_error.hpp>

namespace assay::solo::test {

consensus::Info ToyMachine::info() const {
    const std::lock_guard lock(mutex_);
    return {.height = committed_.height, .app_hash = committed_.app_hash};
}

Hash256 ToyMachine::init(const contracts::Genesis&) { return info().app_hash; }

consensus::CheckResult ToyMachine::check(ByteView tx, const Hash256& /*hash*/, consensus::CheckKind kind) const {
    consensus::CheckResult out;
    if (tx.size() != 4 || tx[2] == 1 || (tx[2] == 2 && kind == consensus::CheckKind::kRecheck)) {
        out.code = static_cast<std::uint8_t>(contracts::TxError::kUndecodable);
        return out;
    }
    out.sender = toy_sender(tx[0]);
    if (tx[2] == 4) {
        out.gas = kTxGas;
        if (!is_owed(tx[1])) {
            out.code = static_cast<std::uint8_t>(contracts::TxError::kNotOwed);
        } else {
            out.duty = contracts::Duty{out.sender, {}, tx[1], {}};
        }
        return out;
    }
    out.nonce = tx[1];
    out.state_nonce = nonce_of(tx[0]);
    out.gas = kTxGas;
    out.fee = Amount{has_prices ? tx[3] * kTxGas : 0};
    out.reserve = out.fee;
    out.balance = Amount{balance};
    if (has_prices && tx[2] == 3 && kind == consensus::CheckKind::kRecheck) {
        out.code = static_cast<std::uint8_t>(contracts::TxError::kFeeTooLow);
    }
    if (out.nonce < out.state_nonce) {
        out.code = static_cast<std::uint8_t>(contracts::TxError::kNonceTooLow);
    }
    return out;
}

std::vector<Bytes> ToyMachine::prepare(std::vector<Bytes> candidates, std::uint64_t) const { return candidates; }

Result<void, consensus::ProposalError> ToyMachine::process(const consensus::FinalizeRequest& proposal) const {
    if (proposal.txs.size() > txs_max) {
        return Unexpected{consensus::ProposalError::kTooMuchGas};
    }
    return {};
}

consensus::FinalizeResult ToyMachine::finalize(const consensus::FinalizeRequest& block) {
    const std::lock_guard lock(mutex_);
    ASSERT(block.height.value == committed_.height.value + 1);
    State next = committed_;
    next.height = block.height;
    crypto::Sha256 hash;
    hash.update(committed_.app_hash.view()).update(block.block_hash.view()).update(block.proposer.view());
    hash.update(codec::encode(block.time_ms));
    consensus::FinalizeResult result;
    for (const Bytes& tx : block.txs) {
        hash.update(tx);
        ++next.nonces[tx.at(0)];
        result.receipts.push_back(
            {.tx = contracts::tx_hash(tx), .code = 0, .action = "", .sender = {}, .task = {}, .gas = kTxGas}
        );
    }
    next.app_hash = hash.finish();
    result.app_hash = next.app_hash;
    pending_ = std::move(next);
    return result;
}

void ToyMachine::commit() {
    const std::lock_guard lock(mutex_);
    ASSERT(pending_.has_value());
    committed_ = *std::move(pending_);
    pending_.reset();
}

consensus::QueryResult ToyMachine::query(const consensus::QueryRequest&) const { throw std::logic_error("no queries"); }

ToyMachine::State ToyMachine::durable() const {
    const std::lock_guard lock(mutex_);
    return committed_;
}

void ToyMachine::restore(const State& state) {
    const std::lock_guard lock(mutex_);
    committed_ = state;
    pending_.reset();
}

std::uint64_t ToyMachine::nonce_of(std::uint8_t sender) const {
    const std::lock_guard lock(mutex_);
    const auto it = committed_.nonces.find(sender);
    return it == committed_.nonces.end() ? 0 : it->second;
}

Bytes toy_tx(std::uint8_t sender, std::uint8_t nonce, std::uint8_t flag, std::uint8_t salt) {
    return {sender, nonce, flag, salt};
}

AccountId toy_sender(std::uint8_t sender) {
    AccountId out;
    out.data[0] = sender;
    return out;
}

crypto::SecretKey toy_key(std::uint8_t seed) {
    Bytes bytes(32, 0);
    bytes.back() = seed;
    return *crypto::SecretKey::from_bytes(bytes);
}

TemporaryDirectory::TemporaryDirectory(bool on_disk) {
    const std::filesystem::path memory = "/dev/shm";
    const bool use_memory = !on_disk && ::access(memory.c_str(), W_OK) == 0;
    const auto parent = use_memory ? memory : std::filesystem::temp_directory_path();
    std::string name = (parent / "assay-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
        throw std::runtime_error("no temporary directory");
    }
    path_ = name;
}

TemporaryDirectory::~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

Bytes read_file(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return Bytes(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
}

void write_file(const std::filesystem::path& file, ByteView bytes) {
    std::ofstream out(file, std::ios::binary | std::ios::trunc);
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace assay::solo::test
