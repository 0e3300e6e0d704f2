// Above the map: axes, colors, arrows, lasso, and the search for rows and columns.

import { button, choice, h } from "./dom.js";
import { featureName, get, latest } from "./api.js";

/** Up to this many columns are listed to color by; of more, one searches. */
const LISTED = 100;

/** The last component of which the server keeps the scores of all rows. @param {Model} model */
export const axisLimit = (model) => Math.max(model.axes ?? model.n_components, 1);

/** @param {App} app @param {{ lasso: () => boolean, toggleLasso: () => void, reset: () => void }} act */
export function mapTools(app, act) {
  const el = h("div", { class: "tools" });
  const seek = latest();
  /** Whether a column is searched to color by. */
  let seeking = false;

  const colorName = () => colorChoices().find(([key]) => key === app.state.color)?.[1] ?? app.state.color;

  /** @returns {[string, string][]} */
  function colorChoices() {
    const model = app.model();
    const { data } = app.session;
    const name = (/** @type {number} */ i) => (model ? featureName(model, i, data?.columns?.[i]) : "");
    const few = model && !model.image && model.features <= LISTED;
    /** @type {[string, string][]} */
    const listed = few ? Array.from({ length: model.features }, (_, i) => [`feature:${i}`, name(i)]) : [];
    const chosen = /^feature:(\d+)$/.exec(app.state.color);
    if (chosen && !few) listed.push([app.state.color, name(Number(chosen[1]))]);
    if (model && !model.image && !few) listed.push(["search", "A column\u2026"]);
    return [...(data?.labels ? [/** @type {[string, string]} */ (["label", "Label"])] : []), ["none", "One color"], ["t2", "T\u00b2"], ["q", "Q"], ...listed];
  }

  function draw() {
    const model = app.model();
    if (!model) return;
    const { axes } = app.state;
    const components = Array.from({ length: Math.min(axisLimit(model), 100) }, (_, i) => /** @type {[string, string]} */ ([String(i + 1), `PC ${i + 1}`]));
    const axis = (/** @type {number} */ a, /** @type {string} */ name) => choice(name, components, String(axes[a]), (v) => app.set({ axes: axes.map((x, i) => (i === a ? Number(v) : x)), at: [] }));
    const deep = axes.length > 2;
    const third = axisLimit(model) > 2 ? button(deep ? "2-D" : "3-D", { click: () => app.set({ axes: deep ? axes.slice(0, 2) : [...axes.slice(0, 2), [1, 2, 3].find((i) => !axes.includes(i)) ?? 3], at: [] }) }) : null;
    const search = h("input", { type: "search", placeholder: "Search", "aria-label": "Search rows by name, label or number", list: "found", input: () => find(search.value), change: () => choose(search.value) });
    const most = Math.min(model.features, 30);
    const arrowCount = h("input", { type: "range", min: 0, max: most, value: app.state.arrows, "aria-label": "Biplot arrows", input: () => app.set({ arrows: Number(arrowCount.value) }) });
    el.replaceChildren(axis(0, "x"), axis(1, "y"), ...(deep ? [axis(2, "z")] : []), ...(third ? [third] : []),
      choice("Color", colorChoices(), seeking ? "search" : app.state.color, (color) => {
        seeking = color === "search";
        draw();
        if (seeking) /** @type {HTMLElement | null} */ (el.querySelector("[list=columns]"))?.focus();
        else app.set({ color, hide: [] });
      }), ...(seeking ? columnSearch(model) : []),
      h("label", { class: "field" }, "Arrows ", arrowCount, h("output", { class: "num" }, app.state.arrows)),
      button("Lasso", { "aria-pressed": String(act.lasso()), title: "Draw around points (l)", click: act.toggleLasso }),
      button("Reset", { title: "Reset the view (0)", click: act.reset }),
      search, options);
  }

  /** A field that finds one of many columns by its name or number. @param {Model} model */
  function columnSearch(model) {
    const columns = app.session.data?.columns;
    const names = Array.from({ length: model.features }, (_, i) => featureName(model, i, columns?.[i]));
    const options = h("datalist", { id: "columns" });
    const offer = () => {
      const text = field.value.toLowerCase();
      options.replaceChildren(...names.filter((name) => name.toLowerCase().includes(text)).slice(0, 50).map((value) => h("option", { value })));
    };
    const field = h("input", { type: "search", list: "columns", placeholder: "Name of a column", "aria-label": "Column to color by", input: offer, change: () => {
      const text = field.value.toLowerCase();
      const i = [names.findIndex((name) => name.toLowerCase() === text), names.findIndex((name) => name.toLowerCase().includes(text))].find((x) => x >= 0);
      if (i === undefined || !text) return app.say(`No column matches \u201c${field.value}\u201d.`);
      seeking = false;
      if (app.state.color === `feature:${i}`) draw();
      else app.set({ color: `feature:${i}`, hide: [] });
    } });
    offer();
    return [field, options];
  }

  const options = h("datalist", { id: "found" });
  /** @type {Map<string, number>} */
  const found = new Map();
  /** @param {string} text */
  async function find(text) {
    if (!text) return;
    const answer = await seek((signal) => get("rows", { search: text, limit: 20 }, signal)).catch(() => undefined);
    if (!answer) return;
    found.clear();
    for (const r of answer.rows) found.set(`${r.name ?? `row ${r.row}`}${r.label ? ` \u00b7 ${r.label}` : ""}`, r.row);
    options.replaceChildren(...[...found.keys()].map((value) => h("option", { value })));
  }
  /** @param {string} text */
  async function choose(text) {
    if (!found.has(text)) await find(text);
    const row = found.get(text) ?? found.values().next().value;
    if (row === undefined) return app.say(`No row matches \u201c${text}\u201d.`);
    app.set({ row });
  }

  return { el, draw, colorName };
}
