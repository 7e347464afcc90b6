#include "documents.hpp"

#include <filesystem>
#include <fstream>
#include <utility>

#include "model.hpp"
#include "planning.hpp"
#include "settings.hpp"
#include "usmp/plan_file/plan_json.hpp"

namespace usmp::driver {

bool is_plan_file(const std::string& path) {
  if (path.ends_with(".plan.json")) return true;
  std::error_code error;
  if (!path.ends_with(".json") || std::filesystem::is_directory(path, error)) return false;
  std::string front(std::size_t{1} << 12, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(front.data(), static_cast<std::streamsize>(front.size()));
  front.resize(static_cast<std::size_t>(file.gcount()));
  return front.find("\"usmp-plan/") != std::string::npos;
}

std::vector<plan_file::PlanDocument> read_plan_file(const std::string& path) {
  try {
    return plan_file::parse_plan_documents(read_text_file(path, ErrorKind::usage, most_plan_bytes));
  } catch (const Error& error) {
    throw error.with_file(path);
  }
}

std::optional<std::vector<plan_file::PlanDocument>> plan_model(const PlanningOptions& options, std::ostream& err) {
  Planning planning = assemble_all(options, true);
  plan_all(planning, options, options.progress ? &err : nullptr);
  if (const pipeline::PlannedProgram* failed = planning.without_plan()) {
    (void)report_infeasible(*failed, planning.settings, err);
    return std::nullopt;
  }
  std::vector<plan_file::PlanDocument> documents;
  for (const auto& planned : planning.modules) documents.push_back(std::move(planned->document));
  return documents;
}

}  // namespace usmp::driver
