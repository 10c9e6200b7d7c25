// What a reader of a page can do, done on each page given: see run.

import assert from "node:assert/strict";
import { test } from "node:test";
import { law, look, pages, places, shot, state, until } from "./browser.mjs";

test("there are pages", () => assert.ok(pages.length > 0, "PAGES names no page"));

/** For pictures to be looked at; all else is quicker in a small window. */
const LARGE = { viewport: { width: 1280, height: 800 } };
const middle = (page) => page.evaluate(() => window.partita.seek(Math.floor(window.partita.frames / 2)));

law("the scene is not blank, and differs from frame to frame", LARGE, async (page, file) => {
  await middle(page);
  const there = await look(page);
  assert.ok(there.colours > 200, `${there.colours} colours`);
  await shot(page, file, "light");
  await page.evaluate(() => window.partita.seek(0));
  assert.notEqual((await look(page)).hash, there.hash);
});

law("playing moves what is seen, pausing stops it", {}, async (page) => {
  const first = await places(page);
  await page.click("#play");
  await until(page, () => window.partita.time > 0.2);
  await page.click("#play");
  const then = await places(page);
  assert.notEqual(then, first);
  await page.waitForTimeout(300);
  assert.equal(await places(page), then);
  assert.equal((await state(page)).playing, false);
});

law("slider and step buttons move time", {}, async (page) => {
  const first = await places(page);
  await page.fill("#time", "3.5");
  const between = await places(page);
  assert.notEqual(between, first);
  const { time } = await state(page);
  assert.ok(time > 3 / 24 - 1e-9 && time < 4 / 24 + 1e-9, `${time} s`);
  await page.click("#forward");
  assert.equal((await state(page)).frame, 4);
  await page.click("#back");
  assert.equal((await state(page)).frame, 3);
  assert.notEqual(await places(page), between);
});

law("between two frames surfaces are between their places", {}, async (page) => {
  const worst = await page.evaluate(() => {
    const { positionsOf, numbersOf, seek, frames } = window.partita;
    const names = window.partita.names.filter((name) => numbersOf(name) === undefined);
    const slider = document.getElementById("time");
    const at = (place) => {
      slider.value = place;
      slider.dispatchEvent(new Event("input"));
      return names.map((name) => positionsOf(name));
    };
    const i = Math.floor(frames / 2);
    const [a, half, b] = [at(i), at(i + 0.5), at(i + 1)];
    seek(0);
    let worst = 0;
    names.forEach((_, k) => half[k].forEach((x, n) => {
      const [low, high] = [Math.min(a[k][n], b[k][n]), Math.max(a[k][n], b[k][n])];
      // Turning bodies swing out a little.
      if (Number.isFinite(low + high)) worst = Math.max(worst, low - x - 0.2 * (high - low), x - high - 0.2 * (high - low));
    }));
    return worst;
  });
  assert.ok(worst < 0.02, `${worst} m outside`);
});

law("a particle flies straight from frame to frame, and is who it was wherever time has been", {}, async (page) => {
  const found = await page.evaluate(() => {
    const { names, positionsOf, numbersOf, seek, frames } = window.partita;
    const slider = document.getElementById("time");
    const at = (name, place) => {
      slider.value = place;
      slider.dispatchEvent(new Event("input"));
      const x = positionsOf(name);
      return new Map(numbersOf(name).map((number, k) => [number, x.slice(3 * k, 3 * k + 3)]));
    };
    const distance = (a, b) => Math.hypot(...a.map((x, k) => x - b[k]));
    const found = { clouds: 0, born: 0, gone: 0, followed: 0, moved: 0, bent: 0, crooked: 0, elsewhere: 0 };
    for (const name of names.filter((one) => numbersOf(one) !== undefined)) {
      found.clouds++;
      for (let i = 1; i + 1 < frames; i += Math.ceil(frames / 12)) {
        const [before, a, b] = [at(name, i - 1), at(name, i), at(name, i + 1)];
        const between = [0.25, 0.5, 0.75].map((t) => [t, at(name, i + t)]);
        const again = at(name, i);
        found.born += [...b.keys()].filter((number) => !a.has(number)).length;
        found.gone += [...a.keys()].filter((number) => !b.has(number)).length;
        for (const [number, from] of a) {
          if (!Number.isFinite(from[0])) continue;
          found.elsewhere = Math.max(found.elsewhere, distance(again.get(number), from));
          const to = b.get(number) ?? from;
          for (const [t, places] of between) {
            const straight = from.map((x, k) => x + t * (to[k] - x));
            found.crooked = Math.max(found.crooked, distance(places.get(number), straight));
          }
          if (!before.has(number) || !b.has(number)) continue;
          found.followed++;
          found.moved += distance(from, to);
          found.bent += distance(to, from.map((x, k) => 2 * x - before.get(number)[k]));
        }
      }
    }
    seek(0);
    return found;
  });
  const words = JSON.stringify(found);
  if (found.clouds === 0) return;
  assert.ok(found.born > 10 && found.followed > 100, words);
  // Single precision of a few metres.
  assert.ok(found.crooked < 1e-5 && found.elsewhere === 0, words);
  // Who took the place of another would be off by a step in any direction; gravity and contacts bend less.
  assert.ok(found.bent < 0.5 * found.moved, words);
});

law("layers hide and come back", {}, async (page) => {
  await middle(page);
  const all = (await look(page)).hash;
  for (const box of await page.locator("#layers input").all()) {
    await box.click();
    assert.notEqual((await look(page)).hash, all);
    await box.click();
    assert.equal((await look(page)).hash, all);
  }
});

/** Place on the page of a place of the scene [CSS pixels]. */
const onPage = (page, place) => page.evaluate((place) => {
  const canvas = document.getElementById("scene"), { left, bottom, width } = canvas.getBoundingClientRect();
  const density = canvas.width / width, [u, v] = window.partita.pixelOf(place);
  return [left + u / density, bottom - v / density];
}, place);

law("the wheel zooms to the pointer", {}, async (page) => {
  // Aside of the target by a tenth of its distance, and up by a twentieth.
  const view = () => page.evaluate(() => {
    const { target, distance, right, up } = window.partita.view();
    return { distance, place: target.map((x, k) => x + 0.1 * distance * right[k] + 0.05 * distance * up[k]) };
  });
  const { distance, place } = await view();
  const before = await onPage(page, place);
  await page.mouse.move(...before);
  await page.mouse.wheel(0, -100);
  await until(page, (distance) => window.partita.view().distance < 0.9 * distance, distance);
  const now = await onPage(page, place);
  assert.ok(Math.hypot(now[0] - before[0], now[1] - before[1]) < 3, `${before} to ${now}`);
});

law("a double click turns the view about what is there", {}, async (page) => {
  const { distance, target } = await page.evaluate(() => window.partita.view());
  // What is below the middle of the picture is a body or the ground on each of these pages.
  const [x, y] = (await onPage(page, target)).map((at, k) => at + [30, 60][k]);
  await page.mouse.dblclick(x, y);
  const focused = await page.evaluate(() => window.partita.view());
  assert.ok(Math.abs(focused.distance / distance - 0.5) < 1e-6, `${distance} to ${focused.distance}`);
  await page.keyboard.press("r");
  const there = await onPage(page, focused.target);
  assert.ok(Math.hypot(there[0] - x, there[1] - y) < 3, `${[x, y]}, focused ${there}`);
});

law("the mesh can be shown", LARGE, async (page, file) => {
  await middle(page);
  const { hash } = await look(page);
  await page.check("#mesh");
  assert.notEqual((await look(page)).hash, hash);
  await shot(page, file, "mesh");
  await page.uncheck("#mesh");
  assert.equal((await look(page)).hash, hash);
});

law("two sentences name the simulators, terms are explained, parameters are listed", {}, async (page) => {
  const header = await page.evaluate(() => JSON.parse(document.getElementById("header").textContent));
  const words = await page.textContent("#seen");
  assert.ok(header.simulators.every((name) => words.includes(name)) && words.match(/\. |\.$/g).length === 2, words);
  const terms = await page.locator("#glossary dt").allTextContents();
  const titles = await page.evaluate(() => window.partita.charts.map(({ title }) => title));
  assert.deepEqual(titles.filter((title) => !terms.includes(title)), []);
  const rows = await page.locator("#parameters tr").count();
  assert.ok(rows > 0 && !(await page.locator("#parameters").isVisible()));
  await page.click("#parameters-section summary");
  assert.ok(await page.locator("#parameters").isVisible());
});

law("charts have data, and pointing at one moves time", {}, async (page) => {
  const sizes = await page.evaluate(() => window.partita.charts.map(({ data }) => data.map(({ values }) => values.length)));
  assert.ok(sizes.length >= 6 && sizes.every((series) => series.length > 0 && series.every((n) => n > 1)), JSON.stringify(sizes));
  const first = await places(page);
  const charts = await page.locator(".chart canvas").all();
  assert.ok(charts.length >= 4);
  let before = (await state(page)).time;
  for (const [k, chart] of charts.entries()) {
    const { width, height } = await chart.boundingBox();
    await chart.hover({ position: { x: (0.4 + 0.05 * k) * width, y: 0.5 * height } });
    const { time } = await state(page);
    assert.notEqual(time, before, `chart ${k}`);
    before = time;
  }
  assert.notEqual(await places(page), first);
});

law("strain, forces, orbit and zoom change the picture; the first view comes back", {}, async (page, file) => {
  await middle(page);
  const first = (await look(page)).hash;
  if (await page.locator("#strain-switch").isVisible()) {
    await page.click("#strain");
    assert.notEqual((await look(page)).hash, first, "strain");
    assert.ok(await page.locator("#strain-legend").isVisible());
    await shot(page, file, "strain", false);
    await page.click("#strain");
  }
  if (await page.locator("#forces-switch").isVisible()) {
    await page.click("#forces");
    assert.notEqual((await look(page)).hash, first, "forces");
    await page.click("#forces");
  }
  await page.locator("#scene").scrollIntoViewIfNeeded();
  const { x, y, width, height } = await page.locator("#scene").boundingBox();
  await page.mouse.move(x + 0.5 * width, y + 0.5 * height);
  await page.mouse.down();
  await page.mouse.move(x + 0.7 * width, y + 0.6 * height, { steps: 3 });
  await page.mouse.up();
  const turned = (await look(page)).hash;
  assert.notEqual(turned, first, "orbit");
  await page.mouse.wheel(0, -300);
  await page.waitForTimeout(200);
  assert.notEqual((await look(page)).hash, turned, "zoom");
  await page.click("#frame");
  await shot(page, file, "framed", false);
  await page.click("#reset");
  assert.equal((await look(page)).hash, first, "reset");
});

law("all can be reached and done with the keyboard alone", {}, async (page, file) => {
  const reached = new Map();
  const count = await page.evaluate(() => [...document.querySelectorAll("button, input, select, summary, canvas[tabindex]")].filter((one) => one.offsetParent !== null).length);
  for (let k = 0; k <= count; k++) {
    await page.keyboard.press("Tab");
    const focus = await page.evaluate(() => {
      const one = document.activeElement;
      const name = one.getAttribute("aria-label") ?? one.labels?.[0]?.textContent ?? one.textContent;
      return { id: one.id, tag: one.tagName, name: name.trim(), ring: getComputedStyle(one).outlineStyle };
    });
    if (focus.tag === "BODY") break;
    assert.ok(focus.name, `${focus.tag} ${focus.id} has no name`);
    assert.notEqual(focus.ring, "none", `${focus.name}: focus is not seen`);
    reached.set(focus.id || focus.name, focus);
  }
  assert.equal(reached.size, count, [...reached.keys()].join(", "));

  await page.focus("#scene");
  const press = async (key) => { await page.keyboard.press(key); return state(page); };
  assert.equal((await press(".")).frame, 1);
  assert.equal((await press(".")).frame, 2);
  assert.equal((await press(",")).frame, 1);
  assert.equal((await press(" ")).playing, true);
  assert.equal((await press(" ")).playing, false);
  await page.evaluate(() => window.partita.seek(5));
  const first = (await look(page)).hash;
  for (const key of ["ArrowLeft", "ArrowUp", "+", "-", "f", "1"]) {
    await page.keyboard.press(key);
    assert.notEqual((await look(page)).hash, first, key);
    if (key === "1") await page.keyboard.press("1");
    await page.keyboard.press("r");
    assert.equal((await look(page)).hash, first, `${key}, then R`);
  }
  await page.keyboard.press("h");
  assert.ok(await page.locator("#help").isVisible());
  await shot(page, file, "help", false);
  await page.keyboard.press("h");
  assert.ok(!(await page.locator("#help").isVisible()));
  await page.focus("#time");
  const { frame } = await state(page);
  assert.equal((await press("ArrowRight")).frame, frame + 1);
  assert.equal((await press("End")).frame, (await state(page)).frames - 1);
  await page.focus(".chart canvas");
  assert.equal((await press("Home")).frame, 0);
  assert.equal((await press("ArrowRight")).frame, 1);
});

law("it fits a phone, and a finger turns the scene", { viewport: { width: 360, height: 740 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true }, async (page, file) => {
  await middle(page);
  const [inside, wide] = await page.evaluate(() => [document.documentElement.clientWidth, document.documentElement.scrollWidth]);
  assert.ok(wide <= inside, `${wide} px in ${inside}`);
  const first = (await look(page)).hash;
  const { x, y, width, height } = await page.locator("#scene").boundingBox();
  const client = await page.context().newCDPSession(page);
  const touch = (type, points) => client.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(([u, v], id) => ({ x: x + u * width, y: y + v * height, id })) });
  await touch("touchStart", [[0.5, 0.5]]);
  await touch("touchMove", [[0.7, 0.5]]);
  await touch("touchEnd", []);
  await page.waitForTimeout(200);
  const turned = (await look(page)).hash;
  assert.notEqual(turned, first, "one finger turns");
  await touch("touchStart", [[0.4, 0.5], [0.6, 0.5]]);
  await touch("touchMove", [[0.2, 0.5], [0.8, 0.5]]);
  await touch("touchEnd", []);
  await page.waitForTimeout(200);
  assert.notEqual((await look(page)).hash, turned, "two fingers zoom");
  await page.tap("#reset");
  await shot(page, file, "phone");
});

law("it is dark where that is asked for", { ...LARGE, colorScheme: "dark" }, async (page, file) => {
  await middle(page);
  const dark = await page.evaluate(() => getComputedStyle(document.body).backgroundColor.match(/\d+/g).every((c) => Number(c) < 80));
  assert.ok(dark);
  assert.ok((await look(page)).colours > 200);
  await shot(page, file, "dark");
});

law("it plays by itself, unless less motion is asked for", { reducedMotion: "no-preference" }, async (page) => {
  await until(page, () => window.partita.time > 0.1);
  assert.equal((await state(page)).playing, true);
});

const withoutScene = async (page, file, missing) => {
  const words = await page.textContent("#complaint");
  assert.ok(words.includes(missing) && words.includes("Charts and tables still work"), words);
  assert.ok(await page.locator(".chart canvas").first().isVisible());
  assert.ok(!(await page.locator("#scene").isVisible()));
  const before = (await state(page)).time;
  await page.locator(".chart canvas").first().hover();
  const { time } = await state(page);
  assert.notEqual(time, before);
  await page.click("#play");
  await until(page, () => window.partita.playing && window.partita.time > 0);
  await shot(page, file, "no-scene", false);
};

law("without WebGL2 charts and tables work", {
  init: () => {
    const own = HTMLCanvasElement.prototype.getContext;
    HTMLCanvasElement.prototype.getContext = function (kind, ...rest) { return kind === "webgl2" ? null : own.call(this, kind, ...rest); };
  },
}, (page, file) => withoutScene(page, file, "no WebGL2"));

law("without DecompressionStream, too", { init: () => { delete window.DecompressionStream; } }, (page, file) => withoutScene(page, file, "DecompressionStream"));

law("a lost graphics card is told of, and comes back", {}, async (page) => {
  await middle(page);
  const first = (await look(page)).hash;
  await page.evaluate(() => {
    window.lost = document.getElementById("scene").getContext("webgl2").getExtension("WEBGL_lose_context");
    window.lost.loseContext();
  });
  await page.waitForSelector("#complaint:not([hidden])");
  await page.evaluate(() => window.lost.restoreContext());
  await page.waitForSelector("#complaint", { state: "hidden" });
  assert.equal((await look(page)).hash, first);
});
