// The points of the map: loading them in growing chunks, the camera, and finding points on the screen.

import { Failure, chunk } from "./api.js";

/** The first chunk is small, so that something is seen at once. */
const FIRST = 20000;
const NEXT = 250000;
/** How near, in CSS pixels, the pointer must be to a point. */
const NEAR = 14;

/**
 * Loads all points; `grown` is called after every chunk. A change of the model restarts the download.
 * @param {Model} model @param {number[]} axes @param {AbortSignal} signal @param {(cloud: Cloud, first: boolean) => void} grown
 * @returns {Promise<Cloud>}
 */
export async function loadPoints(model, axes, signal, grown) {
  for (let attempt = 0; ; attempt++) {
    try {
      return await download(model, axes, signal, grown);
    } catch (error) {
      if (!(error instanceof Failure) || error.status !== 409 || attempt > 4) throw error;
    }
  }
}

/** @type {typeof loadPoints} */
async function download(model, axes, signal, grown) {
  const path = `models/${model.id}/points`;
  let part = await chunk(path, { axes, first: 0, count: FIRST }, signal);
  const { total, d, revision } = part;
  /** @type {Cloud} */
  const cloud = {
    n: 0, total, d, revision, places: new Float32Array(total * d), ids: new Uint32Array(total), classes: part.classes ? new Uint16Array(total) : null,
    low: Array(d).fill(Infinity), high: Array(d).fill(-Infinity),
  };
  for (let first = true; ; first = false) {
    // A growing table may have more rows by now than there is room for.
    const n = Math.min(part.n, total - cloud.n);
    cloud.places.set(part.values.subarray(0, n * d), cloud.n * d);
    cloud.ids.set(part.ids.subarray(0, n), cloud.n);
    if (part.classes) cloud.classes?.set(part.classes.subarray(0, n), cloud.n);
    for (let i = 0; i < n * d; i++) {
      const [x, a] = [part.values[i], i % d];
      if (x < cloud.low[a]) cloud.low[a] = x;
      if (x > cloud.high[a]) cloud.high[a] = x;
    }
    cloud.n += n;
    grown(cloud, first);
    if (n === 0 || cloud.n >= total) return cloud;
    part = await chunk(path, { axes, first: cloud.n, count: NEXT, revision }, signal);
  }
}

/** Values that color the points, in the same order. @param {Model} model @param {string} of @param {number | null} k @param {number} total @param {AbortSignal} signal */
export async function loadColumn(model, of, k, total, signal) {
  const values = new Float32Array(total).fill(NaN);
  for (let first = 0; first < total; ) {
    const part = await chunk(`models/${model.id}/column`, { of, k, first, count: NEXT }, signal);
    if (!part.n) break;
    values.set(part.values.subarray(0, total - first), first);
    first += part.n;
  }
  return values;
}

/** The 2nd and 98th percentile of a sample, so that one outlier does not take all colors. @param {Float32Array} values @returns {[number, number]} */
export function range(values) {
  const sorted = values.slice(0, FIRST).filter(Number.isFinite).sort();
  const at = (/** @type {number} */ share) => sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
  return [at(0.02), at(0.98)];
}

/**
 * Where points are seen. In 2-D the units of both axes are equal, as in `plot`; in 3-D the projection
 * is parallel. `at` holds the center in units of the data, the zoom, and two angles.
 */
export class Camera {
  at = [0, 0, 1, 0.6, 0.5];
  size = [1, 1];
  middle = [0, 0, 0];
  span = [1, 1];
  d = 2;
  moved = false;

  /** Shows all points, unless somebody has moved the camera. @param {Cloud} cloud */
  fit(cloud) {
    this.d = cloud.d;
    const half = cloud.low.map((l, a) => Math.max((cloud.high[a] - l) / 2, 1e-30));
    const middle = cloud.low.map((l, a) => (l + cloud.high[a]) / 2).map((x) => (Number.isFinite(x) ? x : 0));
    if (this.moved) return;
    if (this.d === 3) {
      this.middle = middle;
      // All points fit from every side, seen from the height at which the view starts.
      const around = Math.hypot(half[0], half[2]);
      this.span = [1.08 * around, 1.08 * (Math.cos(0.5) * half[1] + Math.sin(0.5) * around)];
      this.at = [0, 0, 1, this.at[3], this.at[4]];
    } else {
      this.middle = [0, 0, 0];
      this.span = [1.08 * half[0], 1.08 * half[1]];
      this.at = [middle[0], middle[1], 1, this.at[3], this.at[4]];
    }
  }

  /** Pixels for one unit of the data. */
  get unit() {
    return Math.min(this.size[0] / (2 * this.span[0]), this.size[1] / (2 * this.span[1])) * this.at[2];
  }

  /** Rows of the rotation. */
  get turn() {
    if (this.d === 2) return [1, 0, 0, 0, 1, 0, 0, 0, 1];
    const [, , , yaw, pitch] = this.at;
    const [cy, sy, cp, sp] = [Math.cos(yaw), Math.sin(yaw), Math.cos(pitch), Math.sin(pitch)];
    return [cy, 0, -sy, sp * sy, cp, sp * cy, cp * sy, -sp, cp * cy];
  }

  /** A function from data to pixels. @returns {(x: number, y: number, z: number) => [number, number]} */
  projector() {
    const [t, u, [w, h], [a, b], [mx, my, mz]] = [this.turn, this.unit, this.size, this.at, this.middle];
    return (x, y, z) => {
      const [p, q, r] = [x - mx, y - my, z - mz];
      return [w / 2 + (t[0] * p + t[1] * q + t[2] * r - a) * u, h / 2 - (t[3] * p + t[4] * q + t[5] * r - b) * u];
    };
  }

  /** The same for WebGL, column by column. */
  matrix() {
    const [t, u, [w, h], [a, b], m] = [this.turn, this.unit, this.size, this.at, this.middle];
    const [sx, sy] = [(2 * u) / w, (2 * u) / h];
    const shift = (/** @type {number} */ r) => t[3 * r] * m[0] + t[3 * r + 1] * m[1] + t[3 * r + 2] * m[2];
    return new Float32Array([t[0] * sx, t[3] * sy, 0, 0, t[1] * sx, t[4] * sy, 0, 0, t[2] * sx, t[5] * sy, 0, 0, -(shift(0) + a) * sx, -(shift(1) + b) * sy, 0, 1]);
  }

  /** @param {number} dx @param {number} dy pixels */
  pan(dx, dy) {
    this.at[0] -= dx / this.unit;
    this.at[1] += dy / this.unit;
    this.moved = true;
  }

  /** Zooms around a pixel. @param {number} factor @param {number} x @param {number} y */
  zoom(factor, x = this.size[0] / 2, y = this.size[1] / 2) {
    const [px, py] = [x - this.size[0] / 2, y - this.size[1] / 2];
    const before = this.unit;
    this.at[2] = Math.max(0.05, Math.min(1e5, this.at[2] * factor));
    this.at[0] += px / before - px / this.unit;
    this.at[1] -= py / before - py / this.unit;
    this.moved = true;
  }

  /** @param {number} yaw @param {number} pitch */
  rotate(yaw, pitch) {
    this.at[3] += yaw;
    this.at[4] = Math.max(-1.5, Math.min(1.5, this.at[4] + pitch));
    this.moved = true;
  }
}

/** Calls `use` with the index and pixel of every visible point. @param {Cloud} cloud @param {Camera} camera @param {(c: number) => boolean} hidden @param {(i: number, x: number, y: number) => void} use */
function each(cloud, camera, hidden, use) {
  const at = camera.projector();
  const { places, d, n, classes } = cloud;
  for (let i = 0, j = 0; i < n; i++, j += d) {
    if (classes && hidden(classes[i])) continue;
    const [x, y] = at(places[j], places[j + 1], d > 2 ? places[j + 2] : 0);
    use(i, x, y);
  }
}

/** The visible point nearest to a pixel, or -1. @param {Cloud} cloud @param {Camera} camera @param {(c: number) => boolean} hidden @param {number} px @param {number} py */
export function nearest(cloud, camera, hidden, px, py) {
  let [best, found] = [NEAR * NEAR, -1];
  each(cloud, camera, hidden, (i, x, y) => {
    const distance = (x - px) ** 2 + (y - py) ** 2;
    if (distance < best) [best, found] = [distance, i];
  });
  return found;
}

/** The rows inside a polygon of pixels. @param {Cloud} cloud @param {Camera} camera @param {(c: number) => boolean} hidden @param {[number, number][]} polygon @param {number} rows @returns {Selected} */
export function inside(cloud, camera, hidden, polygon, rows) {
  const marks = new Uint8Array(rows);
  let count = 0;
  const [xs, ys] = [polygon.map((p) => p[0]), polygon.map((p) => p[1])];
  const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  each(cloud, camera, hidden, (i, x, y) => {
    if (!(x >= left && x <= right && y >= top && y <= bottom)) return;
    let within = false;
    for (let a = 0, b = polygon.length - 1; a < polygon.length; b = a++) {
      const [[ax, ay], [bx, by]] = [polygon[a], polygon[b]];
      if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) within = !within;
    }
    if (within && !marks[cloud.ids[i]]) {
      marks[cloud.ids[i]] = 1;
      count++;
    }
  });
  return { marks, count };
}
