// Steps through a game's boards: slider, buttons, arrow keys. The encoding is described in page/boards.rs.
const parts = JSON.parse(document.getElementById('boards')?.textContent ?? '{"templates":[],"lines":[],"runs":[]}');
const templates = parts.templates.map((template) => template.split('\n'));
const drawn = parts.lines.map((line) => {
  const [template, ...values] = line.split('|');
  return templates[template].reduce((text, part, i) => text + values[i - 1] + part);
});

function numbers(text) {
  const list = [];
  let [value, unit] = [0, 1];
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    const digit = code - 35 - (code > 60) - (code > 92);
    value += (digit % 45) * unit;
    unit *= 45;
    if (digit < 45) {
      list.push(value);
      [value, unit] = [0, 1];
    }
  }
  return list;
}

function unpacked(packed) {
  let lines = [];
  return packed.split(' ').map((change) => {
    const [list, next] = [numbers(change), []];
    let from = 0;
    for (let i = 0; i < list.length; i += 3) {
      const [same, gone, run] = list.slice(i, i + 3);
      next.push(...lines.slice(from, from + same), ...(run ? numbers(parts.runs[run - 1]).map((line) => drawn[line]) : []));
      from += same + gone;
    }
    lines = next.concat(lines.slice(from));
    return lines.join('\n');
  });
}

// `root` holds .board, .controls and .moves; `shown(ply, last)` is called for every step.
function replay(root, shown) {
  const find = (selector) => root.querySelector(selector);
  const [slider, list] = [find('input[type=range]'), find('.moves')];
  let [boards, last, timer] = [[], 0, null];
  const stop = () => {
    clearInterval(timer);
    timer = null;
    find('.run').textContent = 'play';
  };
  const show = (ply) => {
    slider.value = ply;
    find('.board').innerHTML = boards[ply];
    find('.board svg')?.setAttribute('aria-label', ply === 0 ? 'board at the start' : `board after move ${ply}, ${list.children[ply - 1]?.textContent.trim() ?? ''}`);
    const moves = list.children;
    for (const move of list.querySelectorAll('.shown')) move.classList.remove('shown');
    const move = moves[ply - 1];
    if (move) move.classList.add('shown');
    list.scrollTop = move ? move.offsetTop - list.offsetTop - list.clientHeight / 2 : 0;
    find('.back').disabled = ply === 0;
    find('.on').disabled = ply === last;
    shown(ply, last);
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
  list.onclick = (event) => {
    const move = event.target.closest('li');
    if (move) go([...list.children].indexOf(move) + 1);
  };
  root.classList.add('live');
  return {
    go,
    // Another game, at a ply or at its end.
    load: (packed, ply) => {
      boards = unpacked(packed);
      last = boards.length - 1;
      slider.max = last;
      go(ply ?? last);
    },
    by: (plies) => go(+slider.value + plies),
  };
}
