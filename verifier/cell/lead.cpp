// SPDX-License-Identifier: Apache-2.0
#include <verifier/cell/lead.hpp>

#include <algorithm>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <client/http/http.hpp>
#include <core/system/log/log.hpp>
#include <verifier/artifacts/spilled_state.hpp>
#include <verifier/cell/meeting.hpp>
#include <verifier/cell/ranks.hpp>
#include <verifier/cell/session_log.hpp>
#include <verifier/cell/speed.hpp>
#include <verifier/engine/cell/recomputing.hpp>
#include <verifier/engine/cell/session.hpp>
#include <verifier/plan/turns.hpp>

namespace assay::cell {
namespace {

using canonical::StepContext;
using canonical::StepError;
using canonical::Tensor;
using engine::CellSession;

constexpr int kAttemptsMax = 10;  // to get a session, or a step, done

constexpr std::string_view kBySpeed = ":auto";

bool is_by_speed(const std::string& layout) { return std::string_view(layout).ends_with(kBySpeed); }
std::string name_of_layout(const std::string& layout) {
    return is_by_speed(layout) ? layout.substr(0, layout.size() - kBySpeed.size()) : layout;
}

std::vector<std::string> names_of(const Hosts& hosts) {
    std::vector<std::string> out;
    out.reserve(hosts.members.size());
    for (const Member& member : hosts.members) {
        out.push_back(member.name);
    }
    return out;
}

http::HttpServerOptions server_of(const Hosts& hosts) {
    http::HttpServerOptions options{.address = hosts.lead_address, .port = hosts.lead_port};
    options.connections_per_address = 256;
    return options;
}

// What all machines of a lead share.
struct Shared {
    LeadOptions options;
    std::uint32_t gpu;  // for links by NCCL
    bool is_balanced;
    Meeting meeting;
    std::mutex mutex;
    bool is_busy = false;
    bool has_begun = false;  // a session, so that members need no more time to start
    http::HttpServer server;

    explicit Shared(const LeadOptions& o)
        : options(o),
          gpu(prepare_links(o.hosts, "", o.engine.device)),
          is_balanced(is_by_speed(o.layout)),
          meeting(names_of(o.hosts), by_secret(o.hosts.secret).second),
          server(server_of(o.hosts), [this](const http::HttpRequest& request) {
              return meeting.answer(request.target, request);
          }) {
        options.layout = name_of_layout(o.layout);
    }
};

class CellMachine final : public engine::StepMachine {
  public:
    CellMachine(
        std::shared_ptr<Shared> shared, const program::Program& program,
        std::shared_ptr<const canonical::RowSource> rows
    )
        : shared_(std::move(shared)), program_(program), rows_(std::move(rows)) {
        open();
    }
    ~CellMachine() override {
        if (session_) {
            log_session(session_->served());
        }
        session_.reset();
        const std::scoped_lock lock(shared_->mutex);
        shared_->is_busy = false;
    }

    void set_state(const std::function<Tensor(std::size_t)>& tensor) override {
        kept_.emplace(shared_->options.directory, program_.state.size(), tensor);
        since_kept_.clear();
        with_recovery([&] { restore(); });
    }

    Tensor tensor(std::size_t index) override {
        return with_recovery([&] { return session_->tensor(index); });
    }

    Result<void, StepError> run_step(const StepContext& context) override {
        const auto result = with_recovery([&] { return session_->run_step(context); });
        if (result) {
            loss_ = session_->loss();
            since_kept_.push_back(context);
            if (since_kept_.size() >= shared_->options.keep_steps && session_->has_state()) {
                keep();
            }
        }
        return result;
    }

    float loss() const override { return loss_; }

  private:
    // Calls f, and if a rank is lost meanwhile brings the cell back to where it was and calls f again.
    template <class F>
    std::invoke_result_t<F> with_recovery(F f) {
        for (int attempt = 1;; ++attempt) {
            try {
                if (!session_) {
                    open();
                    restore();
                    run_again();
                }
                return f();
            } catch (const std::runtime_error& error) {
                session_.reset();
                if (attempt == kAttemptsMax) {
                    throw;
                }
                log::warning(
                    "the cell lost a rank, and goes on from the last state that it kept", {{"why", error.what()}}
                );
            }
        }
    }

    // Begins a session with the machines that are there.
    void open() {
        const LeadOptions& options = shared_->options;
        for (int attempt = 1;; ++attempt) {
            auto names = shared_->meeting.wait_for_all(shared_->has_begun ? options.wait : options.first_wait);
            plan::Layout layout = plan::largest_layout(options.layout, names.size() + 1);
            if (balanced_ && balanced_->without_shares() == layout.without_shares()) {
                layout = *balanced_;
            }
            names.resize(layout.ranks() - 1);
            try {
                const std::uint64_t session = shared_->meeting.open(names, options.timeout);
                const std::chrono::milliseconds connect = connect_limit(options.hosts, options.wait);
                auto collective = connect_ranks(
                    options.hosts, shared_->meeting.words(connect),
                    {.session = session,
                     .rank = 0,
                     .size = layout.ranks(),
                     .address = options.hosts.lead_address,
                     .gpu = shared_->gpu,
                     .connect = connect,
                     .timeout = options.timeout}
                );
                session_ =
                    engine::open_session(program_for(layout), rows_, layout, std::move(collective), options.engine);
                ranks_ = layout.ranks();
                layout_ = layout;
                shared_->has_begun = true;
                log::info(
                    "the cell begins a session",
                    {{"ranks", std::uint64_t{layout.ranks()}}, {"layout", plan::to_string(layout)}}
                );
                return;
            } catch (const std::runtime_error& error) {
                session_.reset();
                if (attempt == kAttemptsMax) {
                    throw;
                }
                log::warning("the machines of the cell did not get together", {{"why", error.what()}});
            }
        }
    }

    // With a limit, one that computes outputs a second time.
    program::Program program_for(const plan::Layout& layout) const {
        const std::uint64_t memory = shared_->options.engine.memory_bytes;
        if (memory == 0 || layout.turns > 1) {
            return program_;
        }
        program::Program out = engine::recomputing(program_, layout, memory);
        if (out.step.size() != program_.step.size()) {
            log::info(
                "the cell computes nodes a second time to have room for a step",
                {{"nodes", std::uint64_t{program_.step.size()}}, {"with_copies", std::uint64_t{out.step.size()}}}
            );
        }
        return out;
    }

    void restore() {
        for (std::size_t i = 0; i < program_.state.size(); ++i) {
            session_->set_tensor(i, kept_->load(i));
        }
    }

    void run_again() {
        for (const StepContext& context : since_kept_) {
            if (!session_->run_step(context)) {
                throw std::runtime_error("a step that did not diverge before diverges");
            }
        }
    }

    // Keeps the state, and takes in who has come.
    void keep() {
        kept_ = with_recovery([&] {
            return artifacts::SpilledState(shared_->options.directory, program_.state.size(), [&](std::size_t i) {
                return session_->tensor(i);
            });
        });
        since_kept_.clear();
        if (shared_->is_balanced) {
            with_recovery([&] { balance(); });
        }
        const std::size_t others = ranks_ - 1;
        const std::size_t all = others + shared_->meeting.waiting().size();
        if (plan::largest_layout(shared_->options.layout, all + 1).ranks() - 1 > others) {
            log::info("more machines have come to the cell");
            session_.reset();
        }
    }

    // Divides the step by how fast the ranks have computed, if that is worth a session.
    void balance() {
        if (auto next = by_speed(program_, layout_, session_->take_busy())) {
            log::info("the cell divides its steps by the speed of its machines", {{"layout", plan::to_string(*next)}});
            balanced_ = std::move(next);
            session_.reset();
        }
    }

    std::shared_ptr<Shared> shared_;
    const program::Program program_;
    std::shared_ptr<const canonical::RowSource> rows_;
    std::unique_ptr<CellSession> session_;
    std::size_t ranks_ = 1;                        // of the session
    plan::Layout layout_{};                        // likewise
    std::optional<plan::Layout> balanced_;         // by the speed of the ranks
    std::optional<artifacts::SpilledState> kept_;  // what was set, or a later state
    std::vector<StepContext> since_kept_;          // steps that were run since
    float loss_ = 0.0F;
};

class Lead final : public engine::StepMachines {
  public:
    explicit Lead(const LeadOptions& options) : shared_(std::make_shared<Shared>(options)) {}

    std::uint32_t count() const override {
        return static_cast<std::uint32_t>(shared_->options.hosts.members.size() + 1);
    }

    std::unique_ptr<engine::StepMachine> begin(
        const program::Program& program, std::shared_ptr<const canonical::RowSource> rows
    ) override {
        if (plan::largest_layout(shared_->options.layout, count()).turns > 1 && !plan::find_turns(program)) {
            log::warning("the task has no replicas that take turns: this machine trains it alone");
            return nullptr;
        }
        {
            const std::scoped_lock lock(shared_->mutex);
            if (shared_->is_busy) {
                return nullptr;
            }
            shared_->is_busy = true;
        }
        try {
            return std::make_unique<CellMachine>(shared_, program, std::move(rows));
        } catch (...) {
            const std::scoped_lock lock(shared_->mutex);
            shared_->is_busy = false;
            throw;
        }
    }

  private:
    std::shared_ptr<Shared> shared_;
};

}  // namespace

std::shared_ptr<engine::StepMachines> make_lead(const LeadOptions& options) {
    if (!plan::decode_layout(
            name_of_layout(options.layout), static_cast<std::uint32_t>(options.hosts.members.size() + 1)
        )) {
        throw PlanError(
            "the plan \"" + options.layout + "\" cannot be made for " +
            std::to_string(options.hosts.members.size() + 1) +
            " machines; dp, zero1, zero2, zero3, tp and pp can, and combinations such as dp2tp2 whose product that is; "
            "pp+1f1b4 has stages with micro-batches, pp:5,3 and tp:5,3 have unequal parts for two machines, and turns "
            "trains the replicas of a task that has local ones"
        );
    }
    return std::make_shared<Lead>(options);
}

}  // namespace assay::cell
