// SPDX-License-Identifier: Apache-2.0
// The pages that the program writes, in headless Chromium: at three widths, in light and dark, without JavaScript and
// printed. Nothing runs over the edge without a cue, axe finds nothing serious, nothing is said on the console and
// nothing asked of a server, and the first recommendation is within the first screen.
//
//   node pages_test.mjs BIN MODULES    # folders of the programs, and of node_modules; ends with 77 where it cannot run
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';

const [bin, modules] = process.argv.slice(2);
const chromium = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
const missing = !chromium ? 'Chromium' : !existsSync(path.join(modules, 'playwright-core')) ? 'playwright-core'
  : !existsSync(path.join(modules, 'axe-core')) ? 'axe-core' : '';
if (missing) {
  console.log(`${missing} is not there: skipped`);
  process.exit(77);
}
const require = createRequire(path.join(path.resolve(modules), 'x.js'));
const playwright = require('playwright-core');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

const WIDTHS = [[1440, 900], [1024, 768], [390, 844]];
const folder = mkdtempSync(path.join(tmpdir(), 'pages-'));
const program = (name, ...args) => execFileSync(path.join(bin, name), args, { stdio: 'pipe' });
const file = (name) => path.join(folder, name);
let browser;

before(async () => {
  program('megatron-gpt', 'naive', '-o', file('naive.sqlite'));
  program('megatron-gpt', 'mixed', '-o', file('mixed.sqlite'));
  program('data-parallel', '--nodes', '2', '--gpus', '2', '--steps', '12', '--kernels', '80', '--plant', 'launches', '-o',
    file('job'));
  const longName = file(`${'a_name_as_long_as_profilers_write_them'.repeat(2)}.sqlite`);
  copyFileSync(file('naive.sqlite'), longName);
  program('dladvisor', 'report', longName, '-o', file('run.html'));
  program('dladvisor', 'report', file('job'), '-o', file('job.html'));
  program('dladvisor', 'compare', file('naive.sqlite'), file('mixed.sqlite'), '-o', file('compare.html'));
  program('dladvisor', 'gate', '--baseline', file('naive.sqlite'), file('mixed.sqlite'), '--html', file('gate.html'));
  browser = await playwright.chromium.launch({ executablePath: chromium, args: ['--no-sandbox', '--disable-gpu'] });
});

after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

// Opens a page; what it says on the console and asks of anybody else is in `said`.
const open = async (name, { width = 1440, height = 900, ...options } = {}, hash = '') => {
  const context = await browser.newContext({ viewport: { width, height }, ...options });
  context.setDefaultTimeout(120_000);  // programs under sanitizers, machines that are busy
  const page = await context.newPage();
  const said = [];
  page.on('console', (message) => said.push(message.text()));
  page.on('pageerror', (error) => said.push(String(error)));
  page.on('request', (request) => { if (!/^(file|data|blob):/.test(request.url())) said.push(request.url()); });
  await page.goto(`file://${file(name)}${hash}`);
  return { page, said, close: () => context.close() };
};

// What is wider than the window, or than what holds it, where nothing scrolls.
const overflow = (page) => page.evaluate(() => {
  const found = [];
  if (document.documentElement.scrollWidth > window.innerWidth)
    found.push(`the page: ${document.documentElement.scrollWidth} of ${window.innerWidth}`);
  for (const element of document.querySelectorAll('main *')) {
    if (element.closest('svg') || element.closest('.scroll') || element.closest('.sr')) continue;
    const box = element.getBoundingClientRect();
    if (box.width > 0 && box.right > window.innerWidth + 1 && getComputedStyle(element).position !== 'absolute')
      found.push(`${element.tagName}.${element.className}: ${Math.round(box.right)}`);
  }
  return found.slice(0, 5);
});

// Of axe, of the page as it is open.
const seriousFindings = async (page) => {
  await page.evaluate(axe);
  const results = await page.evaluate(() => window.axe.run({ resultTypes: ['violations'] }));
  return results.violations.filter((v) => ['serious', 'critical'].includes(v.impact))
    .map((v) => `${v.id}: ${v.nodes.length} such as ${v.nodes[0].html.slice(0, 160)}`);
};

const isReport = (name) => !['compare.html', 'gate.html'].includes(name);
const openAll = (page) => page.evaluate(() =>
  document.querySelectorAll('details').forEach((details) => { details.open = true; }));

for (const name of ['run.html', 'job.html', 'compare.html', 'gate.html']) {
  for (const [width, height] of WIDTHS) {
    for (const colorScheme of ['light', 'dark']) {
      test(`${name} at ${width} px, ${colorScheme}`, async () => {
        const { page, said, close } = await open(name, { width, height, colorScheme });
        assert.deepEqual(await overflow(page), []);
        if (isReport(name)) {
          const top = await page.locator('article.advice').first().evaluate((f) => f.getBoundingClientRect().top);
          assert.ok(top < height - 80, `the first recommendation begins at ${top} of ${height}`);
        }
        await openAll(page);
        assert.deepEqual(await overflow(page), []);
        if (width === 1440 || (width === 390 && colorScheme === 'light')) assert.deepEqual(await seriousFindings(page), []);
        assert.deepEqual(said, []);
        await close();
      });
    }
  }

  test(`${name} without JavaScript`, async () => {
    const { page, said, close } = await open(name, { javaScriptEnabled: false });
    assert.equal(await page.locator('button').count(), 0);
    assert.ok(await page.locator('h1').isVisible());
    const rows = await page.locator('table.data tbody tr').count();
    await close();
    const scripted = await open(name);
    assert.ok(rows >= await scripted.page.locator('table.data tbody tr').count(), 'all rows are in the page');
    await scripted.close();
    assert.deepEqual(said, []);
  });
}

test('tables sort, narrow, page and save, and the address keeps it', async () => {
  const { page, said, close } = await open('run.html', {}, '#ops-and-kernels');
  await openAll(page);
  const view = page.locator('#ops-and-kernels');
  const table = view.locator('table.sortable').first();
  const id = await table.getAttribute('id');
  const count = async () =>
    Number((await view.locator('.tools [role=status]').first().innerText()).match(/(\d+)( rows)?$/)[1]);
  const all = await count();
  await view.locator('.tools input').first().fill('linear');
  assert.ok(await count() < all && await count() > 0, `${await count()} of ${all} rows hold the word`);
  await table.locator('th button.sort').last().click();
  assert.equal(await table.locator('th[aria-sort]').count(), 1);
  assert.match(page.url(), new RegExp(`${id}=all%3Alinear`));
  const shown = await table.locator('tbody').textContent();

  const again = await open('run.html', {}, new URL(page.url()).hash);
  await openAll(again.page);
  assert.equal(await again.page.locator(`#${id} tbody`).textContent(), shown);
  await again.close();

  const [download] = await Promise.all([page.waitForEvent('download'),
    view.locator('.tools button', { hasText: 'CSV' }).first().click()]);
  const lines = readFileSync(await download.path(), 'utf8').trim().split('\r\n');
  assert.ok(lines.length > 2);
  assert.ok(lines.slice(1).every((line) => line.toLowerCase().includes('linear')));
  assert.deepEqual(said, []);
  await close();
});

test('the timeline zooms, and its flags lead to their findings', async () => {
  const { page, said, close } = await open('run.html');
  const svg = page.locator('.timeline svg').first();
  const width = await svg.evaluate((s) => s.getBoundingClientRect().width);
  await page.locator('.timeline button', { hasText: 'Zoom in' }).first().click();
  assert.ok(await svg.evaluate((s) => s.getBoundingClientRect().width) > 1.5 * width);
  const flag = page.locator('.timeline a.flag').first();
  const target = (await flag.getAttribute('href')).slice(1);
  assert.equal(await page.locator(`article#${target}`).count(), 1);
  assert.deepEqual(said, []);
  await close();
});

const pagesOf = async (page) => (await page.pdf({ format: 'A4' })).toString('latin1').match(/\/Type\s*\/Page[^s]/g).length;

test('prints plots whole', async () => {
  for (const name of ['run.html', 'job.html']) {
    const { page, close } = await open(name, { width: 760, height: 1000 });
    await page.emulateMedia({ media: 'print' });
    const cut = await page.evaluate(() => [...document.querySelectorAll('.plot .scroll')]
      .filter((box) => box.scrollWidth > box.clientWidth + 1).map((box) => box.getAttribute('aria-label')));
    assert.deepEqual(cut, [], name);
    assert.ok(await page.locator('.timeline .plot .scroll').count() > 0);
    await close();
  }
});

test('prints a summary, and what is open', async () => {
  for (const name of ['run.html', 'job.html', 'compare.html', 'gate.html']) {
    const { page, close } = await open(name);
    const pages = await pagesOf(page);
    assert.ok(pages >= 2 && pages <= 6, `${name} prints ${pages} pages`);
    await openAll(page);
    if (isReport(name)) assert.ok(await pagesOf(page) > 2 * pages, 'what is open is printed');
    await close();
  }
});
