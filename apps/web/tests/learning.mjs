// Tests of what a person learns by on the page: the coach, the tree of variations, puzzles, own games with a rating, and what is
// proven of its opponents.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { wholeGame } from './people.mjs';

const PHONE = { width: 390, height: 844 };
const SMALL = { width: 360, height: 640 };
const CALM = { reducedMotion: 'reduce' };

export async function learning({ test, open, play, state, settled, picture, accessible, overflow, turnstone }) {
  const text = (name) => readFileSync(new URL(name, import.meta.url), 'utf8');
  const moves = (page) => page.evaluate(() => window.turnstone.moves());

  await test('the coach stops at a blunder before the computer answers, says what it cost, and takes it back', async () => {
    const values = wholeGame(turnstone, 'konane', 'size=4');
    const { page, close } = await open('/?game=konane&param.size=4&p1=random&p2=human', { size: PHONE, media: CALM });
    await page.click('#coach');
    assert.equal(await page.getAttribute('#coach', 'aria-pressed'), 'true');
    const toMove = () => page.waitForFunction(() => {
      const { over, mover, thinking, moving } = document.getElementById('board').dataset;
      return over === 'true' || (mover === '1' && thinking !== 'true' && moving !== 'true');
    });
    // Player 2 wins; with a move that keeps that, the game goes on by itself.
    let thrown;
    for (;;) {
      await toMove();
      const { position } = await state(page);
      const { legal } = values.get(position);
      const [kept, lost] = [1, -1].map((value) => legal.find((one) => one.value === value));
      thrown = lost;
      if (thrown) break;
      const before = (await moves(page)).length;
      await play(page, (all) => all.find(({ written }) => written === kept.action));
      await page.waitForFunction((count) => window.turnstone.moves().length > count, before + 1);
      assert.equal(await page.isVisible('#advice'), false, `${kept.action} in ${position} is no blunder`);
    }
    const before = await moves(page);
    const shown = await play(page, (all) => all.find(({ written }) => written === thrown.action));
    await page.waitForSelector('#advice:not([hidden])');
    assert.match(await page.textContent('#advice-text'), /is a blunder: it lost 100 % of the chance to win, from 100 % to 0 %\.$/);
    assert.equal(await page.textContent('#lost1'), '1.00 lost');
    assert.equal(await page.getAttribute('.move >> nth=-1', 'data-mark'), '??');
    await page.waitForTimeout(700);
    assert.deepEqual(await moves(page), [...before, shown], 'the computer waits');
    await accessible(page, 'the coach');
    assert.equal(await overflow(page), 0);
    await picture(page, 'coach');
    await page.click('#advice-back');
    assert.deepEqual(await moves(page), before);
    assert.equal(await page.isVisible('#advice'), false);
    assert.doesNotMatch(await page.textContent('#lost1'), /1\.00/);
    // Made again, it may stand, and the computer goes on.
    await settled(page);
    await play(page, (all) => all.find(({ written }) => written === thrown.action));
    await page.waitForSelector('#advice:not([hidden])');
    await page.click('#advice-on');
    await page.waitForFunction((count) => window.turnstone.moves().length > count, before.length + 1);
    // The choice is kept, and a coach that is off says nothing.
    await page.reload();
    await page.waitForSelector('body[data-ready]');
    assert.equal(await page.getAttribute('#coach', 'aria-pressed'), 'true');
    await page.click('#coach');
    assert.equal(await page.textContent('#lost1'), '');
    await close();
  });

  await test('lines that are taken back stay as branches of a tree', async () => {
    const { page, close } = await open('/?game=mancala&p1=human&p2=human', { media: CALM });
    const branches = () => page.$$eval('.branch', (all) => all.map(({ textContent }) => textContent));
    const line = [];
    for (let ply = 0; ply < 4; ply++) line.push(await play(page, (legal) => legal[0]));
    assert.deepEqual(await branches(), []);
    // Taken back: the line is still there, and a move of it makes no branch of its own.
    await page.click('#undo');
    await page.click('#undo');
    assert.deepEqual([await moves(page), (await branches()).length], [line.slice(0, 2), 1]);
    await play(page, (legal) => legal.find(({ action }) => action === line[2]));
    assert.equal((await branches()).length, 1);
    await page.click('#undo');
    const other = [...line.slice(0, 2), await play(page, (legal) => legal.find(({ action }) => action !== line[2]))];
    assert.match((await branches()).join('; '), /^or 3\. \S+ \S+$/);
    // A third line leaves earlier.
    for (let ply = 3; ply > 1; ply--) await page.keyboard.press('[');
    const third = [line[0], await play(page, (legal) => legal.find(({ action }) => action !== line[1]))];
    assert.deepEqual(await moves(page), third);
    assert.equal((await branches()).length, 2, 'both leave it after the first move');
    await page.click('.branch >> nth=0');
    assert.deepEqual(await moves(page), line);
    assert.equal((await state(page)).ply, '2', 'the move with which it leaves is shown');
    assert.equal((await branches()).length, 2);
    await accessible(page, 'variations');
    await picture(page, 'variations');
    await page.click('.branch >> text=/^or 3/');
    assert.deepEqual(await moves(page), other);
    assert.equal((await state(page)).ply, '3');
    await page.click('#new');
    await page.waitForFunction(() => window.turnstone.moves().length === 0);
    assert.deepEqual(await branches(), [], 'a new game has none');
    await close();
  });

  await test('in every puzzle one move keeps the win, and the page says so', async () => {
    const puzzles = {};
    for (const [, game, list] of text('../page/src/puzzles.ts').matchAll(/^  (\w+): \[\n([^]*?)^  \],/gm)) {
      puzzles[game] = [...list.matchAll(/\['([^']+)', '([^']+)'\]/g)].map(([, position, move]) => ({ position, move }));
    }
    assert.deepEqual(Object.keys(puzzles), ['mu_torere', 'mancala', 'morris', 'konane', 'morabaraba']);
    for (const [game, list] of Object.entries(puzzles)) {
      assert.equal(list.length, 6);
      const graded = game === 'mu_torere' ? null : new Map(text(`../../../games/src/${game}/truth.txt`).split('\n').map((line) => [line.split(' ; ')[0], line]));
      const { page, close } = await open(`/?game=${game}&p1=human&p2=random`, { media: CALM, size: SMALL });
      for (const [i, { position, move }] of list.entries()) {
        await page.click(i === 0 ? '#puzzle' : '#advice-on');
        await page.waitForFunction((wanted) => document.getElementById('board').dataset.position === wanted, position);
        assert.match(await page.textContent('#advice-text'), new RegExp(`^Puzzle ${i + 1} of 6: one move of .* keeps the win`));
        const { mover } = await state(page);
        if (graded) {
          const [, value, moves] = graded.get(position).split(' ; ');
          assert.equal(value, mover === '0' ? '1' : '-1', `${position}: a win`);
          const { written } = (await page.evaluate(() => window.turnstone.legal())).find(({ action }) => action === move);
          assert.deepEqual(moves.split(' ').filter((one) => one.endsWith(`=${value}`)), [`${written}=${value}`], position);
        } else {
          await page.click('#analyse');
          await page.waitForSelector('#actions td.keeps');
          assert.equal(await page.locator('#actions td.keeps').count(), 1, position);
          assert.equal(await page.textContent('#actions tr:has(td.keeps) th'), move);
          assert.match(await page.textContent('#actions td.keeps'), /wins/);
          await page.click('#analyse');
        }
        await page.evaluate(() => scrollTo(0, 0));
        await play(page, (legal) => legal.find(({ action }) => action !== move));
        assert.match(await page.textContent('#advice-text'), /gives the win away\.$/);
        const { y, height } = await page.locator('#advice-back').boundingBox();
        assert.ok(y >= 0 && y + height <= SMALL.height, `${game}: what can be done about it is in sight`);
        await page.waitForTimeout(i === 0 ? 700 : 0);
        assert.equal((await moves(page)).length, 1, 'nobody answers');
        await page.click('#advice-back');
        assert.match(await page.textContent('#advice-text'), /^Puzzle/);
        await play(page, (legal) => legal.find(({ action }) => action === move));
        assert.match(await page.textContent('#advice-text'), /is right\./);
      }
      assert.equal(await overflow(page), 0);
      await accessible(page, `a puzzle of ${game}`);
      await picture(page, `puzzle-${game}`);
      // The next visit goes on with the next one.
      await page.click('#advice-on');
      await page.waitForFunction((wanted) => document.getElementById('board').dataset.position === wanted, list[0].position);
      await page.reload();
      await page.waitForSelector('body[data-ready]');
      await page.click('#puzzle');
      await page.waitForFunction((wanted) => document.getElementById('board').dataset.position === wanted, list[1].position);
      await close();
    }
  });

  await test('games against levels are kept, rate the person and choose the next level', async () => {
    const { page, close } = await open('/?game=mancala&p1=human&p2=level:3', { media: CALM, size: PHONE });
    await page.evaluate(() => document.getElementById('forget').click());
    const own = () => page.$$eval('#own-games li', (all) => all.map(({ textContent }) => textContent));
    const rated = async () => Number(/about (-?\d+) Elo, from (\d+)/.exec(await page.textContent('#rating'))?.[1]);
    const mine = () => page.waitForFunction(() => {
      const { mover, thinking, moving, ply } = document.getElementById('board').dataset;
      return mover === '0' && thinking !== 'true' && moving !== 'true' && Number(ply) > 1;
    });
    const lose = async () => {
      await play(page, (legal) => legal[0]);
      await mine();
      await page.click('#resign');
      await page.click('#resign');
    };
    assert.equal(await page.isVisible('#own'), false);
    await lose();
    assert.match((await own()).join(), /^Mancala: lost against computer, level 3: casual, \d+ moves \d{4}-\d\d-\d\d$/);
    // Half a point of two against 351 Elo.
    assert.equal(await rated(), Math.round((351 - 400 * Math.log10(3)) / 10) * 10);
    // A level lower, and then the lowest.
    await page.goto(`${page.url().split('?')[0]}?game=mancala&p1=human&p2=adapts`);
    await page.waitForSelector('body[data-ready]');
    const level = () => page.$eval('#level1', ({ selectedOptions }) => selectedOptions[0].textContent);
    assert.equal(await level(), 'level 2: easy');
    assert.match((await page.evaluate(() => window.turnstone.agents()))[1].spec, /temperature=2\.8/);
    await lose();
    await page.click('#new');
    await page.waitForFunction(() => window.turnstone.moves().length === 0);
    assert.equal(await level(), 'level 1: beginner');
    assert.equal((await own()).length, 2);
    // With a move taken back the game is kept, and says nothing of the person.
    const before = await rated();
    await play(page, (legal) => legal[0]);
    await mine();
    await page.click('#undo');
    await lose();
    assert.equal((await own()).length, 3);
    assert.equal(await rated(), before);
    await accessible(page, 'own games');
    assert.equal(await overflow(page), 0);
    await picture(page, 'own');
    // A game is opened again, and after a win the next level is higher.
    await page.evaluate(() => { document.getElementById('own').open = true; });
    await page.click('#own-games a >> nth=-1');
    await page.waitForSelector('body[data-ready]');
    assert.ok((await moves(page)).length > 1);
    assert.equal((await state(page)).over, 'true');
    assert.equal((await own()).length, 3, 'a game is kept once');
    await page.evaluate(() => localStorage.setItem('games', JSON.stringify([
      { game: 'mancala', opponent: 'level 5', address: '?', score: 1, moves: 9, level: [5, 571] }, { game: 7 }, { game: 'mancala', opponent: '', address: 'javascript:0', score: 1, moves: 9 },
    ])));
    await page.goto(`${page.url().split('?')[0]}?game=mancala&p1=human&p2=adapts`);
    await page.waitForSelector('body[data-ready]');
    assert.equal(await level(), 'level 6: strong');
    assert.equal((await own()).length, 1);
    await page.evaluate(() => { document.getElementById('own').open = true; });
    await page.click('#forget');
    assert.deepEqual([await own(), await page.textContent('#rating')], [[], '']);
    await page.evaluate(() => localStorage.setItem('games', '{"x": 1'));
    await page.reload();
    await page.waitForSelector('body[data-ready]');
    await close();
    // Who wins is told apart.
    const values = wholeGame(turnstone, 'konane', 'size=4');
    const won = await open('/?game=konane&param.size=4&p1=random&p2=human', { media: CALM });
    for (;;) {
      await won.page.waitForFunction(() => {
        const { over, mover, thinking, moving } = document.getElementById('board').dataset;
        return over === 'true' || (mover === '1' && thinking !== 'true' && moving !== 'true');
      });
      const { position, over } = await state(won.page);
      if (over === 'true') break;
      const best = values.get(position).legal.find(({ value }) => value === 1).action;
      await play(won.page, (legal) => legal.find(({ written }) => written === best));
    }
    await won.page.waitForSelector('#own:not([hidden])');
    assert.match(await won.page.textContent('#own-games'), /^Konane: won against random moves/);
    await won.close();
  });

  await test('what is said to be unbeatable is not beaten on the page by any line of play', async () => {
    for (const side of [0, 1]) {
      const { page, close } = await open(`/?game=mu_torere&p${2 - side}=human&p${side + 1}=az&level${side + 1}=0`, { media: CALM, size: PHONE });
      assert.match(await page.textContent('#proofs'), new RegExp(`Player ${side + 1}|${['Dark', 'Light'][side]}`));
      assert.match(await page.textContent('#proofs'), /cannot be beaten from the start/);
      const spec = (await page.evaluate(() => window.turnstone.agents()))[side].spec;
      // All that can arise, ply by ply: the program has the rules, the page the agent.
      const met = new Set();
      let decisions = 0;
      let lines = [''];
      while (lines.length > 0) {
        const output = execFileSync(turnstone, ['show', 'mu_torere', '--legal', '--stdin'], { input: `${lines.join('\n')}\n`, encoding: 'utf8', maxBuffer: 1 << 28 });
        const all = output.trim().split('\n').map((one, i) => ({ ...JSON.parse(one), line: lines[i] })).filter(({ position }) => !met.has(position) && met.add(position));
        for (const { outcome, line } of all) assert.ok(outcome === null || outcome === 'draw' || outcome === `player${side + 1}`, `${outcome} after ${line}`);
        const running = all.filter(({ outcome }) => outcome === null);
        const own = running.filter(({ mover }) => mover === side + 1);
        decisions += own.length;
        const answers = await page.evaluate(([list, of]) => window.turnstone.answers('mu_torere', list, of), [own.map(({ position }) => position), spec]);
        const after = (line, action) => `${line} ${action}`.trim();
        lines = [
          ...own.map(({ line }, i) => after(line, answers[i][2])),
          ...running.filter(({ mover }) => mover !== side + 1).flatMap(({ line, legal }) => legal.map((action) => after(line, action))),
        ];
      }
      const claim = JSON.parse(text(`../../../games/src/mu_torere/player-${side + 1}.proof`).split('\n')[0]);
      assert.deepEqual([met.size, decisions, spec], [claim.positions, claim.decisions, claim.agent]);
      await accessible(page, 'a proof');
      // With a search, or other rules, nothing is proven.
      await page.selectOption(`#level${side}`, '200');
      assert.equal(await page.textContent('#proofs'), '');
      await close();
    }
  });

  await test('the page shows how to beat the agent that can be beaten, and so it is', async () => {
    for (const side of [0, 1]) {
      const { page, close } = await open(`/?game=mancala&p${2 - side}=human&p${side + 1}=level:7`, { media: CALM, size: PHONE });
      assert.match(await page.textContent('#proofs'), /can be beaten from the start, in 1[67] moves/);
      assert.equal(await overflow(page), 0);
      await picture(page, 'beaten');
      await page.click('#proofs button');
      await page.waitForFunction(() => document.querySelectorAll('.move').length > 0);
      assert.equal((await state(page)).ply, '0');
      const line = await moves(page);
      await page.click('#last');
      assert.match(await page.textContent('#status'), /you have won/i);
      // The computer plays its part of the game.
      await page.click('#new');
      await page.waitForFunction(() => window.turnstone.moves().length < 2);
      for (;;) {
        await page.waitForFunction((mine) => {
          const { over, mover, thinking, moving } = document.getElementById('board').dataset;
          return over === 'true' || (mover === mine && thinking !== 'true' && moving !== 'true');
        }, String(1 - side));
        const so = await moves(page);
        assert.deepEqual(so, line.slice(0, so.length));
        if ((await state(page)).over === 'true') break;
        await play(page, (legal) => legal.find(({ action }) => action === line[so.length]));
      }
      assert.match(await page.textContent('#status'), /you have won/i);
      await page.click('#new');
      await page.selectOption(`#level${side}`, '6');
      assert.equal(await page.textContent('#proofs'), '');
      await close();
    }
  });
}
