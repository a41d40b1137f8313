// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include <client/metrics_server.hpp>
#include <verifier/artifacts/store.hpp>
#include <verifier/worker/options.hpp>
#include <verifier/worker/reporter.hpp>
#include <verifier/worker/worker_metrics.hpp>

namespace assay::worker {

/// Where a scrape reads what the worker's own thread, which may compute for hours, does not tell.
struct MetricsSources {
    client::NodeAddress node;
    AccountId account;
    std::filesystem::path home;
    const artifacts::ContentStore& own;
    const artifacts::ContentStore& fetched;
};

/// Reads the account's balance and stakes from the node, and sizes from the disk. What the node does not answer within
/// two seconds is left out.
WorkerReadings read_for_scrape(const MetricsSources& sources);

/// A worker's metrics, and the server that shows them to Prometheus, if its options ask for them. The address to scrape
/// is in the file metrics_address of the home meanwhile.
class Metered {
  public:
    /// Serves from now on, and counts what `reporter` reports. All arguments must outlive this object. Throws
    /// http::NetError with the address if it cannot be bound.
    Metered(
        const WorkerOptions& options, const AccountId& account, Reporter& reporter, const artifacts::ContentStore& own,
        const artifacts::ContentStore& fetched
    );
    ~Metered();
    Metered(const Metered&) = delete;
    Metered& operator=(const Metered&) = delete;
    /// nullptr if there are none.
    WorkerMetrics* metrics() const { return metrics_.get(); }

  private:
    Reporter& reporter_;
    std::filesystem::path address_file_;
    std::unique_ptr<WorkerMetrics> metrics_;
    std::unique_ptr<client::MetricsServer> server_;
};

}  // namespace assay::worker
