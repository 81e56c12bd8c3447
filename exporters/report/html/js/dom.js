// What every module makes elements with. Attributes that are functions are listeners; no style attribute, the policy
// refuses it (element.style is let through).
const root = document.documentElement;

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter(child => child !== null && child !== undefined && child !== ""));
  return element;
}

function make(tag, attributes, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

function make_svg(tag, attributes, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

// The label is for those who hear it, where the text alone does not tell what the button does.
function button(text, label, act, attributes) {
  return make("button", { type: "button", "aria-label": label || null, click: act, ...attributes }, text);
}

// What changed, for those who cannot see it change.
const live_region = make("div", { class: "sr", role: "status", "aria-live": "polite", id: "live" });
document.body.append(live_region);

function announce(text) {
  live_region.textContent = text;
}

function plural(count, word) {
  return count_text(count) + " " + word + (count === 1 ? "" : "s");
}

// 1234567 → "1,234,567", as everywhere in the report.
function count_text(count) {
  const [whole, part] = String(count).split(".");
  return whole.replace(/\B(?=(\d{3})+$)/g, ",") + (part ? "." + part : "");
}

// Data that the page carries for its script; null where there is none.
function data_block(id) {
  const block = document.getElementById(id);
  return block ? JSON.parse(block.textContent) : null;
}

function later(wait_ms, act) {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(act, wait_ms);
  };
}

function reduced_motion() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

function typing(target) {
  return Boolean(target && target.closest && target.closest("input, select, textarea"));
}

// Spoken of by those who paste it into a ticket. A file may have no clipboard.
async function copy_text(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch (denied) {
    const area = make("textarea", { class: "sr" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  announce("Copied");
}

function save_file(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = make("a", { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
