// The page: one state object, mirrored in the fragment; views that draw it; keys that change it.

import { button, byId, clamp, count, failed, h, noRow, notice, plural } from "./dom.js";
import { Failure, get, reach } from "./api.js";
import { VIEWS, defaults, parse, write } from "./state.js";
import { connect } from "./live.js";

/** Each view is a file that is loaded when it is first shown. @type {Record<string, () => Promise<(app: App) => View>>} */
const FILES = {
  variance: async () => (await import("./variance.js")).variance,
  map: async () => (await import("./map.js")).map,
  row: async () => (await import("./row.js")).row,
  walk: async () => (await import("./walk.js")).walk,
  features: async () => (await import("./features.js")).features,
  monitor: async () => (await import("./monitor.js")).monitor,
  workbench: async () => (await import("./workbench.js")).workbench,
  faces: async () => (await import("./faces.js")).faces,
};
/** Other files that wait until they are needed: a dialog, a chosen row, a browser without WebGL. */
const dialogFile = () => styled(import("./dialogs.js"));
const inspectorFile = () => styled(import("./inspector.js"));
const canvasFile = () => import("./canvas2d.js");
/** All files follow after this time, so that they are there even if the server ends. */
const OTHERS_MS = 1000;
/** The files that are there. @type {Record<string, (app: App) => View>} */
const MAKE = {};
/** Views of rows. */
const ROWS = ["map", "row", "monitor"];
const main = byId("main");
const pickModel = /** @type {HTMLSelectElement} */ (byId("model"));
const side = byId("inspector");
/** @type {View | null} */
let view = null;
let shown = "";
let writing = 0;
/** @type {ReturnType<typeof import("./inspector.js").inspector> | null} */
let beside = null;

/** @type {App} */
const app = {
  session: /** @type {any} */ (null),
  state: parse(location.hash),
  selection: null,
  live: null,
  stream: "",
  watching: true,
  model: () => app.session.models.find((m) => m.id === app.state.m) ?? app.session.models[0] ?? null,
  k: () => clamp(app.state.k || (app.model()?.n_components ?? 1), 1, Math.max(1, app.model()?.rank ?? 1)),
  set(patch, push) {
    const changed = Object.keys(patch).filter((key) => String(patch[/** @type {keyof State} */ (key)]) !== String(app.state[/** @type {keyof State} */ (key)]));
    if (!changed.length) return;
    if (changed.includes("m") && !("at" in patch)) patch = { ...patch, at: [], k: 0, c: 1 };
    Object.assign(app.state, patch);
    clearTimeout(writing);
    const mirror = () => history[push ? "pushState" : "replaceState"](null, "", write(app.state));
    if (push) mirror();
    else writing = setTimeout(mirror, 120);
    show(new Set([...changed, ...(changed.includes("m") ? ["model"] : [])]));
  },
  measure() {
    const { live, session, state, watching } = app;
    const reference = watching && session.watch && state.view === "monitor" ? session.models.find((m) => m.id === live?.model) : null;
    return reference ? { model: reference, k: reference.n_components, live } : { model: app.model(), k: app.k(), live: null };
  },
  select(selection) {
    app.selection = selection?.count ? selection : null;
    show(new Set(["selection"]));
  },
  status(text) {
    if (byId("status-view").textContent !== text) byId("status-view").textContent = text;
  },
  say(text, kind = "info") {
    const toast = h("div", { class: `toast ${kind}`, role: kind === "error" ? "alert" : "status" }, h("span", {}, text), button("\u00d7", { "aria-label": "Dismiss", click: () => toast.remove() }));
    byId("toasts").append(toast);
    setTimeout(() => toast.remove(), kind === "error" ? 20000 : 5000);
  },
  async refresh() { adopt(await get("session")); },
};

/** Takes over a session; models whose revision changed are drawn again. @param {Session} next */
function adopt(next) {
  const before = app.session;
  const key = (/** @type {Session | null} */ x) => JSON.stringify(x && [x.models.find((m) => m.id === app.state.m) ?? x.models[0], x.data?.state]);
  app.session = next;
  const shownModel = before?.models.find((m) => m.id === app.state.m);
  if (shownModel && !next.models.some((m) => m.id === shownModel.id)) {
    Object.assign(app.state, { m: next.models[0]?.id ?? 0, at: [], k: 0, c: 1 });
    app.say(`${shownModel.name} was removed in another tab.`);
  }
  const changed = new Set(["session"]);
  if (key(before) !== key(next)) changed.add("model");
  if (before?.data?.rows !== next.data?.rows) changed.add("rows");
  show(changed);
}

function header() {
  const { models, data } = app.session;
  const model = app.model();
  byId("model-field").hidden = !model;
  const options = models.map((m) => h("option", { value: m.id, selected: m === model }, m.name));
  pickModel.replaceChildren(...options);
  const busy = data && (data.state === "reading" || data.state === "fitting") ? `${data.state} ${data.name}: ${count(data.done)}${data.total ? ` of ${count(data.total)}` : ""} rows` : "";
  const size = model ? `${plural(Math.round(model.rows), "row")} \u00d7 ${plural(model.features, "feature")}` : "";
  byId("size").textContent = [size, busy].filter(Boolean).join(" \u00b7 ");
  const badge = /** @type {HTMLButtonElement} */ (byId("badge"));
  badge.hidden = !model;
  if (model) {
    const { exact, text } = model.certificate;
    badge.className = `badge ${exact ? "exact" : "bounded"}`;
    badge.textContent = text;
    badge.title = exact ? "Certificate: nothing was dropped, so this equals batch PCA" : "Certificate: how far this can be from batch PCA of the same rows";
  }
  for (const id of ["export", "copy-link", "copy-command"]) /** @type {HTMLButtonElement} */ (byId(id)).disabled = !model;
  document.title = model ? `${model.name} \u00b7 eigenspace` : "eigenspace explore";
}

function tabs() {
  const list = byId("tabs");
  if (!list.children.length) list.append(...VIEWS.map((name, i) => h("a", { title: `Press ${i + 1}`, "data-name": name }, name[0].toUpperCase() + name.slice(1))));
  VIEWS.forEach((name, i) => {
    const link = /** @type {HTMLAnchorElement} */ (list.children[i]);
    link.href = write({ ...app.state, view: name });
    if (name !== app.state.view) link.removeAttribute("aria-current");
    else if (!link.ariaCurrent) {
      link.ariaCurrent = "page";
      list.scrollLeft = link.offsetLeft - 64;
    }
  });
}

/** What to show instead of a view while there is no model, or none of the rows that the view shows. */
function waiting() {
  const { data, models } = app.session;
  const needed = !models.length || (ROWS.includes(app.state.view) && !data?.rows);
  if (data?.state === "failed" && (needed || ROWS.includes(app.state.view))) return notice("error", data.error?.error ?? "cannot read the data", data.error?.hint);
  if (models.length && app.model()?.rank === 0 && !["workbench", "faces"].includes(app.state.view)) return notice("empty", "No components", "All rows of this model are equal, so there is no variance to show.");
  if (!needed || (models.length && data?.state !== "reading")) return null;
  if (!data) return notice("empty", "No model and no data", "Start it with a model or data: eigenspace explore iris.csv");
  const bar = h("progress", { max: data.total ?? undefined, value: data.total ? data.done : undefined, "aria-label": "Rows" });
  const title = data.state === "fitting" ? `Fitting a model to ${data.name}` : `Reading ${data.name}`;
  return notice("loading", title, data.total ? `${count(data.done)} of ${plural(data.total, "row")}` : `${plural(data.done, "row")} so far`, bar);
}

/** The style of everything but the map. @type {Promise<unknown> | null} */
let style = null;

/** A file together with its style. @template T @param {Promise<T>} file */
async function styled(file) {
  style ??= new Promise((load, error) => document.head.append(h("link", { rel: "stylesheet", href: "assets/views.css", load, error })));
  style.catch(() => { style = null; });
  return (await Promise.all([file, style]))[0];
}

/** Loads a view that was not shown before. @param {string} name */
async function load(name) {
  try {
    MAKE[name] ??= await (name === "map" ? FILES[name]() : styled(FILES[name]()));
    return true;
  } catch {
    return false;
  }
}

/** Shows a view whose file has to be loaded first. @param {string} name */
async function loadAndShow(name) {
  const loaded = await load(name);
  if (app.state.view !== name) return;
  if (loaded) show(new Set(["view"]));
  else main.replaceChildren(failed(unreachable(`${name} view`), () => loadAndShow(name)));
}

/** Goes to a view and waits until it is there. @param {string} name */
async function open(name) {
  await load(name);
  app.set({ view: name }, true);
}

/** @param {Set<string>} changed */
function show(changed) {
  if (!app.session) return;
  header();
  tabs();
  const absent = !MAKE[app.state.view];
  if (absent) loadAndShow(app.state.view);
  const instead = waiting() ?? (absent ? notice("loading", "Loading") : null);
  const wasWide = document.body.classList.contains("wide");
  const wide = document.body.classList.toggle("wide", ["row", "workbench", "faces"].includes(app.state.view) || Boolean(instead));
  if (instead) {
    view?.destroy?.();
    [view, shown] = [null, ""];
    main.replaceChildren(instead);
    app.status(absent ? "Loading" : "No model yet");
    return;
  }
  if (shown !== app.state.view || !view) {
    view?.destroy?.();
    shown = app.state.view;
    app.status("");
    view = MAKE[shown](app);
    main.replaceChildren(view.el);
    main.setAttribute("aria-label", shown);
    view.update(new Set(["model", "session", "view"]));
  } else view.update(changed);
  if (!wide) inspect(wasWide ? new Set(["model"]) : changed);
}

/** Shows the chosen and the selected rows beside the view. @param {Set<string>} changed */
function inspect(changed) {
  if (beside) return beside.update(changed);
  const nothing = app.selection ? null : noRow(app);
  side.replaceChildren(nothing ?? notice("loading", "Loading"));
  if (!nothing) loadInspector();
}

async function loadInspector() {
  try {
    const { inspector } = await inspectorFile();
    if (beside) return;
    beside = inspector(app);
    side.replaceChildren(beside.el);
    beside.update(new Set(["model"]));
  } catch {
    side.replaceChildren(failed(unreachable("row inspector"), loadInspector));
  }
}

/** A file did not come, so the server may be gone. @param {string} what */
function unreachable(what) {
  reach.report(false);
  return new Failure(`cannot load the ${what}`, "check that the command is still running in its terminal", 0);
}

/** Opens a dialog. @param {(file: Awaited<ReturnType<typeof dialogFile>>) => void} open */
function dialogs(open) {
  dialogFile().then(open, () => app.say(unreachable("dialog").message, "error"));
}

/** Copies a text, or shows it where the browser does not allow that. @param {string} text @param {string} done */
function copy(text, done) {
  const refused = () => dialogs((file) => file.copyDialog(text));
  if (navigator.clipboard) navigator.clipboard.writeText(text).then(() => app.say(done), refused);
  else refused();
}

/** @param {number} step */
function stepRow(step) {
  const rows = app.session.data?.rows ?? 0;
  if (rows) app.set({ row: app.state.row < 0 ? (step > 0 ? 0 : rows - 1) : (app.state.row + step + rows) % rows });
}

/** @param {KeyboardEvent} event */
function onKey(event) {
  const target = /** @type {HTMLElement} */ (event.target);
  if (!app.session || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const range = target instanceof HTMLInputElement && ["range", "checkbox"].includes(target.type);
  if (event.key === "Escape") target.blur();
  else if (target.closest("input, textarea") && !range) return;
  else if (target.closest("input, select, [role=slider]") && /^(Arrow|Home|End|Page| )/.test(event.key)) return;
  else if (target.closest("select") && event.key.length === 1 && !/\d|[?[\],./]/.test(event.key)) return;
  if (view?.key?.(event)) return event.preventDefault();
  const digit = Number(event.key);
  if (digit >= 1 && digit <= VIEWS.length) app.set({ view: VIEWS[digit - 1] }, true);
  else if (event.key === "[" || event.key === "]") app.set({ k: clamp(app.k() + (event.key === "]" ? 1 : -1), 1, app.model()?.rank ?? 1) });
  else if (event.key === "," || event.key === ".") stepRow(event.key === "." ? 1 : -1);
  else if (event.key === "/") {
    const search = () => /** @type {HTMLElement | null} */ (document.querySelector("#main [type=search]"));
    if (search()) search()?.focus();
    else open("map").then(() => search()?.focus());
  } else if (event.key === "l") open("map").then(() => view?.key?.(event));
  else if (event.key === "Escape") app.select(null);
  else if (event.key === "e") dialogs((file) => file.exportDialog(app, view));
  else if (event.key === "?") dialogs((file) => file.helpDialog());
  else return;
  event.preventDefault();
}

pickModel.addEventListener("change", () => app.set({ m: Number(pickModel.value) }, true));
byId("badge").addEventListener("click", () => app.set({ view: "variance" }, true));
byId("export").addEventListener("click", () => dialogs((file) => file.exportDialog(app, view)));
byId("help").addEventListener("click", () => dialogs((file) => file.helpDialog()));
byId("copy-link").addEventListener("click", () => {
  history.replaceState(null, "", write(app.state));
  copy(location.href, "Link copied. It works while this command runs.");
});
byId("copy-command").addEventListener("click", () => copy(`${app.session.command} --state '${write(app.state)}'`, "Command copied."));
addEventListener("keydown", onKey);
addEventListener("hashchange", () => app.set({ ...defaults(), ...parse(location.hash) }));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => show(new Set(["theme"])));

/** The view that shows most of what the command was given. @param {Session} session */
function firstView({ models, data, recognizer, watch }) {
  if (watch) return "monitor";
  if (data || !models.length) return "map";
  return recognizer ? "faces" : models.length > 1 ? "workbench" : "variance";
}

function loadOthers() {
  VIEWS.forEach(load);
  for (const file of [dialogFile, inspectorFile, canvasFile]) file().catch(() => {});
}

async function start() {
  main.replaceChildren(notice("loading", "Loading"));
  if (location.hash.length > 1) load(app.state.view);
  try {
    const first = await get("session");
    if (location.hash.length < 2) app.state = first.state ? parse(first.state) : { ...defaults(), view: firstView(first) };
    adopt(first);
    history.replaceState(null, "", write(app.state));
    const stream = connect(app, adopt, show);
    reach.report = stream.report;
    setTimeout(loadOthers, OTHERS_MS);
  } catch (error) {
    main.replaceChildren(failed(error, start));
  }
}
start();
