// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <verifier/worker/options.hpp>

/// What is looked at before a worker starts, beyond the command line itself.
namespace assay::worker {

/// Sets where the artifact server listens from ADDRESS:PORT. Throws UsageError.
void set_listen(WorkerOptions& options, const std::string& listen);

/// Throws UsageError if the options ask for what an operator cannot do for its owner.
void check_owner(const WorkerOptions& options);

/// Throws FileError if strangers' files cannot be parsed in the sandbox; warns in the log if they are not to be.
void check_sandbox();

}  // namespace assay::worker
