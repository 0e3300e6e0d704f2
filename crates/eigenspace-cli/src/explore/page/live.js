// Events from the server. The stream is closed while the page is hidden, because a browser has only
// six connections to one server, and the page says so when the server is gone.

import { byId, count } from "./dom.js";
import { get } from "./api.js";

/** Readings that are kept for the Monitor. */
const KEPT = 5000;
const RETRY_MS = 2000;

/** @param {App} app @param {any} event readings */
function keep(app, event) {
  app.live ??= { rows: [], t2: [], q: [], angles: [], t2_limit: null, q_limit: null, total: 0, model: event.model };
  const { live } = app;
  const next = (live.rows.at(-1) ?? -1) + 1;
  event.t2.forEach((/** @type {number} */ t2, /** @type {number} */ i) => {
    if (event.first + i < next) return;
    live.rows.push(event.first + i);
    live.t2.push(t2);
    live.q.push(event.q[i]);
    live.angles.push(event.angles?.[i] ?? null);
  });
  // The model of the rows may have been computed after the last of them.
  if (live.angles.length) live.angles[live.angles.length - 1] = event.angle ?? null;
  for (const list of [live.rows, live.t2, live.q, live.angles]) list.splice(0, Math.max(0, list.length - KEPT));
  Object.assign(live, { t2_limit: event.t2_limit, q_limit: event.q_limit, total: event.rows });
}

/**
 * @param {App} app @param {(session: Session) => void} adopt @param {(changed: Set<string>) => void} show
 */
export function connect(app, adopt, show) {
  const banner = byId("banner");
  /** @type {EventSource | null} */
  let source = null;
  let [last, timer, ended] = ["", 0, ""];

  /** @param {string} text @param {string} [problem] */
  function say(text, problem) {
    app.stream = text;
    byId("status-live").textContent = text;
    banner.hidden = !problem;
    if (problem && banner.textContent !== problem) banner.textContent = problem;
    show(new Set(["stream"]));
  }
  const gone = () => say("disconnected", `${ended || "eigenspace does not answer."} This page keeps trying. If the command has ended, start it again and open the new link: ${app.session.command}`);

  function open() {
    clearTimeout(timer);
    source?.close();
    const mine = (source = new EventSource(`api/stream${last ? `?last=${last}` : ""}`));
    /** @param {string} name @param {(data: any) => void} act */
    const on = (name, act) => mine.addEventListener(name, (event) => {
      last = event.lastEventId || last;
      act(JSON.parse(event.data));
    });
    mine.onopen = () => {
      ended = "";
      say("live");
    };
    on("session", adopt);
    on("progress", ({ what, done, total }) => {
      if (app.session.data) Object.assign(app.session.data, { state: what, done, total });
      show(new Set(["progress"]));
    });
    on("readings", (data) => {
      keep(app, data);
      if (app.session.watch) app.session.watch.rows = data.rows;
      byId("status-live").textContent = `live, ${count(data.rows)} rows`;
      show(new Set(["live"]));
    });
    on("end", ({ reason }) => {
      ended = `eigenspace ended: ${reason}.`;
      mine.close();
      gone();
      retry();
    });
    mine.onerror = () => {
      mine.close();
      gone();
      retry();
    };
  }

  function retry() {
    clearTimeout(timer);
    timer = setTimeout(async () => {
      if (document.hidden) return;
      try {
        adopt(await get("session"));
        open();
      } catch {
        retry();
      }
    }, RETRY_MS);
  }

  document.addEventListener("visibilitychange", () => {
    if (document.hidden) {
      clearTimeout(timer);
      source?.close();
      say("paused while hidden");
    } else open();
  });
  addEventListener("pagehide", () => source?.close());
  if (document.hidden) say("paused while hidden");
  else open();
  return { report: (/** @type {boolean} */ answered) => { if (!answered && banner.hidden) { gone(); retry(); } } };
}
