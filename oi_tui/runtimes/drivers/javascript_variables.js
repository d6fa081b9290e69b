'use strict';
// What the program remembers: names, types and sizes. No code of the program runs for it: getters, proxies and methods
// of its own are never called, and what this needs of the language is taken before any cell can change it.

const { types } = require('util');
const { builtinModules, _cache: modules } = require('module');
const completing = require('./javascript_completion.js');
const opening = require('./javascript_tables.js');

const LONGEST = 60;
const MOST = 2000;
const PREVIEW = 20000;
const own = Object.getOwnPropertyDescriptor;
const above = Object.getPrototypeOf;
const names = Object.getOwnPropertyNames;
const keys = Object.keys;
const isArray = Array.isArray;
const text = JSON.stringify;
const now = performance.now.bind(performance);
const call = Function.prototype.call;
const calling = (method) => call.bind(method);
const getter = (prototype, name) => calling(own(prototype, name).get);
const sourceOf = calling(Function.prototype.toString);
const slice = calling(String.prototype.slice);
const startsWith = calling(String.prototype.startsWith);
const has = calling(Set.prototype.has);
const isSlow = calling(WeakSet.prototype.has);
const setSlow = calling(WeakSet.prototype.add);
const mapSize = getter(Map.prototype, 'size');
const setSize = getter(Set.prototype, 'size');
const typed = above(Uint8Array.prototype);
const typedLength = getter(typed, 'length');
const typedBytes = getter(typed, 'byteLength');
const typedName = getter(typed, Symbol.toStringTag);
const bufferBytes = getter(ArrayBuffer.prototype, 'byteLength');
const isoDate = calling(Date.prototype.toISOString);
const pattern = getter(RegExp.prototype, 'source');
const flags = getter(RegExp.prototype, 'flags');
const numberText = calling(Number.prototype.toString);
const bigText = calling(BigInt.prototype.toString);
const clip = BigInt.asIntN;
const symbolText = calling(Symbol.prototype.toString);
const mapEntries = calling(Map.prototype.entries);
const setValues = calling(Set.prototype.values);
const mapNext = calling(above(new Map().entries()).next);
const setNext = calling(above(new Set().values()).next);
const slow = new WeakSet();

// The value of a property that is plain data; undefined for one that is computed.
function data(object, name) {
  const found = own(object, name);
  return found && 'value' in found ? found.value : undefined;
}

function nameOf(made) {
  const name = typeof made === 'function' && !types.isProxy(made) ? data(made, 'name') : undefined;
  return typeof name === 'string' ? name : '';
}

function className(value) {
  for (let each = value, deep = 0; each !== null && deep < 20; each = above(each), deep++) {
    if (types.isProxy(each)) return 'Proxy';
    const name = nameOf(data(each, 'constructor'));
    if (name) return name;
  }
  return 'Object';
}

function isClass(made) {
  return startsWith(sourceOf(made), 'class');
}

// How many keys an object has, unless counting them took long the last time.
function count(value) {
  if (isSlow(slow, value)) return '';
  const began = now();
  const size = keys(value).length;
  if (now() - began > 5) setSlow(slow, value);
  return ` of ${size} key${size === 1 ? '' : 's'}`;
}

// [type, summary, bytes], without looking into the value.
function describe(value) {
  switch (typeof value) {
    case 'string':
      return ['string', value.length <= LONGEST ? text(value) : `string of ${value.length}`, null];
    case 'number':
      return ['number', numberText(value), null];
    case 'bigint':
      return ['bigint', clip(200, value) === value ? `${bigText(value)}n` : 'bigint', null];
    case 'symbol':
      return ['symbol', symbolText(value), null];
    case 'boolean':
      return ['boolean', value ? 'true' : 'false', null];
    case 'undefined':
      return ['undefined', 'undefined', null];
  }
  if (value === null) return ['null', 'null', null];
  if (types.isProxy(value)) return ['Proxy', 'Proxy', null];
  if (typeof value === 'function') {
    const kind = isClass(value) ? 'class' : 'function';
    return [kind, `${kind} ${nameOf(value)}`.trim(), null];
  }
  if (isArray(value)) return ['Array', `Array of ${value.length}`, null];
  if (types.isTypedArray(value)) {
    const name = Buffer.isBuffer(value) ? 'Buffer' : typedName(value);
    return [name, `${name} of ${typedLength(value)}`, typedBytes(value)];
  }
  if (types.isArrayBuffer(value)) return ['ArrayBuffer', `ArrayBuffer of ${bufferBytes(value)}`, bufferBytes(value)];
  if (types.isMap(value)) return ['Map', `Map of ${mapSize(value)}`, null];
  if (types.isSet(value)) return ['Set', `Set of ${setSize(value)}`, null];
  if (types.isDate(value)) {
    try {
      return ['Date', isoDate(value), null];
    } catch {
      return ['Date', 'Invalid Date', null];
    }
  }
  if (types.isRegExp(value)) return ['RegExp', slice(`/${pattern(value)}/`, 0, LONGEST), null];
  if (types.isNativeError(value)) {
    const message = data(value, 'message');
    return [className(value), typeof message === 'string' ? slice(`${className(value)}: ${message}`, 0, LONGEST) : className(value), null];
  }
  const name = className(value);
  return [name, name === 'Object' ? `Object${count(value)}` : name, null];
}

// The value as far as it can be shown in so many characters, computed properties left alone.
function preview(value, depth, room) {
  if (typeof value === 'string') return value.length > room ? `${text(slice(value, 0, room))}...` : text(value);
  if (typeof value === 'function' && !types.isProxy(value)) return depth ? describe(value)[1] : slice(sourceOf(value), 0, room);
  if (typeof value !== 'object' || value === null || types.isProxy(value) || depth > 3) return describe(value)[1];
  const parts = [];
  let used = 0;
  const indent = '  '.repeat(depth + 1);
  const add = (part) => {
    parts.push(indent + part);
    used += part.length + indent.length;
    return used < room && parts.length < 200;
  };
  const inner = (found) => preview(found, depth + 1, Math.max(20, Math.min(room - used, 2000)));
  const property = (name) => {
    const found = own(value, name);
    return found && 'value' in found ? inner(found.value) : '[computed]';
  };
  let open = '{';
  let close = '}';
  let total = 0;
  if (isArray(value) || types.isTypedArray(value)) {
    [open, close] = ['[', ']'];
    total = isArray(value) ? value.length : typedLength(value);
    for (let index = 0; index < total; index++) if (!add(property(`${index}`))) break;
  } else if (types.isMap(value)) {
    total = mapSize(value);
    const steps = mapEntries(value);
    for (let step = mapNext(steps); !step.done; step = mapNext(steps)) {
      if (!add(`${inner(step.value[0])} => ${inner(step.value[1])}`)) break;
    }
  } else if (types.isSet(value)) {
    total = setSize(value);
    const steps = setValues(value);
    for (let step = setNext(steps); !step.done; step = setNext(steps)) if (!add(inner(step.value))) break;
  } else if (types.isDate(value) || types.isRegExp(value) || types.isNativeError(value)) {
    return describe(value)[1];
  } else {
    const all = isSlow(slow, value) ? [] : keys(value);
    total = all.length;
    for (const name of all) if (!add(`${slice(name, 0, 100)}: ${property(name)}`)) break;
  }
  const kind = describe(value)[0];
  const head = kind === 'Object' || kind === 'Array' ? '' : `${kind} `;
  if (!parts.length) return `${head}${open}${close}`;
  if (parts.length < total) parts.push(`${indent}... ${total} in all`);
  const flat = parts.map((part) => part.trim()).join(', ');
  if (flat.length <= 70 && !flat.includes('\n')) return `${head}${open} ${flat} ${close}`;
  return `${head}${open}\n${parts.join(',\n')}\n${'  '.repeat(depth)}${close}`;
}

// What a model should know of the value: its type and its shape, not what it holds.
function facts(value) {
  const [type, summary] = describe(value);
  if (type === 'string') return `string of ${value.length} characters`;
  if (type === 'Array' && value.length) {
    const first = data(value, '0');
    const inside = typeof first === 'object' && first !== null && !types.isProxy(first) && !isArray(first) ? named(first) : '';
    return inside ? `${summary}, the first with the keys ${inside}` : `${summary}, the first a ${describe(first)[0]}`;
  }
  if (type === 'Object' && count(value) && keys(value).length) return `${summary}: ${named(value)}`;
  return ['number', 'bigint', 'boolean'].includes(type) ? `${type} ${summary}` : summary;
}

function named(value) {
  if (isSlow(slow, value)) return '';
  const all = keys(value);
  const shown = all.slice(0, 30).map((name) => slice(name, 0, 40));
  return shown.join(', ') + (all.length > 30 ? ', ...' : '');
}

// `lexical` lists the names of let, const and class; `reach` gives the values of names as the program sees them.
exports.watch = function watch({ lexical, reach, language }) {
  const before = new Set([...names(globalThis), '_']);

  function* values(wanted) {
    const unseen = (name) => !wanted || name === wanted;
    for (const name of names(globalThis)) {
      if (has(before, name) || !unseen(name)) continue;
      const found = own(globalThis, name);
      if (found && 'value' in found) yield [name, () => found.value];
    }
    const declared = lexical().filter(unseen);
    const found = reach(declared);
    for (let index = 0; index < declared.length; index++) yield [declared[index], found[index]];
  }

  // What was imported is no variable of the program.
  const imported = () => {
    const found = new Set();
    for (const path of keys(modules)) found.add(modules[path].exports);
    return found;
  };
  const isModule = (name, value) =>
    types.isModuleNamespaceObject(value) || (builtinModules.includes(name) && require(name) === value);

  const take = (name) => {
    for (const [, value] of values(name)) {
      try {
        return [value()];
      } catch {
        return [];
      }
    }
    return [];
  };
  const list = () => [...lexical(), ...names(globalThis).filter((name) => !has(before, name))].reverse();

  // The newest variable that holds the value.
  const nameOf = (wanted) => {
    const names = [];
    for (const [name, take] of values()) {
      try {
        if (take() === wanted) names.push(name);
      } catch {
        // A constant whose declaration failed has no value.
      }
    }
    return names.pop() || '';
  };
  const tables = opening({ find: take, nameOf, describe, preview, language });

  return {
    table: tables.answer,
    shown: tables.shown,
    complete: completing({ find: take, list, describe }),
    all() {
      const found = [];
      const exports = imported();
      for (const [name, take] of values()) {
        try {
          const value = take();
          if (isModule(name, value) || (typeof value === 'object' && value !== null && has(exports, value))) continue;
          const [type, summary, size] = describe(value);
          found.push({ name, type, summary, size });
        } catch {
          // A constant whose declaration failed has no value.
        }
      }
      return { total: found.length, variables: found.slice(-MOST) };
    },
    one(name) {
      for (const [, take] of values(name)) {
        try {
          const value = take();
          return { description: slice(facts(value), 0, 2000), preview: slice(preview(value, 0, PREVIEW), 0, PREVIEW + 200) };
        } catch {
          return {};
        }
      }
      return {};
    },
  };
};
