// Tests of what a person learns by on the page: the coach, the tree of variations.

import assert from 'node:assert/strict';
import { wholeGame } from './people.mjs';

const PHONE = { width: 390, height: 844 };
const CALM = { reducedMotion: 'reduce' };

export async function learning({ test, open, play, state, settled, picture, accessible, overflow, turnstone }) {
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
      await play(page, (all) => all.find(({ action }) => action === kept.action));
      await page.waitForFunction((count) => window.turnstone.moves().length > count, before + 1);
      assert.equal(await page.isVisible('#advice'), false, `${kept.action} in ${position} is no blunder`);
    }
    const before = await moves(page);
    await play(page, (all) => all.find(({ action }) => action === thrown.action));
    await page.waitForSelector('#advice:not([hidden])');
    assert.match(await page.textContent('#advice-text'), /is a blunder: it lost 100 % of the chance to win, from 100 % to 0 %\.$/);
    assert.equal(await page.textContent('#lost1'), '1.00 lost');
    assert.equal(await page.getAttribute('.move >> nth=-1', 'data-mark'), '??');
    await page.waitForTimeout(700);
    assert.deepEqual(await moves(page), [...before, thrown.action], 'the computer waits');
    await accessible(page, 'the coach');
    assert.equal(await overflow(page), 0);
    await picture(page, 'coach');
    await page.click('#advice-back');
    assert.deepEqual(await moves(page), before);
    assert.equal(await page.isVisible('#advice'), false);
    assert.doesNotMatch(await page.textContent('#lost1'), /1\.00/);
    // Made again, it may stand, and the computer goes on.
    await settled(page);
    await play(page, (all) => all.find(({ action }) => action === thrown.action));
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
}
