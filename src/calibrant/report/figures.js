// Values of the figures: under the mouse, under a finger, and along the arrow keys.
const figureTips = (say) => {
  "use strict";
  const TICK = { linear: (v) => v, logit: (v) => 1 / (1 + Math.exp(-v)), log: (v) => 10 ** v };
  const NEAR = 26; // pixels
  const tip = document.createElement("div");
  tip.id = "tip";
  tip.hidden = true;
  const spot = document.createElement("div"); // the place on a line that the values are of
  spot.id = "spot";
  spot.hidden = true;
  document.body.append(tip, spot);
  let current = null;

  // Without this script the browser shows the titles; two labels at once would be one too many.
  for (const title of document.querySelectorAll(".figure title")) {
    title.parentElement.dataset.tip = title.textContent;
    title.remove();
  }

  const areaOf = (figure) => [...figure.querySelectorAll(".area")].find((area) => area.getClientRects().length);
  const pointsOf = (area) => [...area.querySelectorAll(".mark[data-tip], rect[data-tip], circle[data-tip]")];
  const linesOf = (area) => [...area.querySelectorAll("path[data-tip]")].filter((path) => path.getClientRects().length);

  function valueOn(area, name, unit) {
    const [kind, low, high] = area.dataset[name].split(" ");
    return TICK[kind](Number(low) + ((Number(high) - Number(low)) * unit) / 1000);
  }

  function corners(path) {
    const numbers = path.getAttribute("d").match(/-?[\d.]+/g).map(Number);
    const pairs = [];
    for (let i = 0; i < numbers.length; i += 2) pairs.push([numbers[i], numbers[i + 1]]);
    return pairs;
  }

  // The height of a line of corners at a place, both in units; nothing beyond its ends.
  function heightAt(pairs, x) {
    for (let i = 1; i < pairs.length; i += 1) {
      const [[x0, y0], [x1, y1]] = [pairs[i - 1], pairs[i]];
      if (x < x0 || x > x1) continue;
      return x1 === x0 ? y1 : y0 + ((y1 - y0) * (x - x0)) / (x1 - x0);
    }
    return null;
  }

  function percent(p) {
    const rarer = 100 * Math.min(p, 1 - p);
    const digits = rarer >= 1 || rarer <= 0 ? 1 : Math.min(4, 1 - Math.floor(Math.log10(rarer)));
    return `${(100 * p).toFixed(digits)}\u00a0%`;
  }
  const number = (v) => Number(v.toPrecision(4)).toLocaleString("en");

  function onLine(area, path, unit) {
    const y = heightAt(corners(path), unit);
    if (y === null) return null;
    const values = { x: valueOn(area, "x", unit), y: valueOn(area, "y", 1000 - y) };
    const band = path.parentElement.querySelector(".band[data-top]");
    if (band) {
      const pairs = corners(band), top = Number(band.dataset.top);
      const ends = { high: heightAt(pairs.slice(0, top), unit), low: heightAt(pairs.slice(top).reverse(), unit) };
      for (const [key, at] of Object.entries(ends)) values[key] = valueOn(area, "y", 1000 - at);
    }
    const text = path.dataset.tip.replace(/\{\{|\{(x|y|low|high)([%#])\}/g, (all, key, kind) =>
      all === "{{" ? "{" : kind === "%" ? percent(values[key]) : number(values[key]));
    const box = area.getBoundingClientRect();
    return { text, x: box.left + (unit / 1000) * box.width, y: box.top + (y / 1000) * box.height };
  }

  function onPoint(mark) {
    const shape = mark.querySelector("circle, path") || mark;
    const box = shape.getBoundingClientRect();
    return { mark, text: mark.dataset.tip, x: box.left + box.width / 2, y: box.top + (shape.tagName === "rect" ? 0 : box.height / 2) };
  }

  function show(found) {
    if (current) current.classList.remove("current");
    current = found && found.mark ? found.mark : null;
    tip.hidden = !found;
    spot.hidden = !found || Boolean(current);
    if (!found) return;
    if (current) current.classList.add("current");
    tip.textContent = found.text;
    const width = tip.offsetWidth, height = tip.offsetHeight, edge = document.documentElement.clientWidth;
    const left = found.x + 14 + width > edge ? Math.max(4, found.x - 14 - width) : found.x + 14;
    const top = found.y - height - 10 < 0 ? found.y + 14 : found.y - height - 10;
    tip.style.left = `${left + scrollX}px`;
    tip.style.top = `${top + scrollY}px`;
    spot.style.left = `${found.x + scrollX}px`;
    spot.style.top = `${found.y + scrollY}px`;
  }

  function nearest(area, event) {
    const distance = (one) => Math.hypot(one.x - event.clientX, one.y - event.clientY);
    const bar = event.target.closest && event.target.closest("rect[data-tip]");
    if (bar) return onPoint(bar);
    const points = pointsOf(area).filter((mark) => mark.tagName !== "rect").map(onPoint);
    const point = points.sort((a, b) => distance(a) - distance(b))[0];
    if (point && distance(point) < NEAR / 2) return point;
    const box = area.getBoundingClientRect(), unit = (1000 * (event.clientX - box.left)) / box.width;
    const lines = linesOf(area).map((path) => onLine(area, path, unit)).filter(Boolean);
    const both = point ? [point, ...lines] : lines;
    const best = both.sort((a, b) => distance(a) - distance(b))[0];
    return best && distance(best) < NEAR ? best : null;
  }

  // The places that the arrow keys go through: all points, or even steps along the lines.
  function stops(area) {
    const points = pointsOf(area);
    if (points.length) return points.map(onPoint);
    const steps = Array.from({ length: 21 }, (_, i) => 50 * i);
    return linesOf(area).flatMap((path) => steps.map((unit) => onLine(area, path, unit)).filter(Boolean));
  }

  for (const figure of document.querySelectorAll(".figure")) {
    let at = -1;
    for (const kind of ["pointermove", "pointerdown"]) {
      figure.addEventListener(kind, (event) => { const area = areaOf(figure); if (area) show(nearest(area, event)); });
    }
    figure.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") show(null); });
    figure.addEventListener("blur", () => { at = -1; show(null); });
    figure.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (event.key === "Escape") show(null);
      const area = areaOf(figure);
      if (!step || !area) return;
      const places = stops(area);
      if (!places.length) return;
      event.preventDefault();
      at = Math.min(Math.max(at + step, 0), places.length - 1);
      show(places[at]);
      say(places[at].text);
    });
  }
  return () => show(null);
};
