// A walk along one component: mean + t sigma, for t from -3 to 3.

import { button, choice, clamp, count, failed, h, notice, num, percent, s, table } from "./dom.js";
import { address, featureName, get, latest, queued } from "./api.js";
import { figure, label, linear } from "./chart.js";

const SHOWN = 20;
const GALLERY = 24;
const REACH = 3;
/** Whether the reader asked for less motion; then a walk goes in whole steps, one a second. */
const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
const STEPS = [-3, -2, -1, 0, 1, 2, 3];

/** @param {App} app @returns {View} */
export function walk(app) {
  const load = latest();
  /** @type {Spectrum | null} */
  let spectrum = null;
  /** @type {{ i: number, top: { feature: number, name: string | null, loading: number }[] } | null} */
  let component = null;
  /** @type {{ mean: number[], deviation: number[], now: number[], order: number[] } | null} */
  let shift = null;
  let [playing, timer] = [false, 0];
  const el = h("div", { class: "view walk" });
  const picture = h("img", { class: "big", alt: "" });
  const pattern = h("img", { class: "big", alt: "" });
  const slider = h("input", { type: "range", min: -REACH, max: REACH, step: 0.1, "aria-label": "Standard deviations from the mean (t)", input: () => app.set({ t: Number(slider.value) }) });
  const tText = h("output", { class: "num" });
  const caption = h("figcaption", {});
  const signed = (/** @type {number} */ t) => `${t < 0 ? "\u2212" : "+"} ${num(Math.abs(t))}`;
  const play = button("Play", { click: () => setPlaying(!playing) });
  const tools = h("div", { class: "tools" });
  const problem = h("span", { class: "alarm", role: "alert" });
  const gallery = h("ul", { class: "gallery", "aria-label": "Components" });
  const strip = h("ul", { class: "strip", "aria-label": "Steps of the walk" });
  const sigma = (i = app.state.c) => Math.sqrt(Math.max(0, spectrum?.components[i - 1]?.explained_variance[1] ?? 0));

  const bars = figure("Features along the walk", 0, (svg, width, height) => {
    const model = app.model();
    if (!shift || !model) return "";
    const { order, mean, now, deviation } = shift;
    const [left, top] = [clamp(0.28 * width, 90, 190), 8];
    const x = linear(-REACH, REACH, left, width - 90);
    const step = Math.min(64, (height - 44) / order.length);
    const bottom = top + step * order.length;
    for (const t of STEPS) {
      svg.append(s("line", { class: t ? "grid" : "zero", x1: x(t), x2: x(t), y1: top, y2: bottom }));
      label(svg, `${t > 0 ? "+" : ""}${num(t)} \u03c3`, x(t), bottom + 17, { class: "tick", "text-anchor": "middle" });
    }
    label(svg, "change in standard deviations of the feature", x(0), bottom + 34, { class: "axis-name", "text-anchor": "middle" });
    order.forEach((f, i) => {
      const z = deviation[f] > 0 ? (now[f] - mean[f]) / deviation[f] : 0;
      const y = top + i * step;
      const name = featureName(model, f, app.session.data?.columns?.[f] ?? component?.top.find((c) => c.feature === f)?.name);
      label(svg, name.length > 24 ? `${name.slice(0, 23)}\u2026` : name, left - 12, y + step / 2 + 4, { "text-anchor": "end" });
      svg.append(s("rect", { class: z < 0 ? "fill second" : "fill", x: Math.min(x(0), x(clamp(z, -REACH, REACH))), width: Math.max(1, Math.abs(x(clamp(z, -REACH, REACH)) - x(0))), y: y + 0.2 * step, height: 0.6 * step }));
      label(svg, num(now[f]), width - 8, y + step / 2 + 4, { class: "num", "text-anchor": "end" });
    });
    return `Mean ${signed(app.state.t)} \u03c3 along PC ${app.state.c}; the ${count(order.length)} features that change most${order.length < model.features ? ` of ${count(model.features)}` : ""}.`;
  }, () => ({ head: ["Feature", "Mean", "Value", "Change"], rows: (shift?.order ?? []).map((f) => [featureName(/** @type {Model} */ (app.model()), f, app.session.data?.columns?.[f]), num(shift?.mean[f]), num(shift?.now[f]), num((shift?.now[f] ?? 0) - (shift?.mean[f] ?? 0))]) }));

  const step = queued(async () => {
    const model = app.model();
    if (!model) return;
    const query = { component: app.state.c, t: app.state.t };
    slider.value = String(app.state.t);
    tText.textContent = `${num(app.state.t)} \u03c3`;
    if (model.image) {
      const next = new Image();
      next.src = address(`models/${model.id}/walk.png`, { ...query, revision: model.revision });
      try {
        await next.decode();
      } catch {
        // The same question, whose answer says why there is no picture.
        return void (await get(`models/${model.id}/walk`, query).then(() => stuck(new Error("cannot show the picture")), stuck));
      }
      problem.textContent = "";
      picture.src = next.src;
      picture.alt = `Mean plus ${num(app.state.t)} standard deviations along component ${app.state.c}`;
      caption.textContent = `Mean ${signed(app.state.t)} \u03c3`;
      STEPS.forEach((t, i) => strip.children[i]?.firstElementChild?.setAttribute("aria-pressed", String(t === app.state.t)));
      return;
    }
    if (!shift) return;
    const answer = await get(`models/${model.id}/walk`, query).catch(stuck);
    if (!answer?.values || !shift) return;
    problem.textContent = "";
    shift.now = answer.values;
    bars.redraw();
  });

  /** The last step is still shown. @param {any} error */
  function stuck({ message, hint }) {
    setPlaying(false);
    problem.textContent = `${message}${hint ? `; ${hint}` : ""}`;
  }

  /** @param {boolean} on */
  function setPlaying(on) {
    playing = on;
    play.textContent = on ? "Pause" : "Play";
    play.setAttribute("aria-pressed", String(on));
    cancelAnimationFrame(timer);
    const from = performance.now() - (Math.asin(app.state.t / REACH) * 3000) / (2 * Math.PI);
    let before = 0;
    const tick = (/** @type {number} */ now) => {
      if (!playing) return;
      if (now - before > (calm() ? 1000 : 60)) {
        before = now;
        app.set({ t: calm() ? (app.state.t >= REACH ? -REACH : Math.floor(app.state.t) + 1) : Number((REACH * Math.sin(((now - from) / 3000) * 2 * Math.PI)).toFixed(1)) });
      }
      timer = requestAnimationFrame(tick);
    };
    if (on) timer = requestAnimationFrame(tick);
  }

  async function reload() {
    const model = app.model();
    if (!model) return;
    const c = clamp(app.state.c, 1, Math.max(model.rank, 1));
    if (!spectrum) el.replaceChildren(notice("loading", "Loading components"));
    try {
      const answer = await load(async (signal) => {
        const [spec, one, zero, first] = await Promise.all([
          get(`models/${model.id}/spectrum`, {}, signal), get(`models/${model.id}/components/${c}`, {}, signal),
          model.image ? null : get(`models/${model.id}/walk`, { component: c, t: 0 }, signal),
          model.image ? null : get(`models/${model.id}/features`, { axes: c, top: SHOWN, sort: "contribution" }, signal),
        ]);
        return { spec, one, zero, first };
      });
      if (!answer) return;
      spectrum = answer.spec;
      component = answer.one;
      const still = sigma(c) === 0;
      const pick = choice("Component", answer.spec.components.slice(0, 200).map((/** @type {any} */ x, /** @type {number} */ i) => [String(i + 1), `PC ${i + 1} (${percent(x.explained_variance_ratio)})`]), String(c), (v) => app.set({ c: Number(v) }));
      slider.disabled = play.disabled = still;
      tools.replaceChildren(pick, h("label", { class: "field wide" }, "t ", slider, tText), play, button("Mean", { click: () => app.set({ t: 0 }) }),
        still ? h("span", { class: "alarm" }, "The standard deviation along this component is 0, so there is nothing to walk along.") : h("span", { class: "quiet num" }, `\u03c3 = ${num(sigma(c))}`), problem);
      if (model.image) images(model, c);
      else tables(model, c, answer);
      await step(undefined);
      app.status(`Component ${c} of ${count(model.rank)} \u00b7 ${percent(answer.one.explained_variance_ratio)} of the variance`);
    } catch (error) {
      el.replaceChildren(failed(error, reload));
    }
  }

  /** @param {Model} model @param {number} c */
  function images(model, c) {
    pattern.src = address(`models/${model.id}/components/${c}.png`, { revision: model.revision });
    pattern.alt = `Component ${c} as an image`;
    const shown = Math.min(model.rank, GALLERY);
    gallery.replaceChildren(...Array.from({ length: shown }, (_, i) => h("li", {}, h("button", { type: "button", "aria-pressed": String(i + 1 === c), "aria-label": `Component ${i + 1}`, click: () => app.set({ c: i + 1 }) },
      h("img", { src: address(`models/${model.id}/components/${i + 1}.png`, { revision: model.revision }), alt: "" }), h("span", { class: "num" }, `PC ${i + 1}`)))));
    strip.replaceChildren(...STEPS.map((t) => h("li", {}, h("button", { type: "button", "aria-label": `Mean ${signed(t)} standard deviations`, click: () => app.set({ t }) },
      h("img", { src: address(`models/${model.id}/walk.png`, { component: c, t, revision: model.revision }), alt: "" }), h("span", { class: "num" }, t ? `${t > 0 ? "+" : ""}${num(t)} \u03c3` : "mean")))));
    if (!picture.isConnected) el.replaceChildren(tools, h("div", { class: "pair" },
      h("figure", {}, picture, caption), h("figure", {}, pattern, h("figcaption", {}, "Component")), h("section", {}, h("h2", {}, "The walk in steps"), strip)), h("h2", {}, "Components"), gallery);
  }

  /** @param {Model} model @param {number} c @param {any} answer */
  function tables(model, c, { one, zero, first }) {
    if (!zero.values) {
      shift = null;
      el.replaceChildren(tools, notice("empty", "Too many features to walk", `This table has ${count(model.features)} features. These contribute most to the component.`),
        table("Largest loadings", ["Feature", "Loading", "Correlation"], one.top.map((/** @type {any} */ f) => [featureName(model, f.feature, f.name), num(f.loading), num(f.correlation)])));
      return;
    }
    const deviation = Array(model.features).fill(0);
    for (const f of first.features) deviation[f.feature] = f.deviation;
    const order = one.top.map((/** @type {any} */ f) => f.feature).filter((/** @type {number} */ f) => deviation[f] > 0).slice(0, SHOWN);
    const size = new Map(one.top.map((/** @type {any} */ f) => [f.feature, Math.abs(f.loading) / (deviation[f.feature] || 1)]));
    order.sort((/** @type {number} */ a, /** @type {number} */ b) => size.get(b) - size.get(a));
    shift = { mean: zero.values, now: zero.values, deviation, order };
    const all = (spectrum?.components ?? []).slice(0, 40).map((x, i) => [h("button", { type: "button", class: "link", "aria-pressed": String(i + 1 === c), click: () => app.set({ c: i + 1 }) }, `PC ${i + 1}`), percent(x.explained_variance_ratio), num(sigma(i + 1))]);
    el.replaceChildren(tools, bars.el, h("details", {}, h("summary", {}, "All components"), table("Components", ["Component", "Ratio", "\u03c3"], all)));
    bars.redraw();
  }

  return {
    el,
    update(changed) {
      if (changed.has("model") || changed.has("c")) reload();
      else if (changed.has("t")) step(undefined);
    },
    plots: () => (app.model()?.image ? [{ kind: "gallery", query: { k: Math.min(app.k(), GALLERY) } }] : []),
    destroy: () => setPlaying(false),
  };
}
