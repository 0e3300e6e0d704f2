// Faces: who is in a picture, how sure that is, and people who come and go.

import { button, clamp, count, failed, h, notice, num, plural, s } from "./dom.js";
import { Failure, address, post, remove } from "./api.js";
import { label, linear } from "./chart.js";

/**
 * A picture as an element. Browsers do not show PGM, so its gray values are drawn here.
 * @param {Blob} file
 */
async function preview(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const head = /^P5\s+(?:#[^\n]*\n\s*)*(\d+)\s+(\d+)\s+(\d+)\s/.exec(String.fromCharCode(...bytes.subarray(0, 400)));
  if (!head) return h("img", { class: "big", src: URL.createObjectURL(file), alt: "The picture to recognize", error: (/** @type {Event} */ e) => /** @type {Element} */ (e.target).replaceWith(notice("empty", "No preview of this format")) });
  const [w, tall, offset] = [Number(head[1]), Number(head[2]), head[0].length];
  const canvas = h("canvas", { class: "big", width: w, height: tall, role: "img", "aria-label": "The picture to recognize" });
  const context = canvas.getContext("2d");
  const pixels = context?.createImageData(w, tall);
  for (let i = 0; pixels && i < w * tall; i++) pixels.data.set([bytes[offset + i], bytes[offset + i], bytes[offset + i], 255], 4 * i);
  if (pixels) context?.putImageData(pixels, 0, 0);
  return canvas;
}

/** People in the list; others are found by their names. */
const LISTED = 200;

/** A distance on a line with its threshold. @param {string} title @param {string} of @param {number} value @param {number | null} limit @param {string} beyond */
function ruler(title, of, value, limit, beyond) {
  const [width, y] = [520, 44];
  const most = 1.35 * Math.max(value, limit ?? value, 1e-9);
  const x = linear(0, most, 10, width - 10);
  const svg = s("svg", { class: "ruler", viewBox: `0 0 ${width} 70`, role: "img" }, s("line", { class: "axis", x1: 10, x2: width - 10, y1: y, y2: y }));
  for (const v of x.ticks(6)) {
    svg.append(s("line", { class: "axis", x1: x(v), x2: x(v), y1: y, y2: y + 5 }));
    label(svg, num(v), x(v), y + 20, { class: "tick", "text-anchor": "middle" });
  }
  if (limit !== null) {
    svg.append(s("rect", { class: "beyond", x: x(limit), width: width - 10 - x(limit), y: y - 14, height: 14 }), s("line", { class: "limit", x1: x(limit), x2: x(limit), y1: y - 22, y2: y + 8 }));
    label(svg, `${beyond} beyond ${num(limit)}`, clamp(x(limit), 80, width - 110), 14, { "text-anchor": "middle" });
  }
  svg.append(s("path", { class: "needle", d: `M${x(value)} ${y - 1}l-7 -13h14Z` }));
  const text = `${title}: ${num(value)}${limit === null ? "" : `, threshold ${num(limit)}`}`;
  svg.setAttribute("aria-label", text);
  return h("figure", { class: "ruler-box" }, h("figcaption", {}, h("h3", {}, title), h("strong", { class: "num", "data-value": value }, num(value)), h("span", { class: "quiet" }, of)), svg);
}

/** @param {App} app @returns {View} */
export function faces(app) {
  const el = h("div", { class: "view faces" });
  const drop = h("div", { class: "drop" });
  const verdict = h("section", { class: "verdict", "aria-live": "polite" });
  const people = h("section", { class: "people" });
  const input = h("input", { type: "file", id: "face", accept: ".pgm,.png,.jpg,.jpeg,image/*", hidden: true, "aria-label": "Picture to recognize", change: () => {
    if (input.files?.[0]) ask(input.files[0]);
    input.value = "";
  } });
  /** @type {File | number | null} */
  let probe = null;
  let search = "";

  /** @param {File | number} what a picture, or the number of a row */
  async function ask(what) {
    const model = app.model();
    probe = what;
    verdict.replaceChildren(notice("loading", "Comparing"));
    try {
      const answer = /** @type {Recognized} */ (typeof what === "number" ? await post("recognize", undefined, { row: what }) : await post("recognize", what));
      const image = typeof what === "number" ? h("img", { class: "big", src: address(`models/${model?.id}/rows/${what}/original.png`), alt: `Row ${what}` }) : await preview(what);
      show(answer, image);
    } catch (error) {
      verdict.replaceChildren(failed(error));
    }
    drawDrop();
  }

  /** @param {Recognized} a @param {Element} image */
  function show(a, image) {
    const known = a.verdict === "known";
    const detail = known ? `This is ${a.person}.` : a.verdict === "unknown" ? "A face, but nobody who is enrolled: even the nearest person is beyond the threshold." : "This picture is far from all faces.";
    const nearest = a.candidates.find((c) => c.distance === a.distance)?.person ?? "this person";
    verdict.replaceChildren(h("div", { class: "answer" }, image, h("div", {},
      h("h2", { class: `who ${a.verdict.replaceAll(" ", "-")}`, "data-verdict": a.verdict }, known ? (a.person ?? "") : a.verdict), h("p", {}, detail),
      ruler("Distance to the nearest person", `${nearest}, all enrolled images together`, a.distance, a.unknown, "unknown"),
      ruler("Distance to face space", "all that the components can draw", a.face_distance, a.not_a_face, "not a face"))),
    h("div", {}, h("h2", {}, "Most similar images"), h("p", { class: "summary" }, `Single images by ${app.session.recognizer?.metric} distance. This is another measure than the distances above, and no threshold applies to it.`)), h("ol", { class: "matches" }, ...a.matches.map((m) => h("li", {},
      m.image === null ? h("div", { class: "blank" }) : h("img", { src: address(`recognizer/images/${m.image}.png`, { revision: app.session.recognizer?.revision }), alt: `Enrolled image of ${m.person}` }),
      h("span", { class: "name", title: m.name }, m.person), h("span", { class: "num quiet" }, num(m.distance))))));
  }

  function drawDrop() {
    const r = app.session.recognizer;
    const row = app.state.row;
    drop.replaceChildren(...[input, h("p", {}, "Drop a picture here, or ", button("Choose a file", { click: () => input.click() }),
      app.session.data?.image && row >= 0 ? button(`Use row ${count(row)}`, { click: () => ask(row) }) : null), h("p", { class: "quiet" }, `${r?.image.width} \u00d7 ${r?.image.height} pixels, PGM, PNG or JPEG. Nothing leaves this machine.`),
    probe === null ? null : enrollForm(probe)].filter((x) => x !== null));
  }

  /** @param {File | number} what */
  function enrollForm(what) {
    const name = h("input", { type: "text", required: true, placeholder: "name", "aria-label": "Name of the person", maxlength: 200 });
    return h("form", { class: "enroll", submit: async (/** @type {Event} */ event) => {
      event.preventDefault();
      await change(() => typeof what === "number" ? post("enroll", undefined, { person: name.value, row: what }) : post("enroll", what, { person: name.value }), `Enrolled ${name.value}, in memory only.`);
    } }, h("label", { class: "field" }, "Enroll as ", name), h("button", { type: "submit" }, "Enroll"));
  }

  /** @param {() => Promise<Recognizer | void>} job @param {string} done */
  async function change(job, done) {
    app.status("Working");
    for (const node of people.querySelectorAll("button")) node.disabled = true;
    try {
      const next = await job();
      if (next) app.session.recognizer = next;
      else await app.refresh();
      app.say(done);
    } catch (error) {
      const { message, hint } = /** @type {Failure} */ (error);
      app.say(`${message}${hint ? ` (${hint})` : ""}`, "error");
    }
    drawPeople();
    if (probe !== null) ask(probe);
  }

  function drawPeople() {
    const r = app.session.recognizer;
    if (!r) return;
    const box = h("input", { type: "search", placeholder: "Search people", "aria-label": "Search people", value: search, input: () => {
      search = box.value;
      fill();
    } });
    const list = h("ul", {});
    const more = h("p", { class: "quiet" });
    const fill = () => {
      const matching = r.people.filter((p) => p.toLowerCase().includes(search.toLowerCase()));
      list.replaceChildren(...matching.slice(0, LISTED).map((p) => h("li", {}, h("span", { class: "name" }, p), button("Forget", { "aria-label": `Forget ${p}`, click: () => change(() => post("forget", { person: p }), `Forgot ${p}, in memory only.`) }))));
      more.hidden = matching.length <= LISTED;
      more.textContent = `the first ${count(LISTED)} of ${count(matching.length)}; search for the others`;
    };
    fill();
    people.replaceChildren(h("h2", {}, "People"), h("p", { class: "quiet" }, `${plural(r.people.length, "person").replace("persons", "people")}, ${plural(r.images, "image")}. Changes stay in memory; the file is not touched.`), box, list, more,
      button("Restore the file\u2019s people", { disabled: !r.changed, click: () => change(() => remove("recognizer/changes"), "Restored.") }));
    app.status(`${plural(r.images, "image")} enrolled \u00b7 ${r.metric}${r.ready ? "" : " \u00b7 learning the thresholds"}`);
  }

  for (const kind of ["dragover", "dragleave", "drop"]) {
    el.addEventListener(kind, (event) => {
      event.preventDefault();
      drop.classList.toggle("over", kind === "dragover");
      const file = kind === "drop" ? /** @type {DragEvent} */ (event).dataTransfer?.files[0] : null;
      if (file) ask(file);
    });
  }
  return {
    el,
    update(changed) {
      if (!app.session.recognizer) return el.replaceChildren(notice("empty", "No recognizer", "Train one and open it: eigenspace faces train DIRECTORY -o people.safetensors, then eigenspace explore people.safetensors"));
      if (!drop.isConnected) {
        verdict.replaceChildren(notice("empty", "No picture yet", "The answer is a person, \u201cunknown\u201d, or \u201cnot a face\u201d."));
        el.replaceChildren(h("div", { class: "column" }, drop, verdict), people);
      }
      if (changed.has("session") || changed.has("row") || changed.has("view")) {
        drawDrop();
        drawPeople();
      }
    },
  };
}
