// The modules themselves: no circles, and nothing that depends on the order in which they are loaded.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import test from "node:test";

const folder = new URL("./", import.meta.url);
const names = readdirSync(folder).filter(name => name.endsWith(".js") && !name.endsWith(".test.js"));
// Sample: import { make, make_svg } from "./dom.js";
const imports = new Map(names.map(name => {
  const from = [...readFileSync(new URL(name, folder), "utf8").matchAll(/^(?:import|export) [^;]*? from "([^"]+)";$/gm)].map(([, path]) => path);
  return [name, from.flatMap(path => path === "#surface" ? ["surface.js"] : path.startsWith("./") ? [path.slice(2)] : [])];
}));

function circle_from(name, path) {
  if (path.includes(name)) return [...path.slice(path.indexOf(name)), name];
  for (const next of imports.get(name) || []) {
    const found = circle_from(next, [...path, name]);
    if (found) return found;
  }
  return null;
}

test("no module imports in a circle", () => {
  assert.ok(names.length > 30);
  for (const name of names) assert.equal(circle_from(name, []), null);
});

test("every module is part of the page", () => {
  const seen = new Set(["start.js"]);
  for (const name of seen) for (const next of imports.get(name)) seen.add(next);
  assert.deepEqual(names.filter(name => !seen.has(name)), []);
});

test("a module can be loaded alone and without a page: it does nothing before it is called", async () => {
  const needs_more = ["start.js", "d3.js", "surface.js"];  // the first acts, the others need d3
  for (const name of names.filter(each => !needs_more.includes(each))) await import("./" + name);
});
