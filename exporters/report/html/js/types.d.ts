// Types for `tsc --checkJs`, which the sources name in JSDoc. Nothing of this file is in the page.
// The data of the page: docs/report-data.md says what each field means.

type LaneKind = "ranges" | "api" | "gpu" | "bins" | "samples";

interface LaneInfo {
  kind: LaneKind;
  title: string;
  stages?: boolean;
  bands?: boolean;
  pid?: number;
  tid?: number;
  device?: number;
  stream?: number;
  place?: number;  // of a budget: its place in `devices`; of samples: in `threads`
}

interface Device {
  device?: number;
  pid?: number;
  title: string;
}

interface Kernel {
  name: number;
  short: number;
  kind: string;
  grid?: number[];
  block?: number[];
  registers: number;
  shared_bytes: number;
}

interface Steps {
  stage: number[];
  start: number[];
  wall: number[];
  iteration: number[];
  position: number[];
  warmup: number[];
  window: number[];
  bins?: number[][][];
  in_all: number;
}

// Sums of what starts in a bucket; `bucket` has differences.
interface SparseSums {
  bucket: number[];
  ns: number[];
  calls: number[];
  scale?: number;
}

interface PackedBuckets {
  lane: number;
  bucket: number[];
  busy: number[];
  slices: number[];
  name: number[];
  kind?: number[];
}

// Sampled stacks in columns: frames (function, file, line), a tree of them (up, frame), stacks (node, named), and the samples of each thread.
interface SampleData {
  sampler: string;
  every: number;
  in_all: number;
  function: number[];
  file: number[];
  line: number[];
  up: number[];
  frame: number[];
  node: number[];
  named: number[];
  threads: ThreadData[];
}

interface ThreadData {
  pid: number;
  tid: number;
  title: string;
  d: number[];
  stack: number[];
}

// Idle time that comes again, as run.json tells it of each stage.
interface GapData {
  stage: number[];
  of_windows: number[];
  kind: number[];
  before: number[];
  after: number[];
  at_edge: number[];
  count: number[];
  windows: number[];
  mean: number[];
  total: number[];
  permille: number[];
  samples: number[];
  host_samples: number[];
  host: number[];
}

interface Overview {
  bucket_ns: number;
  count: number;
  busy: ArrayLike<number>[];
  bins: ArrayLike<number>[][];
  kernels: SparseSums & { kernel: number[] };
  operators: SparseSums & { operator: number[] };
  lanes: PackedBuckets[];
}

// Columns that a lane of a window may have beside its times.
interface LaneColumns {
  launch?: number[];
  operator?: number[];
  layer?: number[];
  site?: number[];
  merged?: number[];
}

interface PackedLane extends LaneColumns {
  lane: number;
  d: number[];
  dur: number[];
  kernel?: number[];
  name?: number[];
}

interface PackedBins {
  device: number;
  d: number[];
  dur: number[];
  bin: number[];
}

interface ListedWindow {
  start: number;
  end: number;
  whole?: boolean;
  lanes: PackedLane[];
  bins?: PackedBins[];
}

interface DetailData {
  format: number;
  start_ns: number;
  end_ns: number;
  timeline_only?: boolean;
  lanes_left_out?: number;
  slices_left_out?: number;
  names: string[];
  sites: number[];
  sites_nearby?: number[];
  sample_period_ns: number;
  operators: number[];
  layers: number[];
  kinds?: string[];
  kernels: Kernel[];
  lanes: LaneInfo[];
  devices: Device[];
  stages: { name: number }[];
  unit?: number;
  gaps?: GapData;
  samples?: SampleData;
  steps: Steps;
  overview: Overview;
  windows: ListedWindow[];
}

interface Bin {
  key?: string;
  title: string;
  text?: string;
  colour: string;
}

interface PageKernel {
  id: string;
  name: string;
  short: string;
  roofline: string;
  counters?: { title: string; value: string }[];
  proof?: string;
  note?: string;
}

interface PageData {
  bins: Bin[];
  kernels: PageKernel[];
  glossary: { [term: string]: string };
  trace_file?: string | null;
}

// What the modules pass around

interface TimeRange {
  from: number;
  to: number;
}

interface Buckets {
  busy: Float64Array;
  slices: Float64Array;
  name: Int32Array;
  kind: Int8Array;
}

interface CodeFunction {
  name: number;
  file: number;
}

interface SliceTimes {
  start: Float64Array;
  duration: Float64Array;
}

interface LaneSlices extends SliceTimes, LaneColumns {
  what: Int32Array;
  rows: Int32Array[];
  position: number;
}

interface BinSlices extends LaneSlices {
  device: number;
  bin: number[];
}

// A thread's samples as slices: each stands for `count` samples from `first` on.
interface ThreadSlices extends LaneSlices {
  times: Float64Array;
  first: number[];
  count: number[];
  stack: number[];
}

// An idle stretch of a GPU, inside the innermost step around it.
interface IdleStretch extends TimeRange {
  step: number;
  at_edge: boolean;
  before: Pin | null;
  after: Pin | null;
}

// What of it comes again: a row of the gaps, or where none is alike, all else of its stage.
interface Recurrence {
  row: number;
  stage: number;
  of_windows: number;
  windows: number;
  count: number;
  mean: number;
  total: number;
  permille: number;
}

// One slice of a window's lane; of samples, which are listed over the whole capture, the window is -1.
interface Pin {
  lane: number;
  window: number;
  index: number;
}

interface FoundPin extends Pin {
  start: number;
}

// A lane as it is listed; `device` is -1 where it is of none.
interface LaneEntry {
  kind: LaneKind;
  title: string;
  lane: number;
  device: number;
  stages?: boolean;
  bands?: boolean;
  folded?: boolean;
  pinned?: boolean;
}

interface LaneItem extends LaneEntry {
  top: number;
  row_height: number;
  rows: number;
  height: number;
  overlaid: boolean;
}

interface LaneLayout {
  items: LaneItem[];
  height: number;
  pinned_height: number;
}

interface Sum {
  ns: number;
  calls: number;
}

interface RangeSums extends TimeRange {
  exact: boolean;
  whole: number;  // what all shares are of: the range, once for each GPU
  merged: number;
  busy: number;
  bins: number[];
  kernels: Map<number, Sum>;
  operators: Map<number, Sum>;
}

interface BudgetPart {
  title: string;
  colour: string;
  ns: number;
}

interface FoundName extends Sum {
  name: number;
  function?: number;  // of a function: its place in Stacks.functions
  kind: string;
  merged: boolean;
}

// What lies under the pointer.
interface Found {
  item: LaneItem;
  time: number;
  pin?: Pin;
  bucket?: number;
}

interface Scale {
  (value: number): number;
  ticks(count: number): number[];
}

// The curve of step times, made once.
interface CurveFrame {
  canvas: HTMLCanvasElement;
  svg: SVGSVGElement;
  foot: SVGGElement;
  side: SVGGElement;
  steps: number[];
  nearest: (left: number, down: number) => number;
}

interface SortedRow {
  index: number;
  value: string | number | null;
}

interface TableState {
  sort: string;
  filter: string;
  stage: string;
  group: string;
  hidden: Set<string>;
}

type Child = Node | string | null | undefined;
type Attributes = { [name: string]: string | number | boolean | null | undefined | ((event: any) => unknown) };
// Says a fact of a slice: its name, as text, and as it is shown where that is more than text.
type Say = (name: string, text: string | null | undefined, shown?: Child | Child[]) => void;
type Fact = [name: string, shown: Child | Child[], text: string];
type Topic = "view" | "selection" | "pin" | "steps" | "stage" | "query" | "lanes" | "draw" | "pause";
type Matcher = Pick<Matches, "has_slice" | "has">;

type Detail = import("./detail.js").Detail;
type Explorer = import("./explorer.js").Explorer;
type HomeView = import("./home_view.js").HomeView;
type LaneArrangement = import("./lane_arrangement.js").LaneArrangement;
type LaneDrawing = import("./lane_drawing.js").LaneDrawing;
type Matches = import("./search.js").Matches;
type Palette = import("./palette.js").Palette;
type Search = import("./search.js").Search;
type Stacks = import("./stacks.js").Stacks;
type StepCharts = import("./step_charts.js").StepCharts;
type StepPicker = import("./step_picker.js").StepPicker;
type TableTools = import("./table_tools.js").TableTools;
type Timeline = import("./timeline.js").Timeline;

// d3's modules are packaged without types.
declare module "d3-axis";
declare module "d3-brush";
declare module "d3-scale";
declare module "d3-selection";
declare module "d3-zoom";

// Newer than the compiler's own list of what browsers have.
interface Window {
  DecompressionStream: new (format: "gzip") => GenericTransformStream;
}
interface Uint8ArrayConstructor {
  fromBase64?(text: string): ReturnType<Uint8ArrayConstructor["of"]>;
}
