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
  io.code("kind", l.kind, "what the lane shows");
  io("title", l.title, "thread 973, GPU 0 stream 7");
  io("slices", l.slices,
     "each [start_ns, duration_ns, name, merged]: merged neighbours that it stands for; by start, none overlapping another");
}

template <class Io>
void fields(Io& io, Ref<Io, Timeline> t) {
  io("start_ns", t.start_ns, "of what is shown", kAnySign);
  io("end_ns", t.end_ns, "of what is shown", kAnySign);
  io("what", t.what, "in words");
  io("names", t.names, "that slices refer to by number");
  io("lanes", t.lanes, "rows of the picture");
  io("slices_left_out", t.slices_left_out, "for lack of space");
}

template <class Io>
void fields(Io& io, Ref<Io, ActivityCurve> a) {
  io("device", a.device, "number of the GPU", kAnySign);
  io("metric", a.metric, "as ncu spells it");
  io("title", a.title, "in words");
  io("start_ns", a.start_ns, "of the first value, since the start of the capture", kAnySign);
  io("step_ns", a.step_ns, "one value every so often, the mean of the samples that it covers");
  io("values", a.values, "null: no sample there", {.minimum = std::nullopt, .most_items = 600});
}

// Who draws a slice looks its name up without asking.
void check_names(const JsonReader& io, const Timeline& timeline) {
  for (std::size_t lane = 0; lane < timeline.lanes.size(); ++lane)
    for (const auto& slice : timeline.lanes[lane].slices)
      if (slice.name >= timeline.names.size())
        io.refuse("timeline.lanes[" + std::to_string(lane) + "] has a slice with name " + std::to_string(slice.name) + " of " +
                  std::to_string(timeline.names.size()));
}

template <class Io>
void timeline_fields(Io& io, Ref<Io, Run> run) {
  io("timeline", run.timeline, "a picture of one iteration; null: none");
  if constexpr (std::is_same_v<Io, JsonReader>)
    if (run.timeline) check_names(io, *run.timeline);
  io("activity", run.activity, "what the GPU did over the capture, sampled and made small; empty: not sampled");
}

template void timeline_fields(JsonWriter&, const Run&);
template void timeline_fields(JsonReader&, Run&);
template void timeline_fields(SchemaWriter&, const Run&);

}  // namespace nl::exporters
