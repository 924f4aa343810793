// Tests of the page in headless Chromium, against the native program:
//
//   node tests/run.mjs TURNSTONE AGREEMENT [FOLDER FOR PICTURES]
//
// TURNSTONE is the program, which serves the page and checks every move; AGREEMENT is the example of that name of
// turnstone-web, built natively. Without Chromium nothing is tested, which the last line says. `ONLY` selects tests by a
// regular expression; with `BUSY` nothing is said about speed, for machines that do other work; `PRESSES` is the number of
// seconds of random presses per game and opponent, 1 if it is not given; `PAGE` is a folder with a page to test instead of
// the one in the program, `OWN` the name of a game that only that page has, and `OWN_PROGRAM` the program of that game, whose
// exported page is tested then.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { crc32, gzipSync } from 'node:zlib';
import { find, launch } from './chromium.mjs';
import { learning } from './learning.mjs';
import { people } from './people.mjs';
import { presses } from './presses.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '../../..');
const [turnstone, agreement, pictures] = process.argv.slice(2);
const GAMES = ['mu_torere', 'mancala', 'morris', 'konane', 'morabaraba'];
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const browserPath = find();
if (!browserPath) {
  console.log('skipped: no Chromium (Debian: apt-get install chromium); CHROMIUM names one elsewhere');
  process.exit(0);
}
assert.ok(turnstone && agreement, 'expected the paths of turnstone and of agreement');

const native = (program, ...args) => execFileSync(program, args, { encoding: 'utf8', maxBuffer: 1 << 28 });
const checkpoint = (game) => join(root, 'games/src', game, 'agent.safetensors');

/** The position after moves, which the program checks. */
function nativePosition(game, moves, ...options) {
  const shown = native(turnstone, 'show', game, ...options, '--moves', moves.join(' '));
  return /^position (.*)$/m.exec(shown)[1];
}

/** The program as a server on a free port, with a folder for runs. */
async function serve(runs) {
  const page = process.env.PAGE ? ['--page', process.env.PAGE] : [];
  const server = spawn(turnstone, ['serve', '--port', '0', '--runs', runs, ...page], { stdio: ['ignore', 'pipe', 'inherit'] });
  const address = await new Promise((resolve, reject) => {
    server.stdout.once('data', (line) => resolve(String(line).trim()));
    server.once('exit', (code) => reject(new Error(`the server ended with ${code}`)));
  });
  return { address, stop: () => server.kill('SIGTERM') };
}

const passed = [];
let base;
let browser;

/** A page that fails the test upon any error in its console and any request to another place. */
async function open(query = '', options = {}) {
  const page = await browser.context.newPage();
  const faults = [];
  page.on('console', (line) => { if (['error', 'warning'].includes(line.type())) faults.push(line.text()); });
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(base) && !url.startsWith('data:') && !url.startsWith('blob:')) faults.push(`a request to ${url}`);
  });
  if (options.size) await page.setViewportSize(options.size);
  if (options.media) await page.emulateMedia(options.media);
  await page.goto(base + query);
  if (options.wait !== false) await page.waitForSelector('body[data-ready]');
  return {
    page,
    close: async () => {
      await page.close();
      assert.deepEqual(faults, [], 'the console and the network are quiet');
    },
  };
}

async function test(name, run) {
  if (process.env.ONLY && !new RegExp(process.env.ONLY).test(name)) return;
  const begin = Date.now();
  try {
    await run();
  } catch (error) {
    console.error(`FAILED ${name}`);
    throw error;
  }
  passed.push(name);
  console.log(`ok ${name} (${((Date.now() - begin) / 1000).toFixed(1)} s)`);
}

const state = (page) => page.$eval('#board', (board) => ({ ...board.dataset }));
const settled = (page) => page.waitForFunction(() => {
  const { thinking, moving } = document.getElementById('board').dataset;
  return thinking !== 'true' && moving !== 'true';
});
const click = async (page, clicks) => {
  for (const point of clicks) await page.click(`.point[data-point="${point}"]`, { force: true });
};

/** Plays a legal action of the position by clicking its points. */
async function play(page, choose) {
  const legal = await page.evaluate(() => window.turnstone.legal());
  const one = choose(legal);
  const before = await state(page);
  if (one.clicks.length === 0) await page.click(`.legal[data-action="${one.action}"]`);
  else await click(page, one.clicks);
  await page.waitForFunction((ply) => Number(document.getElementById('board').dataset.ply) > ply, Number(before.ply));
  return one.action;
}

/** Every move is legal by the native program, and every position's text is the same. */
async function checkNatively(page, game) {
  const { positions, moves } = await page.evaluate(() => ({ positions: window.turnstone.positions(), moves: window.turnstone.moves() }));
  assert.equal(positions.length, moves.length + 1);
  for (let ply = 0; ply <= moves.length; ply++) {
    const shown = nativePosition(game, moves.slice(0, ply));
    assert.equal(shown, positions[ply], `the position after ${ply} plies`);
  }
  return moves.length;
}

/** Plays the first side by clicking until the game is over. */
async function playOut(page, seed) {
  let number = seed;
  const random = (count) => {
    number = (number * 48271) % 2147483647;
    return number % count;
  };
  for (;;) {
    await settled(page);
    // Either it is the person's turn again, or the game is over.
    await page.waitForFunction(() => {
      const { over, mover, thinking, moving } = document.getElementById('board').dataset;
      return over === 'true' || (mover === '0' && thinking !== 'true' && moving !== 'true');
    });
    if ((await state(page)).over === 'true') return;
    await play(page, (legal) => legal[random(legal.length)]);
  }
}

async function wholeGame(game) {
  const { page, close } = await open(`/?game=${game}&p1=human&p2=az&level2=16`, { media: { reducedMotion: 'reduce' } });
  await playOut(page, 7);
  const plies = await checkNatively(page, game);
  assert.match(await page.textContent('#status'), /won|drawn/);
  await close();
  return plies;
}

async function picture(page, name) {
  if (pictures) await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true });
}

async function accessible(page, name) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  const serious = found.violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  const words = serious.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map(({ html }) => html).join(' | ')}`);
  assert.deepEqual(words, [], `accessibility of ${name}`);
}

const overflow = (page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

async function main() {
  const runs = mkdtempSync(join(tmpdir(), 'turnstone-runs-'));
  const server = await serve(runs);
  base = server.address.replace(/\/$/, '');
  browser = await launch(browserPath);
  // A busy machine is slow, not wrong: what is waited for comes at some time or never.
  browser.context.setDefaultTimeout(120_000);
  // What is folded away stands open for the tests, unless one closes it.
  await browser.context.addInitScript(() => {
    if (!location.protocol.startsWith('http')) return;
    for (const id of ['as-text', 'settings']) if (localStorage.getItem(id) === null) localStorage.setItem(id, 'open');
  });
  try {
    await tests(runs);
  } finally {
    await browser.close();
    server.stop();
    rmSync(runs, { recursive: true, force: true });
  }
  console.log(`${passed.length} tests passed`);
}

async function tests(runs) {
  await presses({ test, open, checkNatively, settled, state, seconds: Number(process.env.PRESSES ?? 1) });
  await learning({ test, open, play, state, settled, picture, accessible, overflow, turnstone });
  await people({ test, open, play, state, settled, picture, accessible, overflow, browser: () => browser, base: () => base, turnstone, runs, native: (...args) => native(turnstone, ...args) });

  await test('the first load is small, and the first move comes within a second', async () => {
    const { page, close } = await open('/?game=mancala&p1=az&p2=human');
    // What the page has asked for, as the server sends it; agents come with their game.
    const loaded = await page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname.slice(1)));
    const folder = join(root, 'apps/serve/page');
    const names = new Set(['index.html', 'offline.js', 'worker.js', ...loaded.filter((name) => name !== '' && !name.startsWith('agents/'))]);
    assert.ok(names.has('turnstone.wasm') && names.has('page.js'), [...names].join());
    const size = (name) => (existsSync(join(folder, `${name}.gz`)) ? readFileSync(join(folder, `${name}.gz`)) : gzipSync(readFileSync(join(folder, name)))).length;
    const bytes = [...names].reduce((sum, name) => sum + size(name), 0);
    assert.ok(bytes <= 700_000, `${bytes} bytes compressed`);
    const ready = Date.now();
    await page.waitForFunction(() => Number(document.getElementById('board').dataset.ply) > 0);
    const time = Date.now() - ready;
    console.log(`   ${bytes} bytes compressed; first move after ${time} ms`);
    assert.ok(time < 1000 || process.env.BUSY, `${time} ms`);
    await close();
  });

  for (const game of GAMES) {
    await test(`a whole game of ${game} by clicking, every move checked natively`, async () => {
      console.log(`   ${await wholeGame(game)} plies`);
    });
  }

  if (process.env.OWN) {
    await test('a game of another crate has a board to click on', async () => {
      const { page, close } = await open(`/?game=${process.env.OWN}&p1=human&p2=alphabeta&level2=4`, { media: { reducedMotion: 'reduce' } });
      assert.equal((await state(page)).game, process.env.OWN);
      await playOut(page, 11);
      assert.match(await page.textContent('#status'), /won|drawn/);
      assert.equal(await overflow(page), 0);
      await accessible(page, process.env.OWN);
      await picture(page, process.env.OWN);
      await close();
    });
  }

  /** What the page and the native program do in 200 positions, as the example writes it. */
  const lines = async (page, game, spec, theirs) => {
    const positions = theirs.map((line) => line.split(' | ')[0]);
    const hex = (number) => number.toString(16).padStart(8, '0');
    const bits = (number) => hex(new DataView(new Float32Array([number]).buffer).getUint32(0, true));
    const answers = await page.evaluate(([name, list, of]) => window.turnstone.answers(name, list, of), [game, positions, spec]);
    return answers.map(([view, { priors, value, draw }, action], i) => {
      const checksums = [JSON.parse(view).drawing, view].map((text) => hex(crc32(text)));
      return `${positions[i]} | ${checksums.join(' ')} | ${priors.map(({ prior }) => bits(prior)).join(' ')} : ${bits(value)} ${bits(draw)} | ${action}`;
    });
  };
  const nativeLines = (game, spec, kernel) => native(agreement, 'lines', game, '200', spec, checkpoint(game), kernel).trim().split('\n');

  await test('the page and the native program agree in every bit in 200 positions per game', async () => {
    const { page, close } = await open();
    for (const game of GAMES) {
      const spec = 'az:pretrained,sims=32,precision=i8';
      const theirs = nativeLines(game, spec, 'best');
      assert.equal(theirs.length, 200);
      assert.deepEqual(await lines(page, game, spec, theirs), theirs, game);
      assert.deepEqual(await lines(page, game, spec.replace('i8', 'auto'), theirs), theirs, 'the page takes integers');
    }
    await close();
  });

  await test('in floats the page and the native program agree in 200 positions per game', async () => {
    const { page, close } = await open();
    for (const game of GAMES) {
      const spec = 'az:pretrained,sims=32';
      const [portable, best] = [nativeLines(game, spec, 'portable'), nativeLines(game, spec, 'best')];
      const mine = await lines(page, game, spec, best);
      assert.equal(mine.length, 200);
      // The sums of the kernel have the same bits; the exponential function behind the priors is the platform's own.
      const parts = (line) => line.split(' | ');
      const near = (a, b) => a.split(' ').every((word, k) => word === b.split(' ')[k] || Math.abs(parseInt(word, 16) - parseInt(b.split(' ')[k], 16)) <= 2);
      for (const [i, line] of mine.entries()) {
        const [ours, theirs] = [parts(line), parts(portable[i])];
        for (const k of [0, 1, 3]) assert.equal(ours[k], theirs[k], `${game}, position ${i}: portable kernel`);
        assert.ok(near(ours[2], theirs[2]), `${game}, position ${i}: ${ours[2]} and ${theirs[2]}`);
      }
      const equal = mine.filter((line, i) => line === portable[i]).length;
      assert.ok(equal >= 180, `${game}: the bits of ${equal} positions are those of the portable kernel`);
      const same = mine.filter((line, i) => parts(line).at(-1) === parts(best[i]).at(-1)).length;
      const bits = mine.filter((line, i) => line === best[i]).length;
      console.log(`   ${game}: portable kernel 200 moves, ${equal} positions with the same bits; this machine's best: ${same} moves, ${bits} with the same bits`);
      assert.ok(same >= 196, `${game}: ${same} moves equal those with fused multiply-adds`);
    }
    await close();
  });

  await test('the browser is not much slower than the native portable kernel', async () => {
    const { page, close } = await open();
    for (const game of ['mancala', 'konane']) {
      // In turns, and the best of each: what else the machine does takes from all.
      let [floats, integers, portable] = [0, 0, 0];
      const rate = (spec) => page.evaluate(([name, of]) => window.turnstone.rate(name, 2000, of), [game, spec]);
      for (let round = 0; round < 5 && (round < 2 || floats / portable <= 1 / 3); round++) {
        floats = Math.max(floats, await rate('az:pretrained'));
        integers = Math.max(integers, await rate('az:pretrained,precision=i8'));
        portable = Math.max(portable, Number(native(agreement, 'rate', game, 'az:pretrained', checkpoint(game), 'portable')));
      }
      const [a, b] = [floats, integers].map((rate) => `${Math.round(rate)} (${(rate / portable).toFixed(2)})`);
      console.log(`   ${game}: ${a} simulations/s in floats, ${b} in integers; native portable kernel ${portable}`);
      assert.ok(floats / portable > 1 / 3 || process.env.BUSY, `${game}: ${floats / portable}`);
    }
    await close();
  });

  await test('undo, take back, swap, copy and paste', async () => {
    await browser.context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: base });
    const { page, close } = await open('/?game=morris&p1=human&p2=human', { media: { reducedMotion: 'reduce' } });
    for (const action of ['a0', 'g0', 'b1', 'f1', 'c2']) await play(page, (legal) => legal.find((one) => one.action === action));
    assert.equal((await state(page)).position, 'WBWBWxxxxxxxxxxxxx W 5 6 x 0', 'a closed mill removes');
    assert.equal(await page.locator('#board .overlay .formed').count(), 1);
    await page.click('#undo');
    assert.equal((await state(page)).ply, '4');
    await page.click('.move[data-ply="2"]');
    assert.equal((await state(page)).position, 'WBxxxxxxxxxxxxxxxx W 7 7 - 0');
    await page.click('#resume');
    assert.equal(await page.locator('.move').count(), 2);
    await page.click('#copy-game');
    const copied = JSON.parse(await page.evaluate(() => navigator.clipboard.readText()));
    assert.deepEqual([copied.game, copied.moves], ['morris', ['a0', 'g0']]);
    await page.click('#copy-position');
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), 'WBxxxxxxxxxxxxxxxx W 7 7 - 0');
    await page.fill('#text', JSON.stringify({ game: 'mancala', params: { stones: 3 }, moves: ['B4', 'A3'] }));
    await page.click('#load');
    await page.waitForFunction(() => document.getElementById('board').dataset.game === 'mancala');
    assert.equal((await state(page)).position, nativePosition('mancala', ['B4', 'A3'], '--param', 'stones=3'));
    await page.fill('#text', 'nonsense');
    await page.click('#load');
    assert.match(await page.textContent('#fault'), /cannot be read/);
    // Pasted anywhere on the page.
    await page.evaluate(() => {
      const data = new DataTransfer();
      data.setData('text/plain', '4,4,4,4,4,4/0 4,4,4,4,4,4/0 2\n');
      document.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data }));
    });
    assert.match(await page.textContent('#fault'), /cannot be read/, 'a position of other parameters');
    await page.evaluate(() => {
      const data = new DataTransfer();
      data.setData('text/plain', '{"game": "konane", "params": {"size": "4"}, "moves": []}\n');
      document.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data }));
    });
    await page.waitForFunction(() => document.getElementById('board').dataset.game === 'konane');
    assert.equal((await state(page)).position, nativePosition('konane', [], '--param', 'size=4'));
    assert.equal(await page.isHidden('#fault'), true);
    await page.selectOption('#kind0', 'random');
    await page.click('#swap');
    assert.equal(await page.inputValue('#kind1'), 'random');
    await close();
  });

  await test('rules in words, parameters as choices, and clocks', async () => {
    const { page, close } = await open('/?game=mancala&p1=human&p2=human', { media: { reducedMotion: 'reduce' } });
    assert.match(await page.innerText('#how-text'), /Drop them one by one into the next pits/, 'open where it has room');
    await page.click('#how summary');
    assert.equal(await page.isVisible('#how-text'), false);
    await page.selectOption('#fields [name="end_rule"]', 'either_side_empty');
    await page.fill('#fields [name="stones"]', '3');
    await page.click('#params button[type=submit]');
    await page.waitForFunction(() => document.getElementById('board').dataset.position.startsWith('3,3'));
    await page.click('#copy-game');
    const { game, params } = JSON.parse(await page.inputValue('#text'));
    assert.deepEqual([game, params.end_rule, params.stones], ['mancala', 'either_side_empty', '3']);
    await page.fill('#fields [name="stones"]', '999');
    await page.click('#params button[type=submit]');
    assert.match(await page.textContent('#fault'), /stones/);
    assert.equal(await page.textContent('#clock0'), '', 'clocks are off at first');
    await page.clock.install();
    await page.selectOption('#minutes', '1');
    assert.equal(await page.textContent('#clock1'), '1:00');
    await page.clock.runFor(20_000);
    await page.waitForFunction(() => document.getElementById('clock0').textContent === '0:40');
    await page.clock.runFor(50_000);
    await page.waitForFunction(() => /lost on time/.test(document.getElementById('status').textContent));
    assert.equal(await page.textContent('#clock1'), '1:00');
    assert.equal((await state(page)).over, 'true');
    await close();
  });

  await test('drag, keyboard, and positions in which a click is no move', async () => {
    const { page, close } = await open('/?game=mu_torere&p1=human&p2=human', { media: { reducedMotion: 'reduce' } });
    const centre = async (point) => {
      const box = await page.locator(`.point[data-point="${point}"]`).boundingBox();
      return [box.x + box.width / 2, box.y + box.height / 2];
    };
    const [[x, y], [u, v]] = [await centre(0), await centre(4)];
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move((x + u) / 2, (y + v) / 2, { steps: 4 });
    await page.mouse.move(u, v, { steps: 4 });
    await page.mouse.up();
    await page.waitForFunction(() => document.getElementById('board').dataset.ply === '1');
    assert.equal((await state(page)).position, '021212121 2 1');
    await page.click('.point[data-point="8"]', { force: true });
    assert.equal((await state(page)).ply, '1', 'the opponent has no piece to move there');
    await page.focus('.point[data-point="1"]');
    await page.keyboard.press('Enter');
    assert.equal(await page.getAttribute('.point[data-point="1"]', 'aria-pressed'), 'true');
    await page.keyboard.press('ArrowLeft');
    const focus = await page.evaluate(() => document.activeElement.dataset.point);
    assert.equal(focus, '0');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.getElementById('board').dataset.ply === '2');
    assert.equal((await state(page)).position, '201212121 1 2');
    await close();
  });

  await test('the analysis shows policy, values, exact values, tree and course', async () => {
    const { page, close } = await open('/?game=mu_torere&p1=human&p2=az&level2=16', { media: { reducedMotion: 'reduce' } });
    await play(page, (legal) => legal[0]);
    await page.waitForFunction(() => Number(document.getElementById('board').dataset.ply) === 2);
    await page.click('#analyse');
    await page.waitForFunction(() => /exact value/.test(document.getElementById('known').textContent));
    await page.waitForFunction(() => /simulations/.test(document.getElementById('searched').textContent));
    assert.match(await page.textContent('#actions'), /kept|thrown away/);
    assert.ok((await page.locator('#board .overlay .label').count()) > 0);
    await page.click('#tree .fold >> nth=0');
    await page.waitForSelector('#tree ul li');
    assert.ok((await page.locator('#curve .dot').count()) >= 3);
    await picture(page, 'analysis');
    await close();
    const konane = await open('/?game=konane&param.size=4&p1=human&p2=alphabeta&analyse=1');
    await konane.page.waitForFunction(() => /exact value: Light wins/.test(document.getElementById('known').textContent));
    await konane.close();
  });

  await test('an agent without a tree is stopped at once', async () => {
    const { page, close } = await open('/?game=morabaraba&p1=alphabeta&p2=human&level1=10');
    await page.waitForFunction(() => document.getElementById('board').dataset.thinking === 'true');
    // A search in one piece does not notice a stop: its worker ends, which a search that is over does not cause.
    const [worker] = page.workers();
    const ended = new Promise((resolve) => worker.once('close', resolve));
    await page.selectOption('#kind0', 'random');
    await ended;
    await page.waitForFunction(() => document.getElementById('board').dataset.ply === '1');
    await close();
  });

  await test('layout and accessibility at 390 and 1280 pixels, light and dark', async () => {
    for (const game of GAMES) {
      for (const [width, height] of [[390, 844], [1280, 900]]) {
        for (const colorScheme of ['light', 'dark']) {
          // With the analysis once: it would keep the processor busy while the page is examined.
          const analysed = game === 'mu_torere';
          const { page, close } = await open(`/?game=${game}&p1=human&p2=human${analysed ? '&analyse=1' : ''}`, {
            size: { width, height }, media: { colorScheme, reducedMotion: 'reduce' },
          });
          for (let ply = 0; ply < 4; ply++) await play(page, (legal) => legal[(7 * ply) % legal.length]);
          if (analysed) await page.waitForFunction(() => document.querySelectorAll('#actions tr').length > 0);
          assert.equal(await overflow(page), 0, `${game} at ${width} pixels`);
          await accessible(page, `${game}, ${width}, ${colorScheme}`);
          await picture(page, `${game}-${width}-${colorScheme}`);
          await close();
        }
      }
    }
  });

  await test('charts show any values according to their axes', () => {
    const names = 'chart, figure, ranges, axis, counts, ticks, label, short, signed';
    const source = readFileSync(join(root, 'arena/src/page/chart.js'), 'utf8');
    const { chart, figure, ranges, axis, counts, ticks, label, short, signed } = new Function(`${source}; return { ${names} };`)();
    const labels = (scale) => ticks(scale).map((tick) => label(scale, tick));
    assert.deepEqual(labels(axis([0.13, 1.32])), ['0', '0.5', '1.0', '1.5']);
    assert.deepEqual(labels(axis([-300, 741])), ['−500', '0', '500', '1000']);
    assert.deepEqual(labels(axis([6000, 11000])), ['6k', '7k', '8k', '9k', '10k', '11k']);
    assert.deepEqual(labels(axis([2e-4, 2e-3])), ['0', '0.0005', '0.0010', '0.0015', '0.0020']);
    assert.deepEqual(labels(axis([])), labels(axis([null, Infinity, 0, 1])));
    assert.deepEqual([labels(counts([1, 360])), labels(counts([5]))], [['100', '200', '300'], ['4', '5', '6']]);
    for (const value of [0, 37, -2.5, 1e-7, 4e9]) assert.ok(labels(axis([value, value])).length >= 2, String(value));
    assert.deepEqual([0, 0.7321, 36.13, 10313.9, 4520786, 1e-4, Infinity].map(short), ['0', '0.732', '36.1', '10.3k', '4.52M', '1.0e−4', '+∞']);
    assert.deepEqual([0.2, -0.3, 12.4, -99.6, -Infinity].map(signed), ['+0', '+0', '+12', '−100', '−∞']);
    const of = (points, more = {}) => ({ title: 'a & <x>', unit: 'nats', x_unit: 'iteration', series: points.map((points) => ({ name: '<y>', points })), note: '<z>', ...more });
    for (const is_stacked of [false, true]) {
      for (const values of [[], [3], [3, 3, 3], [null], [1, null, 2, Infinity]]) {
        const drawn = figure(of([values.map((y, x) => [x, y])], { is_stacked }));
        assert.doesNotMatch(drawn, /NaN|Infinity|undefined|<[xyz]>|& /, drawn);
      }
    }
    const line = chart(of([[[0, 0], [1, 100]]], { y: [0, 100, 50] }));
    assert.match(line, /class="line c1" d="M50.0 178.0L370.0 20.0"/);
    const gap = chart(of([[[1, 1], [2, 2], [3, null], [4, 2], [5, 3]]]));
    assert.deepEqual([gap.split('class="line c1"').length, gap.split('class="tip"').length], [3, 5]);
    const won = chart(of([[[1, 100, 50, 150], [2, Infinity, 200, Infinity]]]));
    assert.match(won, /class="whisker c1" d="M370.0 \d/);
    assert.match(won, /\+∞ \[200, \+∞\]/);
    assert.match(chart(of([[[1, 30]], [[1, 70]]], { is_stacked: true })), /class="layer c2" d="M190.0 20.0L230.0 20.0L230.0 130.6/);
    const rated = ranges({ title: 'ratings', unit: 'Elo', ranges: [{ name: 'x'.repeat(60), value: 300, interval: [200, Infinity] }] });
    assert.match(rated, new RegExp(`>${'x'.repeat(49)}…<`));
    assert.match(rated, /\+300 \[\+200, \+∞\]/);
  });

  await test('a run is followed while it trains, and its checkpoint plays', async () => {
    // The settings of the smoke run, for longer.
    const train = (name, ...settings) => [
      'train', join(root, 'configs/smoke.toml'), '--run', join(runs, name), '--quiet', ...settings.flatMap((one) => ['--set', one]),
    ];
    native(turnstone, ...train('two', 'seed=5'));
    const training = spawn(turnstone, train('one', 'run.iterations=500'), { stdio: 'ignore' });
    try {
      const begin = Date.now();
      while (!existsSync(join(runs, 'one/metrics.jsonl'))) {
        assert.ok(training.exitCode === null && Date.now() - begin < 120_000, 'the run has begun');
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
      const one = await open('/runs/one', { wait: false });
      // The header and a curve change without a new load of the page.
      const seen = () => one.page.evaluate(() => {
        window.kept = true;
        return [document.getElementById('standing').textContent, document.querySelector('#learning')?.innerHTML ?? ''];
      });
      const [header, curve] = await seen();
      await one.page.waitForFunction(([before, drawn]) => window.kept
        && document.getElementById('standing').textContent !== before
        && (document.querySelector('#learning')?.innerHTML ?? '') !== drawn, [header, curve]);
      const standing = await one.page.evaluate(() => document.getElementById('standing').innerHTML);
      assert.match(standing, /iteration \d+ of 500: running(, [^<]+ left)?</, 'the lock tells that it runs');
      await one.close();
    } finally {
      await new Promise((resolve) => {
        training.once('exit', resolve);
        training.kill('SIGTERM');
      });
    }
    native(turnstone, 'arena', 'mancala', 'random', 'alphabeta:depth=2', 'mcts:sims=20', '--games', '4', '--out', join(runs, 'match'));
    native(turnstone, 'report', join(runs, 'two'), '--no-grade');
    for (const colorScheme of ['light', 'dark']) {
      const options = { wait: false, media: { colorScheme } };
      const look = async (page, name) => {
        for (const width of [390, 1280]) {
          await page.setViewportSize({ width, height: 900 });
          assert.equal(await overflow(page), 0, `${name} at ${width} pixels`);
          await accessible(page, `${name}, ${width}, ${colorScheme}`);
          await picture(page, `${name}-${width}-${colorScheme}`);
        }
      };
      const list = await open('/runs', options);
      assert.match(await list.page.textContent('table'), /one/);
      await look(list.page, 'runs');
      await list.page.check('input[value="one"]');
      await list.page.check('input[value="two"]');
      await list.page.click('button[type=submit]');
      await list.page.waitForSelector('#differences');
      assert.match(await list.page.textContent('#differences'), /seed/);
      await look(list.page, 'compare');
      await list.close();
      for (const name of ['match', 'two']) {
        const report = await open(`/runs/${name}/report.html`, options);
        await look(report.page, `report-${name}`);
        await report.close();
      }
      const one = await open('/runs/one', options);
      await look(one.page, 'run');
      await one.page.click('text=sample games');
      await one.page.waitForSelector('#game-1 svg');
      await look(one.page, 'games');
      await one.close();
    }
    const one = await open('/runs/one', { wait: false });
    await one.page.click('text=play against latest');
    await one.page.waitForSelector('body[data-ready]');
    assert.equal(await one.page.inputValue('#kind1'), 'az0');
    await play(one.page, (legal) => legal[0]);
    await one.page.waitForFunction(() => Number(document.getElementById('board').dataset.ply) >= 2);
    await one.close();
  });

  /** Exports a page with a program's agent and plays on it, from disk and from a server of static files. */
  async function exported(program, checkpoint, game, options, first) {
    const folder = mkdtempSync(join(tmpdir(), 'turnstone-page-'));
    const file = join(folder, 'page/index.html');
    native(program, 'export', checkpoint, '--game', game, '--format', 'page', ...options, '--out', dirname(file));
    const server = createServer((_, response) => response.setHeader('content-type', 'text/html').end(readFileSync(file)));
    await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
    for (const address of [pathToFileURL(file).href, `http://127.0.0.1:${server.address().port}/`]) {
      const page = await browser.context.newPage();
      const faults = [];
      page.on('console', (line) => { if (line.type() === 'error') faults.push(line.text()); });
      page.on('pageerror', (error) => faults.push(String(error)));
      page.on('request', (request) => {
        const url = request.url().split('?')[0];
        if (url !== address && !url.startsWith('data:') && !url.startsWith('blob:')) faults.push(`a request to ${url}`);
      });
      await page.goto(address);
      await page.waitForSelector('body[data-ready]');
      assert.deepEqual([await page.inputValue('#game'), await page.inputValue('#kind1')], [game, 'az0']);
      assert.equal(await page.isVisible('#game'), false, 'the page has one game');
      // The first move leaves the turn to the agent, which answers. A later one may be followed by another of the same side.
      let before = 1;
      await play(page, (legal) => legal.find(({ action }) => action === first));
      for (;;) {
        await page.waitForFunction((before) => {
          const { ply, mover, over, thinking, moving } = document.getElementById('board').dataset;
          return over === 'true' || (Number(ply) > before && mover === '0' && thinking !== 'true' && moving !== 'true');
        }, before);
        const now = await state(page);
        if (now.over === 'true' || Number(now.ply) >= 6) break;
        before = Number(now.ply);
        await play(page, (legal) => legal[0]);
      }
      await picture(page, `exported-${game}`);
      await page.close();
      assert.deepEqual(faults, [], `the console and the network are quiet at ${address}`);
    }
    server.close();
    rmSync(folder, { recursive: true });
  }

  await test('an exported page plays from a file and from any web server', () => exported(turnstone, 'az:pretrained', 'mancala', [], 'B2'));

  await test('a page that is a file takes no agent of another place', async () => {
    // The origin of a file is `null`, as that of data is.
    const folder = mkdtempSync(join(tmpdir(), 'turnstone-page-'));
    const file = join(folder, 'page/index.html');
    native(turnstone, 'export', 'az:pretrained', '--game', 'mu_torere', '--format', 'page', '--out', dirname(file));
    const agent = `data:application/octet-stream;base64,${readFileSync(checkpoint('mu_torere')).toString('base64')}`;
    for (const other of [agent, `${base}/agents/mu_torere.safetensors`, 'blob:null/0', 'about:blank']) {
      const page = await browser.context.newPage();
      const asked = [];
      page.on('request', (request) => asked.push(request.url()));
      await page.goto(`${pathToFileURL(file).href}?agent=${encodeURIComponent(other)}`);
      await page.waitForSelector('body[data-ready]');
      assert.match(await page.textContent('#fault'), /agent of the address cannot be used: it is not on the same server as the page\.$/, other.slice(0, 40));
      assert.ok(!asked.includes(other), 'it was not fetched');
      assert.equal((await state(page)).game, 'mancala', 'the first game, as the agent is not used');
      await play(page, (legal) => legal[0]);
      await page.close();
    }
    rmSync(folder, { recursive: true });
  });

  if (process.env.OWN && process.env.OWN_PROGRAM) {
    await test('a game of another crate is exported with an agent of its own', async () => {
      const own = process.env.OWN_PROGRAM;
      const run = join(runs, 'own');
      native(own, 'train', join(root, 'examples/own_game/connect_four.toml'), '--run', run, '--max-minutes', '0.05', '--quiet');
      await exported(own, run, process.env.OWN, ['--page', process.env.PAGE], '4');
    });
  }

  await test('the page opens again without a network', async () => {
    const { page, close } = await open('/?game=mancala&p1=human&p2=random');
    await page.evaluate(() => navigator.serviceWorker.ready);
    await page.waitForFunction(async () => {
      const cache = await caches.open('turnstone');
      const files = ['./', 'page.js', 'worker.js', 'style.css', 'turnstone.wasm'];
      return (await Promise.all(files.map((name) => cache.match(name)))).every((kept) => kept);
    });
    await close();
    await browser.context.setOffline(true);
    const again = await open('/?game=mancala&p1=human&p2=random', { media: { reducedMotion: 'reduce' } });
    await play(again.page, (legal) => legal[0]);
    await again.close();
    await browser.context.setOffline(false);
  });
}

await main();
