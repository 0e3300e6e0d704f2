// Help, export, and text to copy.

import { button, h } from "./dom.js";
import { address } from "./api.js";

/** @param {string} title @param {...Child} children */
export function dialog(title, ...children) {
  document.querySelector("dialog")?.remove();
  const box = h("dialog", { "aria-label": title, close: () => box.remove(), click: (/** @type {Event} */ e) => { if (e.target === box) box.close(); } },
    h("div", { class: "sheet" }, h("h2", {}, title), ...children, button("Close", { class: "close", click: () => box.close() })));
  document.body.append(box);
  box.showModal();
  return box;
}

const KEYS = [
  ["1 \u2013 8", "choose a view"], ["arrows", "pan the map"], ["Shift + arrows", "turn the map in 3-D"], ["+  \u2212  0", "zoom in, zoom out, show all"],
  ["[  ]", "fewer or more components (k)"], [",  .", "previous or next row"], ["/", "search"], ["l", "lasso: draw around points"],
  ["Esc", "clear the selection, leave a field"], ["e", "export"], ["?", "this help"],
];

export function helpDialog() {
  dialog("Keyboard", h("dl", { class: "keys" }, ...KEYS.flatMap(([key, what]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)])));
}

/** @param {App} app @param {View | null} view */
export function exportDialog(app, view) {
  const model = app.model();
  if (!model) return;
  const link = (/** @type {string} */ text, /** @type {string} */ path, /** @type {Record<string, any>} */ query = {}) =>
    h("li", {}, h("a", { href: address(`models/${model.id}/${path}`, query), download: `${model.name}-${path.replace("plot/", "")}` }, text));
  const plots = (view?.plots?.() ?? []).flatMap(({ kind, query }) => ["svg", "png"].map((end) => link(`${kind}.${end}`, `plot/${kind}.${end}`, query)));
  const rows = app.session.data ? [link("Scores of all rows", "scores.csv", { k: app.k() })] : [];
  dialog("Export",
    plots.length ? h("section", {}, h("h3", {}, "This view, as drawn by eigenspace plot"), h("ul", { class: "links" }, ...plots)) : null,
    h("section", {}, h("h3", {}, "Tables (CSV)"), h("ul", { class: "links" }, ...rows, link("Loadings", "loadings.csv", { k: app.k() }), link("Variance", "variance.csv"))),
    h("section", {}, h("h3", {}, "Model"), h("ul", { class: "links" }, link(`${model.name}.safetensors`, "model.safetensors"))));
}

/** Shows a text that the browser did not let the page copy. @param {string} text */
export function copyDialog(text) {
  const field = h("textarea", { readonly: true, rows: 3, "aria-label": "Text to copy" }, text);
  dialog("Copy this text", field);
  field.select();
}
