// Sorting, filtering and paging of the tables, zooming into timelines. The report is complete without it.
(() => {
  'use strict';
  const PAGE = 25;

  const valueOf = (row, column) => {
    const cell = row.cells[column];
    if (cell.dataset.v !== undefined) return Number(cell.dataset.v);
    return cell.querySelector('.nil') ? null : cell.textContent.trim().toLowerCase();
  };

  const compare = (a, b) => {
    if (a === null || b === null) return (a === null) - (b === null);  // unknown last
    return typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b));
  };

  const enhance = (table) => {
    const body = table.tBodies[0];
    const rows = [...body.rows];
    if (rows.length < 2) return;
    let matching = rows;
    let page = 0;

    const bar = document.createElement('div');
    bar.className = 'tools';
    const filter = document.createElement('input');
    filter.type = 'search';
    filter.placeholder = 'Filter';
    filter.setAttribute('aria-label', `Filter ${table.caption.textContent}`);
    const status = document.createElement('span');
    status.setAttribute('role', 'status');
    const button = (label, step) => {
      const b = document.createElement('button');
      b.type = 'button';
      b.textContent = label;
      b.addEventListener('click', () => { page += step; show(); });
      return b;
    };
    const previous = button('Previous', -1);
    const next = button('Next', 1);

    const show = () => {
      const pages = Math.max(1, Math.ceil(matching.length / PAGE));
      page = Math.min(Math.max(page, 0), pages - 1);
      const visible = matching.slice(page * PAGE, (page + 1) * PAGE);
      body.replaceChildren(...visible);
      previous.hidden = next.hidden = pages === 1;
      previous.disabled = page === 0;
      next.disabled = page === pages - 1;
      status.textContent = matching.length === 0 ? 'no match'
        : pages === 1 ? `${matching.length} rows`
        : `${page * PAGE + 1}–${page * PAGE + visible.length} of ${matching.length}`;
    };

    const find = () => {
      const wanted = filter.value.trim().toLowerCase();
      matching = wanted ? rows.filter((row) => row.textContent.toLowerCase().includes(wanted)) : rows.slice();
      page = 0;
      show();
    };

    for (const header of table.tHead.rows[0].cells) {
      const sort = document.createElement('button');
      sort.type = 'button';
      sort.className = 'sort';
      sort.append(...header.childNodes);
      header.append(sort);
      sort.addEventListener('click', () => {
        const column = header.cellIndex;
        const first = header.classList.contains('num') ? 'descending' : 'ascending';
        const other = first === 'ascending' ? 'descending' : 'ascending';
        const order = header.getAttribute('aria-sort') === first ? other : first;
        for (const cell of table.tHead.rows[0].cells) cell.removeAttribute('aria-sort');
        header.setAttribute('aria-sort', order);
        const sign = order === 'ascending' ? 1 : -1;
        rows.sort((a, b) => {
          const x = valueOf(a, column), y = valueOf(b, column);
          return x === null || y === null ? compare(x, y) : sign * compare(x, y);
        });
        find();
      });
    }

    if (rows.length > 10) {
      filter.addEventListener('input', find);
      bar.append(filter, status, previous, next);
      table.closest('.scroll').before(bar);
      show();
      window.addEventListener('beforeprint', () => body.replaceChildren(...rows));
      window.addEventListener('afterprint', show);
    }
  };

  document.querySelectorAll('table.sortable').forEach(enhance);

  // A timeline gets wider within its scrolling region, which pans: by buttons, or by the wheel with Ctrl.
  // What has a place in time moves; letters keep their shape.
  const zoomable = (svg) => {
    const MOST = 64;
    const region = svg.parentElement;
    const [, , width, height] = svg.getAttribute('viewBox').split(' ').map(Number);
    const from = Number(svg.querySelector('rect.lane').getAttribute('x'));
    const marks = [...svg.querySelectorAll('rect, line, circle, text:not(.end), text.tick')]
      .filter((mark) => !mark.matches('rect.lane'));
    const places = marks.map((mark) => ['x', 'x1', 'x2', 'cx']
      .filter((name) => mark.hasAttribute(name)).map((name) => [name, Number(mark.getAttribute(name))]));
    const widths = marks.map((mark) => Number(mark.getAttribute('width')));
    const size = svg.getBoundingClientRect().width;
    let zoom = 1;

    const show = (next, anchor) => {
      next = Math.min(Math.max(next, 1), MOST);
      const scale = size / width;  // of a unit at no zoom, in pixels
      const at = region.scrollLeft + anchor;
      const when = (at / scale - from) / zoom;
      zoom = next;
      const total = from + (width - from) * zoom;
      svg.setAttribute('viewBox', `0 0 ${total} ${height}`);
      svg.style.width = `${total * scale}px`;
      svg.style.maxWidth = 'none';
      marks.forEach((mark, i) => {
        for (const [name, x] of places[i]) mark.setAttribute(name, x < from ? x : from + (x - from) * zoom);
        if (mark.tagName === 'rect') mark.setAttribute('width', widths[i] * zoom);
      });
      for (const lane of svg.querySelectorAll('rect.lane')) lane.setAttribute('width', (width - 4 - from) * zoom);
      region.scrollLeft = (from + when * zoom) * scale - anchor;
    };

    const tools = document.createElement('div');
    tools.className = 'tools';
    for (const [label, factor] of [['Zoom in', 2], ['Zoom out', 0.5]]) {
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = label;
      button.addEventListener('click', () => show(zoom * factor, region.clientWidth / 2));
      tools.append(button);
    }
    region.before(tools);
    region.addEventListener('wheel', (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      show(zoom * (event.deltaY < 0 ? 1.25 : 0.8), event.clientX - region.getBoundingClientRect().left);
    }, { passive: false });
  };
  document.querySelectorAll('.timeline svg').forEach(zoomable);

  // A link to a view opens it; printing opens everything that is not a query.
  const open = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const details = target && target.querySelector('details');
    if (details) details.open = true;
  };
  window.addEventListener('hashchange', open);
  open();
  window.addEventListener('beforeprint', () => {
    document.querySelectorAll('details:not(.query)').forEach((details) => { details.open = true; });
  });
})();
