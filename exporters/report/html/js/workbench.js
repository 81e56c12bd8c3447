// Puts the explorer's parts together, in the place that the report keeps for it.
import { ExplorerAddress, go_to_anchor, range_of } from "./address.js";
import { plural } from "./count_text.js";
import { read_detail } from "./detail.js";
import { button, data_block, make } from "./dom.js";
import { Explorer } from "./explorer.js";
import { HomeView } from "./home_view.js";
import { kKeysText, mark, start_keys } from "./keys.js";
import { OverviewStrip } from "./overview.js";
import { kKernelKinds } from "./palette.js";
import { SlicePanel, trace_time } from "./panel.js";
import { Search } from "./search.js";
import { StepCharts } from "./step_charts.js";
import { StepPicker } from "./step_picker.js";
import { step_number } from "./steps.js";
import { SumsPanel } from "./sums_panel.js";
import { moment_text, share_text, time_text } from "./time_text.js";
import { Timeline } from "./timeline.js";

/** @param {Explorer} explorer */
function lane_legend(explorer) {
  const kinds = [...new Set(explorer.detail.kernels.map(kernel => kernel.kind))].filter(kind => kKernelKinds[kind]);
  /** @param {string} css @param {string} text */
  const entry = (css, text) => make("li", {}, make("span", { class: "key " + css }), text);
  return make("div", {}, make("ul", { class: "legend lane-legend" }, make("li", {}, make("b", {}, "Kernels")), ...kinds.map(kind => entry("kind-" + kind.replace("_", "-"), kKernelKinds[kind]))),
              make("ul", { class: "legend lane-legend" }, make("li", {}, make("b", {}, "Budget")), ...explorer.page_data.bins.map(bin => entry(bin.colour, bin.title))));
}

/** @param {Explorer} explorer @param {HomeView} home @param {Timeline} timeline */
function view_buttons(explorer, home, timeline) {
  const reset = button("Reset lanes", "Lanes as the page opens: unfolded, unpinned, in their order", () => {
    timeline.arrangement.reset();
    timeline.rearranged();
  }, { class: "reset-lanes" });
  const changed = () => reset.hidden = Object.values(timeline.arrangement.written()).every(text => text === null);
  explorer.on("lanes", changed);
  explorer.on("pause", changed);
  return make("div", { class: "view-buttons", role: "group", "aria-label": "View" },
              button("+", "Zoom in", () => explorer.zoom(0.5)), button("\u2212", "Zoom out", () => explorer.zoom(2)),
              button("\u2190", "Earlier", () => explorer.pan(-0.25)), button("\u2192", "Later", () => explorer.pan(0.25)),
              home.step >= 0 ? button("Median step", "Show the median step, where the timeline opens", () => home.go()) : null,
              button("Whole", "Show the whole capture", () => explorer.move(0, explorer.detail.span)),
              button("Select", "Select the time in view, or that of the pinned slice", () => mark(explorer)), reset);
}

// Says what the picture cannot: how coarse it is, and where finer detail is.
class DetailNote {
  /** @param {Explorer} explorer */
  constructor(explorer) {
    this.explorer = explorer;
    this.element = make("p", { class: "detail-note small" });
    explorer.on("pause", () => this.show());
  }

  show() {
    const { detail, view } = this.explorer, { from, to } = view, span = to - from;
    const listed = detail.windows_in(from, to).reduce((sum, i) => sum + Math.min(to, detail.windows[i].end) - Math.max(from, detail.windows[i].start), 0);
    const text = time_text(span) + " in view from " + moment_text(from + detail.start_ns) + ". ";
    if (detail.timeline_only) return this.say(text + "One iteration, from run.json: neighbours on crowded lanes are merged. Click a slice to pin it.");
    if (listed >= span * 0.999) return this.say(text + "Every slice is in the page; click one to pin it.");
    const middle = (from + to) / 2, { trace_file } = this.explorer.page_data;
    const finer = trace_file ? " Finer detail: " + trace_file + " at " + moment_text(trace_time(this.explorer, middle)) + "." : "";
    this.say(text + (listed > 0 ? "Every slice of " + share_text(listed, span) + " of it; the rest in buckets of " : "Buckets of ") + time_text(detail.overview.bucket_ns) + "." + finer, this.nearest(middle));
  }

  /** @param {string} text @param {Node | null} [more] */
  say(text, more) {
    this.element.replaceChildren(text, ...(more ? [" ", more] : []));
  }

  // The closest step that is listed slice by slice.
  /** @param {number} moment */
  nearest(moment) {
    const { detail } = this.explorer, { steps } = detail;
    /** @param {number} i */
    const away = i => Math.abs(steps.start[i] + steps.wall[i] / 2 - moment);
    const listed = [...steps.window.keys()].filter(i => steps.window[i] >= 0);
    if (listed.length === 0 || detail.windows.some(window => window.whole)) return null;
    const best = listed.reduce((a, b) => away(b) < away(a) ? b : a);
    return button("Nearest step with every slice: " + step_number(best), "", () => this.explorer.show(steps.start[best], steps.start[best] + steps.wall[best]), { class: "link" });
  }
}

// Lanes and slices that the page does not have at all.
/** @param {Detail} detail */
function left_out_note({ lanes_left_out: lanes = 0, slices_left_out: slices = 0, timeline_only }) {
  if (slices === 0) return "";
  const all = plural(slices, "slice"), of_lanes = lanes > 0 ? plural(lanes, "lane") + " with the fewest slices, " + all + " in all." : all + " of ranges that lie too deep in others.";
  return make("p", { class: "muted small left-out" }, "Not in the page: " + (timeline_only ? all + " of this iteration." : of_lanes));
}

function explorer_help() {
  const lines = [["W S or + \u2212", "zoom"], ["A D", "move"], ["drag, pinch", "move and zoom"], ["wheel", "zoom once the timeline is clicked, with Ctrl at any time"],
                 ["Shift + drag, or drag on the ruler", "select a range of time"], ["/", "search, Enter or N for the next match"], ["\u2190 \u2192 \u2191 \u2193", "next slice, next lane"],
                 [". ,", "next of its kind, the one before: idle time in the next window, too"], ["F", "fit the pinned slice"], ["M", "select its time, or what is in view"],
                 ["0", "the whole capture"], ["H", "the median step"], ["on a lane's title", "Enter folds it, P pins it to the top, Alt + \u2191 \u2193 or a drag moves it"], ["Escape", "clear the search, then the pin, then the range"]];
  return make("details", { class: "explorer-help" }, make("summary", {}, "Keys"), make("p", { class: "sr", id: "explorer-keys" }, kKeysText),
              make("dl", {}, ...lines.flatMap(([key, act]) => [make("dt", {}, make("kbd", {}, key)), make("dd", {}, act)])));
}

/** @param {HTMLElement} place @param {Detail} detail @param {PageData} page_data */
function build_workbench(place, detail, page_data) {
  const explorer = new Explorer(detail, page_data), strip = new OverviewStrip(explorer), timeline = new Timeline(explorer), search = new Search(explorer);
  const picker = new StepPicker(explorer), charts = new StepCharts(explorer, picker), slice_panel = new SlicePanel(explorer), sums = new SumsPanel(explorer), note = new DetailNote(explorer);
  const with_steps = detail.steps.start.length > 0, home = new HomeView(explorer);
  place.replaceChildren(make("div", { class: "explorer-bar" }, search.element, view_buttons(explorer, home, timeline), explorer_help()),
                        with_steps ? picker.element : "", with_steps ? picker.line : "", strip.element, timeline.element, note.element, left_out_note(detail),
                        lane_legend(explorer),
                        make("div", { class: "explorer-panels" }, slice_panel.element, sums.element), with_steps ? charts.element : "");
  place.classList.add("live");
  explorer.on("draw", () => strip.draw());
  timeline.arrange();
  const address = new ExplorerAddress(explorer, home, picker, search, timeline, place);
  start_keys(explorer, timeline, search, place, () => home.go());
  link_rows(explorer, search, place);
  unlink_moments(explorer);
  address.read();
  timeline.look_for_empty();
  go_to_anchor();  // what lies below moved as the timeline came
  explorer.tell_drawing();
  explorer.tell("pause");
  return explorer;
}

// A page of run.json alone has one iteration: what a finding cites of another iteration does not become a link.
/** @param {Explorer} explorer */
function unlink_moments(explorer) {
  const { start_ns, span } = explorer.detail;
  /** @type {NodeListOf<HTMLAnchorElement>} */
  const links = document.querySelectorAll("main a[href^='#t=']");
  for (const link of links) {
    const range = range_of(new URLSearchParams(link.hash.slice(1)).get("t"), start_ns);
    if (range && range.from < span && range.to > 0) continue;
    link.removeAttribute("href");
    link.setAttribute("title", "Not in the timeline of this page");
  }
}

// From a row of the kernel table to where the kernel runs.
/** @param {Explorer} explorer @param {Search} search @param {HTMLElement} place */
function link_rows(explorer, search, place) {
  for (const kernel of explorer.page_data.kernels) {
    const row = document.getElementById(kernel.id), known = explorer.detail.kernels.find(each => explorer.detail.names[each.name] === kernel.name);
    if (!(row instanceof HTMLTableRowElement) || !known || !row.cells[0]) continue;
    row.cells[0].append(button("", "Find " + kernel.short + " on the timeline", () => {
      search.look_for(explorer.detail.names[known.short]);
      search.choose({ name: known.short, kind: "kernel", ns: 0, calls: 0, merged: false });
      place.scrollIntoView({ block: "start" });
    }, { class: "to-timeline", title: "Find on the timeline" }));
  }
}

const kNoPageData = { bins: [], kernels: [], glossary: {} };

export async function start_workbench() {
  /** @type {HTMLElement | null} */
  const place = document.querySelector("[data-explorer]"), page_data = { ...kNoPageData, ...data_block("page-data") }, detail = place && await read_detail(page_data.bins);
  if (!place || !detail) return;
  build_workbench(place, detail, page_data);
  document.documentElement.dataset.ready = String(Math.round(performance.now()));  // how long the first picture took; tests wait for it
}
