// One row: as it was, as the first k components rebuild it, and what is left over.

import { allUsed, button, count, failed, h, noRow, notice, num, percent, plural, s, short, table } from "./dom.js";
import { address, featureName, get, latest, queued } from "./api.js";
import { figure, label, linear } from "./chart.js";

const SCORES = 12;
const FEATURES = 12;
/** The limits and all scores follow when the slider rests for so long. */
const REST_MS = 200;

/** A bar from zero, which is at the left if no share of the list is negative. @param {number} share from -1 to 1 @param {number} zero 0 or 50 @param {string} kind */
function bar(share, zero, kind) {
  const width = (100 - zero) * Math.min(1, Math.abs(share));
  return s("svg", { class: `bar ${kind}`, viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
    s("rect", { x: share < 0 ? zero - width : zero, y: 1, width, height: 8 }), s("line", { x1: zero, x2: zero, y1: 0, y2: 10 }));
}

/**
 * T² and Q with their limits. If every feature has a component, Q is 0 up to rounding, and so is its limit.
 * @param {App} app @param {{ t2: number, q: number, t2_limit: number | null, q_limit: number | null }} row
 */
function stats(app, row) {
  const { model, k, live } = app.measure();
  return [reading("T\u00b2", row.t2, row.t2_limit), reading("Q", row.q, row.q_limit, allUsed(model, k)),
    live ? h("p", { class: "quiet both" }, `compared with ${model?.name}, k = ${count(k)}`) : null].filter((x) => x !== null);
}

/** @param {string} name @param {number} value @param {number | null} limit @param {boolean} [none] */
function reading(name, value, limit, none = false) {
  const beyond = !none && limit !== null && value > limit;
  return h("div", { class: `stat ${beyond ? "alarm" : ""}` }, h("span", { class: "quiet" }, name), h("strong", { class: "num", "data-value": value }, short(none ? 0 : value)),
    h("span", { class: "quiet" }, none ? "all components used" : limit === null ? "no limit" : `${beyond ? "beyond" : "within"} limit ${short(limit)}`));
}

/** The panel with everything about the chosen row. @param {App} app @param {boolean} large */
export function rowPanel(app, large) {
  const el = h("div", { class: large ? "row-panel large" : "row-panel" });
  const load = latest();
  /** @type {Row | null} */
  let row = null;
  /** @type {Rebuilt | null} */
  let rebuilt = null;
  let resting = 0;
  const pictures = h("div", { class: "pictures" });
  const compare = h("div", {});
  const slider = h("input", { type: "range", min: 1, "aria-label": "Components in the reconstruction (k)", input: () => app.set({ k: Number(slider.value) }) });
  const kText = h("output", { class: "num" });
  const quality = h("p", { class: "quality num", role: "status" });
  const contributions = h("div", {});
  const measured = h("div", { class: "stats" });
  const closest = h("section", { class: "nearest" });
  let measuredWith = "";
  const name = (/** @type {{row: number, name: string | null}} */ r) => r.name ?? `Row ${count(r.row)}`;

  const rebuild = queued(async () => {
    const [model, k, at] = [app.model(), app.k(), app.state.row];
    if (!model || !row || row.row !== at) return;
    try {
      const answer = /** @type {Rebuilt} */ (await get(`models/${model.id}/rows/${at}/reconstruction`, { k }));
      if (app.state.row !== at || app.model()?.id !== model.id) return;
      rebuilt = answer;
      quality.replaceChildren("Q = ", h("span", { class: "q", "data-value": answer.q, "data-k": answer.n_components }, num(allUsed(model, k) ? 0 : answer.q)), ...(answer.psnr === null ? [] : [" \u00b7 PSNR ", h("span", {}, `${answer.psnr.toFixed(1)} dB`)]));
      if (!model.image) compareTable();
    } catch (error) {
      quality.replaceChildren(failed(error));
    }
  });
  const contribute = queued(async () => {
    const at = app.state.row;
    const { model, k, live } = app.measure();
    if (!model || !row || row.row !== at) return;
    const top = large ? 20 : 8;
    try {
      const answer = /** @type {Contributions} */ (await (live ? get(`watch/rows/${at}/contributions`, { top }) : get(`models/${model.id}/rows/${at}/contributions`, { k, top })));
      if (app.state.row !== at) return;
      contributions.replaceChildren(contributionTable(model, answer));
      if (live) measured.replaceChildren(...stats(app, { ...live, t2: answer.t2, q: answer.q }));
    } catch (error) {
      contributions.replaceChildren(failed(error));
    }
  });

  function compareTable() {
    const model = app.model();
    if (row && !row.values) compare.replaceChildren(h("p", { class: "quiet" }, "Too many features for a table; the contributions name the important ones."));
    if (!row?.values || !rebuilt?.values || !rebuilt.residual || !model) return;
    const original = row.values;
    const { values, residual } = { values: rebuilt.values, residual: rebuilt.residual };
    const order = residual.map((_, i) => i);
    if (order.length > FEATURES) order.sort((a, b) => Math.abs(residual[b]) - Math.abs(residual[a]));
    const some = order.slice(0, large ? 3 * FEATURES : FEATURES);
    const columns = app.session.data?.columns;
    compare.replaceChildren(table("Original, reconstruction and residual", ["Feature", "Original", "Reconstr.", "Residual"],
      some.map((i) => [featureName(model, i, columns?.[i]), num(original[i]), num(values[i]), num(Math.abs(residual[i]) < 1e-12 * (Math.abs(original[i]) + 1) ? 0 : residual[i])])),
    ...(some.length < order.length ? [h("p", { class: "quiet" }, `the ${some.length} largest residuals of ${count(order.length)} features`)] : []));
  }

  /** @param {Model} model @param {Contributions} c */
  function contributionTable(model, c) {
    const [most2, mostQ] = [Math.max(...c.features.map((f) => Math.abs(f.t2)), 1e-300), Math.max(...c.features.map((f) => f.q), 1e-300)];
    const zero = c.features.some((f) => f.t2 < 0) ? 50 : 0;
    const cell = (/** @type {number} */ v, /** @type {number} */ most, /** @type {string} */ kind) => h("span", { class: "barcell" }, bar(v / most, kind ? 0 : zero, kind), h("span", { class: "num" }, num(v)));
    return table("Contributions to T\u00b2 and Q", ["Feature", "T\u00b2", "Q"], [
      ...c.features.map((f) => [featureName(model, f.feature, f.name), cell(f.t2, most2, ""), cell(f.q, mostQ, "second")]),
      ...(Math.abs(c.rest.t2) + c.rest.q > 0 ? [["all others", num(c.rest.t2), num(c.rest.q)]] : []),
    ]);
  }

  const scores = figure("Scores", large ? 200 : 132, (svg, width, height) => {
    if (!row) return "";
    const shown = row.scores.slice(0, large ? 2 * SCORES : SCORES);
    const [low, high] = [Math.min(...shown, 0), Math.max(...shown, 1e-300)];
    const room = 0.06 * (high - low);
    const y = linear(low - (low < 0 ? room : 0), high + room, height - 24, 8);
    const marks = y.ticks(large ? 4 : 3);
    const left = 14 + 7 * Math.max(...marks.map((v) => short(v).length), 1);
    for (const v of marks) {
      svg.append(s("line", { class: "grid", x1: left, x2: width, y1: y(v), y2: y(v) }));
      label(svg, short(v), left - 6, y(v) + 4, { class: "tick", "text-anchor": "end" });
    }
    const step = Math.min(48, (width - left) / shown.length);
    shown.forEach((v, i) => {
      svg.append(s("rect", { class: i < app.k() ? "fill" : "fill pale", x: left + i * step + 0.15 * step, width: 0.7 * step, y: Math.min(y(0), y(v)), height: Math.max(Math.abs(y(v) - y(0)), 1) }, s("title", {}, `PC ${i + 1}: ${num(v)}`)));
      if (step > 16 || i % 5 === 4) label(svg, String(i + 1), left + (i + 0.5) * step, height - 4, { class: "tick", "text-anchor": "middle" });
    });
    svg.append(s("line", { class: "axis", x1: left, x2: width, y1: y(0), y2: y(0) }));
    const k = Math.min(app.k(), row.cos2.length);
    return `The first ${count(k)} component${k === 1 ? " holds" : "s hold"} ${percent(row.cos2.slice(0, k).reduce((a, b) => a + b, 0))} of this row\u2019s squared distance from the mean (cos\u00b2).`;
  }, () => ({ head: ["PC", "Score", "cos\u00b2"], rows: (row?.scores ?? []).map((v, i) => [i + 1, num(v), percent(row?.cos2[i])]) }));

  function pictureSet() {
    const [model, at] = [app.model(), app.state.row];
    if (!model?.image) return;
    const path = `models/${model.id}/rows/${at}`;
    const query = { revision: model.revision };
    const sources = [["Original", address(`${path}/original.png`, query)], ["Reconstruction", address(`${path}/reconstruction.png`, { k: app.k(), ...query })], ["Residual", address(`${path}/residual.png`, { k: app.k(), ...query })]];
    if (pictures.children.length !== 3) pictures.replaceChildren(...sources.map(([what]) => h("figure", {}, h("img", { alt: `${what} of row ${at}` }), h("figcaption", {}, what))));
    sources.forEach(([what, src], i) => {
      const img = /** @type {HTMLImageElement} */ (pictures.children[i].querySelector("img"));
      if (img.getAttribute("src") !== src) img.src = src;
      img.alt = `${what} of row ${at}`;
    });
  }

  function render() {
    const model = app.model();
    if (!row || !model) return;
    const rows = app.session.data?.rows ?? 0;
    const step = (/** @type {number} */ by) => app.set({ row: (app.state.row + by + rows) % rows });
    const head = h("div", { class: "head" }, h("h2", { "data-row": row.row }, name(row)), row.label ? h("span", { class: "chip" }, row.label) : null, h("span", { class: "grow" }),
        button("\u2039", { "aria-label": "Previous row", title: "Previous row (,)", click: () => step(-1) }), button("\u203a", { "aria-label": "Next row", title: "Next row (.)", click: () => step(1) }));
    showReadings();
    showNearest();
    const first = [measured,
      h("section", { class: "rebuild" }, model.image ? pictures : compare, h("label", { class: "slider" }, h("span", {}, "k "), slider, kText), quality),
      h("section", { class: "contributions" }, model.image ? h("details", { open: large }, h("summary", {}, "Contributions by pixel"), contributions) : h("div", {}, h("h2", {}, "Contributions"), contributions)),
    ];
    const plot = h("section", {}, scores.el);
    const [readings, rebuilding, contributing] = first;
    // Both columns are about as high: pictures are lower than a table of features.
    const columns = model.image ? [[readings, rebuilding, closest], [plot, contributing]] : [[readings, rebuilding], [plot, contributing, closest]];
    if (large) el.replaceChildren(head, h("div", { class: "columns" }, ...columns.map((parts) => h("div", {}, ...parts))));
    // Beside the Monitor, the question is what makes a row unusual.
    else if (app.state.view === "monitor") el.replaceChildren(head, readings, contributing, rebuilding, plot, closest);
    else el.replaceChildren(head, readings, rebuilding, plot, contributing, closest);
    knob();
    scores.redraw();
  }

  /** T² and Q; of a watched row that is not shown anymore, they come with its contributions. */
  function showReadings() {
    if (!row) return;
    const { live } = app.measure();
    const i = live ? live.rows.indexOf(row.row) : 0;
    measured.replaceChildren(...(i < 0 ? [] : stats(app, live ? { ...live, t2: live.t2[i], q: live.q[i] } : row)));
  }

  function showNearest() {
    const model = app.model();
    if (!row || !model) return;
    const near = row.nearest.map((r) => h("li", {}, h("button", { type: "button", class: "near", click: () => app.set({ row: r.row }), title: `${name(r)}, distance ${num(r.distance)}` },
      model.image ? h("img", { src: address(`models/${model.id}/rows/${r.row}/original.png`, { revision: model.revision }), alt: "", loading: "lazy" }) : null,
      h("span", { class: "name" }, name(r)), r.label && !model.image ? h("span", { class: "quiet" }, r.label) : null, h("span", { class: "num quiet" }, num(r.distance)))));
    closest.replaceChildren(h("h2", {}, "Nearest rows"), h("ul", { class: model.image ? "near-list images" : "near-list" }, ...near),
      ...(row.nearest_k < row.n_components ? [h("p", { class: "summary" }, `Distances by the first ${count(row.nearest_k)} of ${count(row.n_components)} scores; no more are kept.`)] : []));
  }

  function knob() {
    const model = app.model();
    slider.max = String(model?.rank ?? 1);
    slider.value = String(app.k());
    kText.textContent = `${count(app.k())} of ${count(model?.rank ?? 1)}`;
    pictureSet();
    rebuild(undefined);
    contribute(undefined);
  }

  async function reload() {
    const [model, at] = [app.model(), app.state.row];
    const nothing = noRow(app, large ? button("First row", { click: () => app.set({ row: 0 }) }) : null);
    if (!model || nothing) return el.replaceChildren(nothing ?? "");
    if (!row) el.replaceChildren(notice("loading", `Loading row ${at}`));
    try {
      const answer = await load((signal) => get(`models/${model.id}/rows/${at}`, { k: app.k() }, signal));
      if (!answer) return;
      [row, rebuilt] = [answer, null];
      render();
    } catch (error) {
      row = null;
      el.replaceChildren(failed(error, reload));
    }
  }

  return {
    el,
    /** @param {Set<string>} changed */
    update(changed) {
      const { model, k, live } = app.measure();
      const before = measuredWith;
      measuredWith = live ? `${model?.id} ${k}` : "";
      if (changed.has("model") || changed.has("row") || before !== measuredWith) reload();
      else if (changed.has("k") && row) {
        knob();
        scores.redraw();
        clearTimeout(resting);
        resting = setTimeout(refreshReadings, REST_MS);
      }
    },
  };

  /** T², Q and the nearest rows depend on k. */
  async function refreshReadings() {
    const [model, at] = [app.model(), app.state.row];
    if (!model) return;
    const answer = await load((signal) => get(`models/${model.id}/rows/${at}`, { k: app.k() }, signal)).catch((error) => measured.replaceChildren(failed(error)));
    if (!answer) return;
    row = answer;
    showReadings();
    showNearest();
    scores.redraw();
  }
}

/** @param {App} app @returns {View} */
export function row(app) {
  const panel = rowPanel(app, true);
  const el = h("div", { class: "view" }, panel.el);
  return {
    el,
    update(changed) {
      panel.update(changed);
      const rows = app.session.data?.rows;
      app.status(rows && app.state.row >= 0 ? `Row ${count(app.state.row)} of ${plural(rows, "row")}, counted from 0` : "");
    },
    plots: () => (app.session.data && app.state.row >= 0 && app.model()?.image ? [{ kind: "strip", query: { row: app.state.row, k: app.k() } }] : []),
  };
}
