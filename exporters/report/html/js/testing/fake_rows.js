// Rows and cells of a table, as far as grouping and sorting look at them.

/** @param {{ [name: string]: string }} attributes @param {string} [text] @returns {any} */
export function fake_element(attributes, text = "") {
  const values = new Map(Object.entries(attributes));
  return {
    textContent: text,
    getAttribute: (/** @type {string} */ name) => values.get(name) ?? null,
    hasAttribute: (/** @type {string} */ name) => values.has(name),
    setAttribute: (/** @type {string} */ name, /** @type {string} */ value) => values.set(name, value),
    removeAttribute: (/** @type {string} */ name) => values.delete(name),
    classList: { contains: (/** @type {string} */ name) => (values.get("class") || "").split(" ").includes(name) },
  };
}

// A cell is a text, or [value, text].
/** @param {(string | [number, string])[]} cells @param {{ [name: string]: string }} [attributes] */
export function fake_row(cells, attributes = {}) {
  const made = cells.map(cell => typeof cell === "string" ? fake_element({}, cell) : fake_element({ "data-v": String(cell[0]) }, cell[1]));
  return Object.assign(fake_element(attributes), { cells: made });
}
