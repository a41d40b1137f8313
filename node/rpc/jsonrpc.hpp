// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <client/rpc_codes.hpp>
#include <node/rpc/work.hpp>

/// JSON-RPC 2.0 without a transport: request text in, response text out.
namespace assay::rpc {

using Json = nlohmann::json;

using client::kInternalError;
using client::kInvalidParams;
using client::kInvalidRequest;
using client::kLimitExceeded;
using client::kMethodNotFound;
using client::kNotFound;
using client::kParseError;
using client::kRateLimited;
using client::kTxRejected;
using client::kUnauthorized;
using client::kUnavailable;

inline constexpr std::size_t kBatchMax = 20;
inline constexpr std::size_t kDepthMax = 32;  ///< maximum nesting of arrays and objects in a request

/// Thrown by a method to answer with an error object. The code's name and a hint are added to `data`.
class Fault : public std::runtime_error {
  public:
    Fault(int fault_code, const std::string& message, Json fault_data = Json::object())
        : std::runtime_error(message), code(fault_code), data(std::move(fault_data)) {}
    int code;
    Json data;
};

Fault invalid_params(const std::string& message);

/// Returns the error object of a response.
Json render_error(int code, const std::string& message, Json data = Json::object());
/// Returns a whole response with an error that belongs to no particular request (id null).
std::string error_response(int code, const std::string& message, Json data = Json::object());
/// Returns a whole response with the result of the call `id`.
std::string result_response(const Json& id, Json result);

/// A call that was answered.
struct CallReport {
    std::string_view method;  ///< empty if there is no such method
    int code = 0;             ///< 0: it has a result; otherwise the error's
    std::chrono::nanoseconds time{};
};
/// Is told of each call, on the thread that ran it. Must not throw.
using CallObserver = std::function<void(const CallReport&)>;

/// A table of methods by name. Answers single calls, batches and notifications as the specification requires.
class Dispatcher {
  public:
    using Method = std::function<Json(const Json& params, Work& work)>;  ///< params: always an object

    /// Adds a method. `name` must not be in the table yet.
    void add(const std::string& name, Method method);
    /// `observer` may be empty. Not to be called while calls are made.
    void observe(CallObserver observer) { observer_ = std::move(observer); }
    std::vector<std::string> names() const;
    /// Returns the text of the response. It is empty if nothing is to be answered, or if the call waits;
    /// `work.waiting()` then says for what. A Fault becomes its error object, any other exception internal_error.
    std::string handle(std::string_view body, Work& work) const;

  private:
    Json call(const Json& request, Work& work) const;
    Json run(const std::string& method, const Json& request, Work& work) const;

    void report(const std::string& method, int code, std::chrono::nanoseconds time) const;

    std::map<std::string, Method> methods_;
    CallObserver observer_;
};

}  // namespace assay::rpc
