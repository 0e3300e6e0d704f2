// Colors and shapes of classes, and a ramp for numbers. The style sheet holds the colors for light and
// dark; they are read from `color` of an element. Up to eight classes have the hues of `eigenspace plot`,
// the light ones darker, so that small marks are seen on white.

import { h } from "./dom.js";

/** Classes with their own look, as in `plot`; the others are gray. */
const DISTINGUISHED = 20;
const COLORS = 10;
/** More classes than this differ in shape as well. */
const PLAIN = 8;
/**
 * A shape for each color: colors with the same one differ clearly, with any kind of color vision, and colors
 * that are alike (vermilion, orange and yellow; blue and sky blue) differ in shape.
 */
const SHAPES = [0, 1, 1, 0, 2, 2, 1, 0, 2, 0];
export const DISC = 1;

const natural = new Intl.Collator("en", { numeric: true, sensitivity: "variant" });

/**
 * Colors of CSS classes as red, green and blue.
 * @param {string[]} names
 * @returns {[number, number, number][]}
 */
function computed(names) {
  const probes = names.map((name) => h("i", { class: name, hidden: true }));
  document.body.append(...probes);
  const found = probes.map((probe) => {
    const [r = 0, g = 0, b = 0] = (getComputedStyle(probe).color.match(/[\d.]+/g) ?? []).map(Number);
    return /** @type {[number, number, number]} */ ([r, g, b]);
  });
  for (const probe of probes) probe.remove();
  return found;
}

/**
 * How each class looks: `order` lists the distinguished classes for the legend in natural order.
 * @param {string[]} labels @param {Uint32Array | number[]} sizes number of points of each class
 */
export function classLooks(labels, sizes) {
  const all = labels.map((_, i) => i);
  all.sort((a, b) => (sizes[b] ?? 0) - (sizes[a] ?? 0) || natural.compare(labels[a] ?? "", labels[b] ?? ""));
  const order = all.slice(0, DISTINGUISHED).sort((a, b) => natural.compare(labels[a] ?? "", labels[b] ?? ""));
  const shape = (/** @type {number} */ i) => (order.length > PLAIN ? (SHAPES[i % COLORS] + Math.floor(i / COLORS)) % 3 : 0);
  /** @type {Map<number, {css: string, shape: number}>} */
  const looks = new Map(order.map((c, i) => [c, { css: `c${i % COLORS}`, shape: DISC + shape(i) }]));
  return { order, looks, others: labels.length - order.length };
}

/**
 * The palette that the renderers read: four bytes for each class, the last entry for points without
 * one; the fourth byte is the shape, 0 when hidden.
 * @param {number} classes @param {ReturnType<typeof classLooks> | null} looks @param {(c: number) => boolean} hidden
 */
export function classPalette(classes, looks, hidden) {
  const bytes = new Uint8Array(4 * (classes + 1));
  const css = computed(["none", "accent", ...Array.from({ length: COLORS }, (_, i) => `c${i}`)]);
  for (let c = 0; c <= classes; c++) {
    const look = looks?.looks.get(c);
    const color = look ? css[2 + Number(look.css.slice(1))] : looks ? css[0] : css[1];
    bytes.set(color ?? [0, 0, 0], 4 * c);
    bytes[4 * c + 3] = hidden(look ? c : -1) ? 0 : (look?.shape ?? DISC);
  }
  return bytes;
}

/** 256 colors from low to high, dark to light or the reverse depending on the background. */
export function ramp() {
  const stops = computed(["r0", "r1", "r2", "r3"]);
  const bytes = new Uint8Array(4 * 256);
  for (let i = 0; i < 256; i++) {
    const x = (i / 255) * (stops.length - 1);
    const j = Math.min(Math.floor(x), stops.length - 2);
    for (let c = 0; c < 3; c++) bytes[4 * i + c] = Math.round((stops[j]?.[c] ?? 0) * (1 - x + j) + (stops[j + 1]?.[c] ?? 0) * (x - j));
    bytes[4 * i + 3] = DISC;
  }
  return bytes;
}

/** Radius in CSS pixels and opacity for a number of points: many points must not hide their density. @param {number} n */
export function weight(n) {
  if (n <= 60) return { radius: 5, alpha: 0.9 };
  if (n <= 500) return { radius: 4, alpha: 0.8 };
  if (n <= 3000) return { radius: 3, alpha: 0.65 };
  if (n <= 30000) return { radius: 2, alpha: 0.5 };
  if (n <= 200000) return { radius: 1.4, alpha: 0.22 };
  return { radius: 1, alpha: 0.08 };
}
