// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include <client/rpc_codes.hpp>
#include <node/rpc/work.hpp>

/// JSON-RPC 2.0 without a transport: texts in, texts out.
namespace assay::rpc {

using Json = nlohmann::json;

using client::kInternalError;
using client::kInvalidParams;
using client::kInvalidRequest;
using client::kLimitExceeded;
using client::kMethodNotFound;
using client::kNotFound;
using client::kParseError;
using client::kTxRejected;
using client::kUnavailable;

inline constexpr std::size_t kBatchMax = 20;
inline constexpr std::size_t kDepthMax = 32;  ///< of nested arrays and objects in a request

/// What a method throws to be answered as an error object. `data` gets the code's name.
class Fault : public std::runtime_error {
  public:
    Fault(int fault_code, const std::string& message, Json fault_data = Json::object())
        : std::runtime_error(message), code(fault_code), data(std::move(fault_data)) {}
    int code;
    Json data;
};

Fault invalid_params(const std::string& message);

/// The error object of a response.
Json render_error(int code, const std::string& message, Json data = Json::object());
/// A whole response that reports an error of no particular request.
std::string error_response(int code, const std::string& message);
/// A whole response with the result of the call `id`.
std::string result_response(const Json& id, Json result);

/// Methods by name; answers single calls, batches and notifications as the specification says.
class Dispatcher {
  public:
    using Method = std::function<Json(const Json& params, Work& work)>;  ///< params: always an object

    /// `name` is not there yet.
    void add(const std::string& name, Method method);
    std::vector<std::string> names() const;
    /// The response's text; empty when there is nothing to answer, or when `work.waiting()` says what to wait for. A Fault
    /// becomes its error object, any other exception internal_error.
    std::string handle(std::string_view body, Work& work) const;

  private:
    Json call(const Json& request, Work& work) const;
    Json run(const std::string& method, const Json& request, Work& work) const;

    std::map<std::string, Method> methods_;
};

}  // namespace assay::rpc
