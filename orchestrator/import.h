#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "analysis/analyse.h"
#include "model/evidence.h"
#include "orchestrator/run.h"
#include "parsers/registry.h"

namespace nl::orchestrator {

struct ImportRequest {
  Config config;                                                                 // stages, top-N, name, artifacts.dir, tools
  std::map<std::string, std::vector<std::filesystem::path>, std::less<>> files;  // by the name of their parsers::Format
  std::filesystem::path out;                                                     // as for run
  bool copy = false;                                                             // a blanked copy of the export into the bundle
  std::filesystem::path operators = {};  // the folder of an operator pass, of a bundle that is imported
  std::filesystem::path session = {};    // the record of a session, of such a bundle, too
  std::filesystem::path facts = {};      // the folder in which its processes noted model, versions and backend
  std::filesystem::path own = {};        // a folder whose files become the bundle's own: they are moved to its folder collector/
  bool partial_ranks = false;            // captures of some ranks are missing, and it goes on without them
  std::vector<LoadRun> loads = {};       // what clients of a server recorded meanwhile
  std::vector<Remark> remarks = {};      // of who took the capture
  bool found_in_folder = false;  // traces of the collector were found in a folder, or several folders have some: of one run or of more
  RecordRun record = {};         // as for run

  std::vector<std::filesystem::path> all_files() const;
};

// The same bundle as run_workload() leaves, from captures made elsewhere. The files given are never
// changed; the bundle names them with their sha256. Throws Error(kInput) where one cannot be read.
RunResult import_captures(const ImportRequest& request, Launcher& launcher);

// Only the run, of captures that are read where they are: no bundle, no trace file. The caller handles interrupts.
Run import_run(const ImportRequest& request, Launcher& launcher);

// The same before anything is concluded from it: `use` is called with what was read, and what the configuration tells the analysis.
void with_evidence(const ImportRequest& request, Launcher& launcher,
                   const std::function<void(const Evidence&, const analysis::Knowledge&)>& use);

// Adds a file to those of its format, which its content tells. A folder adds every file
// in it that a format knows, a bundle what its own passes left. Throws Error(kInput) where no format knows it.
void add_input(const std::filesystem::path& path, ImportRequest& request);

// Throws Error where there is no capture among the files, one is not there or given twice, or they are of several runs.
void check_inputs(const ImportRequest& request);

// "an nsys SQLite or .nsys-rep, …, or a bundle"
std::string known_formats();

// Files that are read together.
struct ImportSource {
  const parsers::Format* format;
  std::vector<std::filesystem::path> files;
  bool has_timeline() const { return format->gives <= parsers::Gives::kTimeline; }
  friend bool operator==(const ImportSource&, const ImportSource&) = default;
};

std::vector<ImportSource> sources_of(const ImportRequest& request);

// The sources that the timeline comes from: the first that has one, and those that are other ranks of the run: of its format, or of nsys and the
// collector together.
std::vector<ImportSource> captures_of(const std::vector<ImportSource>& sources);

// What imported captures show. Reports that a vendor's tool has to export first go through passes, as in a run.
Evidence read_import(const ImportRequest& request, const Bundle& bundle, PassRunner& runner);

// The folder of the bundle, which keeps the captures of each pass in a folder of its own; of a capture in no bundle the folder it lies in.
std::filesystem::path bundle_of_capture(const std::filesystem::path& capture);

struct NameSources {
  std::filesystem::path capture;  // absolute
  std::string recorded = {};      // the name of the bundle that it lies in; empty: in none, or not known
  std::string process = {};       // that was captured; empty: not known
};

// The name of an import without --name: that of its bundle, of the file, or, where every tool gives its files that name, of the folder
// that holds it.
std::string import_name(const NameSources& sources);

// The name in the run.json of the bundle that a capture lies in. Empty: it lies in none, or the file cannot be read.
std::string recorded_name(const std::filesystem::path& capture);

}  // namespace nl::orchestrator
