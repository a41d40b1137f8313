// SPDX-License-Identifier: Apache-2.0
#include <verifier/stores/credentials.hpp>

#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include <boost/property_tree/ini_parser.hpp>
#include <boost/property_tree/ptree.hpp>

namespace assay::stores {
namespace {

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

}  // namespace

std::optional<Credentials> credentials_in_file(const std::filesystem::path& file, const std::string& profile) {
    std::ifstream in(file);
    if (!in) {
        return std::nullopt;
    }
    boost::property_tree::ptree profiles;
    try {
        boost::property_tree::read_ini(in, profiles);
    } catch (const boost::property_tree::ini_parser_error& error) {
        // Its message may hold the line, and the line a secret.
        throw std::runtime_error(
            file.string() + ", line " + std::to_string(error.line()) +
            ": not a line of a credentials file, which has [profiles] and lines as in aws_access_key_id = ..."
        );
    }
    const auto found = profiles.find(profile);
    if (found == profiles.not_found()) {
        return std::nullopt;
    }
    Credentials out{
        .key_id = found->second.get("aws_access_key_id", ""),
        .secret = found->second.get("aws_secret_access_key", ""),
        .session_token = found->second.get("aws_session_token", "")};
    if (out.key_id.empty() || out.secret.empty()) {
        throw std::runtime_error(
            file.string() + ": profile " + profile + " lacks aws_access_key_id or aws_secret_access_key"
        );
    }
    return out;
}

std::optional<Credentials> credentials_of_environment() {
    Credentials given{
        .key_id = environment("AWS_ACCESS_KEY_ID"),
        .secret = environment("AWS_SECRET_ACCESS_KEY"),
        .session_token = environment("AWS_SESSION_TOKEN")};
    if (!given.key_id.empty() && !given.secret.empty()) {
        return given;
    }
    std::filesystem::path file = environment("AWS_SHARED_CREDENTIALS_FILE");
    if (file.empty()) {
        file = std::filesystem::path(environment("HOME")) / ".aws" / "credentials";
    }
    const std::string profile = environment("AWS_PROFILE");
    return credentials_in_file(file, profile.empty() ? "default" : profile);
}

}  // namespace assay::stores
