// What the page shows, as a readable fragment: #v=1&view=map&m=0&axes=1,2&color=label&k=40&row=17

import { clamp } from "./dom.js";

export const VIEWS = ["variance", "map", "row", "walk", "features", "monitor", "workbench", "faces"];

/** @returns {State} */
export const defaults = () => ({ view: "map", m: 0, axes: [1, 2], color: "label", k: 0, row: -1, c: 1, t: 2, at: [], hide: [], arrows: 0, log: false });

const LIMIT = 2000;
const whole = (/** @type {string} */ text, low = 0, high = 0xffffffff) => {
  const x = Math.round(Number(text));
  return Number.isFinite(x) ? clamp(x, low, high) : undefined;
};
const list = (/** @type {string} */ text) => text.split(",").map(Number).filter(Number.isFinite);

/** @type {{ [K in keyof State]: (text: string) => State[K] | undefined }} */
const READ = {
  view: (x) => (VIEWS.includes(x) ? x : undefined),
  m: (x) => whole(x),
  axes: (x) => { const a = list(x).filter((i) => i >= 1 && Number.isInteger(i)).slice(0, 3); return a.length > 1 ? a : undefined; },
  color: (x) => (/^(label|none|t2|q|feature:\d{1,9})$/.test(x) ? x : undefined),
  k: (x) => whole(x),
  row: (x) => whole(x, -1),
  c: (x) => whole(x, 1),
  t: (x) => (Number.isFinite(Number(x)) ? clamp(Number(x), -3, 3) : undefined),
  at: (x) => list(x).slice(0, 5),
  hide: (x) => list(x).slice(0, 200),
  arrows: (x) => whole(x, 0, 50),
  log: (x) => x === "1",
};

/** Reads a fragment; what is unknown or invalid keeps its default. @param {string} fragment @returns {State} */
export function parse(fragment) {
  const state = defaults();
  for (const part of fragment.replace(/^#/, "").slice(0, 4 * LIMIT).split("&")) {
    const [key, text = ""] = part.split("=", 2);
    const read = READ[/** @type {keyof State} */ (key)];
    const value = Object.hasOwn(READ, key ?? "") ? read(text) : undefined;
    if (value !== undefined) Object.assign(state, { [/** @type {string} */ (key)]: value });
  }
  return state;
}

/** Writes what differs from the defaults; the view and the model always. @param {State} state */
export function write(state) {
  const usual = defaults();
  const short = (/** @type {any} */ x) => (typeof x === "boolean" ? Number(x) : Array.isArray(x) ? x.map((y) => Number(y.toPrecision(5))).join(",") : x);
  const parts = ["v=1"];
  for (const key of /** @type {(keyof State)[]} */ (Object.keys(usual))) {
    const text = String(short(state[key]));
    if (key === "view" || key === "m" || text !== String(short(usual[key]))) parts.push(`${key}=${text}`);
  }
  let text = `#${parts.join("&")}`;
  if (text.length > LIMIT) text = `#${parts.filter((p) => !p.startsWith("hide=")).join("&")}`;
  return text;
}
