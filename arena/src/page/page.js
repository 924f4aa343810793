// The script of every page: lines of play on a board, the games of a match, and a run that is followed.
const byId = (id) => document.getElementById(id);
// Infinity has its name in the data, since JSON lacks it.
const dataOf = (element) => JSON.parse(element.textContent, (_, value) => (value === 'Infinity' ? Infinity : value === '-Infinity' ? -Infinity : value));
const element = (name, text, kind = '') => {
  const made = document.createElement(name);
  [made.textContent, made.className] = [text, kind];
  return made;
};

function drawFigures(root) {
  for (const one of root.querySelectorAll('figure')) {
    const data = dataOf(one.querySelector('script'));
    one.classList.toggle('stacked', Boolean(data.is_stacked));
    one.innerHTML = figure(data);
  }
}
drawFigures(document);

// The encoding of boards is described in page/boards.rs.
const parts = byId('boards') ? dataOf(byId('boards')) : { templates: [], lines: [], runs: [] };
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

const VIEWER = `<div class="table"><div class="board"></div><div class="controls">
<button type="button" class="back" aria-label="previous ply">&#9664;</button>
<input type="range" min="0" value="0" aria-label="ply">
<button type="button" class="on" aria-label="next ply">&#9654;</button>
<button type="button" class="run">play</button></div></div>
<div class="side"><p class="now"><b class="ply"></b> <span class="numbers"></span></p>
<div class="chances stacked" hidden><div class="wdl" aria-hidden="true"><i class="c1"></i><i class="c2"></i><i class="c3"></i></div>
<ul class="legend"><li><i class="c1"></i>player 1 wins</li><li><i class="c2"></i>draw</li><li><i class="c3"></i>player 2 wins</li></ul></div>
<div class="graph"></div><ol class="moves" tabindex="0" aria-label="moves"></ol></div>`;

// The course of the chances over the plies.
function chances(shares) {
  const series = ['player 1 wins', 'draw', 'player 2 wins'].map((name, i) => ({ name, points: shares.map((of, ply) => [ply, of[i] / 10]) }));
  return chart({ title: 'value after every move', unit: '%', x_unit: 'ply', is_stacked: true, series });
}

// The viewer that arrow keys step.
let active = null;

// A viewer of lines (page/line.rs) in an element; `shown` is called with every ply that is shown.
function viewer(root, shown = () => {}) {
  root.insertAdjacentHTML('beforeend', VIEWER);
  const find = (selector) => root.querySelector(selector);
  const [slider, list, graph] = [find('input[type=range]'), find('.moves'), find('.graph')];
  let [line, boards, last, timer] = [null, [], 0, null];
  const note = (ply) => {
    const shares = line.shares?.[ply];
    if (!shares) return line.notes?.[ply] ?? '';
    const [win, draw, loss] = shares.map((share) => Math.round(share / 10));
    return `player 1 wins ${win} %, draw ${draw} %, player 2 wins ${loss} %`;
  };
  const plot = () => graph.firstElementChild?.dataset.plot.split(' ').map(Number);
  const stop = () => {
    clearInterval(timer);
    timer = null;
    find('.run').textContent = 'play';
  };
  const show = (ply) => {
    const move = list.children[ply - 1];
    const name = move ? `${ply}. ${move.textContent}` : 'Start';
    slider.value = ply;
    find('.board').innerHTML = boards[ply];
    find('.board svg')?.setAttribute('aria-label', move ? `board after move ${name}` : 'board at the start');
    for (const other of list.querySelectorAll('.shown')) other.classList.remove('shown');
    move?.classList.add('shown');
    list.scrollTop = move ? move.offsetTop - list.offsetTop - list.clientHeight / 2 : 0;
    [find('.back').disabled, find('.on').disabled] = [ply === 0, ply === last];
    [find('.ply').textContent, find('.numbers').textContent] = [name, note(ply)];
    root.querySelectorAll('.wdl i').forEach((bar, i) => { bar.style.width = `${(line.shares?.[ply][i] ?? 0) / 10}%`; });
    if (graph.firstElementChild) {
      const [left, right, top, bottom] = plot();
      graph.querySelector('.cursor').setAttribute('d', `M${left + ((right - left) * ply) / Math.max(last, 1)} ${top}V${bottom}`);
    }
    shown(ply);
  };
  const go = (ply) => { stop(); show(Math.min(Math.max(ply, 0), last)); };
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
  graph.onclick = ({ clientX }) => {
    const [left, right] = plot();
    const svg = graph.firstElementChild;
    const box = svg.getBoundingClientRect();
    const x = ((clientX - box.left) / box.width) * svg.viewBox.baseVal.width;
    go(Math.round(((x - left) / (right - left)) * last));
  };
  const it = {
    go,
    by: (plies) => go(+slider.value + plies),
    // Shows a line, at a ply.
    load: (next, ply) => {
      line = next;
      boards = unpacked(line.boards);
      last = boards.length - 1;
      slider.max = last;
      find('.chances').hidden = !line.shares;
      graph.innerHTML = line.shares ? chances(line.shares) : line.graph ?? '';
      list.replaceChildren(...(last ? line.moves.split(' ') : []).map((text, i) => {
        const item = element('li', text, `p${line.movers[i]}${i < (line.opening ?? 0) ? ' book' : ''}`);
        item.title = note(i + 1);
        if (line.marks?.[i]) item.append(element('em', line.marks[i], 'mark'));
        if (line.marks?.[i]) item.lastChild.dataset.mark = line.marks[i];
        return item;
      }));
      go(ply);
    },
  };
  root.addEventListener('pointerdown', () => { active = it; });
  return it;
}

document.addEventListener('keydown', (event) => {
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!by || !active || event.altKey || event.ctrlKey || event.metaKey || event.target.closest?.('input, select')) return;
  active.by(by);
  event.preventDefault();
});

// The lines that the page has: sample games of a run, a reviewed game, better moves.
const places = [...document.querySelectorAll('tr[data-ply], a[data-ply]')];
for (const root of document.querySelectorAll('.replay')) {
  const isMain = root.id === 'viewer';
  const game = viewer(root, (ply) => {
    if (isMain) places.forEach((place) => place.classList.toggle('shown', +place.dataset.ply === ply));
  });
  const line = dataOf(root.querySelector('script'));
  game.load(line, line.at ?? 0);
  if (!isMain) continue;
  active = game;
  for (const place of places) {
    const look = (event) => {
      event.preventDefault();
      game.go(+place.dataset.ply);
      root.scrollIntoView();
    };
    place.onclick = look;
    place.onkeydown = (event) => { if (event.key === 'Enter') look(event); };
  }
}

// The list of a match's games, and the board on which they are stepped through.
function games({ agents, endings, games }) {
  const [root, list] = [byId('viewer'), byId('list')];
  [root.hidden, list.hidden] = [false, false];
  const player = active = viewer(root);
  const side = root.querySelector('.side');
  side.insertAdjacentHTML('afterbegin', '<h3 class="heading"></h3><p class="players"></p>');
  side.querySelector('.graph').insertAdjacentHTML('beforebegin', '<p class="note how"></p>');
  side.insertAdjacentHTML('beforeend', `<p class="steps"><button type="button" class="previous">previous game</button>
<button type="button" class="next">next game</button> <button type="button" class="pair">other game of the pair</button></p>`);
  const find = (selector) => root.querySelector(selector);
  const rows = list.querySelector('tbody');
  const score = (result) => ['0 – 1', '½ – ½', '1 – 0'][result + 1];
  // Two agents are identified by their letters, as in the rest of the page.
  const letter = (agent) => (agents.length === 2 ? 'AB'[agent] + ' ' : '');
  const named = (agent) => letter(agent) + agents[agent];
  const partner = (game) => games.find((other) => other !== game && other.number >> 1 === game.number >> 1);
  let [chosen, shown, current] = [games, 0, null];

  function open(game) {
    current = game;
    const { number, players, result, ending, incidents, line } = game;
    find('.heading').textContent = `Game ${number + 1}: ${score(result)}`;
    find('.players').replaceChildren(...players.map((agent, seat) => element('span', named(agent), `p${seat + 1}`)));
    const faults = incidents.map(({ ply, agent, kind, what }) => `${agents[agent]} at ply ${ply + 1}: ${kind}, ${what}`);
    find('.how').textContent = [`Ended: ${endings[ending]} after ${line.movers.length} plies, of which ${line.opening ?? 0} are the opening.`,
      ...faults].join(' ');
    player.load(line, line.movers.length);
    const place = chosen.indexOf(game);
    find('.previous').disabled = place <= 0;
    find('.next').disabled = place < 0 || place + 1 >= chosen.length;
    find('.pair').disabled = !partner(game);
    while (shown <= place && more());
    for (const row of rows.children) row.classList.toggle('shown', +row.dataset.number === number);
    history.replaceState(null, '', `#game-${number + 1}`);
  }
  const box = list.querySelector('.rows');
  const step = (by) => {
    const next = chosen[chosen.indexOf(current) + by];
    if (!next) return;
    open(next);
    box.scrollTop = rows.querySelector('.shown').offsetTop - box.clientHeight / 2;
  };
  find('.previous').onclick = () => step(-1);
  find('.next').onclick = () => step(1);
  find('.pair').onclick = () => open(partner(current));

  // Adds rows as they are scrolled to; returns whether there were more.
  function more() {
    const next = chosen.slice(shown, shown + 200);
    rows.append(...next.map((game) => {
      const row = document.createElement('tr');
      const winner = [1, -1].map((wins) => (game.result === wins ? 'name won' : 'name'));
      row.append(element('td', game.number + 1), ...game.players.map((agent, seat) => element('td', named(agent), winner[seat])),
        element('td', score(game.result)), element('td', game.line.movers.length), element('td', endings[game.ending]));
      row.dataset.number = game.number;
      row.tabIndex = 0;
      row.onclick = () => open(game);
      row.onkeydown = (event) => { if (event.key === 'Enter') open(game); };
      return row;
    }));
    shown += next.length;
    return next.length > 0;
  }
  box.onscroll = () => { if (box.scrollTop + 2 * box.clientHeight > box.scrollHeight) more(); };

  const options = (name, any, texts) => {
    const select = list.querySelector(name);
    select.append(...[any, ...texts].map((text, i) => new Option(text, i - 1)));
    select.onchange = filter;
    return select;
  };
  const names = agents.map((_, agent) => named(agent));
  const [agent, against] = [options('.agent', 'any', names), options('.against', 'any', names)];
  const result = options('.result', 'any', ['won', 'drawn', 'lost']);
  const used = [...new Set(games.map((game) => game.ending))].sort();
  const ending = options('.ending', 'any way', used.map((which) => endings[which]));
  function filter() {
    const [first, second, wanted] = [+agent.value, +against.value, 1 - result.value];
    chosen = games.filter((game) => {
      // Without a selected agent the result is that of player 1.
      const seats = [0, 1].filter((seat) => (first < 0 ? seat === 0 || second >= 0 : game.players[seat] === first)
        && (second < 0 || game.players[1 - seat] === second));
      const results = seats.map((seat) => (seat === 0 ? game.result : -game.result));
      return results.some((own) => result.value < 0 || own === wanted)
        && (ending.value < 0 || game.ending === used[ending.value]);
    });
    [shown, box.scrollTop] = [0, 0];
    rows.replaceChildren();
    more();
    list.querySelector('.count').textContent = `${chosen.length} of ${games.length} games`;
    if (chosen.length && !chosen.includes(current)) open(chosen[0]);
    else if (current) open(current);
  }
  const linked = () => games.find((game) => location.hash === `#game-${game.number + 1}`);
  window.addEventListener('hashchange', () => { if (linked()) { open(linked()); root.scrollIntoView(); } });
  current = linked() ?? null;
  filter();
}
if (byId('all-games')) games(dataOf(byId('all-games')));

// Follows a run: asks for its sections every three seconds, and replaces what has changed.
let tag = '';
async function follow(note) {
  try {
    const response = await fetch(location.pathname.replace(/\/$/, '') + '/live', tag ? { headers: { 'If-None-Match': tag }, cache: 'no-store' } : { cache: 'no-store' });
    if (response.status === 304) return;
    if (!response.ok) throw new Error(String(response.status));
    tag = response.headers.get('ETag') ?? '';
    const { header, sections } = await response.json();
    byId('standing').innerHTML = header;
    for (const [id, html] of Object.entries(sections)) {
      const section = byId(id);
      if (!section) return location.reload();
      const kept = [...section.querySelectorAll(':scope > h2, :scope > .lead')];
      const holder = document.createElement('template');
      holder.innerHTML = html;
      drawFigures(holder.content);
      section.replaceChildren(...kept, holder.content);
    }
    note.textContent = 'following';
  } catch {
    note.textContent = 'the server does not answer';
  }
}
if (byId('follow')) setInterval(() => { if (!document.hidden) follow(byId('follow')); }, 3000);
