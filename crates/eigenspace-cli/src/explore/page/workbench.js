// The workbench: models on a shelf, merged, split, and without chosen rows; before and after.

import { button, clamp, count, failed, h, num, percent, plural, s, table } from "./dom.js";
import { address, get, post, remove } from "./api.js";
import { axes, figure, label, logarithmic, linear, path } from "./chart.js";
import { dialog } from "./dialogs.js";

/** The largest principal angles, as many as are listed. */
const ANGLES = 4;
/** Pixels of a line and its name above the chart. */
const NAME_WIDTH = 190;
/** Colors and dashes of lines; as they have no common divisor, thirty lines differ. */
const [COLORS, DASHES] = [10, 3];
/** @param {number} i */
const look = (i) => `own c${i % COLORS} dash${i % DASHES}`;

/** Where this tab remembers which models it made, also when the page is loaded again. Other tabs undo their own. */
const MINE = `made at ${location.pathname}`;
/** @returns {number[]} */
const mine = () => JSON.parse(sessionStorage.getItem(MINE) ?? "[]");

/** @typedef {{ model: Model, spectrum: Spectrum, angles: { principal_angles: number[], whole_space: boolean } | null }} Side */

/** @param {App} app @returns {View} */
export function workbench(app) {
  const el = h("div", { class: "view workbench" });
  const shelf = h("section", { class: "shelf" });
  const result = h("section", { class: "result" });
  const trouble = h("div", {});
  /** @type {Set<number>} */
  const picked = new Set();
  /** @type {Side[]} */
  let sides = [];
  let [busy, what] = [false, ""];
  const rows = h("input", { type: "file", accept: ".npy", hidden: true, "aria-label": "Rows to add", change: () => {
    const [file, current] = [rows.files?.[0], app.model()];
    if (file && current) run(`Added the rows of ${file.name} to ${current.name}`, () => post(`models/${current.id}/rows`, file), [current.id]);
    rows.value = "";
  } });
  el.append(shelf, rows, trouble, result);

  const spectra = figure("Variances", 0, (svg, width, height) => {
    // The names are above the chart, in as many lines as they need.
    const columns = clamp(Math.floor((width - 80) / NAME_WIDTH), 1, Math.max(sides.length, 1));
    const box = /** @type {Box} */ ([64, 8 + 20 * Math.ceil(sides.length / columns), width - 16, height - 44]);
    const values = sides.map((x) => x.spectrum.components.map((c) => c.explained_variance[1]));
    const highest = Math.max(...values.flat(), 1e-300);
    const lowest = Math.max(Math.min(...values.flat().filter((v) => v > highest * 1e-12), highest / 10), 1e-300);
    const n = Math.max(...values.map((v) => v.length), 2);
    const [x, y] = [linear(1, n, box[0] + 8, box[2] - 8), logarithmic(lowest / 1.5, highest * 1.5, box[3], box[1])];
    const tick = Math.max(1, Math.ceil(n / 12));
    axes(svg, box, Object.assign((/** @type {number} */ v) => x(v), x, { ticks: () => Array.from({ length: Math.ceil(n / tick) }, (_, i) => 1 + i * tick) }), y, { x: "component" });
    values.forEach((list, i) => {
      const shown = list.filter((v) => v >= y.low);
      svg.append(s("path", { class: `line ${look(i)}`, d: path(shown.map((v, j) => [x(j + 1), y(v)])) }));
      if (n <= 60) for (const [j, v] of shown.entries()) svg.append(s("circle", { class: `dot c${i % COLORS}`, cx: x(j + 1), cy: y(v), r: 3 }));
      const [left, top] = [box[0] + NAME_WIDTH * (i % columns), 18 + 20 * Math.floor(i / columns)];
      const { name } = sides[i].model;
      svg.append(s("line", { class: `line ${look(i)}`, x1: left, x2: left + 28, y1: top - 4, y2: top - 4 }));
      label(svg, name.length > 20 ? `${name.slice(0, 19)}\u2026` : name, left + 36, top);
    });
    return `Logarithmic scale. ${sides.map((x) => `${x.model.name}: ${plural(x.model.rank, "component")}`).join("; ")}.`;
  }, () => ({ head: ["PC", ...sides.map((x) => x.model.name)], rows: Array.from({ length: Math.max(...sides.map((x) => x.spectrum.components.length)) }, (_, i) => [i + 1, ...sides.map((x) => num(x.spectrum.components[i]?.explained_variance[1]))]) }));

  /** Runs an operation and shows what it changed. @param {string} name @param {() => Promise<Model>} job @param {number[]} from */
  async function run(name, job, from) {
    if (busy) return;
    busy = true;
    draw();
    trouble.replaceChildren();
    /** @type {Model | null} */
    let added = null;
    try {
      added = await job();
      sessionStorage.setItem(MINE, JSON.stringify([...mine(), added.id]));
      what = name;
      picked.clear();
      if (name.startsWith("Forgot")) app.select(null);
      await app.refresh();
      app.set({ m: added.id, at: [], k: 0 });
      await compare([...from, added.id]);
    } catch (error) {
      const { message, hint, status } = /** @type {any} */ (error);
      const shelved = added ? `${added.name} is on the shelf, but cannot be compared.` : status ? "The shelf is unchanged." : "The shelf may have changed.";
      trouble.replaceChildren(h("div", { class: "notice error", role: "alert" }, h("p", { class: "title" }, message), hint ? h("p", {}, hint) : null, h("p", { class: "quiet" }, shelved)));
    } finally {
      busy = false;
      draw();
    }
  }

  /** @param {number[]} ids the last one is the result @param {boolean} [done] */
  async function compare(ids, done = true) {
    const last = ids.at(-1) ?? 0;
    const models = ids.map((id) => app.session.models.find((m) => m.id === id)).filter((m) => m !== undefined);
    sides = await Promise.all(models.map(async (model) => ({
      model, spectrum: await get(`models/${model.id}/spectrum`),
      angles: model.id === last || !done ? null : await get(`models/${model.id}/angles/${last}`, { k: Math.min(model.n_components, models.at(-1)?.n_components ?? 1) }).catch(() => null),
    })));
    const degrees = (/** @type {number} */ a) => `${num((a * 180) / Math.PI)}\u00b0`;
    const angles = (/** @type {Side["angles"]} */ a) => (a?.whole_space ? "0\u00b0, all of the space" : a?.principal_angles.length ? `${a.principal_angles.slice(-ANGLES).map(degrees).join(", ")}${a.principal_angles.length > ANGLES ? `; ${count(a.principal_angles.length - ANGLES)} smaller` : ""}` : "\u2013");
    result.replaceChildren(h("h2", {}, what), h("div", { class: "compared" }, ...(done ? [table("Before and after", ["Model", "When", "Rows", "Rank", "Total variance", "Certificate", "Principal angles to the result"],
      sides.map((x, i) => [x.model.name, i === sides.length - 1 ? "after" : "before", count(Math.round(x.model.rows)), count(x.model.rank), num(x.spectrum.total_variance), x.model.certificate.text, h("span", {}, i === sides.length - 1 ? "" : angles(x.angles))]))] : []), spectra.el));
    spectra.redraw();
  }

  /** Before any operation, the models on the shelf are compared. */
  function glance() {
    if (sides.length || busy || app.session.models.length < 2) return;
    what = "Models on the shelf";
    compare(app.session.models.slice(0, 4).map((m) => m.id), false).catch((error) => result.replaceChildren(failed(error, glance)));
  }

  /** The newest model that was made in this tab. */
  const made = () => app.session.models.filter((m) => mine().includes(m.id)).at(-1);
  const chosenRows = () => (app.selection ? [...app.selection.marks.entries()].filter(([, m]) => m).map(([i]) => i) : []);

  function draw() {
    const { models, write } = app.session;
    const ids = [...picked].filter((id) => models.some((m) => m.id === id));
    const [a, b] = ids.map((id) => models.find((m) => m.id === id));
    const [whole, part] = a && b && a.rows < b.rows ? [b, a] : [a, b];
    const newest = made();
    const current = app.model();
    const listed = models.map((m) => [
      h("input", { type: "checkbox", "aria-label": `Choose ${m.name}`, checked: picked.has(m.id), change: (/** @type {Event} */ e) => {
        if (/** @type {HTMLInputElement} */ (e.target).checked) picked.add(m.id);
        else picked.delete(m.id);
        draw();
      } }),
      h("button", { type: "button", class: "link", "aria-pressed": String(m === current), title: "Show this model in all views", click: () => app.set({ m: m.id }, true) }, m.name),
      count(Math.round(m.rows)), count(m.features), count(m.rank), percent(m.certificate.captured[0]),
      h("span", { class: `badge ${m.certificate.exact ? "exact" : "bounded"}` }, m.certificate.text), m.origin,
      h("span", { class: "acts" }, h("a", { href: address(`models/${m.id}/model.safetensors`), download: `${m.name}.safetensors` }, "Download"),
        write ? button("Save\u2026", { "aria-label": `Save ${m.name}`, click: () => save(m) }) : null),
    ]);
    const n = app.selection?.count ?? 0;
    const hint = busy ? "Working\u2026" : models.length < 2 ? "Forget rows that are selected on the Map, or add rows. With more models on the command line, they can be merged and split. Files are never changed." : ids.length < 2 ? "Choose two models to merge or split them. Select rows on the Map to forget them. Files are never changed." : `${plural(ids.length, "model")} chosen.`;
    shelf.replaceChildren(h("div", {}, h("h2", {}, "Shelf"), h("p", { class: "summary" }, hint)), table("Models", ["Use", "Name", "Rows", "Features", "Rank", "Captured", "Certificate", "Origin", "File"], listed),
      h("div", { class: "tools" },
        button("Merge", { disabled: busy || ids.length < 2, title: "The model of all rows of the chosen models", click: () => run(`Merged ${ids.map((id) => models.find((m) => m.id === id)?.name).join(" and ")}`, () => post("merge", { models: ids }), ids) }),
        button(ids.length === 2 ? `Split ${part?.name} out of ${whole?.name}` : "Split", { disabled: busy || ids.length !== 2, title: "Remove the rows of the smaller model from the larger one", click: () => run(`Split ${part?.name} out of ${whole?.name}`, () => post("split", { whole: whole?.id, part: part?.id }), [whole?.id ?? 0, part?.id ?? 0]) }),
        button(n ? `Forget ${plural(n, "selected row")}` : "Forget selected rows", { disabled: busy || !n || !current, title: "The model without the rows selected on the Map or the Monitor", click: () => current && run(`Forgot ${plural(n, "row")} of ${current.name}`, () => post(`models/${current.id}/forget`, { rows: chosenRows() }), [current.id]) }),
        button("Add rows\u2026", { disabled: busy || !current, title: "A copy of the current model with the rows of a .npy file", click: () => rows.click() }),
        h("span", { class: "grow" }),
        button(newest ? `Undo ${newest.name}` : "Undo", { disabled: busy || !newest, title: "Remove the newest result of this tab", click: undo })));
  }

  /** Asks for the name of the file. @param {Model} model */
  function save(model) {
    const name = h("input", { type: "text", required: true, maxlength: 200, "aria-label": "Name of the file", value: `${model.name.replace(/[^\w.-]+/g, "-")}.safetensors` });
    const answer = h("p", { role: "alert" });
    const box = dialog(`Save ${model.name}`, h("form", { class: "save", submit: async (/** @type {Event} */ event) => {
      event.preventDefault();
      try {
        app.say(`Saved ${(await post(`models/${model.id}/save`, { name: name.value })).path}`);
        box.close();
      } catch (error) {
        const { message, hint } = /** @type {any} */ (error);
        answer.replaceChildren(h("span", { class: "alarm" }, `${message}${hint ? `; ${hint}` : ""}`));
      }
    } }, h("label", { class: "field" }, "File ", name), h("button", { type: "submit" }, "Save")), answer);
    name.select();
  }

  async function undo() {
    const newest = made();
    if (!newest) return;
    try {
      if (app.state.m === newest.id) app.set({ m: newest.parents[0] ?? 0 });
      await remove(`models/${newest.id}`);
      result.replaceChildren();
      sides = [];
      await app.refresh();
      app.say(`Removed ${newest.name}.`);
    } catch (error) {
      app.say(/** @type {Error} */ (error).message, "error");
    }
    draw();
  }

  return {
    el,
    update(changed) {
      if (changed.has("session") || changed.has("model") || changed.has("selection")) draw();
      if (changed.has("model")) glance();
      if (changed.has("theme")) spectra.redraw();
      app.status(`${plural(app.session.models.length, "model")} on the shelf${app.selection ? ` \u00b7 ${plural(app.selection.count, "row")} selected` : ""}`);
    },
  };
}
