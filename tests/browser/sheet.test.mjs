// What examples/sheet.rs makes up, said again: a page shows what is on the tape, not only something that moves.

import assert from "node:assert/strict";
import path from "node:path";
import { law, pages, slide } from "./browser.mjs";

const sheets = pages.filter((file) => path.basename(file) === "sheet.html");
const sheet = (name, options, use) => law(name, options, use, sheets);

const SIDE = 64, FRAMES = [0, 17, 71];
/** Of what the camera frames: positions on the page are relative to it [m]. */
const MIDDLE = 0.875;
const height = (u, v, t) => 1.2 + 0.16 * (0.3 + Math.min(t, 1)) * Math.sin(2.2 * u - 3 * t) * Math.cos(1.7 * v + t);
const vertex = (i, t) => {
  const [u, v] = [Math.floor(i / SIDE), i % SIDE].map((k) => (2 * k) / (SIDE - 1) - 1);
  return [u, height(u, v, t) - MIDDLE, v];
};
const cloth = (t) => Array.from({ length: SIDE * SIDE }, (_, i) => vertex(i, t));
const turned = ([x, y, z], angle) => [x * Math.cos(angle) + z * Math.sin(angle), y, z * Math.cos(angle) - x * Math.sin(angle)];
/** Corners of a box; bits of their number are signs of their coordinates. */
const box = (half) => Array.from({ length: 8 }, (_, k) => half.map((h, axis) => ((k >> axis) & 1 ? h : -h)));
const crate = (t) => box([0.3, 0.3, 0.3]).map((x) => turned(x, 0.4 * t)).map(([x, y, z]) => [x - 0.45, y + 0.3 - MIDDLE, z + 0.1]);
const plank = (t) => box([0.5, 0.06, 0.15]).map(([x, y, z]) => [x + 0.55, y + 0.06 - MIDDLE, z + 0.2 + 0.25 * Math.sin(Math.PI * t)]);
const part = (x) => x - Math.floor(x);
/** Where stone i of the hail is. */
const stone = (i, t) => {
  const [a, b] = [part(i * 0.618) * 1.8 - 0.9, part(i * 0.414) * 1.8 - 0.9], age = t - i * 0.006;
  return [a, Math.max(2.6 - 4.9 * age * age, height(a, b, t) + 0.014) - MIDDLE, b];
};
/** Where the coupling pulls, and how [m, N]. */
const pulls = (t) => [[-1, -1], [-1, 1], [1, -1], [1, 1]].map(([u, v]) => ({
  foot: [u, height(u, v, t) - MIDDLE, v], force: [40 * u, 25 + 20 * Math.sin(3 * t + u), 40 * v],
}));

const distance = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
const triples = (flat) => Array.from({ length: flat.length / 3 }, (_, i) => flat.slice(3 * i, 3 * i + 3));
const seek = (page, frame) => page.evaluate((n) => window.partita.seek(n), frame);
const positions = async (page, name) => triples(await page.evaluate((n) => Array.from(window.partita.positionsOf(n)), name));
const strains = (page) => page.evaluate(() => Array.from(window.partita.strainOf("cloth")));

sheet("things are where their formulas say", {}, async (page) => {
  for (const frame of FRAMES) {
    await seek(page, frame);
    const t = frame / 24;
    for (const [name, exact, bound] of [["cloth", cloth(t), 4e-5], ["crate", crate(t), 1e-6], ["plank", plank(t), 1e-6]]) {
      const found = await positions(page, name);
      assert.equal(found.length, exact.length, name);
      const worst = Math.max(...found.map((x, i) => distance(x, exact[i])));
      // A step of 16 bits over 2 m is 3e-5 m; positions are rounded to half of one along each axis.
      assert.ok(worst < bound, `${name}: ${worst} m off in frame ${frame}`);
    }
  }
});

// Stones come in the order of their numbers, and melt.
sheet("each stone of the hail is where its formula says", {}, async (page) => {
  let seen = 0, melted = 0;
  for (const frame of [3, 20, 40, 71]) {
    await seek(page, frame);
    const stones = await positions(page, "hail");
    const numbers = await page.evaluate(() => Array.from(window.partita.numbersOf("hail")));
    assert.equal(numbers.length, stones.length);
    const worst = Math.max(...stones.map((x, k) => distance(x, stone(numbers[k], frame / 24))));
    assert.ok(worst < 6e-5, `${worst} m off in frame ${frame}`);
    seen += numbers.length;
    melted = Math.max(melted, Math.max(...numbers) + 1 - numbers.length);
  }
  assert.ok(seen > 300 && melted > 100, `${seen} seen, ${melted} melted`);
});

/** By vertex the relative change of that edge which changed most since frame 0 of a flat sheet, as examples/sheet.rs has them. */
function stretched(t) {
  const [now, flat, strain] = [cloth(t), cloth(0).map(([u, , v]) => [u, 0, v]), new Float64Array(SIDE * SIDE)];
  for (let i = 0; i < SIDE * SIDE; i++) {
    const [down, right] = [i + SIDE < SIDE * SIDE, i % SIDE < SIDE - 1];
    for (const j of [right && i + 1, down && i + SIDE, down && right && i + SIDE + 1].filter(Boolean)) {
      const change = distance(now[i], now[j]) / distance(flat[i], flat[j]) - 1;
      for (const end of [i, j]) if (Math.abs(change) > Math.abs(strain[end])) strain[end] = change;
    }
  }
  return strain;
}

sheet("strain is that of its frame, since the first shape", {}, async (page) => {
  // What is beyond the scale of 10 % is at its end; a code is 1/63 of it.
  assert.deepEqual(await page.locator("#strain-low, #strain-high").allTextContents(), ["−10 %", "+10 %"]);
  for (const frame of FRAMES) {
    await seek(page, frame);
    const [found, exact] = [await strains(page), stretched(frame / 24)];
    const worst = Math.max(...found.map((s, i) => Math.abs(s - Math.min(exact[i], 0.1))));
    assert.ok(worst < 0.1 / 126 + 1e-6, `${worst} off in frame ${frame}`);
  }
  await seek(page, 17);
  const a = await strains(page);
  await seek(page, 18);
  const b = await strains(page);
  await slide(page, 17.25);
  const between = await strains(page);
  between.forEach((s, i) => assert.ok(Math.abs(s - 0.75 * a[i] - 0.25 * b[i]) < 1e-6, `vertex ${i}: ${s}`));
});

/** Colours of the canvas at places of the scene: red, green, blue. */
const seen = (page, points) => page.evaluate((all) => {
  const canvas = document.getElementById("scene"), bytes = window.partita.pixels();
  return all.map((point) => {
    const [x, y] = window.partita.pixelOf(point);
    const at = 4 * (y * canvas.width + x);
    return Array.from(bytes.slice(at, at + 3));
  });
}, points);

sheet("what is stretched is red, what is not is white", {}, async (page) => {
  await page.locator('#layers label:has-text("hail") input').uncheck();
  await page.click("#strain");
  await page.click("#forces");
  await seek(page, 36);
  const exact = stretched(1.5);
  const inside = [...exact.keys()].filter((i) => [Math.floor(i / SIDE), i % SIDE].every((k) => k > 4 && k < SIDE - 5));
  // Some are on the far side of a wave: of many, the one in the middle of those of its kind.
  const usual = async (part) => {
    const colours = await seen(page, inside.filter((i) => part(exact[i])).map((i) => vertex(i, 1.5)));
    return [0, 1, 2].map((k) => colours.map((colour) => colour[k]).sort((a, b) => a - b)[colours.length >> 1]);
  };
  const [[r0, g0, b0], [r1, g1, b1]] = [await usual((s) => s < 0.005), await usual((s) => s > 0.08)];
  assert.ok(Math.abs(r0 - b0) < 30 && Math.abs(r0 - g0) < 30, `${r0} ${g0} ${b0}`);
  assert.ok(r1 > 1.5 * g1 && r1 > 1.5 * b1, `${r1} ${g1} ${b1}`);
});

sheet("an arrow begins where its force acts and points where that pulls", {}, async (page) => {
  await seek(page, 36);
  const [, metres, newtons] = (await page.textContent("#force-legend")).match(/([\d.]+) m\D+([\d.]+) N/).map(Number);
  const along = (part) => pulls(1.5).map(({ foot, force }) => foot.map((x, k) => x + (part * metres * force[k]) / newtons));
  const places = [...along(0.4), ...along(0.6), ...along(-0.4), ...along(1.3)];
  const shown = await seen(page, places);
  await page.click("#forces");
  const hidden = await seen(page, places);
  const changed = shown.map((colour, k) => distance(colour, hidden[k]) > 20);
  assert.deepEqual(changed, places.map((_, k) => k < places.length / 2), "along, along, against, beyond");
});

sheet("a layer is what its name says", {}, async (page) => {
  await page.click("#forces");
  await seek(page, 60);
  const t = 60 / 24;
  // Inside the picture, and hidden by nothing when alone.
  const stones = await positions(page, "hail");
  const points = { sheet: vertex(0.5 * SIDE * SIDE, t), boxes: [-0.45, 0.3 - MIDDLE, 0.1], hail: stones[stones.length >> 1] };
  const boxes = page.locator("#layers label");
  for (const box of await boxes.all()) await box.locator("input").uncheck();
  const none = await seen(page, Object.values(points));
  for (const [k, name] of Object.keys(points).entries()) {
    const box = page.locator(`#layers label:has-text("${name}") input`);
    await box.check();
    const alone = await seen(page, Object.values(points));
    assert.ok(distance(alone[k], none[k]) > 20, `${name}: ${alone[k]} and ${none[k]}`);
    await box.uncheck();
  }
});

/** Each series of each chart by its name, as a function of time. */
const wave = (t) => Math.sin(2 * t);
const SERIES = {
  "Energy [J]": {
    "kinetic": (t) => 3 + wave(t) + 0.4 * t + t,
    "potential, sheet": (t) => 8 - wave(t), "potential, boxes": () => 2, "potential, hail": (t) => 1 - 0.2 * t,
    "total": (t) => 14 + 1.2 * t,
  },
  "Strain [%]": { "sheet/cloth: largest": (t) => 2 + wave(t), "sheet/cloth: mean": (t) => 0.5 * wave(t) },
  "Momentum error [N s]": { "simulators' own error": (t) => 1e-13 * (1 + 40 * t), "on its way between them": (t) => 1.3 * t },
  "Coupling gap [m]": { "largest gap": (t) => 1e-6 * 10 ** wave(t) },
  "Energy of the coupling [J]": { "put in": (t) => -0.02 * t },
  "Iterations a window []": { "passes of the coupling": (t) => 2 + Math.round(wave(t)), "sheet": (t) => 14 + 4 * wave(t), "boxes": () => 8 },
  "Time a window [ms]": {
    "sheet: solve": (t) => 2.1 - 0.3 * wave(t), "sheet: bend": (t) => 0.8 + 0.1 * wave(t), "boxes: step": () => 0.4,
    "hail: collide": (t) => 0.2 * t, "hail: fly": () => 0.1, "coupling": () => 0.05,
  },
};

sheet("charts show the numbers of their names, over all of the run", {}, async (page) => {
  const charts = await page.evaluate(() => window.partita.charts.map(({ title, unit, times, data }) => ({ title, unit, times, data })));
  assert.deepEqual(charts.map(({ title, unit }) => `${title} [${unit}]`), Object.keys(SERIES));
  for (const { title, unit, times, data } of charts) {
    const exact = SERIES[`${title} [${unit}]`];
    assert.deepEqual(data.map(({ name }) => name), Object.keys(exact), title);
    assert.equal(times.length, 72);
    times.forEach((time, k) => assert.ok(Math.abs(time - k / 24) < 1e-9, `${title}: ${time} s`));
    for (const { name, values } of data) {
      values.forEach((y, k) => {
        const x = exact[name](k / 24);
        assert.ok(Math.abs(y - x) <= 1e-6 * Math.max(Math.abs(x), 1e-12), `${title}, ${name}, frame ${k}: ${y} for ${x}`);
      });
    }
  }
});

sheet("below a chart's title is what its series are now", {}, async (page) => {
  await seek(page, 48);
  const outputs = await page.locator(".chart").first().locator("output").allTextContents();
  const exact = Object.values(SERIES["Energy [J]"]).map((of) => of(2));
  outputs.forEach((text, k) => assert.ok(Math.abs(Number(text) - exact[k]) < 0.006 * exact[k], `${text} for ${exact[k]}`));
  assert.equal(await page.textContent("#clock"), "2.00 s / 2.96 s");
});

sheet("pointing at a chart goes to the time below the pointer", {}, async (page) => {
  const chart = page.locator(".chart canvas").first(), { width } = await chart.boundingBox();
  // Axes leave 64 pixels for numbers at the left and 12 at the right.
  for (const part of [0.25, 0.75]) {
    await chart.hover({ position: { x: 64 + part * (width - 76), y: 60 } });
    const time = await page.evaluate(() => window.partita.time);
    assert.ok(Math.abs(time - (part * 71) / 24) < 0.02, `${time} s at ${part}`);
  }
});

sheet("tables show checks, figures and where the run came from", {}, async (page) => {
  const rows = async (id) => Promise.all((await page.locator(`${id} tr`).all()).map((row) => row.locator("th, td").allTextContents()));
  assert.deepEqual(await rows("#checks"), [["PASS", "waves", "1.5", "≥ 1", "Hz"], ["FAIL", "hangs still", "0.16", "≤ 0.001", "m"]]);
  assert.deepEqual(await rows("#figures"), [["vertices", "4096"]]);
  assert.equal(await page.textContent("#verdict"), "1 of 2 checks passed");
  assert.ok(await page.locator("#verdict.bad").isVisible());
  const [terms, words] = [await page.locator("#about dt").allTextContents(), await page.locator("#about dd").allTextContents()];
  const about = Object.fromEntries(terms.map((term, k) => [term, words[k]]));
  assert.match(about.Command, /sheet/);
  const { Seed, Simulators, Couplings, Frames } = about;
  assert.deepEqual([Seed, Simulators, Couplings, Frames], ["23", "sheet, boxes, hail", "sheet on boxes, hail on sheet", "72 shown of 72"]);
});

// Without a scene to draw, time goes on as smoothly as the browser likes.
const withoutScene = () => { delete window.DecompressionStream; };
sheet("a second of the run takes a second, and half of one at speed 2", { init: withoutScene }, async (page) => {
  for (const speed of [1, 2]) {
    await page.selectOption("#speed", String(speed));
    await seek(page, 0);
    const [took, expected] = await page.evaluate(async () => {
      window.partita.play();
      const next = () => new Promise((done) => requestAnimationFrame(done));
      let now = await next(), passed = 0;
      const first = window.partita.time;
      while (passed < 0.5) {
        const then = now;
        now = await next();
        // After a pause of the machine time goes on from where it was.
        passed += Math.min((now - then) / 1e3, 0.25);
      }
      const { time } = window.partita;
      window.partita.pause();
      return [time - first, passed];
    });
    assert.ok(Math.abs(took - speed * expected) < 1e-6, `${took} s in ${expected} s at speed ${speed}`);
  }
});
