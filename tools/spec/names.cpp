// SPDX-License-Identifier: Apache-2.0
#include <tools/spec/names.hpp>

#include <cctype>

#include <core/base/assert.hpp>

namespace assay::spec {

std::string_view detail::argument(std::string_view description, std::string_view parameter) {
    const std::string name = std::string(parameter) + " = ";
    // The parameter's name must begin there: "T = " is not to be found in "NT = ".
    std::size_t at = description.find('[');
    do {
        at = description.find(name, at + 1);
        ASSERT(at != std::string_view::npos);
    } while (std::isalnum(static_cast<unsigned char>(description[at - 1])) != 0);
    std::string_view rest = description.substr(at + name.size());
    const bool is_pack = rest.front() == '{' || rest.front() == '<';
    const std::size_t end = is_pack ? rest.find_first_of("}>") : rest.find_first_of(";]");
    ASSERT(end != std::string_view::npos);
    return is_pack ? rest.substr(1, end - 1) : rest.substr(0, end);
}

std::vector<std::string_view> detail::elements(std::string_view pack) {
    std::vector<std::string_view> out;
    while (!pack.empty()) {
        const std::size_t end = pack.find(", ");
        out.push_back(pack.substr(0, end));
        pack = end == std::string_view::npos ? std::string_view{} : pack.substr(end + 2);
    }
    return out;
}

std::string_view last_part(std::string_view name) {
    const std::size_t at = name.rfind("::");
    return at == std::string_view::npos ? name : name.substr(at + 2);
}

std::string to_snake(std::string_view enumerator) {
    ASSERT(enumerator.size() >= 2 && enumerator.front() == 'k');
    std::string out;
    for (const char c : enumerator.substr(1)) {
        const bool is_upper = c >= 'A' && c <= 'Z';
        if (is_upper && !out.empty()) {
            out.push_back('_');
        }
        out.push_back(is_upper ? static_cast<char>(c - 'A' + 'a') : c);
    }
    return out;
}

}  // namespace assay::spec
