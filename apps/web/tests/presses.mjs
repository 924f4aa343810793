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

  const press = async (page, action) => {
    const clicks = await page.evaluate((name) => window.turnstone.legal().find((one) => one.action === name).clicks, action);
    for (const point of clicks) await page.click(`.point[data-point="${point}"]`, { force: true });
  };
  const drawn = (page) => page.$eval('#board .drawing', ({ innerHTML }) => innerHTML);

  await test('what moves is shown step by step, and where it went', async () => {
    // Four stones from pit to pit, the last into the own store; a mill; a stone that is shot; a jump over two stones.
    for (const [address, action, least, event, traces] of [
      ['/?game=mancala&p1=human&p2=human', 'B4', 4, 'Another turn.', ['from', 'through', 'through', 'end']],
      ['/?game=morris&p1=human&p2=human#moves=a0+g0+b1+f1', 'c2', 1, 'Mill!', ['end']],
      ['/?game=morris&p1=human&p2=human#moves=a0+g0+b1+f1+c2', 'xf1', 1, '', ['taken']],
      ['/?game=konane&p1=human&p2=human#moves=remove(4,5)+remove(4,4)+jump(4,7,4,5)', 'b4-d4-f4', 4, '2 captured.', ['from', 'through', 'taken', 'end', 'taken']],
    ]) {
      const { page, close } = await open(address);
      await page.evaluate(() => {
        const overlay = document.querySelector('#board .overlay');
        window.flown = 0;
        new MutationObserver((changes) => {
          for (const { addedNodes } of changes) for (const node of addedNodes) if (node.classList.contains('flying')) window.flown++;
        }).observe(overlay, { childList: true });
      });
      await press(page, action);
      await page.waitForSelector('.flying', { state: 'attached' });
      await settled(page);
      assert.equal(await page.evaluate(() => window.flown), least, `steps of ${action}`);
      assert.equal(await page.locator('.flying').count(), 0);
      assert.equal(await page.textContent('#event'), event);
      const seen = await page.$$eval('#board .overlay .last', (marks) => marks.map((mark) => mark.classList[1]));
      assert.deepEqual(seen.sort(), [...traces].sort(), `marks of ${action}`);
      // They stay, also for those who come by the address.
      await page.reload();
      await page.waitForSelector('body[data-ready]');
      assert.equal(await page.locator('#board .overlay .last').count(), traces.length);
      await close();
    }
  });

  await test('nothing moves for those who want no movement', async () => {
    for (const media of [{ reducedMotion: 'reduce' }, {}]) {
      const { page, close } = await open('/?game=mancala&p1=human&p2=human', { media });
      if (!media.reducedMotion) await page.selectOption('#pace', 'off');
      await press(page, 'B4');
      assert.equal(await page.locator('.flying').count(), 0);
      assert.equal((await state(page)).moving, 'false');
      await page.reload();
      await page.waitForSelector('body[data-ready]');
      assert.equal(await page.inputValue('#pace'), media.reducedMotion ? 'normal' : 'off', 'it is kept');
      await page.selectOption('#pace', 'normal');
      await close();
    }
  });

  await test('a press on the board ends a movement and is no move', async () => {
    const { page, close } = await open('/?game=mancala&p1=human&p2=human');
    await page.selectOption('#pace', 'slow');
    await press(page, 'B4');
    await page.waitForTimeout(500);
    assert.equal((await state(page)).moving, 'true');
    await page.evaluate(() => document.querySelector('.point[data-point="0"]').click());
    await page.waitForTimeout(50);
    const { moving, ply, position } = await state(page);
    assert.deepEqual([moving, ply, position], ['false', '1', '4,4,0,5,5,5/1 4,4,4,4,4,4/0 1']);
    assert.equal(await page.locator('.flying').count(), 0);
    await page.selectOption('#pace', 'normal');
    await close();
  });

  await test('whatever is pressed while stones move, the board shows the position', async () => {
    for (const [id, game, ply] of [['undo', 'mancala', '1'], ['back', 'mancala', '1'], ['new', 'mancala', '0'], ['first', 'mancala', '0'], ['game', 'konane', '0']]) {
      const { page, close } = await open('/?game=mancala&p1=human&p2=human#moves=B4');
      await page.selectOption('#pace', 'slow');
      await press(page, 'B2');
      await page.waitForTimeout(100);
      assert.equal((await state(page)).moving, 'true');
      if (id === 'game') await page.selectOption('#game', game);
      else await page.click(`#${id}`);
      await page.waitForFunction((wanted) => document.getElementById('board').dataset.game === wanted, game);
      await settled(page);
      const at = await state(page);
      assert.equal(at.ply, ply, id);
      // As long as the movement would have taken.
      await page.waitForTimeout(1200);
      const shown = await drawn(page);
      assert.equal(await page.locator('.flying').count(), 0);
      assert.equal((await state(page)).position, at.position);
      await page.selectOption('#pace', 'normal');
      await page.goto('about:blank');
      await page.goBack();
      await page.waitForSelector('body[data-ready]');
      assert.equal((await state(page)).position, at.position);
      assert.equal(await drawn(page), shown, `after ${id} nothing of the movement is drawn`);
      await close();
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
        await page.selectOption('#pace', 'fast');
        const { faults, bursts } = await page.evaluate(pressAtRandom, { seconds, seed: 17 + i });
        assert.deepEqual(faults, [], `${game} against ${second}, after ${bursts} bursts`);
        await page.evaluate(() => document.getElementById('first').click());
        const { game: last } = await state(page);
        if ((await page.evaluate(() => window.turnstone.start())) === null) await checkNatively(page, last);
        await close();
      }
    }
  });
}
