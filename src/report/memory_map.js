// The memory map of a plan: a panel a pool, time to the right, addresses upwards, all panels over the same stretch of
// time. Everything that is shown of the plan goes through textContent and setAttribute, never through markup.
'use strict';
(() => {
  const {modules} = JSON.parse(document.getElementById('plan').textContent);
  const SVG = 'http://www.w3.org/2000/svg';
  const GUTTER = 104, RIGHT = 14, TOP = 18, AXIS = 126;  // around the drawing of a panel, px
  const NO_OPERATOR = '#c3c9d1';
  const BUFFER_COLORS = {tensor: '#8ecae6', scratch: '#ffc145', input: '#90be6d', output: '#f28482', constant: '#b8a1e3'};
  // The module that is shown.
  let plan, horizon, indexById;
  const view = {begin: 0, end: 1};  // what is shown of time, shared by all panels
  const panels = [];
  const tip = document.getElementById('tip');
  const search = document.getElementById('search');
  const coloring = document.getElementById('coloring');
  const status = document.getElementById('status');
  let chosen = null;
  let matches = [];

  const make = (parent, name, attributes, text) => {
    const element = document.createElementNS(SVG, name);
    for (const key in attributes) element.setAttribute(key, attributes[key]);
    if (text !== undefined) element.textContent = text;
    parent.append(element);
    return element;
  };
  const html = (parent, name, text) => {
    const element = document.createElement(name);
    if (text !== undefined) element.textContent = text;
    parent.append(element);
    return element;
  };
  const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
  const bytes = (number) => number + (number === 1 ? ' byte' : ' bytes');
  const shortened = (text, most) => text.length <= most ? text
    : text.slice(0, Math.ceil(most / 2) - 1) + '…' + text.slice(text.length - Math.floor(most / 2));
  const operatorText = (index) => index < 0 ? '' : plan.calls[index].name;
  const operatorOf = (buffer) => buffer.operator < 0 ? ''
    : plan.operators[buffer.operator] + (buffer.more ? ' and ' + buffer.more + ' more' : '');

  const pen = document.createElement('canvas').getContext('2d');
  pen.font = '11px system-ui, sans-serif';
  const widthOf = (text) => pen.measureText(text).width;

  // As much of a buffer's label as so many pixels hold: "conv2d_nhwc #5 conv2d", "conv2d_nhwc", "con…nhwc".
  const fitted = (buffer, room) => {
    const {name} = buffer;
    const known = buffer.call >= 0 && plan.calls[buffer.call].kind !== '';
    const both = known ? name + ' ' + operatorOf(buffer) : name;
    if (widthOf(both) <= room) return both;
    for (let letters = Math.min(name.length, Math.floor(room / 3)); letters >= Math.min(6, name.length); --letters) {
      const text = shortened(name, letters);
      if (widthOf(text) <= room) return text;
    }
    return '';
  };

  // The longest part of [begin, end) that is in none of the stretches.
  const longestFree = (begin, end, stretches) => {
    let best = [begin, begin], free = begin;
    for (const [from, to] of [...stretches.sort((a, b) => a[0] - b[0]), [end, end]]) {
      const until = Math.min(from, end);
      if (until - free > best[1] - best[0]) best = [free, until];
      free = Math.max(free, to);
    }
    return best;
  };

  // Steps of 1, 2, 4, 8, … for bytes and 1, 2, 5, 10, … for ticks, so that no more than `most` are shown.
  const byteStep = (span, most) => 2 ** Math.max(0, Math.ceil(Math.log2(Math.max(span, 1) / most)));
  const tickStep = (span, most) => {
    let step = 1;
    for (let i = 0; span / step > most; ++i) step = i % 3 === 1 ? step / 2 * 5 : step * 2;
    return step;
  };
  const byteText = (number, step) => step % 524288 === 0 ? number / 1048576 + ' MiB'
    : step % 512 === 0 ? number / 1024 + ' KiB' : number + ' B';

  // The calls whose ticks [begin, end) touches.
  const callsDuring = (begin, end) => {
    const touched = [];
    plan.calls.forEach((call, index) => { if (call.begin < end && begin < call.end) touched.push(index); });
    return touched;
  };

  const colorOf = (buffer) => {
    if (coloring.value === 'kind') return BUFFER_COLORS[buffer.kind];
    return buffer.operator < 0 ? NO_OPERATOR : plan.colors[buffer.operator];
  };

  class Panel {
    constructor(pool) {
      this.pool = pool;
      this.buffers = plan.buffers.filter((buffer) => plan.pools[buffer.pool] === pool);
      this.sharedOf = new Map();  // by id: the other buffer's id, begin, end, ticks
      for (const [first, second, begin, end, ...ticks] of pool.shared) {
        for (const [one, other] of [[first, second], [second, first]]) {
          if (!this.sharedOf.has(one)) this.sharedOf.set(one, []);
          this.sharedOf.get(one).push({other, begin, end, ticks});
        }
      }
      this.full = Math.max(pool.used, pool.lower_bound, 1) * 1.06;
      this.low = 0;
      this.high = this.full;
      this.height = pool.kind === 'workspace' ? 380 : 240;
      const section = html(document.getElementById('panels'), 'section');
      html(section, 'h2', pool.name);
      for (const line of pool.text) html(section, 'p', line);
      if (this.buffers.length === 0) return;
      this.svg = make(section, 'svg', {role: 'application', tabindex: 0, height: this.height + TOP + (pool.kind === 'workspace' ? AXIS : 4),
        'aria-label': 'Memory map of ' + pool.name + ': ' + this.buffers.length + ' buffers. Arrow keys choose one.'});
      this.listen();
    }

    x(tick) { return GUTTER + (tick - view.begin) / (view.end - view.begin) * this.width; }
    y(address) { return TOP + this.height - (address - this.low) / (this.high - this.low) * this.height; }

    draw() {
      if (!this.svg) return;
      this.width = Math.max(120, this.svg.clientWidth - GUTTER - RIGHT);
      this.svg.replaceChildren();
      this.svg.classList.toggle('zoomed', view.end - view.begin < horizon || this.high - this.low < this.full);
      const clip = 'clip' + plan.pools.indexOf(this.pool);
      const frame = {x: GUTTER, y: TOP, width: this.width, height: this.height};
      make(make(this.svg, 'clipPath', {id: clip}), 'rect', frame);
      this.hatch = 'hatch' + plan.pools.indexOf(this.pool);
      const pattern = make(make(this.svg, 'defs', {}), 'pattern', {id: this.hatch, width: 6, height: 6,
        patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)'});
      make(pattern, 'rect', {width: 2.5, height: 6, fill: '#14181d', 'fill-opacity': .5});
      make(this.svg, 'rect', {...frame, class: 'frame'});
      this.drawAxes();
      this.inner = make(this.svg, 'g', {'clip-path': 'url(#' + clip + ')'});
      this.drawBuffers();
      this.drawLoad();
      this.drawLimits();
      this.drawLabels();
      this.mark();
    }

    drawAxes() {
      const step = byteStep(this.high - this.low, Math.max(2, this.height / 36));
      for (let at = Math.ceil(this.low / step) * step; at <= this.high; at += step) {
        make(this.svg, 'line', {class: 'grid', x1: GUTTER - 4, x2: GUTTER + this.width, y1: this.y(at), y2: this.y(at)});
        make(this.svg, 'text', {class: 'axis', x: GUTTER - 8, y: this.y(at) + 4, 'text-anchor': 'end'}, byteText(at, step));
      }
      if (this.pool.kind !== 'workspace') return;  // constants are always live
      const bottom = TOP + this.height;
      const ticks = tickStep(view.end - view.begin, this.width / 80);
      for (let at = Math.ceil(view.begin / ticks) * ticks, first = true; at <= view.end; at += ticks, first = false) {
        make(this.svg, 'line', {class: 'grid', x1: this.x(at), x2: this.x(at), y1: bottom, y2: bottom + 4});
        make(this.svg, 'text', {class: 'axis', x: this.x(at), y: bottom + 15, 'text-anchor': 'middle'},
          (first ? 'step ' : '') + at);
      }
      const omission = (x) => make(this.svg, 'text', {class: 'axis', x, y: bottom + 26, 'text-anchor': 'middle'}, '…');
      let last = -Infinity, leftOut = false;  // where the last name is; whether one behind it has no room
      plan.calls.forEach((call, index) => {
        if (call.end <= view.begin || call.begin >= view.end) return;
        const left = Math.max(this.x(call.begin), GUTTER), right = Math.min(this.x(call.end), GUTTER + this.width);
        make(this.svg, 'line', {class: 'grid', x1: left, x2: left, y1: TOP, y2: bottom});
        const middle = (left + right) / 2;
        if (middle - last < 18) {
          leftOut = true;
          return;
        }
        if (leftOut) omission((last + middle) / 2);
        leftOut = false;
        last = middle;
        const name = make(this.svg, 'text', {class: 'axis', 'text-anchor': 'end',
          transform: 'translate(' + (middle + 3) + ',' + (bottom + 26) + ') rotate(-38)'},
          shortened(call.name, 21));
        make(name, 'title', {}, operatorText(index) + ', steps [' + call.begin + ', ' + call.end + ')');
      });
      if (leftOut) omission(last + 18);
    }

    drawBuffers() {
      if (this.pool.reserved > 0) {
        make(this.inner, 'rect', {class: 'reserved', x: GUTTER, y: this.y(this.pool.reserved), width: this.width,
          height: this.y(0) - this.y(this.pool.reserved)});
      }
      for (const [begin, end, low, high] of this.pool.gaps) {
        const x = this.x(begin), y = this.y(high);
        const gap = make(this.inner, 'rect', {class: 'gap', x, y, width: Math.max(1, this.x(end) - x),
          height: Math.max(1, this.y(low) - y)});
        make(gap, 'title', {}, bytes(high - low) + ' at ' + low + ' lost to alignment, steps [' + begin + ', ' + end + ')');
      }
      for (const buffer of this.buffers) {
        const y = this.y(buffer.offset + buffer.size), height = Math.max(1, this.y(buffer.offset) - y);
        const found = matches.includes(buffer) ? ' match' : '';
        for (let i = 0; i < buffer.live.length; i += 2) {
          const x = this.x(buffer.live[i]), width = Math.max(1, this.x(buffer.live[i + 1]) - x);
          const thin = height < 3 || width < 3 ? ' thin' : '';
          make(this.inner, 'rect', {class: 'buffer' + thin + found, 'data-id': buffer.id, x, y, width, height,
            fill: colorOf(buffer)});
        }
      }
      this.drawShared();
    }

    drawLabels() {
      const crowded = [];  // buffers that share all of a live range
      for (const buffer of this.buffers) {
        for (let i = 0; i < buffer.live.length; i += 2) {
          const range = [buffer.live[i], buffer.live[i + 1]];
          if (!this.drawLabel(buffer, ...range) && this.sharedOf.has(buffer.id)) crowded.push([...range, buffer]);
        }
      }
      // Over what is shared: neighbours in time take turns in the thirds of their heights.
      crowded.sort((a, b) => a[0] - b[0] || a[1] - b[1] || a[2].id - b[2].id);
      crowded.forEach(([begin, end, buffer], turn) => {
        const bottom = buffer.offset + buffer.size * (2 - turn % 3) / 3;
        this.putLabel(buffer, [begin, end], [bottom, bottom + buffer.size / 3], ' over');
      });
    }

    // What two buffers share is hatched, and both keep their outlines.
    drawShared() {
      for (const [, , low, high, ...ticks] of this.pool.shared) {
        for (let i = 0; i < ticks.length; i += 2) {
          const x = this.x(ticks[i]), y = this.y(high);
          make(this.inner, 'rect', {class: 'hatch', x, y, width: Math.max(1, this.x(ticks[i + 1]) - x),
            height: Math.max(1, this.y(low) - y), fill: 'url(#' + this.hatch + ')'});
        }
      }
      for (const buffer of this.buffers) {
        if (!this.sharedOf.has(buffer.id)) continue;
        const y = this.y(buffer.offset + buffer.size), height = Math.max(1, this.y(buffer.offset) - y);
        for (let i = 0; i < buffer.live.length; i += 2) {
          const x = this.x(buffer.live[i]);
          make(this.inner, 'rect', {class: 'outline', 'data-id': buffer.id, x, y,
            width: Math.max(1, this.x(buffer.live[i + 1]) - x), height});
        }
      }
    }

    // In a part of the rectangle that is in view and the buffer's alone: all its bytes for some time, or some for all.
    drawLabel(buffer, begin, end) {
      const shared = (this.sharedOf.get(buffer.id) ?? []).map((one) => {
        const during = [];
        for (let i = 0; i < one.ticks.length; i += 2) {
          if (one.ticks[i] < end && begin < one.ticks[i + 1]) during.push([one.ticks[i], one.ticks[i + 1]]);
        }
        return {...one, during};
      }).filter((one) => one.during.length > 0);
      const inView = [Math.max(begin, view.begin), Math.min(end, view.end)];
      const bytesInView = [Math.max(buffer.offset, this.low), Math.min(buffer.offset + buffer.size, this.high)];
      if (inView[0] >= inView[1] || bytesInView[0] >= bytesInView[1]) return false;
      const rooms = [[longestFree(...inView, shared.flatMap((one) => one.during)), bytesInView]];
      if (shared.length > 0) rooms.push([inView, longestFree(...bytesInView, shared.map((one) => [one.begin, one.end]))]);
      return rooms.some(([ticks, addresses]) => this.putLabel(buffer, ticks, addresses));
    }

    // Whether there is room for some letters in what is in view of the rectangle.
    putLabel(buffer, ticks, addresses, over = '') {
      const left = this.x(Math.max(ticks[0], view.begin)), right = this.x(Math.min(ticks[1], view.end));
      const top = this.y(Math.min(addresses[1], this.high)), height = this.y(Math.max(addresses[0], this.low)) - top;
      const text = height < 13 ? '' : fitted(buffer, right - left - 8);
      if (text === '') return false;
      make(this.inner, 'text', {class: 'label' + over + (matches.includes(buffer) ? ' match' : ''), 'data-id': buffer.id,
        x: left + 4, y: top + height / 2 + 4}, text);
      return true;
    }

    // Live bytes on the same axis as addresses: where the line meets the topmost buffer, no byte is lost.
    drawLoad() {
      if (this.pool.kind !== 'workspace') return;
      let path = '';
      this.pool.timeline.forEach(([tick, live], index) => {
        path += (index === 0 ? 'M' : 'H') + this.x(tick) + (index === 0 ? ',' : 'V') + this.y(live);
      });
      for (const name of ['halo', 'load']) make(this.inner, 'path', {class: name, d: path + 'H' + this.x(horizon)});
      const at = this.pool.peak_at, left = this.x(at), right = Math.max(left + 2, this.x(at + 1));
      if (right < GUTTER || left > GUTTER + this.width) return;
      make(this.inner, 'rect', {class: 'peak', x: left, y: TOP, width: right - left, height: this.height});
      const text = 'peak: ' + bytes(this.pool.load) + ' live at step ' + at, half = widthOf(text) / 2 + 8;  // it is bold
      make(this.svg, 'text', {class: 'peak-text', x: clamp(left, GUTTER + half, GUTTER + this.width - half), y: TOP - 6,
        'text-anchor': 'middle'}, text);
    }

    drawLimits() {
      const across = (address, name) => {
        if (address === null || address < this.low || address > this.high) return;
        make(this.inner, 'line', {class: name, x1: GUTTER, x2: GUTTER + this.width, y1: this.y(address),
          y2: this.y(address)});
      };
      across(this.pool.lower_bound, 'bound');
      across(this.pool.capacity, 'capacity');
    }

    mark() {
      for (const rect of this.svg.querySelectorAll('.buffer, .outline')) {
        rect.classList.toggle('chosen', chosen !== null && Number(rect.dataset.id) === chosen.id);
      }
    }

    // The middle of what the chosen buffer shows, else of the panel.
    centre() {
      if (!chosen || !this.buffers.includes(chosen) || chosen.live.length === 0) {
        return [GUTTER + this.width / 2, TOP + this.height / 2];
      }
      const middle = (from, to, low, high) => (clamp(from, low, high) + clamp(to, low, high)) / 2;
      return [this.x(middle(chosen.live[0], chosen.live.at(-1), view.begin, view.end)),
        this.y(middle(chosen.offset, chosen.offset + chosen.size, this.low, this.high))];
    }

    // Makes the buffer visible and large enough to be seen.
    reveal(buffer) {
      const begin = buffer.live[0] ?? 0, end = buffer.live.at(-1) ?? horizon;
      const inside = view.begin <= begin && end <= view.end && this.low <= buffer.offset
        && buffer.offset + buffer.size <= this.high;
      const large = this.x(end) - this.x(begin) >= 14 && this.y(buffer.offset) - this.y(buffer.offset + buffer.size) >= 14;
      if (!inside || !large) this.zoomTo(buffer);
      drawAll();
      const rect = this.svg.querySelector('.buffer[data-id="' + buffer.id + '"]');
      (rect ?? this.svg).scrollIntoView({block: 'center'});
    }

    // Keeps the point (x, y) where it is; the chosen buffer, where none is given.
    zoom(factor, x, y) {
      if (x === undefined) [x, y] = this.centre();
      const tick = view.begin + (x - GUTTER) / this.width * (view.end - view.begin);
      const address = this.low + (TOP + this.height - y) / this.height * (this.high - this.low);
      const span = clamp((view.end - view.begin) / factor, Math.min(2, horizon), horizon);
      const size = clamp((this.high - this.low) / factor, Math.min(16, this.full), this.full);
      view.begin = tick - (x - GUTTER) / this.width * span;
      view.end = view.begin + span;
      this.low = address - (TOP + this.height - y) / this.height * size;
      this.high = this.low + size;
      this.keepInside();
    }

    pan(dx, dy) {
      const ticks = dx / this.width * (view.end - view.begin), size = dy / this.height * (this.high - this.low);
      view.begin -= ticks;
      view.end -= ticks;
      this.low += size;
      this.high += size;
      this.keepInside();
    }

    keepInside() {
      const span = view.end - view.begin, size = this.high - this.low;
      view.begin = clamp(view.begin, 0, horizon - span);
      view.end = view.begin + span;
      this.low = clamp(this.low, 0, this.full - size);
      this.high = this.low + size;
      redraw();
    }

    bufferOf(event) {
      const rect = event.target.closest('.buffer');
      return rect ? plan.buffers[indexById.get(Number(rect.dataset.id))] : null;
    }

    listen() {
      const pointers = new Map();
      let moved = false;
      const place = (event) => {
        const box = this.svg.getBoundingClientRect();
        return [event.clientX - box.left, event.clientY - box.top];
      };
      this.svg.addEventListener('wheel', (event) => {
        if (!event.ctrlKey && !event.metaKey) return;  // the page scrolls
        event.preventDefault();
        this.zoom(Math.exp(-clamp(event.deltaY, -60, 60) / 120), ...place(event));
      }, {passive: false});
      this.svg.addEventListener('pointerdown', (event) => {
        pointers.set(event.pointerId, place(event));
        moved = false;
      });
      this.svg.addEventListener('pointermove', (event) => {
        const before = pointers.get(event.pointerId);
        if (!before) return show(this.bufferOf(event) ?? null, event.clientX, event.clientY);
        const now = place(event);
        if (!moved && Math.hypot(now[0] - before[0], now[1] - before[1]) < 4) return;
        if (!moved) this.svg.setPointerCapture(event.pointerId);
        moved = true;
        const other = [...pointers].find(([id]) => id !== event.pointerId);
        pointers.set(event.pointerId, now);
        if (!other) return this.pan(now[0] - before[0], now[1] - before[1]);
        const distance = (point) => Math.max(10, Math.hypot(point[0] - other[1][0], point[1] - other[1][1]));
        this.zoom(distance(now) / distance(before), ...other[1]);
      });
      for (const name of ['pointerup', 'pointercancel']) {
        this.svg.addEventListener(name, (event) => pointers.delete(event.pointerId));
      }
      this.svg.addEventListener('pointerleave', () => { if (pointers.size === 0) show(chosen); });
      this.svg.addEventListener('click', (event) => {
        if (!moved) choose(this.bufferOf(event), event.clientX, event.clientY);
      });
      this.svg.addEventListener('dblclick', (event) => {
        const buffer = this.bufferOf(event);
        if (buffer) this.zoomTo(buffer);
        else reset();
      });
      this.svg.addEventListener('keydown', (event) => this.key(event));
    }

    key(event) {
      const arrows = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1]};
      const arrow = arrows[event.key];
      if (!arrow || event.ctrlKey || event.altKey || event.metaKey) {
        if (event.key === 'Enter' && chosen) this.zoomTo(chosen);
        return;
      }
      event.preventDefault();
      if (event.shiftKey) return this.pan(-arrow[0] * this.width / 8, arrow[1] * this.height / 8);
      choose(this.neighbour(arrow));
    }

    // The nearest buffer in a direction: left and right by the start of life, up and down by the address.
    neighbour([time, address]) {
      const key = time !== 0 ? (b) => [b.live[0] ?? 0, b.offset, b.id] : (b) => [b.offset, b.live[0] ?? 0, b.id];
      const compare = (a, b) => {
        const left = key(a), right = key(b);
        const i = left.findIndex((value, index) => value !== right[index]);
        return i < 0 ? 0 : left[i] - right[i];
      };
      const sorted = this.buffers.slice().sort(compare);
      const now = sorted.indexOf(chosen);
      return sorted[now < 0 ? 0 : clamp(now + time + address, 0, sorted.length - 1)];
    }

    zoomTo(buffer) {
      const begin = buffer.live[0] ?? 0, end = buffer.live.at(-1) ?? horizon;
      const span = clamp((end - begin) * 2, Math.min(2, horizon), horizon);
      const size = clamp(buffer.size * 2, Math.min(16, this.full), this.full);
      view.begin = (begin + end - span) / 2;
      view.end = view.begin + span;
      this.low = buffer.offset + buffer.size / 2 - size / 2;
      this.high = this.low + size;
      this.keepInside();
    }
  }

  const panelOf = (buffer) => panels.find((panel) => panel.buffers.includes(buffer));

  let waiting = false;
  function redraw() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      drawAll();
      if (chosen && !tip.hidden) show(chosen);
    });
  }

  function drawAll() {
    for (const panel of panels) panel.draw();
  }

  function reset() {
    view.begin = 0;
    view.end = horizon;
    for (const panel of panels) [panel.low, panel.high] = [0, panel.full];
    redraw();
  }

  // The stretch of time around the peak of the busiest pool in which labels have room; all of it, if there is room.
  function zoomToPeak() {
    reset();
    const ranges = (panel) => panel.buffers.reduce((sum, buffer) => sum + buffer.live.length / 2, 0);
    const busiest = panels.filter((panel) => panel.svg && panel.pool.kind === 'workspace')
      .reduce((most, panel) => most === null || ranges(panel) > ranges(most) ? panel : most, null);
    if (busiest === null) return;
    const most = Math.max(10, Math.floor((busiest.svg.clientWidth - GUTTER - RIGHT) / 34));
    const during = (begin, end) => busiest.buffers.reduce((sum, buffer) => {
      for (let i = 0; i < buffer.live.length; i += 2) if (buffer.live[i] < end && begin < buffer.live[i + 1]) ++sum;
      return sum;
    }, 0);
    if (ranges(busiest) <= most) return;
    const at = busiest.pool.peak_at + .5;
    let span = horizon;
    while (span > 4 && during(at - span / 2, at + span / 2) > most) span *= .8;
    span = Math.max(Math.min(4, horizon), span);
    view.begin = clamp(at - span / 2, 0, horizon - span);
    view.end = view.begin + span;
  }

  function ticksText(ticks) {
    const parts = [];
    for (let i = 0; i < ticks.length; i += 2) parts.push('[' + ticks[i] + ', ' + ticks[i + 1] + ')');
    return parts.length === 0 ? 'never' : 'steps ' + parts.join(' ');
  }

  // The card of a buffer, beside the pointer or, without one, beside the buffer.
  function show(buffer, x, y) {
    tip.hidden = buffer === null;
    if (buffer === null) return;
    tip.replaceChildren();
    html(tip, 'b', buffer.name);
    const list = html(tip, 'dl');
    const row = (name, value) => {
      if (value === '') return;
      html(list, 'dt', name);
      html(list, 'dd', value);
    };
    row('size', bytes(buffer.size));
    row('offset', buffer.offset + ' to ' + (buffer.offset + buffer.size) + ' (0x'
      + buffer.offset.toString(16) + ') in ' + plan.pools[buffer.pool].name);
    row('live', ticksText(buffer.live));
    row('ring', buffer.ring ?? '');
    row('operator', operatorOf(buffer));
    if (buffer.kind !== 'constant' && buffer.live.length > 0) {
      const during = callsDuring(buffer.live[0], buffer.live.at(-1));
      if (during.length > 1) row('until', operatorText(during.at(-1)));
    }
    if (buffer.call >= 0) {
      row('by rows', plan.calls[buffer.call].by_rows ?? '');
      if (plan.calls[buffer.call].operands !== '') row('operands', plan.calls[buffer.call].operands);
      if (plan.calls[buffer.call].kind !== '') row('function', plan.calls[buffer.call].callee);
    }
    const shared = panelOf(buffer)?.sharedOf.get(buffer.id) ?? [];
    for (const one of shared.slice(0, 4)) {
      row('shares', bytes(one.end - one.begin) + ' with ' + plan.buffers[indexById.get(one.other)].name + ', '
        + ticksText(one.ticks));
    }
    if (shared.length > 4) row('shares', 'and with ' + (shared.length - 4) + ' more');
    row('declared in', plan.functions[buffer.function]);
    row('kind', buffer.kind + (buffer.pinned ? ', pinned' : '') + ', alignment ' + buffer.alignment);
    if (x === undefined) {
      const rect = document.querySelector('.buffer[data-id="' + buffer.id + '"]');
      if (!rect) return;
      const box = rect.getBoundingClientRect();
      tip.hidden = box.bottom < 0 || box.top > innerHeight;
      [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
    }
    const left = x + 16 + tip.offsetWidth > innerWidth ? x - 16 - tip.offsetWidth : x + 16;
    tip.style.left = clamp(left, 4, Math.max(4, innerWidth - tip.offsetWidth - 4)) + 'px';
    tip.style.top = clamp(y + 14, 4, Math.max(4, innerHeight - tip.offsetHeight - 4)) + 'px';
  }

  function choose(buffer, x, y) {
    chosen = buffer;
    for (const panel of panels) if (panel.svg) panel.mark();
    show(buffer, x, y);
    status.textContent = buffer === null ? '' : buffer.name + ', ' + bytes(buffer.size) + ' at ' + buffer.offset;
  }

  // Every word has to stand in the name, the operator or the kind; where no buffer has them there, in names of functions.
  function find() {
    const words = search.value.toLowerCase().split(/\s+/).filter((word) => word !== '');
    const near = (buffer) => [buffer.name, operatorOf(buffer), buffer.kind];
    const far = (buffer) => [...near(buffer), plan.functions[buffer.function],
      buffer.call < 0 ? '' : plan.calls[buffer.call].callee];
    const found = (texts) => plan.buffers.filter((buffer) => {
      const text = texts(buffer).join(' ').toLowerCase();
      return words.every((word) => text.includes(word));
    });
    matches = words.length === 0 ? [] : found(near);
    if (words.length > 0 && matches.length === 0) matches = found(far);
    const list = document.getElementById('matches');
    list.replaceChildren();
    for (const buffer of matches.slice(0, 60)) {
      const button = html(list, 'button', buffer.name + ' · ' + bytes(buffer.size));
      button.addEventListener('click', () => {
        panelOf(buffer)?.reveal(buffer);
        choose(buffer);
      });
    }
    for (const panel of panels) panel.svg?.classList.toggle('searching', words.length > 0);
    status.textContent = words.length === 0 ? '' : matches.length + ' of ' + plan.buffers.length + ' buffers';
    redraw();
  }

  // What the colours stand for; a kind of operators is a button that searches for it.
  function legend() {
    const list = document.getElementById('legend');
    list.replaceChildren();
    const entry = (color, name, kind) => {
      const item = html(list, 'li'), inside = kind === undefined ? item : html(item, 'button');
      html(inside, 'i').style.background = color;
      inside.append(name);
      if (kind === undefined) return;
      inside.addEventListener('click', () => {
        search.value = search.value === kind ? '' : kind;
        find();
      });
    };
    if (coloring.value === 'kind') {
      for (const kind in BUFFER_COLORS) if (plan.buffers.some((b) => b.kind === kind)) entry(BUFFER_COLORS[kind], kind);
    } else {
      for (const kind of plan.kinds) entry(kind.color, kind.operators > 1 ? kind.name + ' ×' + kind.operators : kind.name, kind.name);
      if (plan.buffers.some((b) => b.operator < 0)) entry(NO_OPERATOR, 'none');
    }
    if (plan.pools.some((pool) => pool.gaps.length > 0)) entry('var(--gap)', 'lost to alignment');
  }

  const zoomAll = (factor) => {
    const panel = (chosen && panelOf(chosen)) ?? panels.find((one) => one.svg === document.activeElement) ?? panels.find((one) => one.svg);
    if (panel) panel.zoom(factor);
  };

  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === 'Escape') {
      if (search.value !== '') {
        search.value = '';
        find();
      }
      return choose(null);
    }
    if (event.target === search || event.target === coloring || event.target === selector) return;
    const action = {'/': () => search.focus(), '+': () => zoomAll(1.5), '=': () => zoomAll(1.5),
      '-': () => zoomAll(1 / 1.5), '0': reset, 'p': toPeak}[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
  document.getElementById('larger').addEventListener('click', () => zoomAll(1.5));
  document.getElementById('smaller').addEventListener('click', () => zoomAll(1 / 1.5));
  document.getElementById('reset').addEventListener('click', reset);
  document.getElementById('to-peak').addEventListener('click', toPeak);
  search.addEventListener('input', find);
  coloring.addEventListener('change', () => { legend(); redraw(); });
  addEventListener('resize', redraw);
  addEventListener('scroll', () => show(chosen), {passive: true});

  function toPeak() {
    zoomToPeak();
    redraw();
  }

  // Rows of buffers show theirs.
  for (const row of document.querySelectorAll('tr[data-id]')) {
    row.tabIndex = 0;
    const reveal = () => {
      const buffer = plan.buffers[indexById.get(Number(row.dataset.id))];
      panelOf(buffer).reveal(buffer);
      choose(buffer);
    };
    row.addEventListener('click', reveal);
    row.addEventListener('keydown', (event) => { if (event.key === 'Enter') reveal(); });
  }

  function load(index) {
    plan = modules[index];
    horizon = Math.max(1, plan.horizon);
    indexById = new Map(plan.buffers.map((buffer, place) => [buffer.id, place]));
    for (const section of document.querySelectorAll('section[data-module]')) {
      section.hidden = Number(section.dataset.module) !== index;
    }
    [chosen, matches, search.value] = [null, [], ''];
    panels.length = 0;
    document.getElementById('panels').replaceChildren();
    document.getElementById('matches').replaceChildren();
    for (const pool of plan.pools) panels.push(new Panel(pool));
    choose(null);
    legend();
    zoomToPeak();
    drawAll();
  }

  const selector = document.getElementById('module');
  selector?.addEventListener('change', () => load(Number(selector.value)));
  load(0);
})();
