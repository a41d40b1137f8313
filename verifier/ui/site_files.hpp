// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include <client/http/site.hpp>

namespace assay::ui {

/// All files of the site as the build embedded them, in no particular order.
std::span<const http::SiteFile> site_files();

}  // namespace assay::ui
