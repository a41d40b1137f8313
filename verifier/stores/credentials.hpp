// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace assay::stores {

/// What requests to an S3 service are signed with. Never printed, and never part of a location.
struct Credentials {
    std::string key_id;
    std::string secret;
    std::string session_token{};
};

/// Those of one profile of a file in the format of ~/.aws/credentials; nullopt if the file or the profile does not
/// exist. Throws std::runtime_error with the file's name if it cannot be understood, or lacks one of the two keys.
std::optional<Credentials> credentials_in_file(const std::filesystem::path& file, const std::string& profile);

/// $AWS_ACCESS_KEY_ID with $AWS_SECRET_ACCESS_KEY and $AWS_SESSION_TOKEN; without them those of the profile
/// $AWS_PROFILE ("default") in $AWS_SHARED_CREDENTIALS_FILE (~/.aws/credentials); nullopt: none. Throws as above.
std::optional<Credentials> credentials_of_environment();

}  // namespace assay::stores
