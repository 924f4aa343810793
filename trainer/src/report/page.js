// The sample games. Without scripts the page shows their ends and their moves.
for (const game of document.querySelectorAll('.game')) {
  const data = JSON.parse(game.querySelector('script').textContent);
  const find = (selector) => game.querySelector(selector);
  const bars = [...game.querySelectorAll('.wdl i')];
  const player = replay(game, (ply, last) => {
    find('.ply').textContent = ply === 0 ? 'Start' : ply + '. ' + data.moves[ply - 1];
    const percent = data.values[ply].map((value) => value / 10);
    const [win, draw, loss] = percent.map((value) => Math.round(value));
    find('.numbers').textContent = `player 1 wins ${win} %, draw ${draw} %, player 2 wins ${loss} %`;
    bars.forEach((bar, i) => { bar.style.width = percent[i] + '%'; });
    const x = data.x[0] + (data.x[1] - data.x[0]) * ply / Math.max(last, 1);
    find('.cursor').setAttribute('d', `M${x} ${data.y[0]}V${data.y[1]}`);
  });
  game.querySelectorAll('.tip').forEach((strip, ply) => { strip.onclick = () => player.go(ply); });
  player.load(data.boards, 0);
}
