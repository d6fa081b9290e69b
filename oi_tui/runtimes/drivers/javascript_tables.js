'use strict';
// Tables of the program: arrays of objects, of arrays or of values, and typed arrays. They are read page by page; what
// a cell shows of one is a table in the conversation, and a view for the model. No code of the program runs for it:
// getters and proxies are not asked.

const { types } = require('util');

const LOOKED_AT = 1000;
// Missing values are counted for the model in tables of so many cells.
const COUNTED = 2000000;
// A search takes so many milliseconds at a time, and looks at the clock after so many cells.
const TURN = 200;
const PART = 1000;
const LONGEST = 200;
const BINS = 10;
// What is shown at once: tables of so many rows are whole, of longer ones the first and the last.
const WHOLE = 20;
const HEAD = 8;
const TAIL = 4;
const CELL = 80;
const VIEW = 12000;
const COLUMNS_OF_MODEL = 500;
const COLUMNS_OF_PERSON = 100;
// Values that were shown and have no name can be opened; so many are kept.
const KEPT = 20;
const own = Object.getOwnPropertyDescriptor;

const SIGNS = {
  '=': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
};

class TableReadError extends Error {}
// A search goes on with the next question, so that a cell can begin between both.
class UnfinishedSearch extends Error {}

// `find` gives [value] of a variable or nothing, `nameOf` the name of the variable that holds a value or nothing, and
// `describe` the type and a few words, and `preview` what an object holds.
module.exports = function opening({ find, nameOf, describe, preview, language }) {
  let ordered = { key: '', rows: [] };
  let search = { key: '', at: 0, holds: null };

  const data = (object, name) => {
    const found = own(object, name);
    return found && 'value' in found ? found.value : undefined;
  };
  const isObject = (value) => typeof value === 'object' && value !== null && !types.isProxy(value) && !types.isDate(value);

  const kept = new Map();
  let many = 0;

  // The key that opens a value which is shown: its name, where it has one.
  function keep(value, name) {
    if (name) return name;
    const key = `table:${process.pid}:${++many}`;
    kept.set(key, value);
    if (kept.size > KEPT) kept.delete(kept.keys().next().value);
    return key;
  }

  function tableNamed(name) {
    const found = kept.has(name) ? [kept.get(name)] : find(name);
    if (!found.length) throw new TableReadError(name.startsWith('table:') ? 'The table is not kept any more.' : `There is no variable ${name}.`);
    return tableOf(found[0], name);
  }

  function tableOf(value, name) {
    if (types.isProxy(value) || !(Array.isArray(value) || types.isTypedArray(value))) {
      throw new TableReadError(`${name} is not a table: it is of type ${describe(value)[0]}.`);
    }
    const count = value.length;
    const first = [];
    for (let at = 0; at < Math.min(count, LOOKED_AT); at++) first.push(data(value, at));
    const there = first.filter((row) => row !== null && row !== undefined);
    let names = ['value'];
    let cell = (row) => row;
    if (there.length && there.every((row) => isObject(row))) {
      const keys = new Set();
      for (const row of there) for (const key of Object.keys(row)) keys.add(key);
      if (keys.size && there.every((row) => Array.isArray(row))) names = [...Array(Math.max(...there.map((row) => row.length))).keys()].map(String);
      else if (keys.size) names = [...keys];
      if (keys.size) cell = (row, key) => (isObject(row) ? data(row, key) : undefined);
    }
    const kinds = names.map((key) => {
      const seen = new Set(first.map((row) => cell(row, key)).filter((item) => !missing(item)).map((item) => describe(item)[0]));
      return seen.size === 1 ? [...seen][0] : seen.size ? 'mixed' : '';
    });
    const at = (number, key) => cell(data(value, number), key);
    return { kind: describe(value)[0], names, kinds, count, at };
  }

  function missing(value) {
    return value === null || value === undefined || (typeof value === 'number' && Number.isNaN(value));
  }

  function text(value, whole) {
    if (missing(value)) return null;
    const plain = typeof value === 'string' ? value : typeof value === 'number' && value ? String(value) : isObject(value) || typeof value === 'function' ? `<${describe(value)[1]}>` : describe(value)[1];
    if (whole) return plain;
    // Of a text of many megabytes, no more is looked at than is shown.
    const line = plain.slice(0, LONGEST + 1).replaceAll('\r', '\\r').replaceAll('\n', '\\n');
    return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line;
  }

  const isNumber = (kind) => kind === 'number' || kind === 'bigint';

  // Whether a row has what a condition such as `price > 5` asks for, as a function of its number; null for a text to
  // look for.
  function conditionOf(table, words) {
    const parts = /^(.+?)\s*(==|!=|<=|>=|=|<|>)\s*(.+)$/s.exec(words.trim());
    if (!parts) return null;
    const [called, value] = [parts[1], parts[3]].map((part) => part.replace(/^[`'"]+|[`'"]+$/g, ''));
    const same = table.names.find((name) => text(name, true) === called);
    const column = same ?? table.names.find((name) => text(name, true).toLowerCase() === called.toLowerCase());
    if (column === undefined) return null;
    const sign = parts[2].replace('==', '=');
    const test = SIGNS[sign];
    if (value === 'missing' && (sign === '=' || sign === '!=')) return (at) => missing(table.at(at, column)) === (sign === '=');
    const number = /^[-+]?inf/i.test(value) ? Number(value.replace(/inf\w*/i, 'Infinity')) : Number(value);
    return (at) => {
      const item = table.at(at, column);
      if (missing(item)) return false;
      if (typeof item === 'boolean' && /^(true|false)$/i.test(value)) return test(item, value.toLowerCase() === 'true');
      // Large integers are compared exactly.
      if (typeof item === 'bigint' && /^[-+]?\d+$/.test(value)) return test(item, BigInt(value.replace('+', '')));
      if (!Number.isNaN(number) && !isObject(item) && !types.isDate(item)) {
        // Texts that are numbers are compared as numbers; others are none of these.
        const own = typeof item === 'symbol' || typeof item === 'function' || item === '' ? NaN : Number(item);
        return Number.isNaN(own) ? sign === '!=' : test(own, number);
      }
      // A time at midnight is called by its day.
      return test(text(item, true).replace(/T00:00:00\.000Z$/, ''), value);
    };
  }

  // Which rows have the words, or meet the condition, as an array with 1 for each.
  function searched(table, words, key, continues) {
    const end = Date.now() + TURN;
    if (!continues || search.key !== key) search = { key, at: 0, holds: new Uint8Array(table.count) };
    const wanted = words.toLowerCase();
    const holds = conditionOf(table, words) ?? ((at) => table.names.some((column) => (text(table.at(at, column), true) || '').toLowerCase().includes(wanted)));
    const part = Math.max(1, Math.floor(PART / table.names.length));
    for (; search.at < table.count; search.at++) {
      if (search.at % part === 0 && Date.now() > end) throw new UnfinishedSearch();
      if (holds(search.at)) search.holds[search.at] = 1;
    }
    const found = search.holds;
    search = { key: '', at: 0, holds: null };
    return found;
  }

  function rowsOf(table, { name, sort, descending, words, continues }) {
    if (sort === null && !words) return null;
    const key = JSON.stringify([name, table.count, table.names.length, sort, descending, words]);
    if (ordered.key === key) return ordered.rows;
    const holds = words ? searched(table, words, key, continues) : null;
    let rows = Array.from({ length: table.count }, (_, at) => at);
    if (sort !== null) {
      const column = table.names[sort];
      const values = rows.map((at) => table.at(at, column));
      const numbers = values.every((value) => missing(value) || ['number', 'bigint', 'boolean'].includes(typeof value) || types.isDate(value));
      const keys = numbers ? values.map((value) => (types.isDate(value) ? value.getTime() : value)) : values.map((value) => text(value, true));
      const sign = descending ? -1 : 1;
      const there = rows.filter((at) => !missing(values[at]));
      there.sort((a, b) => (keys[a] < keys[b] ? -sign : keys[a] > keys[b] ? sign : a - b));
      rows = [...there, ...rows.filter((at) => missing(values[at]))];
    }
    if (holds) rows = rows.filter((at) => holds[at]);
    ordered = { key, rows };
    return rows;
  }

  function shape(table, query) {
    ordered.key = '';
    const rows = rowsOf(table, query);
    const columns = table.names.map((name, at) => [text(name, false), table.kinds[at], isNumber(table.kinds[at])]);
    return { kind: table.kind, columns, rows: rows ? rows.length : table.count, total: table.count, index: '' };
  }

  function page(table, query) {
    const rows = rowsOf(table, query);
    const columns = table.names.slice(query.first, query.first + query.columns);
    const listed = [];
    const last = Math.min(query.start + query.count, rows ? rows.length : table.count);
    for (let at = query.start; at < last; at++) {
      const number = rows ? rows[at] : at;
      listed.push([String(number), columns.map((column) => text(table.at(number, column), query.whole))]);
    }
    return { page: listed, names: columns.map((name) => text(name, false)), total: table.count };
  }

  const figure = (value) => (Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(7))));
  const count = (number) => number.toLocaleString('en-US');

  function statistics(table, { column }) {
    const name = table.names[column];
    const values = [];
    for (let at = 0; at < table.count; at++) {
      const value = table.at(at, name);
      if (!missing(value)) values.push(value);
    }
    const facts = [['rows', count(table.count)], ['missing', count(table.count - values.length)]];
    if (values.length && values.every((value) => typeof value === 'number')) return ofNumbers(values, facts);
    const found = new Map();
    for (const value of values) {
      const key = text(value, false);
      found.set(key, (found.get(key) || 0) + 1);
    }
    facts.push(['distinct', count(found.size)]);
    return { facts, bars: [...found].sort((a, b) => b[1] - a[1]).slice(0, BINS) };
  }

  function ofNumbers(values, facts) {
    const finite = Float64Array.from(values.filter(Number.isFinite)).sort();
    if (finite.length < values.length) facts.push(['infinite', count(values.length - finite.length)]);
    if (!finite.length) return { facts, bars: [] };
    const share = (part) => {
      const place = (finite.length - 1) * part;
      const low = Math.floor(place);
      return finite[low] + (finite[Math.ceil(place)] - finite[low]) * (place - low);
    };
    const mean = finite.reduce((sum, value) => sum + value, 0) / finite.length;
    const spread = finite.reduce((sum, value) => sum + (value - mean) ** 2, 0);
    const [low, high] = [finite[0], finite[finite.length - 1]];
    const named = { min: low, '25 %': share(0.25), median: share(0.5), mean, '75 %': share(0.75), max: high };
    named.std = finite.length > 1 ? Math.sqrt(spread / (finite.length - 1)) : 0;
    facts.push(...Object.entries(named).map(([name, value]) => [name, figure(value)]));
    const width = (high - low) / BINS;
    if (!(width > 0)) return { facts, bars: [[figure(low), finite.length]] };
    const counts = new Array(BINS).fill(0);
    for (const value of finite) counts[Math.min(Math.floor((value - low) / width), BINS - 1)]++;
    const end = (at) => String(Number((low + width * at).toPrecision(4)));
    return { facts, bars: counts.map((many, at) => [`${end(at)} to ${end(at + 1)}`, many]) };
  }

  // A list of records, as results of queries and files are; other arrays are read better as they print themselves.
  function isShown(value) {
    if (!Array.isArray(value) || types.isProxy(value) || value.length < 2) return false;
    for (let at = 0; at < Math.min(value.length, LOOKED_AT); at++) {
      const row = data(value, at);
      const above = isObject(row) && !Array.isArray(row) && !types.isTypedArray(row) ? Object.getPrototypeOf(row) : undefined;
      if (above === undefined || (above !== null && above !== Object.prototype)) return false;
      const keys = Object.keys(row);
      if (!keys.length || keys.some((key) => !('value' in own(row, key)))) return false;
    }
    return true;
  }

  const plural = (number, word) => `${count(number)} ${word}${number === 1 ? '' : 's'}`;
  const isLong = (item) => typeof item === 'number' && !Number.isInteger(item);

  function cut(item) {
    // What a row holds in its turn is told too, as far as there is room.
    const line = isLong(item) ? figure(item) : isObject(item) ? preview(item, 1, CELL).replace(/\s*\n\s*/g, ' ') : text(item, false);
    return line !== null && line.length > CELL ? `${line.slice(0, CELL)}… (${count(line.length)} characters)` : line;
  }

  function look(table) {
    const all = Array.from({ length: table.count }, (_, at) => at);
    const isWhole = table.count <= WHOLE;
    const rows = isWhole ? all : [...all.slice(0, HEAD), ...all.slice(-TAIL)];
    return { rows, head: isWhole ? table.count : HEAD };
  }

  function view(table) {
    const { rows, head } = look(table);
    const names = table.names.slice(0, COLUMNS_OF_MODEL);
    const counts = table.count * names.length <= COUNTED;
    const listed = names.map((name, at) => {
      let gone = 0;
      for (let row = 0; counts && row < table.count; row++) if (missing(table.at(row, name))) gone++;
      const shown = text(name, false);
      // Names in quotation marks could be read as something else without them.
      const spelled = /^$|^ | $|[,"]/.test(shown) ? `'${shown}'` : shown;
      return [spelled, table.kinds[at], gone ? `(${count(gone)} missing)` : ''].filter(Boolean).join(' ');
    });
    if (names.length < table.names.length) listed.push(`… ${plural(table.names.length - names.length, 'more column')}`);
    const quoted = (cell) => (cell === null ? '' : /[",]|^$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
    const lines = rows.map((row) => [row, ...names.map((name) => quoted(cut(table.at(row, name))))].join(','));
    const parts = [
      `${table.kind} of objects: ${plural(table.count, 'row')} by ${plural(table.names.length, 'column')}`,
      `Columns: ${listed.join(', ')}${counts ? '' : ' (missing values were not counted)'}`,
      'Rows as CSV (row, then the columns):',
      '',
    ];
    const first = lines.slice(0, head);
    const last = lines.slice(head);
    const size = (part) => part.reduce((sum, line) => sum + line.length + 1, 0);
    // The rows in the middle go first.
    while (size(first) + size(last) > VIEW - size(parts) && first.length + last.length > 1) (last.length >= first.length ? last.shift() : first.pop());
    const between = table.count - first.length - last.length;
    return [...parts, ...first, ...(between ? [`… ${plural(between, 'row')} not shown …`] : []), ...last].join('\n');
  }

  function inline(table, name, key) {
    const { rows, head } = look(table);
    const names = table.names.slice(0, COLUMNS_OF_PERSON);
    return JSON.stringify({
      language,
      key,
      name,
      kind: table.kind,
      index: '',
      total: table.count,
      width: table.names.length,
      columns: names.map((column, at) => [text(column, false), table.kinds[at], isNumber(table.kinds[at])]),
      head,
      rows: rows.map((row) => [String(row), names.map((column) => cut(table.at(row, column)))]),
    });
  }

  // What is told of a value that a cell shows, in place of its text; null for one that is no table.
  function shown(value) {
    try {
      if (!isShown(value)) return null;
      const name = nameOf(value);
      const table = tableOf(value, name);
      return { content: view(table), table: inline(table, name, keep(value, name)) };
    } catch {
      return null;
    }
  }

  const answer = (words) => {
    const query = JSON.parse(Buffer.from(words, 'hex').toString());
    try {
      return { shape, page, statistics }[query.do](tableNamed(query.name), query);
    } catch (error) {
      if (error instanceof UnfinishedSearch) return { unfinished: true };
      return { error: error instanceof TableReadError ? error.message : `The table cannot be read: ${error}` };
    }
  };
  return { answer, shown };
};
