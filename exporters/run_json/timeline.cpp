#include "exporters/run_json/parts.h"

namespace nl::exporters {

// One line a slice: [start_ns, duration_ns, name, merged].
template <class Io, class Slice>
  requires std::is_same_v<std::remove_const_t<Slice>, TimelineSlice>
auto cells_of(Io&, Slice& s) {
  return std::tie(s.start_ns, s.duration_ns, s.name, s.merged);
}

template <class Io>
void fields(Io& io, Ref<Io, TimelineLane> l) {
  io("kind", l.kind);
  io("title", l.title);
  io("slices", l.slices);
}

template <class Io>
void fields(Io& io, Ref<Io, Timeline> t) {
  io("start_ns", t.start_ns);
  io("end_ns", t.end_ns);
  io("what", t.what);
  io("names", t.names);
  io("lanes", t.lanes);
  io("slices_left_out", t.slices_left_out);
}

template <class Io>
void fields(Io& io, Ref<Io, ActivityCurve> a) {
  io("device", a.device);
  io("metric", a.metric);
  io("title", a.title);
  io("start_ns", a.start_ns);
  io("step_ns", a.step_ns);
  io("values", a.values);
}

// Who draws a slice looks its name up without asking.
void check_names(const JsonReader& io, const Timeline& timeline) {
  for (std::size_t lane = 0; lane < timeline.lanes.size(); ++lane)
    for (const auto& slice : timeline.lanes[lane].slices)
      if (slice.name >= timeline.names.size())
        io.refuse("timeline.lanes[" + std::to_string(lane) + "] has a slice with name " + std::to_string(slice.name) +
                  " of " + std::to_string(timeline.names.size()));
}

template <class Io>
void timeline_fields(Io& io, Ref<Io, Run> run) {
  io("timeline", run.timeline);
  if constexpr (std::is_same_v<Io, JsonReader>)
    if (run.timeline) check_names(io, *run.timeline);
  io("activity", run.activity);
}

template void timeline_fields(JsonWriter&, const Run&);
template void timeline_fields(JsonReader&, Run&);

}  // namespace nl::exporters
