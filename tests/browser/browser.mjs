// A browser that draws without a graphics card, and pages opened in it that must neither complain nor fetch anything.

import assert from "node:assert/strict";
import path from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

/** Software draws a frame in a second or more. */
export const PATIENCE = 60_000;

const launch = () => chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"],
});

export const pages = (process.env.PAGES ?? "").split("\n").filter(Boolean);
let browser;
before(async () => { browser = await launch(); });
after(() => browser?.close());

/** A law of every page, or of these. */
export function law(name, options, use, files = pages) {
  for (const file of files) {
    test(`${path.basename(file)}: ${name}`, { timeout: 4 * PATIENCE }, () => opened(file, options, (page) => use(page, file)));
  }
}

/** Opens a page, calls `use` with it, and then looks at what it complained of and asked for. */
async function opened(file, options, use) {
  const { init, ...settings } = options;
  const context = await browser.newContext({ viewport: { width: 760, height: 560 }, reducedMotion: "reduce", ...settings });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  const complaints = [], requests = [];
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => requests.push(request.url()));
  if (init) await page.addInitScript(init);
  try {
    await page.goto(pathToFileURL(file).href);
    await until(page, () => window.partita !== undefined);
    await use(page);
  } finally {
    await context.close();
  }
  assert.deepEqual(complaints, []);
  assert.deepEqual(requests.filter((url) => !url.startsWith("file://")), []);
}

/** Waits until `holds` does; playwright's own way needs `eval`, which pages forbid. */
export async function until(page, holds, argument) {
  for (const begin = Date.now(); !(await page.evaluate(holds, argument)); ) {
    assert.ok(Date.now() - begin < PATIENCE, `never: ${holds}`);
    await page.waitForTimeout(50);
  }
}

/** What the canvas shows: a hash, and how many different colours. */
export const look = (page) => page.evaluate(() => {
  const bytes = window.partita.pixels();
  const colours = new Set();
  let hash = 2166136261;
  for (let i = 0; i < bytes.length; i += 4) {
    const colour = (bytes[i] << 16) | (bytes[i + 1] << 8) | bytes[i + 2];
    colours.add(colour);
    hash = Math.imul(hash ^ colour, 16777619);
  }
  return { hash, colours: colours.size };
});

/** Where everything is: the sum over all names of positions, each with a weight of its own. */
export const places = (page) => page.evaluate(() => {
  let sum = 0;
  for (const name of window.partita.names) {
    window.partita.positionsOf(name).forEach((x, i) => { if (Number.isFinite(x)) sum += x * (1 + (i % 97)); });
  }
  return sum;
});

export const state = (page) => page.evaluate(() => {
  const { frame, frames, time, playing } = window.partita;
  return { frame, frames, time, playing };
});

/** Moves the time slider there, as a hand does: in frames and parts of them. */
export const slide = (page, place) => page.fill("#time", String(place));

export const shot = (page, file, name, whole = true) =>
  page.screenshot({ path: path.join(process.env.SHOTS ?? "out/browser", `${path.parse(file).name}-${name}.png`), fullPage: whole, timeout: PATIENCE });
