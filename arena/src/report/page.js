// The list of games and the board on which they are stepped through.
(() => {
  const source = document.getElementById('all-games');
  if (!source) return;
  const { agents, endings, games } = JSON.parse(source.textContent);
  const [viewer, list] = [document.getElementById('viewer'), document.getElementById('list')];
  const find = (selector) => viewer.querySelector(selector);
  const rows = list.querySelector('tbody');
  const [NUMBER, PLAYERS, RESULT, ENDING, OPENING, MOVERS, MOVES, BOARDS, INCIDENTS] = [...Array(9).keys()];
  const score = (result) => ['0 – 1', '½ – ½', '1 – 0'][result + 1];
  const element = (name, text, kind = '') => {
    const made = document.createElement(name);
    made.textContent = text;
    made.className = kind;
    return made;
  };
  // Two agents are identified by their letters, as in the rest of the page.
  const letter = (agent) => (agents.length === 2 ? 'AB'[agent] + ' ' : '');

  let [chosen, shown, current] = [games, 0, null];
  const player = replay(viewer, (ply) => {
    const moves = current[MOVES].split(' ');
    find('.ply').textContent = ply === 0 ? 'Start' : `${ply}. ${moves[ply - 1]}`;
  });

  function open(game) {
    current = game;
    const moves = game[MOVES] ? game[MOVES].split(' ') : [];
    find('.heading').textContent = `Game ${game[NUMBER] + 1}: ${score(game[RESULT])}`;
    find('.players').replaceChildren(...game[PLAYERS].map((agent, seat) =>
      element('span', `${letter(agent)}${agents[agent]}`, `p${seat + 1}`)));
    const faults = game[INCIDENTS].map(([ply, agent, kind, what]) => `${agents[agent]} at ply ${ply + 1}: ${kind}, ${what}`);
    find('.how').textContent = [`Ended: ${endings[game[ENDING]]} after ${moves.length} plies, of which ${game[OPENING]} are the opening.`,
      ...faults].join(' ');
    find('.moves').replaceChildren(...moves.map((move, i) =>
      element('li', move, `p${game[MOVERS][i]}${i < game[OPENING] ? ' book' : ''}`)));
    player.load(game[BOARDS]);
    const place = chosen.indexOf(game);
    find('.previous').disabled = place <= 0;
    find('.next').disabled = place < 0 || place + 1 >= chosen.length;
    find('.pair').disabled = !partner(game);
    while (shown <= place && more());
    for (const row of rows.children) row.classList.toggle('shown', +row.dataset.number === game[NUMBER]);
    history.replaceState(null, '', `#game-${game[NUMBER] + 1}`);
  }
  const partner = (game) => games.find((other) => other !== game && other[NUMBER] >> 1 === game[NUMBER] >> 1);
  const step = (by) => {
    const next = chosen[chosen.indexOf(current) + by];
    if (!next) return;
    open(next);
    const [row, box] = [rows.querySelector('.shown'), rows.closest('.rows')];
    box.scrollTop = row.offsetTop - box.clientHeight / 2;
  };
  find('.previous').onclick = () => step(-1);
  find('.next').onclick = () => step(1);
  find('.pair').onclick = () => open(partner(current));

  // Adds rows as they are scrolled to; returns whether there were more.
  function more() {
    const next = chosen.slice(shown, shown + 200);
    rows.append(...next.map((game) => {
      const row = document.createElement('tr');
      const winner = [1, -1].map((wins) => (game[RESULT] === wins ? 'name won' : 'name'));
      row.append(element('td', game[NUMBER] + 1),
        ...game[PLAYERS].map((agent, seat) => element('td', letter(agent) + agents[agent], winner[seat])),
        element('td', score(game[RESULT])), element('td', game[MOVERS].length), element('td', endings[game[ENDING]]));
      row.dataset.number = game[NUMBER];
      row.tabIndex = 0;
      row.onclick = () => open(game);
      row.onkeydown = (event) => { if (event.key === 'Enter') open(game); };
      return row;
    }));
    shown += next.length;
    return next.length > 0;
  }
  const box = list.querySelector('.rows');
  box.onscroll = () => { if (box.scrollTop + 2 * box.clientHeight > box.scrollHeight) more(); };

  const options = (name, any, texts) => {
    const select = list.querySelector(name);
    select.append(...[any, ...texts].map((text, i) => new Option(text, i - 1)));
    select.onchange = filter;
    return select;
  };
  const names = agents.map((agent, i) => letter(i) + agent);
  const [agent, against] = [options('.agent', 'any', names), options('.against', 'any', names)];
  const result = options('.result', 'any', ['won', 'drawn', 'lost']);
  const used = [...new Set(games.map((game) => game[ENDING]))].sort();
  const ending = options('.ending', 'any way', used.map((which) => endings[which]));
  function filter() {
    const [first, second, wanted] = [+agent.value, +against.value, 1 - result.value];
    chosen = games.filter((game) => {
      // Without a selected agent the result is that of player 1.
      const seats = [0, 1].filter((seat) => (first < 0 ? seat === 0 || second >= 0 : game[PLAYERS][seat] === first)
        && (second < 0 || game[PLAYERS][1 - seat] === second));
      const results = seats.map((seat) => (seat === 0 ? game[RESULT] : -game[RESULT]));
      return results.some((own) => result.value < 0 || own === wanted)
        && (ending.value < 0 || game[ENDING] === used[ending.value]);
    });
    [shown, box.scrollTop] = [0, 0];
    rows.replaceChildren();
    more();
    list.querySelector('.count').textContent = `${chosen.length} of ${games.length} games`;
    if (chosen.length && !chosen.includes(current)) open(chosen[0]);
    else if (current) open(current);
  }

  document.addEventListener('keydown', (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by || event.altKey || event.ctrlKey || event.metaKey || event.target.closest?.('input, select')) return;
    player.by(by);
    event.preventDefault();
  });
  const named = () => games.find((game) => location.hash === `#game-${game[NUMBER] + 1}`);
  window.addEventListener('hashchange', () => { if (named()) { open(named()); viewer.scrollIntoView(); } });
  [viewer.hidden, list.hidden] = [false, false];
  const wanted = named();
  if (wanted) current = wanted;
  filter();
})();
