#include "exporters/run_json/parts.h"

namespace nl::exporters {

template <class Io>
void fields(Io& io, Ref<Io, Device> d) {
  io("id", d.id);
  io.known("name", d.name);
  io.known("uuid", d.uuid);
  io.known("bus", d.bus);
  io.known("chip", d.chip);
  io.known("sm_count", d.sm_count);
  io.known("clock_hz", d.clock_hz);
  io.known("memory_bytes", d.memory_bytes);
  io.known("bandwidth_bytes_per_s", d.bandwidth_bytes_per_s);
  io.known("l2_bytes", d.l2_bytes);
  io.known("compute_major", d.compute_major);
  io.where(d.compute_major != 0, "compute_minor", d.compute_minor);
}

template <class Io>
void fields(Io& io, Ref<Io, Hardware> h) {
  io("gpus", h.gpus);
  io.known("driver_version", h.driver_version);
  io.known("cpu_model", h.cpu_model);
  io.known("cpu_count", h.cpu_count);
  io.known("memory_bytes", h.memory_bytes);
  io.known("architecture", h.architecture);
}

template <class Io>
void fields(Io& io, Ref<Io, Software> s) {
  io.known("nl_stage_version", s.nl_stage_version);
  io.known("os", s.os);
  io.known("kernel", s.kernel);
  io.known("cuda_driver_version", s.cuda_driver_version);
  io.known("nsys_version", s.nsys_version);
  io.known("ncu_version", s.ncu_version);
}

template <class Io>
void fields(Io& io, Ref<Io, ModelInfo> m) {
  io.known("name", m.name);
  io("attributes", m.attributes);
}

template <class Io>
void fields(Io& io, Ref<Io, Workload> w) {
  io("command", w.command);
  io.known("working_directory", w.working_directory);
  io("exit_status", w.exit_status);
}

template <class Io>
void origin_fields(Io& io, Ref<Io, Run> run) {
  io("problems", run.problems);
  io("name", run.name);
  io("mode", run.mode);
  io("hardware", run.hardware);
  io("software", run.software);
  io("model", run.model);
  io("workload", run.workload);
}

template void origin_fields(JsonWriter&, const Run&);
template void origin_fields(JsonReader&, Run&);

}  // namespace nl::exporters
