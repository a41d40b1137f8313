// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include <sys/wait.h>

#include <client/http/http.hpp>
#include <core/command/exit_codes.hpp>
#include <tests/unit/cli/temporary.hpp>
#include <tests/unit/folders.hpp>
#include <verifier/worker/cell_command.hpp>

namespace assay::worker {
namespace {

struct Outcome {
    int status = -1;
    std::string out;
    std::string err;
    bool says(const std::string& part) const { return err.find(part) != std::string::npos; }
};

/// The built program in a directory of its own, with a file of a cell's machines in it.
struct Program {
    cli_test::TemporaryDirectory directory;

    std::string path(const std::string& name) const { return (directory.path() / name).string(); }
    void write_hosts(std::uint16_t lead_port, const std::string& more = "") const {
        cli_test::write_text(
            path("hosts.toml"), "lead = \"127.0.0.1:" + std::to_string(lead_port) +
                                    "\"\nsecret = \"sixteen letters!\"\n" + more +
                                    "[[members]]\nname = \"left\"\naddress = \"127.0.0.1\"\n"
                                    "[[members]]\nname = \"right\"\naddress = \"127.0.0.1\"\n"
        );
    }
    /// `arguments` as a shell in that directory reads them.
    Outcome operator()(const std::string& arguments) const {
        const std::string command = "cd " + directory.path().string() + " && " + folders::build() +
                                    "/bin/assay-worker " + arguments + " >out 2>err </dev/null";
        const int status = std::system(command.c_str());  // NOLINT: tests only
        return {
            WIFEXITED(status) ? WEXITSTATUS(status) : -1, cli_test::read_text(path("out")),
            cli_test::read_text(path("err"))};
    }
};

http::HttpServer some_server() {
    return {{}, http::HttpServer::Handler([](const http::HttpRequest&) {
                return http::HttpResponse{.status = 403, .content_type = "text/plain", .body = "the secret is another"};
            })};
}

}  // namespace

TEST_CASE("assay-worker names itself, and arguments that it does not expect in the order in which they were typed") {
    const Program worker;
    for (const char* arguments : {"", "nonsense", "solve", "benchmark --seconds", "measure-links"}) {
        CAPTURE(arguments);
        const Outcome outcome = worker(arguments);
        CHECK(outcome.status == command::kExitUsage);
        CHECK(outcome.out.empty());
        CHECK(outcome.err.starts_with("assay-worker: "));
        CHECK(outcome.says("\n  --help lists what there is\n"));
    }
    CHECK(worker("measure-links --cell hosts.toml -o json").says("not expected: -o json\n"));
    CHECK(worker("benchmark one").says("this argument was not expected: one\n"));
    const Outcome help = worker("--help");
    CHECK(help.status == command::kExitOk);
    CHECK(help.err.empty());
}

TEST_CASE("a machine that the file of a cell does not name is refused with the names that it has") {
    const Program worker;
    worker.write_hosts(4100);
    for (const char* command : {"member", "measure-links"}) {
        CAPTURE(command);
        const Outcome outcome = worker(std::string(command) + " --cell hosts.toml --name lefft");
        CHECK(outcome.status == command::kExitUsage);
        CHECK(outcome.says("hosts.toml has no member \"lefft\"; there are \"left\", \"right\""));
    }
}

TEST_CASE("a machine that another one of its cell refuses ends with the code of a wrong file") {
    const Program worker;
    const http::HttpServer lead = some_server();
    worker.write_hosts(lead.port());
    const Outcome outcome = worker("member --cell hosts.toml --name left");
    CHECK(outcome.status == command::kExitConfig);
    CHECK(outcome.says("hosts.toml: the lead at http://127.0.0.1:" + std::to_string(lead.port()) + " refuses: "));
    CHECK(outcome.says("the secret is another"));
}

TEST_CASE("links are not measured where the result could not be written, or the lead not listen") {
    const Program worker;
    const http::HttpServer other = some_server();
    worker.write_hosts(other.port());
    for (const char* out : {"nodir/m.toml", "."}) {
        CAPTURE(out);
        const Outcome outcome = worker(std::string("measure-links --cell hosts.toml --out ") + out);
        CHECK(outcome.status == command::kExitUsage);
        CHECK(outcome.says(std::string("--out ") + out));
        CHECK_FALSE(outcome.says("measuring this machine"));
    }
    const Outcome outcome = worker("measure-links --cell hosts.toml");
    CHECK(outcome.status == command::kExitFailure);
    CHECK(outcome.says("cannot listen on 127.0.0.1:" + std::to_string(other.port())));
    CHECK(outcome.says("that is `lead` in hosts.toml"));
    CHECK_FALSE(outcome.says("measuring this machine"));
}

TEST_CASE("a worker whose port another program has says which option gives another one") {
    const Program worker;
    const http::HttpServer other = some_server();
    const std::string place = "127.0.0.1:" + std::to_string(other.port());
    const Outcome served = worker("serve --home home --sandbox off --listen " + place);
    CHECK(served.status == command::kExitFailure);
    CHECK(served.says("cannot listen on " + place));
    CHECK(served.says("with --listen"));
    const Outcome scraped =
        worker("relay --listen 127.0.0.1:0 --metrics-address 127.0.0.1 --metrics-port " + std::to_string(other.port()));
    CHECK(scraped.status == command::kExitFailure);
    CHECK(scraped.says("give another --metrics-address or --metrics-port"));
}

TEST_CASE("a plan's shares are what follows its colons") {
    CHECK(without_shares("zero2") == "zero2");
    CHECK(without_shares("zero2+dp2:5,3") == "zero2+dp2");
    CHECK(without_shares("pp:5,3+1f1b8") == "pp+1f1b8");
    CHECK(without_shares("pp:5,3+dp2:2,1") == "pp+dp2");
    CHECK(without_shares("zero1:auto") == "zero1");
    CHECK(without_shares("").empty());
}

}  // namespace assay::worker
