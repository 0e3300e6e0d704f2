// Elements, numbers as text, and small pieces that every view uses. Names come from data files, so
// they only ever become text nodes, never markup.

const SVG = "http://www.w3.org/2000/svg";

/**
 * @param {Element} node
 * @param {Record<string, any>} props
 * @param {Child[]} children
 */
function fill(node, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === "function") node.addEventListener(name, value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat()) if (child !== null && child !== undefined) node.append(child instanceof Node ? child : String(child));
}

/**
 * An HTML element: functions among the properties are listeners, everything else is an attribute.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag @param {Record<string, any>} [props] @param {...Child} children
 */
export function h(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  fill(node, props, children);
  return node;
}

/**
 * An SVG element.
 * @template {keyof SVGElementTagNameMap} T
 * @param {T} tag @param {Record<string, any>} [props] @param {...Child} children
 * @returns {SVGElementTagNameMap[T]}
 */
export function s(tag, props = {}, ...children) {
  const node = document.createElementNS(SVG, tag);
  fill(node, props, children);
  return node;
}

/** @param {string} id */
export function byId(id) {
  const node = document.getElementById(id);
  if (!node) throw new Error(`no element ${id}`);
  return node;
}

const WHOLE = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const FINE = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 4 });
const minus = (/** @type {string} */ text) => text.replace("-", "\u2212");

/** A count with separators. @param {number} x */
export const count = (x) => WHOLE.format(x);

/** A measured number, about four digits. @param {number | null | undefined} x */
export function num(x) {
  if (x === null || x === undefined || !Number.isFinite(x)) return "\u2013";
  const size = Math.abs(x);
  return minus(size !== 0 && (size < 1e-3 || size >= 1e7) ? x.toExponential(2) : FINE.format(x));
}

const COMPACT = new Intl.NumberFormat("en-US", { notation: "compact", maximumSignificantDigits: 4 });

/** The same in little room: millions have a letter. @param {number} x */
export const short = (x) => (Math.abs(x) >= 1e6 && Math.abs(x) < 1e15 ? minus(COMPACT.format(x)) : num(x));

/** Three decimals, for numbers between -1 and 1. @param {number} x */
export const fixed = (x) => minus(x.toFixed(3));

/** A share as percent. @param {number | null | undefined} x */
export const percent = (x, digits = 1) => (x === null || x === undefined ? "\u2013" : `${(100 * x).toFixed(digits)} %`);

/** @param {number} n @param {string} one */
export const plural = (n, one) => `${count(n)} ${one}${n === 1 ? "" : "s"}`;

/** @param {number} x @param {number} low @param {number} high */
export const clamp = (x, low, high) => Math.max(low, Math.min(high, x));

/**
 * What a view shows instead of a chart: loading, empty, or an error with its hint.
 * @param {"loading" | "empty" | "error"} kind @param {string} title @param {string | null} [detail] @param {...Child} more
 */
export function notice(kind, title, detail, ...more) {
  const role = kind === "error" ? "alert" : kind === "loading" ? "status" : null;
  return h("div", { class: `notice ${kind}`, role }, h("p", { class: "title" }, title), detail ? h("p", {}, detail) : null, ...more);
}

/** @param {unknown} error @param {() => void} [retry] */
export function failed(error, retry) {
  const { message, hint } = /** @type {any} */ (error);
  const again = retry ? h("button", { type: "button", click: retry }, "Try again") : null;
  return notice("error", message ?? String(error), hint ?? null, again);
}

/** Whether every feature has a component, so that nothing is left over of any row. @param {Model | null} model @param {number} k */
export const allUsed = (model, k) => k >= (model?.features ?? Infinity);

/** What is said of rows while none is chosen; null if one is. @param {App} app @param {...Child} more */
export function noRow({ session, state }, ...more) {
  if (!session.data) return notice("empty", "No rows", session.models.length ? "This model came without data. Add DATA to the command to inspect rows." : null);
  return state.row < 0 ? notice("empty", "No row chosen", "Click a point on the map or the monitor, or press \u201c.\u201d for the next row.", ...more) : null;
}

/**
 * A table; cells that are numbers, start like one, or hold one are aligned right.
 * @param {string} caption @param {string[]} head @param {Child[][]} rows
 */
export function table(caption, head, rows) {
  const isNumber = (/** @type {Child} */ value) => (value instanceof Element ? value.matches(".num, .barcell") : /^[\u2212\u2013-]?[\d]|^\u2013$/.test(String(value)));
  const numeric = head.map((_, i) => rows.length > 0 && rows.every((r) => isNumber(r[i])));
  const cell = (/** @type {"td" | "th"} */ tag) => (/** @type {Child} */ value, /** @type {number} */ i) =>
    h(tag, { class: numeric[i] ? "num" : null, scope: tag === "th" ? "col" : null }, value);
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    h("table", {}, h("caption", { class: "hidden" }, caption),
      h("thead", {}, h("tr", {}, ...head.map(cell("th")))),
      h("tbody", {}, ...rows.map((row) => h("tr", {}, ...row.map(cell("td")))))));
}

/** @param {string} text @param {Record<string, any>} [props] */
export const button = (text, props = {}) => h("button", { type: "button", ...props }, text);

/** @param {string} label @param {[string, string][]} options @param {string} value @param {(value: string) => void} change */
export function choice(label, options, value, change) {
  const select = h("select", { change: () => change(select.value) },
    ...options.map(([key, text]) => h("option", { value: key, selected: key === value }, text)));
  return h("label", { class: "field" }, `${label} `, select);
}
