// T² and Q of every row with their limits; live while rows arrive.

import { allUsed, button, clamp, count, failed, h, notice, num, percent, plural, s } from "./dom.js";
import { get, latest } from "./api.js";
import { axes, figure, linear, path } from "./chart.js";

/** Rows of the tables, the last ones. */
const TABLED = 1000;

/** @typedef {{ rows: number[], t2: number[], q: number[], t2_limit: number | null, q_limit: number | null, angles?: (number | null)[], beyond: [number, number], total: number }} Series */

/** @param {App} app @returns {View} */
export function monitor(app) {
  const load = latest();
  const el = h("div", { class: "view monitor" });
  const tools = h("div", { class: "tools" });
  /** @type {Series | null} */
  let series = null;
  let paused = false;
  const live = () => app.watching && Boolean(app.session.watch);
  const noneLeft = () => allUsed(app.measure().model, app.measure().k);
  /** @type {[number, number] | null} */
  let brush = null;

  /** @param {"t2" | "q"} which @param {string} title */
  function chart(which, title) {
    const fig = figure(title, 0, (svg, width, height) => {
      if (!series) return "";
      const { rows } = series;
      const none = which === "q" && noneLeft();
      const [values, limit] = [series[which].map((v) => (none ? 0 : v)), none ? null : series[which === "t2" ? "t2_limit" : "q_limit"]];
      const box = /** @type {Box} */ ([64, 12, width - 16, height - 24]);
      const most = values.reduce((a, b) => Math.max(a, b ?? 0), limit ?? 0) * 1.08 || 1;
      const x = linear(rows[0] ?? 0, Math.max(rows.at(-1) ?? 1, (rows[0] ?? 0) + 1), box[0] + 6, box[2] - 6);
      const y = linear(0, most, box[3], box[1]);
      axes(svg, box, x, y, { tickX: count, nx: Math.max(2, width / 110), ny: Math.max(2, height / 50) });
      svg.append(s("path", { class: rows.length > 600 ? "line thin dense" : "line thin", d: path(values.map((v, i) => [x(rows[i]), y(v)])) }));
      if (limit !== null) {
        const at = y(limit);
        svg.append(s("line", { class: "limit", x1: box[0], x2: box[2], y1: at, y2: at }));
      }
      let beyond = 0;
      values.forEach((v, i) => {
        const row = rows[i];
        if (app.selection?.marks[row]) svg.append(s("circle", { class: "selected", cx: x(row), cy: y(v), r: 3 }));
        if (limit === null || !(v > limit)) return;
        beyond++;
        if (beyond <= 500) svg.append(s("path", { class: "alarm-mark", d: `M${x(row)} ${y(v) - 5}l4.500 8h-9Z` }, s("title", {}, `row ${row}: ${num(v)}`)));
      });
      if (limit !== null) svg.append(s("text", { class: "halo limit-name", x: box[0] + 6, y: y(limit) - 6 }, `limit ${num(limit)}`));
      const i = rows.indexOf(app.state.row);
      if (i >= 0) svg.append(s("circle", { class: "chosen", cx: x(rows[i]), cy: y(values[i]), r: 8 }));
      if (brush) svg.append(s("rect", { class: "brush", x: Math.min(x(brush[0]), x(brush[1])), width: Math.abs(x(brush[1]) - x(brush[0])), y: box[1], height: box[3] - box[1] }));
      scale = x;
      const share = series.beyond[which === "t2" ? 0 : 1];
      const used = plural(app.measure().k, "component");
      const fewer = live() ? "Start the command with a smaller -k." : "Choose fewer with [.";
      if (none) return `Q of every row is 0, because all ${used} are used. ${fewer}`;
      if (limit === null) return `There is no limit: the model has too few rows for ${used}. ${fewer}`;
      return `${percent(share)} of ${series.total > rows.length && live() ? `the last ${plural(rows.length, "row")}` : "rows"} beyond the limit ${num(limit)}; 1.0 % is expected.`;
    }, () => {
      const none = which === "q" && noneLeft();
      const limit = none ? null : (series?.[which === "t2" ? "t2_limit" : "q_limit"] ?? null);
      const [rows, values] = [series?.rows.slice(-TABLED) ?? [], (series?.[which].slice(-TABLED) ?? []).map((v) => (none ? 0 : v))];
      return { head: ["Row", which === "t2" ? "T\u00b2" : "Q", "Limit"], rows: rows.map((r, i) => [count(r), num(values[i]), limit === null ? "none" : values[i] > limit ? "beyond" : "within"]) };
    });
    interact(fig.svg, which);
    return fig;
  }
  /** @type {Scale | null} */
  let scale = null;
  const charts = [chart("t2", "T\u00b2: distance from the mean inside the model"), chart("q", "Q: distance from the model")];
  const angle = figure("Angle to the reference model", 110, (svg, width, height) => {
    const known = (series?.angles ?? []).map((a, i) => /** @type {[number, number]} */ ([series?.rows[i] ?? 0, a ?? NaN]));
    const last = known.at(-1)?.[1];
    const box = /** @type {Box} */ ([64, 12, width - 16, height - 24]);
    const x = linear(known[0]?.[0] ?? 0, Math.max(known.at(-1)?.[0] ?? 1, 1), box[0] + 6, box[2] - 6);
    const largest = known.reduce((a, [, b]) => Math.max(a, b || 0), 0);
    const y = linear(0, clamp(1.3 * largest, 0.1, Math.PI / 2), box[3], box[1]);
    axes(svg, box, x, y, { tickX: count, nx: Math.max(2, width / 110), ny: 2 });
    svg.append(s("path", { class: "line second", d: path(known.map(([r, a]) => [x(r), y(a)])) }));
    if (last !== undefined && !Number.isNaN(last)) svg.append(s("circle", { class: "fill second", cx: x(known[known.length - 1][0]), cy: y(last), r: 4 }));
    return last === undefined || Number.isNaN(last) ? "Not known yet." : `${num(last)} radians between the model of the rows that arrived and the reference model.`;
  }, () => ({ head: ["Row", "Angle (radians)"], rows: (series?.rows ?? []).slice(-TABLED).map((r, i, { length }) => [count(r), num(series?.angles?.at(i - length))]) }));

  /** Clicks choose a row, drags select rows. @param {SVGSVGElement} svg @param {"t2" | "q"} which */
  function interact(svg, which) {
    let start = -1;
    const position = (/** @type {MouseEvent} */ e) => e.clientX - svg.getBoundingClientRect().left;
    svg.addEventListener("pointerdown", (event) => {
      start = position(event);
      svg.setPointerCapture(event.pointerId);
    });
    svg.addEventListener("pointermove", (event) => {
      if (start < 0 || !scale || Math.abs(position(event) - start) < 5) return;
      brush = [scale.back(start), scale.back(position(event))];
      redraw();
    });
    svg.addEventListener("pointerup", (event) => {
      const at = position(event);
      if (brush) selectRows(Math.min(...brush), Math.max(...brush));
      else if (start >= 0) pick(which, at);
      [start, brush] = [-1, null];
      redraw();
    });
  }

  /** Chooses the highest value within a few pixels, so that alarms are easy to hit. @param {"t2" | "q"} which @param {number} px */
  function pick(which, px) {
    if (!series || !scale) return;
    let [best, found] = [-Infinity, -1];
    series.rows.forEach((row, i) => {
      const away = Math.abs(/** @type {Scale} */ (scale)(row) - px);
      const value = away > 6 ? -1e9 - away : (series?.[which][i] ?? 0);
      if (value > best) [best, found] = [value, row];
    });
    if (found < 0) return;
    app.set({ row: found });
  }

  /** @param {number} low @param {number} high */
  function selectRows(low, high) {
    const marks = new Uint8Array(app.session.data?.rows ?? 0);
    const [a, b] = [clamp(Math.ceil(low), 0, marks.length), clamp(Math.floor(high) + 1, 0, marks.length)];
    marks.fill(1, a, b);
    app.select({ marks, count: Math.max(0, b - a) });
  }

  function fromLive() {
    const { watch } = app.session;
    const now = app.live;
    if (watch?.state === "failed") return el.replaceChildren(tools, failed({ message: watch.error?.error ?? "cannot read the watched rows", hint: watch.error?.hint }));
    if (!now?.rows.length) return el.replaceChildren(tools, notice("empty", "Waiting for rows", `Rows that arrive in ${watch?.source === "-" ? "the standard input" : watch?.source} appear here.`));
    const beyond = (/** @type {number[]} */ list, /** @type {number | null} */ limit) => (limit === null ? 0 : list.filter((v) => v > limit).length / list.length);
    if (!series) toolbar();
    series = { ...now, beyond: [beyond(now.t2, now.t2_limit), beyond(now.q, now.q_limit)] };
    place(now.angles.some((a) => a !== null));
    app.status(`${plural(now.total, "row")} watched, the last ${count(now.rows.length)} shown \u00b7 ${watch?.state === "ended" ? "the input ended" : app.stream === "live" ? (paused ? "paused" : "live") : "reconnecting"}`);
  }

  async function reload() {
    toolbar();
    const model = app.model();
    if (live()) return fromLive();
    if (!model || !app.session.data) return el.replaceChildren(tools, notice("empty", "No rows to monitor", `Give data, or --watch FILE for rows that arrive: ${app.session.command} DATA`));
    if (!series) el.replaceChildren(tools, notice("loading", "Computing T\u00b2 and Q"));
    try {
      const answer = /** @type {Monitored | undefined} */ (await load((signal) => get(`models/${model.id}/monitor`, { k: app.k() }, signal)));
      if (!answer) return;
      const rows = answer.rows ?? answer.t2.map((_, i) => answer.first + i);
      series = { ...answer, rows, beyond: [answer.beyond_t2, answer.beyond_q] };
      place(false);
      app.status(`${plural(answer.total, "row")}${answer.stride > 1 ? `, the highest of every ${answer.stride}` : ""} \u00b7 k = ${answer.n_components}`);
    } catch (error) {
      el.replaceChildren(tools, failed(error, reload));
    }
  }

  /** @param {boolean} angles */
  function place(angles) {
    const parts = [tools, ...charts.map((c) => c.el), ...(angles ? [angle.el] : [])];
    if (el.children.length !== parts.length || parts.some((p, i) => el.children[i] !== p)) el.replaceChildren(...parts);
    redraw();
  }
  const redraw = () => [...charts, angle].forEach((c) => c.redraw());

  function toolbar() {
    const { watch, data } = app.session;
    const sources = watch && data ? [button("Live", { "aria-pressed": String(live()), click: () => turn(true) }), button("Data", { "aria-pressed": String(!live()), click: () => turn(false) })] : [];
    const { model, k } = app.measure();
    const hold = live() ? [button(paused ? "Resume" : "Pause", { "aria-pressed": String(paused), click: () => {
      paused = !paused;
      reload();
    } })] : [];
    tools.replaceChildren(...sources, ...hold, h("span", {}, "Click a row to see its contributions; drag to select rows."), h("span", { class: "grow" }), h("span", { class: "quiet num" }, `${live() ? (app.live ? `compared with ${model?.name}, k = ${count(k)}, ` : "") : `k = ${count(k)}, `}limits at 99 %`));
  }
  /** @param {boolean} on */
  function turn(on) {
    [app.watching, series] = [on, null];
    reload();
    app.select(app.selection); // the row beside the charts is measured with another model now
  }

  return {
    el,
    update(changed) {
      if ((changed.has("model") || changed.has("k")) && !(live() && paused && series)) reload();
      else if (live() && !paused && (changed.has("live") || changed.has("session") || changed.has("stream"))) fromLive();
      else if (changed.has("row") || changed.has("selection")) redraw();
    },
    plots: () => (app.session.data ? [{ kind: "monitor", query: { k: app.k() } }] : []),
  };
}
