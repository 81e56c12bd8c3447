// A canvas that remembers what was drawn on it: [colour, left, top, width, height, alpha].

/** @returns {any} */
export function drawn_context() {
  /** @type {any} */
  const context = { fillStyle: "", globalAlpha: 1, rects: [], texts: [] };
  context.fillRect = (/** @type {number[]} */ ...box) => context.rects.push([context.fillStyle, ...box, context.globalAlpha]);
  context.fillText = (/** @type {string} */ text) => context.texts.push(text);
  context.measureText = (/** @type {string} */ text) => ({ width: 6 * text.length });
  return context;
}
