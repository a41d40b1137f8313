// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <core/base/bytes.hpp>

#include <consensus/cometbft/abci.pb.h>

namespace assay::cometbft::test {

/// One of an engine's connections: says what a test scripts, in any order, and reads what comes back.
class FakeConnection {
  public:
    /// `address` as Server::address() gives it. Throws std::runtime_error.
    explicit FakeConnection(const std::string& address);
    ~FakeConnection();
    FakeConnection(FakeConnection&&) noexcept;

    void send(const abci::Request& request);
    void send_raw(const std::string& bytes);
    /// The next answer. Throws std::runtime_error when the connection ends or nothing comes in ten seconds.
    abci::Response receive();
    abci::Response ask(const abci::Request& request) {
        send(request);
        return receive();
    }
    /// Whether the server has closed it; waits up to ten seconds.
    bool is_closed();

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

abci::Request info_request();
abci::Request flush_request();
abci::Request echo_request(const std::string& text);
abci::Request init_request(const std::string& chain_id);
abci::Request check_request(const Bytes& tx, bool again = false);
abci::Request prepare_request(const std::vector<Bytes>& txs, std::int64_t max_bytes);
/// Time, hash and proposer of a block follow from its height.
abci::Request process_request(std::int64_t height, const std::vector<Bytes>& txs);
abci::Request finalize_request(std::int64_t height, const std::vector<Bytes>& txs);
abci::Request commit_request();

}  // namespace assay::cometbft::test
