// Beside a view: the rows that are selected, and the row that was chosen.

import { button, h, plural } from "./dom.js";
import { rowPanel } from "./row.js";

/** @param {App} app */
export function inspector(app) {
  const selected = h("div", { class: "selected" });
  const panel = rowPanel(app, false);
  const el = h("div", {}, selected, panel.el);
  function selection() {
    const { selection } = app;
    selected.hidden = !selection;
    if (!selection) return;
    selected.replaceChildren(h("strong", {}, `${plural(selection.count, "row")} selected`), h("span", { class: "grow" }),
      button("Forget\u2026", { title: "Remove these rows from the model, on the Workbench", click: () => app.set({ view: "workbench" }, true) }),
      button("Clear", { title: "Clear the selection (Esc)", click: () => app.select(null) }));
  }
  return {
    el,
    /** @param {Set<string>} changed */
    update(changed) {
      selection();
      panel.update(changed);
    },
  };
}
