// Which charts a run has.

/** More stages than this are told apart by nobody: the smallest become one. */
const STAGES = 7;

function plots(header) {
  const { simulators } = header;
  const charts = withoutFirst(header.charts);
  const { times } = charts;
  return [
    { title: "Energy", unit: "J", times, series: energies(charts, simulators) },
    ...strains(charts),
    { title: "Momentum error", unit: "N s", times, series: [{ name: "simulators' own error", values: charts.momentum_error }, { name: "on its way between them", values: charts.pending }], log: true },
    { title: "Coupling gap", unit: "m", times, series: [{ name: "largest gap", values: charts.gap }], log: true },
    { title: "Energy of the coupling", unit: "J", times, series: [{ name: "put in", values: charts.work }] },
    { title: "Iterations a window", unit: "", times, series: iterations(charts, simulators) },
    { title: "Time a window", unit: "ms", times, series: stages(charts), stacked: true },
  ];
}

/** A first frame before any window has no gap and no costs, rather than some that are 0. */
function withoutFirst(charts) {
  if (charts.passes[0] !== 0) return charts;
  const clip = (values) => values.map((value, i) => (i === 0 ? null : value));
  const stages = charts.stages.map(({ name, milliseconds }) => ({ name, milliseconds: clip(milliseconds) }));
  return { ...charts, gap: clip(charts.gap), passes: clip(charts.passes), iterations: charts.iterations.map(clip), stages };
}

/** Motion of all together, potential energy of each, and the sum; which simulators tell of none is said beside it. */
function energies({ times, kinetic, potential }, simulators) {
  const sum = (columns) => times.map((_, i) => {
    const known = columns.map((values) => values[i]).filter((y) => y !== null);
    return known.length > 0 ? known.reduce((a, b) => a + b, 0) : null;
  });
  const changes = (values) => values.some((y) => y !== null && y !== 0);
  const potentials = potential.map((values, k) => ({ name: `potential, ${simulators[k]}`, values })).filter(({ values }) => changes(values));
  const silent = simulators.filter((_, k) => kinetic[k].every((y) => y === null));
  const total = silent.length > 0 ? `total without ${silent.join(", ")}` : "total";
  return [{ name: "kinetic", values: sum(kinetic) }, ...potentials.slice(0, 5), { name: total, values: sum([...kinetic, ...potential]) }];
}

/** Strain of deforming surfaces, if any. */
function strains({ times, strains }) {
  const percent = (values) => values.map((y) => (y === null ? null : 100 * y));
  const series = strains.slice(0, SERIES_COLOURS / 2).flatMap(({ name, largest, mean }) =>
    [{ name: `${name}: largest`, values: percent(largest) }, { name: `${name}: mean`, values: percent(mean) }]);
  return series.length > 0 ? [{ title: "Strain", unit: "%", times, series }] : [];
}

function iterations({ passes, iterations }, simulators) {
  const own = iterations.map((values, k) => ({ name: simulators[k], values })).filter(({ values }) => values.some((n) => n > 0));
  return [{ name: "passes of the coupling", values: passes }, ...own];
}

function stages({ times, stages }) {
  const total = ({ milliseconds }) => milliseconds.reduce((a, b) => a + b, 0);
  const sorted = [...stages].sort((a, b) => total(b) - total(a)).filter((stage) => total(stage) > 0);
  const series = sorted.slice(0, STAGES).map(({ name, milliseconds }) => ({ name, values: milliseconds }));
  const rest = sorted.slice(STAGES);
  if (rest.length > 0) series.push({ name: `${rest.length} others`, values: times.map((_, i) => rest.reduce((sum, { milliseconds }) => sum + milliseconds[i], 0)) });
  return series;
}
