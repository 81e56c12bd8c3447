#pragma once

#include <string>

#include "model/run.h"

namespace nl::test {

// A script that lists the visible texts whose contrast with what lies behind them is under 4.5 : 1 (WCAG 2, AA). Text
// inside bars is compared with the bar's own fill.
inline constexpr const char* kFaintTexts = R"js((() => {
  const parse = c => (c.match(/[\d.]+/g) || []).map(Number).map((v, i) => c.startsWith('color(') && i < 3 ? v * 255 : v);
  const light = c => { const [r, g, b] = c.map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const behind = e => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c.length === 3 || c[3] > 0) return c; } return [255, 255, 255]; };
  const picture = e => { while (e.ownerSVGElement) e = e.ownerSVGElement; return e; };
  const faint = [];
  for (const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT); walker.nextNode();) {
    const node = walker.currentNode, e = node.parentElement, style = getComputedStyle(e);
    if (!node.textContent.trim() || !e.checkVisibility() || ['SCRIPT', 'STYLE', 'title'].includes(e.tagName)) continue;
    const drawn = e instanceof SVGElement;
    const bar = drawn && (e.classList.contains('in') || e.classList.contains('number')) ? e.parentElement.querySelector('rect, circle') : null;
    const front = parse(drawn ? style.fill : style.color), back = bar ? parse(getComputedStyle(bar).fill) : behind(drawn ? picture(e) : e);
    const a = light(front.slice(0, 3)), b = light(back.slice(0, 3)), ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (!(ratio >= 4.5)) faint.push(ratio.toFixed(2) + ' ' + e.tagName + '.' + (e.getAttribute('class') || '') + ' ' + node.textContent.trim().slice(0, 40));
  }
  return [...new Set(faint)];
})())js";

// The run with this text wherever a run holds text that others chose.
Run named_everywhere(Run run, const std::string& text);

}  // namespace nl::test
