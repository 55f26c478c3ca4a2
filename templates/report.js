// Sorting, filtering, paging and saving of the tables, zooming into timelines. The report is complete without it.
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

  // What tables show beside their rows as they are, in the address, so that a link shows the same:
  // #VIEW?table-ops=sort:2-descending,page:1,all:relu,3:Forward
  const [anchor, query] = location.hash.slice(1).split('?');
  const state = new Map(new URLSearchParams(query));
  const remember = (id, told) => {
    const text = Object.entries(told).filter(([, value]) => value)
      .map(([key, value]) => `${key}:${encodeURIComponent(value)}`).join(',');
    if (text === (state.get(id) || '')) return;
    if (text) state.set(id, text);
    else state.delete(id);
    const all = new URLSearchParams([...state]).toString();
    try {
      history.replaceState(null, '', `#${location.hash.slice(1).split('?')[0]}${all && '?'}${all}`);
    } catch { /* a viewer that shows the page without an address */ }
  };
  const recalled = (id) => Object.fromEntries((state.get(id) || '').split(',').filter((part) => part.includes(':'))
    .map((part) => [part.slice(0, part.indexOf(':')), decodeURIComponent(part.slice(part.indexOf(':') + 1))]));

  // The whole of a cell: a number as recorded, a name that is shown shortened as it is.
  const wholeOf = (cell) => {
    if (cell.querySelector('.nil')) return '';
    if (cell.dataset.v !== undefined && !cell.classList.contains('flag')) return cell.dataset.v;
    const summary = cell.querySelector('summary');
    return (summary && summary.title ? summary.title : cell.innerText || cell.textContent).trim();
  };

  const quote = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const csvOf = (table, rows) => [[...table.tHead.rows[0].cells].map((cell) => cell.textContent.trim() + (cell.dataset.unit ? ` (${cell.dataset.unit})` : '')),
    ...rows.map((row) => [...row.cells].map(wholeOf))].map((line) => line.map(quote).join(',')).join('\r\n') + '\r\n';

  const save = (name, text) => {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };

  const MOST_VALUES = 12;  // that a column is offered to be narrowed to

  const enhance = (table) => {
    const body = table.tBodies[0];
    const rows = [...body.rows];
    if (rows.length < 2) return;
    const asWritten = rows.slice();
    const headers = [...table.tHead.rows[0].cells];
    const told = recalled(table.id);
    const caption = table.caption.textContent;
    let matching = rows;

    const bar = document.createElement('div');
    bar.className = 'tools';
    const filter = document.createElement('input');
    filter.type = 'search';
    filter.placeholder = 'Filter';
    filter.value = told.all || '';
    filter.setAttribute('aria-label', `Filter ${caption}`);
    const status = document.createElement('span');
    status.setAttribute('role', 'status');
    const button = (label, act) => {
      const b = document.createElement('button');
      b.type = 'button';
      b.textContent = label;
      b.addEventListener('click', act);
      return b;
    };
    const turn = (by) => { told.page = Number(told.page || 0) + by; show(); };
    const previous = button('Previous', () => turn(-1));
    const next = button('Next', () => turn(1));
    const csv = button('CSV', () => save(`${table.id.replace('table-', '')}.csv`, csvOf(table, matching)));
    csv.setAttribute('aria-label', `${caption} as CSV`);

    const show = () => {
      const pages = Math.max(1, Math.ceil(matching.length / PAGE));
      const page = Math.min(Math.max(Number(told.page) || 0, 0), pages - 1);
      told.page = page;
      const visible = matching.slice(page * PAGE, (page + 1) * PAGE);
      body.replaceChildren(...visible);
      previous.hidden = next.hidden = pages === 1;
      previous.disabled = page === 0;
      next.disabled = page === pages - 1;
      status.textContent = matching.length === 0 ? 'no match'
        : pages === 1 ? `${matching.length} rows`
        : `${page * PAGE + 1}–${page * PAGE + visible.length} of ${matching.length}`;
      remember(table.id, told);
    };

    const textOf = (row, column) => (row.cells[column].querySelector('.sr') || row.cells[column]).textContent.trim();
    const find = () => {
      const wanted = filter.value.trim().toLowerCase();
      const chosen = headers.map((_, column) => told[column]);
      matching = rows.filter((row) => (!wanted || row.textContent.toLowerCase().includes(wanted))
        && chosen.every((value, column) => !value || textOf(row, column) === value));
      show();
    };
    const change = () => { told.page = 0; find(); };

    const sortBy = (column, order) => {
      for (const cell of headers) cell.removeAttribute('aria-sort');
      headers[column].setAttribute('aria-sort', order);
      const sign = order === 'ascending' ? 1 : -1;
      rows.sort((a, b) => {
        const x = valueOf(a, column), y = valueOf(b, column);
        return x === null || y === null ? compare(x, y) : sign * compare(x, y);
      });
      told.sort = `${column}-${order}`;
    };

    for (const header of headers) {
      const sort = button('', () => {
        const first = header.classList.contains('num') ? 'descending' : 'ascending';
        const other = first === 'ascending' ? 'descending' : 'ascending';
        sortBy(header.cellIndex, header.getAttribute('aria-sort') === first ? other : first);
        change();
      });
      sort.className = 'sort';
      sort.append(...header.childNodes);
      header.append(sort);
    }
    const [column, order] = (told.sort || '').split('-');
    if (headers[column] && ['ascending', 'descending'].includes(order)) sortBy(Number(column), order);

    // Columns of a few words, such as the kind of a kernel, can be narrowed to one of them.
    const choices = headers.map((header) => {
      if (header.matches('.num') || asWritten[0].cells[header.cellIndex].matches('.name')) return null;
      const values = [...new Set(asWritten.map((row) => textOf(row, header.cellIndex)))].sort();
      if (values.length < 2 || values.length > MOST_VALUES || values.length > asWritten.length / 2) return null;
      const select = document.createElement('select');
      select.setAttribute('aria-label', `${header.textContent.trim()} of ${caption}`);
      select.append(new Option(`${header.textContent.trim()}: all`, ''),
        ...values.map((value) => new Option(value || 'none', value)));
      select.value = values.includes(told[header.cellIndex]) ? told[header.cellIndex] : '';
      select.addEventListener('change', () => { told[header.cellIndex] = select.value; change(); });
      return select;
    }).filter(Boolean);

    if (rows.length > 10) {
      filter.addEventListener('input', () => { told.all = filter.value; change(); });
      bar.append(filter, ...choices, status, previous, next, csv);
      table.closest('.scroll').before(bar);
      find();
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

  // Code to paste gets a button that copies it.
  for (const code of document.querySelectorAll('pre.code')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.addEventListener('click', async () => {
      try {
        await navigator.clipboard.writeText(code.textContent);
        button.textContent = 'Copied';
      } catch {  // not allowed here: selected, so that a key copies it
        getSelection().selectAllChildren(code);
        button.textContent = 'Selected';
      }
      setTimeout(() => { button.textContent = 'Copy'; }, 2000);
    });
    code.after(button);
  }

  // A link to a view opens it.
  const open = () => {
    const id = decodeURIComponent(location.hash.slice(1).split('?')[0]);
    const target = id && document.getElementById(id);
    const details = target && target.querySelector('details');
    if (details) details.open = true;
  };
  window.addEventListener('hashchange', open);
  open();
  if (query) document.getElementById(decodeURIComponent(anchor))?.scrollIntoView();
})();
