// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <core/system/metrics/registry.hpp>

namespace assay::metrics {

/// The metrics that every client library has of its process: CPU time, memory, descriptors, time of start.
class ProcessMetrics {
  public:
    /// `registry` must outlive this object.
    explicit ProcessMetrics(Registry& registry);
    /// Reads the figures anew. What this system does not tell is left out.
    void update();

  private:
    Gauge& open_fds_;
    Gauge& max_fds_;
    Gauge& resident_bytes_;
    Gauge& virtual_bytes_;
    Gauge& start_time_;
    Gauge& cpu_;
    Gauge& threads_;
};

}  // namespace assay::metrics
