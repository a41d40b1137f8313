// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <client/http/http.hpp>

namespace assay::http {

/// A server cannot listen where it was told to: another program has the port, or this machine has no such address.
/// It is nobody else's fault, unlike other NetErrors.
class ListenError : public NetError {
  public:
    ListenError(const std::string& place, const std::string& why)
        : NetError("cannot listen on " + place + ": " + why), place_(place) {}

    /// ADDRESS:PORT, or the file of a Unix socket.
    const std::string& place() const { return place_; }

  private:
    std::string place_;
};

}  // namespace assay::http
