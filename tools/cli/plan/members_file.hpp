// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

#include <verifier/schedule/choose.hpp>

namespace assay::cli {

/// Machines that may train together, and the links between them.
struct Members {
    std::vector<schedule::Machine> machines;
    schedule::Network network;
};

/// Reads a file such as
///
///     shared_gbit_per_s = 20.0      # what all links carry together; missing: nothing is shared
///     [default]                     # every link that is not listed
///     delay_ms = 20.0               # one way
///     gbit_per_s = 0.5
///     [[members]]
///     name = "left"
///     multiply_adds_per_s = 2.0e10  # the score of `assay-worker benchmark` times 10^6
///     memory_bytes = 17179869184
///     transfer_ns_per_byte = 1.5    # of the processor, for what it sends and for what it receives; missing: 0
///     transfer_us_per_message = 40  # likewise
///     sum_ns_per_byte = 1.5         # for sums that it packs or adds up
///     host = "box"                  # members with one name here share its cores; missing: each has its own
///     cores = 8
///     [[links]]
///     between = ["left", "right"]
///     delay_ms = 0.2
///     gbit_per_s = 10.0
///
/// [default] may be missing if each pair is listed. Throws TaskDirectoryError that names the key which is missing or
/// wrong.
Members read_members_file(const std::filesystem::path& file);

}  // namespace assay::cli
