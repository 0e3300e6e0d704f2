// Charts as SVG elements: scales, axes, and a figure with a summary in words and a table.

import { h, s, short, table } from "./dom.js";

/** About `n` round numbers from `low` to `high`. @param {number} low @param {number} high */
export function ticks(low, high, n = 5) {
  const rough = (high - low) / n;
  // Steps that are lost in the digits of a number would never reach the end.
  if (!(rough > 1e-12 * Math.max(Math.abs(low), Math.abs(high))) || !Number.isFinite(rough)) return [];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * (rough / power < 1.5 ? 1 : rough / power < 3.5 ? 2 : rough / power < 7.5 ? 5 : 10);
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i++) found.push(Number((i * step).toPrecision(12)));
  return found;
}

/** Powers of ten from `low` to `high`, thinned to seven. @param {number} low @param {number} high */
export function powers(low, high) {
  const [a, b] = [Math.ceil(Math.log10(low) - 1e-9), Math.floor(Math.log10(high) + 1e-9)];
  const step = Math.max(1, Math.ceil((b - a) / 6));
  const found = [];
  for (let p = a; p <= b; p += step) found.push(10 ** p);
  return found;
}

/** @param {number} low @param {number} high @param {number} from @param {number} to @returns {Scale} */
export function linear(low, high, from, to) {
  const width = high - low || 1;
  const at = (/** @type {number} */ x) => from + ((x - low) / width) * (to - from);
  return Object.assign(at, { low, high, back: (/** @type {number} */ y) => low + ((y - from) / (to - from || 1)) * width, ticks: (n = 5) => ticks(low, high, n) });
}

/** @param {number} low @param {number} high @param {number} from @param {number} to @returns {Scale} */
export function logarithmic(low, high, from, to) {
  const inner = linear(Math.log10(low), Math.log10(high), from, to);
  const at = (/** @type {number} */ x) => inner(Math.log10(Math.max(x, low)));
  return Object.assign(at, { low, high, back: (/** @type {number} */ y) => 10 ** inner.back(y), ticks: () => powers(low, high) });
}

/** @param {SVGElement} into @param {string} text @param {number} x @param {number} y @param {Record<string, any>} [props] */
export function label(into, text, x, y, props = {}) {
  const node = s("text", { x, y, ...props }, text);
  into.append(node);
  return node;
}

/**
 * Grid lines and numbers: `box` is left, top, right, bottom.
 * @param {SVGElement} into @param {Box} box @param {Scale | null} x @param {Scale | null} y
 * @param {{ x?: string, y?: string, tickX?: (v: number) => string, tickY?: (v: number) => string, nx?: number, ny?: number, net?: boolean }} [names]
 */
export function axes(into, box, x, y, names = {}) {
  const [left, top, right, bottom] = box;
  for (const v of y?.ticks(names.ny) ?? []) {
    const at = Math.round(/** @type {Scale} */ (y)(v)) + 0.5;
    into.append(s("line", { class: "grid", x1: left, x2: right, y1: at, y2: at }));
    label(into, (names.tickY ?? short)(v), left - 8, at + 4, { class: "tick", "text-anchor": "end" });
  }
  for (const v of x?.ticks(names.nx) ?? []) {
    const at = Math.round(/** @type {Scale} */ (x)(v)) + 0.5;
    into.append(s("line", { class: "grid", x1: at, x2: at, y1: names.net ? top : bottom, y2: bottom + 4 }));
    label(into, (names.tickX ?? short)(v), at, bottom + 17, { class: "tick", "text-anchor": "middle" });
  }
  into.append(s("line", { class: "axis", x1: left, x2: right, y1: bottom + 0.5, y2: bottom + 0.5 }));
  if (names.x) label(into, names.x, (left + right) / 2, bottom + 34, { class: "axis-name", "text-anchor": "middle" });
  if (names.y) label(into, names.y, left, top - 10, { class: "axis-name" });
}

/** A path through points; a value that is not finite breaks it. @param {[number, number][]} points */
export function path(points) {
  let text = "";
  let pen = "M";
  for (const [x, y] of points) {
    if (Number.isFinite(x) && Number.isFinite(y)) {
      text += `${pen}${x.toFixed(1)} ${y.toFixed(1)}`;
      pen = "L";
    } else pen = "M";
  }
  return text;
}

/**
 * A figure that is drawn again whenever its size changes. `draw` gets an empty SVG and its size and
 * returns a sentence that says what is seen.
 * @param {string} title @param {number} height 0: as high as the room that is left
 * @param {(svg: SVGSVGElement, width: number, height: number) => string} draw
 * @param {() => { head: string[], rows: Child[][] }} [rows]
 */
export function figure(title, height, draw, rows) {
  const svg = s("svg", { role: "img", class: "chart" });
  const summary = h("p", { class: "summary" });
  const details = rows ? h("details", { toggle: () => fillTable() }, h("summary", {}, "Table")) : null;
  const frame = h("div", { class: height ? "frame" : "frame grow" }, svg);
  const el = h("figure", { class: height ? "" : "grow" }, h("figcaption", {}, h("h2", {}, title), summary), frame, details);
  if (height) frame.style.height = `${height}px`;
  function fillTable() {
    if (!details?.open || !rows) return;
    const { head, rows: body } = rows();
    details.replaceChildren(/** @type {Element} */ (details.firstChild), table(title, head, body));
  }
  function redraw() {
    const [width, tall] = [frame.clientWidth, frame.clientHeight];
    if (!width || !tall) return;
    svg.replaceChildren();
    svg.setAttribute("viewBox", `0 0 ${width} ${tall}`);
    const text = draw(svg, width, tall);
    summary.textContent = text;
    svg.setAttribute("aria-label", `${title}. ${text}`);
    fillTable();
  }
  new ResizeObserver(redraw).observe(frame);
  return { el, svg, redraw };
}

/** Whether two boxes (left, top, right, bottom) overlap. @param {Box} a @param {Box} b */
export const overlap = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];

/** Whether an arrow passes through a box. @param {[number, number]} from @param {[number, number]} to @param {Box} box */
function crosses(from, to, box) {
  for (let share = 0; share <= 1; share += 1 / 64) {
    const [x, y] = [from[0] + share * (to[0] - from[0]), from[1] + share * (to[1] - from[1])];
    if (x > box[0] && x < box[2] && y > box[1] && y < box[3]) return true;
  }
  return false;
}

/**
 * Names at the tips of arrows, the first ones first; a name that would cover another one, or its own arrow, is left out.
 * @param {SVGElement} into @param {{ name: string, x: number, y: number }[]} tips @param {[number, number]} center @param {Box} inside
 */
export function tipNames(into, tips, center, inside) {
  /** @type {Box[]} */
  const used = [];
  for (const tip of tips) {
    const text = tip.name.length > 24 ? `${tip.name.slice(0, 23)}\u2026` : tip.name;
    const wide = 7 * text.length;
    const outward = tip.x >= center[0];
    for (const [right, below] of [[outward, tip.y >= center[1]], [outward, tip.y < center[1]], [!outward, tip.y >= center[1]], [!outward, tip.y < center[1]]]) {
      // A name on the inner side keeps away from its arrow.
      const away = right === outward ? 0 : 5;
      const [x, y] = [tip.x + (right ? 6 : -6), tip.y + (below ? 13 + away : -6 - away)];
      /** @type {Box} */
      const box = [right ? x : x - wide, y - 11, right ? x + wide : x, y + 3];
      if (used.some((u) => overlap(u, box)) || crosses(center, [tip.x, tip.y], box) || box[0] < inside[0] || box[2] > inside[2] || box[1] < inside[1] || box[3] > inside[3]) continue;
      used.push(box);
      label(into, text, x, y, { class: "halo", "text-anchor": right ? "start" : "end" });
      break;
    }
  }
}
