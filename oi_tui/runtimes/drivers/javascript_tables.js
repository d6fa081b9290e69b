'use strict';
// Tables of the program, read page by page: arrays of objects, of arrays or of values, and typed arrays. No code of the
// program runs for it: getters and proxies are not asked.

const { types } = require('util');

const LOOKED_AT = 1000;
const SEARCHED = 2000000;
const LONGEST = 200;
const BINS = 10;
const own = Object.getOwnPropertyDescriptor;

class Trouble extends Error {}

// `find` gives [value] of a variable or nothing, and `describe` the type and a few words.
module.exports = function opening({ find, describe }) {
  let ordered = { key: '', rows: [] };

  const data = (object, name) => {
    const found = own(object, name);
    return found && 'value' in found ? found.value : undefined;
  };
  const isObject = (value) => typeof value === 'object' && value !== null && !types.isProxy(value) && !types.isDate(value);

  function tableOf(name) {
    const found = find(name);
    if (!found.length) throw new Trouble(`There is no variable ${name}.`);
    const [value] = found;
    if (types.isProxy(value) || !(Array.isArray(value) || types.isTypedArray(value))) {
      throw new Trouble(`${name} is not a table: it is of type ${describe(value)[0]}.`);
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
    const plain = typeof value === 'string' ? value : isObject(value) || typeof value === 'function' ? `<${describe(value)[1]}>` : describe(value)[1];
    if (whole) return plain;
    const line = plain.replaceAll('\r', '\\r').replaceAll('\n', '\\n');
    return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line;
  }

  const isNumber = (kind) => kind === 'number' || kind === 'bigint';

  function rowsOf(table, { name, sort, descending, words }) {
    if (sort === null && !words) return null;
    const key = JSON.stringify([name, table.count, table.names.length, sort, descending, words]);
    if (ordered.key === key) return ordered.rows;
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
    if (words) {
      if (table.count * table.names.length > SEARCHED) throw new Trouble('The table is too large to search all its cells; filter it with code.');
      const wanted = words.toLowerCase();
      rows = rows.filter((at) => table.names.some((column) => (text(table.at(at, column), true) || '').toLowerCase().includes(wanted)));
    }
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
    return { page: listed };
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

  return (words) => {
    const query = JSON.parse(Buffer.from(words, 'hex').toString());
    try {
      return { shape, page, statistics }[query.do](tableOf(query.name), query);
    } catch (error) {
      return { error: error instanceof Trouble ? error.message : `The table cannot be read: ${error}` };
    }
  };
};
