// SPDX-License-Identifier: Apache-2.0
#include <node/rpc/jsonrpc.hpp>

#include <core/base/assert.hpp>
#include <node/rpc/describe/errors.hpp>

namespace assay::rpc {

namespace {

/// Whether brackets nest no deeper than kDepthMax: what is deeper would make the parser's value costly to destroy.
bool is_shallow(std::string_view text) {
    std::size_t depth = 0;
    bool in_string = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (in_string) {
            if (c == '\\') {
                ++i;
            } else if (c == '"') {
                in_string = false;
            }
        } else if (c == '"') {
            in_string = true;
        } else if (c == '[' || c == '{') {
            if (++depth > kDepthMax) {
                return false;
            }
        } else if ((c == ']' || c == '}') && depth > 0) {
            --depth;
        }
    }
    return true;
}

Json error_answer(Json id, int code, const std::string& message, Json data = Json::object()) {
    return {{"jsonrpc", "2.0"}, {"id", std::move(id)}, {"error", render_error(code, message, std::move(data))}};
}

std::string to_text(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

Fault invalid_params(const std::string& message) { return Fault(kInvalidParams, message); }

Json render_error(int code, const std::string& message, Json data) {
    data["name"] = describe::name_of(code);
    if (!data.contains("hint")) {
        data["hint"] = describe::hint_of(code);
    }
    return {{"code", code}, {"message", message}, {"data", std::move(data)}};
}

std::string error_response(int code, const std::string& message, Json data) {
    return to_text(error_answer(nullptr, code, message, std::move(data)));
}

std::string result_response(const Json& id, Json result) {
    return to_text({{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}});
}

void Dispatcher::add(const std::string& name, Method method) {
    const bool added = methods_.emplace(name, std::move(method)).second;
    ASSERT(added);
}

std::vector<std::string> Dispatcher::names() const {
    std::vector<std::string> out;
    for (const auto& [name, method] : methods_) {
        out.push_back(name);
    }
    return out;
}

Json Dispatcher::run(const std::string& method, const Json& request, Work& work) const {
    const auto found = methods_.find(method);
    if (found == methods_.end()) {
        throw Fault(kMethodNotFound, "there is no method " + method);
    }
    work.begin_call(method);
    const auto params = request.find("params");
    if (params == request.end() || (params->is_array() && params->empty())) {
        return found->second(Json::object(), work);
    }
    if (!params->is_object()) {
        throw invalid_params("parameters are given by name, in an object");
    }
    return found->second(*params, work);
}

/// The response object; null for a notification.
Json Dispatcher::call(const Json& request, Work& work) const {
    if (!request.is_object()) {
        return error_answer(nullptr, kInvalidRequest, "a request is an object");
    }
    const auto id = request.find("id");
    const bool is_notification = id == request.end();
    if (!is_notification && !id->is_null() && !id->is_string() && !id->is_number()) {
        return error_answer(nullptr, kInvalidRequest, "id must be a string, a number or null");
    }
    const Json answer_id = is_notification ? Json() : *id;
    if (request.value("jsonrpc", Json()) != "2.0") {
        return error_answer(answer_id, kInvalidRequest, "jsonrpc must be \"2.0\"");
    }
    const auto method = request.find("method");
    if (method == request.end() || !method->is_string()) {
        return error_answer(answer_id, kInvalidRequest, "method must be a string");
    }
    const auto params = request.find("params");
    if (params != request.end() && !params->is_structured()) {
        return error_answer(answer_id, kInvalidRequest, "params must be an object or an array");
    }
    Json answer;
    int code = 0;
    const auto started_at = std::chrono::steady_clock::now();
    try {
        answer = {{"jsonrpc", "2.0"}, {"id", answer_id}, {"result", run(method->get<std::string>(), request, work)}};
    } catch (const Fault& fault) {
        code = fault.code;
        answer = error_answer(answer_id, fault.code, fault.what(), fault.data);
    } catch (const std::exception&) {
        code = kInternalError;
        answer = error_answer(answer_id, kInternalError, "the node could not answer");
    }
    report(method->get<std::string>(), code, std::chrono::steady_clock::now() - started_at);
    return is_notification ? Json() : answer;
}

void Dispatcher::report(const std::string& method, int code, std::chrono::nanoseconds time) const {
    if (observer_) {
        observer_({.method = methods_.contains(method) ? method : std::string_view(), .code = code, .time = time});
    }
}

std::string Dispatcher::handle(std::string_view body, Work& work) const {
    if (!is_shallow(body)) {
        return error_response(kParseError, "nested too deeply");
    }
    const Json request = Json::parse(body, nullptr, false);
    if (request.is_discarded()) {
        return error_response(kParseError, "not JSON");
    }
    if (!request.is_array()) {
        const Json answer = call(request, work);
        if (answer.is_null() || !work.waiting()) {
            return answer.is_null() ? std::string() : to_text(answer);
        }
        work.name_waiting(answer.at("id"));
        return {};
    }
    if (request.empty()) {
        return error_response(kInvalidRequest, "an empty batch");
    }
    if (request.size() > kBatchMax) {
        return error_response(kLimitExceeded, "more than " + std::to_string(kBatchMax) + " requests in a batch");
    }
    work.forbid_waiting();
    Json answers = Json::array();
    for (const Json& item : request) {
        Json answer = call(item, work);
        if (!answer.is_null()) {
            answers.push_back(std::move(answer));
        }
    }
    return answers.empty() ? std::string() : to_text(answers);
}

}  // namespace assay::rpc
