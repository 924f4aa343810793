// Tests of what a person learns by on the page: the coach.

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
}
