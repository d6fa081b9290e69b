'use strict';
// Completions for code that is being typed: variables, properties, keys, modules and files. No code of the program runs
// for it: getters and proxies are not asked.

const fs = require('fs');
const path = require('path');
const { types } = require('util');
const { builtinModules } = require('module');

const MOST = 100;
const DEEPEST = 20;
const LONGEST_NOTE = 200;
const own = Object.getOwnPropertyDescriptor;
const above = Object.getPrototypeOf;
const ownNames = Object.getOwnPropertyNames;
const sourceOf = Function.prototype.call.bind(Function.prototype.toString);
// Letters of all languages may stand in names.
const inName = String.raw`[\p{ID_Continue}$]`;
const identifier = String.raw`[\p{ID_Start}_$]${inName}*`;
const plain = new RegExp(`^${identifier}$`, 'u');
const apart = String.raw`(?:^|[^\p{ID_Continue}$.'")\]])`;
// Calls may go on in the next line, with a dot at its beginning.
const step = String.raw`(?:\s*\??\.${identifier}|\[(?:\d+|'[^'\\]*'|"[^"\\]*")\])`;
const member = new RegExp(String.raw`${apart}(${identifier}${step}*)\s*\??\.(${inName}*)$`, 'u');
const key = new RegExp(String.raw`${apart}(${identifier}${step}*)\[$`, 'u');
const parts = new RegExp(String.raw`(${identifier})|\[(\d+|'[^'\\]*'|"[^"\\]*")\]`, 'gu');
const lastWord = new RegExp(String.raw`(?:^|[^\p{ID_Continue}$.#])(${identifier})?$`, 'u');
const callee = new RegExp(String.raw`(${identifier}(?:\.${identifier})*)$`, 'u');
const keywords = (
  'async await break case catch class const continue debugger default delete do else export extends false finally for function if ' +
  'import in instanceof let new null of return static super switch this throw true try typeof undefined var void while yield'
).split(' ');
// What the platform gives by getters of its own, which are no code of the program.
const platform = new Map(
  ['process', 'Buffer', 'crypto', 'performance'].map((name) => [name, own(globalThis, name)]).filter(([, found]) => found && found.get),
);
const environment = 'variable of the environment';
// What has the properties of values that are no objects.
const prototypes = {
  string: String.prototype,
  number: Number.prototype,
  boolean: Boolean.prototype,
  bigint: BigInt.prototype,
  symbol: Symbol.prototype,
};

// `find` gives [value] of a variable or nothing, `list` the names of variables, newest first, and `describe` a few words.
module.exports = function completing({ find, list, describe }) {
  const offers = (typed, found, note) => ({ typed: typed.length, offers: found.filter(([name]) => name !== typed).slice(0, MOST), note });
  const starting = (names, typed) => names.filter((name) => name.startsWith(typed));

  function property(object, name) {
    for (let each = object, deep = 0; each !== null && each !== undefined && deep < DEEPEST; each = above(each), deep++) {
      if (types.isProxy(each)) return [];
      const found = own(each, name);
      if (found) return 'value' in found ? [found.value] : [];
    }
    return [];
  }

  function global(name) {
    const found = own(globalThis, name);
    const known = platform.get(name);
    return found && known && found.get === known.get ? [globalThis[name]] : property(globalThis, name);
  }

  // The value that `a.b[0].c` stands for, in a list; an empty one where it is not known without running code.
  function resolve(chain) {
    let found = null;
    for (const [, name, index] of chain.matchAll(parts)) {
      const wanted = name || index.replace(/^['"]|['"]$/g, '');
      if (found === null) {
        found = find(wanted);
        if (!found.length) found = global(wanted);
      } else {
        const [value] = found;
        const object = (typeof value === 'object' && value !== null) || typeof value === 'function';
        found = object ? property(value, wanted) : [];
      }
      if (!found.length) return [];
    }
    return found || [];
  }

  function members(value, typed, keysToo) {
    const first = typeof value === 'object' || typeof value === 'function' ? value : prototypes[typeof value];
    const found = new Map();
    for (let each = first, deep = 0; each !== null && each !== undefined && deep < DEEPEST; each = above(each), deep++) {
      if (types.isProxy(each)) break;
      // What every object has comes last and is seldom meant.
      if (each === Object.prototype && found.size && !typed) break;
      let names = starting(ownNames(each), typed).filter((name) => keysToo || plain.test(name));
      if (each === value && types.isModuleNamespaceObject(value)) names = names.filter((name) => name !== 'default');
      for (const name of names.slice(0, 5000)) {
        if (found.has(name) || name.startsWith('__') || (name === 'constructor' && !typed)) continue;
        const described = own(each, name);
        let facts = '';
        if (each === process.env) facts = environment;
        else if (described && 'value' in described) facts = describe(described.value)[1];
        found.set(name, facts);
      }
    }
    return [...found];
  }

  function files(typed) {
    const folder = typed.slice(0, typed.lastIndexOf('/') + 1);
    const name = typed.slice(folder.length);
    let entries = [];
    try {
      entries = fs.readdirSync(path.resolve(process.cwd(), folder || '.'), { withFileTypes: true });
    } catch {}
    const found = entries.filter((entry) => entry.name.startsWith(name) && (name.startsWith('.') || !entry.name.startsWith('.')));
    return offers(typed, found.map((entry) => [folder + entry.name + (entry.isDirectory() ? '/' : ''), '']).sort());
  }

  // The mark and the text that are open at the end of a line; no mark in a comment.
  function openText(line) {
    let mark = '';
    let begin = 0;
    for (let at = 0; at < line.length; at++) {
      if (mark) {
        if (line[at] === '\\') at++;
        else if (line[at] === mark) mark = '';
      } else if (line[at] === '/' && line[at + 1] === '/') return { mark: '', before: '', typed: '' };
      else if ('\'"`'.includes(line[at])) [mark, begin] = [line[at], at];
    }
    return mark ? { mark, before: line.slice(0, begin), typed: line.slice(begin + 1) } : null;
  }

  const withoutComments = (code) => code.slice(-2000).replace(/^\s*\/\/.*\n/gm, '');

  function inText({ mark, before, typed }) {
    const keyed = key.exec(before);
    if (keyed) {
      const [value] = resolve(keyed[1]);
      return offers(typed, typeof value === 'object' && value !== null && !types.isProxy(value) ? members(value, typed, true) : []);
    }
    if (/(?:\b(?:require|import)\s*\(|\bfrom|\bimport)\s*$/.test(before) && !/^[./]/.test(typed)) {
      const modules = builtinModules.filter((name) => !name.startsWith('_'));
      const all = [...modules, ...modules.filter((name) => !name.startsWith('node:')).map((name) => `node:${name}`)];
      return offers(typed, starting(all, typed).map((name) => [name, 'module']));
    }
    return mark === '`' && typed.includes('${') ? complete(typed.slice(typed.lastIndexOf('${') + 2)) : files(typed);
  }

  // The signature of the function in whose call the caret is.
  function note(before) {
    let depth = 0;
    const code = before.slice(-2000).replace(/'[^'\n]*'|"[^"\n]*"/g, '0');
    for (let at = code.length - 1; at >= 0; at--) {
      if (')]}'.includes(code[at])) depth++;
      else if ('([{'.includes(code[at]) && depth--) continue;
      else if (code[at] === '(') {
        const called = callee.exec(code.slice(0, at));
        const [value] = called ? resolve(called[1]) : [];
        return typeof value === 'function' && !types.isProxy(value) ? signature(called[1], value) : '';
      } else if (depth < 0) return '';
    }
    return '';
  }

  function signature(name, value) {
    const source = sourceOf(value).slice(0, 2000);
    let begin = source.indexOf('(');
    if (source.startsWith('class')) {
      const made = /\bconstructor\s*\(/.exec(source);
      if (!made) return `new ${name}()`;
      begin = made.index + made[0].length - 1;
    }
    if (source.includes('[native code]')) return '';
    const alone = /^(?:async\s+)?([\w$]+)\s*=>/.exec(source);
    if (alone) return `${name}(${alone[1]})`;
    let depth = 0;
    for (let at = begin; at < source.length; at++) {
      if (source[at] === '(') depth++;
      else if (source[at] === ')' && !--depth) {
        return `${name}${source.slice(begin, at + 1).replace(/\s+/g, ' ')}`.slice(0, LONGEST_NOTE);
      }
    }
    return '';
  }

  function complete(before) {
    const line = before.slice(before.lastIndexOf('\n') + 1);
    const text = openText(line);
    if (text) return text.mark ? inText(text) : offers('', []);
    const dotted = member.exec(/^\s*\??\./.test(line) ? withoutComments(before) : line);
    if (dotted) {
      const found = resolve(dotted[1]);
      return offers(dotted[2], found.length && found[0] !== null && found[0] !== undefined ? members(found[0], dotted[2], false) : []);
    }
    const word = lastWord.exec(line);
    const typed = (word && word[1]) || '';
    const about = note(before);
    if (!typed) return offers('', [], about);
    const named = starting(list(), typed);
    const names = new Set([...named, ...starting(ownNames(globalThis), typed), ...starting(keywords, typed)]);
    const found = [...names].map((name) => {
      const [value, ...none] = named.includes(name) ? find(name) : property(globalThis, name);
      return [name, none.length || value === undefined ? '' : describe(value)[1]];
    });
    return offers(typed, found, about);
  }

  return (words) => complete(JSON.parse(Buffer.from(words, 'hex').toString()).before);
};
