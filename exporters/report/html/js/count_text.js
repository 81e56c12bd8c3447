// Numbers and plurals as the report writes them.
/** @param {number} count @param {string} word */
export function plural(count, word) {
  return count_text(count) + " " + word + (count === 1 ? "" : "s");
}

// 1234567 → "1,234,567", as everywhere in the report.
/** @param {number} count */
export function count_text(count) {
  const [whole, part] = String(count).split(".");
  return whole.replace(/\B(?=(\d{3})+$)/g, ",") + (part ? "." + part : "");
}
