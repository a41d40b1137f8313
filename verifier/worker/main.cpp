// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/command.hpp>

int main(int argc, char** argv) { return assay::worker::run_command(argc, argv); }
