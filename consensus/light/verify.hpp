// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <core/base/result.hpp>
#include <consensus/light/light_block.hpp>

/// CometBFT's light client verification: which headers follow from a header that is trusted (LGT rules).
namespace assay::light {

enum class [[nodiscard]] LightError : std::uint8_t {
    kChain = 1,        ///< LGT-1: of another chain
    kValidators = 2,   ///< LGT-1: the validators are not those of the header
    kCommit = 3,       ///< LGT-1: the commit is of another block, or does not list the validators
    kSignature = 4,    ///< LGT-2: a signature does not verify
    kPower = 5,        ///< LGT-2: those who signed do not have more than two thirds of the power
    kOrder = 6,        ///< LGT-3: not later than the trusted header, in height and time
    kNextValidators = 7, ///< LGT-3: the next header's validators are not those that the trusted one names
    kTrust = 8,        ///< LGT-4: those of the trusted validators who signed do not have more than a third of the power
    kExpired = 9,      ///< LGT-5: the trusted header is too old to trust its validators
    kFuture = 10,      ///< LGT-5: the header is from the future
    kLink = 11,        ///< LGT-7: not the block that the one after it names
};
const char* to_string(LightError error) noexcept;

/// A block whose header hash is known to be right: given by the user, or verified before.
struct Trusted {
    LightBlock block;
};

struct Policy {
    std::string chain_id;
    std::int64_t trusting_seconds = 168 * 3'600;  ///< how long validators can still be held to account
    std::int64_t clock_drift_seconds = 10;
    std::int64_t now_seconds = 0;  ///< Unix time
};

/// LGT-1, LGT-2: header, validators and commit belong together, and more than two thirds of the power signed.
Result<void, LightError> check_block(const LightBlock& block, const std::string& chain_id) noexcept;

/// LGT-3 for the block after the trusted one, LGT-4 for a later one. kTrust means that a block between is needed.
Result<void, LightError> verify_next(const Trusted& trusted, const LightBlock& next, const Policy& policy) noexcept;

/// Gets a block of the chain from whom nobody trusts; throws what its transport throws.
using Source = std::function<LightBlock(std::uint64_t height)>;

struct Failure {
    LightError error = LightError::kChain;
    std::uint64_t height = 0;  ///< of the block that does not verify
};

/// LGT-6: verifies block `height` from the trusted one on, by as few blocks between as the changes of validators need.
/// LGT-7: an earlier block is verified by the hashes between, so the source is asked for each of them; only the header of
/// what is returned is verified then, not its commit.
Result<LightBlock, Failure> verify_height(
    const Trusted& trusted, std::uint64_t height, const Source& source, const Policy& policy
);

}  // namespace assay::light
