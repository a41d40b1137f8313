// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/crypto/discrete_log.hpp>
#include <core/crypto/ecies.hpp>
#include <core/sealed/task_key.hpp>

/// Shares of a task's key: the secret sealed for one reader (SEA-20 to SEA-22).
namespace assay::sealed {

/// What a share is for. Nobody can pass it on as another one (SEA-23).
struct ShareName {
    std::string chain_id;
    Hash256 task;
    AccountId to;
    bool is_of_checkpoints = false;  ///< which of the task's two keys
    static constexpr auto fields() {
        return Fields<&ShareName::chain_id, &ShareName::task, &ShareName::to, &ShareName::is_of_checkpoints>{};
    }
};

/// SEA-20: a share is the 32 bytes of the task's secret, sealed for the reader's account by ECIES, and a signature by
/// the ephemeral key.
inline constexpr std::size_t kShareBytes = crypto::kEciesOverhead + 32 + 64;

/// SEA-20, SEA-23: nullopt if the account is not the x coordinate of a point, or the entropy's secret is out of range.
std::optional<Bytes> make_share(
    const TaskSecret& secret, const AccountId& reader, const ShareName& name, const crypto::EciesEntropy& entropy
);
/// SEA-23: what the ephemeral key signs: "assay/share" over the name and the sealed message.
Hash256 share_digest(const ShareName& name, ByteView message);
/// SEA-23: whether it has the size of a share, begins with a point, and was made for this name by whoever knows the
/// logarithm of that point. What is inside nobody else can see.
bool is_share_for(const ShareName& name, ByteView share);
/// The task's secret, if the share is for this reader and holds the secret of `key`; nullopt otherwise.
std::optional<TaskSecret> open_share(const crypto::SecretKey& reader, const TaskKey& key, ByteView share) noexcept;

/// SEA-21: what a reader reveals about a share that holds another secret: the shared point, and a proof that it is its
/// key times the ephemeral point. It opens this share only.
struct WrongShare {
    crypto::CurvePoint point;
    crypto::DlogProof proof;
    bool operator==(const WrongShare&) const = default;
    static constexpr auto fields() { return Fields<&WrongShare::point, &WrongShare::proof>{}; }
};
/// The evidence about a share, which proves nothing if the share is right. `aux` is 32 fresh random bytes. nullopt if
/// the share does not begin with a point: then judge_share() needs none.
std::optional<WrongShare> make_wrong_share(
    const crypto::SecretKey& reader, ByteView share, const std::array<std::uint8_t, 32>& aux
) noexcept;

struct ShareContext {
    TaskKey key;
    AccountId reader;  ///< whom the share is for, who alone can report it: the proof is bound to this account
};
enum class [[nodiscard]] ShareJudgement : std::uint8_t{
    kWrong = 1,      ///< SEA-22: whoever made the share is at fault
    kRight = 2,      ///< the share holds the task's secret
    kNotProven = 3,  ///< the point is missing, or is not shown to be the reader's key times the ephemeral point
    kNoReader = 4,   ///< the reader's account is no public key, so that nobody can seal for it
};
/// SEA-22: judges a share of any bytes. A share that has not kShareBytes bytes, or does not begin with a point, is
/// wrong whatever the evidence. Total on any input.
ShareJudgement judge_share(
    const ShareContext& context, ByteView share, const std::optional<WrongShare>& evidence
) noexcept;

}  // namespace assay::sealed
