// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <core/base/assert.hpp>
#include <contracts/profiling/profiling.hpp>

namespace assay::contracts {
namespace {

using Row = dispute::GroupMeasurement dispute::Measurement::*;

dispute::Relative largest_sample(const ProfileReport& report, Row group) {
    dispute::Relative largest = 0;
    for (const ProfileSegment& segment : report.segments) {
        largest = std::max(largest, dispute::relative_drift(segment.measurement.*group));
    }
    return largest;
}

/// PRF-6: the samples of all reports but the one with the largest, so that no single profiler can raise the threshold.
std::vector<dispute::Relative> kept_samples(std::span<const ProfileReport> reports, Row group) {
    const auto outlier = std::max_element(reports.begin(), reports.end(), [&](const auto& a, const auto& b) {
        return largest_sample(a, group) < largest_sample(b, group);
    });
    std::vector<dispute::Relative> samples;
    for (auto report = reports.begin(); report != reports.end(); ++report) {
        if (report == outlier) {
            continue;
        }
        for (const ProfileSegment& segment : report->segments) {
            samples.push_back(dispute::relative_drift(segment.measurement.*group));
        }
    }
    return samples;
}

/// PRF-6: the second smallest, so that no single profiler can have the task refused either.
dispute::Relative kept_reference(std::span<const ProfileReport> reports, Row group) {
    std::vector<dispute::Relative> references;
    for (const ProfileReport& report : reports) {
        references.push_back(dispute::relative_drift(report.reference.*group));
    }
    std::sort(references.begin(), references.end());
    return references[1];
}

}  // namespace

Result<Bounds, ProfilingOutcome> bounds_from(
    std::span<const ProfileReport> reports, std::uint32_t least, const dispute::ThresholdRule& rule
) {
    ASSERT(least >= 2);
    if (reports.size() < least) {
        return Unexpected{ProfilingOutcome::kTooFew};
    }
    Bounds bounds;
    const auto bound = [&](Row group, dispute::Relative Distances::*distance) -> Result<void, ProfilingOutcome> {
        const dispute::Relative reference = kept_reference(reports, group);
        const auto threshold = dispute::threshold_from(kept_samples(reports, group), reference, rule);
        if (!threshold) {
            const bool few = threshold.error() == dispute::ThresholdError::kTooFew;
            return Unexpected{few ? ProfilingOutcome::kTooFew : ProfilingOutcome::kNotSeparated};
        }
        bounds.reference.*distance = reference;
        bounds.threshold.*distance = *threshold;
        return {};
    };
    TRY(bound(&dispute::Measurement::parameters, &Distances::parameters));
    TRY(bound(&dispute::Measurement::other, &Distances::other));
    return bounds;
}

}  // namespace assay::contracts
