// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace assay::system {

/// Whether this session has a display on which a browser could open.
bool has_display();

/// Has the desktop open a URL or a file in the browser. Returns false if there is no xdg-open or it cannot be started.
/// The browser is no child of this process.
bool open_in_browser(const std::string& what);

}  // namespace assay::system
