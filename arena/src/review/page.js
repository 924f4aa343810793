// The game with its graph, and the better lines of the moments.
(() => {
  const data = JSON.parse(document.getElementById('review').textContent);
  const viewer = document.getElementById('viewer');
  const find = (selector) => viewer.querySelector(selector);
  const moves = [...viewer.querySelectorAll('.moves li')];
  const rows = [...document.querySelectorAll('tr[data-ply]')];
  const player = replay(viewer, (ply, last) => {
    find('.ply').textContent = ply === 0 ? 'Start' : `${ply}. ${moves[ply - 1].textContent}`;
    find('.numbers').textContent = ply === 0 ? 'value for player 1' : data.moves[ply - 1];
    const x = data.x[0] + (data.x[1] - data.x[0]) * ply / Math.max(last, 1);
    find('.cursor').setAttribute('d', `M${x} ${data.y[0]}V${data.y[1]}`);
    rows.forEach((row, i) => row.classList.toggle('shown', i === ply - 1));
  });
  player.load(data.boards, 0);
  // Of a long game the graph has a strip for several plies.
  const strips = [...viewer.querySelectorAll('.tip')];
  strips.forEach((strip, i) => {
    strip.onclick = () => player.go(Math.round(i * moves.length / Math.max(strips.length - 1, 1)));
  });
  const look = (ply) => {
    player.go(ply);
    viewer.scrollIntoView();
  };
  for (const place of document.querySelectorAll('[data-ply]')) {
    place.onclick = (event) => { event.preventDefault(); look(+place.dataset.ply); };
    place.onkeydown = (event) => { if (event.key === 'Enter') look(+place.dataset.ply); };
  }
  document.querySelectorAll('.better').forEach((root, i) => replay(root, () => {}).load(data.lines[i], 1));
  addEventListener('keydown', (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by || event.target.closest('input, select') || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    player.by(by);
  });
})();
