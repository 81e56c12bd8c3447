// What every module makes elements with. Attributes that are functions are listeners; no style attribute, the policy
// refuses it (element.style is let through).
/**
 * @template {Element} Kind
 * @param {Kind} element @param {Attributes | undefined} attributes @param {Child[]} children
 */
export function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, String(value));
  }
  for (const child of children)
    if (child !== null && child !== undefined && child !== "") element.append(child);
  return element;
}

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag @param {Attributes} [attributes] @param {...Child} children
 */
export function make(tag, attributes, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/**
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag @param {Attributes} [attributes] @param {...Child} children
 */
export function make_svg(tag, attributes, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

// The label is for those who hear it, where the text alone does not tell what the button does.
/** @param {string} text @param {string} label @param {() => unknown} act @param {Attributes} [attributes] */
export function button(text, label, act, attributes) {
  return make("button", { type: "button", "aria-label": label || null, click: act, ...attributes }, text);
}

// What the page always has.
/** @param {string} selector @param {ParentNode} [inside] @returns {HTMLElement} */
export function existing(selector, inside) {
  /** @type {HTMLElement | null} */
  const element = (inside || document).querySelector(selector);
  if (!element) throw new Error("no " + selector + " in this page");
  return element;
}

// What changed, for those who cannot see it change.
export function start_announcements() {
  document.body.append(make("div", { class: "sr", role: "status", "aria-live": "polite", id: "live" }));
}

/** @param {string} text */
export function announce(text) {
  existing("#live").textContent = text;
}

// Data that the page carries for its script; null where there is none.
/** @param {string} id */
export function data_block(id) {
  const block = document.getElementById(id);
  return block ? JSON.parse(block.textContent || "") : null;
}

/** @param {number} wait_ms @param {() => void} act */
export function later(wait_ms, act) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(act, wait_ms);
  };
}

export function reduced_motion() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** @param {EventTarget | null} target */
export function typing(target) {
  return target instanceof Element && target.closest("input, select, textarea") !== null;
}

// Spoken of by those who paste it into a ticket. A file may have no clipboard.
/** @param {string} text */
export async function copy_text(text) {
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

/** @param {string} name @param {string} type @param {string} text */
export function save_file(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = make("a", { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
