// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>

#include <consensus/solo/block_log.hpp>
#include <core/base/integers.hpp>
#include <node/daemon/application.hpp>

namespace assay::node {

/// Makes `application` ready for the blocks of `log`: where a pruned log (ADR 106) begins with a later block than the
/// state is of, restores the snapshot in the directory `base`, and in any case erases what the database has of blocks
/// that the log has no more. Returns the height of the snapshot if one was restored. The snapshot is verified against
/// the app hash in the log. Throws solo::HandshakeError if it is missing, damaged or of another height than the log
/// has.
std::optional<Height> begin_at_base(
    Application& application, const solo::BlockLog& log, const std::filesystem::path& base
);

}  // namespace assay::node
