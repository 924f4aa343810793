// Replays the sample games. Without this script the page shows their ends and their moves.
for (const game of document.querySelectorAll('.game')) {
  const data = JSON.parse(game.querySelector('script').textContent);
  const find = (selector) => game.querySelector(selector);
  const slider = find('input');
  const last = data.boards.length - 1;
  const moves = [...game.querySelectorAll('.moves li')];
  const bars = [...game.querySelectorAll('.wdl i')];
  const boards = data.boards.map((lines) => lines.map((line) => data.lines[line]).join('\n'));
  let timer = null;

  const stop = () => {
    clearInterval(timer);
    timer = null;
    find('.run').textContent = 'play';
  };
  const show = (ply) => {
    slider.value = ply;
    find('.board').innerHTML = boards[ply];
    find('.ply').textContent = ply === 0 ? 'Start' : ply + '. ' + data.moves[ply - 1];
    const percent = data.values[ply].map((value) => value / 10);
    const [win, draw, loss] = percent.map((value) => Math.round(value));
    find('.numbers').textContent = `player 1 wins ${win} %, draw ${draw} %, player 2 wins ${loss} %`;
    bars.forEach((bar, i) => { bar.style.width = percent[i] + '%'; });
    const x = data.x[0] + (data.x[1] - data.x[0]) * ply / Math.max(last, 1);
    find('.cursor').setAttribute('d', `M${x} ${data.y[0]}V${data.y[1]}`);
    moves.forEach((move, i) => move.classList.toggle('shown', i === ply - 1));
    const [list, move] = [find('.moves'), moves[ply - 1]];
    list.scrollTop = move ? move.offsetTop - list.offsetTop - list.clientHeight / 2 : 0;
    find('.back').disabled = ply === 0;
    find('.on').disabled = ply === last;
  };
  const go = (ply) => { stop(); show(Math.min(Math.max(ply, 0), last)); };

  find('.controls').hidden = false;
  find('.back').onclick = () => go(+slider.value - 1);
  find('.on').onclick = () => go(+slider.value + 1);
  slider.oninput = () => go(+slider.value);
  find('.run').onclick = () => {
    if (timer) return stop();
    if (+slider.value === last) show(0);
    find('.run').textContent = 'pause';
    timer = setInterval(() => (+slider.value === last ? stop() : show(+slider.value + 1)), 700);
  };
  moves.forEach((move, i) => { move.onclick = () => go(i + 1); });
  game.querySelectorAll('.tip').forEach((strip, ply) => { strip.onclick = () => go(ply); });
  game.classList.add('live');
  show(0);
}
