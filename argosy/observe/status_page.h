#pragma once

#include <string>

namespace argosy::observe {

// The page that shows a job in a browser. It has everything in itself, and asks for status.json beside it again and again.
const std::string& status_page();

// The same with a job's JSON (job_json) in it: a report that needs no server.
std::string report_page(const std::string& json);

}  // namespace argosy::observe
