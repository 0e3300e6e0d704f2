// The map: scores of all rows along two or three components.

import { clamp, count, failed, h, notice, num, percent, plural, s, table } from "./dom.js";
import { address, featureName, get, latest } from "./api.js";
import { Camera, inside, loadColumn, loadPoints, nearest, range } from "./cloud.js";
import { axes as drawAxes, label, linear, tipNames } from "./chart.js";
import { classLooks, classPalette, ramp, weight } from "./palette.js";
import { legend } from "./legend.js";
import { axisLimit, mapTools } from "./maptools.js";
import { webgl } from "./points.js";

const MARGIN = { left: 56, right: 16, top: 16, bottom: 48 };
/** Points of a growing table are loaded again at most this often. */
const GROW_MS = 3000;
/** The canvas counts as moving for so long after the last step. */
const REST_MS = 140;
/** A graphics context that is lost for so long is given up. */
const LOST_MS = 3000;
/** Rows of the table below the map. */
const TABLED = 200;

/** Draws nothing, until a plain canvas is there. @type {Renderer} */
const NOTHING = { name: "", lost: false, drawn: 0, setCloud() {}, grow() {}, setLook() {}, draw() {}, destroy() {} };

/** @param {App} app @returns {View} */
export function map(app) {
  const under = s("svg", { class: "layer", "aria-hidden": "true" });
  const over = s("svg", { class: "layer", "aria-hidden": "true" });
  const canvas = h("canvas", { "aria-hidden": "true" });
  const tip = h("div", { class: "tip", hidden: true });
  const wait = notice("loading", "Loading points");
  const plot = h("div", { class: "plot", tabindex: 0, role: "application", "aria-label": "Map of rows" }, under, canvas, over, tip);
  const beside = h("div", { class: "beside" });
  const tools = mapTools(app, { lasso: () => lasso, toggleLasso, reset });
  const stage = h("div", { class: "stage" }, plot, beside);
  const summary = h("p", { class: "summary" });
  const details = h("details", { toggle: () => fillTable() }, h("summary", {}, "Table"));
  const el = h("div", { class: "view map" }, tools.el, stage, h("div", { class: "foot" }, summary, details));
  const camera = new Camera();
  const load = latest();
  const loadColor = latest();
  const loadArrows = latest();
  /** @type {Cloud | null} */
  let cloud = null;
  /** @type {Look["values"]} */
  let values = null;
  /** @type {[number, number]} */
  let ends = [0, 1];
  /** @type {ReturnType<typeof classLooks> | null} */
  let looks = null;
  /** @type {Feature[]} */
  let arrows = [];
  /** @type {number[]} */
  let ratios = [];
  /** @type {[number, number][] | null} */
  let rope = null;
  let [lasso, resting, hovered, later, reading, coloring] = [false, 0, -1, 0, false, 0];
  let renderer = webgl(canvas, footer) ?? NOTHING;
  if (renderer === NOTHING) drawPlainly();
  /** Where each row is among the points. */
  let placeOf = new Int32Array(0);

  const hidden = (/** @type {number} */ c) => app.state.hide.includes(looks?.looks.has(c) ? c : -1);
  const title = (/** @type {number} */ i) => `PC ${i}${ratios[i - 1] === undefined ? "" : ` (${percent(ratios[i - 1])})`}`;

  function footer() {
    if (!cloud) return;
    app.status(`${count(renderer.drawn)} of ${plural(cloud.total, "point")} drawn \u00b7 ${renderer.name}`);
    plot.dataset.drawn = String(renderer.drawn);
    if (renderer.lost) setTimeout(() => { if (renderer.lost) drawPlainly(); }, LOST_MS);
  }

  /** Draws a sample on a plain canvas: there is no WebGL, or its context did not come back. */
  async function drawPlainly() {
    const { canvas2d } = await import("./canvas2d.js");
    if (!el.isConnected || !(renderer === NOTHING || renderer.lost)) return;
    const plain = h("canvas", { "aria-hidden": "true" });
    plot.querySelector("canvas")?.replaceWith(plain);
    renderer = canvas2d(plain, footer);
    if (cloud) renderer.setCloud(cloud);
    layout();
    look();
  }

  function look() {
    if (!cloud) return;
    const classes = app.session.data?.labels?.length ?? 0;
    const byClass = app.state.color === "label" && cloud.classes;
    /** @type {Look["marks"]} */
    let marks = null;
    if (app.selection) {
      marks = new Uint8Array(cloud.total);
      for (let i = 0; i < cloud.n; i++) marks[i] = app.selection.marks[cloud.ids[i]];
    }
    const palette = values ? ramp() : classPalette(byClass ? Math.min(classes, 2047) : 0, byClass ? looks : null, byClass ? hidden : () => false);
    renderer.setLook({ palette, values, low: ends[0], high: ends[1], marks, ...weight(cloud.total) });
    explainColors();
  }
  function explainColors() {
    if (cloud) beside.replaceChildren(legend(app, { cloud, looks: app.state.color === "label" && cloud.classes ? looks : null, values, ends, name: `${tools.colorName()}${byReading() ? ` (k = ${count(app.k())})` : ""}` }));
  }

  function toggleLasso() {
    lasso = !lasso;
    tools.draw();
    plot.classList.toggle("lasso", lasso);
  }
  function reset() {
    camera.moved = false;
    if (cloud) camera.fit(cloud);
    camera.at.splice(3, 2, 0.6, 0.5);
    app.set({ at: [] });
    draw(false);
  }

  /** @param {boolean} moving */
  function draw(moving) {
    renderer.draw(camera.matrix(), moving);
    decorate();
    clearTimeout(resting);
    if (moving) resting = setTimeout(() => {
      app.set({ at: camera.at.slice(0, camera.d === 3 ? 5 : 3) });
      draw(false);
    }, REST_MS);
  }

  /** Axes, arrows, rings and the lasso around the points. */
  function decorate() {
    const [w, tall] = camera.size;
    const { left, top } = MARGIN;
    const at = camera.projector();
    under.replaceChildren();
    over.replaceChildren();
    const { axes } = app.state;
    const group = s("g", { transform: `translate(${left} ${top})` });
    over.append(group);
    if (camera.d === 2) {
      const [half, cx, cy] = [1 / (2 * camera.unit), camera.at[0], camera.at[1]];
      const x = linear(cx - w * half, cx + w * half, left, left + w);
      const y = linear(cy - tall * half, cy + tall * half, top + tall, top);
      drawAxes(under, [left, top, left + w, top + tall], x, y, { x: title(axes[0]), nx: w / 110, ny: tall / 80, net: true });
      label(under, title(axes[1]), 0, 0, { class: "axis-name", "text-anchor": "middle", transform: `translate(12 ${top + tall / 2}) rotate(-90)` });
      const zero = [Math.round(x(0)) + 0.5, Math.round(y(0)) + 0.5];
      if (zero[0] > left && zero[0] < left + w) under.append(s("line", { class: "zero", x1: zero[0], x2: zero[0], y1: top, y2: top + tall }));
      if (zero[1] > top && zero[1] < top + tall) under.append(s("line", { class: "zero", x1: left, x2: left + w, y1: zero[1], y2: zero[1] }));
    } else {
      const length = 0.8 * Math.min(...camera.span);
      const origin = at(camera.middle[0], camera.middle[1], camera.middle[2]);
      axes.forEach((component, a) => {
        const end = camera.middle.map((m, i) => m + (i === a ? length : 0));
        const [ex, ey] = at(end[0], end[1], end[2]);
        group.append(s("line", { class: "axis", x1: origin[0], y1: origin[1], x2: ex, y2: ey }));
        label(group, title(component), ex + (ex < origin[0] ? -4 : 4), ey + (ey < origin[1] ? -4 : 12), { class: "axis-name halo", "text-anchor": ex < origin[0] ? "end" : "start" });
      });
    }
    drawArrows(group, at);
    ring(group, at, placeOf[app.state.row] ?? -1, "chosen", 9);
    ring(group, at, hovered, "hover", 7);
    if (rope) group.append(s("path", { class: "rope", d: `M${rope.map((p) => p.join(" ")).join("L")}${lasso ? "" : "Z"}` }));
  }

  /** @param {SVGElement} into @param {(x: number, y: number, z: number) => [number, number]} at @param {number} i @param {string} kind @param {number} r */
  function ring(into, at, i, kind, r) {
    if (!cloud || i < 0) return;
    const [x, y] = at(cloud.places[i * cloud.d], cloud.places[i * cloud.d + 1], cloud.d > 2 ? cloud.places[i * cloud.d + 2] : 0);
    if (x > -9 && y > -9 && x < camera.size[0] + 9 && y < camera.size[1] + 9) into.append(s("circle", { class: kind, cx: x, cy: y, r }));
  }

  /** @param {SVGElement} into @param {(x: number, y: number, z: number) => [number, number]} at */
  function drawArrows(into, at) {
    const model = app.model();
    if (!cloud || !model || !arrows.length) return;
    const { low, high } = cloud;
    const fits = high.map((x, a) => (0.8 * Math.max(x, -low[a])) / Math.max(...arrows.map((f) => Math.abs(f.loadings[a])))).filter((x) => x > 0 && Number.isFinite(x));
    const scale = fits.length ? Math.min(...fits) : 1;
    const zero = at(0, 0, 0);
    const tips = arrows.map((f) => {
      const [x, y] = at(scale * f.loadings[0], scale * f.loadings[1], scale * (f.loadings[2] ?? 0));
      into.append(s("line", { class: "arrow", x1: zero[0], y1: zero[1], x2: x, y2: y }), s("circle", { class: "arrowhead", cx: x, cy: y, r: 3 }));
      return { name: featureName(model, f.feature, f.name), x, y };
    });
    tipNames(into, tips, zero, [0, 0, camera.size[0], camera.size[1]]);
    label(into, `arrows: loadings \u00d7 ${num(scale)}`, camera.size[0] - 4, camera.size[1] - 8, { class: "tick halo", "text-anchor": "end" });
  }

  function layout() {
    const [w, tall] = [plot.clientWidth - MARGIN.left - MARGIN.right, plot.clientHeight - MARGIN.top - MARGIN.bottom];
    if (w < 10 || tall < 10) return;
    const live = /** @type {HTMLCanvasElement} */ (plot.querySelector("canvas"));
    camera.size = [w, tall];
    live.width = Math.round(w * devicePixelRatio);
    live.height = Math.round(tall * devicePixelRatio);
    live.style.width = `${w}px`;
    live.style.height = `${tall}px`;
    draw(false);
  }

  /** @param {MouseEvent} event @returns {[number, number]} */
  function pixel(event) {
    const box = plot.getBoundingClientRect();
    return [event.clientX - box.left - MARGIN.left, event.clientY - box.top - MARGIN.top];
  }

  /** @param {number} i @param {number} x @param {number} y */
  function showTip(i, x, y) {
    hovered = i;
    plot.classList.toggle("pointing", i >= 0 && !lasso);
    decorate();
    tip.hidden = i < 0;
    const model = app.model();
    if (i < 0 || !cloud || !model) return;
    const row = cloud.ids[i];
    const name = cloud.classes ? app.session.data?.labels?.[cloud.classes[i]] : undefined;
    const scores = Array.from({ length: cloud.d }, (_, a) => `PC ${app.state.axes[a]}  ${num(cloud?.places[i * (cloud?.d ?? 2) + a])}`);
    const picture = model.image && app.session.data ? h("img", { src: address(`models/${model.id}/rows/${row}/original.png`, { revision: model.revision }), alt: "" }) : null;
    tip.replaceChildren(...[picture, h("b", {}, `Row ${row}`), name ? h("span", {}, name) : null, ...scores.map((t) => h("span", { class: "num" }, t)), values ? h("span", { class: "num" }, `${tools.colorName()}  ${num(values[i])}`) : null].filter((x) => x !== null));
    tip.style.left = `${clamp(x + MARGIN.left + 14, 0, plot.clientWidth - 150)}px`;
    tip.style.top = `${clamp(y + MARGIN.top + 14, 0, plot.clientHeight - (picture ? 190 : 90))}px`;
  }

  /** @type {[number, number] | null} */
  let from = null;
  let dragged = false;
  plot.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    plot.setPointerCapture(event.pointerId);
    [from, dragged] = [pixel(event), false];
    if (lasso) rope = [from];
  });
  let waiting = 0;
  plot.addEventListener("pointermove", (event) => {
    const [x, y] = pixel(event);
    if (!from) {
      if (!waiting && cloud) waiting = requestAnimationFrame(() => {
        waiting = 0;
        if (cloud) showTip(nearest(cloud, camera, hidden, x, y), x, y);
      });
      return;
    }
    const [dx, dy] = [x - from[0], y - from[1]];
    if (!dragged && Math.hypot(dx, dy) < 4) return;
    dragged = true;
    tip.hidden = true;
    if (rope) {
      rope.push([x, y]);
      return decorate();
    }
    if (camera.d === 3 && !event.shiftKey) camera.rotate(-dx * 0.008, dy * 0.008);
    else camera.pan(dx, dy);
    from = [x, y];
    draw(true);
  });
  plot.addEventListener("pointerup", (event) => {
    const [x, y] = pixel(event);
    if (rope && dragged && cloud) {
      const polygon = rope;
      [rope, lasso] = [null, false];
      plot.classList.remove("lasso");
      tools.draw();
      app.select(inside(cloud, camera, hidden, polygon, app.session.data?.rows ?? 0));
    } else if (from && !dragged && cloud) {
      const i = nearest(cloud, camera, hidden, x, y);
      if (i >= 0) app.set({ row: cloud.ids[i] });
    }
    [from, rope] = [null, null];
    decorate();
  });
  plot.addEventListener("pointerleave", () => { if (!from) showTip(-1, 0, 0); });
  plot.addEventListener("wheel", (event) => {
    event.preventDefault();
    const [x, y] = pixel(event);
    camera.zoom(Math.exp(-clamp(event.deltaY, -200, 200) * 0.002), x, y);
    draw(true);
  }, { passive: false });
  plot.addEventListener("dblclick", reset);
  new ResizeObserver(layout).observe(plot);

  async function reload() {
    const model = app.model();
    if (!model) return;
    tools.draw();
    if (!app.session.data) {
      stage.replaceChildren(notice("empty", "This model has no rows to show", `Give the data as well: ${app.session.command} DATA`));
      return;
    }
    if (!app.session.data.rows) {
      stage.replaceChildren(notice("empty", "Waiting for rows", "They appear here as they arrive."));
      return;
    }
    if (!el.querySelector("canvas")) stage.replaceChildren(plot, beside);
    if (!cloud) {
      app.status("Loading points");
      plot.append(wait);
    }
    const axes = (app.state.axes = app.state.axes.map((i) => clamp(i, 1, axisLimit(model))));
    try {
      const spectrum = get(`models/${model.id}/spectrum`).then((/** @type {Spectrum} */ x) => { ratios = x.components.map((c) => c.explained_variance_ratio); decorate(); });
      let known = 0;
      await load((signal) => loadPoints(model, axes, signal, (grown, first) => {
        if (first) {
          known = 0;
          wait.remove();
          [cloud, values, placeOf] = [grown, null, new Int32Array(app.session.data?.rows ?? 0).fill(-1)];
          camera.moved = app.state.at.length > 2;
          camera.d = grown.d;
          if (camera.moved) {
            camera.moved = false;
            camera.fit(grown);
            camera.moved = true;
            app.state.at.forEach((x, i) => { camera.at[i] = x; });
          }
          renderer.setCloud(grown);
        }
        const before = `${camera.at} ${camera.span}`;
        camera.fit(grown);
        for (let i = known; i < grown.n; i++) placeOf[grown.ids[i]] = i;
        known = grown.n;
        renderer.grow();
        const done = grown.n === grown.total;
        if (first || done) {
          const sizes = new Uint32Array(app.session.data?.labels?.length ?? 0);
          for (let i = 0; i < grown.n && grown.classes; i++) sizes[grown.classes[i]]++;
          looks = classLooks(app.session.data?.labels ?? [], sizes);
          if (first || looks.others || app.selection) look();
          else explainColors();
        }
        if (first || `${camera.at} ${camera.span}` !== before) draw(false);
        else decorate();
      }));
      await spectrum;
      if (byValue()) await recolor();
      await rearrow();
      describe();
    } catch (error) {
      cloud = null;
      stage.replaceChildren(failed(error, reload));
    }
  }

  const byValue = () => !/^(label|none)$/.test(app.state.color);
  /** T² and Q depend on k. */
  const byReading = () => /^(t2|q)$/.test(app.state.color);

  async function recolor() {
    const model = app.model();
    const of = app.state.color;
    if (!model || !cloud) return;
    values = null;
    if (byValue()) {
      const total = cloud.total;
      try {
        const column = await loadColor((signal) => loadColumn(model, of, byReading() ? app.k() : null, total, signal));
        if (!column) return;
        [values, ends] = [column, range(column)];
      } catch (error) {
        // The map stays, in the colors that every map has.
        report(error);
        app.set({ color: "label" });
      }
    }
    look();
  }

  async function rearrow() {
    const model = app.model();
    if (!model) return;
    const top = app.state.arrows;
    const answer = top ? await loadArrows((signal) => get(`models/${model.id}/features`, { axes: app.state.axes, top, sort: "contribution" }, signal)) : { features: [] };
    if (!answer) return;
    arrows = answer.features;
    decorate();
  }

  function describe() {
    if (!cloud) return;
    const [a, b, c] = app.state.axes.map(title);
    const labels = app.session.data?.labels;
    const text = `${plural(cloud.total, "row")} along ${a}${c ? `, ${b} and ${c}` : ` and ${b}`}${labels ? `, ${plural(labels.length, "label")}` : ""}. ${app.selection ? `${plural(app.selection.count, "row")} selected. ` : ""}${cloud.d > 1 && a === b ? "There is only one direction, so both axes show it. " : ""}Click a point to inspect its row.`;
    summary.textContent = text;
    plot.setAttribute("aria-label", `Map of rows: ${text}`);
    fillTable();
  }

  /** The scores of the selected rows, or of the first ones. */
  function fillTable() {
    if (!details.open || !cloud) return;
    const { ids, classes, places, d } = cloud;
    const [labels, marks] = [app.session.data?.labels, app.selection?.marks];
    const rows = [];
    for (let row = 0; row < placeOf.length && rows.length < TABLED; row++) if (placeOf[row] >= 0 && (!marks || marks[row])) rows.push(placeOf[row]);
    const all = marks ? (app.selection?.count ?? 0) : cloud.total;
    const what = `${marks ? "Selected rows" : "Rows"}${rows.length < all ? `, the first ${count(rows.length)} of ${count(all)}` : ""}`;
    details.replaceChildren(/** @type {Element} */ (details.firstChild), h("p", { class: "quiet" }, what), table(what, ["Row", ...(labels ? ["Label"] : []), ...app.state.axes.slice(0, d).map(title)],
      rows.map((i) => [h("button", { type: "button", class: "link", click: () => app.set({ row: ids[i] }) }, `Row ${count(ids[i])}`), ...(labels ? [classes ? (labels[classes[i]] ?? "") : ""] : []), ...Array.from({ length: d }, (_, a) => num(places[i * d + a]))])));
  }
  const report = (/** @type {unknown} */ error) => app.say(/** @type {Error} */ (error).message, "error");

  return {
    el,
    update(changed) {
      const growing = changed.has("rows") || (changed.has("model") && !changed.has("m") && app.model()?.origin === "stream");
      // All rows are there: the map does not wait for more.
      const finished = reading && app.session.data?.state !== "reading";
      reading = app.session.data?.state === "reading";
      if (growing && !finished && (cloud || wait.isConnected)) {
        later ||= setTimeout(() => {
          later = 0;
          reload();
        }, GROW_MS);
      } else if (growing || changed.has("model") || changed.has("axes")) {
        clearTimeout(later);
        later = 0;
        return void reload();
      }
      if (changed.has("color")) recolor().then(tools.draw, report);
      else if (changed.has("k") && byReading()) {
        clearTimeout(coloring);
        coloring = setTimeout(() => recolor().catch(report), REST_MS);
      } else if (changed.has("hide") || changed.has("selection") || changed.has("theme")) look();
      if (changed.has("arrows")) {
        const out = tools.el.querySelector("output");
        if (out) out.textContent = String(app.state.arrows);
        rearrow().catch(report);
      }
      if (changed.has("selection")) describe();
      if (changed.has("at") && changed.size > 1 && app.state.at.length > 2) {
        camera.at = [...app.state.at, ...camera.at.slice(app.state.at.length)];
        camera.moved = true;
        draw(false);
      }
      if (changed.has("row") || changed.has("theme")) decorate();
    },
    key(event) {
      const step = /** @type {Record<string, [number, number]>} */ ({ ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] })[event.key];
      if (step && event.shiftKey) {
        if (camera.d === 3) camera.rotate(step[0] * 0.1, -step[1] * 0.1);
      } else if (step) camera.pan(step[0] * 40, step[1] * 40);
      else if (event.key === "+" || event.key === "=") camera.zoom(1.25);
      else if (event.key === "-") camera.zoom(0.8);
      else if (event.key === "0") return reset(), true;
      else if (event.key === "l") return toggleLasso(), true;
      else if (event.key === "Escape" && (lasso || rope)) {
        [lasso, rope] = [true, null];
        return toggleLasso(), decorate(), true;
      } else return false;
      draw(true);
      return true;
    },
    plots() {
      const axes = app.state.axes.join(",");
      return app.session.data ? [{ kind: "scatter", query: { axes } }, ...(camera.d === 2 ? [{ kind: "biplot", query: { axes } }] : [])] : [];
    },
    destroy() {
      clearTimeout(resting);
      clearTimeout(later);
      clearTimeout(coloring);
      load(async () => undefined);
      cloud = null;
      renderer.destroy();
    },
  };
}
