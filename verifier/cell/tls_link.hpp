// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <utility>

#include <boost/asio.hpp>

#include <core/base/bytes.hpp>
#include <verifier/cell/greeted.hpp>

namespace assay::cell {

/// A connection to another rank. Only the thread of the links touches it.
struct TlsLink {
    /// What is written at once: a message with its header, or a part of one.
    struct Outgoing {
        Bytes head;
        std::shared_ptr<const Bytes> rest{};  ///< nullptr: nothing
    };
    explicit TlsLink(TlsStream connected) : stream(std::move(connected)), is_wanted(stream.get_executor()) {}

    TlsStream stream;
    std::deque<Outgoing> outbox;
    bool is_writing = false;
    boost::asio::steady_timer is_wanted;  ///< ends once more may be read
};

}  // namespace assay::cell
