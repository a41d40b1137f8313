// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <core/base/bytes.hpp>

namespace assay::rpc {

/// The secret that callers of a node must send (RFC 6750). Keeps its hash only.
class AccessToken {
  public:
    explicit AccessToken(std::string_view token);
    /// Returns true if the Authorization field is "Bearer " and the token. Takes as long for every other token of the
    /// same length, so an answer's time does not give the token away.
    bool admits(std::string_view authorization) const;

  private:
    Hash256 hash_;
};

}  // namespace assay::rpc
