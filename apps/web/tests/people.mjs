// Tests of what a person does on the page: comes, plays, leaves and returns, shares, ends and reviews games.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { crc32 } from 'node:zlib';

const GAMES = ['mu_torere', 'mancala', 'morris', 'konane', 'morabaraba'];
const LAPTOP = { width: 1366, height: 768 };
const PHONE = { width: 390, height: 844 };
const CALM = { reducedMotion: 'reduce' };

const atPly = (page, ply) => page.waitForFunction((wanted) => document.getElementById('board').dataset.ply === String(wanted), ply);
const address = (page) => page.evaluate(() => location.search + location.hash);

/** Every position of a small game in which the players alternate, with its value for the player to move, by the program's rules alone. */
export function wholeGame(turnstone, game, param) {
  const shown = (lines) => execFileSync(turnstone, ['show', game, '--param', param, '--legal', '--stdin'], { input: `${lines.join('\n')}\n`, encoding: 'utf8', maxBuffer: 1 << 28 })
    .trim().split('\n').map((line) => JSON.parse(line));
  const known = new Map();
  // Level by level, one process each, then the values from the end.
  let level = [''];
  while (level.length > 0) {
    const next = new Map();
    shown(level).forEach(({ position, legal }, i) => {
      if (known.has(position)) return;
      known.set(position, { line: level[i], legal });
      for (const action of legal) next.set(`${position} ${action}`, `${level[i]} ${action}`.trim());
    });
    level = [...next.values()];
  }
  const lines = [...known.values()].flatMap(({ line, legal }) => legal.map((action) => `${line} ${action}`.trim()));
  const after = new Map(shown(lines).map(({ position }, i) => [lines[i], position]));
  const value = (position) => {
    const entry = known.get(position);
    if (entry.value === undefined) {
      entry.legal = entry.legal.map((action) => ({ action, value: -value(after.get(`${entry.line} ${action}`.trim())) }));
      entry.value = entry.legal.length === 0 ? -1 : Math.max(...entry.legal.map((one) => one.value));
    }
    return entry.value;
  };
  for (const position of known.keys()) value(position);
  return known;
}

const shipped = (game) => fileURLToPath(new URL(`../../../games/src/${game}/agent.safetensors`, import.meta.url));

/** A game's agent as a checkpoint of another game, with its checksum. */
function renamed(game, name) {
  const bytes = readFileSync(shipped(game));
  const end = 8 + Number(bytes.readBigUInt64LE(0));
  const { __metadata__: metadata, ...tensors } = JSON.parse(bytes.subarray(8, end));
  metadata['turnstone.game'] = name;
  let sum = 0;
  const add = (part) => { sum = crc32(part, sum); };
  const size = (number) => {
    const eight = Buffer.alloc(8);
    eight.writeBigUInt64LE(BigInt(number));
    add(eight);
  };
  const text = (word) => {
    size(Buffer.byteLength(word));
    add(word);
  };
  for (const key of Object.keys(metadata).sort()) {
    if (key === 'turnstone.checksum') continue;
    text(key);
    text(metadata[key]);
  }
  for (const key of Object.keys(tensors).sort()) {
    const { shape, data_offsets: [first, last] } = tensors[key];
    text(key);
    shape.forEach(size);
    add(bytes.subarray(end + first, end + last));
  }
  metadata['turnstone.checksum'] = sum.toString(16).padStart(8, '0');
  const header = Buffer.from(JSON.stringify({ __metadata__: metadata, ...tensors }));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  return Buffer.concat([length, header, bytes.subarray(end)]);
}

export async function people({ test, open, play, state, settled, picture, accessible, overflow, browser, base, native, turnstone, runs }) {
  await test('a first visit: a game to begin with, a beginner, and words', async () => {
    for (const size of [LAPTOP, PHONE]) {
      const { page, close } = await open('/runs', { wait: false, size, media: CALM });
      await page.evaluate(() => localStorage.clear());
      await page.goto(`${base()}/`);
      await page.waitForSelector('body[data-ready]');
      assert.equal((await state(page)).game, 'mancala');
      assert.deepEqual([await page.inputValue('#kind0'), await page.inputValue('#kind1')], ['human', 'level']);
      assert.equal(await page.inputValue('#level1'), '1', 'which a beginner can beat');
      const levels = await page.$$eval('#level1 option', (options) => options.map(({ textContent }) => textContent));
      assert.deepEqual([levels.length, levels[0], levels[7]], [8, 'level 1: beginner', 'level 8: expert']);
      assert.equal(await page.textContent('#status'), 'Your move');
      assert.equal(await page.isVisible('#no-moves'), true, 'the list says what to do');
      if (size === LAPTOP) assert.ok((await page.locator('.aside').boundingBox()).height > 300, 'the rules are beside the board');
      assert.equal(await overflow(page), 0);
      await picture(page, `first-${size.width}`);
      await play(page, (legal) => legal[0]);
      await settled(page);
      await close();
    }
  });

  await test('the page says what to do and why the game ended, in the words of each game', async () => {
    for (const [address, words] of [
      ['/?game=mu_torere', 'Dark to move: choose one of your stones: it moves to the empty point'],
      ['/?game=mancala', 'Player 1 to move: choose one of your pits to sow from'],
      ['/?game=mancala#moves=B4', 'Another turn. Player 1 to move: choose one of your pits to sow from'],
      ['/?game=morris', 'White to move: place a piece on a free point'],
      ['/?game=morris#moves=a0+g0+b1+f1+c2', 'Mill! White to move: remove one of the ringed pieces'],
      ['/?game=konane', 'Dark to move: remove one of the ringed stones'],
      ['/?game=konane#moves=remove(4,5)', 'Light to move: remove one of the ringed stones beside the gap'],
      ['/?game=konane#moves=remove(4,5)+remove(4,4)', 'Dark to move: choose a stone, then where it jumps'],
      ['/?game=morabaraba', 'Dark to move: place a cow on a free point'],
      ['/?game=morabaraba#moves=a1+g1+a4+g4+a7', 'Mill! Dark to move: shoot one of the ringed cows'],
      ['/?game=konane&param.size=4', /^(Dark|Light) cannot jump: (Dark|Light) has won$/],
      ['/?game=mancala&param.stones=1', /^(Player [12] has no stones left): (Player [12] has won by \d+|the game is drawn)$/],
      ['/?game=mu_torere', /^(Dark|Light) cannot move: (Dark|Light) has won$|^The game is drawn by the limit of moves$/],
    ]) {
      const [query, hash = ''] = address.split('#');
      const { page, close } = await open(`${query}&p1=human&p2=human#${hash}`, { media: CALM });
      const said = async () => ['#event', '#status', '#task'].reduce(async (text, id) => `${await text}${id === '#status' ? ' ' : ''}${await page.textContent(id)}`, '').then((text) => text.trim());
      if (typeof words === 'string') assert.equal(await said(), words);
      else {
        while ((await state(page)).over !== 'true') await play(page, (legal) => legal[(7 * legal.length) % 5 % legal.length]);
        assert.match(await said(), words);
        assert.equal(await page.textContent('#task'), '');
      }
      await close();
    }
    // To whom the page talks, and of what the computer does.
    const { page, close } = await open('/?game=mancala&p1=human&p2=random#moves=B4', { media: CALM });
    assert.equal(await page.textContent('#status'), 'Your move');
    await close();
  });

  await test('how to play has five sentences and four pictures, which are no places to press', async () => {
    for (const game of GAMES) {
      const { page, close } = await open(`/?game=${game}&p1=human&p2=human`, { size: LAPTOP, media: CALM });
      assert.equal(await page.locator('.lessons li').count(), 5, game);
      const marks = await page.$$eval('.lessons .board', (boards) => boards.map((board) => board.querySelectorAll('.last').length));
      assert.ok(marks.length === 4 && marks.every((count) => count > 0), `${game}: ${marks}`);
      assert.equal(await page.locator('.lessons button').count(), 0, 'the keyboard goes past them');
      await picture(page, `lessons-${game}`);
      await close();
    }
    // With other rules the positions are not there, and the sentences are.
    const { page, close } = await open('/?game=konane&param.size=6&p1=human&p2=human', { media: CALM });
    assert.deepEqual([await page.locator('.lessons li').count(), await page.locator('.lessons .board').count()], [5, 0]);
    await close();
  });

  /** Plays as the first side until the second one has played `count` moves. */
  const answered = async (page, count) => {
    for (;;) {
      await settled(page);
      await page.waitForFunction(() => {
        const { over, mover, thinking, moving } = document.getElementById('board').dataset;
        return over === 'true' || (mover === '0' && thinking !== 'true' && moving !== 'true');
      });
      const by = await page.$$eval('.move', (moves) => moves.length);
      if (by >= 2 * count || (await state(page)).over === 'true') return;
      await play(page, (legal) => legal[(3 * by) % legal.length]);
    }
  };

  await test('every game offers the measured levels of the program, which play', async () => {
    for (const game of GAMES) {
      const ladder = readFileSync(new URL(`../../../games/src/${game}/ladder.toml`, import.meta.url), 'utf8');
      const measured = [...ladder.split('[levels]\n')[1].matchAll(/^\d+ = (.*)$/gm)].map(([, level]) => JSON.parse(level));
      const { page, close } = await open(`/?game=${game}&p1=human&p2=level:8`, { size: PHONE, media: CALM });
      const shown = await page.$$eval('#level1 option', (options) => options.map(({ value, title }) => [value, /\d+/.exec(title)[0]]));
      assert.deepEqual(shown, measured.map(([, elo], i) => [String(i + 1), String(elo)]), game);
      for (const level of [8, 1]) {
        await page.selectOption('#level1', String(level));
        assert.equal((await address(page)).includes(`&p2=level:${level}`), true);
        const agent = await page.evaluate(() => window.turnstone.agents()[1]);
        assert.equal(agent.spec, measured[level - 1][0], `${game}, level ${level}`);
        const before = await page.$$eval('.move', (moves) => moves.length);
        await answered(page, before / 2 + 2);
      }
      await close();
    }
  });

  await test('levels follow the game and its rules, and stay as they were chosen', async () => {
    for (const size of [LAPTOP, PHONE]) {
      const { page, close } = await open('/?game=mancala&p1=human&p2=level:3', { size, media: CALM });
      assert.deepEqual([await page.inputValue('#kind1'), await page.inputValue('#level1')], ['level', '3']);
      assert.equal(await page.isHidden('#fault'), true);
      await page.reload();
      await page.waitForSelector('body[data-ready]');
      assert.equal(await page.inputValue('#level1'), '3', 'after a reload, too');
      assert.match(await page.getAttribute('#level1', 'title'), /^measured: \d+ Elo/);
      await picture(page, `levels-${size.width}`);
      // The levels are for the standard rules, as the network is.
      await page.fill('#fields [name="stones"]', '3');
      await page.click('#params button[type=submit]');
      await page.waitForFunction(() => document.getElementById('board').dataset.position.startsWith('3,3'));
      assert.equal(await page.locator('#kind1 option[value="level"]').count(), 0);
      assert.equal(await page.inputValue('#kind1'), 'alphabeta');
      await page.selectOption('#game', 'konane');
      await page.waitForFunction(() => document.getElementById('board').dataset.game === 'konane');
      await page.waitForFunction(() => document.getElementById('kind1').value === 'level');
      assert.equal(await page.inputValue('#level1'), '3', 'as it was chosen');
      // Full strength is there beside them, and sides can be swapped.
      await page.selectOption('#kind1', 'az0');
      assert.equal(await page.inputValue('#level1'), '200');
      await page.selectOption('#kind1', 'level');
      await page.click('#swap');
      assert.deepEqual([await page.inputValue('#kind0'), await page.inputValue('#level0')], ['level', '3']);
      assert.equal(await overflow(page), 0);
      await accessible(page, 'levels');
      await close();
    }
  });

  await test('board and buttons are above the fold at 1366x768', async () => {
    for (const game of GAMES) {
      for (const clock of ['', '&clock=5']) {
        const { page, close } = await open(`/?game=${game}&p1=human&p2=human${clock}`, { size: LAPTOP, media: CALM });
        for (const id of ['#board', '#seat0', '#status', '#undo', '#hint', '#resign', '#analyse']) {
          const box = await page.locator(id).boundingBox();
          assert.ok(box.y >= 0 && box.y + box.height <= LAPTOP.height, `${id} of ${game} ends at ${box.y + box.height}`);
        }
        const { width, height } = await page.locator('#board').boundingBox();
        assert.ok(Math.max(width, height) >= 440, `${game} is ${width} x ${height}`);
        await close();
      }
    }
  });

  await test('on a small phone and on its side all that a move needs is above the fold', async () => {
    for (const size of [{ width: 360, height: 640 }, { width: 844, height: 390 }]) {
      for (const game of GAMES) {
        const { page, close } = await open(`/?game=${game}&p1=human&p2=level:1`, { size, media: CALM });
        for (const id of ['#board', '#seat0', '#seat1', '#status', '#task', '#hint']) {
          const box = await page.locator(id).boundingBox();
          assert.ok(box.y >= 0 && box.y + box.height <= size.height, `${id} of ${game} ends at ${box.y + box.height} of ${size.height}`);
        }
        assert.equal(await overflow(page), 0, game);
        await accessible(page, `${game} at ${size.width}x${size.height}`);
        await picture(page, `small-${size.width}-${game}`);
        await close();
      }
    }
  });

  await test('the board is seen from the side of the person, or as it is turned by hand', async () => {
    for (const size of [LAPTOP, PHONE]) {
      for (const game of GAMES) {
        const { page, close } = await open(`/?game=${game}&p1=human&p2=level:1`, { size, media: CALM });
        const seen = () => page.evaluate(() => {
          const middle = (id) => { const { x, y, width, height } = document.querySelector(id).getBoundingClientRect(); return [x + width / 2, y + height / 2]; };
          const [x, y] = middle('#board');
          const [u, v] = middle('.point[data-point="0"]');
          return { first: [Math.round(u - x), Math.round(v - y)], below: middle('#seat0')[1] > y, above: middle('#seat1')[1] > y };
        });
        const near = (a, b) => a.every((number, i) => Math.abs(number - b[i]) <= 3);
        const before = await seen();
        assert.ok(before.below && !before.above, game);
        await page.click('#swap');
        await page.waitForFunction(() => document.querySelector('.play').classList.contains('flipped'));
        const after = await seen();
        assert.ok(!after.below && after.above, `${game}: the person is below`);
        assert.ok(near(after.first, before.first.map((number) => -number)), `${game}: ${before.first} and ${after.first}`);
        await page.click('#flip');
        assert.ok(near((await seen()).first, before.first), `${game}: turned back by hand`);
        await page.click('#flip');
        await close();
        // A turned board is played on as any other: by its points and by keys.
        const turned = await open(`/?game=${game}&p1=human&p2=human`, { size, media: CALM });
        await turned.page.click('#flip');
        const focus = await turned.page.evaluate(() => {
          document.querySelector('.point[tabindex="0"]').focus();
          return document.activeElement.getBoundingClientRect().y;
        });
        await turned.page.keyboard.press(focus > size.height / 3 ? 'ArrowUp' : 'ArrowDown');
        const now = await turned.page.evaluate(() => document.activeElement.getBoundingClientRect().y);
        assert.ok(now !== focus && (now < focus) === (focus > size.height / 3), `${game}: from ${focus} to ${now}`);
        for (let ply = 0; ply < 4; ply++) await play(turned.page, (legal) => legal[(5 * ply) % legal.length]);
        if (size === PHONE) await picture(turned.page, `turned-${game}`);
        await turned.close();
      }
    }
    // Upright on a phone, where the pits then are half as large again.
    const { page, close } = await open('/?game=mancala&p1=human&p2=human', { size: PHONE, media: CALM });
    const { width, height } = await page.locator('#board').boundingBox();
    assert.ok(height > 1.5 * width, `${width} x ${height}`);
    assert.ok((await page.locator('.point').first().boundingBox()).width >= 44);
    assert.equal(await page.locator('#board .drawing text', { hasText: 'store' }).count(), 2);
    await close();
    // The numbers of the pits and stores, however long, are beside the board and not cut off.
    for (const p1 of ['human', 'random']) {
      const full = await open(`/?game=mancala&p1=${p1}&p2=human#position=${encodeURIComponent('0,1,0,0,1,0/22 0,0,1,0,0,1/22 2')}`, { size: PHONE, media: CALM });
      const { left, right, edges, texts } = await full.page.$eval('#board .drawing svg', (svg) => {
        const box = (shape) => { const { left, right } = shape.getBoundingClientRect(); return { left, right }; };
        return { ...box(svg.querySelectorAll('rect')[1]), edges: box(svg), texts: [...svg.querySelectorAll('text')].map(box) };
      });
      assert.equal(texts.length, 14);
      for (const text of texts) assert.ok(text.right < left || text.left > right, `a text from ${text.left} to ${text.right} on the board from ${left} to ${right}`);
      for (const text of texts) assert.ok(text.left >= edges.left && text.right <= edges.right, 'a text is cut off');
      await full.close();
    }
  });

  await test('texts and settings are folded away, and stay as they were left', async () => {
    const { page, close } = await open('/?game=mancala', { media: CALM });
    await page.evaluate(() => ['as-text', 'settings'].forEach((id) => localStorage.setItem(id, '')));
    await page.reload();
    await page.waitForSelector('body[data-ready]');
    assert.deepEqual([await page.isVisible('#text'), await page.isVisible('#minutes')], [false, false]);
    // Browsers tell of an opened section a moment later, and only then is it kept.
    const unfold = async (id) => {
      await page.click(`#${id} summary`);
      await page.waitForFunction((kept) => localStorage.getItem(kept) === 'open', id);
    };
    await unfold('settings');
    await page.selectOption('#sound', 'on');
    await page.reload();
    await page.waitForSelector('body[data-ready]');
    assert.deepEqual([await page.isVisible('#minutes'), await page.inputValue('#sound')], [true, 'on']);
    await page.selectOption('#sound', 'off');
    await unfold('as-text');
    await close();
  });

  await test('points on a phone are as large as the board has room for', async () => {
    const least = { mu_torere: 40, mancala: 32, morris: 27, konane: 35, morabaraba: 40 };
    for (const game of GAMES) {
      const { page, close } = await open(`/?game=${game}&p1=human&p2=human`, { size: PHONE, media: CALM });
      const { width } = await page.locator('.point').first().boundingBox();
      assert.ok(width >= least[game], `a point of ${game} has ${width} pixels`);
      await picture(page, `points-${game}`);
      await close();
    }
    // Where there is no room, a press beside a point that can be played is meant for it.
    const { page, close } = await open('/?game=konane&param.size=16&p1=human&p2=human', { size: PHONE, media: CALM });
    const [{ action, clicks }] = await page.evaluate(() => window.turnstone.legal());
    const box = await page.locator(`.point[data-point="${clicks[0]}"]`).boundingBox();
    assert.ok(box.width > 19.5, `${box.width} pixels`);
    await page.mouse.click(box.x + box.width / 2 + 14, box.y + box.height / 2 + 12);
    await atPly(page, 1);
    assert.deepEqual(await page.evaluate(() => window.turnstone.moves()), [action]);
    assert.equal(await overflow(page), 0);
    await picture(page, 'points-konane-16');
    await close();
  });

  await test('an address with unknown values says so and falls back', async () => {
    const cases = [
      ['/?game=chess', /no game “chess”; this is Mancala/, 'mancala'],
      // Moves of another game mean nothing, although they are legal in this one.
      ['/?game=chess&p2=human#moves=B4', /no game “chess”; this is Mancala/, 'mancala'],
      ['/?game=konane&param.size=7', /even.*this is Konane with its standard rules/, 'konane'],
      ['/?game=konane&param.colour=7', /colour.*standard rules/, 'konane'],
      ['/?game=morris&p2=bogus', /Nobody is called “bogus”; player 2 is computer, level 1: beginner/, 'morris'],
      ['/?game=morris&p2=level:9', /no strength “level:9” for player 2; it plays as computer, level 1: beginner/, 'morris'],
      ['/?game=morris&p2=level:x', /no strength “level:x” for player 2/, 'morris'],
      ['/?game=morris&p2=az:3', /Nobody is called “az:3”/, 'morris'],
      ['/?game=morris&p2=az&level2=17', /no strength “17” for player 2/, 'morris'],
      ['/?game=morris&clock=7', /no clock of “7” minutes/, 'morris'],
      ['/?game=morris&p2=human#position=nonsense', /position of the address cannot be read/, 'morris'],
      ['/?game=morris&p2=human#moves=a0+g0+a0', /played up to a fault: move 3: a0 is not legal here/, 'morris'],
    ];
    for (const [query, words, game] of cases) {
      const { page, close } = await open(query, { media: CALM });
      assert.match(await page.textContent('#fault'), words, query);
      assert.deepEqual([(await state(page)).game, (await state(page)).ply], [game, query.includes('a0+g0+a0') ? '2' : '0'], query);
      // The page plays, whatever was asked for.
      await play(page, (legal) => legal[0]);
      await close();
    }
    const { page, close } = await open('/?game=morris&p1=human&p2=human#moves=a0+g0', { media: CALM });
    assert.equal(await page.isHidden('#fault'), true, 'known values bring no message');
    await close();
  });

  await test('a game survives a reload, and its address opens it elsewhere', async () => {
    const { page, close } = await open('/?game=konane&param.size=6&p1=human&p2=human&clock=10', { media: CALM });
    for (let ply = 0; ply < 5; ply++) await play(page, (legal) => legal[(3 * ply) % legal.length]);
    await page.waitForFunction(() => !['10:00', '9:59'].includes(document.getElementById('clock1').textContent));
    await page.click('#back');
    const [before, moves, link] = [await state(page), await page.evaluate(() => window.turnstone.moves()), await address(page)];
    assert.match(link, /^\?game=konane&param\.size=6&p1=human&p2=human&clock=10#moves=x[a-f]\d\+/);
    const clock = await page.textContent('#clock1');
    await page.reload();
    await page.waitForSelector('body[data-ready]');
    assert.deepEqual(await page.evaluate(() => window.turnstone.moves()), moves);
    assert.deepEqual([(await state(page)).position, (await state(page)).ply], [before.position, '4']);
    assert.equal(await page.textContent('#clock1'), clock, 'the clocks go on from where they were');
    await close();
    const other = await open(`/${link}`, { media: CALM });
    assert.equal((await state(other.page)).position, before.position);
    assert.equal(await other.page.inputValue('#minutes'), '10');
    // Another link in the same window.
    await other.page.evaluate(() => { location.hash = '#moves=remove(6,1)+remove(6,2)'; });
    await atPly(other.page, 2);
    await other.close();
    const again = await open('/', { media: CALM });
    assert.deepEqual(await again.page.evaluate(() => window.turnstone.moves()), ['xa6', 'xb6'], 'a visit without an address shows the game that was left');
    await again.close();
  });

  await test('a share link is copied, and long games stay links', async () => {
    await browser().context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: base() });
    const { page, close } = await open('/?game=mancala&p1=human&p2=human#moves=B4+B7', { media: CALM });
    await page.click('#share');
    const link = await page.evaluate(() => navigator.clipboard.readText());
    assert.equal(link, `${base()}/?game=mancala&p1=human&p2=human#moves=B4+B7`);
    await close();
  });

  await test('the end of a game: banner, rematch with the sides swapped, resigning', async () => {
    const end = await open('/?game=konane&param.size=4&p1=human&p2=random', { media: CALM, size: LAPTOP });
    for (;;) {
      await settled(end.page);
      await end.page.waitForFunction(() => {
        const { over, mover } = document.getElementById('board').dataset;
        return over === 'true' || mover === '0';
      });
      if ((await state(end.page)).over === 'true') break;
      await play(end.page, (legal) => legal[0]);
    }
    assert.match(await end.page.textContent('#status'), /^(Light|Dark) cannot jump: you have (won|lost: Light has won)$/);
    for (const id of ['#rematch', '#review-start']) {
      const box = await end.page.locator(id).boundingBox();
      assert.ok(box.y + box.height <= LAPTOP.height, `${id} is above the fold`);
    }
    await accessible(end.page, 'the end of a game');
    await picture(end.page, 'end');
    await end.page.click('#rematch');
    await end.page.waitForFunction(() => document.getElementById('board').dataset.over === 'false');
    assert.deepEqual([await end.page.inputValue('#kind0'), await end.page.inputValue('#kind1')], ['random', 'human']);
    await end.page.waitForFunction(() => document.getElementById('board').dataset.ply === '1');
    await end.page.click('#resign');
    assert.equal((await state(end.page)).over, 'false', 'one press does not resign');
    await end.page.click('#resign');
    assert.equal(await end.page.textContent('#status'), 'You have resigned: Dark has won');
    await end.page.reload();
    await end.page.waitForSelector('body[data-ready]');
    assert.equal(await end.page.textContent('#status'), 'You have resigned: Dark has won', 'after a reload, too');
    await end.close();
  });

  await test('a hint shows the best move', async () => {
    const { page, close } = await open('/?game=mu_torere&p1=human&p2=human', { media: CALM });
    await page.click('#hint');
    await page.waitForFunction(() => /^Hint: \d-\d, chance to win \d+ %$/.test(document.getElementById('thinking').textContent));
    assert.equal(await page.locator('#board .overlay .arrow.advice').count(), 1);
    assert.equal(await page.locator('.point[aria-label*="hint"]').count(), 2);
    await picture(page, 'hint');
    await play(page, (legal) => legal[0]);
    assert.equal(await page.locator('#board .overlay .advice').count(), 0);
    await close();
    // Where one move wins and the others lose, for both sides.
    const values = [...wholeGame(turnstone, 'konane', 'size=4')].filter(([, { legal }]) => legal.filter(({ value }) => value === 1).length === 1 && legal.length > 2);
    for (const side of ['X', 'O']) {
      const [position, { legal }] = values.find(([text]) => text.endsWith(side));
      const best = legal.find(({ value }) => value === 1).action;
      const known = await open(`/?game=konane&param.size=4&p1=human&p2=human#position=${encodeURIComponent(position)}`, { media: CALM });
      await known.page.click('#hint');
      await known.page.waitForFunction(() => /^Hint: .*, chance to win 100 %$/.test(document.getElementById('thinking').textContent));
      const clicks = (await known.page.evaluate(() => window.turnstone.legal())).find(({ written }) => written === best).clicks;
      const shown = await known.page.$$eval('.point[aria-label*="hint"]', (points) => points.map(({ dataset }) => Number(dataset.point)));
      assert.deepEqual(shown, clicks.toSorted((a, b) => a - b), `${best} in ${position}`);
      await known.close();
    }
  });

  await test('games are saved as files that the program writes too, and opened', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'turnstone-files-'));
    try {
      const { page, close } = await open('/?game=konane&param.size=6&p1=human&p2=human', { media: CALM });
      for (let ply = 0; ply < 4; ply++) await play(page, (legal) => legal[0]);
      const [downloaded] = await Promise.all([page.waitForEvent('download'), page.click('#download')]);
      assert.match(downloaded.suggestedFilename(), /^konane-\d{4}-\d\d-\d\d\.json$/);
      const path = join(folder, 'game.json');
      await downloaded.saveAs(path);
      const saved = JSON.parse(readFileSync(path, 'utf8'));
      // A file has the notation of the source.
      assert.match(saved.moves[0], /^remove\(\d,\d\)$/);
      const moves = await page.evaluate(() => window.turnstone.moves());
      assert.match(moves[0], /^x[a-f]\d$/);
      const shown = JSON.parse(native('show', 'konane', '--param', 'size=6', '--moves', saved.moves.join(' '), '--json'));
      assert.deepEqual([saved.game, saved.params.size, saved.position, saved.outcome], ['konane', '6', shown.position, null]);
      await page.click('#new');
      await atPly(page, 0);
      await page.setInputFiles('#file', path);
      await atPly(page, 4);
      assert.deepEqual(await page.evaluate(() => window.turnstone.moves()), moves);
      // Damaged, of another kind, illegal: a line, and the game stays.
      for (const [text, words] of [['{"game":', /game\.json cannot be read/], ['{"x": 1}', /no game and no moves/],
        [JSON.stringify({ ...saved, moves: ['remove(6,1)', 'remove(6,1)'] }), /move 2: remove\(6,1\) is not legal/], ['', /no text/]]) {
        writeFileSync(path, text);
        await page.setInputFiles('#file', path);
        await page.waitForFunction((source) => new RegExp(source).test(document.getElementById('fault').textContent), words.source);
        assert.equal((await state(page)).ply, '4');
      }
      await close();
      // A game from a position of its own, which somebody has resigned: the program reads it, and the page opens it again.
      const start = '0,4,4,4,4,4/4 4,4,4,4,4,4/0 1';
      const ended = await open(`/?game=mancala&p1=human&p2=human#position=${start.replaceAll(' ', '+')}&moves=B4`, { media: CALM });
      const before = await state(ended.page);
      for (let press = 0; press < 2; press++) await ended.page.click('#resign');
      const [file] = await Promise.all([ended.page.waitForEvent('download'), ended.page.click('#download')]);
      await file.saveAs(path);
      const [record, read] = [JSON.parse(readFileSync(path, 'utf8')), JSON.parse(native('show', '--from', path, '--json'))];
      assert.deepEqual([record.start, record.moves, record.resigned, record.players], [start, ['B4'], Number(before.mover) + 1, ['a person', 'a person']]);
      assert.equal(read.position, before.position);
      const banner = await ended.page.textContent('#status');
      assert.match(banner, /has resigned/);
      await ended.page.click('#new');
      await atPly(ended.page, 0);
      await ended.page.setInputFiles('#file', path);
      await atPly(ended.page, 1);
      assert.deepEqual([await ended.page.textContent('#status'), (await state(ended.page)).position], [banner, before.position]);
      await ended.close();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  await test('moves and points are written as people say them', async () => {
    const { page, close } = await open('/?game=konane&p1=human&p2=human#moves=remove(8,1)+remove(8,2)+jump(6,1,8,1)', { media: CALM });
    assert.deepEqual(await page.$$eval('.move', (moves) => moves.map(({ textContent }) => textContent)), ['xa8', 'xb8', 'a6-a8']);
    assert.match(await page.getAttribute('.point[data-point="0"]', 'aria-label'), /^a8: /);
    assert.ok((await page.$$eval('#board .drawing text', (texts) => texts.map(({ textContent }) => textContent))).includes('h'));
    assert.deepEqual(await page.$$eval('.legal', (legal) => legal.map(({ textContent }) => textContent).filter((text) => /[(),]/.test(text))), []);
    // What people write is read, too.
    await page.fill('#text', 'xa8 xb8 a6-a8 c7-a7');
    await page.click('#load');
    await atPly(page, 4);
    assert.equal((await page.evaluate(() => window.turnstone.moves()))[3], 'c7-a7');
    assert.equal(await page.evaluate(() => location.hash), '#moves=xa8+xb8+a6-a8+c7-a7');
    // Chips have the colours of the stones.
    assert.deepEqual(await page.$$eval('.move', (moves) => moves.map(({ classList }) => classList.contains('dark'))), [true, false, true, false]);
    await close();
  });

  await test('the analysis speaks of chances, and lines that are cut end with dots', async () => {
    const { page, close } = await open('/?game=morabaraba&p1=human&p2=human&analyse=1', { size: LAPTOP, media: CALM });
    await page.waitForFunction(() => /^Chance to win: Dark \d+ %, White \d+ %$/.test(document.getElementById('value').textContent));
    const lines = await page.evaluate(() => [...document.querySelectorAll('td.line')].map(({ textContent }) => textContent));
    assert.ok(lines.length > 0 && lines.every((text) => text.endsWith('…')), lines.join('; '));
    const style = await page.evaluate(() => getComputedStyle(document.querySelector('td.line')).textOverflow);
    assert.equal(style, 'ellipsis');
    const texts = await Promise.all(['#note0', '#note1'].map((id) => page.textContent(id)));
    assert.deepEqual(texts, ['12 in hand, 0 lost', '12 in hand, 0 lost'], 'beside the players');
    await close();
    const random = await open('/?game=mancala&p1=random&p2=random', { media: CALM });
    await random.page.evaluate(() => {
      window.said = [];
      new MutationObserver(() => window.said.push(document.getElementById('thinking').textContent))
        .observe(document.getElementById('thinking'), { childList: true, characterData: true, subtree: true });
    });
    await random.page.waitForFunction(() => Number(document.getElementById('board').dataset.ply) >= 3);
    const said = await random.page.evaluate(() => window.said);
    assert.ok(said.includes('thinking') && said.every((text) => !/\d/.test(text)), said.join('; '));
    await random.close();
  });

  await test('a review marks the moves by exact values where they are known', async () => {
    const { page, close } = await open('/?game=konane&param.size=4&p1=human&p2=human', { size: LAPTOP, media: CALM });
    for (let ply = 0; (await state(page)).over !== 'true'; ply++) await play(page, (legal) => legal[(5 * ply + 1) % legal.length]);
    await page.click('#review-start');
    await page.waitForSelector('#review[data-done]');
    await page.waitForFunction(() => document.getElementById('review-progress').textContent === '');
    const [moves, positions] = await page.evaluate(() => [window.turnstone.written(), window.turnstone.positions()]);
    const marks = await page.$$eval('.move', (all) => all.map(({ dataset }) => dataset.mark));
    const values = wholeGame(turnstone, 'konane', 'size=4');
    for (const [ply, move] of moves.entries()) {
      const { legal, value } = values.get(positions[ply]);
      const best = Math.max(...legal.map(({ value }) => value));
      const others = legal.filter(({ action }) => action !== move);
      const kept = legal.find(({ action }) => action === move).value === best;
      assert.equal(best, value);
      const expected = !kept ? '??' : others.length > 0 && others.every((other) => other.value < best) ? '!' : '✓';
      assert.equal(marks[ply], expected, `${move} at ply ${ply + 1} in ${positions[ply]}`);
    }
    assert.match(await page.textContent('#review-facts'), /Dark: .*Light: /);
    assert.match(await page.textContent('#review-source'), /^Exact values for \d+ of \d+ moves/);
    await accessible(page, 'a review');
    await picture(page, 'review-exact');
    await close();
  });

  await test('a review of a game without exact values has moments, and better lines to play on from', async () => {
    for (const size of [LAPTOP, PHONE]) {
      const { page, close } = await open('/?game=mancala&p1=human&p2=human', { size, media: CALM });
      for (let ply = 0; (await state(page)).over !== 'true'; ply++) await play(page, (legal) => legal[(3 * ply) % legal.length]);
      const moves = await page.evaluate(() => window.turnstone.moves());
      await page.click('#review-start');
      await page.waitForSelector('#review[data-done]');
      const marks = await page.$$eval('.move', (all) => all.map(({ dataset }) => dataset.mark));
      assert.ok(marks.some((mark) => mark.startsWith('?')), marks.join(' '));
      const file = join(mkdtempSync(join(tmpdir(), 'turnstone-game-')), 'moves.txt');
      writeFileSync(file, `${moves.join(' ')}\n`);
      const agent = ['--agent', 'az:pretrained,sims=200,method=puct'];
      const program = JSON.parse(native('review', file, 'mancala', '--json', ...agent));
      // The page knows endings exactly, without tables.
      const known = marks.findIndex((mark) => mark === '✓');
      const searched = marks.slice(0, known < 0 ? marks.length : known);
      assert.ok(searched.length >= 10, marks.join(' '));
      // The judgement is the same; the searches are not, since the page keeps its tree from position to position.
      const equal = searched.filter((mark, ply) => mark === (program.moves[ply].mark ?? '')).length;
      assert.ok(equal >= 0.75 * searched.length, `${equal} of ${searched.length} marks are those of turnstone review: ${searched.join(' ')}`);
      const moments = await page.locator('.moment').count();
      assert.ok(moments >= 2 && moments <= 3, `${moments} moments`);
      assert.ok((await page.locator('#review-curve .dot').count()) > moves.length / 2);
      await accessible(page, 'the moments of a review');
      assert.equal(await overflow(page), 0);
      await picture(page, `review-${size.width}`);
      const ply = Number(await page.getAttribute('.moment', 'data-ply'));
      const line = (await page.getAttribute('.moment [data-line]', 'data-line')).split(' ');
      await page.click('.moment button >> nth=0');
      await atPly(page, ply);
      await page.click('.moment [data-line] >> nth=0');
      await atPly(page, ply + 1);
      assert.deepEqual(await page.evaluate(() => window.turnstone.moves()), [...moves.slice(0, ply), ...line]);
      await page.click('#resume');
      if ((await state(page)).over !== 'true') await play(page, (legal) => legal[0]);
      await page.click('#back-to-game');
      await page.waitForFunction((count) => document.querySelectorAll('.move').length === count, moves.length);
      assert.deepEqual(await page.evaluate(() => window.turnstone.moves()), moves);
      await close();
    }
  });

  await test('an agent of the address whose file is missing is named', async () => {
    // The browser writes the missing file to its console.
    const page = await browser().context.newPage();
    await page.goto(`${base()}/?agent=agents/none.safetensors`);
    await page.waitForSelector('body[data-ready]');
    assert.match(await page.textContent('#fault'), /agent of the address cannot be used: the file .*none\.safetensors cannot be loaded \(404\)/);
    assert.deepEqual([(await state(page)).game, await page.inputValue('#kind1')], ['mancala', 'level']);
    await play(page, (legal) => legal[0]);
    await page.close();
  });

  await test('agents of unknown games and of other places are named, and the page plays without them', async () => {
    const folder = join(runs, 'strangers');
    mkdirSync(folder);
    try {
      writeFileSync(join(folder, 'latest.safetensors'), renamed('mu_torere', 'hex'));
      const elsewhere = base().replace(/\d+$/, (port) => String(Number(port) ^ 1));
      for (const [agent, words] of [
        ['runs/strangers/latest.safetensors', /^The agent of the address cannot be used: it was trained for “hex”, a game that this page does not have\.$/],
        [`${elsewhere}/agents/mancala.safetensors`, /cannot be used: it is not on the same server as the page\.$/],
        ['data:application/octet-stream;base64,AAAA', /cannot be used: it is not on the same server as the page\.$/],
        ['blob:null/0', /cannot be used: it is not on the same server as the page\.$/],
        ['http://', /cannot be used: .+/],
        ['index.html', /cannot be used: .+/],
      ]) {
        const { page, close } = await open(`/?agent=${encodeURIComponent(agent)}&name=x`, { media: CALM });
        assert.match(await page.textContent('#fault'), words, agent.slice(0, 60));
        assert.deepEqual([(await state(page)).game, await page.inputValue('#kind1')], ['mancala', 'level']);
        await play(page, (legal) => legal[0]);
        await close();
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  await test('texts that are far too long are refused at once, in a line', async () => {
    const { page, close } = await open('/?game=mancala&p1=human&p2=human#moves=B4', { media: CALM });
    const moves = (count) => Array.from({ length: count }, (_, i) => (i % 2 === 0 ? 'B4' : 'A3'));
    for (const [name, text, words] of [
      ['moves', moves(200_000).join(' '), /the game has 200000 moves, and at most 1000 are read/],
      ['moves in lines', moves(1001).join('\n'), /the game has 1001 moves, and at most 1000 are read/],
      ['a game', JSON.stringify({ game: 'mancala', moves: moves(100_000) }), /the game has 100000 moves, and at most 1000 are read/],
      ['a text of 20 MB', 'x'.repeat(20_000_000), /it is larger than 1 MB/],
      ['one word', 'x'.repeat(900_000), /cannot be read: /],
      ['a position', `${'4,'.repeat(400_000)}4/0 4/0 1`, /cannot be read: /],
      ['a start', JSON.stringify({ game: 'mancala', start: '4,'.repeat(400_000), moves: [] }), /cannot be read: /],
      ['a parameter', JSON.stringify({ game: 'mancala', params: { stones: '9'.repeat(900_000) }, moves: [] }), /cannot be read: /],
      ['a game of another name', JSON.stringify({ game: 'x'.repeat(900_000), moves: [] }), /cannot be read: /],
      ['one move', JSON.stringify({ game: 'mancala', moves: ['x'.repeat(900_000)] }), /cannot be read: move 1: /],
      ['deep brackets', `{"a":${'['.repeat(900_000)}`, /cannot be read: /],
    ]) {
      const took = await page.evaluate((pasted) => {
        const begin = performance.now();
        const data = new DataTransfer();
        data.setData('text/plain', pasted);
        document.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data }));
        return performance.now() - begin;
      }, text);
      const said = await page.textContent('#fault');
      assert.match(said, words, name);
      assert.ok(said.length < 600, `${name}: ${said.length} characters`);
      // Far less than the five seconds that it took to play them; other work may share the processor.
      assert.ok(took < 1500, `${name}: ${took} ms`);
      assert.deepEqual(await page.evaluate(() => window.turnstone.moves()), ['B4'], name);
    }
    await page.evaluate((hash) => { location.hash = hash; }, `#moves=${moves(5000).join('+')}`);
    await page.waitForFunction(() => /5000 moves, and at most 1000 are read/.test(document.getElementById('fault').textContent));
    await close();
  });

  await test('the page can be installed', async () => {
    const { page, close } = await open('/?game=mancala&p1=human&p2=human', { media: CALM });
    const manifest = await page.evaluate(async () => {
      const response = await fetch(document.querySelector('link[rel=manifest]').href);
      const { start_url, display, icons } = await response.json();
      const types = await Promise.all(icons.map(async ({ src }) => (await fetch(src)).headers.get('content-type')));
      return { type: response.headers.get('content-type'), start_url, display, icons: icons.map(({ type }) => type), types };
    });
    assert.equal(manifest.type, 'application/manifest+json');
    assert.deepEqual([manifest.start_url, manifest.display], ['./', 'standalone']);
    assert.deepEqual(manifest.types, manifest.icons);
    const session = await page.context().newCDPSession(page);
    const { installabilityErrors } = await session.send('Page.getInstallabilityErrors');
    // A profile without disk does not install anything; nothing else may stand in the way.
    assert.deepEqual(installabilityErrors.filter(({ errorId }) => errorId !== 'in-incognito'), []);
    await close();
  });

  await test('in edit mode every point can be pressed, and faults are shown where the eye is', async () => {
    const inView = async (page, id) => {
      const box = await page.locator(id).boundingBox();
      return box !== null && box.y >= 0 && box.y + box.height <= PHONE.height;
    };
    const closed = (page) => page.$$eval('.point', (points) => points.filter((point) => point.getAttribute('aria-disabled') !== 'false').length);
    for (const [game, line] of [['mu_torere', ''], ['morris', '#moves=a0+g0'], ['konane', '#moves=remove(8,1)'], ['morabaraba', '#moves=a7']]) {
      const { page, close } = await open(`/?game=${game}&p1=human&p2=human${line}`, { media: CALM, size: PHONE });
      const before = await closed(page);
      assert.ok(before > 0, `${game}: points without a legal move`);
      await page.click('#edit');
      assert.equal(await page.getAttribute('#edit', 'aria-pressed'), 'true');
      assert.match(await page.textContent('#status'), /^You are setting up a position/);
      assert.equal(await closed(page), 0, game);
      await page.click('.point[data-point="0"]', { force: true });
      assert.equal(await closed(page), 0, `${game}, after a press`);
      await page.click('#edit-empty');
      assert.notEqual(await page.textContent('#edit-fault'), '');
      assert.ok(await inView(page, '#edit-fault'), `the fault of ${game}`);
      await page.click('.point[data-point="1"]', { force: true });
      if (await page.textContent('#edit-fault') !== '') assert.ok(await inView(page, '#edit-fault'), `the fault of ${game} after a press on the board`);
      assert.doesNotMatch(await page.textContent('#edit-fault'), /\b[XO]\b|\(\d/, `${game} speaks of sides and points as the page does`);
      await page.click('#edit');
      assert.equal(await closed(page), before, `${game}, after the editor`);
      assert.equal(await page.getAttribute('#edit', 'aria-pressed'), 'false');
      assert.match(await page.textContent('#status'), /to move$/);
      await close();
    }
    // Where pieces are numbers, points have nothing to press; what is loaded meanwhile fails in sight, too.
    const { page, close } = await open('/?game=mancala&p1=human&p2=human', { media: CALM, size: PHONE });
    await page.click('#edit');
    assert.equal(await closed(page), await page.locator('.point').count());
    await page.getByLabel('B2', { exact: true }).fill('9');
    assert.match(await page.textContent('#edit-fault'), /48 stones/);
    assert.ok(await inView(page, '#edit-fault'));
    await page.fill('#text', 'nonsense');
    await page.click('#load');
    assert.match(await page.textContent('#fault'), /cannot be read/);
    assert.ok(await inView(page, '#fault'), 'a fault of loading');
    await close();
  });

  await test('the board editor makes positions of every game, which the rules check', async () => {
    const cases = {
      mu_torere: [[[4, 1], [0, 2]], {}, '021212121 1 0', [[0, 1]], /four pieces/],
      konane: [[[0, 1], [1, 1]], {}, '..XOXOXO/OXOXOXOX/XOXOXOXO/OXOXOXOX/XOXOXOXO/OXOXOXOX/XOXOXOXO/OXOXOXOX X', [[0, 1]], /first gap/],
      morris: [[[0, 1], [17, 2]], { 'White: in hand': 7, 'Black: in hand': 7 }, 'WxxxxxxxxxxxxxxxxB W 7 7 - 0', [[3, 1]], /pieces|turn/],
      morabaraba: [[[0, 1], [1, 2]], { 'Dark: in hand': 11, 'White: in hand': 11 }, 'BW...................... B 11 11 - 2 0 - -', [[3, 1]], /pieces|turn|lost|shot/],
      mancala: [[], { B2: 0, 'B, store': 4 }, '0,4,4,4,4,4/4 4,4,4,4,4,4/0 2', [], /48 stones/, '1'],
    };
    for (const [game, [presses, numbers, wanted, wrong, fault, mover]] of Object.entries(cases)) {
      const { page, close } = await open(`/?game=${game}&p1=human&p2=human`, { media: CALM, size: LAPTOP });
      await page.click('#edit');
      const press = async (list) => {
        for (const [point, times] of list) for (let i = 0; i < times; i++) await page.click(`.point[data-point="${point}"]`, { force: true });
      };
      await press(presses);
      for (const [name, number] of Object.entries(numbers)) await page.getByLabel(name, { exact: true }).fill(String(number));
      if (mover !== undefined) await page.selectOption('#edit-mover', mover);
      assert.equal(await page.textContent('#edit-fault'), '', game);
      // A fault is named, and nothing can be played from it.
      if (wrong.length > 0) await press(wrong);
      else await page.getByLabel('A2', { exact: true }).fill('9');
      assert.match(await page.textContent('#edit-fault'), fault, game);
      assert.equal(await page.isDisabled('#edit-play'), true);
      if (game === 'morris') {
        assert.equal(await page.locator('.patch').count(), 1, 'what is no position yet is drawn');
        await accessible(page, 'the board editor');
        await picture(page, 'editor');
      }
      // A cell of Konane holds the stones of one side only.
      await press(wrong.map(([point, times]) => [point, (game === 'konane' ? 2 : 3) - times]));
      if (wrong.length === 0) await page.getByLabel('A2', { exact: true }).fill('4');
      await page.click('#edit-play');
      await page.waitForFunction((position) => document.getElementById('board').dataset.position === position, wanted);
      assert.match(await address(page), /#position=/);
      assert.equal(await page.isVisible('#editor'), false);
      await play(page, (legal) => legal[0]);
      await close();
    }
    const { page, close } = await open('/?game=morris&p1=human&p2=human#moves=a0+g0', { media: CALM });
    await page.click('#edit');
    await page.click('#edit-empty');
    assert.equal(await page.evaluate(() => document.getElementById('board').dataset.position), 'WBxxxxxxxxxxxxxxxx W 7 7 - 0', 'nothing is played yet');
    await page.click('#edit-cancel');
    assert.deepEqual(await page.evaluate(() => window.turnstone.moves()), ['a0', 'g0'], 'the game is still there');
    await close();
    const empty = await open('/?game=mu_torere&p1=human&p2=human', { media: CALM });
    await empty.page.click('#edit');
    await empty.page.click('#edit-empty');
    assert.match(await empty.page.textContent('#edit-fault'), /four pieces/);
    assert.equal(await empty.page.locator('.patch').count(), 8, 'all pieces are off the board');
    await empty.close();
  });
}
