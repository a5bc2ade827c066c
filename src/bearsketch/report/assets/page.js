"use strict";
(() => {
  const table = document.getElementById("features");
  if (!table) return;
  const data = JSON.parse(document.getElementById("data").textContent);
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const search = document.getElementById("search");
  const chooser = document.getElementById("class");
  const told = document.getElementById("shown");
  const all = document.getElementById("all");
  const first = heads.length - data.scales.length;
  const FEW = 25;
  let key = "rank", down = false, limit = FEW;

  const rows = [...body.rows].map((element, i) => ({
    element,
    rank: i + 1,
    name: element.cells[1].firstChild ? element.cells[1].firstChild.data : "",
    weights: data.weights[i],
    size: data.sizes ? data.sizes[i] : 1,
    shown: [],
    label: "",
  }));
  for (const row of rows) row.words = row.name.toLowerCase();

  // [class, weight] of a feature in a model: for the chosen class, or where it is strongest.
  function weigh(weights, chosen) {
    if (!weights) return null;
    if (data.kind !== "many") {
      const weight = weights[0];
      return chosen === null ? [weight > 0 ? 1 : 0, weight] : [chosen, chosen === 1 ? weight : -weight];
    }
    if (chosen !== null) return weights[chosen] === null ? null : [chosen, weights[chosen]];
    let best = null;
    weights.forEach((w, c) => {
      if (w !== null && (best === null || Math.abs(w) > Math.abs(best[1]))) best = [c, w];
    });
    return best;
  }

  function digits(size, places) {
    const small = size > 0 && size < 0.5 * 10 ** -places;
    return small ? size.toExponential(1).replace("-", "−") : size.toFixed(places);
  }

  function fill(row, chosen) {
    const found = row.weights.map((weights) => weigh(weights, chosen));
    const known = found.find((pair) => pair !== null);
    row.shown = found.map((pair) => (pair === null ? null : pair[1]));
    row.label = known && data.kind !== "number" ? data.labels[known[0]] : "";
    if (data.kind !== "number") row.element.cells[2].textContent = row.label;
    row.shown.forEach((weight, m) => {
      const cell = row.element.cells[first + m];
      const sign = weight === null ? "" : weight < 0 ? "−" : "+";
      cell.firstChild.textContent = weight === null ? "–" : sign + digits(Math.abs(weight), data.scales[m] >= 1 ? 3 : 5);
      const bar = cell.lastChild.firstChild;
      bar.className = "fill " + (weight < 0 ? "neg" : "pos");
      bar.style.width = 50 * Math.min(row.size * Math.abs(weight || 0) / data.scales[m], 1) + "%";
    });
  }

  function value(row) {
    if (key.startsWith("w")) return row.shown[Number(key.slice(1))];
    return row[key];
  }

  function compare(a, b) {
    const x = value(a), y = value(b);
    if (x === null || y === null) return (x === null) - (y === null) || a.rank - b.rank;
    const order = typeof x === "string" ? x.localeCompare(y) : x - y;
    return (down ? -order : order) || a.rank - b.rank;
  }

  function draw() {
    const words = search.value.trim().toLowerCase();
    const matching = rows.filter(
      (row) => row.words.includes(words) && row.shown.some((weight) => weight !== null),
    );
    matching.sort(compare);
    const drawn = matching.slice(0, limit);
    body.replaceChildren(...drawn.map((row) => row.element));
    const count = (n) => n.toLocaleString("en");
    told.textContent = matching.length
      ? `${count(drawn.length)} of ${count(matching.length)} features` + (words ? " that match" : "")
      : "No feature matches.";
    all.hidden = drawn.length === matching.length;
  }

  function refill() {
    const chosen = chooser && chooser.value !== "" ? Number(chooser.value) : null;
    for (const row of rows) fill(row, chosen);
    if (chosen === null) order("rank", false);
    else order("w0", true);
  }

  function order(by, descending) {
    key = by;
    down = descending;
    for (const head of heads) {
      const now = head.dataset.key === key ? (down ? "descending" : "ascending") : "none";
      head.setAttribute("aria-sort", now);
    }
    draw();
  }

  for (const head of heads) {
    head.firstChild.addEventListener("click", () => {
      const by = head.dataset.key;
      order(by, by === key ? !down : by.startsWith("w"));
    });
  }
  search.addEventListener("input", draw);
  if (chooser) chooser.addEventListener("change", refill);
  all.addEventListener("click", () => {
    limit = Infinity;
    draw();
  });
  refill();
})();
