// The legend beside the map: a click hides a class, a double click or Shift isolates it.

import { button, count, h, num, s } from "./dom.js";

/** @param {string} css @param {number} shape */
function sample(css, shape) {
  const mark = shape === 2 ? s("path", { d: "M6 1 11 10H1Z" }) : shape === 3 ? s("rect", { x: 1.5, y: 1.5, width: 9, height: 9 }) : s("circle", { cx: 6, cy: 6, r: 5 });
  mark.setAttribute("fill", "currentColor");
  return s("svg", { class: `sample ${css}`, viewBox: "0 0 12 12", "aria-hidden": "true" }, mark);
}

/**
 * @param {App} app
 * @param {{ cloud: Cloud, looks: { order: number[], looks: Map<number, { css: string, shape: number }>, others: number } | null, values: Float32Array | null, ends: [number, number], name: string }} what
 */
export function legend(app, { cloud, looks, values, ends, name }) {
  if (values) {
    return h("section", { class: "legend", "aria-label": "Colors" }, h("h2", {}, name), h("div", { class: "ramp" }),
      h("div", { class: "ends num" }, h("span", {}, num(ends[0])), h("span", {}, num(ends[1]))), h("p", { class: "quiet" }, "2nd to 98th percentile"));
  }
  if (!looks?.order.length) return h("section", { class: "legend" });
  const labels = app.session.data?.labels ?? [];
  const sizes = new Map();
  for (let i = 0; i < cloud.n; i++) {
    const c = cloud.classes && looks.looks.has(cloud.classes[i]) ? cloud.classes[i] : -1;
    sizes.set(c, (sizes.get(c) ?? 0) + 1);
  }
  const keys = [...looks.order, ...(sizes.has(-1) ? [-1] : [])];
  const { hide } = app.state;
  /** @param {number} c @param {boolean} alone */
  function toggle(c, alone) {
    const others = keys.filter((k) => k !== c);
    const isolated = others.every((k) => hide.includes(k)) && !hide.includes(c);
    app.set({ hide: alone ? (isolated ? [] : others) : hide.includes(c) ? hide.filter((k) => k !== c) : [...hide, c] });
  }
  const items = keys.map((c) => {
    const look = looks.looks.get(c) ?? { css: "none", shape: 1 };
    const text = c >= 0 ? (labels[c] ?? "") : looks.others ? `${count(looks.others)} others` : "no label";
    return h("li", {}, h("button", {
      type: "button", class: "class", "aria-pressed": String(!hide.includes(c)), title: "Click: hide or show. Shift+click: only this one",
      click: (/** @type {MouseEvent} */ e) => toggle(c, e.shiftKey),
    }, sample(look.css, look.shape), h("span", { class: "name" }, text || "(empty)"), h("span", { class: "num quiet" }, count(sizes.get(c) ?? 0))),
    h("button", { type: "button", class: "only", title: `Only ${text}`, "aria-label": `Only ${text}`, click: () => toggle(c, true) }, "only"));
  });
  return h("section", { class: "legend", "aria-label": "Legend" }, h("h2", {}, name), h("ul", {}, ...items),
    hide.length ? button("Show all labels", { click: () => app.set({ hide: [] }) }) : null);
}
