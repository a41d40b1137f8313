// SPDX-License-Identifier: Apache-2.0
#include <node/rpc/subscriptions.hpp>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <limits>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <node/rpc/arguments.hpp>
#include <node/rpc/feed.hpp>

namespace assay::rpc {

namespace {

constexpr std::chrono::milliseconds kLook{20};  // between looks for a new block
constexpr std::size_t kBlocksAtOnce = 64;       // that a subscription is told of before the next one's turn
constexpr std::size_t kCachedBlocks = 128;
constexpr std::uint64_t kAnySequence = std::numeric_limits<std::uint64_t>::max() >> 11U;

/// What a subscription has been told of, and what is next.
struct Subscription {
    std::uint64_t id = 0;
    Topic topic;
    Height height;                      ///< of the next block
    std::uint64_t index = 0;            ///< of the next item in it
    std::optional<std::uint64_t> told;  ///< the sequence number of the last message
};

void check_names(const Json& params) {
    const Arguments checked(params, {"topic", "account", "task", "dispute", "after"});
}

}  // namespace

/// A client. Its members are guarded by the hub's mutex, except for those of the hub's thread.
struct Connection {
    bool is_stream = false;  ///< of server-sent events
    std::shared_ptr<http::PushChannel> channel;
    std::deque<std::string> inbox;
    bool is_closed = false;
    // Of the hub's thread:
    std::vector<Subscription> subscriptions;
    std::uint64_t next_id = 1;
};

struct Subscriptions::Hub : std::enable_shared_from_this<Hub> {
    explicit Hub(node::NodeApi& node) : api(node) {
        dispatcher.add("subscribe", [this](const Json& params, Work&) { return subscribe(params); });
        dispatcher.add("unsubscribe", [this](const Json& params, Work&) { return unsubscribe(params); });
    }

    void run();
    void serve(Connection& connection);
    bool tell(Connection& connection, Subscription& subscription);
    void send(Connection& connection, Subscription& subscription, std::uint64_t sequence, const FeedItem& item);
    void report(Connection& connection, const Subscription& subscription, const consensus::HeightNotKept& error);
    std::shared_ptr<const FeedBlock> feed_of(Height height);
    Subscription make_subscription(const Json& params) const;
    Json subscribe(const Json& params);
    Json unsubscribe(const Json& params);

    node::NodeApi& api;
    mutable std::mutex mutex;
    std::condition_variable changed;
    std::list<std::shared_ptr<Connection>> connections;
    bool is_awake = false;
    bool is_stopping = false;
    std::thread thread;

    // Of the thread:
    Dispatcher dispatcher;
    Connection* current = nullptr;  ///< whose message is handled
    Height tip;
    bool has_more = false;  ///< somebody can be told more at once
    std::map<Height, std::shared_ptr<const FeedBlock>> cache;
};

/// Hands what a connection hears to the hub.
class Handler final : public http::PushHandler {
  public:
    Handler(std::shared_ptr<Subscriptions::Hub> hub, std::shared_ptr<Connection> connection)
        : hub_(std::move(hub)), connection_(std::move(connection)) {}

    void opened(std::shared_ptr<http::PushChannel> channel) override {
        const std::lock_guard lock(hub_->mutex);
        connection_->channel = std::move(channel);
        if (hub_->is_stopping) {
            connection_->channel->finish();
            return;
        }
        hub_->connections.push_back(connection_);
        wake();
    }
    void received(std::string text) override {
        const std::lock_guard lock(hub_->mutex);
        if (connection_->inbox.size() >= Subscriptions::kUnansweredMax) {
            connection_->channel->finish();
            return;
        }
        connection_->inbox.push_back(std::move(text));
        wake();
    }
    void drained() override {
        const std::lock_guard lock(hub_->mutex);
        wake();
    }
    void closed() override {
        const std::lock_guard lock(hub_->mutex);
        connection_->is_closed = true;
        wake();
    }

  private:
    void wake() {
        hub_->is_awake = true;
        hub_->changed.notify_all();
    }

    std::shared_ptr<Subscriptions::Hub> hub_;
    std::shared_ptr<Connection> connection_;
};

void Subscriptions::Hub::run() {
    std::unique_lock lock(mutex);
    while (!is_stopping) {
        if (connections.empty()) {
            changed.wait(lock, [this] { return is_stopping || !connections.empty(); });
        } else if (!has_more) {
            changed.wait_for(lock, kLook, [this] { return is_stopping || is_awake; });
        }
        is_awake = false;
        has_more = false;
        std::erase_if(connections, [](const auto& each) { return each->is_closed; });
        const std::vector<std::shared_ptr<Connection>> all(connections.begin(), connections.end());
        lock.unlock();
        tip = std::max(tip, api.status().height);
        for (const auto& connection : all) {
            serve(*connection);
        }
        lock.lock();
    }
}

void Subscriptions::Hub::serve(Connection& connection) {
    std::deque<std::string> inbox;
    {
        const std::lock_guard lock(mutex);
        inbox.swap(connection.inbox);
    }
    current = &connection;
    for (const std::string& text : inbox) {
        Work work;
        std::string answer = dispatcher.handle(text, work);
        if (!answer.empty()) {
            connection.channel->send(std::move(answer));
        }
    }
    try {
        std::erase_if(connection.subscriptions, [&](Subscription& each) { return !tell(connection, each); });
    } catch (const std::exception&) {
        // A block that cannot be read, or no memory: the client may come again and go on where it was.
        connection.subscriptions.clear();
        connection.channel->finish();
    }
}

/// Tells of as much as the client's queue has room for. Returns false if the subscription is over.
bool Subscriptions::Hub::tell(Connection& connection, Subscription& subscription) {
    for (std::size_t blocks = 0; subscription.height <= tip; ++blocks) {
        if (blocks == kBlocksAtOnce) {
            has_more = true;
            return true;
        }
        std::shared_ptr<const FeedBlock> feed;
        try {
            feed = feed_of(subscription.height);
        } catch (const consensus::HeightNotKept& error) {
            report(connection, subscription, error);
            return false;
        }
        for (; subscription.index < feed->items.size(); ++subscription.index) {
            const FeedItem& item = feed->items[subscription.index];
            if (!concerns(subscription.topic, item)) {
                continue;
            }
            if (connection.channel->queued_bytes() >= Subscriptions::kQueueMax) {
                return true;  // goes on when the queue is written
            }
            send(connection, subscription, sequence_of(feed->height, subscription.index), item);
        }
        subscription.height = Height{subscription.height.value + 1};
        subscription.index = 0;
    }
    return true;
}

void Subscriptions::Hub::send(
    Connection& connection, Subscription& subscription, std::uint64_t sequence, const FeedItem& item
) {
    const std::string number = std::to_string(sequence);
    const std::string members =
        std::string("\"topic\":\"") + to_string(subscription.topic.kind) + "\",\"seq\":" + number +
        ",\"prev\":" + (subscription.told ? std::to_string(*subscription.told) : std::string("null")) + ",\"kind\":\"" +
        item.kind + "\",\"data\":" + item.data + "}";
    subscription.told = sequence;
    connection.channel->send(
        connection.is_stream ? "id: " + number + "\nevent: " + item.kind + "\ndata: {" + members + "\n\n"
                             : R"({"jsonrpc":"2.0","method":"subscription","params":{"subscription":)" +
                                   std::to_string(subscription.id) + "," + members + "}"
    );
}

void Subscriptions::Hub::report(
    Connection& connection, const Subscription& subscription, const consensus::HeightNotKept& error
) {
    const Json fault = render_error(kUnavailable, error.what(), {{"first_height", error.first().value}});
    if (connection.is_stream) {
        connection.channel->send("event: error\ndata: " + fault.dump() + "\n\n");
        connection.channel->finish();
    } else {
        const Json notice{
            {"jsonrpc", "2.0"},
            {"method", "subscription"},
            {"params", {{"subscription", subscription.id}, {"error", fault}}}};
        connection.channel->send(notice.dump());
    }
}

std::shared_ptr<const FeedBlock> Subscriptions::Hub::feed_of(Height height) {
    const auto found = cache.find(height);
    if (found != cache.end()) {
        return found->second;
    }
    auto feed = std::make_shared<const FeedBlock>(make_feed(api, height));
    if (cache.size() >= kCachedBlocks) {
        // Old ones are read again by those who are far behind; new ones by everybody.
        cache.erase(cache.begin());
    }
    cache.emplace(height, feed);
    return feed;
}

Subscription Subscriptions::Hub::make_subscription(const Json& params) const {
    const Arguments arguments(params);
    const auto status = api.status();
    Subscription out;
    out.topic = topic_argument(params);
    if (!arguments.has("after")) {
        out.height = Height{status.height.value + 1};
        return out;
    }
    const std::uint64_t after = arguments.number("after", kAnySequence);
    // Nothing comes behind the last place of a block, and there is no block 0.
    const bool begins_block = after == 0 || index_of(after) == kLastIndex;
    out.height = begins_block ? Height{height_of(after).value + 1} : height_of(after);
    out.index = begins_block ? 0 : index_of(after) + 1;
    out.told = after == 0 ? std::nullopt : std::optional(after);
    if (out.height < status.first_block) {
        throw Fault(
            kUnavailable,
            "blocks are here from height " + std::to_string(status.first_block.value) +
                " on: what came before cannot "
                "be told",
            {{"first_height", status.first_block.value}}
        );
    }
    return out;
}

Json Subscriptions::Hub::subscribe(const Json& params) {
    check_names(params);
    if (current->subscriptions.size() >= kPerConnection) {
        throw Fault(
            kLimitExceeded, "a connection has at most " + std::to_string(kPerConnection) + " subscriptions",
            {{"hint", "unsubscribe, or open another connection"}}
        );
    }
    Subscription made = make_subscription(params);
    made.id = current->next_id++;
    current->subscriptions.push_back(made);
    return {{"subscription", made.id}, {"height", tip.value}};
}

Json Subscriptions::Hub::unsubscribe(const Json& params) {
    const Arguments arguments(params, {"subscription"});
    const std::uint64_t id = arguments.number("subscription", kAnySequence);
    const auto count = std::erase_if(current->subscriptions, [id](const Subscription& each) { return each.id == id; });
    if (count == 0) {
        throw Fault(kNotFound, "no such subscription", {{"hint", "subscribe says its number"}});
    }
    return {{"unsubscribed", id}};
}

Subscriptions::Subscriptions(node::NodeApi& api) : hub_(std::make_shared<Hub>(api)) {
    hub_->tip = api.status().height;
    hub_->thread = std::thread([hub = hub_.get()] { hub->run(); });
}

Subscriptions::~Subscriptions() { stop(); }

std::shared_ptr<http::PushHandler> Subscriptions::web_socket() {
    return std::make_shared<Handler>(hub_, std::make_shared<Connection>());
}

std::shared_ptr<http::PushHandler> Subscriptions::event_stream(const Json& params) {
    check_names(params);
    auto connection = std::make_shared<Connection>();
    connection->is_stream = true;
    connection->subscriptions.push_back(hub_->make_subscription(params));
    return std::make_shared<Handler>(hub_, std::move(connection));
}

std::size_t Subscriptions::count() const {
    const std::lock_guard lock(hub_->mutex);
    return hub_->connections.size();
}

void Subscriptions::stop() {
    {
        const std::lock_guard lock(hub_->mutex);
        if (hub_->is_stopping) {
            return;
        }
        hub_->is_stopping = true;
        hub_->changed.notify_all();
    }
    hub_->thread.join();
    const std::lock_guard lock(hub_->mutex);
    for (const auto& connection : hub_->connections) {
        connection->channel->finish();
    }
    hub_->connections.clear();
}

Json query_arguments(std::string_view query) {
    Json out = Json::object();
    while (!query.empty()) {
        const std::string_view pair = query.substr(0, query.find('&'));
        query.remove_prefix(std::min(pair.size() + 1, query.size()));
        const std::size_t equals = pair.find('=');
        const std::string name(pair.substr(0, equals));
        const std::string value(equals == std::string_view::npos ? std::string_view() : pair.substr(equals + 1));
        const bool is_number = !value.empty() && value.size() < 19 &&
                               std::all_of(value.begin(), value.end(), [](char c) { return c >= '0' && c <= '9'; });
        if (name == "after") {
            if (!is_number) {
                throw Fault(kInvalidParams, "parameter \"after\" must be a whole number", {{"parameter", "after"}});
            }
            out[name] = std::stoull(value);
        } else {
            out[name] = value;
        }
    }
    return out;
}

}  // namespace assay::rpc
