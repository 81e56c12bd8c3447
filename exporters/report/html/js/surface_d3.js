// Scales, axes, zoom and brush, by d3; surface_none.js stands in where the build had none. Of d3's modules above:
//
// Copyright 2010-2022 Mike Bostock. All rights reserved. Redistribution and use in source and binary forms, with or without
// modification, are permitted provided that the following conditions are met: Redistributions of source code must retain the
// above copyright notice, this list of conditions and the following disclaimer. Redistributions in binary form must reproduce
// the above copyright notice, this list of conditions and the following disclaimer in the documentation and/or other
// materials provided with the distribution. Neither the name of the author nor the names of contributors may be used to
// endorse or promote products derived from this software without specific prior written permission. THIS SOFTWARE IS
// PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS "AS IS" AND ANY EXPRESS OR IMPLIED WARRANTIES, INCLUDING, BUT NOT
// LIMITED TO, THE IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS FOR A PARTICULAR PURPOSE ARE DISCLAIMED. IN NO EVENT
// SHALL THE COPYRIGHT OWNER OR CONTRIBUTORS BE LIABLE FOR ANY DIRECT, INDIRECT, INCIDENTAL, SPECIAL, EXEMPLARY, OR
// CONSEQUENTIAL DAMAGES (INCLUDING, BUT NOT LIMITED TO, PROCUREMENT OF SUBSTITUTE GOODS OR SERVICES; LOSS OF USE, DATA, OR
// PROFITS; OR BUSINESS INTERRUPTION) HOWEVER CAUSED AND ON ANY THEORY OF LIABILITY, WHETHER IN CONTRACT, STRICT LIABILITY,
// OR TORT (INCLUDING NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT OF THE USE OF THIS SOFTWARE, EVEN IF ADVISED OF THE
// POSSIBILITY OF SUCH DAMAGE. (d3-array: ISC, by the same author.)
const surface_note = "";

function linear_scale(domain, range) {
  return d3.scaleLinear().domain(domain).range(range);
}

// d3 before version 6 keeps the event to itself, later ones pass it.
function d3_event(passed) {
  return d3.event || passed;
}

function draw_axis(group, side, scale, ticks, label) {
  const axis = (side === "top" ? d3.axisTop : side === "left" ? d3.axisLeft : d3.axisBottom)(scale);
  d3.select(group).call(axis.tickValues(ticks).tickFormat(label).tickSizeOuter(0));
}

// Drag, wheel and pinch on an element. `allowed(event)` says which gestures are its own, `moved(from, to)` gets the new view.
// The answer is a function that tells the surface a view that came from elsewhere.
function zoom_surface(element, whole, narrowest, allowed, moved) {
  const zoom = d3.zoom().filter(passed => allowed(d3_event(passed))).on("zoom", passed => {
    const event = d3_event(passed);
    if (!event.sourceEvent) return;
    const width = element.clientWidth, { x, k } = event.transform;
    moved(-x / k / width * whole, (width - x) / k / width * whole);
  });
  d3.select(element).call(zoom).on("dblclick.zoom", null);
  element.style.touchAction = "";
  return (from, to) => {
    const width = Math.max(1, element.clientWidth), k = whole / (to - from);
    zoom.extent([[0, 0], [width, 1]]).translateExtent([[0, 0], [width, 1]]).scaleExtent([1, whole / narrowest]);
    element.__zoom = d3.zoomIdentity.translate(-from / whole * width * k, 0).scale(k);
  };
}

// A brush over the whole width of a drawing. `chosen(from, to)` gets shares of the width; a click without a drag has from = to.
function brush_surface(svg, chosen) {
  const group = d3.select(svg).append("g").attr("class", "brush"), brush = d3.brushX();
  let width = 1;
  let pressed_at = 0;
  brush.on("start", passed => {
    const event = d3_event(passed);
    if (event.sourceEvent && event.selection) pressed_at = event.selection[0];
  });
  brush.on("brush end", passed => {
    const event = d3_event(passed);
    if (!event.sourceEvent) return;
    if (event.selection && event.selection[1] - event.selection[0] > 1) chosen(event.selection[0] / width, event.selection[1] / width);
    else if (event.type === "end") chosen(pressed_at / width, pressed_at / width);
  });
  return (new_width, height, from, to) => {
    if (new_width !== width) {
      width = new_width;
      group.call(brush.extent([[0, 0], [width, height]]));
    }
    const wide = Math.max(4, (to - from) * width), left = Math.max(0, Math.min(from * width, width - wide));
    group.call(brush.move, [left, left + wide]);
  };
}
