// Variance along each component, with the bounds of the certificate.

import { button, clamp, count, failed, h, num, notice, percent, plural, s } from "./dom.js";
import { get, latest } from "./api.js";
import { axes, figure, label, linear, logarithmic, path } from "./chart.js";

/** Bounds below this come from rounding alone. */
const ROUNDING = 1e-6;
/** Pixels beside the charts; on the right is an axis. */
const [LEFT, RIGHT] = [64, 48];

/** @param {App} app @returns {View} */
export function variance(app) {
  const load = latest();
  /** @type {Spectrum | null} */
  let spectrum = null;
  const el = h("div", { class: "view variance" });
  /** @type {((px: number) => number) | null} */
  let toK = null;

  /** Directions that the model keeps; the server sends at most a thousand. */
  const rank = () => app.model()?.rank ?? 0;

  /** Pixels of component i (from 1), shared by both charts. @param {number} width @param {number} n */
  const across = (width, n) => linear(0.5, n + 0.5, LEFT, width - RIGHT);

  /** The line at k, which can be dragged. @param {SVGSVGElement} svg @param {Scale} x @param {number} top @param {number} bottom @param {boolean} main */
  function kLine(svg, x, top, bottom, main) {
    const n = spectrum?.components.length ?? 1;
    const at = Math.round(x(Math.min(app.k(), n) + 0.5));
    const handle = s("g", main ? { class: "k-line", tabindex: 0, role: "slider", "aria-label": "Components k", "aria-valuemin": 1, "aria-valuemax": app.model()?.rank, "aria-valuenow": app.k(), keydown: slide } : { class: "k-line" },
      s("line", { x1: at, x2: at, y1: top, y2: bottom }), s("rect", { class: "grip", x: at - 8, width: 16, y: top, height: bottom - top }));
    if (main) {
      const text = `k = ${count(app.k())}`;
      const wide = 8 * text.length + 12;
      const left = clamp(at - wide / 2, 0, svg.clientWidth - wide);
      handle.append(s("rect", { class: "flag", x: left, y: top - 20, width: wide, height: 20, rx: 4 }), s("text", { class: "flag-text", x: left + wide / 2, y: top - 6, "text-anchor": "middle" }, text));
    }
    svg.append(handle);
  }
  /** @param {KeyboardEvent} event */
  function slide(event) {
    const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10, Home: -1e9, End: 1e9 }[event.key];
    if (!step) return;
    event.preventDefault();
    setK(app.k() + step, app.model()?.rank);
  }
  const setK = (/** @type {number} */ k, most = spectrum?.components.length ?? 1) => app.set({ k: clamp(Math.round(k), 1, most) });

  const bars = figure("Variance of each component", 0, (svg, width, height) => {
    if (!spectrum) return "";
    const list = spectrum.components;
    const [n, box] = [list.length, /** @type {Box} */ ([LEFT, 36, width - RIGHT, height - 44])];
    const x = across(width, n);
    const highest = Math.max(...list.map((c) => c.explained_variance[2]), 1e-300);
    const positive = list.map((c) => c.explained_variance[1]).filter((v) => v > highest * 1e-16);
    const y = app.state.log ? logarithmic(Math.min(...positive) / 2, highest * 1.2, box[3], box[1]) : linear(0, highest * 1.05, box[3], box[1]);
    axes(svg, box, null, y, { x: "component" });
    const every = Math.ceil(n / Math.max(4, Math.floor(width / 48)));
    const wide = Math.max(1, Math.min(48, 0.7 * (x(2) - x(1))));
    list.forEach((c, i) => {
      const [low, value, high] = c.explained_variance;
      const left = x(i + 1) - wide / 2;
      const uncertain = c.angle_bound >= 1;
      svg.append(s("rect", { class: `fill ${i < app.k() ? "" : "pale"} ${uncertain ? "uncertain" : ""}`, x: left, width: wide, y: y(value), height: Math.max(0, box[3] - y(value)) },
        s("title", {}, `PC ${i + 1}: variance ${num(value)} (${percent(c.explained_variance_ratio)}), between ${num(low)} and ${num(high)}`)));
      if (y(Math.max(low, y.low)) - y(high) > 0.5) svg.append(s("path", { class: "whisker", d: `M${x(i + 1)} ${y(Math.max(low, y.low))}V${y(high)}m-3 0h6M${x(i + 1) - 3} ${y(Math.max(low, y.low))}h6` }));
      if (n <= 12) label(svg, percent(c.explained_variance_ratio), x(i + 1), y(high) - 6, { class: "value", "text-anchor": "middle" });
      if (i % every === 0) label(svg, String(i + 1), x(i + 1), box[3] + 17, { class: "tick", "text-anchor": "middle" });
    });
    toK = (px) => x.back(px) - 0.5;
    kLine(svg, x, box[1], box[3], true);
    return `${spectrum.summary}${n < rank() ? ` The chart shows the first ${count(n)} components.` : ""}`;
  }, () => ({
    head: ["PC", "Variance", "at least", "at most", "Ratio"],
    rows: (spectrum?.components ?? []).map((c, i) => [i + 1, num(c.explained_variance[1]), num(c.explained_variance[0]), num(c.explained_variance[2]), percent(c.explained_variance_ratio, 2)]),
  }));

  const sums = figure("Captured variance and certainty", 228, (svg, width, height) => {
    if (!spectrum) return "";
    const list = spectrum.components;
    const [n, box] = [list.length, /** @type {Box} */ ([LEFT, 30, width - RIGHT, height - 44])];
    const [x, y] = [across(width, n), linear(0, 1, box[3], box[1])];
    axes(svg, box, null, y, { x: "first k components", tickY: (v) => percent(v, 0) });
    const every = Math.ceil(n / Math.max(4, Math.floor(width / 48)));
    for (let i = 0; i < n; i += every) label(svg, String(i + 1), x(i + 1), box[3] + 17, { class: "tick", "text-anchor": "middle" });
    svg.append(s("pattern", { id: "hatch", width: 7, height: 7, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, s("line", { class: "grid", y2: 7 })));
    /** @type {[number, number][]} runs of k for which the bound is 1 */
    const open = [];
    list.forEach((c, i) => {
      if (c.angle_bound < 1) return;
      if (open.at(-1)?.[1] === i) open[open.length - 1][1] = i + 1;
      else open.push([i, i + 1]);
    });
    for (const [from, to] of open) {
      const [left, right] = [x(from + 0.5), x(to + 0.5)];
      svg.append(s("rect", { fill: "url(#hatch)", x: left, width: right - left, y: box[1], height: box[3] - box[1] }, s("title", {}, "nothing is certain here")));
      if (right - left > 150) label(svg, "nothing is certain here", (left + right) / 2, (box[1] + box[3]) / 2, { class: "halo", "text-anchor": "middle" });
    }
    const line = (/** @type {(c: Spectrum["components"][0]) => number} */ f) => list.map((c, i) => /** @type {[number, number]} */ ([x(i + 1), y(clamp(f(c), 0, 1))]));
    const [upper, lower] = [line((c) => c.cumulative[2]), line((c) => c.cumulative[0]).reverse()];
    svg.append(s("path", { class: "band", d: `${path([...upper, ...lower])}Z` }), s("path", { class: "line", d: path(line((c) => c.cumulative[1])) }), s("path", { class: "line second", d: path(line((c) => (c.angle_bound < 1 ? c.angle_bound : NaN))) }));
    if (n <= 200) list.forEach((c, i) => { if (c.angle_bound < 1) svg.append(s("circle", { class: "fill second", cx: x(i + 1), cy: y(c.angle_bound), r: 2.5 })); });
    // A share and a sine are different things, so each line has its axis: one on the left, one on the right.
    for (const v of [0, 0.2, 0.4, 0.6, 0.8, 1]) label(svg, num(v), box[2] + 8, y(v) + 4, { class: "tick second" });
    const named = (/** @type {string} */ text, /** @type {string} */ kind, /** @type {number} */ left) => {
      svg.append(s("line", { class: `line ${kind}`, x1: left, x2: left + 28, y1: 12, y2: 12 }));
      label(svg, text, left + 36, 16, { class: kind });
    };
    named("captured", "first", LEFT);
    named("angle bound, as sine (right)", "second", LEFT + 140);
    kLine(svg, x, box[1], box[3], false);
    const k = Math.min(app.k(), n);
    const c = list[k - 1];
    const sure = c.angle_bound >= 1 ? "nothing is certain about their directions" : c.angle_bound < ROUNDING ? "their subspace is exact" : `their subspace is within an angle of ${num(c.angle_bound)} (sine) of batch PCA`;
    return `The first ${count(k)} capture between ${percent(c.cumulative[0], 2)} and ${percent(c.cumulative[2], 2)}; ${sure}.`;
  }, () => ({
    head: ["k", "Captured", "at least", "at most", "Angle bound (sine)"],
    rows: (spectrum?.components ?? []).map((c, i) => [i + 1, percent(c.cumulative[1], 2), percent(c.cumulative[0], 2), percent(c.cumulative[2], 2), c.angle_bound >= 1 ? "nothing certain" : num(c.angle_bound)]),
  }));

  bars.svg.setAttribute("role", "group");
  for (const { svg } of [bars, sums]) {
    svg.addEventListener("pointerdown", (event) => {
      if (!toK) return;
      svg.setPointerCapture(event.pointerId);
      const move = (/** @type {PointerEvent} */ e) => setK(/** @type {(px: number) => number} */ (toK)(e.clientX - svg.getBoundingClientRect().left));
      move(event);
      svg.addEventListener("pointermove", move);
      svg.addEventListener("pointerup", () => svg.removeEventListener("pointermove", move), { once: true });
    });
  }
  const log = button("Logarithmic", { click: () => app.set({ log: !app.state.log }) });

  async function reload() {
    const model = app.model();
    if (!model) return;
    if (!spectrum) el.replaceChildren(notice("loading", "Loading the spectrum"));
    try {
      const answer = await load((signal) => get(`models/${model.id}/spectrum`, { k: app.k() }, signal));
      if (!answer) return;
      spectrum = answer;
      if (!bars.el.isConnected) el.replaceChildren(h("div", { class: "tools" }, h("span", {}, "Drag the line, or use the arrow keys, to choose k."), h("span", { class: "grow" }), log), bars.el, sums.el);
      redraw();
    } catch (error) {
      el.replaceChildren(failed(error, reload));
    }
  }
  function redraw() {
    log.setAttribute("aria-pressed", String(app.state.log));
    const focused = document.activeElement?.classList.contains("k-line");
    bars.redraw();
    sums.redraw();
    if (focused) /** @type {SVGElement | null} */ (bars.svg.querySelector(".k-line"))?.focus();
    const n = spectrum?.components.length ?? 0;
    app.status(`${n < rank() ? `${count(n)} of ` : ""}${plural(rank(), "component")} \u00b7 total variance ${num(spectrum?.total_variance)}`);
  }
  return {
    el,
    update(changed) {
      if (changed.has("k") || changed.has("log")) redraw();
      if (changed.has("model") || changed.has("k")) reload();
    },
    plots: () => [{ kind: "scree", query: {} }],
  };
}
