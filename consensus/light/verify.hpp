// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <core/base/result.hpp>
#include <consensus/light/light_block.hpp>

/// CometBFT's light client verification: decides which headers can be trusted, given one trusted header (LGT rules).
namespace assay::light {

enum class [[nodiscard]] LightError : std::uint8_t{
    kChain = 1,       ///< LGT-1: the header is of another chain
    kValidators = 2,  ///< LGT-1: the validator set does not match the header's validators_hash, or is empty
    kCommit = 3,      ///< LGT-1: the commit is for another block, or does not list the validators
    kSignature = 4,   ///< LGT-2 or LGT-4: a signature is not valid
    kPower = 5,       ///< LGT-2: the signers do not have more than two thirds of the voting power
    kOrder = 6,       ///< LGT-3: not later than the trusted header in height and time, or not of the requested height
    kNextValidators = 7,  ///< LGT-3: the validators are not the next validators of the trusted header
    kTrust = 8,  ///< LGT-4: the trusted validators who signed do not have more than a third of the trusted voting power
    kExpired = 9,  ///< LGT-5: the trusted header is older than the trusting period
    kFuture = 10,  ///< LGT-5: the header's time is in the future by more than the allowed clock drift
    kLink = 11,    ///< LGT-7: the block is not the one that the next header's last_block_id names
};
const char* to_string(LightError error) noexcept;

/// A block whose header hash is known to be right: given by the user, or verified before.
struct Trusted {
    LightBlock block;
};

struct Policy {
    std::string chain_id;
    std::int64_t trusting_seconds =
        std::int64_t{168} * 3'600;  ///< the trusting period: validators can be punished for at least this long
    std::int64_t clock_drift_seconds = 10;
    std::int64_t now_seconds = 0;  ///< Unix time
};

/// Checks that header, validators and commit match (LGT-1) and that more than two thirds of the voting power signed
/// (LGT-2). Returns the first error found.
Result<void, LightError> check_block(const LightBlock& block, const std::string& chain_id) noexcept;

/// Verifies `next` against the trusted block: by LGT-3 if it is the next block, by LGT-4 if it is a later one; also
/// LGT-5 and check_block(). Returns the first error found; kTrust means that a block between the two must be verified
/// first.
Result<void, LightError> verify_next(const Trusted& trusted, const LightBlock& next, const Policy& policy) noexcept;

/// Returns a block of the chain from an untrusted source. Throws whatever its transport throws.
using Source = std::function<LightBlock(std::uint64_t height)>;

struct Failure {
    LightError error = LightError::kChain;
    std::uint64_t height = 0;  ///< of the block that failed to verify
};

/// Returns the verified block of `height`, or which block failed and why. Throws what `source` throws. A later block is
/// verified by bisection, with only as many blocks between as changes of the validator set require (LGT-6). An earlier
/// block is verified backwards by header hashes: `source` is asked for every block between, and only the header of the
/// returned block is verified, not its commit (LGT-7).
Result<LightBlock, Failure> verify_height(
    const Trusted& trusted, std::uint64_t height, const Source& source, const Policy& policy
);

}  // namespace assay::light
