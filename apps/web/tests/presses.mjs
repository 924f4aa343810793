// Tests of presses at the wrong moment: whatever is pressed while stones move, agents think or games load, the board shows the
// game that is stored, and every move of it is legal.

import assert from 'node:assert/strict';

const GAMES = ['mu_torere', 'mancala', 'morris', 'konane', 'morabaraba'];

/** Runs in the page: presses for some seconds, in bursts, and compares board and game after each. Returns what differed. */
async function pressAtRandom({ seconds, seed }) {
  let number = seed;
  const random = (count) => {
    number = (number * 48271) % 2147483647;
    return number % count;
  };
  const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
  const one = (list) => list[random(list.length)];
  const id = (name) => document.getElementById(name);
  const board = id('board');
  const isEditing = () => !id('editor').hidden;
  const point = (index) => board.querySelector(`.point[data-point="${index}"]`)?.click();
  const key = (name) => document.body.dispatchEvent(new KeyboardEvent('keydown', { key: name, bubbles: true }));
  const buttons = [
    'undo', 'hint', 'resign', 'new', 'rematch', 'analyse', 'edit', 'edit-play', 'edit-cancel', 'swap', 'first', 'back', 'on',
    'last', 'resume', 'pause', 'review-start', 'back-to-game',
  ];
  const load = () => {
    id('text').value = one(['', 'no position', board.dataset.position, window.turnstone.moves().join(' ')]);
    id('load').click();
  };
  const press = () => {
    const kind = random(20);
    const legal = window.turnstone.legal();
    if (kind < 11 && legal.length > 0) for (const index of one(legal).clicks) point(index);
    else if (kind < 14) one([...board.querySelectorAll('.point')])?.click();
    else if (kind < 15) one([...document.querySelectorAll('.legal')])?.click();
    else if (kind < 16) key(one(['u', '[', ']']));
    else if (kind < 17 && random(4) === 0) load();
    else if (kind < 18 && random(20) === 0) {
      id('game').value = one([...id('game').options]).value;
      id('game').dispatchEvent(new Event('change'));
    } else id(one(buttons))?.click();
  };
  const isAtRest = () => board.dataset.moving !== 'true' && board.dataset.thinking !== 'true' && window.turnstone.stored()[1] !== null;
  const faults = [];
  let bursts = 0;
  for (const end = performance.now() + 1000 * seconds; performance.now() < end && faults.length === 0; bursts++) {
    for (let presses = 1 + random(4); presses > 0; presses--) {
      press();
      if (random(2) === 0) await sleep(random(150));
    }
    const late = performance.now() + 15_000;
    while (!isAtRest() && !isEditing() && performance.now() < late) await sleep(10);
    if (isEditing()) continue;
    const [stored, shown] = window.turnstone.stored();
    if (stored !== shown || board.dataset.position !== stored) faults.push({ stored, shown, drawn: board.dataset.position, ...board.dataset });
  }
  if (isEditing()) id('edit-cancel').click();
  return { faults, bursts };
}

export async function presses({ test, open, checkNatively, settled, state, seconds }) {
  await test('a second press while a stone moves is no move of its own', async () => {
    // An extra turn, and a mill with its removal: the same player moves again.
    for (const [address, index, plies] of [
      ['/?game=mancala&p1=human&p2=human', null, 1],
      ['/?game=morris&p1=human&p2=human#moves=c2+e4+b1+g3+d4+g0+b5+f3+f5+e3+xc2', 'd5', 12],
    ]) {
      for (const pause of [0, 40, 80, 160, 320]) {
        const { page, close } = await open(address);
        const point = index === null
          ? await page.evaluate(() => window.turnstone.legal().find(({ action }) => action === 'B4').clicks[0])
          : await page.evaluate((name) => window.turnstone.legal().find(({ action }) => action === name).clicks[0], index);
        const press = () => page.evaluate((at) => document.querySelector(`.point[data-point="${at}"]`).click(), point);
        await press();
        await page.waitForTimeout(pause);
        await press();
        await settled(page);
        const [stored, shown] = await page.evaluate(() => window.turnstone.stored());
        assert.equal(shown, stored, `${pause} ms`);
        assert.equal(await page.isHidden('#fault'), true, 'it is ignored, and no fault');
        assert.equal((await state(page)).position, stored);
        assert.ok((await page.evaluate(() => window.turnstone.moves())).length >= plies);
        await checkNatively(page, (await state(page)).game);
        await close();
      }
    }
  });

  await test('a movement that the browser does not end holds nothing up', async () => {
    for (const game of GAMES) {
      const { page, close } = await open(`/?game=${game}&p1=human&p2=random`);
      await page.evaluate(() => {
        Element.prototype.animate = () => ({ finished: new Promise(() => undefined) });
      });
      const { clicks } = await page.evaluate(() => window.turnstone.legal()[0]);
      for (const point of clicks) await page.click(`.point[data-point="${point}"]`, { force: true });
      await page.waitForFunction(() => document.getElementById('board').dataset.moving === 'true');
      await settled(page);
      const [stored, shown] = await page.evaluate(() => window.turnstone.stored());
      assert.equal(shown, stored, game);
      await close();
    }
  });

  await test('presses at random leave board and game the same', async () => {
    for (const [i, game] of GAMES.entries()) {
      for (const second of ['human', 'level:1']) {
        const { page, close } = await open(`/?game=${game}&p1=human&p2=${second}`);
        const { faults, bursts } = await page.evaluate(pressAtRandom, { seconds, seed: 17 + i });
        assert.deepEqual(faults, [], `${game} against ${second}, after ${bursts} bursts`);
        assert.ok(bursts > seconds, `${bursts} bursts`);
        await page.evaluate(() => document.getElementById('first').click());
        const { game: last } = await state(page);
        if ((await page.evaluate(() => window.turnstone.start())) === null) await checkNatively(page, last);
        await close();
      }
    }
  });
}
