"use strict";
// Zoom and hover for the charts of the page. Each chart is an SVG that is complete without this; the script moves what
// is drawn there already, and reads its numbers from the JSON beside it.
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

  const grouped = (value, decimals) =>
    value.toLocaleString("en-US", { minimumFractionDigits: decimals, maximumFractionDigits: decimals }).replace("-", "−");

  // A number as the axis of the page writes it.
  const label = (value, decimals, axis) => {
    const scaled = axis.percent ? value * 100 : value;
    const size = Math.abs(scaled);
    const unit = axis.percent ? "%" : "";
    if (size !== 0 && (size < 1e-5 || size >= 1e12)) {
      const exponent = Math.floor(Math.log10(size) + 1e-9);
      const power = String(Math.abs(exponent)).replace(/\d/g, (digit) => SUPERSCRIPTS[digit]);
      return `${grouped(scaled / 10 ** exponent, 2)}·10${exponent < 0 ? "⁻" : ""}${power}${unit}`;
    }
    return grouped(scaled, decimals) + unit;
  };

  const exact = (value, axis) => {
    if (value === null) return "–";
    if (axis.percent) return label(value, 2, axis);
    return label(value, Number.isInteger(value) ? 0 : Math.max(0, 5 - Math.floor(Math.log10(Math.abs(value) || 1))), axis);
  };

  const ticks = (low, high, most, axis) => {
    const marks = [];
    if (axis.log && high / low >= 10) {
      const first = Math.ceil(Math.log10(low) - 1e-9);
      const last = Math.floor(Math.log10(high) + 1e-9);
      const every = Math.max(1, Math.ceil((last - first + 1) / most));
      for (let e = first; e <= last; e++) {
        if (e % every === 0) marks.push([10 ** e, label(10 ** e, Math.max(0, -e - (axis.percent ? 2 : 0)), axis)]);
      }
      return marks;
    }
    const least = (high - low) / most;
    const power = 10 ** Math.floor(Math.log10(least));
    const step = power * [1, 2, 5, 10].find((m) => power * m >= least * (1 - 1e-9));
    const decimals = Math.max(0, -Math.floor(Math.log10(axis.percent ? step * 100 : step) + 1e-9));
    for (let k = Math.ceil(low / step - 1e-9); k <= Math.floor(high / step + 1e-9); k++) {
      marks.push([k * step, label(k * step, decimals, axis)]);
    }
    return marks;
  };

  const made = (name, attributes, parent) => {
    const element = document.createElementNS(SVG, name);
    Object.entries(attributes).forEach(([key, value]) => element.setAttribute(key, value));
    if (parent) parent.append(element);
    return element;
  };

  // The number of the last x that is at most this, in ascending numbers.
  const before = (sorted, x) => {
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sorted[middle] <= x) low = middle + 1; else high = middle;
    }
    return Math.max(0, low - 1);
  };

  // One of the two drawings of a chart.
  class Drawing {
    constructor(root, data) {
      this.root = root;
      this.data = data;
      this.plot = root.querySelector(".plot");
      const number = (name) => Number(this.plot.getAttribute(name));
      [this.left, this.top, this.width, this.height] = ["x", "y", "width", "height"].map(number);
      const [x0, x1, y0, y1] = this.plot.dataset.limits.split(" ").map(Number);
      this.limits = { x: [x0, x1], y: [y0, y1] };
      const kept = [".x-grid", ".y-grid", ".x-ticks", ".y-ticks"].map((name) => root.querySelector(name)).filter(Boolean);
      this.frame = kept.map((element) => [element, element.getAttribute("d"), [...element.childNodes]]);
      this.paths = data.layers.map((_, i) => this.plot.querySelector(`[data-layer="${i}"] path`));
      this.drawn = this.paths.map((path) => path && path.getAttribute("d"));
      this.cross = made("path", { stroke: "currentColor", "stroke-dasharray": "3 3", fill: "none", class: "muted" }, this.plot);
      this.dots = data.layers.map((layer, i) => {
        const group = this.plot.querySelector(`[data-layer="${i}"]`);
        return "y" in layer ? made("circle", { r: 4, fill: "currentColor", visibility: "hidden" }, group) : null;
      });
      this.choice = made("rect", { y: 0, height: this.height, fill: "currentColor", "fill-opacity": 0.15, visibility: "hidden" }, this.plot);
      this.view = this.limits;
    }

    place(value, side) {
      const [low, high] = this.view[side];
      const log = this.data[side === "x" ? "horizontal" : "vertical"].log;
      const share = log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
      return side === "x" ? share * this.width : (1 - share) * this.height;
    }

    // The x at a place of the pointer.
    at(event) {
      const box = this.root.getBoundingClientRect();
      const pixel = ((event.clientX - box.left) / box.width) * this.root.viewBox.baseVal.width - this.left;
      return this.value(Math.min(1, Math.max(0, pixel / this.width)));
    }

    value(share) {
      const [low, high] = this.view.x;
      return this.data.horizontal.log ? low * (high / low) ** share : low + (high - low) * share;
    }

    show(view) {
      this.view = view || this.limits;
      if (!view) {
        this.paths.forEach((path, i) => path && path.setAttribute("d", this.drawn[i]));
        this.frame.forEach(([element, d, children]) => (d === null ? element.replaceChildren(...children) : element.setAttribute("d", d)));
        return;
      }
      this.paths.forEach((path, i) => path && path.setAttribute("d", this.path(this.data.layers[i])));
      this.redraw("x");
      this.redraw("y");
    }

    path(layer) {
      if ("level" in layer) return `M0 ${this.place(layer.level, "y").toFixed(1)}H${this.width}`;
      const xs = this.data.places[layer.x];
      const [low, high] = this.view.x;
      const first = before(xs, low);
      const last = Math.min(xs.length - 1, before(xs, high) + 1);
      let path = "";
      for (let i = first, move = true; i <= last; i++) {
        const y = layer.y[i] === null ? NaN : this.place(layer.y[i], "y");
        if (Number.isFinite(y)) path += `${move ? "M" : "L"}${this.place(xs[i], "x").toFixed(1)} ${y.toFixed(1)}`;
        move = !Number.isFinite(y);
      }
      return path || "M0 0";
    }

    redraw(side) {
      const axis = this.data[side === "x" ? "horizontal" : "vertical"];
      const length = side === "x" ? this.width : this.height;
      const distance = side === "y" ? 48 : this.root.viewBox.baseVal.width > 480 ? 96 : 72;
      const marks = ticks(...this.view[side], Math.max(2, length / distance), axis);
      const group = this.root.querySelector(`.${side}-ticks`);
      const grid = this.root.querySelector(`.${side}-grid`);
      const places = marks.map(([value]) => this.place(value, side));
      const texts = marks.map(([, text], i) => {
        const place = side === "x"
          ? { x: this.left + places[i], y: this.top + this.height + 16 }
          : { x: this.left - 8, y: this.top + places[i] + 4 };
        const element = made("text", place);
        element.textContent = text;
        return element;
      });
      if (group) group.replaceChildren(...texts);
      const line = (p) => (side === "x" ? `M${this.left + p} ${this.top}v${this.height}` : `M${this.left} ${this.top + p}h${this.width}`);
      if (grid) grid.setAttribute("d", places.map(line).join("") || "M0 0");
    }

    mark(x) {
      this.cross.setAttribute("d", x === null ? "M0 0" : `M${this.place(x, "x")} 0V${this.height}`);
      this.dots.forEach((dot, i) => {
        if (!dot) return;
        const layer = this.data.layers[i];
        const xs = this.data.places[layer.x];
        const y = x === null ? null : layer.y[before(xs, x)];
        dot.setAttribute("visibility", y === null ? "hidden" : "visible");
        if (y === null) return;
        dot.setAttribute("cx", this.place(x, "x"));
        dot.setAttribute("cy", this.place(y, "y"));
      });
    }

    choose(from, to) {
      const none = from === null;
      this.choice.setAttribute("visibility", none ? "hidden" : "visible");
      if (none) return;
      const [a, b] = [this.place(from, "x"), this.place(to, "x")];
      this.choice.setAttribute("x", Math.min(a, b));
      this.choice.setAttribute("width", Math.abs(a - b));
    }
  }

  class Chart {
    constructor(figure, data) {
      this.data = data;
      this.places = data.places.reduce((longest, one) => (one.length > longest.length ? one : longest), []);
      this.box = figure.querySelector(".drawing");
      this.drawings = [...this.box.querySelectorAll("svg.onlinear")].map((root) => new Drawing(root, data));
      this.readout = document.createElement("p");
      this.readout.className = "readout";
      this.reset = document.createElement("button");
      this.reset.type = "button";
      this.reset.textContent = "Show all";
      this.reset.hidden = true;
      this.box.after(this.readout, this.reset);
      this.point = null;
      this.from = null;
      this.hint = "Point at the chart to read it; drag to zoom, double-click to show all. Keys: ← → + − Esc.";
      this.readout.textContent = this.hint;
      this.box.classList.add("live");
      this.box.tabIndex = 0;
      this.box.setAttribute("role", "group");
      this.box.setAttribute("aria-label", `${figure.querySelector("h3").textContent}: arrow keys read it, plus and minus zoom, Escape shows all`);
      this.listen();
    }

    get shown() {
      return this.drawings.find((one) => one.root.getBoundingClientRect().width > 0) || this.drawings[0];
    }

    get full() {
      return this.drawings[0].limits;
    }

    listen() {
      const on = (type, action) => this.box.addEventListener(type, action);
      on("pointermove", (event) => {
        const x = this.shown.at(event);
        this.read(x, "off");
        if (this.from !== null) this.drawings.forEach((one) => one.choose(this.from, x));
      });
      on("pointerdown", (event) => {
        if (event.button !== 0) return;
        this.from = this.shown.at(event);
        this.start = event.clientX;
        this.read(this.from, "off");
        this.box.setPointerCapture(event.pointerId);
      });
      on("pointerup", (event) => {
        const [from, to] = [this.from, this.shown.at(event)];
        const far = Math.abs(event.clientX - this.start) > 8;
        this.stop();
        if (from !== null && far) this.zoom(Math.min(from, to), Math.max(from, to));
      });
      on("pointercancel", () => this.stop());
      // A finger leaves with each tap; what it has read stays.
      on("pointerleave", (event) => { if (this.from === null && event.pointerType === "mouse") this.read(null, "off"); });
      on("dblclick", () => this.all());
      on("wheel", (event) => {
        // Without a key, and where the chart was not chosen, the wheel scrolls the page.
        if (!event.ctrlKey && document.activeElement !== this.box) return;
        event.preventDefault();
        this.scale(event.deltaY > 0 ? 1.25 : 0.8, this.shown.at(event));
      });
      on("keydown", (event) => this.key(event));
      on("blur", () => this.read(null, "off"));
      this.reset.addEventListener("click", () => { this.all(); this.box.focus(); });
    }

    stop() {
      this.from = null;
      this.drawings.forEach((one) => one.choose(null, null));
    }

    key(event) {
      const [low, high] = this.shown.view.x;
      const middle = this.point === null ? this.shown.value(0.5) : this.point;
      const step = event.shiftKey ? 20 : 1;
      const actions = {
        ArrowRight: () => this.go(step),
        ArrowLeft: () => this.go(-step),
        Home: () => this.read(this.places.find((x) => x >= low), "polite"),
        End: () => this.read(this.places[before(this.places, high)], "polite"),
        "+": () => this.scale(0.5, middle),
        "=": () => this.scale(0.5, middle),
        "-": () => this.scale(2, middle),
        Escape: () => this.all(),
      };
      if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in actions)) return;
      event.preventDefault();
      actions[event.key]();
    }

    go(steps) {
      const [low, high] = this.shown.view.x;
      const here = before(this.places, this.point === null ? this.shown.value(0.5) : this.point);
      const next = this.places[Math.min(this.places.length - 1, Math.max(0, here + steps))];
      this.read(Math.min(high, Math.max(low, next)), "polite");
    }

    // Show the numbers at x. Only with the keyboard are they announced: with the pointer there would be too many.
    read(x, announced) {
      this.point = x;
      this.drawings.forEach((one) => one.mark(x));
      this.readout.setAttribute("aria-live", announced);
      if (x === null) {
        this.readout.textContent = this.hint;
        return;
      }
      const told = (name, value) => {
        const span = document.createElement("span");
        const strong = document.createElement("b");
        strong.textContent = value;
        span.append(`${name} `, strong);
        return span;
      };
      const i = before(this.places, x);
      const spans = [told(this.data.horizontal.label, exact(this.places[i], this.data.horizontal))];
      this.data.layers.forEach((layer) => {
        if (!layer.name) return;
        const y = "level" in layer ? layer.level : layer.y[before(this.data.places[layer.x], x)];
        spans.push(told(layer.name, exact(y, this.data.vertical)));
      });
      this.readout.replaceChildren(...spans.flatMap((span) => [span, " "]));
    }

    scale(factor, around) {
      const log = this.data.horizontal.log;
      const inner = (x) => (log ? Math.log(x) : x);
      const outer = (x) => (log ? Math.exp(x) : x);
      const [low, high] = this.shown.view.x.map(inner);
      const x = inner(around);
      this.zoom(outer(x - (x - low) * factor), outer(x + (high - x) * factor));
    }

    zoom(low, high) {
      const [first, last] = this.full.x;
      const [a, b] = [Math.max(first, low), Math.min(last, high)];
      if (a <= first && b >= last) return this.all();
      const few = this.places.slice(before(this.places, a), before(this.places, b) + 2);
      if (few.length < 3) return undefined;
      this.view({ x: [a, b], y: this.heights(a, b) });
      return undefined;
    }

    // The heights of the lines between two places, with some room; levels are not counted.
    heights(a, b) {
      let [low, high] = [Infinity, -Infinity];
      this.data.layers.forEach((layer) => {
        if (!("y" in layer)) return;
        const xs = this.data.places[layer.x];
        for (let i = before(xs, a); i < xs.length && i <= before(xs, b) + 1; i++) {
          const y = layer.y[i];
          if (y === null || (this.data.vertical.log && y <= 0)) continue;
          low = Math.min(low, y);
          high = Math.max(high, y);
        }
      });
      if (!(low < high)) return this.full.y;
      if (this.data.vertical.log) return [low / 1.1, high * 1.1];
      const room = (high - low) * 0.05;
      return [Math.max(this.full.y[0], low - room), high + room];
    }

    view(view) {
      this.drawings.forEach((one) => one.show(view));
      this.reset.hidden = !view;
      this.read(this.point, "off");
    }

    all() {
      this.view(null);
    }
  }

  document.querySelectorAll("figure.chart").forEach((figure) => {
    const data = figure.querySelector('script[type="application/json"]');
    if (data) new Chart(figure, JSON.parse(data.textContent));
  });
})();
