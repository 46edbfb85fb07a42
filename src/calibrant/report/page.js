(() => {
  "use strict";
  const page = JSON.parse(document.getElementById("report-data").textContent);
  const root = document.documentElement;
  const state = { scale: page.scale, methods: new Set(), printing: false };
  const clone = (value) => JSON.parse(JSON.stringify(value));
  const say = (text) => { document.getElementById("status").textContent = text; };

  // Colours live in the style sheet: "@before" is the variable --before, "@before/band" the same, see-through.
  function color(token) {
    const [name, part] = token.slice(1).split("/");
    const hex = getComputedStyle(root).getPropertyValue(`--${name}`).trim();
    if (!part) return hex;
    const [r, g, b] = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
    return `rgba(${r},${g},${b},${part === "thin" ? 0.4 : 0.2})`;
  }
  function paint(value) {
    if (typeof value === "string") return value.startsWith("@") ? color(value) : value;
    if (Array.isArray(value)) return typeof value[0] === "number" ? value : value.map(paint);
    if (value && typeof value === "object") {
      for (const key of Object.keys(value)) if (key !== "x" && key !== "y" && key !== "customdata") value[key] = paint(value[key]);
    }
    return value;
  }

  // Stretched axes show log(p / (1 - p)).
  const logit = (p) => Math.log(Math.max(p, 1e-12) / Math.max(1 - p, 1e-12));
  const within = (limits) => (p) => Math.min(Math.max(logit(p), limits[0]), limits[1]);

  // Lines run on beyond the ends of the axes; points beyond them stand at the end, as triangles that point outwards.
  function scatter(trace, scale, both, out) {
    const { low, high, rows, left, right, diagonal, band } = trace.meta;
    const [x, y] = [trace.x, trace.y];
    const line = scale ? logit : (p) => p;
    const point = scale ? within(scale) : (p) => p;
    const move = trace.mode === "lines" ? line : point;
    trace.customdata = x.map((v, i) => [v, y[i], low ? low[i] : 0, high ? high[i] : 0, rows ? rows[i] : 0, left ? left[i] : 0, right ? right[i] : 0]);
    trace.x = both ? x.map(move) : x;
    trace.y = both ? y.map(move) : y;
    if (diagonal && scale) trace.x = trace.y = [scale[0], scale[1]];
    if (trace.error_y) {
      trace.error_y.array = high.map((v, i) => move(v) - trace.y[i]);
      trace.error_y.arrayminus = low.map((v, i) => trace.y[i] - move(v));
      trace.error_x.array = right.map((v, i) => move(v) - trace.x[i]);
      trace.error_x.arrayminus = left.map((v, i) => trace.x[i] - move(v));
      trace.cliponaxis = false;
      if (scale) trace.marker.symbol = y.map((v, i) => outside(x[i], v, scale));
    }
    if (band) {
      out.push({
        type: "scatter", mode: "lines", hoverinfo: "skip", showlegend: false, visible: trace.visible, fill: "toself",
        x: trace.x.concat([...trace.x].reverse()), y: high.map(move).concat(low.map(move).reverse()),
        fillcolor: band, line: { width: 0, color: band },
      });
    }
    out.push(trace);
  }
  function outside(x, y, [low, high]) {
    if (logit(y) < low) return "triangle-down";
    if (logit(y) > high) return "triangle-up";
    return logit(x) < low ? "triangle-left" : logit(x) > high ? "triangle-right" : "circle";
  }

  // Rows beyond the ends of a stretched axis count in the outermost bars, so that none are lost.
  function bars(trace, scale, out) {
    const found = trace.meta.bars[scale ? "logit" : "linear"];
    const ends = scale || [-Infinity, Infinity];
    const move = scale ? within(scale) : (p) => p;
    const shown = [];
    for (let i = 0; i < found.total.length; i += 1) {
      const bar = { from: found.left[i], to: found.right[i], rows: found.total[i], positives: found.positives[i] };
      bar.left = move(bar.from);
      bar.right = move(bar.to);
      if (bar.right <= ends[0]) bar.right = ends[0] + 0.25;
      if (bar.left >= ends[1]) bar.left = ends[1] - 0.25;
      const last = shown[shown.length - 1];
      const joins = scale && last && bar.left < last.right - 1e-6;
      if (joins) {
        Object.assign(last, { to: bar.to, right: Math.max(last.right, bar.right), rows: last.rows + bar.rows, positives: last.positives + bar.positives });
      } else shown.push(bar);
    }
    trace.x = shown.map((bar) => (bar.left + bar.right) / 2);
    trace.width = shown.map((bar) => bar.right - bar.left);
    trace.y = shown.map((bar) => bar.rows);
    trace.customdata = shown.map((bar) => [bar.from, bar.to, bar.rows, bar.rows ? bar.positives / bar.rows : 0]);
    out.push(trace);
  }

  // As many ticks, evenly chosen around the middle, as have room for their texts.
  function roomyTicks(scale, width) {
    const [low, high] = scale.logit, pixels = (width - 80) / (high - low), middle = Math.max(scale.texts.indexOf("50%"), 0);
    for (let every = 1; ; every += 1) {
      const kept = scale.ticks.map((_, i) => i).filter((i) => (i - middle) % every === 0);
      const room = (i, next) => pixels * (scale.ticks[next] - scale.ticks[i]) > 4 * (scale.texts[i].length + scale.texts[next].length) + 8;
      if (every >= scale.ticks.length || kept.every((i, at) => at + 1 === kept.length || room(i, kept[at + 1]))) return kept;
    }
  }

  function probabilityAxis(scale, stretched, width) {
    if (!stretched) {
      const [low, high] = scale.linear, margin = 0.02 * (high - low);
      return { range: [low - margin, high + margin], tickformat: ",.3~%", nticks: 7 };
    }
    const shown = roomyTicks(scale, width);
    return { range: scale.logit, tickvals: shown.map((i) => scale.ticks[i]), ticktext: shown.map((i) => scale.texts[i]), tickangle: 0 };
  }

  function heightOf(div, meta, width) {
    // On paper a figure must fit on one page.
    const row = state.printing ? Math.min(30, 760 / meta.rows) : 30;
    if (meta.rows) return 90 + row * meta.rows + (meta.rows < 3 ? 40 : 0);
    if (meta.square) return Math.min(width, state.printing ? 420 : 540);
    return Math.max(260, Math.min(0.5 * width, 380));
  }

  function draw(id, figure) {
    const div = document.getElementById(`figure-${id}`);
    if (!div || !figure) return undefined;
    const { data, layout, meta } = clone(figure);
    const scale = meta.scale && state.scale === "logit" ? meta.scale.logit : null;
    const out = [];
    for (const trace of data) {
      if (trace.meta.method) trace.visible = state.methods.has(trace.meta.method);
      if (trace.meta.bars) bars(trace, scale, out);
      else if (meta.square) scatter(trace, scale, meta.both, out);
      else out.push(trace);
    }
    const width = state.printing ? printWidth(div) : div.clientWidth;
    if (meta.rows && width < 480) {
      Object.assign(layout.xaxis, { nticks: 4, tickangle: 0, title: { text: meta.short } });
      layout.yaxis.ticktext = meta.names;
    }
    const axis = { gridcolor: "@grid", zerolinecolor: "@faint", linecolor: "@line", zeroline: false, fixedrange: true, automargin: true, ticks: "", title: { standoff: 10 } };
    const full = { ...layout, width, height: heightOf(div, meta, width), dragmode: false, hovermode: "closest", showlegend: false };
    for (const key of Object.keys(full)) {
      if (!/^[xy]axis\d*$/.test(key)) continue;
      const shared = meta.scale && (key === "xaxis" || meta.both) ? probabilityAxis(meta.scale, scale, width) : {};
      const counts = meta.log && key !== "xaxis" ? (meta.log[state.scale] ? { type: "log", dtick: 1 } : { type: "linear", nticks: 4 }) : {};
      full[key] = { ...axis, ...shared, ...counts, ...full[key], title: { ...axis.title, ...(full[key].title || {}) } };
    }
    Object.assign(full, {
      margin: { l: 54, r: 14, t: 10, b: 50 }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: getComputedStyle(document.body).fontFamily, size: width < 420 ? 12 : 13, color: "@ink" },
      hoverlabel: { bgcolor: "@card", bordercolor: "@line", font: { color: "@ink", size: 13 }, align: "left" },
    });
    div.style.minHeight = `${full.height}px`;
    return Plotly.react(div, paint(out), paint(full), { displayModeBar: false, responsive: false, doubleClick: false });
  }

  function printWidth(div) {
    const inPair = div.closest(".pair") && div.closest(".pair").children.length > 1;
    return inPair ? 300 : div.classList.contains("square") ? 460 : 660;
  }

  function chosenSegment() {
    const select = document.getElementById("segment");
    return select ? page.segments[Number(select.value)] : null;
  }
  function drawAll() {
    for (const [id, figure] of Object.entries(page.figures)) draw(id, figure);
    draw("segment", chosenSegment());
    document.getElementById("beyond-note").hidden = !anyTriangle();
    document.getElementById("log-note").hidden = !page.figures.scores.meta.log[state.scale];
  }

  function anyTriangle() {
    return ["before", "after"].some((id) => {
      const div = document.getElementById(`figure-${id}`);
      return div && div.data.some(({ marker }) => marker && Array.isArray(marker.symbol) && marker.symbol.some((symbol) => symbol !== "circle"));
    });
  }

  function press(buttons, test) {
    for (const button of buttons) button.setAttribute("aria-pressed", String(test(button)));
  }
  const all = (selector) => [...document.querySelectorAll(selector)];

  const scaleButtons = all("button[data-scale]");
  function setScale(name) {
    state.scale = name;
    press(scaleButtons, (button) => button.dataset.scale === name);
  }
  for (const button of scaleButtons) button.addEventListener("click", () => { setScale(button.dataset.scale); drawAll(); });

  const methodButtons = all("button[data-method]");
  const everything = document.getElementById("all-methods");
  function setMethods(names) {
    state.methods = new Set(names);
    press(methodButtons, (button) => state.methods.has(button.dataset.method));
    if (everything) everything.textContent = state.methods.size === methodButtons.length ? "Show one" : "Show all";
  }
  for (const button of methodButtons) {
    button.addEventListener("click", () => {
      const name = button.dataset.method, names = new Set(state.methods);
      if (!names.delete(name)) names.add(name);
      setMethods(names);
      draw("map", page.figures.map);
    });
  }
  const firstMethod = page.figures.map.data.flatMap(({ meta }) => meta.method || []).slice(0, 1);
  if (everything) {
    everything.addEventListener("click", () => {
      setMethods(state.methods.size === methodButtons.length ? firstMethod : methodButtons.map((button) => button.dataset.method));
      draw("map", page.figures.map);
    });
  }

  function fillRows(body, rows) {
    body.replaceChildren(...rows.map((cells) => {
      const row = document.createElement("tr");
      for (const text of cells) row.insertCell().textContent = text;
      return row;
    }));
  }

  const select = document.getElementById("segment");
  if (select) {
    select.addEventListener("change", () => {
      const name = select.selectedOptions[0].textContent;
      document.getElementById("segment-name").textContent = name;
      document.getElementById("figure-segment").setAttribute("aria-label", `Reliability diagram of segment ${name} over the curve of all rows.`);
      fillRows(document.getElementById("segment-rows"), page.segment_rows[Number(select.value)]);
      say(`The diagram shows ${name}.`);
      draw("segment", chosenSegment());
    });
  }

  const themeButton = document.getElementById("theme");
  function setTheme(name) {
    root.dataset.theme = name;
    themeButton.textContent = name === "dark" ? "Light theme" : "Dark theme";
    drawAll();
  }
  themeButton.addEventListener("click", () => setTheme(root.dataset.theme === "dark" ? "light" : "dark"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (event) => { if (!state.printing) setTheme(event.matches ? "dark" : "light"); });

  let themeBefore = null;
  addEventListener("beforeprint", () => {
    if (themeBefore === null) themeBefore = root.dataset.theme;
    state.printing = true;
    for (const details of all("#about details, #segments details:not(.numbers)")) details.open = true;
    setTheme("light");
  });
  addEventListener("afterprint", () => {
    state.printing = false;
    setTheme(themeBefore || "light");
    themeBefore = null;
  });

  for (const button of all("button[data-copy]")) {
    button.addEventListener("click", async () => {
      const pre = document.getElementById(button.dataset.copy);
      try {
        await navigator.clipboard.writeText(pre.textContent);
        say("Copied.");
        button.textContent = "Copied";
        setTimeout(() => { button.textContent = "Copy"; }, 1500);
      } catch {
        getSelection().selectAllChildren(pre);
        say("The code is selected; copy it with the keyboard.");
      }
    });
  }

  let width = innerWidth, waiting = 0;
  addEventListener("resize", () => {
    if (state.printing || innerWidth === width) return;
    width = innerWidth;
    clearTimeout(waiting);
    waiting = setTimeout(drawAll, 120);
  });

  setScale(page.scale);
  setMethods(firstMethod);
  setTheme(root.dataset.theme);
  root.dataset.ready = "true";
})();
