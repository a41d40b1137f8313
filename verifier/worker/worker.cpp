// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/worker.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <variant>

#include <core/crypto/address.hpp>
#include <core/system/memory.hpp>
#include <core/system/service_manager.hpp>
#include <contracts/state/members.hpp>
#include <verifier/artifacts/fetcher.hpp>
#include <verifier/artifacts/server.hpp>
#include <verifier/worker/contributor.hpp>
#include <verifier/worker/earnings_watch.hpp>
#include <verifier/worker/failure.hpp>
#include <verifier/worker/home.hpp>
#include <verifier/worker/idle_watch.hpp>
#include <verifier/worker/key_desk.hpp>
#include <verifier/worker/losses.hpp>
#include <verifier/worker/metrics_service.hpp>
#include <verifier/worker/private_tasks.hpp>
#include <verifier/worker/readiness.hpp>
#include <verifier/worker/result_keeper.hpp>
#include <verifier/worker/relays.hpp>
#include <verifier/worker/link_desk.hpp>
#include <verifier/worker/publisher.hpp>
#include <verifier/worker/seat_desk.hpp>
#include <verifier/worker/store_keeper.hpp>
#include <verifier/worker/store_options.hpp>
#include <verifier/worker/told.hpp>
#include <verifier/worker/urgent.hpp>
#include <verifier/worker/worker_context.hpp>
#include <verifier/worker/worker_metrics.hpp>

namespace assay::worker {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kBackoffFirst{250};
constexpr milliseconds kBackoffMax{5'000};

/// The artifact server, on the port of the last run where none is asked for: references on the chain name it.
/// AVL-9: it serves what was fetched too, so that nobody depends on a submitter that has gone.
std::unique_ptr<artifacts::ArtifactServer> listen(
    const WorkerOptions& options, Journal& journal, const artifacts::ContentStore& store, const artifacts::Cache& cache,
    const Behaviour& behaviour, const artifacts::ArtifactServer::Other& other
) {
    const auto find = [&](const Hash256& hash) -> std::optional<std::filesystem::path> {
        if (!behaviour.serves(hash)) {
            return std::nullopt;
        }
        if (store.has(hash)) {
            return store.path(hash);
        }
        return cache.has(hash) ? std::optional(cache.path(hash)) : std::nullopt;
    };
    http::HttpServerOptions server{.address = options.listen_address, .port = options.listen_port};
    const bool reuse = server.port == 0 && journal.listen_port() != 0;
    if (reuse) {
        server.port = journal.listen_port();
    }
    auto made = std::make_unique<artifacts::ArtifactServer>(server, find, other);
    const std::string url = made->url();
    journal.keep_listen_port(static_cast<std::uint16_t>(std::stoul(url.substr(url.rfind(':') + 1))));
    return made;
}

/// Trips the circuit breaker when stake of ours was slashed.
class BreakerWatch {
  public:
    explicit BreakerWatch(WorkerContext& context) : context_(context) {}

    void look() {
        const std::uint64_t stake = context_.chain.total_stake();
        const bool is_less = stake < last_stake_.value_or(stake);
        last_stake_ = stake;
        for (const contracts::Task& task : context_.chain.ended()) {
            scan(task);
        }
        if (is_less) {
            for (const auto& [id, task] : context_.chain.tasks()) {
                scan(task);
            }
        }
    }

  private:
    /// Whether stake of ours can have been locked for the task.
    bool concerns_us(const contracts::Task& task) const {
        const AccountId& self = context_.chain.self();
        const auto is_ours = [&self](const contracts::Assignment& assignment) { return assignment.verifier == self; };
        return contracts::is_member(task, self) || context_.journal.has_disputed(task.id) ||
               std::any_of(task.assignments.begin(), task.assignments.end(), is_ours);
    }

    void scan(const contracts::Task& task) {
        if (!concerns_us(task)) {
            return;
        }
        for (const contracts::HistoryRecord& record : context_.chain.history(task.id)) {
            const auto* slash = std::get_if<contracts::history::Slashed>(&record.event);
            const Journal::Place place{task.id, record.index};
            if (slash == nullptr ||
                slash->reason == contracts::Reason::kRoom ||  // TASK-15: chosen, or of its being away
                slash->from != context_.chain.self() || context_.journal.knows_slash(place)) {
                continue;
            }
            const std::string reason = contracts::to_string(slash->reason);
            context_.journal.open_breaker(place, reason);
            context_.reporter.event(
                {{"event", "breaker"},
                 {"task", to_hex(task.id.view())},
                 {"reason", reason},
                 {"amount", std::to_string(slash->amount.grains)}}
            );
        }
    }

    WorkerContext& context_;
    std::optional<std::uint64_t> last_stake_;
};

/// Waits for a block later than `after`, for something that was asked for, or until it is time to say why there is
/// nothing to do; in pieces short enough to notice a signal.
Height wait_for_news(const WorkerContext& context, Height after, std::uint64_t fetched) {
    Height height = after;
    const auto until = std::chrono::steady_clock::now() + IdleWatch::kPatience;
    while (!context.stop && height <= after && context.fetcher.finished() == fetched &&
           std::chrono::steady_clock::now() < until) {
        height = context.chain.rpc().wait_for_block(after, kPoll);
    }
    return std::max(height, after);
}

void sleep_unless_stopped(milliseconds span, const std::atomic<bool>& stop) {
    const auto end = std::chrono::steady_clock::now() + span;
    while (!stop && std::chrono::steady_clock::now() < end) {
        std::this_thread::sleep_for(milliseconds(20));
    }
}

/// Plays disputes, shares keys and shows kept results, and does nothing else until the disk can be written again: none
/// of it needs to write, and whatever else is promised could not be kept.
void outlast_full_disk(WorkerContext& context, Role& role, const std::string& why) {
    context.reporter.trouble(
        "the disk cannot be written (" + why +
        "): only disputes are played and kept results shown until it can; make room on the disk of " +
        context.options.home.string()
    );
    constexpr std::size_t kProbeBytes = 1U << 20U;
    while (!context.stop) {
        try {
            context.chain.refresh();
            role.disputes();
            KeyDesk(context).attend();
            ResultKeeper(context).attend();
            context.chain.rpc().wait_for_block(Height{context.chain.height()}, kPoll);
            context.journal.settle();
            context.store.remove(context.store.put(Bytes(kProbeBytes, 0x5A)));
            context.reporter.trouble("the disk can be written again");
            return;
        } catch (const http::NetError&) {
            sleep_unless_stopped(kBackoffMax, context.stop);
        } catch (const client::RpcError&) {
            sleep_unless_stopped(kBackoffMax, context.stop);
        } catch (const JournalError&) {
            sleep_unless_stopped(kPoll, context.stop);
        } catch (const artifacts::StoreError&) {
            sleep_unless_stopped(kPoll, context.stop);
        }
    }
}

/// Says how tasks ended, and drops what only their duties needed.
void conclude(WorkerContext& context, Role& role, EarningsWatch& earnings, StoreKeeper& keeper) {
    while (!context.chain.ended().empty()) {
        const contracts::Task task = context.chain.ended().front();
        earnings.report_end(task);
        role.forget(task.id);
        context.forget(task.id);
        keeper.retire(task);
        context.chain.drop_ended(task.id);
    }
}

void work(WorkerContext& context, Role& role, EarningsWatch& earnings) {
    BreakerWatch breaker(context);
    StoreKeeper keeper(context);
    IdleWatch idle(context);
    Urgent urgent(context, role);
    context.attend_urgent = [&urgent] { urgent.interlude(); };
    Height seen;
    bool was_busy = false;
    milliseconds backoff = kBackoffFirst;
    while (!context.stop) {
        try {
            const std::uint64_t fetched = context.fetcher.finished();
            bool busy = urgent.attend();
            busy = role.labour() || busy;
            breaker.look();
            earnings.look();
            conclude(context, role, earnings, keeper);
            keeper.tidy();
            if (busy) {
                idle.note_busy();
            } else {
                if (was_busy) {
                    system::release_free_memory();  // of states: other workers of this machine may need it
                }
                idle.note_idle(role);
                seen = wait_for_news(context, seen, fetched);
            }
            was_busy = busy;
            backoff = kBackoffFirst;
        } catch (const JournalError& error) {
            outlast_full_disk(context, role, error.what());
        } catch (const artifacts::StoreError& error) {
            outlast_full_disk(context, role, error.what());
        } catch (const http::NetError& error) {
            idle.note_no_node(note_failure(context, error));
            sleep_unless_stopped(backoff, context.stop);
            backoff = std::min(backoff * 2, kBackoffMax);
        } catch (const client::RpcError& error) {
            idle.note_no_node(note_failure(context, error));
            sleep_unless_stopped(backoff, context.stop);
            backoff = std::min(backoff * 2, kBackoffMax);
        }
    }
}

void note_not_ready(WorkerContext& context, roles::Idle reason, const std::string& why) {
    context.reporter.trouble("not ready: " + why);
    if (context.metrics != nullptr) {
        context.metrics->set_idle(reason);
    }
}

/// Until the node can be reached; whether the worker is ready, and not stopped.
bool await_node(WorkerContext& context) {
    milliseconds backoff = kBackoffFirst;
    while (!context.stop) {
        try {
            check_node(context);
            return true;
        } catch (const http::NetError& error) {
            note_not_ready(context, roles::Idle::kNoNode, note_failure(context, error));
        } catch (const client::RpcError& error) {
            note_not_ready(context, roles::Idle::kNoNode, note_failure(context, error));
        } catch (const NodeBehind& error) {
            note_not_ready(context, roles::Idle::kCatchingUp, error.what());
        }
        sleep_unless_stopped(backoff, context.stop);
        backoff = std::min(backoff * 2, kBackoffMax);
    }
    return false;
}

std::unique_ptr<Role> make_role(Mode mode, WorkerContext& context) {
    switch (mode) {
        case Mode::kVerify:
            return make_verifier(context);
        case Mode::kWhistleblow:
            return make_whistleblower(context);
        default:
            return make_solver(context);
    }
}

/// Works in the role until the worker is told to stop. The node has been checked.
void serve_and_work(WorkerContext& context, const crypto::SecretKey& key, artifacts::ArtifactServer& server) {
    const WorkerOptions& options = context.options;
    auto role = context.behaviour.role(context);
    if (!role) {
        role = make_role(options.mode, context);
    }
    EarningsWatch earnings(context);
    context.reporter.line(
        std::string("assay-worker ready: role ") + to_string(options.mode) + ", account " +
        crypto::to_address(context.chain.self()) +
        (options.owner ? ", operator " + crypto::to_address(context.chain.signer()) : "") + ", artifacts " +
        context.artifacts_url
    );
    const auto service = system::ServiceManager::of_this_process();
    service.ready(std::string("role ") + to_string(options.mode) + ", artifacts " + context.artifacts_url);
    if (context.journal.breaker()) {
        context.reporter.trouble(
            "the circuit breaker is open (" + *context.journal.breaker() + "): no new work until --reset-breaker"
        );
    }
    std::optional<Contributor> contributor;
    if (options.mode == Mode::kVerify && options.contributes) {
        contributor.emplace(options, key, context.reporter, context.stop);
    }
    work(context, *role, earnings);
    service.stopping();
    contributor.reset();
    earnings.finish();
    server.stop();
    context.reporter.event({{"event", "stopping"}});
}

}  // namespace

int run_worker(
    const WorkerOptions& options, const crypto::SecretKey& key, Behaviour& behaviour, const std::atomic<bool>& stop,
    const Supervision& supervision
) {
    check_publishing(options);
    check_device(options.engine);
    const HomeLock lock(options.home);
    const artifacts::ContentStore store(options.home / "store");
    Journal journal(options.home / kJournalName);
    Reporter reporter(options.json_progress, supervision.observer);
    if (options.reset_breaker) {
        journal.reset_breaker();
    }
    artifacts::Cache cache(
        options.home / "fetched", {.quota_bytes = options.cache_bytes, .reserve_bytes = options.reserve_bytes}
    );
    const artifacts::FetcherOptions fetching = fetching_of(options);
    artifacts::Fetcher fetcher(store, cache, fetching);
    Chain chain(options.node, options.home, options.pins, key, options.owner, reporter);
    SeatDesk seats;
    LinkDesk links;
    ToldByTask statements(options.home);
    Losses losses(options.home / "losses", key, options.owner.has_value());
    PrivateTasks privates(options.home / kPrivateName);
    const auto server = listen(options, journal, store, cache, behaviour, [&](const http::HttpRequest& request) {
        auto answer = seats.answer(request);
        answer = answer ? answer : losses.answer(request);
        return answer ? answer : links.answer(request);
    });
    const std::string own_locations = Relays::locations(options, key.account(), server->url());
    if (!Publisher::fits(own_locations, options.publish)) {
        throw UsageError(
            "the chain has 256 characters for a checkpoint's locations, which " + own_locations +
            " and those of --publish exceed together, or there are more than eight: name fewer or shorter ones"
        );
    }
    std::optional<Publisher> publisher;
    if (!options.publish.empty()) {
        publisher.emplace(
            store, reporter,
            PublisherOptions{
                .locations = options.publish,
                .copies = publish_copies(options),
                .credentials = fetching.limits.credentials}
        );
    }
    const Metered metered(options, chain.self(), reporter, store, cache.store());
    const Relays relays(options, key, *server, reporter, metered.metrics());
    WorkerContext context{
        .options = options,
        .reporter = reporter,
        .journal = journal,
        .store = store,
        .fetcher = fetcher,
        .chain = chain,
        .behaviour = behaviour,
        .stop = stop,
        .artifacts_url = own_locations,
        .seats = &seats,
        .links = &links,
        .statements = &statements,
        .metrics = metered.metrics(),
        .losses = &losses,
        .publisher = publisher ? &*publisher : nullptr,
        .intake = supervision.intake,
        .privates = &privates};
    if (await_node(context)) {
        serve_and_work(context, key, *server);
    }
    return 0;
}

int run_server(const WorkerOptions& options, const std::atomic<bool>& stop) {
    const HomeLock lock(options.home);
    const artifacts::ContentStore store(options.home / "store");
    Journal journal(options.home / kJournalName);
    Reporter reporter(options.json_progress);
    const Behaviour honest;
    const artifacts::Cache cache(options.home / "fetched");
    const auto server = listen(options, journal, store, cache, honest, nullptr);
    reporter.line("assay-worker ready: role serve, artifacts " + server->url());
    const auto service = system::ServiceManager::of_this_process();
    service.ready("role serve, artifacts " + server->url());
    while (!stop) {
        sleep_unless_stopped(kPoll, stop);
    }
    service.stopping();
    server->stop();
    return 0;
}

}  // namespace assay::worker
