// Features: how they correlate with two components, and how much each contributes.

import { choice, clamp, count, failed, fixed, h, notice, num, percent, plural, s, table } from "./dom.js";
import { featureName, get, latest } from "./api.js";
import { figure, label, linear, tipNames } from "./chart.js";

const TOP = 40;
/** Arrows that are named, as far as there is room. */
const NAMED = 20;

/** @param {App} app @returns {View} */
export function features(app) {
  const load = latest();
  let [search, sort] = ["", "contribution"];
  /** Features below either limit are left out. */
  const least = { cos2: 0, contribution: 0 };
  /** @type {{ total: number, features: Feature[] } | null} */
  let answer = null;
  /** @type {number[]} */
  let ratios = [];
  let chosen = -1;
  const el = h("div", { class: "view features" });
  const list = h("div", { class: "list" });
  const tools = h("div", { class: "tools" });
  const pair = () => app.state.axes.slice(0, 2).map((i) => clamp(i, 1, app.model()?.rank ?? 1));
  const title = (/** @type {number} */ i) => `PC ${i}${ratios[i - 1] === undefined ? "" : ` (${percent(ratios[i - 1])})`}`;
  const name = (/** @type {Feature} */ f) => featureName(/** @type {Model} */ (app.model()), f.feature, f.name);
  const visible = () => (answer?.features ?? []).filter((f) => f.cos2 >= least.cos2 && f.contribution >= least.contribution);

  /** Decimals of a contribution, so that the largest has two digits: of thousands of features, each contributes little. */
  const digits = () => clamp(-Math.floor(Math.log10(100 * largest())) + 1, 1, 6);
  const largest = () => Math.max(...(answer?.features ?? []).map((f) => f.contribution), 1e-9);

  const circle = figure("Correlation circle", 0, (svg, width, height) => {
    const shown = visible();
    const [a, b] = pair();
    const side = Math.min(width - 64, height - 48);
    const [left, top] = [(width - side) / 2 + 24, 8];
    const [x, y] = [linear(-1.12, 1.12, left, left + side), linear(-1.12, 1.12, top + side, top)];
    const center = /** @type {[number, number]} */ ([x(0), y(0)]);
    for (const v of [-1, -0.5, 0, 0.5, 1]) {
      svg.append(s("line", { class: v ? "grid" : "zero", x1: x(v), x2: x(v), y1: top, y2: top + side }), s("line", { class: v ? "grid" : "zero", x1: left, x2: left + side, y1: y(v), y2: y(v) }));
      label(svg, num(v), x(v), top + side + 15, { class: "tick", "text-anchor": "middle" });
      label(svg, num(v), left - 6, y(v) + 4, { class: "tick", "text-anchor": "end" });
    }
    svg.append(s("circle", { class: "circle", cx: center[0], cy: center[1], r: x(1) - x(0) }));
    label(svg, title(a), center[0], top + side + 34, { class: "axis-name", "text-anchor": "middle" });
    label(svg, title(b), 0, 0, { class: "axis-name", "text-anchor": "middle", transform: `translate(${left - 44} ${center[1]}) rotate(-90)` });
    const tips = shown.map((f) => {
      const [tx, ty] = [x(f.correlations[0]), y(f.correlations[1])];
      const arrow = s("g", { class: f.feature === chosen ? "feature chosen" : "feature", click: () => mark(f.feature) },
        s("line", { class: "arrow", x1: center[0], y1: center[1], x2: tx, y2: ty }), s("circle", { class: "arrowhead", cx: tx, cy: ty, r: 3.5 }), s("title", {}, `${name(f)}: cos\u00b2 ${percent(f.cos2)}`));
      svg.append(arrow);
      return { name: name(f), x: tx, y: ty, chosen: f.feature === chosen };
    });
    tipNames(svg, tips.sort((p, q) => Number(q.chosen) - Number(p.chosen)).slice(0, NAMED), center, [0, 0, width, height]);
    const best = shown[0];
    return best ? `${plural(shown.length, "feature")}${answer && shown.length < answer.total ? ` of ${count(answer.total)}` : ""}. Longer arrows are better represented by these two components.` : "No feature passes the filters.";
  });

  /** @param {number} feature */
  function mark(feature) {
    chosen = feature === chosen ? -1 : feature;
    redraw();
    list.querySelector(".chosen")?.scrollIntoView({ block: "nearest" });
  }

  function redraw() {
    circle.redraw();
    const shown = visible();
    if (!shown.length) return list.replaceChildren(notice("empty", "No feature passes the filters", "Lower the limits of cos\u00b2 and contribution, or change the search."));
    const [a, b] = pair();
    const rows = shown.map((f) => [
      h("button", { type: "button", class: `link ${f.feature === chosen ? "chosen" : ""}`, "aria-pressed": String(f.feature === chosen), title: "Mark in the circle", click: () => mark(f.feature) }, name(f)),
      num(f.loadings[0]), num(f.loadings[1]), fixed(f.correlations[0]), fixed(f.correlations[1]), percent(f.cos2), percent(f.contribution, digits()),
    ]);
    list.replaceChildren(table("Loadings", ["Feature", `Loading ${a}`, `Loading ${b}`, `Corr. ${a}`, `Corr. ${b}`, "cos\u00b2", "Contrib."], rows));
  }

  async function reload() {
    const model = app.model();
    if (!model) return;
    if (!answer) el.replaceChildren(notice("loading", "Loading features"));
    try {
      const found = await load(async (signal) => Promise.all([
        get(`models/${model.id}/features`, { axes: pair(), top: model.features > 500 || search ? TOP : model.features, search, sort }, signal), get(`models/${model.id}/spectrum`, {}, signal)]));
      if (!found) return;
      answer = found[0];
      ratios = found[1].components.map((/** @type {any} */ c) => c.explained_variance_ratio);
      if (!tools.isConnected) el.replaceChildren(tools, h("div", { class: "split" }, circle.el, list));
      toolbar(model);
      redraw();
      app.status(`${count(answer?.features.length ?? 0)} of ${plural(model.features, "feature")}${model.features > 500 && !search ? ": those that contribute most; search for others" : ""}`);
    } catch (error) {
      el.replaceChildren(failed(error, reload));
    }
  }

  /** @param {Model} model */
  function toolbar(model) {
    if (tools.children.length && tools.dataset.key === `${model.id} ${model.rank} ${app.state.axes}`) return;
    tools.dataset.key = `${model.id} ${model.rank} ${app.state.axes}`;
    const components = Array.from({ length: Math.min(model.rank, 100) }, (_, i) => /** @type {[string, string]} */ ([String(i + 1), `PC ${i + 1}`]));
    const axis = (/** @type {number} */ a, /** @type {string} */ text) => choice(text, components, String(app.state.axes[a]), (v) => app.set({ axes: app.state.axes.map((x, i) => (i === a ? Number(v) : x)), at: [] }));
    const limit = (/** @type {"cos2" | "contribution"} */ of, /** @type {string} */ text, /** @type {number} */ most) => {
      const shown = () => percent(least[of], of === "cos2" ? 0 : digits());
      const out = h("output", { class: "num" }, shown());
      const input = h("input", { type: "range", min: 0, max: most, step: most / 20, value: least[of], "aria-label": `Smallest ${text}`, input: () => {
        least[of] = Number(input.value);
        out.textContent = shown();
        redraw();
      } });
      return h("label", { class: "field" }, `${text} \u2265 `, input, out);
    };
    const box = h("input", { type: "search", placeholder: "Search", "aria-label": "Search features by name", value: search, input: () => {
      search = box.value;
      reload();
    } });
    tools.replaceChildren(axis(0, "x"), axis(1, "y"), choice("Sort by", [["contribution", "contribution"], ["cos2", "cos\u00b2"], ["name", "name"]], sort, (v) => {
      sort = v;
      reload();
    }), limit("cos2", "cos\u00b2", 1), limit("contribution", "contribution", largest()), h("span", { class: "grow" }), box);
  }

  return {
    el,
    update(changed) {
      if (changed.has("model") || changed.has("axes")) reload();
    },
    plots: () => [{ kind: "circle", query: { axes: pair().join(",") } }],
  };
}
