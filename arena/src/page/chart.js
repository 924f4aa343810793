// Charts as SVG from the data of page/chart.rs: lines with bands of intervals, stacked shares, and ranges on a common axis.
const [WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM] = [380, 210, 50, 20, 370, 178];
const known = (value) => typeof value === 'number' && Number.isFinite(value);
const escaped = (text) => String(text).replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);
const minus = (text) => text.replace(/-/g, '\u2212');

// A number with three or four significant digits.
function short(value) {
  const size = Math.abs(value);
  if (size === Infinity) return value > 0 ? '+∞' : '\u2212∞';
  if (size >= 1e6) return minus(`${(value / 1e6).toFixed(2)}M`);
  if (size >= 1e4) return minus(`${(value / 1e3).toFixed(1)}k`);
  if (size === 0) return '0';
  return minus(size >= 100 ? value.toFixed(0) : size >= 10 ? value.toFixed(1) : size >= 0.01 ? value.toFixed(3) : value.toExponential(1));
}

const signed = (elo) => (known(elo) ? minus(`${elo < -0.5 ? '' : '+'}${Math.abs(elo) < 0.5 ? 0 : elo.toFixed(0)}`) : short(elo));

// An axis of round numbers has ticks at multiples of 1, 2 or 5 times a power of ten, at most five of them apart.
function step(range) {
  const power = 10 ** Math.floor(Math.log10(range / 5));
  return [1, 2, 5, 10].map((digit) => digit * power).find((step) => step >= (range / 5) * (1 - 1e-9));
}
function extent(values) {
  const numbers = values.filter(known);
  return numbers.length ? [numbers.reduce((a, b) => Math.min(a, b)), numbers.reduce((a, b) => Math.max(a, b))] : [0, 1];
}
function axis(values) {
  const [low, high] = extent(values);
  const greatest = Math.max(Math.abs(low), Math.abs(high));
  // The ticks of a narrower axis would need long labels.
  const room = high > low ? Math.max((0.02 * greatest - (high - low)) / 2, 0) : Math.max(0.1 * greatest, 1e-9);
  const each = step(high - low + 2 * room);
  return { low: Math.floor((low - room) / each) * each, high: Math.ceil((high + room) / each) * each, step: each };
}
// An axis of counts, from the least to the greatest.
function counts(values) {
  const [low, high] = extent(values);
  return high > low ? { low, high, step: Math.max(step(high - low), 1) } : { low: low - 1, high: high + 1, step: 1 };
}
function ticks({ low, high, step }) {
  const first = Math.ceil(low / step - 1e-6);
  return Array.from({ length: Math.floor(high / step + 1e-6) - first + 1 }, (_, i) => (first + i) * step);
}
const share = ({ low, high }, value) => Math.min(Math.max((value - low) / (high - low), 0), 1);
function label({ low, high, step }, tick) {
  const greatest = Math.max(Math.abs(low), Math.abs(high));
  const [unit, letter] = greatest >= 1e6 ? [1e6, 'M'] : greatest >= 1e4 ? [1e3, 'k'] : [1, ''];
  if (tick === 0) return '0';
  if (greatest < 1e-3) return short(tick);
  return minus((tick / unit).toFixed(Math.max(0, -Math.floor(Math.log10(step / unit + 1e-12))))) + letter;
}

const path = (places) => places.map(([x, y], i) => `${i ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(1)}`).join('');

// A line of points [x, y, low, high], interrupted where values are missing.
function line(points, at, colour) {
  let shapes = '';
  const runs = [[]];
  for (const point of points) {
    if (known(point[1])) runs.at(-1).push(point);
    else runs.push([]);
  }
  for (const run of runs.filter(({ length }) => length)) {
    const band = run.filter(({ length }) => length > 2);
    const ends = [...band.map(([x, , low]) => at(x, low)), ...band.map(([x, , , high]) => at(x, high)).reverse()];
    if (run.length > 1 && band.length) shapes += `<path class="band ${colour}" d="${path(ends)}Z"/>`;
    shapes += `<path class="line ${colour}" d="${path(run.map(([x, y]) => at(x, y)))}"/>`;
  }
  const alone = points.filter(([, y]) => known(y)).length === 1;
  for (const [x, y, low, high] of points) {
    if (y === null) continue;
    if (low !== undefined && (alone || !known(y))) shapes += `<path class="whisker ${colour}" d="${path([at(x, low), at(x, high)])}"/>`;
    if (points.length > 40) continue;
    // An infinite value is a triangle at the known end of its interval.
    const up = y > 0 ? -7 : 7;
    const [left, top] = at(x, known(y) ? y : (up < 0 ? low : high) ?? y);
    shapes += known(y)
      ? `<circle class="dot ${colour}" cx="${left.toFixed(1)}" cy="${top.toFixed(1)}" r="2.6"/>`
      : `<path class="dot ${colour}" d="M${(left - 4).toFixed(1)} ${top.toFixed(1)}h8l-4 ${up}z"/>`;
  }
  return shapes;
}

// Layers of shares with the same x, the first at the bottom.
function stack(series, at) {
  let below = series[0]?.points.map(([x]) => [x, 0]) ?? [];
  return series.map(({ points }, i) => {
    const above = below.map(([x, sum], n) => [x, sum + (known(points[n][1]) ? points[n][1] : 0)]);
    const [upper, lower] = [above, below].map((ends) => ends.map(([x, y]) => at(x, y)));
    below = above;
    // A single point is a bar.
    const wide = upper.length === 1 ? [[-20, upper], [20, upper], [20, lower], [-20, lower]].map(([by, [[x, y]]]) => [x + by, y]) : null;
    return `<path class="layer c${i + 1}" d="${path(wide ?? [...upper, ...lower.reverse()])}Z"/>`;
  }).join('');
}

const text = (value, unit) => (unit === '%' ? `${value.toFixed(1)} %` : short(value));

// Invisible strips over the plot, one per x, with the values as tooltips.
function tips({ series, unit, x_unit }, at) {
  const said = new Map();
  for (const { name, points } of series) {
    for (const [x, y, low, high] of points.filter(([, y]) => y !== null)) {
      const interval = low === undefined ? '' : ` [${text(low, unit)}, ${text(high, unit)}]`;
      said.set(x, [...(said.get(x) ?? []), `${name}: ${text(y, unit)}${interval}`]);
    }
  }
  const all = [...said].sort(([a], [b]) => a - b);
  const places = all.map(([x]) => at(x, 0)[0]);
  return all.map(([x, lines], i) => {
    const from = i === 0 ? LEFT : (places[i - 1] + places[i]) / 2;
    const to = i + 1 < places.length ? (places[i] + places[i + 1]) / 2 : RIGHT;
    return `<rect class="tip" x="${from.toFixed(1)}" y="${TOP}" width="${(to - from).toFixed(1)}" height="${BOTTOM - TOP}"><title>${escaped([`${x_unit} ${x}`, ...lines].join('\n'))}</title></rect>`;
  }).join('');
}

function chart(data) {
  const { title, unit, x_unit, is_stacked, x, y, series } = data;
  const points = series.flatMap((one) => one.points);
  const across = counts([...points.map(([x]) => x), ...(x ?? [])]);
  const [low, high, step] = is_stacked ? [0, 100, 25] : y ?? [];
  const up = step ? { low, high, step } : axis(points.flatMap(([, ...values]) => values));
  const at = (x, y) => [LEFT + (RIGHT - LEFT) * share(across, x), BOTTOM - (BOTTOM - TOP) * share(up, y)];
  const grid = ticks(up).map((tick) => {
    const place = at(0, tick)[1];
    return `<path class="grid" d="M${LEFT} ${place.toFixed(1)}H${RIGHT}"/><text x="${LEFT - 6}" y="${(place + 4).toFixed(1)}" text-anchor="end">${label(up, tick)}</text>`;
  });
  const foot = ticks(across).map((tick) => {
    const place = at(tick, 0)[0].toFixed(1);
    return `<path class="axis" d="M${place} ${BOTTOM}v4"/><text x="${place}" y="${BOTTOM + 15}" text-anchor="middle">${label(across, tick)}</text>`;
  });
  const drawn = is_stacked ? stack(series, at) : series.map((one, i) => line(one.points, at, `c${i + 1}`)).join('');
  return `<svg class="chart${is_stacked ? ' stacked' : ''}" viewBox="0 0 ${WIDTH} ${HEIGHT}" data-plot="${LEFT} ${RIGHT} ${TOP} ${BOTTOM}" role="img" aria-label="${escaped(title)}">${grid.join('')}${foot.join('')}
<path class="axis" d="M${LEFT} ${BOTTOM}H${RIGHT}"/><text class="unit" x="2" y="11">${escaped(unit)}</text><text class="unit" x="${RIGHT}" y="${BOTTOM + 28}" text-anchor="end">${escaped(x_unit)}</text>${drawn}${tips(data, at)}<path class="cursor"/></svg>`;
}

// Values with intervals, one below the other on a common axis.
function ranges({ title, unit, ranges }) {
  const scale = axis(ranges.flatMap(({ value, interval }) => [value, ...interval]));
  const at = (value) => (22 + (WIDTH - 44) * share(scale, value)).toFixed(1);
  const bottom = 8 + 40 * ranges.length;
  const grid = ticks(scale).map((tick) => `<path class="grid" d="M${at(tick)} 8V${bottom}"/><text x="${at(tick)}" y="${bottom + 16}" text-anchor="middle">${label(scale, tick)}</text>`);
  const drawn = ranges.map(({ name, value, interval: [low, high] }, i) => {
    const y = 37 + 40 * i;
    const shown = name.length > 50 ? `${name.slice(0, 49)}…` : name;
    return `<g><title>${escaped(`${name}: ${signed(value)} [${signed(low)}, ${signed(high)}]`)}</title><text class="name" x="4" y="${y - 13}">${escaped(shown)}</text><path class="reach c1" d="M${at(low)} ${y}H${at(high)}M${at(low)} ${y - 4}v8M${at(high)} ${y - 4}v8"/><circle class="dot c1" cx="${at(value)}" cy="${y}" r="4.5"/></g>`;
  });
  return `<svg class="chart ranges" viewBox="0 0 ${WIDTH} ${bottom + 36}" role="img" aria-label="${escaped(title)}">${grid.join('')}${drawn.join('')}<text class="unit" x="${WIDTH - 6}" y="${bottom + 32}" text-anchor="end">${escaped(unit)}</text></svg>`;
}

// What a figure shows.
function figure(data) {
  const { title, unit, series, note } = data;
  if (data.ranges) return `<figcaption>${escaped(title)}</figcaption>${ranges(data)}`;
  const legend = series.map(({ name, points }, i) => {
    const last = points.findLast(([, y]) => y !== null);
    return `<li><i class="c${i + 1}"></i>${escaped(name)} <b>${last ? text(last[1], unit) : ''}</b></li>`;
  });
  return `<figcaption>${escaped(title)}</figcaption><ul class="legend">${legend.join('')}</ul>${chart(data)}<p class="note">${escaped(note)}</p>`;
}
