// Requests to the server that served this page, with addresses relative to the page.

import { count } from "./dom.js";

/** The server's sentence and hint, and the HTTP status; 0 if there was no answer. */
export class Failure extends Error {
  /** @param {string} message @param {string | null} hint @param {number} status */
  constructor(message, hint, status) {
    super(message);
    this.hint = hint;
    this.status = status;
  }
}

/** Called with false when the server does not answer, and with true when it does. */
export const reach = { report: (/** @type {boolean} */ _answered) => {} };

/** @param {string} path @param {Record<string, any>} [query] */
export function address(path, query = {}) {
  const parts = Object.entries(query).filter(([, v]) => v !== undefined && v !== null && v !== "");
  const text = parts.map(([k, v]) => `${k}=${encodeURIComponent(v).replaceAll("%2C", ",").replaceAll("%3A", ":")}`).join("&");
  return `api/${path}${text ? `?${text}` : ""}`;
}

/** @param {string} url @param {RequestInit} [options] */
async function request(url, options) {
  let answer;
  try {
    answer = await fetch(url, options);
  } catch (error) {
    if (options?.signal?.aborted) throw error;
    reach.report(false);
    throw new Failure("cannot reach eigenspace", "check that the command is still running in its terminal", 0);
  }
  reach.report(true);
  if (answer.ok) return answer;
  const body = await answer.json().catch(() => ({}));
  throw new Failure(body.error ?? `the server answered with status ${answer.status}`, body.hint ?? null, answer.status);
}

/** @param {string} path @param {Record<string, any>} [query] @param {AbortSignal} [signal] @returns {Promise<any>} */
export const get = async (path, query, signal) => (await request(address(path, query), { signal })).json();

/** @param {string} path @param {any} [body] @param {Record<string, any>} [query] @returns {Promise<any>} */
export async function post(path, body, query) {
  const raw = body instanceof Blob || body === undefined;
  const type = raw ? "application/octet-stream" : "application/json";
  return (await request(address(path, query), { method: "POST", headers: { "content-type": type }, body: raw ? body : JSON.stringify(body) })).json();
}

/** @param {string} path */
export const remove = async (path) => { await request(address(path), { method: "DELETE" }); };

/**
 * Points or one column, decoded without a copy.
 * @param {string} path @param {Record<string, any>} query @param {AbortSignal} [signal] @returns {Promise<Chunk>}
 */
export async function chunk(path, query, signal) {
  const bytes = await (await request(address(path, query), { signal })).arrayBuffer();
  const view = new DataView(bytes);
  if (bytes.byteLength < 40 || view.getUint32(0) !== 0x45494750 || view.getUint32(4, true) !== 1)
    throw new Failure("cannot read the points", "reload the page: it may be older than the server", 0);
  const [n, d] = [view.getUint32(8, true), view.getUint32(12, true)];
  const ids = 40 + 4 * n * d;
  const withIds = bytes.byteLength >= ids + 4 * n;
  const classes = withIds && view.getUint32(32, true) & 1 ? new Uint16Array(bytes, ids + 4 * n, n) : null;
  return {
    n, d, revision: Number(view.getBigUint64(16, true)), first: view.getUint32(24, true), total: view.getUint32(28, true),
    values: new Float32Array(bytes, 40, n * d), ids: withIds ? new Uint32Array(bytes, ids, n) : new Uint32Array(0), classes,
  };
}

/**
 * Runs one job at a time; of the calls that come meanwhile, only the last is run.
 * @template A @param {(arg: A) => Promise<void>} job
 */
export function queued(job) {
  let busy = false;
  /** @type {[A] | null} */
  let next = null;
  return async function run(/** @type {A} */ arg) {
    if (busy) {
      next = [arg];
      return;
    }
    busy = true;
    try {
      await job(arg);
    } finally {
      busy = false;
      const waiting = next;
      next = null;
      if (waiting) run(waiting[0]);
    }
  };
}

/** A function that runs a job and stops the one before; the result of a stopped job is undefined. */
export function latest() {
  /** @type {AbortController | undefined} */
  let current;
  return async function run(/** @type {(signal: AbortSignal) => Promise<any>} */ job) {
    current?.abort();
    const mine = (current = new AbortController());
    try {
      const result = await job(mine.signal);
      return mine.signal.aborted ? undefined : result;
    } catch (error) {
      if (!mine.signal.aborted) throw error;
    }
  };
}

/** @param {Model} model @param {number} feature @param {string | null} [name] */
export function featureName(model, feature, name) {
  if (name) return name;
  const image = model.image;
  if (!image) return `feature ${count(feature)}`;
  const pixel = Math.floor(feature / image.channels);
  return `pixel ${pixel % image.width}, ${Math.floor(pixel / image.width)}`;
}
