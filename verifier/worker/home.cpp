// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/home.hpp>

#include <stdexcept>

#include <verifier/stores/credentials.hpp>
#include <verifier/worker/failure.hpp>
#include <verifier/worker/journal_file.hpp>

namespace assay::worker {

HomeLock::HomeLock(const std::filesystem::path& home) {
    std::filesystem::create_directories(home);
    try {
        lock_.emplace(home / "lock");
    } catch (const system::LockError& error) {
        throw JournalError(
            error.holder() ? "another worker uses " + home.string() + ": " + *error.holder() : error.what()
        );
    }
}

artifacts::FetcherOptions fetching_of(const WorkerOptions& options) {
    artifacts::FetcherOptions fetching;
    fetching.limits.public_only = !options.allow_private_addresses;
    fetching.limits.mirrors = options.artifact_sources;
    try {
        fetching.limits.credentials = stores::credentials_of_environment();
    } catch (const std::runtime_error& error) {
        throw FileError(error.what());
    }
    return fetching;
}

}  // namespace assay::worker
