// Terms of the glossary are explained where they first stand in a section: by pointing at them, or with the keyboard.
import { data_block, filled, make } from "./dom.js";

const kTermPlaces = "h2, h3, thead th, .tile dt, .legend b, p, li, dt, figcaption, .row .what";

/** @param {string[]} terms */
export function term_pattern(terms) {
  const escaped = terms.map(term => term.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).sort((a, b) => b.length - a.length);
  return new RegExp("(?<![\\w-])(" + escaped.join("|") + ")(?![\\w-])", "i");
}

// In a sentence "total" and "time" are plain words; heads of tables are explained whatever they are called.
/** @param {string} name */
export function is_term_in_text(name) {
  return /[-_\d ]|[A-Z]{2}/.test(name);
}

/** @param {PageData["glossary"]} glossary */
function explain_terms(glossary) {
  const terms = Object.keys(glossary).filter(is_term_in_text);
  if (terms.length === 0) return;
  const pattern = term_pattern(terms), by_lower = new Map(terms.map(term => [term.toLowerCase(), term]));
  for (const section of document.querySelectorAll("main > section, main > .tiles")) {
    const seen = new Set();
    for (const place of section.querySelectorAll(kTermPlaces))
      if (!place.closest(".explorer, table.sortable tbody")) explain_in(place, pattern, by_lower, glossary, seen);
  }
}

// One term in each text node is enough; code and links keep their own meaning.
/**
 * @param {Element} place @param {RegExp} pattern @param {Map<string, string>} by_lower @param {PageData["glossary"]} glossary
 * @param {Set<string>} seen
 */
function explain_in(place, pattern, by_lower, glossary, seen) {
  for (const node of [...place.childNodes]) {
    const text = node instanceof Element && node.tagName === "B" ? node.firstChild : node, found = text instanceof Text && pattern.exec(text.data);
    if (!found || !(text instanceof Text) || seen.has(found[1].toLowerCase())) continue;
    seen.add(found[1].toLowerCase());
    const term = text.splitText(found.index);
    term.splitText(found[1].length);
    const sentence = glossary[by_lower.get(found[1].toLowerCase()) || ""];
    term.replaceWith(make("span", { class: "term", tabindex: 0, "data-tip": sentence, "aria-description": sentence }, term.data));
  }
}

// Where a head of a table is a button, the button is pointed at and focused already.
/** @param {PageData["glossary"]} glossary */
function explain_heads(glossary) {
  const by_lower = new Map(Object.keys(glossary).map(term => [term.toLowerCase(), term]));
  for (const head of document.querySelectorAll("thead th button")) {
    const term = by_lower.get((head.textContent || "").toLowerCase().replace(/ %$/, ""));
    if (term) filled(head, { "data-tip": glossary[term], "aria-description": glossary[term], class: "term" }, []);
  }
}

export function start_glossary() {
  const data = data_block("page-data"), glossary = data && data.glossary;
  if (!glossary) return;
  explain_terms(glossary);
  explain_heads(glossary);
}
